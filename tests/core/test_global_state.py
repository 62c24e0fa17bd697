"""Nothing in core touches a generator that all readers of one server share."""

import inspect
import pkgutil
import random
from importlib import import_module

import numpy as np
import pytest
import torch

import core
import core.practice
from core.attention_jacobian import ask_last
from core.decoder_block import draw_layer, source_keys_and_values
from core.decoding import generate
from core.encoder_block import draw_parameters
from core.examples import draw_decoder, draw_example, draw_recurrence
from core.mask_design import MaskDesign
from core.practice.kinds import draw
from core.settings import Settings
from core.stack import run_stack
from core.training.model import Design, first_parameters

X, W = np.arange(6.0).reshape(3, 2), np.ones((1, 2, 2))
WORDS = ("dog", "bites", "man")
DESIGN = MaskDesign("causal")
PARAMETERS = draw_parameters(2, 1, 3, np.random.default_rng(0))
LAYER = draw_layer(2, 1, 3, np.random.default_rng(0), cross=True)
DECODER = draw_decoder(WORDS, 1, 2, 1, 0, ("Hund",))
WAY = generate(DECODER, (0,), 2, True)
PLAIN = draw_parameters(2, 1, 3, np.random.default_rng(0), bias=False)
ASKED, NETWORK = ask_last(X, W, W, W), draw_recurrence(2, 1.0)
EXAMPLE = draw_example(WORDS, 2, 1)
DRAWN = {
    "blocks": ("doubling", "encoding", "head_split", "norm", "parameters"),
    "choices": ("attention_kinds", "shapes", "which_mistake"),
    "heads": (
        *("causal_rows", "causal_weights", "mask_cells", "mixture", "projection", "reading", "scaling", "score"),
        *("shuffled", "softmax_row"),
    ),
}
"""Functions that draw a variant of an exercise."""
TINY = Design(3, 2, d_model=5, d_head=5)

CALLS = {
    "agreement.compare": ({"x": X}, {"x": X}),
    "agreement.nudged": (X,),
    "agreement.row_differences": (X, X),
    "attention.attend": (X, X, X),
    "attention.self_attention": (X, W[0], W[0], W[0]),
    "backward.attention_backward": (X, X, X, np.eye(3), X),
    "backward.bend_slope": (X,),
    "backward.dense_backward": (X, np.eye(2), X),
    "backward.layer_norm_backward": (X, X),
    "backward.softmax_backward": (X, X),
    "cache_size.cache_bytes": (3, 2, 1, 5),
    "common_mistakes.batch_of": (X,),
    "common_mistakes.make": ("no causal mask", WORDS),
    "cost.attention_cost": (3, 2, 1),
    "cost.block_cost": (3, 2, 1, 5),
    "cost.crossovers": (2, 5),
    "cost.human": (1234, "B"),
    "cost.powers_of_two": (1, 8),
    "cross_attention.cross_attention": (X, X[:2], W, W, W),
    "decoder_block.decoder_block": (X, LAYER, 1, None, source_keys_and_values(X, LAYER.cross, 1)),
    "decoder_block.draw_layer": (2, 1, 3, np.random.default_rng(0)),
    "decoder_block.source_keys_and_values": (X, LAYER.cross, 1),
    "decoding.compare_ways": (WAY, WAY),
    "decoding.embed": (DECODER, (0, 1)),
    "decoding.generate": (DECODER, (0,), 2, True),
    "decoding.generate_both": (DECODER, (0,), 2),
    "decoding.movement": (DECODER, (0, 1)),
    "decoding.origins": (WAY, 1),
    "decoding.run_once": (DECODER, (0, 1)),
    "attention_jacobian.ask_last": (X, W, W, W),
    "attention_jacobian.influence_by_head": (ASKED, 1),
    "attention_jacobian.last_output_influence": (ASKED,),
    "attention_jacobian.last_output_jacobian": (ASKED, 1),
    "encoder_block.draw_matrix": (2, 3, np.random.default_rng(0)),
    "encoder_block.draw_parameters": (2, 1, 3, np.random.default_rng(0)),
    "encoder_block.encoder_block": (X, PARAMETERS, 1),
    "error_function.erf": (X,),
    "examples.draw_block": (WORDS,),
    "examples.draw_joining": (2, 3, 5),
    "examples.draw_decoder": (WORDS,),
    "examples.draw_decoder_projections": (),
    "examples.draw_example": (WORDS,),
    "examples.draw_position_embedding": (3, 2),
    "examples.draw_stack": (WORDS, 2, 3, 2),
    "examples.draw_recurrence": (2, 1.0),
    "far_back.at_usual_size": (EXAMPLE,),
    "far_back.by_length": (EXAMPLE, NETWORK, (2, 5)),
    "far_back.first_below": ((2, 4), [0.5, 0.1], 0.2),
    "far_back.measured_features": (3, 2),
    "far_back.relative": (X,),
    "far_back.stretched": (3, 5),
    "feed_forward.activate": (X, "gelu"),
    "feed_forward.gelu": (X,),
    "feed_forward.normal_share": (X,),
    "feed_forward.relu": (X,),
    "layer_norm.layer_norm": (X,),
    "mask_design.build_mask": (DESIGN, 3, 3),
    "mask_design.left_out": (DESIGN, 3, 3),
    "mask_design.preset_mask": (DESIGN, 3, 3),
    "mask_design.read_design": ("full",),
    "mask_design.turn_over": (DESIGN, (0, 1), 3, 3),
    "mask_design.write_design": (DESIGN,),
    "masks.causal_mask": (3,),
    "masks.count_allowed": (np.ones((3, 3), bool),),
    "missing_key.by_every_rule": (np.eye(3), np.eye(3, dtype=bool), X, 0),
    "missing_key.rows_lost_next": (np.eye(3), X),
    "missing_key.weights_by_rule": (np.eye(3), np.eye(3, dtype=bool), "added"),
    "mistakes.attend_across_the_batch": (X[None], W[0], W[0], W[0]),
    "mistakes.attend_over_the_wrong_axis": (X, X, X),
    "mistakes.project_by_the_transpose": (X, W[0]),
    "masks.local_mask": (3, 3, 1),
    "masks.padding_mask": (3, 3, 1),
    "masks.prefix_mask": (3, 3, 1),
    "mistakes.split_heads_by_reshape_alone": (X, 1),
    "multi_head.head_contributions": (W, W[0].T),
    "multi_head.merge_heads": (X[None],),
    "multi_head.multi_head_attention": (X, W, W, W),
    "multi_head.split_heads": (X, 2),
    "next_word.learn_by_heart": (WORDS, X, W[0], W[0], W[0], True),
    "order.default_order": (WORDS,),
    "order.draw_order": (WORDS, np.random.default_rng(0)),
    "order.read_order": ("0 1", 2),
    "order.reads_as_before": (WORDS, (2, 1, 0)),
    "order.run_two_orders": (X, W[0], W[0], W[0], (2, 0, 1)),
    "order.write_order": ((0, 1),),
    "parameter_count.encoder_block_parameters": (2, 1, 3),
    "positions.rotate": (X,),
    "positions.rotation_angles": (3, 2),
    "positions.sinusoidal_encoding": (3, 2),
    "products.count": ((),),
    "products.multiply": ("K", X, X.T),
    **{f"practice.{room}.{name}": (np.random.default_rng(0),) for room, names in DRAWN.items() for name in names},
    "practice.exercise.judge": (draw("score", 0, 1), [[3]]),
    "practice.exercise.read_number": ("3",),
    "practice.exercise.written": ([0.5], 1),
    "practice.kinds.draw": ("score", 0, 1),
    "reach.reach": (np.ones((3, 3), bool), 2),
    "reach.reach_across": (*[np.ones((3, 3), bool)] * 3, 2),
    "recurrence.draw_parameters": (2, 1.0, np.random.default_rng(0)),
    "recurrence.last_state_influence": (X, NETWORK),
    "recurrence.last_state_jacobians": (X, NETWORK),
    "recurrence.recurrent_states": (X, NETWORK),
    "recurrence.size": (X,),
    "scaling.draw_scores": (3, 2, 5),
    "scaling.single_draws": (),
    "scaling.sweep": ((2, 3),),
    "scaling.unit_spread": (X,),
    "settings.from_query": ({"d": ["x"]},),
    "settings.quote": (["x"],),
    "settings.read_sentence": ("x",),
    "settings.read_whole_number": ("3", 1, 5),
    "settings.to_query": (Settings(seed=1),),
    "stack.mean_cosine": (X,),
    "stack.run_stack": (X, [PLAIN], 1, X),
    "stack.stack_curves": (run_stack(X, [PLAIN], 1, X),),
    "shapes.draw_shape": ("encoder-decoder", WORDS, WORDS),
    "shapes.reach_of": ("encoder", {"encoder": np.ones((3, 3), bool)}, 2),
    "shapes.sentences": ("encoder", "encoder", WORDS, ()),
    "softmax.entropy": ([0.5, 0.5],),
    "softmax.jacobian_norm": ([0.5, 0.5],),
    "softmax.softmax": (X,),
    "tokens.fit": ("dog", 2),
    "tokens.label_words": (WORDS,),
    "tokens.shorten": ("dog",),
    "tokens.split_words": ("dog",),
    "tokens.written_without_spaces": ("dog",),
    "torch_reference.attention": (X, X, X),
    "torch_reference.attention_jacobians": (X, W, W, W, (0,)),
    "torch_reference.batch_as_tokens": (X[None], *[np.ones((1, 2, 2))] * 3),
    "torch_reference.block_stages": (X, PARAMETERS, 1),
    "torch_reference.causal_output": (X, X, X),
    "torch_reference.count_parameters": (2, 1, 3),
    "torch_reference.cross_attention": (X, X[:2], *[np.ones((1, 2, 2))] * 3, np.eye(2)),
    "torch_reference.decoder_layer": (LAYER, 1),
    "torch_reference.decoder_states": (X, (LAYER,), 1, X),
    "torch_reference.encoder_layer": (PARAMETERS, 1),
    "torch_reference.multi_head": (X, *[np.ones((1, 2, 2))] * 3, np.eye(2)),
    "torch_reference.projection": (X, X.T),
    "torch_reference.trained_model": (TINY, first_parameters(TINY, np.random.default_rng(0)), np.array([[1, 0]])),
    "torch_reference.stack": (X, [PLAIN], 1, X),
    "torch_reference.stack_curves": (X, [PLAIN], 1, X),
    "torch_reference.recurrent_jacobians": (X, NETWORK, (0, 1)),
    "torch_reference.softmax_and_jacobian_norm": (X,),
    "torch_reference.trained_encoder": (X, [PARAMETERS], 1, 1e-12),
    "waiting.count_attention": (X, W[0], W[0], W[0]),
    "waiting.count_recurrence": (X, NETWORK),
}


def public_functions():
    """Names of all functions that the modules of core define for others."""
    rooms = [module.name for module in pkgutil.iter_modules(core.__path__) if not module.ispkg]
    rooms += [f"practice.{module.name}" for module in pkgutil.iter_modules(core.practice.__path__)]
    for room in rooms:
        for name, value in vars(import_module(f"core.{room}")).items():
            if inspect.isfunction(value) and value.__module__ == f"core.{room}" and not name.startswith("_"):
                yield f"{room}.{name}"


def numpy_state():
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002 - the shared generator is what is looked at
    return kind, keys.tolist(), *rest


def torch_state():
    return torch.random.get_rng_state().tolist()


def call(name):
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"core.{module}"), function)(*CALLS[name])


def test_every_public_function_of_core_is_called_here():
    assert sorted(CALLS) == sorted(public_functions())


@pytest.mark.parametrize("name", CALLS)
def test_no_function_of_core_touches_numpys_or_pythons_generator(name):
    before = numpy_state(), random.getstate()
    call(name)
    assert (numpy_state(), random.getstate()) == before


def test_a_touched_generator_is_noticed():
    before = numpy_state(), torch_state()
    np.random.random()  # noqa: NPY002 - the shared generator is what is looked at
    torch.rand(1)
    assert numpy_state() != before[0]
    assert torch_state() != before[1]


@pytest.mark.parametrize("name", CALLS)
def test_no_function_of_core_touches_pytorchs_generator(name):
    before = torch_state()
    call(name)
    assert torch_state() == before
