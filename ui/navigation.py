"""The pages as Streamlit's navigation takes them, made once a process."""

import copy
import functools

import streamlit as st

from ui.pages import HOME, ORDER, Page


@functools.cache
def _made() -> tuple[tuple[Page, st.Page], ...]:
    # To make one looks its script up in the file system: for all of them a twentieth of a small page's time.
    return tuple(
        (
            page,
            st.Page(
                page.path,
                title=page.title,
                icon=page.icon,
                url_path=page.name,
                default=page is HOME,
                help=page.question,
            ),
        )
        for page in ORDER
    )


def pages() -> tuple[dict[str, list[st.Page]], dict[str, Page]]:
    """Every page of the dashboard.

    Returns
    -------
    tuple of two dict
        Streamlit's pages by their section, for `st.navigation`, and ours by their title. Streamlit notes on a page that
        it may run, so that every run of a reader has pages of its own.
    """
    sections: dict[str, list[st.Page]] = {}
    for page, script in _made():
        sections.setdefault(page.section, []).append(copy.copy(script))
    return sections, {page.title: page for page in ORDER}
