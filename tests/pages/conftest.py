"""PyTorch is loaded beforehand, as on a server that has been running for a while: no page has to wait for it."""

import pytest
import torch

import core.torch_reference  # noqa: F401  (found ready by ui.torch_check)
from ui import torch_check

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def fresh_check(monkeypatch):
    """What one test does to the state of the check does not reach the next."""
    monkeypatch.setattr(torch_check, "_state", {})
