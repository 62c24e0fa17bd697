"""The trained model, read once."""

import pytest

from core.pretrained.model import load
from core.pretrained.named_heads import attentions, cases


@pytest.fixture(scope="session")
def encoder():
    return load()


@pytest.fixture(scope="session")
def measured_attention(encoder):
    """Attention of every head to every sentence that is measured: three seconds, once."""
    texts = dict.fromkeys(case.text for of_pattern in cases().values() for case in of_pattern)
    return attentions(encoder, list(texts))
