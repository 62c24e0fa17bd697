"""Runs of attention to be worked out, and how a written number is held against the one that it stands for."""

import pytest

from core.attention import self_attention
from core.examples import draw_example

CASES = {
    "lesson": (("Meera", "bought", "a", "new", "bat"), 4, 2, 0, 0, (0, 3)),
    "lesson, head 1": (("Meera", "bought", "a", "new", "bat"), 4, 2, 0, 1, (4, 0)),
    "one word": (("word",), 1, 1, 5, 0, (0, 0)),
    "repeated words": (("the", "cat", "saw", "the", "dog"), 7, 3, 9, 2, (3, 0)),
    "d = 64": (("dog", "bites", "man"), 64, 12, 3, 11, (2, 1)),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    words, d_head, n_heads, seed, head, cell = request.param
    example = draw_example(words, d_head, n_heads, seed)
    run = self_attention(example.x, example.w_q[head], example.w_k[head], example.w_v[head])
    return words, d_head, run, cell
