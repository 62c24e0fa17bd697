"""One thread for PyTorch, the referee of these tests: its matrices are small and the machine is shared."""

import torch

torch.set_num_threads(1)
