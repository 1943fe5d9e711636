"""The bound and the mirror over long random schedules, with preemption, rejection and draft tokens."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.reference.blocking.request_state import RequestStates as DriftingStates
from syncscan.reference.request_state import RequestStates
from syncscan.reference.seq_lens import sequence_length_bound

STEPS = 1000
MAX_DRAFTS = 3


@dataclass
class Request:
    """What the GPU knows (``computed``), and what the scheduler believes while a step is in flight."""

    id: str
    prefill: list[int]
    computed: int = 0
    believed: int = 0
    rejected: int = 0  # in the step in flight, which the scheduler learns of one step later
    rejected_ever: int = 0

    @property
    def is_prefilling(self) -> bool:
        return self.believed < len(self.prefill)


@dataclass
class Schedule:
    """An asynchronous scheduler: it plans a step before the results of the one before are in."""

    chance: random.Random
    rejects: bool = True
    preempts: bool = True
    requests: dict[str, Request] = field(default_factory=dict)
    preempted: list[Request] = field(default_factory=list)
    arrived: int = 0
    resumed: int = 0
    rejections: int = 0

    def admit(self) -> list[Request]:
        """Requests that arrive, or come back; some find the start of their prompt in a cache."""
        new = []
        while len(self.requests) < 6 and self.chance.random() < 0.5:
            self.arrived += 1
            prompt_len, name = self.chance.randint(1, 40), f"r{self.arrived}"
            if self.preempted and self.chance.random() < 0.7:
                back = self.preempted.pop()
                prompt_len, name = max(back.computed, len(back.prefill)), back.id
                self.resumed += 1
            cached = self.chance.choice([0, 0, self.chance.randrange(prompt_len)])
            request = Request(name, [7] * prompt_len, cached, cached)
            self.requests[request.id] = request
            new.append(request)
        return new

    def evict(self) -> list[Request]:
        """Requests that finish, or are preempted: those come back with their output as prompt."""
        if not (self.preempts and self.requests and self.chance.random() < 0.1):
            return []
        gone = self.requests.pop(self.chance.choice(sorted(self.requests)))
        if self.chance.random() < 0.5:
            self.preempted.append(gone)
        return [gone]

    def plan(self) -> list[tuple[Request, int]]:
        """How many tokens each request gets: a piece of its prompt, or one token and some drafts."""
        planned = []
        for request in self.requests.values():
            left = len(request.prefill) - request.believed
            drafts = self.chance.randint(0, MAX_DRAFTS)
            planned.append((request, min(left, self.chance.randint(1, 16)) if left > 0 else 1 + drafts))
        return [step for step in planned if self.chance.random() < 0.9]

    def run(self, planned: list[tuple[Request, int]]) -> None:
        """The GPU accepts some drafts of this step, and the scheduler hears about the step before."""
        for request in self.requests.values():
            request.believed -= request.rejected
            request.rejected = 0
        for request, tokens in planned:
            is_decode = request.computed >= len(request.prefill)
            rejected = self.chance.randint(0, tokens - 1) if is_decode and self.rejects else 0
            request.computed += tokens - rejected
            request.believed += tokens
            request.rejected = rejected
            request.rejected_ever += rejected
            self.rejections += rejected


def apply(schedule: Schedule, states: RequestStates | DriftingStates) -> list[tuple[Request, int]]:
    """Bring the states up to the next step, and return its plan."""
    for request in schedule.evict():
        states.remove_request(request.id)
    for request in schedule.admit():
        states.add_request(request.id, request.prefill, request.computed)
    return schedule.plan()


def columns(planned: list[tuple[Request, int]]) -> tuple[list[str], np.ndarray, np.ndarray]:
    return (
        [request.id for request, _ in planned],
        np.array([request.believed for request, _ in planned], dtype=np.int32),
        np.array([tokens for _, tokens in planned], dtype=np.int32),
    )


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("rejects", [True, False])
def test_the_bound_is_never_below_the_truth_and_exact_without_rejections(seed: int, rejects: bool) -> None:
    schedule, states = Schedule(random.Random(seed), rejects), RequestStates(6, "cpu")
    for _ in range(STEPS):
        planned = apply(schedule, states)
        ids, believed, scheduled = columns(planned)
        states.update_requests(ids, believed)
        bound = sequence_length_bound(states.num_computed_tokens[states.rows(ids)], scheduled, 8)
        for (request, tokens), upper in zip(planned, bound.tolist(), strict=False):
            truth = request.computed + tokens
            assert truth <= upper <= truth + MAX_DRAFTS
            assert upper == truth or request.rejected
        assert bound[len(planned) :].tolist() == [0] * (8 - len(planned))
        schedule.run(planned)
    assert schedule.resumed > 5
    assert (schedule.rejections > 500) == rejects


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_is_prefilling_says_which_requests_have_prompt_left(seed: int) -> None:
    schedule, states = Schedule(random.Random(seed)), RequestStates(6, "cpu")
    for _ in range(200):
        planned = apply(schedule, states)
        ids, believed, _ = columns(planned)
        states.update_requests(ids, believed)
        assert states.is_prefilling(states.rows(ids)).tolist() == [r.is_prefilling for r, _ in planned]
        schedule.run(planned)


def test_a_mirror_advanced_on_its_own_drifts_by_every_rejected_token_and_ours_does_not() -> None:
    schedule = Schedule(random.Random(0), preempts=False)
    drifting, ours = DriftingStates(6, "cpu"), RequestStates(6, "cpu")
    excess, error = [], []
    for _ in range(STEPS):
        for request in schedule.admit():
            drifting.add_request(request.id, request.prefill, request.computed)
            ours.add_request(request.id, request.prefill, request.computed)
        planned = schedule.plan()
        ids, believed, scheduled = columns(planned)
        ours.update_requests(ids, believed)
        for request, _ in planned:
            drift = drifting.num_computed_tokens[drifting.row_of[request.id]] - request.computed
            assert drift == request.rejected_ever
            excess.append(drift)
            error.append(ours.num_computed_tokens[ours.row_of[request.id]] - request.computed)
        drifting.postprocess(drifting.rows(ids), scheduled)
        schedule.run(planned)
    assert max(excess) > 500
    assert min(error) == 0
    assert max(error) <= MAX_DRAFTS


@pytest.mark.parametrize(
    ("computed", "last"), [(0, 0), (1, 11), (3, 13), (4, 0)], ids=["none", "one", "all", "beyond the prefill"]
)
def test_a_request_that_resumes_starts_from_its_last_computed_token(computed: int, last: int) -> None:
    states = RequestStates(2, "cpu")
    row = states.add_request("a", [11, 12, 13], computed)
    assert states.last_sampled_tokens[row] == last
    assert states.num_computed_prefill_tokens[row] == min(computed, 3)


def test_rows_are_reused_and_misuse_is_named() -> None:
    states = RequestStates(1, "cpu")
    row = states.add_request("a", [1], 0)
    with pytest.raises(ValueError, match="'a' has a row already"):
        states.add_request("a", [1], 0)
    with pytest.raises(ValueError, match="no free row for 'b': all 1 are in use"):
        states.add_request("b", [1], 0)
    states.remove_request("a")
    assert states.add_request("b", [1, 2], 1) == row
    with pytest.raises(ValueError, match=r"num_computed_tokens: expected shape \(1,\), got \(2,\)"):
        states.update_requests(["b"], np.array([1, 2]))
    with pytest.raises(
        TypeError, match="num_computed_tokens: expected a NumPy array of integers, got Tensor"
    ):
        states.update_requests(["b"], torch.tensor([1]))  # type: ignore[arg-type]
