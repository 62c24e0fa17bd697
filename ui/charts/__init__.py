"""Charts: a builder makes the specification once for each shape; arrays and labels become a table for each state.

Nothing here imports Streamlit. A specification must not be changed after it was made: it is shared by all readers.
"""
