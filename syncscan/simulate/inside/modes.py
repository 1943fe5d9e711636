"""The two torch modes that intercept the calls of a simulated thread.

`Operations` sees every public torch function. The mode judges the call as written by the operation table, and
hides ``device="cuda"`` from torch's own code. `Kernels` sees every aten call, including those inside
composite operations and in backward. That mode runs the call on the CPU, marks the results, and judges calls
outside any public function.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils import _device
from torch.utils._python_dispatch import TorchDispatchMode

from . import bodies
from .capture import is_faked, refuse_recording
from .compiled import left as left_graph
from .cpu import MissingKernelError, no_cast, run_on_cpu, run_otherwise
from .functions import (
    FunctionPlan,
    Scope,
    device_constructors,
    first_operand,
    first_place,
    without_default_device,
)
from .gradients import carried, place_in_backward
from .indexing import needs_cast, with_positions
from .kinds import is_cuda_device, is_elsewhere, of_accelerator
from .marks import (
    MIXED,
    NOWHERE,
    PINNED,
    common_place,
    cuda_index,
    function_modes,
    is_alias,
    lacks_storage,
    set_all,
)
from .memory import clear, make_large, makes_much, share_memory
from .pinning import pinned_place
from .plans import NUMBERS, Plan
from .taint import spread
from .tracebacks import hide

if TYPE_CHECKING:
    from .conditions import CompiledOperation
    from .gpu import Gpu
    from .recording import GraphRecording

_dispatch_modes = torch._C._len_torch_dispatch_stack
_transform = torch._C._functorch.peek_interpreter_stack
_without_dispatch = torch._C._DisableTorchDispatch
_CPU = torch.device("cpu")
_HOST_PLACES = frozenset({None, NOWHERE})  # the common marks of host operands
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_in_backward = torch._C._current_graph_task_id
_overrides_enabled = torch._C._is_torch_function_enabled


# Operations that accept their last operand from another device.
_COPIES = frozenset({"copy_", "__setitem__", "index_put_", "index_put"})
_SHARES = frozenset({torch.as_tensor, torch.asarray})


class Operations(TorchFunctionMode):
    """A function mode that intercepts the public torch functions in one thread."""

    def __init__(self, gpu: Gpu) -> None:
        super().__init__()
        self.gpu = gpu
        self.known: dict[Any, FunctionPlan | None] = gpu.functions
        self.active = True  # False: deactivated, but still on the stack of its thread
        self.pack_hooks = 0  # number of the program's hooks on tensors saved for backward
        self.scope: Scope | None = None
        self.recording: GraphRecording | None = None  # of the CUDA graph that this thread captures

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a call on behalf of its owner: a class of the program, torch itself, or the simulation."""
        try:
            kwargs = kwargs or {}
            if not self.active or (_dispatch_modes() > 1 and is_faked(args, kwargs)):
                return func(*args, **self._unplaced(func, kwargs))
            if types and any(map(_overrides, types)) and _overrides_enabled():
                result = self._call_overrides(func, types, args, kwargs)
                if result is not NotImplemented:
                    return result
            try:
                plan = self.known[func]
            except KeyError:
                plan = self.known[func] = self._learn(func)
            if plan is None or (self.scope is not None and self.scope.operation is not None):
                return func(*args, **kwargs)
            return self._simulate(plan, func, args, kwargs)
        except BaseException as error:
            try:
                hide(error)
            except RecursionError:  # no room for it: no other frame than ours lies below
                error.__traceback__ = None
            raise

    def _simulate(self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a function by its plan."""
        if func is torch.device:
            return func(*of_accelerator(args), **kwargs)
        places = (kwargs and ("device" in kwargs or "pin_memory" in kwargs)) or (
            plan.places and (plan.fills_device or makes_much(func, args, kwargs))
        )
        if plan.is_direct and not places and self._sees_all():
            where = common_place((*args, *kwargs.values()) if kwargs else args)
            if where != MIXED and not (plan.stores and needs_cast(args[0], _stored(args, kwargs))):
                return self._run_direct(plan, func, args, kwargs, where)
        outer, self.scope = self.scope, Scope(func, plan.operation, args, kwargs)
        try:
            return self._run_in_scope(plan, self.scope, places=bool(places))
        finally:
            self.scope = outer

    def _run_in_scope(self, plan: FunctionPlan, scope: Scope, *, places: bool) -> Any:
        """Judge a call by the table, then run it with `Kernels` active."""
        func, args, kwargs = scope.function, scope.args, scope.kwargs
        if plan.operation is not None and plan.operation.may_block(args, kwargs):
            self.gpu.judge(scope, plan.operation.bind(args, _with_device(plan.fills_device, kwargs)))
            args = plan.uploaded(scope, args)
        if places:
            return self._construct(plan, func, args, _with_device(plan.fills_device, kwargs))
        _check_cast(plan, scope)
        if plan.is_native and torch.is_grad_enabled():
            args, kwargs = self._carry(func, args, kwargs)
        if plan.is_native and self.gpu.autocast.follows_gpu() and scope.place() is None:
            return self.gpu.autocast.run_on_host(func, args, kwargs)
        return plan.placed(func(*args, **kwargs), args, kwargs)

    def _sees_all(self) -> bool:
        """Return whether a function's result is its only effect, and no other mode or hook observes its kernels."""
        return (
            _dispatch_modes() == 1
            and forward_ad._current_level < 0
            and self.pack_hooks == 0
            and self.recording is None
            and _transform() is None
        )

    @contextmanager
    def outside_any_function(self) -> Iterator[None]:
        """Intercept functions again, inside a function that calls code of the program."""
        scope, self.scope = self.scope, None
        try:
            with self:
                yield
        finally:
            self.scope = scope

    def _call_overrides(self, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Offer a call to the program's ``__torch_function__`` overrides, as torch does, and intercept the calls they make."""
        with without_default_device(), self.outside_any_function():
            for kind in types:
                result = kind.__torch_function__(func, types, args, kwargs)
                if result is not NotImplemented:
                    return result
        return NotImplemented

    def _run_direct(
        self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any], where: int | None
    ) -> Any:
        """Run an operation whose operands and results share one device, without intercepting its kernels."""
        operation = plan.dense  # operands without a storage have no common mark
        if operation is not None and operation.may_block(args, kwargs):
            outer, self.scope = self.scope, Scope(func, operation, args, kwargs)
            try:
                self.gpu.judge(self.scope, operation.bind(args, kwargs))
                args = plan.uploaded(self.scope, args)
            finally:
                self.scope = outer
        try:
            with _without_dispatch():
                if where in _HOST_PLACES:
                    return self.gpu.autocast.run_on_host(func, args, kwargs)
                result = func(*args, **kwargs)
        except RuntimeError as error:
            if where in _HOST_PLACES or isinstance(error, RecursionError):
                raise
            try:
                with _without_dispatch():
                    result = run_otherwise(func, args, kwargs, error)
            except MissingKernelError:
                return self._run_as_kernels(plan, func, args, kwargs)
        set_all(result, where)
        if self.gpu.uncomputed.counts:
            spread(func.__name__, args, kwargs, result)
        if plan.unfilled:
            clear(result)
        return result

    def _run_as_kernels(self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run an operation that was judged already, so that `Kernels` sees the kernel without a CPU implementation."""
        outer, self.scope = self.scope, Scope(func, plan.operation, args, kwargs)
        try:
            return func(*args, **kwargs)
        finally:
            self.scope = outer

    def _carry(self, func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the operands on one device, with differentiable transfers."""
        writes = getattr(func, "__name__", "") in _COPIES
        where = first_place(args, {}) if writes else self.scope.place() if self.scope else None
        if where is None and not writes:
            return args, kwargs
        first, others = args[:1], carried(args[1:], where, any_shape=writes)
        values = carried(kwargs.values(), where, any_shape=writes)
        return (*(first if writes else carried(first, where, any_shape=False)), *others), dict(
            zip(kwargs, values)
        )

    def _unplaced(self, func: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call that is not simulated; under fake tensors, with an explicit device index."""
        if not self.active:
            return kwargs
        kwargs = _with_device(func in device_constructors(), kwargs)
        if is_cuda_device(device := kwargs.get("device")):
            return {**kwargs, "device": self.gpu.devices[self.gpu.cuda_index(device)]}
        return kwargs

    @staticmethod
    def _learn(func: Any) -> FunctionPlan | None:
        """Return the plan of a function without an entry in the table; None for an attribute access."""
        return None if getattr(func, "__name__", "") in {"__get__", "__set__"} else FunctionPlan(func, None)

    def _construct(self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Make a tensor on the CPU that the program requests on a device or in pinned memory, and mark it."""
        device, pinned = kwargs.get("device"), kwargs.get("pin_memory")
        where = first_place(args, kwargs) if plan.follows else None
        if is_cuda_device(device):
            refuse_recording()
            where = self.gpu.cuda_index(device)
            self.gpu.check_generator(kwargs.get("generator"))
            kwargs = {**kwargs, "device": "cpu"}
        elif device is not None:
            if not _is_host(device):
                return func(*args, **kwargs)
            where = None
        if pinned:
            where = pinned_place(func, args, kwargs, where)
            kwargs = {**kwargs, "pin_memory": False}
        if self.scope is not None:
            self.scope.made = where
        on_device = where is not None and where >= 0
        result = (self._make_on_device if on_device else self._make_on_host)(plan, func, args, kwargs)
        if device is None and not pinned and not plan.follows:
            return result
        source = first_operand(args, kwargs)
        if func in _SHARES or is_alias(result, source):
            result = _unshared(result, source, where)
        set_all(result, where)
        return result

    def _make_on_device(self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Make a tensor in simulated device memory: zero-filled, and mapped lazily if large."""
        result = make_large(func, args, kwargs)
        if result is None:
            result = self._make(plan, func, args, kwargs)
            if plan.unfilled:
                clear(result)
        return result

    def _make_on_host(self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Make a tensor in host memory; where the host has too little, map a large tensor lazily."""
        try:
            return self._make(plan, func, args, kwargs)
        except RuntimeError:
            if (large := make_large(func, args, kwargs)) is not None:
                return large
            raise  # for another reason than memory

    def _make(self, plan: FunctionPlan, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call a constructor, without intercepting its kernels where no operand is a simulated tensor."""
        simple = plan.is_native and self._sees_all() and not (args and type(args[0]) is list)
        if simple and common_place((*args, *kwargs.values())) in _HOST_PLACES:
            with _without_dispatch():
                return func(*args, **kwargs)
        return func(*args, **kwargs)


def _with_device(fills_device: bool, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the default device filled in: torch's mode for it lies below all others."""
    if fills_device and kwargs.get("device") is None and function_modes():
        outermost = torch._C._get_function_stack_at(0)
        if isinstance(outermost, _device.DeviceContext):
            return {**kwargs, "device": outermost.device}
    return kwargs


def _unshared(result: Any, source: Any, where: int | None) -> Any:
    """Return a copy where ``as_tensor`` and the like share memory with a source on another device."""
    before = cuda_index(source) if isinstance(source, torch.Tensor) else None
    return result if before == where else result.clone()


class Kernels(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that intercepts the aten calls in one thread."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, as nothing is compiled during a simulation; the base class would import the compiler."""
        return False

    def __init__(self, gpu: Gpu, operations: Operations) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.gpu = gpu
        self.operations = operations
        self.plans: dict[Any, Plan] = gpu.plans

    @property
    def active(self) -> bool:
        """True while the function mode of the same thread is active."""
        return self.operations.active

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one aten call on behalf of its owner; split a composite call into its parts."""
        kwargs = kwargs or {}
        try:
            if not self.operations.active or is_faked(args, kwargs):
                return func(*args, **kwargs)
            if types and any(map(_computes, types)):
                return NotImplemented  # such classes make further aten calls, which arrive here again
            plan = self.plans.get(func) or self._learn(func)
            if args and type(args[0]) in NUMBERS:
                args = plan.with_tensors(args)
            self.gpu.judge_formula(plan.name, args)
            if plan.is_composite:
                with self:  # not `decompose`: its Python version raises other errors
                    return func._op_dk(_COMPOSITE, *args, **kwargs)
            if plan.is_view and plan.operation is None:
                result = func(*args, **kwargs)
                if lacks_storage(result):  # such a view does not share the mark of its base
                    set_all(result, plan.operands(args, kwargs)[0])
                return result
            return self._run(plan, args, kwargs)
        except BaseException as error:
            try:
                hide(error)
            except RecursionError:  # no room for it: no other frame than ours lies below
                error.__traceback__ = None
            raise

    def _run(self, plan: Plan, args: Any, kwargs: dict[str, Any]) -> Any:
        """Judge one aten call, run it for the device of its operands, and mark the results."""
        where = None
        if kwargs:
            where, kwargs = self._host_arguments(kwargs)
        source, other = plan.operands(args, kwargs)
        if plan.operation is not None:
            self._judge(plan, plan.operation, args, kwargs)
        if other is not None and self._is_strict():
            plan.check_devices(source, other, args)
        if plan.stores:
            args = with_positions(args)
        result = self._compute(plan, source, args, kwargs)
        if where is None and not is_elsewhere(kwargs.get("device")):
            where = self._maker_place() if plan.makes_from_nothing else source
        if where is not None:
            self._mark(plan, result, where)
            if self.gpu.uncomputed.counts and where >= 0:
                spread(plan.name, args, kwargs, result)
            if self.operations.recording is not None and where >= 0:
                self._record(self.operations.recording, plan, source, args, kwargs, result)
        return result

    def _learn(self, func: Any) -> Plan:
        plan = self.plans[func] = Plan(func, self.gpu.table)
        return plan

    def _record(
        self,
        recording: GraphRecording,
        plan: Plan,
        source: int | None,
        args: Any,
        kwargs: dict[str, Any],
        made: Any,
    ) -> None:
        """Record a kernel for the replays of a graph, unless it is a Python function, whose kernels are recorded one by one."""
        if plan.python_kernel is None and not plan.unfilled:
            recording.add(partial(self._compute, plan, source, args, kwargs), (args, kwargs), made)

    def _compute(self, plan: Plan, source: int | None, args: Any, kwargs: dict[str, Any]) -> Any:
        """Compute a call on the CPU; stand in with zeros for a GPU-only kernel."""
        body = plan.host_kernel if source is None else plan.python_kernel
        if body is not None:
            with self.operations.outside_any_function(), left_graph(), self:
                return body(*args, **kwargs)
        if plan.declared is not None and plan.declared.result == "mapped":
            return share_memory(args[0], self.gpu.current)
        if source is None:
            with plan.around():
                return plan.function(*args, **kwargs)
        if plan.is_computed:
            try:
                with plan.around():
                    return run_on_cpu(plan.function, args, kwargs)
            except MissingKernelError as error:
                plan.is_computed = not error.for_any_call
        if plan.body is not None and self.gpu.kernels != "zeros":
            made = bodies.run(plan.body, plan.function, args, kwargs)
            if self.gpu.uncomputed.counts:
                spread(plan.name, args, kwargs, made)
            return None if plan.body.writes else made
        return self.gpu.uncomputed.stand_in(plan.function, args, kwargs, plan.declared)

    @staticmethod
    def _mark(plan: Plan, result: Any, where: int) -> None:
        if not plan.makes_nothing or (plan.is_view and lacks_storage(result)):
            plan.mark(result, where)
            if plan.unfilled and where >= 0:
                clear(result)

    def _host_arguments(self, kwargs: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """Return the device that the program requests, and the arguments with the CPU in its place."""
        where = None
        if is_cuda_device(kwargs.get("device")):
            refuse_recording()
            where = self.gpu.cuda_index(kwargs["device"])
            kwargs = {**kwargs, "device": _CPU}
        if kwargs.get("pin_memory"):
            where, kwargs = PINNED, {**kwargs, "pin_memory": False}
        return where, kwargs

    def _judge(self, plan: Plan, operation: CompiledOperation, args: Any, kwargs: dict[str, Any]) -> None:
        scope = self.operations.scope
        if scope is None or scope.operation is None:
            inner = Scope(plan.function, operation, args, kwargs)
            self.gpu.judge(inner, operation.bind_aten(plan.names, args, kwargs))
        elif plan.reads and not scope.blocked and _reads_operand(args[0], scope):
            # torch reads a number from a tensor passed in place of a number
            self.gpu.report("torch.Tensor.item", "reads a scalar", scope.function, {"input": args[0]})

    def _is_strict(self) -> bool:
        """Return whether operands on two devices are an error of the program, and no artefact of the simulation."""
        scope = self.operations.scope
        return _in_backward() == -1 if scope is None else scope.is_native

    def _maker_place(self) -> int | None:
        """Return the device of a tensor that torch makes "on the device of the operands", for torch always the CPU."""
        scope = self.operations.scope
        if scope is None:
            return place_in_backward() if _in_backward() != -1 else None
        if scope.kwargs.get("device") is not None:
            return scope.made
        return scope.place() if scope.is_native else None


@functools.lru_cache(maxsize=256)
def _computes(kind: type) -> bool:
    """Return whether a tensor class handles aten calls itself."""
    return kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=256)
def _overrides(kind: type) -> bool:
    """Return whether a class has its own Python ``__torch_function__``."""
    override = getattr(kind, "__torch_function__", None)
    code = getattr(override, "__func__", None)  # the function of a class method
    return code is not None and code is not torch.Tensor.__torch_function__.__func__  # type: ignore[attr-defined]


def _check_cast(plan: FunctionPlan, scope: Scope) -> None:
    """Raise SimulationError for an operation that autocast would cast on the GPU and cannot on the CPU."""
    if plan.casts_on_gpu and torch.is_autocast_enabled("cuda") and scope.place() is not None:
        raise no_cast(scope.function)


def _stored(args: Any, kwargs: dict[str, Any]) -> Any:
    return args[2] if len(args) > 2 else kwargs.get("values")


def _is_host(device: Any) -> bool:
    return torch.device(device).type == "cpu"


def _reads_operand(tensor: torch.Tensor, scope: Scope) -> bool:
    """Return whether a tensor that torch reads on the host is itself an operand of the public function."""
    if cuda_index(tensor) is None:
        return False
    address = tensor.data_ptr()
    return any(operand.data_ptr() == address for operand in scope.operands() if operand.numel() == 1)
