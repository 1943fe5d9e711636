"""Says in a word where a value lives and of what sort it is, and runs nothing of the program's to learn it.

The words are those of `syncscan.facts`: "gpu float", "host bool", "pinned int", "array int", "int", "list[gpu int]",
"object package.module.Class".
"""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Place = Callable[[Any], str]  # "gpu", "host", "pinned" or "elsewhere"

OBJECT = "object"
MORE = "more"  # items that were not looked at
_MOST_LOOKED_AT = 64  # items of a container
_MOST_KEYS = 32  # of a dictionary
_MOST_NAMED = 16  # items of a tuple that are recorded one by one
_LONGEST = 1000  # characters of a word, as `syncscan.facts` reads them
_CLASS = re.compile(r"[\w.<>]+")
_MODULE_OF, _QUALNAME_OF = type.__dict__["__module__"], type.__dict__["__qualname__"]
_PLAIN = {
    int: "int",
    float: "float",
    complex: "float",
    bool: "bool",
    str: "text",
    type(None): "none",
}
_ARRAYS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "float"}  # by the kind of a dtype of numpy


class Places:
    """Names places, for one torch; ``simulated`` is the module of the simulation that recognises its tensors."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._tensor = torch.Tensor
        self._device = getattr(torch, "device", ())
        self._dtypes = {
            getattr(torch, name, None): word
            for word, names in (
                ("bool", ("bool",)),
                ("uint8", ("uint8",)),
                ("int", ("int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")),
            )
            for name in names
        }
        self._plain_types = {torch.Tensor, getattr(getattr(torch, "nn", None), "Parameter", torch.Tensor)}
        self._unseen = getattr(torch._C, "DisableTorchFunction", None)
        self._dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
        self._dispatch = getattr(torch.Tensor, "__torch_dispatch__", None)
        module = getattr(getattr(torch, "nn", None), "Module", None)
        self.module_getattr = vars(module).get("__getattr__") if isinstance(module, type) else None
        self._arrays: tuple[Any, Any] | None = None
        self.simulated: Any = None

    def name(self, value: Any, depth: int = 2) -> str:
        """Return the word for a value; its containers are looked into, as far as ``depth`` says."""
        kind = type(value)
        plain = _PLAIN.get(kind) if type(kind) is type else None  # another metaclass may compute the hash
        if plain is not None:
            return plain
        if issubclass(kind, self._tensor):
            return self._tensor_name(value, kind)
        if kind is list or kind is set or kind is frozenset:
            return self._container("list" if kind is list else "set", value, depth)
        if kind is tuple:
            return self._tuple(value, depth)
        if issubclass(kind, dict):
            word = _dictionary(kind)
            return word if word == OBJECT else self._container(word, dict.values(value), depth)
        if kind is self._device:
            return {"cuda": "gpu device", "cpu": "host device"}.get(value.type, "elsewhere device")
        return self._numpy_name(value, kind)

    def keyed(self, value: Any, keys: frozenset[str]) -> tuple[str, list[tuple[str, str]], bool] | None:
        """Return for a dictionary one word for each of these keys that it has, and one for all others; None for other values.

        The last part says that no other of these keys is in the dictionary.
        """
        word = _dictionary(type(value)) if issubclass(type(value), dict) else OBJECT
        if word == OBJECT:
            return None
        under: list[tuple[str, str]] = []
        others, is_whole = [], True
        for key, item in zip(dict.keys(value), dict.values(value)):
            if type(key) is str and key in keys:
                if len(under) < _MOST_KEYS:
                    under.append((key, self.name(item, 1)))
                    continue
                is_whole = False
            others.append(item)
        return self._container(word, others, 2), under, is_whole

    @staticmethod
    def keys_name(value: Any) -> str:
        """Return the word for the keys of a dictionary: "text" where all are texts."""
        return "text" if all(type(key) is str for key in dict.keys(value)) else OBJECT

    def _tensor_name(self, value: Any, kind: Any) -> str:
        if kind not in self._plain_types and kind.__torch_dispatch__ is not self._dispatch:
            return OBJECT  # the attribute runs code of its class
        if self._unseen is None:
            return self._unseen_name(value)
        with self._unseen():  # the question reaches no mode and no override
            return self._unseen_name(value)

    def _unseen_name(self, value: Any) -> str:
        dtype = value.dtype
        return f"{self._place(value)} {self._dtypes.get(dtype, 'float')}"

    def _place(self, value: Any) -> str:
        if self.simulated is not None:
            index = self.simulated.place(value)
            if index is not None:
                return "gpu" if index >= 0 else "pinned" if index == self.simulated.PINNED else "elsewhere"
        if value.is_cuda:
            return "gpu"
        if not value.is_cpu:
            return "elsewhere"
        return "pinned" if self._is_pinned(value) else "host"

    def _is_pinned(self, value: Any) -> bool:
        """Ask the driver, where a driver runs and no mode of the program would see the question."""
        cuda = self._torch.cuda
        if self.simulated is not None or type(value) not in self._plain_types:
            return False
        return bool(cuda.is_initialized() and not self._dispatch_modes() and value.is_pinned())

    def _tuple(self, value: tuple[Any, ...], depth: int) -> str:
        if not depth or not 0 < len(value) <= _MOST_NAMED:
            return self._container("tuple", value, depth)
        word = f"tuple({', '.join(self.name(item, depth - 1) for item in value)})"
        return word if len(word) <= _LONGEST else self._container("tuple", value, depth)

    def _container(self, word: str, items: Iterable[Any], depth: int) -> str:
        inside = set()
        for number, item in enumerate(items):
            if not depth or number >= _MOST_LOOKED_AT:
                inside.add(MORE)
                break
            inside.add(self.name(item, depth - 1))
        found = f"{word}[{' | '.join(sorted(inside))}]"
        return found if len(found) <= _LONGEST else f"{word}[{OBJECT}]"

    def _numpy_name(self, value: Any, kind: Any) -> str:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return _object(kind)
        if self._arrays is None:
            array, scalar = getattr(numpy, "ndarray", None), getattr(numpy, "generic", None)
            if array is None or scalar is None:  # it is being imported
                return OBJECT
            self._arrays = (array, scalar)
        array, scalar = self._arrays
        if kind is array:
            return f"array {_ARRAYS.get(value.dtype.kind, 'float')}"
        if issubclass(kind, scalar):
            return _ARRAYS.get(value.dtype.kind, OBJECT)
        return _object(kind)


def _object(kind: Any) -> str:
    """Return the word for an object of a class that is no tensor."""
    name = _class_name(kind)
    return f"{OBJECT} {name}" if name else OBJECT


def _dictionary(kind: Any) -> str:
    """Return the word for a dictionary, with the class of one that may differ in its methods."""
    if kind is dict:
        return "dict"
    name = _class_name(kind)
    return f"dict {name}" if name else OBJECT


def _class_name(kind: Any) -> str:
    """Return the full name of a class, or ""; a metaclass that computes names is not asked."""
    module, name = _MODULE_OF.__get__(kind), _QUALNAME_OF.__get__(kind)
    if type(module) is not str or type(name) is not str:
        return ""
    full = f"{module}.{name}"
    return full if len(full) < _LONGEST // 4 and _CLASS.fullmatch(full) else ""
