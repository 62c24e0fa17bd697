"""What every request passes on its way to Streamlit, outermost first."""

from starlette.middleware import Middleware

from server.headers import SafetyHeaders

MIDDLEWARE = [Middleware(SafetyHeaders)]
"""For `st.App`."""
