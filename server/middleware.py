"""What every request passes on its way to Streamlit, outermost first."""

from starlette.middleware import Middleware

from server.bursts import Bursts
from server.document import Document
from server.headers import SafetyHeaders
from server.limits import Limits

MIDDLEWARE = [Middleware(SafetyHeaders), Middleware(Limits), Middleware(Document), Middleware(Bursts)]
"""For `st.App`."""
