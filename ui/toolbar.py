"""What can be done with a whole page: share its link, take its code, numbers and pictures home, present it."""

import html

import streamlit as st

from ui import in_browser, view
from ui.shown import Shown
from ui.take_home import figures, links, notebook, qr, scripts, tables

_ASKED = "_asked"
_SHARE, _TAKE_HOME = "share", "take_home"


def buttons() -> None:
    """The buttons beside the title."""
    if view.now().presenting:
        return  # the bar at the foot has the one that ends it
    with st.container(horizontal=True, gap="xsmall", width="content", key="toolbar"):
        st.button("Share", icon=":material/share:", on_click=_ask, args=(_SHARE,), key=_SHARE)
        st.button("Take home", icon=":material/download:", on_click=_ask, args=(_TAKE_HOME,), key=_TAKE_HOME)
        st.button("Present", icon=":material/slideshow:", on_click=view.present, args=(True,), key="present_switch")


def _ask(what: str) -> None:
    st.session_state[_ASKED] = what


def _dismissed() -> None:
    st.session_state.pop(_ASKED, None)


def open_asked(record: Shown) -> None:
    """Open what a button has asked for, with the state that is on the screen.

    Parameters
    ----------
    record : Shown
        What the page has just shown.
    """
    # Until it is dismissed: the page runs again by itself once PyTorch is there, and what is open must stay open.
    asked = st.session_state.get(_ASKED)
    if asked == _SHARE:
        _share(record)
    elif asked == _TAKE_HOME:
        _take_home(record)


@st.dialog("Share this page", width="large", icon=":material/share:", on_dismiss=_dismissed)
def _share(record: Shown) -> None:
    left, right = st.columns([1, 1], vertical_alignment="center")
    hidden = view.now().hidden
    with left:
        st.markdown("The link holds the page and every control. Whoever opens it sees the same numbers.")
        present = st.toggle("Open as a presentation", key="share_present")
        names = {"sidebar": "the whole sidebar"} | record.controls
        hide = st.multiselect(
            "Controls to hide from whoever opens it",
            list(names),
            sorted(hidden & set(names)),
            format_func=names.__getitem__,
            key="share_hide",
            placeholder="none",
        )
        link = links.link_to(st.context.url or "", record.page, links.query_of(record.link, present, hide))
        st.html(_copy_button(link), unsafe_allow_javascript=True)
        st.code(link, language=None, wrap_lines=True, height=150)
    code = qr.qr_svg(link)
    with right:
        if code is None:
            st.info(
                f"This link has {len(link):,} characters: too many for a QR code that the back row could scan. "
                "It works as a link all the same; a shorter sentence makes a shorter one."
            )
        else:
            st.image(code, width="stretch", alt=f"QR code of the link {link}")


def _copy_button(link: str) -> str:
    return (
        f'<button class="copy" type="button" data-copy="{html.escape(link)}" aria-live="polite">Copy link</button>'
        f"{in_browser.element(in_browser.COPY)}"
    )


@st.dialog("Take it home", width="large", icon=":material/download:", on_dismiss=_dismissed)
def _take_home(record: Shown) -> None:
    if not record.code:
        st.info("This page shows no numbers with these settings; it says why, and there is nothing to take home.")
        return
    stem = record.page
    st.html(
        '<p class="quiet">Code and files of exactly what is on the screen: this sentence, these settings. They run and '
        "open without this dashboard.</p>"
    )
    code, twin, numbers, pictures = st.tabs(["NumPy", "PyTorch", "Numbers", "Pictures"])
    with code:
        script = scripts.compose(scripts.read_source(record.page), record.code)
        with st.container(horizontal=True):
            st.download_button("Script (.py)", script, f"{stem}.py", "text/x-python", on_click="ignore")
            st.download_button(
                "Notebook (.ipynb)",
                lambda: _notebook(record),
                f"{stem}.ipynb",
                "application/x-ipynb+json",
                on_click="ignore",
                help="Explanation, code and figures; runs in Jupyter.",
            )
        st.code(script, language="python", height=420)
    with twin:
        own = scripts.compose(scripts.read_source(record.page, torch=True), record.code)
        st.download_button("Script (.py)", own, f"{stem}_torch.py", "text/x-python", on_click="ignore", key="twin")
        st.code(own, language="python", height=420)
    with numbers:
        with st.container(horizontal=True):
            st.download_button(
                "All matrices as CSV (.zip)",
                lambda: tables.zip_of(record.matrices),
                f"{stem}_csv.zip",
                "application/zip",
                on_click="ignore",
            )
            st.download_button(
                "All arrays for NumPy (.npz)",
                lambda: tables.npz_of(record.matrices),
                f"{stem}.npz",
                "application/octet-stream",
                on_click="ignore",
            )
        name = st.selectbox("One matrix", list(record.matrices), key="take_matrix")
        st.download_button(
            "This matrix (.csv)",
            lambda: tables.csv_of(*record.matrices[name]),
            f"{stem}_{tables.file_stem(name)}.csv",
            "text/csv",
            on_click="ignore",
        )
        st.html(
            '<p class="quiet">Full precision. Rows and columns as in the code: one query a row, one key a column; the '
            "first cell of each file names both.</p>"
        )
    with pictures:
        names = [figure.name for figure in record.figures]
        chosen = record.figures[names.index(st.selectbox("Figure", names, key="take_figure"))]
        with st.container(horizontal=True):
            file = f"{stem}_{tables.file_stem(chosen.name)}"
            st.download_button("SVG", lambda: figures.svg_of(chosen), f"{file}.svg", "image/svg+xml", on_click="ignore")
            st.download_button(
                "PNG for print", lambda: figures.png_of(chosen), f"{file}.png", "image/png", on_click="ignore"
            )
            st.download_button(
                "All figures (.zip)",
                lambda: figures.figures_zip(record.figures),
                f"{stem}_figures.zip",
                "application/zip",
                on_click="ignore",
            )
        st.html('<p class="quiet">Drawn on the server when you press a button, which takes some seconds.</p>')


def _notebook(record: Shown) -> bytes:
    """The page's notebook; the figures stand in it before anything has been run."""
    program = scripts.compose(scripts.read_source(record.page), record.code, notebook=True)
    drawn = figures.files_of(record.figures)
    return notebook.build(
        program, [(figure.name, files.png) for figure, files in zip(record.figures, drawn, strict=True)]
    )
