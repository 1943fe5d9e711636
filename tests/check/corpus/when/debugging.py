"""Statements behind a debugging flag do not run per step: production leaves the flag off."""

import logging
import os

import torch
from torch import nn

logger = logging.getLogger(__name__)
DEBUG = os.environ.get("DEBUG", "0") == "1"


class Layer(nn.Module):
    def forward(self, x: torch.Tensor, verbose: bool = False, level: int = 0):
        if DEBUG:
            print(x.sum().item())  # expect: SYN101 (once)
        if self.debug_shapes or self.config.verbose:
            print(x.sum().item())  # expect: SYN101 (once)
        if verbose and self.rank == 0:
            print(x.sum().item())  # expect: SYN101 (once)
        if self.is_bench or self.config.profiling:
            print(x.sum().item())  # expect: SYN101 (once)
        if not self.is_debug():
            x.sum().item()  # expect: SYN101 (step)
        else:
            x.sum().item()  # expect: SYN101 (once)
        if verbose or self.training:
            x.sum().item()  # expect: SYN101 (step)
        return self.rest(x)

    def rest(self, x):
        if logger.isEnabledFor(logging.DEBUG):
            print(x.sum().item())  # expect: SYN101 (once)
        if logger.isEnabledFor(logging.INFO):
            print(x.sum().item())  # expect: SYN101 (step)
        if os.environ.get("LAYER_DEBUG"):
            self.dump(x)
        if os.environ["LAYER_DEBUG"] == "1":
            print(x.sum().item())  # expect: SYN101 (once)
        if os.getenv("LAYER_DEBUG", "0") != "0":
            print(x.sum().item())  # expect: SYN101 (once)
        if os.getenv("LAYER_DEBUG", "0") == "0":
            x.sum().item()  # expect: SYN101 (step)
        if self.verbosity > 1:
            print(x.sum().item())  # expect: SYN101 (once)
        if self.log_level == "DEBUG":
            print(x.sum().item())  # expect: SYN101 (once)
        if getattr(torch.compiler, "is_exporting", bool)() or torch.onnx.is_in_onnx_export():
            x.sum().item()  # expect: SYN101 (once)
        if not torch.compiler.is_exporting():
            x.sum().item()  # expect: SYN101 (step)
        if not self.verbose:
            return x
        return x.sum().item()  # expect: SYN101 (once)

    def dump(self, x):
        print(x.sum().item())  # expect: SYN101 (once)


class Backend(nn.Module):
    def forward(self, x: torch.Tensor, in_capture: bool, for_graph_capture: bool, capture_all: bool):
        if in_capture or for_graph_capture:
            x.sum().item()  # expect: SYN101 (once)
        if self.is_capturing or torch.cuda.is_current_stream_capturing():
            x.sum().item()  # expect: SYN101 (once)
        if capture_all:
            x.sum().item()  # expect: SYN101 (step)
        if not in_capture:
            x.sum().item()  # expect: SYN101 (step)
        return x
