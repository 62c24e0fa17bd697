"""The content security policy in a real browser: our scripts run, no other one does."""

from tests.browser.page_object import Dashboard

INJECT = """() => {
  const script = document.createElement('script');
  script.textContent = 'window.injected = true';
  const picture = document.createElement('img');
  picture.setAttribute('onerror', 'window.injected = true');
  picture.src = 'data:image/png;base64,AAAA';
  document.body.append(script, picture);
  return new Promise(done => setTimeout(() => done([window.mending === true, window.injected === true]), 300));
}"""


def test_markup_that_got_in_runs_no_script(tab: Dashboard) -> None:
    tab.open("cost")
    assert tab.page.evaluate(INJECT) == [True, False]
    refused = [error for error in tab.heard.errors if "violates the following Content Security Policy" in error]
    assert len(refused) == len(tab.heard.errors) == 2
    tab.heard.errors.clear()
