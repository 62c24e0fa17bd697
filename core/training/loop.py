"""The training itself, in PyTorch: the same steps for the same seed, told from snapshot to snapshot."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn import functional

from core.training import model, network
from core.training.figures import accuracy, first_entropy, masses
from core.training.runs import Snapshot
from core.training.task import NONE, Batch, Task

WARM_UP = 20
"""Steps in which the learning rate rises."""
BETAS = (0.9, 0.98)
LONGEST_GRADIENT = 1.0
"""Norm to which a longer gradient is shortened."""
N_CHECKED = 128
"""Fresh sequences on which accuracy is counted at every snapshot."""


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch with one thread and without denormal numbers; afterwards with as many threads as before.

    Notes
    -----
    Matrices of these sizes gain nothing from a second thread and lose much waiting for it; numbers too small for the
    normal format, which a saturated softmax makes many of, are several times slower to work with than 0. Both fix the
    order of every sum, so that the same seed gives the same numbers.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        torch.set_flush_denormal(False)


def rate_at(step: int, steps: int, largest: float) -> float:
    """Learning rate of a step: a rise, then half a wave down to 0.

    Parameters
    ----------
    step, steps : int
        From 0; how many there are.
    largest : float
        At the end of the rise.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> [round(rate_at(step, 300, 1.0), 3) for step in (0, 19, 160, 299)]
    [0.05, 1.0, 0.5, 0.0]
    """
    rise = min(1.0, (step + 1) / WARM_UP)
    return largest * rise * 0.5 * (1.0 + math.cos(math.pi * max(0, step - WARM_UP) / max(1, steps - WARM_UP)))


def train(task: Task, seed: int) -> Iterator[Snapshot]:
    """Train a model; stop asking for snapshots to stop it.

    Parameters
    ----------
    task : Task
        What is to be learned, and by what.
    seed : int
        Of the first parameters and of all sequences.

    Yields
    ------
    Snapshot
        Before the first step, after every `Recipe.every` steps, and after the last, which also holds what was learned.

    Notes
    -----
    Adam (Kingma, Ba 2015) with a warm-up, a cosine decay and gradients no longer than 1. All parameters lie in one
    vector, so that a step costs three operations and not thirty.
    """
    design, recipe = task.design, task.recipe
    rng = np.random.default_rng([seed, 0])
    checked = task.fresh(np.random.default_rng([seed, 1]), N_CHECKED)
    probe = task.numbers(task.probe)
    first = model.first_parameters(design, rng)
    flat = torch.tensor(np.concatenate([array.ravel() for array in first.values()]).astype(np.float32))
    flat.requires_grad_(True)
    shapes = list(model.shapes(design).items())
    sizes = [math.prod(shape) for _, shape in shapes]
    optimiser = torch.optim.Adam([flat], betas=BETAS)
    losses: list[float] = []
    with one_thread():
        for step in range(recipe.steps + 1):
            batch = task.draw(rng, recipe.batch)
            parts = zip(shapes, torch.split(flat, sizes), strict=True)
            parameters = {name: part.view(shape) for (name, shape), part in parts}
            scores, _, logits = network.run(design, parameters, torch.from_numpy(batch.tokens))
            loss = _loss(logits, batch)
            due = step % recipe.every == 0 or step == recipe.steps
            if due:
                scores[0].retain_grad()
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            if due:
                gradient = scores[0].grad
                assert gradient is not None
                yield _snapshot(task, flat, checked, probe, step, losses, float(gradient.norm()))
                losses = []
            if step == recipe.steps:
                return
            losses.append(loss.item())
            torch.nn.utils.clip_grad_norm_([flat], LONGEST_GRADIENT)
            optimiser.param_groups[0]["lr"] = rate_at(step, recipe.steps, recipe.rate)
            optimiser.step()


def _loss(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Mean of -log of the share that the right answer gets."""
    return functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(batch.targets).flatten(), ignore_index=NONE)


def _snapshot(
    task: Task,
    flat: torch.Tensor,
    checked: Batch,
    probe: model.Integers,
    step: int,
    losses: list[float],
    gradient: float,
) -> Snapshot:
    values, parameters, begin = flat.detach().numpy(), {}, 0
    for name, shape in model.shapes(task.design).items():
        end = begin + math.prod(shape)
        parameters[name] = values[begin:end].reshape(shape).copy()
        begin = end
    of_checked = model.run(task.design, parameters, checked.tokens)
    of_probe = model.run(task.design, parameters, probe)
    return Snapshot(
        step=step,
        losses=tuple(losses),
        accuracy=accuracy(of_checked.logits, checked.sure),
        masses=masses(of_checked, checked.lit),
        pictures=np.stack([attention.weights[0] for attention in of_probe.pictures]),
        written=of_probe.logits[0].argmax(axis=-1),
        entropy=first_entropy(of_checked),
        gradient=gradient,
        parameters=parameters,
    )
