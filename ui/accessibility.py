"""What the frame adds for readers without a mouse, without sight, or without patience for things that move."""

import streamlit as st

# Focus: Streamlit marks its navigation, its links and a chart's buttons by a faint tint alone; a line is seen by all.
# A field and a slider hide the element that has the focus, so the line goes around what is seen of it.
# A chart's buttons can be reached with the Tab key, but Streamlit shows them to the mouse only.
# A sidebar that is folded away (at first, on a phone) only stands outside the window: the Tab key would still go there.
# Contrast: Streamlit writes white on the dark theme's primary colour (2.3 : 1), and colours code alike in both themes
# (2.2 to 4.4 : 1).
# Durations near zero rather than none: Streamlit waits for the end of its own transitions.
STYLE = """
<style>
:is(a, button, summary, [tabindex]):not(input, textarea):focus-visible, [data-focus-visible]:not(input, textarea),
:is([data-testid="stTextInputRootElement"], [data-testid="stNumberInputContainer"],
    [data-testid="stTextAreaRootElement"]):has(input:focus-visible, textarea:focus-visible) {
  outline: 3px solid light-dark(#005F95, #56B4E9) !important; outline-offset: 1px;}
main:focus-visible {outline-offset: -3px !important;}
[data-testid="stElementToolbar"]:focus-within {opacity: 1; z-index: 1; top: calc(-1.25rem - max(1.5rem, 24px));}
[data-testid="stSidebar"][data-collapsed="true"] * {visibility: hidden !important;}
[data-tag], [data-testid^="stBaseButton-primary"] {color: light-dark(#FFFFFF, #10141A) !important;}
[data-testid="stCode"] .token {color: light-dark(#14181F, #F0F3F7) !important;}
[data-testid="stCode"] .token:is(.keyword, .function, .class-name) {color: light-dark(#005F95, #7CC8F2) !important;}
[data-testid="stCode"] .token:is(.string, .char) {color: light-dark(#006B4E, #6FD3AE) !important;}
[data-testid="stCode"] .token:is(.number, .boolean, .constant, .decorator) {
  color: light-dark(#8A4B08, #F2B27A) !important;}
[data-testid="stCode"] .token.comment {color: light-dark(#4A5361, #A9B4C2) !important;}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after {
    animation-duration: .01ms !important; animation-delay: 0s !important; animation-iteration-count: 1 !important;
    transition-duration: .01ms !important; transition-delay: 0s !important; scroll-behavior: auto !important;}
}
</style>
"""
"""Lines around what has the focus; nothing that moves for whoever asks for that."""

MENDS = """
const mends = [
  // color-contrast: menus, tips and dialogs stand outside the element that Streamlit gives the colour scheme to, so
  // that light-dark() would take the light colour on their dark ground.
  () => {
    const app = document.querySelector('[data-testid=stApp]');
    if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
  },
  // list, listitem: Streamlit's list of pages on a phone has sections (div) between the list (ul) and its items (li).
  // Each section becomes a list of its own, called by the heading that stands in it.
  () => document.querySelectorAll('[data-testid=stSidebarNavItems]').forEach(list => {
    put(list, 'role', 'none');
    for (const section of list.querySelectorAll(':scope > div')) {
      const heading = section.querySelector(':scope > header');
      if (!heading) continue;
      put(section, 'role', 'list');
      put(section, 'aria-label', heading.querySelector('p')?.textContent ?? '');
      put(heading, 'aria-hidden', 'true');
    }
  }),
  // svg-img-alt: Vega calls a layer without marks a symbol, which must have a name; with marks it says object.
  () => document.querySelectorAll('g.role-mark[role=graphics-symbol]:not([aria-label])').forEach(
    layer => put(layer, 'role', 'graphics-object')),
  // scrollable-region-focusable: a formula wider than a phone and a code block with its own height scroll, but not by
  // keyboard.
  () => {
    for (const [selector, name] of [['.katex-display', 'formula'], ['[data-testid=stCode] pre', 'code']])
      for (const box of document.querySelectorAll(selector)) {
        const tall = getComputedStyle(box).overflowY !== 'hidden' && box.scrollHeight > box.clientHeight + 1;
        const scrolls = tall || box.scrollWidth > box.clientWidth + 1;
        put(box, 'tabindex', scrolls ? '0' : null);
        put(box, 'role', scrolls ? 'group' : null);
        put(box, 'aria-label', scrolls ? name : null);
      }
  },
];
"""
"""JavaScript: what repairs Streamlit's own elements, one function for each rule of axe-core; harmless when repeated."""

SCRIPT = f"""
<script>
if (!window.mending) {{
  window.mending = true;
  const put = (element, name, value) => {{
    if (element.getAttribute(name) === value) return;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }};
  {MENDS}
  let due = false;
  const watch = new MutationObserver(later);
  function later() {{
    if (due) return;
    due = true;
    requestAnimationFrame(() => {{
      due = false;
      for (const mend of mends) mend();
      watch.takeRecords();  // its own changes are no reason to look again
    }});
  }}
  watch.observe(document.body, {{subtree: true, childList: true, attributes: true, attributeFilter: ['role']}});
  addEventListener('resize', later);
  later();
}}
</script>
"""
"""Watches the page for as long as it is open and repairs what appears, once a frame at most."""


def mend() -> None:
    """Put both on the page; once a run, at its end, where the script's empty place is not seen."""
    st.html(STYLE)
    st.html(SCRIPT, unsafe_allow_javascript=True)
