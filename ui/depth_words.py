"""What a stack's curves come to, in sentences and tables; numbers to HTML, without Streamlit."""

from collections.abc import Mapping

import numpy as np

from core.encoder_block import NormPosition
from core.softmax import Floats
from core.stack import Parts, StackCurves
from ui.charts.depth import SERIES

Both = Mapping[NormPosition, StackCurves]

_CLASSES: Mapping[NormPosition, str] = {"pre": "pre_norm", "post": "post_norm"}
_LINES: Mapping[NormPosition, str] = {"pre": "──", "post": "╌╌"}


def digits(value: float) -> str:
    """A number of any size with three significant digits.

    Parameters
    ----------
    value : float
        Finite.

    Returns
    -------
    str
        Powers of ten from a million on and below a thousandth.

    Examples
    --------
    >>> digits(19.96), digits(123456.7), digits(-0.25), digits(4.5e-9), digits(2e17), digits(0.0)
    ('20.0', '123,000', '−0.250', '4.50 · 10⁻⁹', '2.00 · 10¹⁷', '0')
    """
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        rounded = float(f"{value:.3g}")
        decimals = max(0, 2 - int(np.floor(np.log10(abs(rounded)))))
        return f"{rounded:,.{decimals}f}".replace("-", "−")
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa} · 10{raised}".replace("-", "−")


def ends(values: Mapping[NormPosition, Floats]) -> str:
    """Where the curves of both stacks begin and end, for a reader who cannot see them.

    Parameters
    ----------
    values : mapping of "pre" and "post" to ndarray of shape (layer,)
        At least one number each.

    Returns
    -------
    str
        A phrase.

    Examples
    --------
    >>> ends({"pre": np.array([1.0, 2.0]), "post": np.array([3.0])})
    'pre-norm from 1.00 to 2.00, post-norm from 3.00 to 3.00'
    """
    return ", ".join(
        f"{SERIES[place]} from {digits(float(curve[0]))} to {digits(float(curve[-1]))}"
        for place, curve in values.items()
    )


def legend() -> str:
    """Which line is which.

    Returns
    -------
    str
        HTML, one line.

    Examples
    --------
    >>> "post-norm" in legend()
    True
    """
    said = (f'<span class="{_CLASSES[place]}">{_LINES[place]} {name}</span>' for place, name in SERIES.items())
    return f'<p class="line">{" &nbsp; ".join(said)}</p>'


def forward(curves: Both, parts: Parts) -> str:
    """What became of the words on their way up.

    Parameters
    ----------
    curves : mapping of "pre" and "post" to StackCurves
        Of the same words, as far as they go.
    parts : Parts
        What the blocks have.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> curves = StackCurves(np.array([2.0, 4.0]), np.array([]), np.array([]), {}, {})
    >>> "2.00 at first" in forward({"pre": curves, "post": curves}, Parts(norm=False))
    True
    """
    pre, post = curves["pre"], curves["post"]
    if not parts.norm:
        made = f"<b>{digits(float(pre.size[-1]))}</b> after {_layers(len(pre.size) - 1)}"
        said = [f"Without norms both are the same stack. Mean length: {digits(float(pre.size[0]))} at first, {made}."]
    else:
        said = [
            f"Mean length: {digits(float(pre.size[0]))} at first, <b>{digits(float(pre.size[-1]))}</b> after "
            f"{_layers(len(pre.size) - 1)} of pre-norm, <b>{digits(float(post.size[-1]))}</b> after "
            f"{_layers(len(post.size) - 1)} of post-norm"
            + (", which ends each block at √d_model." if parts.parameters else ".")
        ]
    if pre.alike.size:
        before, one, other = (float(value) for value in (pre.alike[0], pre.alike[-1], post.alike[-1]))
        said.append(
            f"Mean cosine of two words: {before:.2f} at first, then <b>{one:.2f}</b> (pre) and "
            f"<b>{other:.2f}</b> (post)".replace("-", "−")
            + f": {_alike(one, other)}."
        )
    return f'<p class="line">{" ".join(said)}</p>'


def _layers(count: int) -> str:
    return f"{count} layer{'' if count == 1 else 's'}"


def _alike(pre: float, post: float) -> str:
    if min(pre, post) > 0.99:
        return "in both all words point the same way, and what told them apart is lost"
    if max(pre, post) > 0.99:
        one = "pre-norm" if pre > post else "post-norm"
        return f"with {one} all words point the same way, and what told them apart is lost"
    if abs(pre - post) < 0.05:
        return "about the same in both"
    return f"{'pre-norm' if pre > post else 'post-norm'} makes them more alike"


def backward(curves: Both, matrix: str) -> str:
    """What comes back of the gradient: along one stack, and at the last layer of stacks of all depths.

    Parameters
    ----------
    curves : mapping of "pre" and "post" to StackCurves
        With gradients.
    matrix : str
        Name of one of the blocks' matrices.

    Returns
    -------
    str
        HTML. What the numbers show, whether it is what is usual or not.

    Examples
    --------
    >>> ones = StackCurves(np.ones(3), np.array([]), np.ones(3), {"w_2": np.ones(2)}, {"w_2": np.ones(2)})
    >>> "does not set them apart" in backward({"pre": ones, "post": ones}, "w_2")
    True
    """
    along = {place: _share(found.stream_gradient[::-1]) for place, found in curves.items()}
    lasts = {place: found.last_gradient[matrix] for place, found in curves.items()}
    deeper = {place: _share(last) for place, last in lasts.items()}
    n_layers = len(lasts["pre"])
    said = (
        f"From the last layer back to the embeddings the gradient at the stream becomes {_times(along['pre'])} as long "
        f"with pre-norm, {_times(along['post'])} with post-norm. "
    )
    if n_layers == 1:
        return said + "Add layers, and see what that does to the last one."
    said += (
        f"The gradient of {matrix} in the last of {n_layers} layers is <b>{digits(float(lasts['pre'][-1]))}</b> with "
        f"pre-norm and <b>{digits(float(lasts['post'][-1]))}</b> with post-norm: {_times(deeper['pre'])} and "
        f"{_times(deeper['post'])} what it would be if the stack ended after one. "
    )
    pre, post = deeper["pre"], deeper["post"]
    if pre is None or post is None:
        return said + "Where it is 0, there is nothing to compare."
    if pre < 0.7 and post > 1.5 * pre:
        return said + "So depth makes the last layer's pull gentler with pre-norm, and much less so with post-norm."
    if post < 0.7 and pre > 1.5 * post:
        return said + "So with these settings it is post-norm whose last layer is pulled less and less."
    return said + "With these settings depth does not set them apart here."


def _share(curve: Floats) -> float | None:
    """The last number as a multiple of the first; None where that is 0."""
    return float(curve[-1] / curve[0]) if curve[0] > 0 else None


def _times(share: float | None) -> str:
    return "an unknown multiple" if share is None else f"{digits(share)} times"


def notes(curves: Both, n_layers: int, asked: str, matrix: str, parts: Parts) -> list[str]:
    """What could not be shown, and why.

    Parameters
    ----------
    curves : mapping of "pre" and "post" to StackCurves
        As far as they go.
    n_layers : int
        Layers wanted.
    asked, matrix : str
        The matrix whose gradient was wanted, and the one that is shown; empty where there is none.
    parts : Parts
        What the blocks have.

    Returns
    -------
    list of str
        Sentences; none where all is shown.

    Examples
    --------
    >>> curves = StackCurves(np.ones(3), np.array([]), np.ones(3), {"w_o": np.ones(2)}, {"w_o": np.ones(2)})
    >>> notes({"pre": curves, "post": curves}, 2, "w_2", "w_o", Parts(feed_forward=False))
    ['Without their feed-forward part the blocks have no w_2: the gradient of w_o is shown instead.']
    """
    said = []
    if not matrix:
        said.append("Without attention and feed-forward part a block does nothing, and has no matrix to learn.")
    elif matrix != asked:
        part = "feed-forward part" if not parts.feed_forward else "attention"
        said.append(f"Without their {part} the blocks have no {asked}: the gradient of {matrix} is shown instead.")
    for place, found in curves.items():
        done = len(found.size) - 1
        if done < n_layers:
            said.append(
                f"With {SERIES[place]} the numbers leave the range of double precision after layer {done} of "
                f"{n_layers}: the curves end there, and nothing comes back."
            )
        elif not found.stream_gradient.size:
            said.append(f"With {SERIES[place]} the gradients leave the range of double precision, so none are shown.")
        elif matrix:
            none = int((found.gradient[matrix] == 0).sum())
            if none and (parts.norm or place == "pre"):  # without norms both are the same stack
                which = SERIES[place] if parts.norm else "either"
                said.append(
                    f"With {which} the gradient of {matrix} is exactly 0 in {none} of {n_layers} layers, which a "
                    "logarithmic axis cannot show."
                )
    return said


def notice(curves: Both, parts: Parts) -> str:
    """What to take from the page, depending on the parts that are left.

    Parameters
    ----------
    curves : mapping of "pre" and "post" to StackCurves
        As far as they go.
    parts : Parts
        What the blocks have.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> curves = StackCurves(np.ones(3), np.array([]), np.ones(3), {}, {})
    >>> notice({"pre": curves, "post": curves}, Parts()).startswith("With the norm first")
    True
    """
    said = []
    if parts == Parts():
        said.append(
            "With the norm first, no norm ever touches the stream itself, so it can grow, and each further block "
            "changes it by a smaller share; the final norm divides by its length, and every gradient is divided with "
            "it. With the norm last, nothing makes the last block's pull gentler, however deep the stack: such models "
            "need a careful start of training, a warm-up (Xiong et al. 2020)."
        )
    if not parts.skip:
        said.append(
            "Without skip connections nothing of a word is carried past the attention, which gives every word a mean "
            "over all words. Mean after mean, words lose what tells them apart (Dong et al. 2021)."
        )
    if not parts.norm:
        growth = float(curves["pre"].size[-1] / curves["pre"].size[0]) ** (1 / max(1, len(curves["pre"].size) - 1))
        said.append(
            f"Without norms nothing holds the stream: each layer multiplies its length by about {digits(growth)}, and "
            "that many times over. Large vectors also make large scores, and those a softmax that no longer moves."
        )
    if not parts.attention:
        said.append("Without attention words never meet: each goes its own way.")
    if not parts.feed_forward:
        said.append("Without the feed-forward part a block only mixes words.")
    if parts.norm and not parts.final_norm:
        said.append("Without the final norm nothing divides pre-norm's gradients by the length of the stream.")
    return " ".join(said)


def collapse(without: float, with_skip: float, before: float) -> str:
    """What the skip connections do to how alike the words are.

    Parameters
    ----------
    without, with_skip, before : float
        Mean cosine after the last layer without and with them, and between the embeddings.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> collapse(0.999, 0.6, 0.0).startswith("With them it is 0.60")
    True
    """
    said = f"With them it is {with_skip:.2f}; the embeddings began with {before:.2f}. ".replace("-", "−")
    if without > with_skip + 0.05:
        return (
            said + "The skip connection carries each word's own vector past the attention, which alone only averages."
        )
    return said + "With these settings the skip connections make no great difference."


def deeper(curves: Both, matrix: str, few: int) -> str:
    """The gradient of the last layer's matrix in a flat and in a deep stack.

    Parameters
    ----------
    curves : mapping of "pre" and "post" to StackCurves
        Of the deep stack.
    matrix : str
        Name of one of the blocks' matrices.
    few : int
        Layers of the flat stack.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> found = StackCurves(np.ones(3), np.array([]), np.ones(3), {}, {"w_2": np.array([4.0, 1.0])})
    >>> deeper({"pre": found, "post": found}, "w_2", 1)
    'Pre-norm: 4.00 became 1.00. Post-norm: 4.00 became 1.00.'
    """
    said = []
    for place, found in curves.items():
        last = found.last_gradient.get(matrix)
        name = SERIES[place].capitalize()
        if last is None:
            said.append(f"{name}: the numbers leave the range of double precision.")
        else:
            said.append(f"{name}: {digits(float(last[few - 1]))} became {digits(float(last[-1]))}.")
    return " ".join(said)


def tables(found: StackCurves) -> dict[str, tuple[Floats, int, tuple[str, ...]]]:
    """The numbers behind a stack's curves.

    Parameters
    ----------
    found : StackCurves
        As far as it goes.

    Returns
    -------
    dict of str to tuple of ndarray, int and tuple of str
        Name of a table to its numbers, the number of its first layer, and the names of its columns.

    Examples
    --------
    >>> curves = StackCurves(np.ones(3), np.array([]), np.ones(3), {"w_2": np.ones(2)}, {"w_2": np.ones(2)})
    >>> [(name, values.shape, first) for name, (values, first, _) in tables(curves).items()]
    [('stream', (3, 2), 0), ('gradients', (2, 1), 1), ('gradients of the last layer', (2, 1), 1)]
    """
    stream = {"length": found.size, "mean cosine": found.alike, "gradient": found.stream_gradient}
    listed = {"stream": (stream, 0), "gradients": (found.gradient, 1)}
    listed["gradients of the last layer"] = found.last_gradient, 1
    made = {}
    for title, (columns, first) in listed.items():
        there = {name: values for name, values in columns.items() if values.size}
        if there:
            made[title] = np.column_stack(list(there.values())), first, tuple(there)
    return made
