"""What a script prints, as numbers by name, and what `core` says they should be."""

import base64
import io
import re

import nbformat
import numpy as np

import ui.learning
import ui.practice
from core.agreement import row_differences
from core.attention import attend, self_attention
from core.attention_jacobian import ask_last, last_output_influence
from core.cache_size import MODELS, Model, cache_bytes
from core.common_mistakes import make
from core.cost import PART_NAMES, block_cost, crossovers
from core.cross_attention import cross_attention
from core.decoding import PARTS as WORK_PARTS
from core.decoding import generate, movement, run_once
from core.encoder_block import encoder_block
from core.examples import (
    ORDER_WORDS,
    draw_block,
    draw_decoder,
    draw_example,
    draw_position_embedding,
    draw_recurrence,
    draw_stack,
)
from core.far_back import LENGTHS, at_usual_size, by_length, measured_features, relative
from core.mask_design import MaskDesign, build_mask
from core.masks import ALIGNMENTS, causal_mask
from core.mistakes import split_heads_by_reshape_alone
from core.multi_head import multi_head_attention
from core.order import default_order, run_two_orders
from core.parameter_count import encoder_block_parameters
from core.positions import rotate, rotation_angles, sinusoidal_encoding
from core.practice import kinds
from core.pretrained.joining import join_words, leave_out_ends
from core.pretrained.model import load, read_pieces
from core.pretrained.word_pieces import Pieces
from core.recurrence import last_state_influence, recurrent_states
from core.scaling import SWEEP_DIMS, single_draws, sweep
from core.shapes import PARTS, draw_shape, reach_of, sentences
from core.softmax import softmax
from core.stack import Parts, run_stack, stack_curves
from core.training.model import run as run_tiny
from core.training.model import shapes
from core.training.runs import saved
from core.training.tasks import TASKS
from ui.pages import STACK_PARTS

TITLE = re.compile(r"(.*?)(, queries in columns)? \((\d+) × (\d+)\), rows: (.*), columns: (.*)")


def read(text):
    """Blocks of a script's output: name to (axes, row names, column names, rows of numbers as printed).

    The name says whether queries stand in columns; single numbers and counts have their label as name.
    """
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        title = TITLE.fullmatch(line)
        if title:
            name, turned, n_rows, n_columns, *axes = title.groups()
            header, *rows = (next(lines).split("\t") for _ in range(int(n_rows) + 1))
            assert header[0] == ""
            assert all(len(row) == int(n_columns) + 1 for row in (header, *rows)), line
            found[name] = bool(turned), tuple(axes), [row[0] for row in rows], header[1:], [row[1:] for row in rows]
            assert next(lines) == ""
        elif line:
            label, *numbers = line.split("\t")
            assert label not in found
            found[label] = numbers
    return found


def cells_of(file, kind):
    """Texts of a notebook's cells of one kind."""
    cells = nbformat.reads(file.decode(), as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == kind]


def code_of(file):
    """The code cells of a notebook, one after the other."""
    return "\n".join(cells_of(file, "code"))


def six(value):
    """A number as printed: six decimals, never -0.000000."""
    return f"{value:z.6f}"


def matrix(values, rows, columns, turned=False):
    """A matrix as `read` gives it back."""
    values = np.asarray(values, dtype=np.float64)
    if turned:
        values, rows, columns = values.T, columns, rows
    names = ([str(name) for name in axis[1]] for axis in (rows, columns))
    return turned, (rows[0], columns[0]), *names, [[six(value) for value in row] for row in values]


def name_words(words):
    return [f"{position} {word}" for position, word in enumerate(words)]


def _head(values, lesson_words=None):
    rest = {} if lesson_words is None else {"lesson_words": lesson_words}
    example = draw_example(tuple(values["words"]), values["d_head"], values["n_heads"], values["seed"], **rest)
    head = values["head"]
    return example, (example.w_q[head], example.w_k[head], example.w_v[head])


def query_key_value(values):
    words, query, key, feature = values["words"], values["query"], values["key"], values["feature"]
    if values["trained"]:
        words, encoder = values["pieces"], load()
        parameters = encoder.layers[values["layer"]]
        read = read_pieces(encoder, _pieces(words)).blocks[values["layer"]].attention_input
        own = slice(32 * values["head"], 32 * values["head"] + 32)
        x = np.hstack([read, np.ones((len(words), 1))])
        w_q, w_k, w_v = (
            np.vstack([getattr(parameters, f"w_{name}")[:, own], getattr(parameters, f"b_{name}")[own]])
            for name in "qkv"
        )
    else:
        example, (w_q, w_k, w_v) = _head(values)
        x = example.x
    run = self_attention(x, w_q, w_k, w_v)
    found = run.attention
    queries, keys = ("query", name_words(words)), ("key", name_words(words))
    inputs, features = ("input feature", range(x.shape[1])), ("feature", range(run.q.shape[1]))
    blocks = {
        "X": (x, ("word", name_words(words)), inputs),
        "W_q": (w_q, inputs, features),
        "W_k": (w_k, inputs, features),
        "W_v": (w_v, inputs, features),
        "Q": (run.q, queries, features),
        "K": (run.k, keys, features),
        "V": (run.v, keys, features),
        "scores": (found.scores, queries, keys),
        "scaled scores": (found.scaled_scores, queries, keys),
        "weights": (found.weights, queries, keys),
        "output": (found.output, queries, features),
    }
    turned = values["queries_in"] == "columns"
    printed = {name: matrix(*block, turned) for name, block in blocks.items()}
    return printed | {
        f"worked cell: query {query}, key {key}, feature {feature}": [],
        "score": [six(found.scores[query, key])],
        "scaled score": [six(found.scaled_scores[query, key])],
        "weight": [six(found.weights[query, key])],
        f"output[{query}, {feature}]": [six(found.output[query, feature])],
    }


def home(values):
    example, _ = _head(values)
    names, query = name_words(values["words"]), values["query"]
    weights = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads.weights[values["head"]]
    turned = values["queries_in"] == "columns"
    return {
        "weights of this head": matrix(weights, ("query", names), ("key", names), turned),
        "shares of one query": matrix(weights[[query]], ("query", [names[query]]), ("key", names), turned),
    }


def causal_mask_page(values):
    words, n = tuple(values["words"]), len(values["words"])
    example, projections = _head(values)
    allowed = causal_mask(n)
    free = self_attention(example.x, *projections)
    used = self_attention(example.x, *projections, allowed if values["causal"] else None)
    moved, new = np.zeros((n, 2)), values["by"].split()
    if len(new) == 1 and new[0] != words[values["replace"]]:
        changed = [*words]
        changed[values["replace"]] = new[0]
        other = draw_example(tuple(changed), values["d_head"], values["n_heads"], values["seed"]).x
        for column, mask in enumerate((allowed, None)):
            runs = [self_attention(x, *projections, mask).attention.output for x in (example.x, other)]
            moved[:, column] = row_differences(*runs)
    queries, keys = ("query", name_words(words)), ("key", name_words(words))
    blocks = {
        "mask": (allowed, queries, keys),
        "scaled scores before": (free.attention.scaled_scores, queries, keys),
        "scaled scores after": (used.attention.scaled_scores, queries, keys),
        "weights": (used.attention.weights, queries, keys),
        "weights without a mask": (free.attention.weights, queries, keys),
        "output": (used.attention.output, queries, ("feature", range(values["d_head"]))),
        "how far each output row moved": (moved, queries, ("side", ("with mask", "without"))),
    }
    n_query, n_key = values["n_query"], values["n_key"]
    for align in ALIGNMENTS:
        zeros = np.zeros((n_query, 1)), np.zeros((n_key, 1)), np.zeros((n_key, 1))
        weights = attend(*zeros, causal_mask(n_query, n_key, align)).weights
        blocks[align] = weights, ("query", range(n_query)), ("key", range(n_key))
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in blocks.items()}


def order_blindness(values):
    words, order, kind = values["words"], tuple(values["order"]), values["positions"]
    n, d_head, d_model = len(words), values["d_head"], values["d_head"] * values["n_heads"]
    example, projections = _head(values, ORDER_WORDS)
    encoding = {
        "rotary": lambda: np.cos(rotation_angles(n, d_head)),
        "learned table": lambda: draw_position_embedding(n, d_model, values["seed"]),
        "sinusoidal": lambda: sinusoidal_encoding(n, d_model),
    }[kind]()
    added, turn = (None, rotate) if kind == "rotary" else (encoding, None)
    plain = run_two_orders(example.x, *projections, order)
    placed = run_two_orders(example.x, *projections, order, added, turn)
    old, new = ("word", name_words(words)), ("word", name_words([words[position] for position in order]))
    features = ("feature", range(d_head))
    columns = ("pair" if kind == "rotary" else "input feature", range(encoding.shape[1]))
    blocks = {
        "output without positions": (plain.output, old, features),
        "output of the new order, without positions": (plain.shuffled_output, new, features),
        "difference without positions": (plain.difference, new, features),
        "output with positions": (placed.output, old, features),
        "output of the new order, with positions": (placed.shuffled_output, new, features),
        "difference with positions": (placed.difference, new, features),
        "positions": (encoding, old, columns),
    }
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in blocks.items()}


def scaling_sweep(values):
    words, n_keys, seed = tuple(values["words"]), values["n_keys"], values["seed"]
    printed = {}
    rows = sweep(SWEEP_DIMS, n_keys, values["n_draws"], seed)
    kept = ("max_weight", "entropy", "gradient_norm")
    names = ("largest weight", "entropy (nats)", "gradient of the softmax")
    sizes, columns = ("d", SWEEP_DIMS), ("measure", ("mean", "low", "high"))
    for series, end, factor in (("raw scores", "unscaled", 0.0), ("divided by √d", "scaled", 0.5)):
        spreads = [row.scaled_score_spread if factor else row.raw_score_spread for row in rows]
        bands = [
            (row.pooled_spread / row.d**factor, spread.low, spread.high)
            for row, spread in zip(rows, spreads, strict=True)
        ]
        printed[f"spread of the scores, {series}"] = matrix(bands, sizes, columns)
        for name, quantity in zip(names, kept, strict=True):
            found = [getattr(row, f"{quantity}_{end}") for row in rows]
            bands = [(band.mean, band.low, band.high) for band in found]
            printed[f"{name}, {series}"] = matrix(bands, sizes, columns)
    quantities = ("quantity", ("raw score", "weight, raw", "weight, divided by √d"))
    for draw in single_draws(values["dims"], n_keys, seed) if values["dims"] else ():
        stacked = draw.raw_scores, draw.weights_unscaled, draw.weights_scaled
        printed[f"single draw, d = {draw.d}"] = matrix(stacked, quantities, ("key", range(n_keys)))
    if words:
        example, projections = _head(values | {"head": 0})
        own = self_attention(example.x, *projections).attention
        printed |= {
            "your sentence": [],
            "spread of its scores": [six(own.scores.std())],
            "largest weight of a row, mean, raw scores": [six(softmax(own.scores).max(axis=-1).mean())],
            "largest weight of a row, mean, divided by √d": [six(own.weights.max(axis=-1).mean())],
        }
    return printed


def parameter_count(values):
    sizes = (values["d_model"], values["n_heads"], values["d_ff"])
    table = encoder_block_parameters(*sizes, biases=values["biases"])
    printed = {"tensor": ["shape", "count"]}
    printed |= {row.name: [str(row.shape), str(row.count)] for row in table.rows}
    return printed | {
        "one block": [str(table.total)],
        f"all layers ({values['n_layers']})": [str(table.total * values["n_layers"])],
    }


def encoder_block_page(values):
    d_model = values["d_head"] * values["n_heads"]
    words, d_ff = tuple(values["words"]), values["factor"] * d_model
    x, parameters = draw_block(words, values["d_head"], values["n_heads"], d_ff, values["seed"])
    block = encoder_block(x, parameters, values["n_heads"], values["norm_position"], values["activation"])
    sum_1, sum_2 = x + block.attention_output, block.after_attention + block.feed_forward_output
    made = {"joined": block.joined, "attention": block.attention_output, "sum 1": sum_1}
    wide = {"hidden": block.hidden, "activated": block.activated, "feed-forward": block.feed_forward_output}
    if values["norm_position"] == "pre":
        first = {"X": x, "norm 1": block.attention_input} | made | {"norm 2": block.feed_forward_input}
        found = first | wide | {"sum 2": sum_2}
    else:
        found = {"X": x} | made | {"norm 1": block.after_attention} | wide | {"sum 2": sum_2, "norm 2": block.output}
    turned, rows = values["queries_in"] == "columns", ("word", name_words(words))
    return {
        name: matrix(
            array, rows, ("unit" if name in ("hidden", "activated") else "feature", range(array.shape[1])), turned
        )
        for name, array in found.items()
    }


def stack(values):
    words, width = tuple(values["words"]), values["d_model"]
    x, layers, reading = draw_stack(words, width, 4 * width, values["n_layers"], values["seed"])
    parts = Parts(*(values[key] for key in STACK_PARTS))
    printed, sizes, measure = {}, range(1, values["n_layers"] + 1), "measure"
    for norm_position, name in (("pre", "pre-norm"), ("post", "post-norm")):
        run = run_stack(x, layers, values["stack_heads"], reading, norm_position, values["activation"], parts)
        found = stack_curves(run)
        stream = {"length": found.size} | ({"mean cosine": found.alike} if len(words) > 1 else {})
        stream["gradient"] = found.stream_gradient
        rows = ("layer", range(values["n_layers"] + 1))
        printed[f"stream, {name}"] = matrix(np.transpose([*stream.values()]), rows, (measure, stream))
        for title, columns in (("gradients", found.gradient), ("gradients of the last layer", found.last_gradient)):
            if columns:
                numbers = np.transpose([*columns.values()])
                printed[f"{title}, {name}"] = matrix(numbers, ("layer", sizes), (measure, columns))
    return printed


def multi_head(values):
    d_head, n_heads, seed, words = values["d_head"], values["n_heads"], values["seed"], tuple(values["words"])
    example, _ = _head(values)
    w_o = draw_block(words, d_head, n_heads, 1, seed)[1].w_o
    found = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v, w_o)
    wide = draw_example(words, d_head * n_heads, 1, seed)
    alone = self_attention(wide.x, wide.w_q[0], wide.w_k[0], wide.w_v[0]).attention.weights
    q, k, v = (np.hstack(list(example.x @ w)) for w in (example.w_q, example.w_k, example.w_v))
    wrong = attend(*(split_heads_by_reshape_alone(array, n_heads) for array in (q, k, v))).weights
    names = name_words(words)
    queries, keys, rows = ("query", names), ("key", names), ("word", names)
    features = ("feature", range(d_head * n_heads))
    blocks = {f"weights of head {head}": (found.heads.weights[head], queries, keys) for head in range(n_heads)}
    blocks |= {
        "joined": (found.joined, rows, features),
        "W_o": (w_o, ("joined feature", range(d_head * n_heads)), features),
        "output": (found.output, rows, features),
        "average of all heads": (found.heads.weights.mean(axis=0), queries, keys),
        "one wide head": (alone, queries, keys),
        "wrong split": (wrong[values["head"]], queries, keys),
    }
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in blocks.items()}


def three_shapes(values):
    words, target, shape, head = tuple(values["words"]), tuple(values["target"]), values["shape"], values["head"]
    designs = {part: values[f"{part}_mask"] for part in PARTS[shape]}
    masks, names = {}, {}
    for part, (preset, size, *cells) in designs.items():
        names[part] = sentences(part, shape, words, target)
        design = MaskDesign(preset, size, *(frozenset(map(tuple, some)) for some in cells))
        masks[part] = build_mask(design, *map(len, names[part]), one_way=part == "decoder")
    blocks = {}
    for part, given in draw_shape(shape, words, target, values["d_head"], values["n_heads"], values["seed"]).items():
        of = given.projections
        found = cross_attention(given.x, given.source, of.w_q, of.w_k, of.w_v, may_attend=masks[part]).heads
        queries, keys = ((title, name_words(said)) for title, said in zip(("query", "key"), names[part], strict=True))
        blocks |= {
            f"{part}: mask": (masks[part], queries, keys),
            f"{part}: scaled scores": (found.scaled_scores[head], queries, keys),
            f"{part}: weights": (found.weights[head], queries, keys),
            f"{part}: output": (found.output[head], queries, ("feature", range(values["d_head"]))),
            f"{part}: reach": (reach_of(part, masks, values["n_layers"])[-1], queries, keys),
        }
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in blocks.items()}


def kv_cache(values):
    words, source, layer, head = tuple(values["words"]), tuple(values["source"]), values["layer"], values["head"]
    vocabulary, n_new = tuple(dict.fromkeys(words)), values["n_new"]
    sizes = values["d_head"], values["n_heads"], values["n_layers"], values["seed"]
    decoder = draw_decoder(vocabulary, *sizes, source)
    prompt = [vocabulary.index(word) for word in words]
    plain, cached = (generate(decoder, prompt, n_new, use_cache) for use_cache in (False, True))
    blocks = run_once(decoder, cached.tokens)
    moved = movement(decoder, cached.tokens)
    text = name_words([vocabulary[token] for token in cached.tokens])
    n, last = len(words) + values["step"] - 1, len(text) - 1
    steps, queries, keys = ("step", range(1, n_new + 1)), ("query", text[:n]), ("key", text[:n])
    positions, newest, features = (
        ("word", text[:last]),
        ("query", text[n - 1 : n]),
        ("feature", range(values["d_head"])),
    )
    ways = ("way", ("without a cache", "with a cache"))
    own = blocks[layer]
    k, v = (rows[head, :last] for rows in (own.keys_and_values.k, own.keys_and_values.v))
    both = list(zip(plain.steps, cached.steps, strict=True))
    found = {
        "logits": (
            [step.logits for step in cached.steps],
            steps,
            ("word of the vocabulary", name_words(vocabulary)),
        ),
        "states": ([step.state for step in cached.steps], steps, ("feature", range(sizes[0] * sizes[1]))),
        "K in the cache": (k, positions, features),
        "V in the cache": (v, positions, features),
        "weights": (own.attention.weights[head, :n, :n], queries, keys),
        "rows of K": ([[step.rows("K", layer) for step in pair] for pair in both], steps, ways),
        "query-key pairs": ([[step.pairs("scores", layer) for step in pair] for pair in both], steps, ways),
        "bytes in the cache": ([[step.cache_bytes] for step in cached.steps], steps, ("way", ways[1][1:])),
        "how far each row moves": (
            np.column_stack([moved.keys[layer], moved.states]),
            positions,
            ("side", ("K, with mask", "K, mask off", "state, with mask", "state, mask off")),
        ),
    }
    for align in ALIGNMENTS:
        seen = attend(own.q[head, n - 1 : n], k[:n], v[:n], causal_mask(1, n, align))
        found[align] = seen.weights, newest, keys
    for name, way in zip(ways[1], (plain, cached), strict=True):
        work = [[*step.multiply_adds.values()] for step in way.steps]
        found[f"multiply-adds {name}"] = work, steps, ("part", tuple(WORK_PARTS))
    if source:
        crossed = own.cross_attention.weights[head, :n]
        found["weights of the second sentence"] = crossed, queries, ("key", name_words(source))
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in found.items()}


def cost(values):
    sizes = values["d_model"], values["n_heads"], 4 * values["d_model"]
    rest = values["batch"], values["bytes_per_number"], values["causal"]
    here, lengths = block_cost(values["seq_len"], *sizes, *rest), [2**power for power in range(3, 18)]
    places = crossovers(values["d_model"], 4 * values["d_model"])
    parts, layers_heads = ("part", (*PART_NAMES, "block")), values["own"]
    models = [*MODELS, Model("your own", *layers_heads, 0, "")]
    models = models if layers_heads[1] % layers_heads[2] == 0 else models[:-1]
    kept, sentences, size = values["context"], values["cache_batch"], values["cache_bytes_per_number"]
    caches = [
        [
            cache_bytes(1, model.n_layers, model.n_kv_heads, model.d_head, 1, size),
            cache_bytes(kept, model.n_layers, model.n_kv_heads, model.d_head, sentences, size),
            cache_bytes(kept, model.n_layers, model.n_heads, model.d_head, sentences, size),
        ]
        for model in models
    ]
    exact = [[row.flops, row.multiply_adds, row.needed_flops, row.result_bytes] for row in here.rows]
    work = [[row.flops for row in block_cost(n, *sizes, *rest).rows] for n in lengths]
    quantities = ("quantity", ("FLOP", "multiply-adds", "FLOP needed", "bytes"))
    return {
        "cost of each part": matrix(exact, parts, quantities),
        "FLOP over n": matrix(work, ("n", lengths), parts),
        "where n² overtakes": matrix(
            [[places.projections], [places.block]],
            ("what", ("the projections", "the rest of the block")),
            ("place", ("n",)),
        ),
        "caches": matrix(
            caches,
            ("model", [model.name for model in models]),
            ("bytes", ("a token", "cache", "cache with all heads")),
        ),
    }


def why_attention(values):
    d_head, n_heads, seed, words = values["d_head"], values["n_heads"], values["seed"], tuple(values["words"])
    example, features = draw_example(words, d_head, n_heads, seed), measured_features(d_head, n_heads)
    layer = example if values["as_elsewhere"] else at_usual_size(example)
    network = draw_recurrence(d_head * n_heads, values["radius"], seed)
    states = recurrent_states(example.x, network)
    found = last_state_influence(states, network, features)
    across = last_output_influence(ask_last(layer.x, layer.w_q, layer.w_k, layer.w_v), features)
    ends = by_length(layer, network, LENGTHS, features)
    head, query = values["head"], values["query"]
    heads = multi_head_attention(example.x, example.w_q, example.w_k, example.w_v).heads
    rows, models = ("word", name_words(words)), ("recurrent network", "attention")

    def measures(*kinds):
        return "measure", [f"{model}, {kind}" for model in models for kind in kinds]

    sizes = (found.by_word, relative(found.by_word), across, relative(across))
    lengths = ("words", LENGTHS)
    blocks = {
        "what each word moves": (np.transpose(sizes), rows, measures("size", "share")),
        "first and last word by length": (
            np.hstack([ends.recurrent, ends.attention]),
            lengths,
            measures("first word", "last word"),
        ),
        "steps one after another": ([(length, 3) for length in LENGTHS], lengths, ("model", models)),
        "states of the recurrent network": (states, rows, ("feature", range(d_head * n_heads))),
        "back from the last state": (
            np.transpose([(1 - states**2).mean(axis=-1), found.by_state]),
            rows,
            ("measure", ["slope of tanh, mean", "size by state"]),
        ),
        "books on the shelf": (
            np.transpose([heads.scaled_scores[head, query], heads.weights[head, query]]),
            rows,
            ("measure", ["label fits", "taken"]),
        ),
    }
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in blocks.items()}


def practice_page(values):
    exercise = kinds.draw(values["kind"], values["seed"], values["number"])
    printed = {f"{values['kind']}, number {values['number']} of seed {values['seed']}": []}
    assert values == practice_code(exercise, values["seed"], values["number"], values["revealed"], values["queries_in"])
    turned = values["queries_in"] == "columns"
    for operand in exercise.operands:
        names = zip((operand.row_names, operand.column_names), operand.values.shape, strict=True)
        rows, columns = (given or range(size) for given, size in names)
        printed[operand.name] = matrix(operand.values, (operand.rows, rows), (operand.columns, columns), turned)
    if values["revealed"]:
        axes = ("answer", values["rows"]), ("cell", values["columns"])
        printed["answer"] = matrix(exercise.answer, *axes, turned)
    return printed


def practice_code(exercise, seed, number, revealed, queries_in):
    """What the page of the exercises passes to its script."""
    rows, columns = ui.practice.answer_names(exercise)
    return {
        "kind": exercise.kind,
        "seed": seed,
        "number": number,
        "operands": ui.practice.as_literals(exercise),
        "given": [[name, value] for name, value in exercise.given.items()],
        "options": [*exercise.options],
        "rows": [*rows],
        "columns": [*columns],
        "revealed": revealed,
        "queries_in": queries_in,
    }


def learning(values):
    """The page's own forward pass with what the script was given, the file of its arrays included."""
    with np.load(io.BytesIO(base64.b64decode("".join(values["learned"])))) as file:
        parameters = {name: file[name] for name in file.files}
    given = {name: array.shape for name, array in parameters.items()}, values["causal"], values["divide_by_root_d"]
    designs = {name: (shapes(one.design), one.design.causal, one.design.scaled) for name, one in TASKS.items()}
    task = next(TASKS[name] for name, design in designs.items() if design == given)
    assert list(task.words) == values["vocabulary"]
    run = run_tiny(task.design, parameters, task.numbers(values["words"])[0])
    turned, words = values["queries_in"] == "columns", name_words(values["words"])
    titles = [f"weights of layer {layer}" for layer in range(task.design.n_layers)]
    titles = ["weights"] if titles == ["weights of layer 0"] and task.design.readout == "words" else titles
    titles += ["weights of the pointer"] * (task.design.readout == "pointer")
    printed = {
        title: matrix(attention.weights, ("query", words), ("key", words), turned)
        for title, attention in zip(titles, run.pictures, strict=True)
    }
    if task.design.readout == "words":
        answers = ("answer", values["vocabulary"])
        printed["shares of the answers"] = matrix(softmax(run.logits), ("position", words), answers, turned)
    return printed


def learned_code(task, seed, queries_in, rng=None, words=()):
    """What the page passes to its script for one of the saved models."""
    read = TASKS[task]
    if rng is not None:
        words = [read.words[number] for number in read.fresh(rng, 1).tokens[0]]
    return ui.learning.code(read, saved(task, seed), words or read.probe, queries_in)


SHOWN_AXES = {
    "sentence": ("yours", "reversed", "rolled"),
    "tokens": ("n", "1,024", "32,768", "131,072"),
    "cost": ("operations", "bytes of weights"),
}


def common_mistakes(values):
    words = tuple(values["words"])
    asked = [values[name] for name in ("d_head", "n_heads", "seed", "head", "query")]
    found = make(values["mistake"], words, *asked)
    order = default_order(words) or range(len(words))
    shuffled = name_words([words[position] for position in order])

    def axis(title, size):
        names = {"query": name_words(words), "key": name_words(words), "word": shuffled, "feature": range(size)}
        return title, (names | SHOWN_AXES)[title]

    runs = found.wrong if values["made"] else found.right
    blocks = {
        name: (side.values, axis(side.rows, side.values.shape[0]), axis(side.columns, side.values.shape[1]))
        for name, side in (("as it runs", runs), ("done right", found.right))
    }
    measures = "measure", [measure.name for measure in (*found.measures, found.test)]
    both = "computed", ("as it runs", "done right")
    blocks["measures"] = found.matrix_of_measures(values["made"]), measures, both
    return {name: matrix(*block, values["queries_in"] == "columns") for name, block in blocks.items()}


def _pieces(names):
    word_of = np.cumsum([not name.startswith("##") for name in names]) - 1
    words = tuple("".join(names[i].removeprefix("##") for i in np.flatnonzero(word_of == w)) for w in set(word_of))
    return Pieces(tuple(names), tuple(load().vocabulary[name] for name in names), tuple(word_of), words)


def real_model(values):
    names, pieces = values["pieces"], _pieces(values["pieces"])
    word_of, words = pieces.word_of, pieces.words
    weights = read_pieces(load(), pieces).weights[values["layer"], values["head"]]
    shown, of_shown = (join_words(weights, word_of), words) if values["whole_words"] else (weights, names)
    if not values["with_ends"]:
        shown, of_shown = leave_out_ends(shown), of_shown[1:-1]
    turned, blocks = values["queries_in"] == "columns", {"weights of the pieces": (weights, names)}
    return {
        name: matrix(array, ("query", name_words(of)), ("key", name_words(of)), turned)
        for name, (array, of) in (blocks | {"weights as shown": (shown, of_shown)}).items()
    }


EXPECTED = {
    "home": home,
    "why_attention": why_attention,
    "query_key_value": query_key_value,
    "scaling_sweep": scaling_sweep,
    "causal_mask": causal_mask_page,
    "order_blindness": order_blindness,
    "multi_head": multi_head,
    "encoder_block": encoder_block_page,
    "stack": stack,
    "parameter_count": parameter_count,
    "three_shapes": three_shapes,
    "kv_cache": kv_cache,
    "cost": cost,
    "learning": learning,
    "practice": practice_page,
    "real_model": real_model,
    "common_mistakes": common_mistakes,
}
