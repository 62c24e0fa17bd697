"""Everything that knows Streamlit and is shared by pages; also charts and formulas, which do not know it."""
