"""Random embeddings and projections, the same as on the page."""

import hashlib
import unicodedata

import numpy as np


def draw_word(word, d_model, seed):
    """A vector that depends on the word, the width and the seed, and on nothing else."""
    digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
    stream = [1, seed, int.from_bytes(digest[:16], "big")]
    return np.random.default_rng(stream).normal(size=d_model)


def draw_example(words, d_head, n_heads, seed, lesson_words=("Meera", "bought", "a", "new", "bat")):
    """x (position, d_model), and w_q, w_k, w_v of every head (head, d_model, d_head)."""
    rng = np.random.default_rng(seed)
    d_model = n_heads * d_head
    # The lesson's words come first, so that its figures come out; any other word has a stream of its own.
    vectors = dict(zip(lesson_words, rng.normal(size=(len(lesson_words), d_model))))
    w = rng.normal(0.0, 0.5, size=(n_heads, 3, d_model, d_head))
    words = [unicodedata.normalize("NFC", word) for word in words]  # one spelling of accented letters
    x = np.array([vectors[word] if word in vectors else draw_word(word, d_model, seed) for word in words])
    return x, w[:, 0], w[:, 1], w[:, 2]
