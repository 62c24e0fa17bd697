"""Memory of the keys and values that a generator keeps, and the sizes of published models."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """Sizes of a published decoder that decide how large its cache is."""

    name: str
    n_layers: int
    n_heads: int
    """Heads of queries."""
    n_kv_heads: int
    """Heads of keys and values: as many as queries have, or fewer, each shared by a group (Ainslie et al. 2023)."""
    d_head: int
    context: int
    """Tokens that it was published with."""
    source: str
    window: int | None = None
    """Positions that a layer looks back to, where it does not look at all: a rolling cache keeps no more."""


MODELS = (
    Model("GPT-2 small", 12, 12, 12, 64, 1024, "Radford et al. 2019; gpt2/config.json"),
    Model("GPT-3 175B", 96, 96, 96, 128, 2048, "Brown et al. 2020, table 2.1"),
    Model("Llama 2 7B", 32, 32, 32, 128, 4096, "Llama-2-7b-hf/config.json"),
    Model("Llama 2 70B", 80, 64, 8, 128, 4096, "Llama-2-70b-hf/config.json"),
    Model("Llama 3 8B", 32, 32, 8, 128, 8192, "Meta-Llama-3-8B/config.json"),
    Model("Llama 3 70B", 80, 64, 8, 128, 8192, "Meta-Llama-3-70B/config.json"),
    Model("Mistral 7B", 32, 32, 8, 128, 8192, "Jiang et al. 2023, table 1", window=4096),
    Model("Qwen2.5 7B", 28, 28, 4, 128, 131072, "Qwen2.5-7B/config.json"),
)
"""Read in the papers' tables and in the configuration files published with the weights."""


def cache_bytes(
    seq_len: int, n_layers: int, n_kv_heads: int, d_head: int, batch: int = 1, bytes_per_number: int = 2
) -> int:
    """Memory of all keys and values of some tokens.

    Parameters
    ----------
    seq_len, n_layers, n_kv_heads, d_head, batch : int
        Tokens kept, layers, heads of keys and values, size of a key, sentences.
    bytes_per_number : int
        2 for half precision.

    Returns
    -------
    int
        Exact.

    Raises
    ------
    ValueError
        A size is below 1.

    Notes
    -----
    2 · layers · kv_heads · d_head · n · batch · bytes: a key and a value for every token, in every layer and kv head.

    Examples
    --------
    >>> cache_bytes(4096, 32, 32, 128), cache_bytes(4096, 80, 8, 128)
    (2147483648, 1342177280)
    """
    if min(seq_len, n_layers, n_kv_heads, d_head, batch, bytes_per_number) < 1:
        raise ValueError(
            f"sizes must be at least 1; got {seq_len=}, {n_layers=}, {n_kv_heads=}, {d_head=}, {batch=}, "
            f"{bytes_per_number=}"
        )
    return 2 * n_layers * n_kv_heads * d_head * seq_len * batch * bytes_per_number
