"""Programs that end, fork and run threads in every way: ``endings.py WAY``. Each waits at known lines."""

import os
import signal
import sys
import threading
import time
import warnings

import torch


def work(number):
    """Wait ``number`` times at one line."""
    tensor = torch.ones(8, device="cuda")
    for _ in range(number):
        tensor.sum().item()


def exception():
    work(5)
    raise ValueError("on purpose")


def exit_3():
    work(5)
    sys.exit(3)


def os_exit():
    work(5)
    os._exit(4)


def terminated():
    work(5)
    time.sleep(1.5)  # a flush comes each second
    os.kill(os.getppid(), signal.SIGTERM)  # the launcher passes it on
    time.sleep(30)


def killed():
    work(5)
    time.sleep(1.5)  # a flush comes each second
    os.kill(os.getpid(), signal.SIGKILL)


def out_of_memory():
    work(5)
    torch.empty(1 << 42, device="cuda")


def fork_before():
    child = os.fork()
    work(5 if child else 7)
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def fork_after():
    work(5)
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    work(2)


def threads():
    started = [threading.Thread(target=work, args=(100,)) for _ in range(8)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def own_mode():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work(3)
        torch.cuda.set_sync_debug_mode("warn")
        work(4)
        torch.cuda.set_sync_debug_mode("default")
        work(5)
    print("caught", sum("synchronizing" in str(warning.message) for warning in caught))
    torch.cuda.set_sync_debug_mode("error")
    try:
        work(1)
    except RuntimeError:
        print("raised")
    print("mode", torch.cuda.get_sync_debug_mode())


def own_profiler():
    from torch.profiler import ProfilerActivity, profile

    work(2)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        work(5)
    print("profiled", sum(event.name == "cudaStreamSynchronize" for event in profiler.events()))


def backward():
    weights = torch.randn(100, device="cuda", requires_grad=True)

    class Waits(torch.autograd.Function):
        @staticmethod
        def forward(context, tensor):
            return tensor * 2

        @staticmethod
        def backward(context, gradient):
            gradient.sum().item()
            return gradient

    mask = torch.rand(100, device="cuda") > 0.5
    Waits.apply(weights).sum().backward()
    weights.masked_select(mask).sum().backward()
    product = weights.prod()
    product.backward()


def compiled():
    function = torch.compile(lambda tensor: (tensor * 2).sin().sum())
    for _ in range(3):
        function(torch.ones(64, device="cuda")).item()


def captured():
    static = torch.zeros(64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static.add_(1)
    graph.replay()
    static.sum().item()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
