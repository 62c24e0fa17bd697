"""The entry, executed as a plain script by a launcher that looks for no app object."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]


def test_plain_script_launcher_shows_the_dashboard() -> None:
    at = AppTest.from_file(ROOT / "streamlit_app.py", default_timeout=60).run()
    assert not at.exception
    assert [title.value for title in at.title] == ["Attention at work"]
    assert at.text_input(key="text").value == "Meera bought a new bat"
    assert at.select_slider(key="d").value == 4
    assert len(at.get("vega_lite_chart")) == 1
