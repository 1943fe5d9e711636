"""A small transformer that decodes, as a server's worker process does; its waits are marked."""

import json
import os
import threading

import torch
from transformers import LlamaConfig, LlamaForCausalLM

CALLS = ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaDeviceSynchronize")


class Worker:
    """Decodes one batch; prompts come from a thread, tokens go to another."""

    def __init__(self, layers=2, hidden=256):
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=512,
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=4,
        )
        self.model = LlamaForCausalLM(config).cuda().eval()
        self.written = []

    @torch.inference_mode()
    def start(self, prompt):
        """Prefill."""
        tokens = torch.tensor(prompt).pin_memory().cuda(non_blocking=True)
        out = self.model(input_ids=tokens, use_cache=True)
        self.cache = out.past_key_values
        self.next = out.logits[:, -1:].argmax(-1)

    @torch.inference_mode()
    def step(self):
        """One token for each sequence."""
        out = self.model(input_ids=self.next, past_key_values=self.cache, use_cache=True)
        self.next = out.logits[:, -1:].argmax(-1)
        if (self.next == 511).all():
            return False
        self.written.append(self.next.tolist())
        return self.next.max().item() >= 0


def serve(number, requests, answers, steps, warmup):
    """The process: takes prompts from a queue, decodes, answers from a thread of its own."""
    worker = Worker()
    counts = dict.fromkeys(CALLS, 0)
    for prompt in iter(requests.get, None):
        worker.start(prompt)
        for _ in range(warmup):
            worker.step()
        with counting(counts):
            for _ in range(steps):
                worker.step()
        sender = threading.Thread(target=answers.put, args=((number, len(worker.written)),))
        sender.start()
        sender.join()
    if os.environ.get("COUNT_CALLS_IN"):
        with open(os.path.join(os.environ["COUNT_CALLS_IN"], f"{number}.json"), "w") as file:
            json.dump(counts, file)


class counting:  # noqa: N801
    """Counts CUDA calls with torch's profiler, where the environment asks for it."""

    def __init__(self, counts):
        self.counts = counts
        self.profiler = None

    def __enter__(self):
        if os.environ.get("COUNT_CALLS_IN"):
            from torch.profiler import ProfilerActivity, profile

            torch.cuda.synchronize()
            self.profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
            self.profiler.__enter__()

    def __exit__(self, *error):
        if self.profiler is not None:
            self.profiler.__exit__(*error)
            for event in self.profiler.events():
                if event.name in self.counts:
                    self.counts[event.name] += 1
