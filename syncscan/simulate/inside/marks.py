"""The marks that say which tensors claim to be on CUDA, and which to be pinned.

The mark is an attribute of the untyped storage. The Python object of a storage lives as long as the storage
itself. Views, parameters, ``.data`` and saved tensors therefore share the mark, which keeps nothing else
alive. Tensors without a storage carry the mark themselves, and a sparse tensor takes the mark of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

PINNED = -1  # pinned host memory; the mark of a CUDA device is its index
MIXED = -2  # on more than one device
NOWHERE = -3  # no tensor at all
PLAIN_TYPES = frozenset(
    {int, float, bool, complex, str, type(None), type(...)}
    | {torch.Size, torch.dtype, torch.device, torch.layout, torch.memory_format}
)
PLAIN_TENSORS = frozenset({torch.Tensor, torch.nn.Parameter})
function_modes = torch._C._len_torch_function_stack
without_functions = torch._C.DisableTorchFunction  # hides our own queries from modes and overrides
_MARK = "_syncscan_place"
_without_dispatch = torch._C._DisableTorchDispatch
_base: Any = torch._C.TensorBase
_ROWS, _COLUMNS = ("crow_indices", "col_indices", "values"), ("ccol_indices", "row_indices", "values")
_PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: _ROWS,
    torch.sparse_bsr: _ROWS,
    torch.sparse_csc: _COLUMNS,
    torch.sparse_bsc: _COLUMNS,
}
_unseen_storage_of = torch._C.TensorBase.untyped_storage


def storage_of(tensor: torch.Tensor) -> Any:
    """Return the untyped storage of a tensor; None where the tensor has none."""
    try:
        if type(tensor) in PLAIN_TENSORS and not function_modes():
            return _unseen_storage_of(tensor)
        with without_functions():
            return _unseen_storage_of(tensor)
    except RecursionError:  # says nothing of the tensor
        raise
    except RuntimeError:
        return None


def lacks_storage(value: Any) -> bool:
    """Return whether a value is a tensor without a storage, such as a sparse tensor, or holds one."""
    if isinstance(value, (list, tuple)):
        return any(map(lacks_storage, value))
    return isinstance(value, torch.Tensor) and storage_of(value) is None


def place(tensor: torch.Tensor) -> int | None:
    """Return the index of the CUDA device that a tensor claims, `PINNED`, or None for pageable memory."""
    storage = storage_of(tensor)
    found: int | None
    if storage is not None:
        found = getattr(storage, _MARK, None)
    else:
        found = _place_without_storage(_innermost(tensor))
    if found is None and type(tensor) not in PLAIN_TENSORS:
        found = next((place(part) for part in _wrapped(tensor)), None)
    return found


def _place_without_storage(owner: Any) -> int | None:
    """Return the mark of a tensor without a storage, or of its parts, which its views share."""
    found: int | None = getattr(owner, _MARK, None)
    if found is not None or getattr(owner, "layout", torch.strided) is torch.strided:
        return found
    return next((where for part in _parts(owner) if (where := place(part)) is not None), None)


def _wrapped(tensor: Any) -> list[torch.Tensor]:
    """Return the tensors inside a tensor subclass; torch may wrap them where no mode sees it (`DTensor`)."""
    if not hasattr(tensor, "__tensor_flatten__"):
        return []
    try:
        with without_functions():
            names, _ = tensor.__tensor_flatten__()
            parts = [getattr(tensor, name) for name in names]
    except AttributeError:  # under construction, without its parts
        return []
    return [part for part in parts if isinstance(part, torch.Tensor)]


def cuda_index(tensor: torch.Tensor) -> int | None:
    """Return the index of the CUDA device that a tensor claims, or None."""
    found = place(tensor)
    return None if found is None or found < 0 else found


def set_place(tensor: torch.Tensor, where: int | None) -> None:
    """Mark a tensor, and all tensors that share its memory, as being at ``where``."""
    owner = storage_of(tensor)
    if owner is None:
        owner = _innermost(tensor)
        for part in _parts(owner):
            set_place(part, where)
    set_owner_place(owner, where)
    if type(tensor) not in PLAIN_TENSORS:
        for part in _wrapped(tensor):
            set_place(part, where)


def is_alias(result: Any, source: Any) -> bool:
    """Return whether two values are tensors that share memory, and so a device."""
    if not (isinstance(result, torch.Tensor) and isinstance(source, torch.Tensor)):
        return False
    storage, other = storage_of(result), storage_of(source)
    if storage is None or other is None:
        return result is source
    return bool(storage._cdata == other._cdata)


def set_owner_place(owner: Any, where: int | None) -> None:
    """Mark a storage, or a tensor without one, as being at ``where``."""
    if where is not None:
        setattr(owner, _MARK, where)
    elif getattr(owner, _MARK, None) is not None:
        delattr(owner, _MARK)


def owner_place(owner: Any) -> int | None:
    """Return the mark of a storage."""
    found: int | None = getattr(owner, _MARK, None)
    return found


def set_all(result: Any, where: int | None) -> None:
    """Mark all tensors in the result of an operation as being at ``where``."""
    if where is not None and type(result) in PLAIN_TENSORS and not function_modes():
        try:
            owner: Any = _unseen_storage_of(result)
            owner._syncscan_place = where
        except RecursionError:
            raise
        except RuntimeError:
            set_place(result, where)
    elif isinstance(result, torch.Tensor):
        set_place(result, where)
    elif isinstance(result, (list, tuple)):
        for item in result:
            set_all(item, where)


def common_place(values: Iterable[Any]) -> int | None:
    """Return the common mark of all tensors among the arguments of a call.

    Return `NOWHERE` without tensors, and `MIXED` for different marks. Pinned tensors, tensor subclasses,
    tensors without a storage, and arguments that may hide a tensor count as `MIXED` too.
    """
    found: int | None = NOWHERE
    for value in values:
        kind = type(value)
        if kind in PLAIN_TYPES:
            continue
        if kind in PLAIN_TENSORS:
            try:
                where = getattr(_unseen_storage_of(value), _MARK, None)
            except RecursionError:
                raise
            except RuntimeError:
                return MIXED
        elif kind is list or kind is tuple:
            where = common_place(value)
        elif kind is slice:
            where = common_place((value.start, value.stop, value.step))
        else:
            return MIXED
        if where == NOWHERE:
            continue
        if where == PINNED or (found not in {where, NOWHERE}):
            return MIXED
        found = where
    return found


def _parts(tensor: Any) -> list[torch.Tensor]:
    """Return the dense tensors of which a sparse tensor consists."""
    names = _PARTS.get(getattr(tensor, "layout", torch.strided), ())
    with without_functions(), _without_dispatch():
        return [getattr(_base, name)(tensor) for name in names]


def _innermost(tensor: torch.Tensor) -> Any:
    """Return the tensor that a function transform (vmap, grad) wraps, or the tensor itself."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
        if (storage := storage_of(tensor)) is not None:
            return storage
    return tensor
