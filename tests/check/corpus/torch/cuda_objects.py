"""Streams, events and graphs made in several ways."""

import torch


def run(other: torch.cuda.Stream):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    end.synchronize()  # expect: SYN401
    start.elapsed_time(end)  # silent
    streams = [torch.cuda.Stream() for _ in range(2)]
    for stream in streams:
        stream.synchronize()  # expect: SYN401
    with torch.cuda.stream(other):
        torch.ones(1, device="cuda").item()  # expect: SYN101
    torch.cuda.default_stream().synchronize()  # expect: SYN401
    other.record_event().synchronize()  # expect: SYN401
    torch.Stream().synchronize()  # expect: SYN401
    torch.Event().synchronize()  # expect: SYN401
    torch.cuda.empty_cache(), torch.cuda.memory_allocated(), torch.cuda.device_count()  # silent


def states_of_generators():
    state = torch.cuda.get_rng_state("cuda")
    return state.tolist(), torch.equal(state, torch.cuda.get_rng_state())  # silent: states are in host memory
