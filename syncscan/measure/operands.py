"""The operands that the lines of ``cases.toml`` speak of, made when they are first used.

Plain names live on the GPU; ``cpu_`` names in pageable, ``pinned_`` names in pinned host memory.
"""

from __future__ import annotations

import copy
import io
import logging
import math
import operator
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.attention import flex_attention

STAGED = 65536  # bytes up to which a pageable upload is documented to return at once


class Operands(MutableMapping[str, Any]):
    """Names for one line: modules, then operands made on demand, then what the line assigns."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._made: dict[str, Any] = dict(MODULES) | {"gpu": device, "print": _print_nowhere}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(name, self)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in RECIPES or (isinstance(name, str) and name.startswith(("cpu_", "pinned_")))

    def __setitem__(self, name: str, value: Any) -> None:
        self._made[name] = value

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


MODULES = {
    "copy": copy,
    "io": io,
    "math": math,
    "np": np,
    "operator": operator,
    "pickle": pickle,
    "torch": torch,
    "warnings": warnings,
    "F": torch.nn.functional,
    "D": torch.distributions,
    "dist": torch.distributed,
    "flex": flex_attention,
}


def _make(name: str, operands: Operands) -> Any:
    if name in RECIPES:
        return RECIPES[name](operands)
    place, _, plain = name.partition("_")
    if place == "cpu" and plain in TENSORS:
        return TENSORS[plain]().clone()
    if place == "pinned" and plain in TENSORS:
        return _pinned(TENSORS[plain]())
    raise KeyError(name)


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.pin_memory() if torch.cuda.is_available() else tensor


def _print_nowhere(*values: object) -> None:
    print(*values, file=io.StringIO())


def _floats(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0))


# Each has a twin in host memory under the same name with "cpu_" or "pinned_" before it.
TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "x": lambda: _floats(1024, 1024),
    "other_x": lambda: _floats(1024, 1024) + 1,
    "row": lambda: _floats(1024),
    "other_row": lambda: _floats(1024) + 1,
    "ints": lambda: torch.arange(1024),
    "few": lambda: _floats(16),
    "staged": lambda: _floats(STAGED // 4),
    "beyond": lambda: _floats(STAGED // 4 + 1),
    "big": lambda: _floats(16, 1024, 1024),
    "staged_bytes": lambda: torch.zeros(STAGED, dtype=torch.uint8),
    "long_ints": lambda: torch.arange(65536),
    "mask": lambda: torch.arange(1024) % 2 == 0,
    "mask2d": lambda: torch.arange(1024 * 1024).reshape(1024, 1024) % 2 == 0,
    "bytes": lambda: (torch.arange(1024) % 2).to(torch.uint8),
    "long_mask": lambda: torch.arange(65536) % 2 == 0,
    "long_row": lambda: _floats(65536),
    "index": lambda: torch.arange(0, 1024, 16),
    "long_index": lambda: torch.arange(65536) % 1024,
    "i0": lambda: torch.tensor(5),
    "true0": lambda: torch.tensor(True),
    "s": lambda: torch.tensor(0.5),
    "one": lambda: torch.tensor([0.5]),
    "ones": lambda: torch.ones(1024, dtype=torch.int64),
    "half": lambda: _floats(1024, 1024).half(),
    "words": lambda: torch.arange(1024, dtype=torch.int32),
    "square": lambda: _floats(32, 32) + 32 * torch.eye(32),
    "experts": lambda: _floats(4, 32, 32),
    "groups": lambda: torch.arange(8, 33, 8, dtype=torch.int32),
    "symmetric": lambda: 32 * torch.eye(32) + 1,
    "complexes": lambda: torch.ones(8, dtype=torch.complex64),
    "probabilities": lambda: torch.full((8,), 0.125),
    "batch": lambda: _floats(4, 8, 16),
    "positive": lambda: _floats(8) + 0.5,
    "short": lambda: _floats(32),
    "low_index": lambda: torch.arange(0, 32, 4),
    "compressed": lambda: torch.arange(0, 33),
    "plain": lambda: torch.arange(32),
    "weights": lambda: _floats(32),
    "blocks": lambda: _floats(32, 2, 2),
    "batch_right": lambda: _floats(4, 16, 8),
    "pruned": lambda: torch.tensor([1, 1, 0, 0], dtype=torch.half).repeat(64, 16),
    "tiny_square": lambda: _definite(4),
    "mid_square": lambda: _definite(256),
    "large_square": lambda: _definite(1024),
    "square_batch": lambda: _definite(32).repeat(4, 1, 1),
    "many_squares": lambda: _definite(8).repeat(512, 1, 1),
    "double_square": lambda: _definite(32).double(),
}


def _definite(size: int) -> torch.Tensor:
    """Return a symmetric matrix that every factorisation takes."""
    return size * torch.eye(size) + 1


def _uncoalesced(rows: int) -> Callable[[Operands], torch.Tensor]:
    """Return a maker of a sparse matrix that names each of its elements twice."""

    def make(operands: Operands) -> torch.Tensor:
        index = operands["ints"][:rows] % (rows // 2)
        values = operands["row"][:rows]
        return torch.sparse_coo_tensor(torch.stack([index, index]), values, (rows, rows))

    return make


def _on_gpu(make: Callable[[], torch.Tensor]) -> Callable[[Operands], torch.Tensor]:
    return lambda operands: make().to(operands.device)


def _parameter(operands: Operands) -> torch.nn.Parameter:
    parameter = torch.nn.Parameter(torch.ones(1024, device=operands.device))
    parameter.grad = torch.full_like(parameter, 0.5)
    return parameter


def _optimizer(name: str, **options: Any) -> Callable[[Operands], torch.optim.Optimizer]:
    return lambda operands: getattr(torch.optim, name)([_parameter(operands)], lr=0.01, **options)


def _square_loss(optimizer: torch.optim.Optimizer) -> Callable[[], torch.Tensor]:
    (parameter,) = optimizer.param_groups[0]["params"]
    return lambda: (parameter**2).sum()  # noqa: PLW0108 (the square is part of the closure)


def _armed_scaler(operands: Operands) -> Callable[[Any], torch.amp.GradScaler]:
    def armed(optimizer: torch.optim.Optimizer) -> torch.amp.GradScaler:
        scaler = torch.amp.GradScaler(torch.device(operands.device).type)
        parameter = optimizer.param_groups[0]["params"][0]
        parameter.grad = None
        scaler.scale((parameter * 2).sum()).backward()
        return scaler

    return armed


def _saved(operands: Operands) -> Callable[[], io.BytesIO]:
    buffer = io.BytesIO()
    torch.save(operands["few"], buffer)
    return lambda: io.BytesIO(buffer.getvalue())


def _event(operands: Operands) -> Any:
    if torch.device(operands.device).type == "cpu":
        return torch.Event("cpu")
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _logger(name: str | None) -> logging.Logger:
    """Return a logger that formats every message from INFO on, as most do, and shows none."""
    logger = logging.getLogger(name)
    logger.handlers = [logging.StreamHandler(io.StringIO())]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    return logger


def _logging(_: Operands) -> Any:
    _logger(None)
    return logging


def _process_group(operands: Operands) -> Any:
    """Return a group of this process alone, over NCCL on a GPU; made once in a process."""
    if not torch.distributed.is_initialized():
        path = str(Path(tempfile.mkdtemp()) / "store")
        store = torch.distributed.FileStore(path, 1)  # type: ignore[attr-defined]
        backend = "gloo" if torch.device(operands.device).type == "cpu" else "nccl"
        torch.distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    return torch.distributed.group.WORLD


def _graph(operands: Operands) -> Any:
    x = operands["few"]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        _ = x + 1
    return graph


RECIPES: dict[str, Callable[[Operands], Any]] = {
    **{name: _on_gpu(make) for name, make in TENSORS.items()},
    "numbers": lambda _: [1, 2, 3],
    "many_numbers": lambda _: list(range(20_000)),
    "array": lambda _: np.ones(1000, dtype=np.float32),
    "long_array": lambda _: np.ones(20_000, dtype=np.float32),
    "array_index": lambda _: np.arange(3),
    "array_mask": lambda _: np.arange(1024) % 2 == 0,
    "p": _parameter,
    "half_p": lambda o: torch.nn.Parameter(torch.ones(1024, device=o.device, dtype=torch.half)),
    "adam": _optimizer("Adam"),
    "adamw": _optimizer("AdamW"),
    "fused_adam": _optimizer("Adam", fused=True),
    "looped_adam": _optimizer("Adam", foreach=False),
    "capturable_adam": _optimizer("Adam", capturable=True),
    "sgd": _optimizer("SGD", momentum=0.9),
    "adagrad": _optimizer("Adagrad"),
    "rmsprop": _optimizer("RMSprop"),
    "nadam": _optimizer("NAdam"),
    "radam": _optimizer("RAdam"),
    "adamax": _optimizer("Adamax"),
    "asgd": _optimizer("ASGD"),
    "rprop": _optimizer("Rprop"),
    "adadelta": _optimizer("Adadelta"),
    "lbfgs": _optimizer("LBFGS"),
    "plateau": lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o["sgd"]),
    "square_loss": lambda _: _square_loss,
    "armed_scaler": _armed_scaler,
    "module": lambda o: torch.nn.Linear(16, 16).to(o.device),
    "cpu_module": lambda _: torch.nn.Linear(16, 16),
    "encoder": lambda o: torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(16, 2, 16, batch_first=True, device=o.device), 1
    ),
    "decoder": lambda o: torch.nn.TransformerDecoder(
        torch.nn.TransformerDecoderLayer(16, 2, 16, batch_first=True, device=o.device), 1
    ),
    "sentences": lambda o: torch.zeros(4, 8, 16, device=o.device),
    # syncscan: ignore[SYN302] makes an operand, before the measurement
    "causal": lambda o: torch.nn.Transformer.generate_square_subsequent_mask(8).to(o.device),
    "far_mask": lambda o: torch.zeros(8, 8, dtype=torch.bool, device=o.device),
    "padding": lambda o: torch.zeros(4, 8, dtype=torch.bool, device=o.device),
    "big_cpu_module": lambda _: torch.nn.Linear(1024, 1024),
    "log": lambda _: _logger("syncscan.measure.case"),
    "logging": _logging,
    "saved": _saved,
    "saved_on_host": lambda _: _saved(Operands("cpu")),
    "stream": lambda o: torch.cuda.Stream() if o.device != "cpu" else None,
    "event": _event,
    "generator": lambda o: torch.Generator(o.device),
    "group": _process_group,
    "graph": _graph,
    "sparse": lambda o: o["symmetric"].to_sparse(),
    "sparse_csr": lambda o: o["symmetric"].to_sparse_csr(),
    "sparse_csc": lambda o: o["symmetric"].to_sparse_csc(),
    "sparse_bsr": lambda o: o["symmetric"].to_sparse_bsr((2, 2)),
    "sparse_bsc": lambda o: o["symmetric"].to_sparse_bsc((2, 2)),
    "sparse_batch": lambda o: o["batch"].to_sparse(),
    "hybrid": lambda o: o["symmetric"].to_sparse(1),
    "uncoalesced": _uncoalesced(1024),
    "uncoalesced_few": _uncoalesced(32),
    "big_coo": lambda o: o["x"].to_sparse(),
    "cpu_sparse": lambda o: o["cpu_symmetric"].to_sparse(),
    "cpu_sparse_csr": lambda o: o["cpu_symmetric"].to_sparse_csr(),
    "cpu_sparse_batch": lambda o: o["cpu_batch"].to_sparse(),
    "cpu_big_coo": lambda o: o["cpu_x"].to_sparse(),
    "sparse_indices": lambda o: torch.stack([o["ints"], o["ints"]]),
    "host_sparse_indices": lambda o: torch.stack([o["cpu_ints"], o["cpu_ints"]]),
    "packed": lambda o: torch.nn.utils.rnn.pack_padded_sequence(o["batch"], [8, 8, 4, 2], batch_first=True),
    "slots": lambda _: [0.0] * 16,
}
