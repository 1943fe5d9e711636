"""To order streams does not wait; to synchronize does."""

import torch


class Copier:
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.done = torch.cuda.Event()

    def start(self, pinned, gpu):
        with torch.cuda.stream(self.stream):
            pinned.copy_(gpu, non_blocking=True)
            self.done.record(self.stream)
        torch.cuda.current_stream().wait_stream(self.stream)  # silent
        torch.cuda.current_stream().wait_event(self.done)  # silent
        return self.done.query()  # silent

    def finish(self):
        self.done.synchronize()  # expect: SYN401
        self.stream.synchronize()  # expect: SYN401
        torch.cuda.current_stream().synchronize()  # expect: SYN401
        torch.cuda.synchronize()  # expect: SYN401 (proved)
        torch.accelerator.synchronize()  # expect: SYN401


Copier().start(torch.zeros(4, pin_memory=True), torch.ones(4, device="cuda"))
