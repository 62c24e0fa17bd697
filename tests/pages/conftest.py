"""PyTorch is loaded beforehand, as on a server that has been running for a while: no page has to wait for it."""

import socket

import pytest
import torch

import core.torch_reference  # noqa: F401  (found ready by ui.torch_check)
from ui import torch_check

torch.set_num_threads(1)


HERE = {"localhost", "127.0.0.1", "::1", "", None}


@pytest.fixture(autouse=True)
def calls_elsewhere(monkeypatch):
    """Hosts other than this one that were called or looked up during a test; there must be none."""
    called = []

    def guarded(real, host_of):
        def call(*arguments, **options):
            host = host_of(arguments)
            if host in HERE:
                return real(*arguments, **options)
            called.append(host)
            raise ConnectionRefusedError(f"no page may call another host; got {host}")

        return call

    def peer(arguments):
        return arguments[1][0] if isinstance(arguments[1], tuple) else None  # a path is a socket on this computer

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name), peer))
    monkeypatch.setattr(socket, "getaddrinfo", guarded(socket.getaddrinfo, lambda arguments: arguments[0]))
    yield called
    assert called == []


@pytest.fixture(autouse=True)
def fresh_check(monkeypatch):
    """What one test does to the state of the check does not reach the next."""
    monkeypatch.setattr(torch_check, "_state", {})
    torch_check._compared.clear()
