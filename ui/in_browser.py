"""JavaScript of our own that runs in the reader's browser; the content security policy allows these texts and no other.

So no value ever becomes part of one: what differs stands in an attribute of an element.
"""

import html

TO_TOP = "document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0)"
"""Brings a page to its top."""

COPY = """
if (!window.copyLinks) {
  window.copyLinks = true;
  document.addEventListener('click', async event => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    let done = true;
    try { await navigator.clipboard.writeText(button.dataset.copy); }
    catch {
      const box = document.createElement('textarea');
      box.value = button.dataset.copy;
      button.after(box);
      box.select();
      done = document.execCommand('copy');
      box.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'Copying is not allowed here: mark the link and copy it';
  });
}
"""
"""One listener for every button with a link that there will be; the clipboard is closed to pages without https, hence
the second way."""

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
  // A chart's text alternative with its numbers; Streamlit has been given the part that stays (ui/draw.py says why).
  () => {
    const told = JSON.parse(document.querySelector('[data-alternatives]')?.dataset.alternatives ?? '{}');
    for (const chart of document.querySelectorAll('[data-testid=stVegaLiteChart]')) {
      // Streamlit writes the label when it changes; until then what stands there is the alternative of the last run.
      if (chart.getAttribute('aria-label') !== chart.dataset.alternative)
        chart.dataset.label = chart.getAttribute('aria-label');
      const alternative = told[chart.dataset.label];
      if (!alternative) continue;
      chart.dataset.alternative = alternative;
      put(chart, 'aria-label', alternative);
      const drawn = chart.querySelector('[role=graphics-document]');
      if (drawn) put(drawn, 'aria-label', alternative);
    }
  },
  // Vega names a title and an axis by what they say at first; here they say what they show now.
  () => {
    const words = text => [...(text.querySelectorAll('tspan').length ? text.querySelectorAll('tspan') : [text])]
      .map(line => line.textContent).join(' ');
    const place = text => (text.getAttribute('transform')?.match(/-?[0-9.]+/g) ?? []).slice(0, 2)
      .reduce((sum, number) => sum + Number(number), 0);
    for (const title of document.querySelectorAll('svg.marks [aria-roledescription=title]')) {
      const [kind] = title.getAttribute('aria-label')?.split("'") ?? ['Title text '];
      put(title, 'aria-label', `${kind}'${[...title.querySelectorAll('text')].map(words).join(' ')}'`);
    }
    for (const axis of document.querySelectorAll('svg.marks [aria-roledescription=axis]')) {
      const [kind] = axis.getAttribute('aria-label')?.match(/^[XY]-axis/) ?? ['Axis'];
      const title = [...axis.querySelectorAll('.role-axis-title text')].map(words).join(' ');
      const ticks = [...axis.querySelectorAll('.role-axis-label text')]
        .map(text => [place(text), words(text)]).sort((one, other) => one[0] - other[0]).map(([, word]) => word);
      put(axis, 'aria-label', `${kind}${title && ` titled '${title}'`}${ticks.length ? `: ${ticks.join(', ')}` : ''}`);
    }
  },
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

MEND = f"""
if (!window.mending) {{
  window.mending = true;
  const put = (element, name, value) => {{
    if (element.getAttribute(name) === value) return;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }};
  {MENDS.strip()}
  let first = 0, timer = 0;
  const watch = new MutationObserver(later);
  function later() {{
    const now = performance.now();
    first = first || now;
    clearTimeout(timer);
    timer = setTimeout(() => {{
      first = 0;
      for (const mend of mends) mend();
      watch.takeRecords();  // its own changes are no reason to look again
    }}, Math.min(80, first + 400 - now));
  }}
  watch.observe(document.body, {{subtree: true, childList: true, attributes: true, attributeFilter: ['role']}});
  addEventListener('resize', later);
  later();
}}
"""
"""Watches the page for as long as it is open and repairs what appears once it has come to rest for 80 ms, or after
400 ms. Not at every frame: to ask how large something is makes the browser lay the page out at once, in the middle of
what a slider has set off."""

PACKED = "packed"
"""Query parameter of a connection by which the page says that it can unpack what comes packed."""

TOGETHER = f"""
(() => {{
  const Socket = window.WebSocket;
  const parts = function* (data) {{
    // A message of Streamlit never begins with 0: its first byte names a field, and fields count from 1.
    const packed = data instanceof ArrayBuffer && data.byteLength > 0 && new Uint8Array(data, 0, 1)[0] === 0;
    if (!packed) return yield data;
    const view = new DataView(data);
    for (let at = 1; at < data.byteLength;) {{
      const end = at + 4 + view.getUint32(at);
      yield data.slice(at + 4, end);
      at = end;
    }}
  }};
  window.WebSocket = class extends Socket {{
    constructor(address, ...others) {{
      const asked = new URL(address, location.href);
      asked.searchParams.set('{PACKED}', '1');
      super(asked, ...others);
    }}
    addEventListener(type, listener, ...options) {{
      if (type !== 'message' || typeof listener !== 'function')
        return super.addEventListener(type, listener, ...options);
      super.addEventListener('message', event => {{
        for (const data of parts(event.data)) {{
          const one = data === event.data ? event : new MessageEvent('message', {{data, origin: event.origin}});
          try {{ listener.call(this, one); }}
          catch (error) {{ reportError(error); }}  // as the browser does: the next message is delivered all the same
        }}
      }}, ...options);
    }}
  }};
}})();
"""
"""Unpacks the messages of a run, which the server packs into one (`server/bursts.py`), and hands them to Streamlit in
one go.

One by one, as the browser does, React draws the page anew for the first message, for the few that have come meanwhile,
and for the rest: of a slider move that was a third of the browser's work. It must run before Streamlit connects, so the
server puts it into the page (`server/document.py`).
"""

ALLOWED = (TO_TOP, COPY, MEND, TOGETHER)
"""All of them."""


def element(code: str, once_for: str = "") -> str:
    """HTML that runs one of these texts.

    Parameters
    ----------
    code : str
        One of `ALLOWED`.
    once_for : str
        It runs again when this changes.

    Returns
    -------
    str
        For `st.html` with JavaScript allowed.

    Raises
    ------
    ValueError
        It is another text, which the browser would refuse.

    Examples
    --------
    >>> element(TO_TOP, "cost")[:23]
    '<script data-for="cost"'
    """
    if code not in ALLOWED:
        raise ValueError(f"code must be one of the texts in ALLOWED; got one of {len(code)} characters")
    return f'<script data-for="{html.escape(once_for)}">{code}</script>'
