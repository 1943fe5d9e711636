"""Values that are tensors by their use: nothing else takes such a use.

``logits.softmax(-1)`` and ``torch.sort(logits)`` say so of ``logits``, and of what that was made of: of ``x`` in
``x[mask] - 1``. Only the instructions are asked, so that the answer rests on the source of the function alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from syncscan.check.infer.ir.instructions import CallSite, FunctionIR, Op, Slot
from syncscan.check.infer.source.conventions import is_loss
from syncscan.check.infer.source.index import Function, Import, Module

Predicate = Callable[[str], bool]

# Operations whose result is a tensor only if their operands are, or the first of them.
_PASS_ON = frozenset(
    {Op.PHI, Op.JOIN, Op.NAMED, Op.ANNOTATED, Op.REBOUND, Op.NOT_NONE, Op.TRUE, Op.AUGMENTED, Op.RESIZED, Op.UNARY}
)  # fmt: skip
_PASS_ON_FIRST = frozenset(
    {Op.AFTER_CALL, Op.GATE, Op.AT_PLACE, Op.AT_DEVICE, Op.IS_INSTANCE, Op.STORED, Op.TESTED}
)
_VARIABLES = frozenset(
    {Op.AFTER_CALL, Op.PARAMETER, Op.NAMED, Op.NOT_NONE, Op.PHI, Op.JOIN, Op.ANNOTATED, Op.REBOUND}
)
_CALLS, _ITEMS, _TWO = (
    frozenset({Op.CALL, Op.CALL_METHOD}),
    frozenset({Op.SUBSCRIPT, Op.STORE_ITEM}),
    frozenset({Op.BINARY, Op.COMPARE}),
)
_USING = frozenset({*_CALLS, *_ITEMS, Op.ATTRIBUTE})
_NAMES = frozenset({Op.NAMED, Op.READ_NAME})
_COMPUTED = frozenset({Op.BINARY, Op.CALL, Op.COMPARE, Op.ITERATED, Op.SUBSCRIPT, Op.UNPACKED})
_OF_MASKS = frozenset({Op.UNARY, Op.NAMED, Op.SEQUENCE, Op.PHI, Op.REBOUND})
_OF_ONE_TENSOR = frozenset(
    {Op.SLICE, Op.COMPARE, Op.SEQUENCE, Op.UNARY}
)  # as indices: a list takes a slice alone
_COMBINES = frozenset({Op.BINARY, Op.AUGMENTED})
_COMBINE_MASKS = frozenset({"BitAnd", "BitOr", "BitXor", "Mult"})
# Methods whose result is a mask if the tensor is one.
_RESHAPE = frozenset(
    {"all", "any", "clone", "contiguous", "detach", "expand", "expand_as", "flatten", "permute", "reshape", "squeeze", "transpose",
     "unsqueeze", "view", "view_as"}
)  # fmt: skip
_NO_MASKS = frozenset({"Is", "IsNot", "In", "NotIn"})
_PARTS = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})
# What tensors have, and no module, array or object of Python.
_ALONE = frozenset({"is_cuda", "requires_grad", "is_leaf", "grad_fn", "layout", "is_sparse"})
_ALSO_OF_ARRAYS = frozenset({"shape", "device", "dtype", "ndim", "T", "mT"})
_OF_ARRAYS = frozenset(
    {"all", "any", "argmax", "argmin", "argsort", "byteswap", "choose", "clip", "compress", "conj", "cumprod", "cumsum", "diagonal",
     "dot", "fill", "flatten", "item", "max", "mean", "min", "nonzero", "prod", "put", "ravel", "repeat", "reshape", "resize",
     "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tobytes", "tolist", "trace", "transpose", "var",
     "view"}
)  # fmt: skip
_OF_DISTRIBUTIONS = frozenset({"entropy", "log_prob", "rsample"})
_FRAMEWORKS = frozenset(
    {"chainer", "cupy", "flax", "haiku", "jax", "keras", "mindspore", "mlx", "mxnet", "optax", "paddle", "tensorflow", "tinygrad"}
)  # fmt: skip
_LOADERS, _LOAD = frozenset({"torch", "safetensors.torch"}), frozenset({"load", "load_file"})
_ROWS = frozenset({"iterrows", "itertuples"})
_TABLES = frozenset({"pandas", "polars"})  # which comparisons index as well
_FUNCTIONS = frozenset({"torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"})
_NEAR = 40  # values, in the search for where one comes from
_DEEPEST = 4  # of a mask that is made of masks


class UsedSlots(NamedTuple):
    """The slots of a function that only a tensor can be, those of them that are copied to the host, and likely tensors."""

    tensors: frozenset[Slot]
    given: frozenset[Slot]  # those of them that functions of torch take: many objects have a method `matmul`
    downloaded: frozenset[Slot]
    losses: frozenset[Slot]  # whose number the function reads, see `is_loss`
    brought: frozenset[Slot]  # named as losses, and copied to the host or loaded from a file
    handled: frozenset[Slot]  # in a method of a module, which gets tensors where it could get arrays
    trains: bool  # the function computes gradients: it works where its model is


class Imported(NamedTuple):
    """The other libraries that a module imports, whose objects are used as tensors are."""

    tables: bool  # which comparisons index as well
    arrays: bool  # of another framework, in a module without torch


def imported_by(module: Module) -> Imported:
    """Return which libraries a module imports."""
    names = {each.module for each in module.names.values() if isinstance(each, Import)}
    packages = {name.partition(".")[0] for name in names}
    is_elsewhere = "torch" not in packages and not packages.isdisjoint(_FRAMEWORKS)
    return Imported(not names.isdisjoint(_TABLES), is_elsewhere)


def uses_in(ir: FunctionIR, function: Function, imported: Imported, names: Names) -> UsedSlots:
    """Return the slots of a function that only a tensor can be; see `_Search`."""
    search = _Search(ir, function, imported.tables, names)
    if imported.arrays or search.imports_another_framework():
        nothing = frozenset[Slot]()
        return UsedSlots(nothing, nothing, nothing, nothing, nothing, nothing, trains=False)
    copied, perhaps = search.downloads()
    using = [(slot, op) for slot, op in enumerate(ir.ops) if op in _USING]
    taken = chain.from_iterable(search.given_by(*each) for each in using)
    handling = using if getattr(function.owner, "is_module", False) else ()
    return UsedSlots(
        search.reach([*chain.from_iterable(search.used_by(*each) for each in using), *perhaps]),
        search.reach([each for each in taken if not search.is_of_the_host(each)]),
        search.reach(copied),
        search.reach([ir.operands[slot][0] for slot, op in using if search.reads_a_loss(slot, op)]),
        search.brought_losses(),
        frozenset(chain.from_iterable(search.handled_by(*each) for each in handling)),
        any(op == Op.CALL_METHOD and ir.data[slot].attribute.endswith("backward") for slot, op in using),
    )


class Names(NamedTuple):
    """Predicates for the name of a method or function.

    ``is_method``: tensors alone have the method. ``computes``: the result of the method is a tensor, whatever has the method.
    ``takes_tensor``: the function of torch takes a tensor first, by its last name; ``takes_first`` asks by the full name.
    ``takes``: the method of tensors may take a keyword.
    """

    is_method: Predicate
    computes: Predicate
    takes_tensor: Predicate
    takes_first: Predicate
    takes: Callable[[str, str], bool]


class _Search:
    """Looks for the slots of a function that only a tensor can be."""

    def __init__(self, ir: FunctionIR, function: Function, has_tables: bool, names: Names) -> None:
        self._ir = ir
        self._function = function
        self._names = names
        self._has_tables = has_tables

    def reach(self, queue: list[Slot]) -> frozenset[Slot]:
        """Return some slots, and the slots that must be tensors as a consequence."""
        found: set[Slot] = set()
        while queue:
            slot = queue.pop()
            if slot >= 0 and slot not in found:
                found.add(slot)
                queue.extend(self._sources(slot))
        return frozenset(found)

    def is_download(self, slot: Slot) -> bool:
        """Return whether an instruction copies a tensor to the host: ``x.cpu()``."""
        ir = self._ir
        if slot < 0 or ir.ops[slot] != Op.CALL_METHOD:
            return False
        site = ir.data[slot]
        if site.attribute != "to" or not site.positional:
            return bool(site.attribute == "cpu")
        device = ir.operands[slot][2 if site.has_bound else 1]
        return device >= 0 and ir.ops[device] == Op.CONSTANT and ir.data[device] == "cpu"

    def downloads(self) -> tuple[list[Slot], list[Slot]]:
        """Return what the function copies to the host, and what it copies if a test finds a tensor."""
        asked = {*self.asked()}
        copied = [
            self._ir.operands[slot][0]
            for slot, op in enumerate(self._ir.ops)
            if op == Op.CALL_METHOD and self.is_download(slot)
        ]
        sure, perhaps = list[Slot](), list[Slot]()
        for each in copied:
            if each not in asked:
                (perhaps if self._is_narrowed(each) else sure).append(each)
        return sure, perhaps

    def reads_a_loss(self, slot: Slot, op: int) -> bool:
        """Return whether an instruction reads the number of a loss, ``out["loss"].item()``, that comes from nothing on the host."""
        site = self._ir.data[slot]
        if op != Op.CALL_METHOD or site.attribute != "item" or site.positional or site.keywords:
            return False
        base = self._ir.operands[slot][0]
        is_row = self._has_tables and base >= 0 and self._ir.ops[base] == Op.SUBSCRIPT
        return not is_row and any(map(is_loss, self._names_of(base))) and not self.is_of_the_host(base)

    def _gives_host_data(self, callee: Slot, name: str) -> bool:
        """Return whether a call loads a file or the rows of a table, or says by its name that it copies to the host."""
        if name in _LOAD and self._full_name(callee) in _LOADERS:
            return True
        names = [name, *self._names_of(callee)]
        return any(each in _ROWS or "cpu" in each or "numpy" in each for each in names)

    def brought_losses(self) -> frozenset[Slot]:
        """Return the variables and attributes that are named as losses, and come from something on the host."""
        named = [slot for slot, op in enumerate(self._ir.ops) if op in {Op.ATTRIBUTE, Op.NAMED}]
        losses = [slot for slot in named if any(map(is_loss, self._names_of(slot)))]
        return frozenset([slot for slot in losses if self.is_of_the_host(slot)])

    def imports_another_framework(self) -> bool:
        """Return whether the function imports another framework itself."""
        ir = self._ir
        packages = {ir.data[slot][0].partition(".")[0] for slot, op in enumerate(ir.ops) if op == Op.IMPORT}
        return not packages.isdisjoint(_FRAMEWORKS)

    def is_of_the_host(self, slot: Slot) -> bool:
        """Return whether something near that a value is made of is copied to the host, or loaded from a file."""
        queue, seen = [slot], {slot}
        while queue and len(seen) < _NEAR:
            at = queue.pop(0)
            if at < 0:
                continue
            operands, data = self._ir.operands[at], self._ir.data[at]
            is_call = self._ir.ops[at] in _CALLS
            if self.is_download(at) or (is_call and self._gives_host_data(operands[0], data.attribute)):
                return True
            queue += [each for each in operands if each not in seen]
            seen.update(operands)
        return False

    def _names_of(self, slot: Slot, levels: int = 1) -> Iterator[str]:
        """Yield the name of a variable or an attribute; of an item, its key and the name of its container."""
        while slot >= 0 and (self._ir.ops[slot] in _PASS_ON_FIRST or self._ir.ops[slot] == Op.NOT_NONE):
            slot = self._ir.operands[slot][0]  # a test has told more of it
        op = self._ir.ops[slot] if slot >= 0 else None
        if op in _NAMES:
            yield self._ir.data[slot]
        elif op == Op.PARAMETER:
            yield self._function.parameters[self._ir.data[slot]].name
        elif op == Op.ATTRIBUTE:
            yield self._ir.data[slot][0]
        elif op == Op.SUBSCRIPT:
            container, key = self._ir.operands[slot]
            text = self._constant(key)
            yield from [text] if isinstance(text, str) else []
            yield from self._names_of(container, levels - 1) if levels else ()

    def _is_narrowed(self, slot: Slot) -> bool:
        """Return whether a value is a tensor by a test: ``if isinstance(x, Tensor): x = x.cpu()`` takes whatever comes."""
        op, operands = (self._ir.ops[slot], self._ir.operands[slot]) if slot >= 0 else (None, ())
        if op == Op.IS_INSTANCE:
            return True
        if op == Op.CALL_METHOD and self._ir.data[slot].attribute == "detach":
            return self._is_narrowed(operands[0])
        return op in _PASS_ON_FIRST | {Op.NAMED, Op.NOT_NONE} and self._is_narrowed(operands[0])

    def asked(self) -> Iterator[Slot]:
        """Yield what the function asks for its attributes: ``if hasattr(x, "cpu"): x = x.cpu()`` takes whatever comes."""
        ir = self._ir
        callees = {
            slot for slot, op in enumerate(ir.ops) if op == Op.READ_NAME and ir.data[slot] == "hasattr"
        }
        for slot, op in enumerate(ir.ops) if callees else ():
            if op == Op.CALL and ir.operands[slot][0] in callees and ir.data[slot].positional == 2:
                yield ir.operands[slot][1]

    def used_by(self, slot: Slot, op: int) -> Iterator[Slot]:
        """Yield the operands that an instruction uses as tensors."""
        operands, data = self._ir.operands[slot], self._ir.data[slot]
        if op in _CALLS:
            yield from self.given_by(slot, op)
            yield from self._used_by_call(slot, operands, data)
        elif op == Op.ATTRIBUTE:
            if data[0] in _ALONE:
                yield operands[0]
        elif op in _ITEMS and not self._has_tables:
            masks = [*self._masks(operands[1])]
            yield from (operands[0], *masks) if masks else ()

    def _used_by_call(self, slot: Slot, operands: tuple[Slot, ...], site: CallSite) -> Iterator[Slot]:
        name, base = site.attribute, operands[0]
        if (self.is_download(slot) and self._is_computed(base)) or self._is_of_distributions(slot):
            yield slot
        if name.endswith("backward"):  # accelerator.backward(loss)
            yield from _only_argument(operands, site)
        is_method = bool(name) and self._is_of_tensors(name, site)
        is_for_tensors = is_method and (name not in _OF_ARRAYS or self.is_download(base))
        if is_for_tensors or self.reads_a_loss(slot, self._ir.ops[slot]):
            yield base

    def _is_of_distributions(self, slot: Slot) -> bool:
        """Return whether a value is what a method of a distribution computes."""
        site = self._ir.data[slot]
        is_method = self._ir.ops[slot] == Op.CALL_METHOD and site.attribute in _OF_DISTRIBUTIONS
        return is_method and not self._full_name(self._ir.operands[slot][0])

    def _is_of_tensors(self, name: str, site: CallSite) -> bool:
        """Return whether only a tensor takes a call; what others have under the name takes arguments: `accelerator.backward(loss)`."""
        if not all(keyword is None or self._names.takes(name, keyword) for keyword in site.keywords):
            return False  # of a class with a method of this name
        has_arguments = site.positional or site.starred or (site.keywords and name != "backward")
        return self._names.is_method(name) or (not has_arguments and self._names.computes(name))

    def handled_by(self, slot: Slot, op: int) -> Iterator[Slot]:
        """Yield the operands that an instruction uses as tensors or arrays."""
        operands, data = self._ir.operands[slot], self._ir.data[slot]
        if (op == Op.ATTRIBUTE and data[0] in _ALSO_OF_ARRAYS) or (
            op in _CALLS and data.attribute and self._names.is_method(data.attribute)
        ):
            yield operands[0]

    def _is_computed(self, slot: Slot) -> bool:
        """Return whether a value is made here: a module has a name, or is made by a method of modules."""
        op = self._ir.ops[slot] if slot >= 0 else None
        if op == Op.ATTRIBUTE:
            return self._is_computed(self._ir.operands[slot][0])
        name = self._ir.data[slot].attribute if op == Op.CALL_METHOD else ""
        return op in _COMPUTED or (bool(name) and self._names.computes(name))

    def given_by(self, slot: Slot, op: int) -> Iterator[Slot]:
        """Yield the first argument of a function of torch."""
        if op not in _CALLS:
            return
        operands, site = self._ir.operands[slot], self._ir.data[slot]
        if not site.positional or 0 in site.starred:
            return
        owner, name = self._full_name(operands[0]), site.attribute
        if not name:
            owner, _, name = owner.rpartition(".")
        if owner in _FUNCTIONS and self._names.takes_first(f"{owner}.{name}"):
            yield operands[2 if site.has_bound else 1]

    def _masks(self, index: Slot, levels: int = _DEEPEST) -> Iterator[Slot]:
        """Yield the comparisons in an index, and what is inverted there: ``x != pad`` of ``x[~(x != pad), 0]``, ``m`` of ``x[~m]``."""
        if index < 0 or not levels:
            return
        op, operands, data = self._ir.ops[index], self._ir.operands[index], self._ir.data[index]
        if op == Op.COMPARE:
            is_of_a_text = any(isinstance(self._constant(each), str) for each in operands)
            yield from () if data[0] in _NO_MASKS or is_of_a_text else (index,)
        elif op == Op.UNARY and data == "Invert" and self._is_variable(operands[0]):
            yield from operands
        else:
            masks = [[*self._masks(operand, levels - 1)] for operand in _parts_of_mask(op, operands, data)]
            if data != "Mult" or all(masks):  # a mask times other values is none
                yield from chain(*masks)

    def _constant(self, slot: Slot) -> object:
        return self._ir.data[slot] if slot >= 0 and self._ir.ops[slot] == Op.CONSTANT else None

    def _is_variable(self, slot: Slot) -> bool:
        return slot >= 0 and self._ir.ops[slot] in _VARIABLES

    def _sources(self, slot: Slot) -> tuple[Slot, ...]:
        """Return the operands that are tensors because the result of an instruction is one."""
        ir = self._ir
        op, operands, data = ir.ops[slot], ir.operands[slot], ir.data[slot]
        if op in _PASS_ON:
            return operands
        if op in _TWO:
            return self._one_of_two(op, operands, data)
        if op in _PASS_ON_FIRST:
            passes = True
        elif op == Op.SUBSCRIPT:
            passes = operands[1] >= 0 and ir.ops[operands[1]] in _OF_ONE_TENSOR
        elif op == Op.ATTRIBUTE:
            passes = data[0] in _PARTS
        else:
            name = data.attribute if op == Op.CALL_METHOD else ""
            is_method = bool(name) and self._names.takes_tensor(name) and self._names.is_method(name)
            if name == "scale":  # scaler.scale(loss).backward()
                return _only_argument(operands, data)
            passes = (self.is_download(slot) or is_method) and not self._full_name(operands[0])
        return operands[:1] if passes else ()

    def _one_of_two(self, op: int, operands: tuple[Slot, ...], data: object) -> tuple[Slot, ...]:
        """Return the operand that has to be a tensor; either may be where neither is written out."""
        if len(operands) != 2 or (isinstance(data, tuple) and data[0] in _NO_MASKS):
            return ()
        left, right = (each >= 0 and self._ir.ops[each] == Op.CONSTANT for each in operands)
        if left:
            return operands[1:]
        return operands[:1] if right or op == Op.COMPARE or data == "Sub" else ()

    def _full_name(self, slot: Slot) -> str:
        """Return the full name of something that is imported; "" of anything else."""
        op = self._ir.ops[slot] if slot >= 0 else None
        if op == Op.ATTRIBUTE:
            owner = self._full_name(self._ir.operands[slot][0])
            return f"{owner}.{self._ir.data[slot][0]}" if owner else ""
        target: object = None
        if op == Op.READ_NAME:
            target = self._function.module.names.get(self._ir.data[slot])
        elif op == Op.IMPORT:
            target = Import(*self._ir.data[slot])
        return ".".join(filter(None, target)) if isinstance(target, Import) else ""


def _parts_of_mask(op: int, operands: tuple[Slot, ...], data: Any) -> tuple[Slot, ...]:
    """Return the operands that are masks if the result of an instruction is one."""
    if op == Op.CALL_METHOD:
        is_of_arrays = "axis" in data.keywords  # of NumPy or pandas
        return operands[:1] if data.attribute in _RESHAPE and not is_of_arrays else ()
    return operands if op in _OF_MASKS or (op in _COMBINES and data in _COMBINE_MASKS) else ()


def _only_argument(operands: tuple[Slot, ...], site: CallSite) -> tuple[Slot, ...]:
    """Return the argument of a call that has one."""
    if site.positional != 1 or site.starred or site.keywords:
        return ()
    return operands[2 if site.has_bound else 1 :][:1]
