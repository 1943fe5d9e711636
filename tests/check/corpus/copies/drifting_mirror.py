"""The mirror of vLLM #42202: it is set where a request is added and advanced in each step; others are refreshed."""

import numpy as np
import torch


class Staged:
    def __init__(self, n: int, device: torch.device):
        self.gpu = torch.zeros(n, dtype=torch.int32, device=device)


class States:
    def __init__(self, n: int):
        self.computed = Staged(n, torch.device("cuda"))
        self.computed_np = np.zeros(n, dtype=np.int32)
        self.lens = torch.zeros(n, device="cuda")
        self.lens_cpu = torch.zeros(n)
        self.prefill = torch.zeros(n, device="cuda")
        self.prefill_np = np.zeros(n, dtype=np.int32)
        self.drafts = torch.zeros(n, device="cuda")
        self.drafts_np = np.zeros(n, dtype=np.int32)
        self.rounds_np = np.zeros(n, dtype=np.int32)
        self.kept = torch.zeros(n, device="cuda")
        self.kept_np = np.zeros(n, dtype=np.int32)

    def add_request(self, row: int, computed: int):
        self.computed_np[row] = computed
        self.lens_cpu[row] = computed
        self.rounds_np[row] = 0


class Runner:
    def __init__(self, n: int):
        self.states = States(n)

    def prepare(self, rows: np.ndarray):
        bound = np.zeros(8, dtype=np.int32)
        np.add(self.states.computed_np[rows], 1, out=bound)
        lens_cpu = self.states.lens_cpu
        lens_cpu[rows] = 1
        np.minimum(bound, 3, out=self.states.prefill_np)
        return bound

    def postprocess(self, rows: np.ndarray, scheduled: np.ndarray):
        self.states.computed_np[rows] += scheduled  # expect: SYN603
        self.states.computed_np += 1  # expect: SYN603
        self.states.lens_cpu[rows] += 1  # silent
        self.states.prefill_np[rows] += scheduled  # silent
        self.states.drafts.add_(1)
        self.states.drafts_np += 1  # silent
        self.states.rounds_np[rows] += 1  # silent
        self.states.kept_np[rows] += scheduled  # silent

    def reject(self, rows: np.ndarray, rejected: np.ndarray):
        self.states.kept_np[rows] -= rejected


class Counts:
    """A mirror that is set anew from elsewhere is refreshed; one that is made anew, empty, is not."""

    def __init__(self, n: int):
        self.seen = torch.zeros(n, device="cuda")
        self.seen_np = np.zeros(n)
        self.left = torch.zeros(n, device="cuda")
        self.left_np = np.zeros(n)
        self.given = torch.zeros(n, device="cuda")
        self.given_np = np.zeros(n)

    def start(self, counts: np.ndarray, n: int):
        self.seen_np = counts.copy()
        self.given_np = list(range(n))
        self.left_np = np.zeros(n)

    def step(self, rows: np.ndarray):
        self.seen_np[rows] += 1  # silent
        self.given_np[rows] += 1  # silent
        self.left_np[rows] += 1  # expect: SYN603
