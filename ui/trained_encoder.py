"""The trained encoder on a server: read once for all readers, what it made of the last texts kept."""

import streamlit as st

from core.encoder_block import BlockParameters
from core.pretrained.model import Attended, Encoder, load, read_text
from core.softmax import Floats


@st.cache_resource
def encoder() -> Encoder:
    """The model, once for all readers: 17 MB.

    Returns
    -------
    Encoder
        Not to be changed.
    """
    return load()


@st.cache_data(max_entries=64, max_size="16MB")
def attended(words: tuple[str, ...]) -> Attended:
    """Pieces and attention of a text; 9 MB for the longest.

    Parameters
    ----------
    words : tuple of str
        As many as the model can read.

    Returns
    -------
    Attended
        Every head's weights.
    """
    return read_text(encoder(), " ".join(words)).attended


@st.cache_data(max_entries=64, max_size="4MB")
def layer_input(words: tuple[str, ...], layer: int) -> tuple[tuple[str, ...], Floats]:
    """What one layer reads of a text.

    Parameters
    ----------
    words : tuple of str
        As many as the model can read.
    layer : int
        Counted from 0.

    Returns
    -------
    tuple of tuple of str and ndarray
        Names of the pieces, and (position, d_model).
    """
    reading = read_text(encoder(), " ".join(words))
    return reading.pieces.names, reading.blocks[layer].attention_input


@st.cache_resource(max_entries=1)
def parameters_of(layer: int) -> BlockParameters:
    """Learned arrays of one layer, in double precision: 14 MB, made in milliseconds.

    Parameters
    ----------
    layer : int
        Counted from 0.

    Returns
    -------
    BlockParameters
        Not to be changed.
    """
    return encoder().layers[layer]
