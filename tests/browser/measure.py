"""What is measured on the screen: what sticks out, is cut off, too faint to read, or out of reach for some readers."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.page_object import background, contrast

SIDEWAYS = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
  .filter(element => element.scrollWidth > element.clientWidth).map(element => element.scrollWidth)"""

# Pictures that leave their box or the window, and text that a picture cuts off.
CUT_OFF = """() => {
  const right = element => element.getBoundingClientRect().right;
  const left = element => element.getBoundingClientRect().left;
  const cut = [];
  for (const picture of document.querySelectorAll('[data-testid=stVegaLiteChart] .marks, [data-testid=stImage] img')) {
    const frame = picture.closest('[data-testid=stVegaLiteChart], [data-testid=stImage]');
    const name = frame.getAttribute('aria-label') || picture.getAttribute('alt');
    if (right(picture) > Math.min(right(frame), innerWidth) + 1) cut.push(name);
    if (right(frame) > innerWidth + 1) cut.push(name);
    for (const text of picture.querySelectorAll('text')) {
      // The box of a line is higher than its letters; that of a turned line is as much too wide.
      const isTurned = /rotate\\((?!0[,)])/.test(text.getAttribute('transform'));
      const slack = isTurned ? Math.max(2, 0.25 * parseFloat(getComputedStyle(text).fontSize)) : 2;
      if (text.getAttribute('opacity') !== '0' && text.textContent &&
          (right(text) > right(picture) + slack || left(text) < left(picture) - slack))
        cut.push(`${name}: ${text.textContent}`);
    }
  }
  return cut;
}"""

# Every text of a chart with the colour of the cell that lies behind its middle, where one does.
_INK = """charts => charts.flatMap(chart => {
  const inside = (x, y, box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  const cells = [...chart.querySelectorAll('g.mark-rect path')].filter(cell => getComputedStyle(cell).fill !== 'none'
    && cell.getAttribute('opacity') !== '0').map(cell => [cell.getBoundingClientRect(), getComputedStyle(cell).fill]);
  return [...chart.querySelectorAll('text')]
    .filter(text => text.textContent && text.getAttribute('opacity') !== '0')
    .map(text => {
      const box = text.getBoundingClientRect();
      const behind = cells.find(([cell]) => inside((box.left + box.right) / 2, (box.top + box.bottom) / 2, cell));
      return [text.textContent, getComputedStyle(text).fill, behind ? behind[1] : null];
    });
})"""

# Text of the page, its colour and what lies behind it; axe-core gives up on short texts, and where anything overlaps.
# The charts are measured by `chart_texts`. A slider's value stands above its handle, not on it.
_FAINT = """() => {
  const channels = colour => { const c = colour.match(/[\\d.]+/g).map(Number); return [...c, 1].slice(0, 4); };
  const over = (above, below) => [0, 1, 2].map(i => above[i] * above[3] + below[i] * (1 - above[3])).concat(1);
  const linear = c => c <= 0.04045 * 255 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const skip = 'svg, script, style, .katex-mathml, [data-testid=stIconMaterial], [data-testid=stSliderThumbValue],'
    + ' :disabled, [aria-disabled=true]';
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim(), element = texts.currentNode.parentElement;
    if (!text || element.closest(skip) || !element.checkVisibility({opacityProperty: true, visibilityProperty: true}))
      continue;
    let behind = channels(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor);
    let opacity = 1;
    const ancestors = [];
    for (let each = element; each; each = each.parentElement) ancestors.unshift(each);
    for (const each of ancestors) {
      behind = over(channels(getComputedStyle(each).backgroundColor), behind);
      opacity *= +getComputedStyle(each).opacity;
    }
    const ink = channels(getComputedStyle(element).color);
    ink[3] *= opacity;
    const [dark, light] = [luminance(behind), luminance(over(ink, behind))].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) found.push(`${text.slice(0, 60)}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""


def chart_texts(page: Page) -> list[tuple[str, float]]:
    """Every text of the charts, with its contrast to what lies behind it."""
    behind_all = background(page)
    texts = page.get_by_test_id("stVegaLiteChart").evaluate_all(_INK)
    return [(text, round(contrast(ink, behind or behind_all), 2)) for text, ink, behind in texts]


def faint(texts: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Texts with less than 4.5 : 1."""
    return [(text, ratio) for text, ratio in texts if ratio < 4.5]


def at_once(page: Page) -> None:
    """What would fade in is there at once, so that nothing is measured half transparent."""
    page.emulate_media(reduced_motion="reduce")


def inaccessible(page: Page, colours: bool = True) -> list[str]:
    """All that axe-core calls serious or critical on the screen (the rule, where, and why), and faint text.

    Without `colours`, which take it half of its time, faint text is what ours finds alone.
    """
    # Without the other results, which nobody reads, it takes a third of the time.
    rules = {"color-contrast": {"enabled": colours}}
    response = Axe().run(page, options={"resultTypes": ["violations"], "rules": rules}).response
    violations: list[dict[str, Any]] = response["violations"]
    serious = [
        f"{violation['id']}: {' '.join(map(str, node['target']))}\n  {node['html'][:200]}\n  {node['failureSummary']}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    return serious + [f"faint: {text}" for text in page.evaluate(_FAINT)]
