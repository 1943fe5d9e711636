"""Steps that wait and then let the GPU stand idle; after them the program's own profiler, of whose kernels it prints the number."""

import json
import tempfile
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

LAUNCHES = 500


def step(number):
    """A kernel, two waits, and after each of them nothing to do for the GPU."""
    number.add_(1).item()
    time.sleep(0.002)
    number.add_(1).item()
    time.sleep(0.001)


if __name__ == "__main__":
    number = torch.ones((), device="cuda")
    for _ in range(40):
        step(number)
    number.add_(1)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        for _ in range(LAUNCHES):
            number.add_(1)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    print(sum(event.get("cat") == "kernel" for event in events))
