"""No request leaves this server for another host."""

from streamlit import net_util


def stay_here() -> None:
    """Keep Streamlit from asking another host for this one's address.

    It does so whenever a request names an origin that is not its own, while all readers of the process wait; anybody
    can send one. Such a request is refused as before.
    """
    net_util.get_external_ip = _unknown


def _unknown() -> str | None:
    return None
