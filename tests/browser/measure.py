"""What is measured on the screen: what sticks out, what is cut off, what is too faint to read."""

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
      // The box of a line is higher than its letters; turned letters are as much too wide.
      const {width, height} = text.getBoundingClientRect();
      const slack = height > width ? Math.max(2, 0.25 * parseFloat(getComputedStyle(text).fontSize)) : 2;
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


def chart_texts(page: Page) -> list[tuple[str, float]]:
    """Every text of the charts, with its contrast to what lies behind it."""
    behind_all = background(page)
    texts = page.get_by_test_id("stVegaLiteChart").evaluate_all(_INK)
    return [(text, round(contrast(ink, behind or behind_all), 2)) for text, ink, behind in texts]


def faint(texts: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Texts with less than 4.5 : 1."""
    return [(text, ratio) for text, ratio in texts if ratio < 4.5]
