"""Values that the trained model is held to, by another implementation; made once, kept beside this file.

Needs PyTorch, ``transformers`` and ``tokenizers`` (made with 2.13, 5.24 and 0.23) in an environment of their own, and
the ``tokenizer.json`` of the public package (see ``core/pretrained/build.py``):

    python -m tests.core.pretrained.make_reference TOKENIZER_JSON

The model is ``transformers.BertModel`` in double precision with eager attention, filled with the rounded weights of
this repository, so that rounding them is no part of the difference.
"""

import json
import sys
from pathlib import Path

import numpy as np

from core.pretrained.model import D_FF, D_MODEL, EPSILON, FOLDER, N_HEADS, N_LAYERS

HERE = Path(__file__).parent

TEXTS = (
    "Meera put the bat in her bag because it was new.",
    "Dog bites man",
    "Internationalisation, the naïve café owner said, isn't cheap: $3,500!",
    "The committee that the mayor had asked for advice about the bridge across the river met twice in spring, but "
    "its members could not agree on what it should cost, who should pay for it or when it ought to be built; so the "
    "old ferry, which my grandfather once steered, still carries the children of the village to their school every "
    "morning, and nobody who lives there has asked the committee again since the summer of the year in which it met.",
)
"""Their attention is kept whole, but for the last one: every eleventh row."""

SPLIT_ONLY = (
    *("", " ", "a", "MEERA", "unbelievably", "Zürich", "ÅNGSTRÖM", "İstanbul", "Σίσυφος", "naïve", "façade", "œuvre"),
    *("don't", "it's 5 o'clock", "e-mail", "3.14159", "1,000,000", "50%", "a+b=c", "x<y", "#tag @name", "C++", "$5"),
    *("“quoted”", "‘it’", "wait…", "a–b—c", "¿qué?", "¡hola!", "«oui»", "www.example.org/a_b?c=d", "snake_case"),
    *("क्या आप जानते हैं", "我喜欢猫", "こんにちは世界", "안녕하세요", "مرحبا", "שלום", "สวัสดี", "Привет мир", "Ελλάδα"),
    *("👍", "a👍b", "👩‍👩‍👧 family", "🇮🇳", "a\u200bb", "a\u00adb", "a\u00a0b", "a\u3000b", "tab\tand\nline"),
    *(
        "a\x0bb",
        "a\x1cb",
        "a\x85b",
        "null\x00byte",
        "bell\x07",
        "\ufffd",
        "a\ufffdb",
        "e\u0301",
        "\u212b",
        "\ufb01sh",
        "½ cup",
        "x²",
        "№ 5",
        "€5",
    ),
    *("\u2260", "a\u037eb", "ﬁancée", "a" * 100, "a" * 101, "b" * 30 + " end", "##s", "a ##s", "ing", "meera priya"),
    *("Mr. O'Neill's well-known (and well-liked) dog", "I'd've", "McDonald's", "COVID-19", "2nd", "U.S.A."),
    *("the " * 20, "!!!", "...", "— — —", "\u2028line", "x\u0301\u0302y", "Dž", "ẞ", "ß", "K", "ﷺ", "日本語text"),
)
"""Only their pieces are kept."""


def main(tokenizer_json: str) -> None:
    """Write ``pieces.json`` and ``attention.npz``."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    tokenizer = Tokenizer.from_file(tokenizer_json)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    split = {text: tokenizer.encode(text).ids for text in (*TEXTS, *SPLIT_ONLY)}
    (HERE / "pieces.json").write_text(json.dumps(split, indent=0) + "\n", encoding="ascii")

    sizes = {"hidden_size": D_MODEL, "intermediate_size": D_FF, "num_hidden_layers": N_LAYERS}
    config = BertConfig(
        vocab_size=30522, num_attention_heads=N_HEADS, layer_norm_eps=EPSILON, attn_implementation="eager", **sizes
    )
    model = BertModel(config, add_pooling_layer=False).double().eval()
    missing, unexpected = model.load_state_dict(_weights(torch), strict=False)
    assert not unexpected, unexpected
    assert set(missing) <= {"embeddings.position_ids", "embeddings.token_type_ids"}, missing
    kept = {}
    for number, text in enumerate(TEXTS):
        with torch.no_grad():
            run = model(input_ids=torch.tensor([split[text]]), output_attentions=True)
        attention = np.concatenate([layer.numpy() for layer in run.attentions])  # (layer, head, query, key)
        every = 11 if text == TEXTS[-1] else 1
        kept[f"attention_{number}"] = attention[:, :, ::every].astype(np.float32)
        kept[f"output_{number}"] = run.last_hidden_state[0, ::every].numpy().astype(np.float32)
    np.savez_compressed(HERE / "attention.npz", **kept)


def _weights(torch):
    """The rounded weights under the names of the other library, read without our own loader."""
    parts = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"}
    parts |= {"o": "attention.output.dense", "1": "intermediate.dense", "2": "output.dense"}
    with np.load(FOLDER / "layers.npz") as file:
        stored = dict(file)
    stored["words"] = np.load(FOLDER / "words.npy")

    def matrix(name):
        return torch.from_numpy(stored[name].astype(np.float64) * stored[f"{name}.scales"].astype(np.float64)[:, None])

    def vector(name):
        return torch.from_numpy(stored[name].astype(np.float64))

    found = {
        "embeddings.word_embeddings.weight": matrix("words"),
        "embeddings.position_embeddings.weight": matrix("positions"),
        "embeddings.token_type_embeddings.weight": torch.stack([vector("text_type")] * 2),
        "embeddings.LayerNorm.weight": vector("gain"),
        "embeddings.LayerNorm.bias": vector("shift"),
    }
    for layer in range(N_LAYERS):
        at = f"encoder.layer.{layer}"
        for ours, theirs in parts.items():
            found[f"{at}.{theirs}.weight"] = matrix(f"{layer}.w_{ours}")
            found[f"{at}.{theirs}.bias"] = vector(f"{layer}.b_{ours}")
        for ours, theirs in (("norm_1", "attention.output.LayerNorm"), ("norm_2", "output.LayerNorm")):
            found[f"{at}.{theirs}.weight"] = vector(f"{layer}.{ours}_gain")
            found[f"{at}.{theirs}.bias"] = vector(f"{layer}.{ours}_shift")
    return found


if __name__ == "__main__":
    main(sys.argv[1])
