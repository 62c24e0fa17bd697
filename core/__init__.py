"""The lesson's mathematics in plain NumPy; knows nothing of Streamlit, and PyTorch only as the referee."""
