"""Tiny models that learn to attend: their tasks, their forward pass in NumPy, their training in PyTorch, saved runs.

Only `core.training.network` and `core.training.loop` import PyTorch; everything that shows a finished run does without.
"""
