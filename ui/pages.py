"""The pages in the order of the lesson: where each one lives, what it asks, and what the lesson used on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.examples import ATTENTION_WORDS, ORDER_WORDS
from core.shapes import FIRST_MASKS

ROOT = Path(__file__).resolve().parents[1]


TRANSLATION = ("Meera", "ne", "ek", "naya", "balla", "kharida")
"""The lesson's sentence in Hindi, in Latin letters."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the dashboard."""

    name: str
    """File in `pages/` and last part of the address."""
    title: str
    section: str
    icon: str
    question: str
    """What a reader finds out here."""
    lesson: Mapping[str, object] = field(default_factory=dict)
    """Values of controls that the lesson used here, by their key."""
    steps: tuple[str, ...] = ()
    """What is shown one at a time: on slides, and on the page itself where it goes step by step."""
    on_slide: tuple[str, ...] = ("d", "seed")
    """Shared controls that a presentation keeps in reach here."""

    @property
    def path(self) -> Path:
        """The script."""
        return ROOT / "pages" / f"{self.name}.py"


_ATTENTION = {"text": " ".join(ATTENTION_WORDS), "d": 4, "heads": 2, "seed": 0}
BLOCK_STEPS = ("norm 1", "attention", "add 1", "norm 2", "expand", "bend", "contract", "add 2")
"""The parts of a block with the norm before each; `ui.block_walk` has their order with the norm after it."""
STACK_PARTS = ("keep_attention", "keep_feed_forward", "keep_skip", "keep_norm", "keep_final_norm")
"""Keys of the switches that keep a part of every block of a stack."""
DERIVATION = ("overview", "project", "score", "scale", "softmax", "mix")
"""The computation of one head in the order in which it is derived."""

HOME = Page(
    "home",
    "Attention at work",
    "",
    ":material/home:",
    "What does attention do?",
    _ATTENTION | {"head": "0", "query": "0 Meera"},
    ("links", "guess"),
    ("text", "seed"),
)

PAGES = (
    Page(
        "why_attention",
        "Why attention",
        "Attention",
        ":material/history:",
        "How much of the first word still reaches the last one?",
        _ATTENTION
        | {"text": "Meera put the bat in her bag because it was new", "word": "3 bat", "radius": "1", "relative": True}
        | {"as_elsewhere": False, "query": "8 it", "head": "0"},
        ("reach", "length", "waiting", "library", "guess"),
    ),
    Page(
        "query_key_value",
        "Query, key, value",
        "Attention",
        ":material/grid_on:",
        "Where does every single weight come from?",
        _ATTENTION
        | {"head": "0", "query": "0 Meera", "key": "3 new", "feature": "0", "of": "Q", "step": "overview"}
        | {"trained": False, "of_layer": "3"},
        (*DERIVATION, "guess"),
        ("d",),
    ),
    Page(
        "scaling_sweep",
        "Why divide by √d",
        "Attention",
        ":material/trending_up:",
        "What happens to the softmax when the keys get longer?",
        _ATTENTION | {"seed": 1, "keys": 5, "draws": 200, "dims": [4, 64, 512], "draw": "d = 512", "draw_key": "0"},
        ("sweep", "one draw", "guess"),
        ("seed",),
    ),
    Page(
        "causal_mask",
        "Causal mask",
        "Attention",
        ":material/visibility_off:",
        "Does a later word leak into an earlier one?",
        _ATTENTION
        | {"head": "0", "causal": True, "query": "0 Meera", "key": "3 new", "replace": "4 bat", "by": "ball"}
        | {"n_query": 2, "n_key": 5, "corner_query": "0", "corner_key": "0"},
        ("mask", "weights", "leak", "corners", "guess"),
    ),
    Page(
        "order_blindness",
        "Order-blindness",
        "Attention",
        ":material/shuffle:",
        "Can attention tell “dog bites man” from “man bites dog”?",
        _ATTENTION
        | {"text": " ".join(ORDER_WORDS), "seed": 3, "head": "0", "order": "3 1 2 0", "positions": "sinusoidal"}
        | {"word": "0 dog", "feature": "0", "entry": "0"},
        ("without", "with", "encoding", "guess"),
    ),
    Page(
        "multi_head",
        "Multi-head attention",
        "Attention",
        ":material/hub:",
        "What do several heads see that one does not?",
        _ATTENTION | {"head": "0", "query": "0 Meera", "key": "3 new", "entry": "0"},
        ("heads", "join", "average", "one wide head", "wrong split", "guess"),
        ("d", "heads"),
    ),
    Page(
        "encoder_block",
        "Encoder block",
        "Transformer",
        ":material/layers:",
        "What happens to a word on its way through a block?",
        _ATTENTION
        | {"word": "0 Meera", "entry": "0", "unit": "0", "norm": "pre", "activation": "gelu", "factor": "2"}
        | {"step": "norm 1"},
        (*BLOCK_STEPS, "guess"),
    ),
    Page(
        "stack",
        "Stacked blocks",
        "Transformer",
        ":material/stacks:",
        "Why do deep models put the norm first?",
        _ATTENTION
        | {"depth": 12, "stack_width": "32", "stack_heads": "4", "activation": "gelu", "matrix": "w_2"}
        | dict.fromkeys(STACK_PARTS, True),
        ("stream", "gradient", "guess"),
        ("text", "seed"),
    ),
    Page(
        "parameter_count",
        "Encoder block: parameter count",
        "Transformer",
        ":material/calculate:",
        "How many numbers does a block learn, and where do they sit?",
        _ATTENTION | {"d_model": 32, "block_heads": 4, "d_ff": 64, "layers": 1, "biases": "all", "tensor": "w_q"},
        ("count", "guess"),
        (),
    ),
    Page(
        "three_shapes",
        "Encoder, decoder, both",
        "Transformer",
        ":material/call_split:",
        "Who may look at whom, and what kind of model does that make?",
        _ATTENTION
        | {"shape": "encoder-decoder", "target": " ".join(TRANSLATION), "part": "cross", "head": "0"}
        | {"query": f"0 {TRANSLATION[0]}", "key": "0 Meera", "reach_layers": 2}
        | {f"{part}_mask": mask for part, mask in FIRST_MASKS.items()},
        ("masks", "weights", "one weight", "reach", "models", "guess"),
    ),
    Page(
        "kv_cache",
        "Greedy decoding and the KV cache",
        "Transformer",
        ":material/cached:",
        "What is computed again for every new word, and what need not be?",
        _ATTENTION
        | {"new_words": 5, "decoder_layers": 2, "t": 3, "layer": "1", "head": "0", "key": "1 bought"}
        | {"cross": False, "source": "Meera kaufte einen neuen Schläger"},
        ("one step", "work", "memory", "mask", "corner", "guess"),
        ("seed",),
    ),
    Page(
        "cost",
        "What attention costs",
        "Transformer",
        ":material/speed:",
        "What does a sentence twice as long cost?",
        _ATTENTION
        | {"tokens": 1024, "model_width": 768, "model_heads": 12, "batch": 1, "bytes": 4, "cost_causal": False}
        | {"context": 4096, "cache_batch": 1, "cache_bytes": 2}
        | {"own_layers": 16, "own_heads": 32, "own_kv_heads": 8, "own_d_head": 64}
        | {"measured_heads": 1, "measured_d": 64, "seconds": 30},
        ("work", "models", "guess"),
        (),
    ),
    Page(
        "learning",
        "Watch attention being learned",
        "Trained",
        ":material/model_training:",
        "How does a model find out where to look?",
        _ATTENTION
        | {"task": "reverse", "left_out": False, "snapshot": 50, "pace": "fast", "own": "", "ending": "tight"},
        ("curves", "film", "your own", "not explanation", "guess"),
        ("seed",),
    ),
    Page(
        "real_model",
        "Inside a real model",
        "Trained",
        ":material/frame_inspect:",
        "What do the heads of a trained model look at?",
        _ATTENTION
        | {"shown_as": "words", "ends": True, "model_layer": "3", "model_head": "1"}
        | {"query": "3 a", "key": "5 bat"},
        ("all heads", "one head", "named heads", "limits", "guess"),
        ("text",),
    ),
    Page(
        "common_mistakes",
        "Common mistakes",
        "Practice",
        ":material/report:",
        "What goes wrong without any error, and what gives it away?",
        _ATTENTION | {"mistake": "no scale", "made": True, "head": "0", "query": "0 Meera", "key": "3 new"},
        ("mistake", "guess"),
        ("d", "heads"),
    ),
    Page(
        "practice",
        "Practice",
        "Practice",
        ":material/edit_note:",
        "Can you do it with paper and a calculator, and build it yourself?",
        _ATTENTION | {"exercise": "reading", "number": 1},
        ("exercise",),
        ("seed",),
    ),
)


ORDER = (HOME, *PAGES)
"""All pages in the order of the lesson."""


def named(name: str) -> Page:
    """A page by its name.

    Parameters
    ----------
    name : str
        The home page's included.

    Returns
    -------
    Page
        Its entry.

    Raises
    ------
    ValueError
        There is no page of that name.

    Examples
    --------
    >>> named("home") is HOME
    True
    """
    for page in ORDER:
        if page.name == name:
            return page
    raise ValueError(f"name must be one of {[page.name for page in ORDER]}; got {name!r}")


def neighbours(name: str) -> tuple[Page | None, Page | None]:
    """The pages before and after one, in the order of the lesson.

    Parameters
    ----------
    name : str
        Of a page, the home page included.

    Returns
    -------
    tuple of two Page or None
        None at the ends.

    Raises
    ------
    ValueError
        There is no page of that name.

    Examples
    --------
    >>> before, after = neighbours("scaling_sweep")
    >>> before.name, after.name
    ('query_key_value', 'causal_mask')
    """
    here = ORDER.index(named(name))
    return ORDER[here - 1] if here else None, ORDER[here + 1] if here + 1 < len(ORDER) else None
