"""Parameter values: from call sites, declarations and assumptions."""

from __future__ import annotations

from syncscan.check.infer.dataflow.cells import LEFT_OUT, PERHAPS_PASSED
from syncscan.check.infer.domain.basic import BOOL, EMPTY, NONE, SEQUENCES, TENSOR, list_of, put
from syncscan.check.infer.domain.crossing import parts_of
from syncscan.check.infer.domain.lattice import as_tensor, join, join_all
from syncscan.check.infer.domain.value import BOTTOM, TOP, AbstractValue, refine
from syncscan.check.infer.source.conventions import is_input_of_models
from syncscan.check.infer.source.index import TAKE_CLASSES, Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.source.texts import is_private
from syncscan.check.infer.transfer.autograd import receiver, takes_context, takes_gradients
from syncscan.check.infer.transfer.declared import SCALARS, with_layers_placed
from syncscan.check.infer.transfer.framework_calls import given_by_framework, moved_by_framework
from syncscan.check.infer.transfer.guesses import IS_TENSOR, assumed_tensor
from syncscan.check.infer.transfer.modules import works_where_its_module_is
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.virtual import is_passed_through, passed_through
from syncscan.model import ARRAYS, Confidence, Device, Kind
from syncscan.ops.inferred import device_named

# An item of an array, or what the analysis took for it somewhere on the way.
_NO_ARRAYS = frozenset({Kind.NUMBER, Kind.STRING, Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.FUNCTION})
_NOTHING = frozenset({Kind.UNKNOWN, Kind.NONE})


def argument(at: Point, parameter: Parameter, position: int, default: AbstractValue | None) -> AbstractValue:
    """Return the value of a parameter: the join of all call sites, refined by annotation, default and name."""
    function = at.function
    if position == 0 and function.owner is not None and not function.is_static:
        return _receiver(function)
    if position == 0 and takes_context(function):
        return receiver(function)
    passed = join(at.read(at.context.known.parameters[parameter]), passed_through(at, parameter))
    if not at.settles(passed):
        return BOTTOM
    if passed.kind is Kind.UNKNOWN and not parameter.star and not at.declare():
        return BOTTOM
    if passed.kind in _NOTHING and _is_none(at, parameter, passed):
        return NONE
    promised = _promised(at, parameter)
    if passed is TOP and promised is BOTTOM:
        return TOP
    if parameter.star:
        return _rest(at, parameter, passed, promised)
    return _decided(at, parameter, passed, promised, default)


def _decided(
    at: Point,
    parameter: Parameter,
    passed: AbstractValue,
    promised: AbstractValue,
    default: AbstractValue | None,
) -> AbstractValue:
    """Return the value of a parameter by what is passed, declared, given by a framework, and assumed."""
    given = given_by_framework(at, parameter) if passed.kind is Kind.UNKNOWN else BOTTOM
    value = _passed_or_promised(at, as_tensor(passed) if promised.kind is Kind.TENSOR else passed, promised)
    if given is not BOTTOM and value.kind is Kind.UNKNOWN:
        return given
    if given.device is Device.CUDA:
        value = moved_by_framework(at, value)
    if default is not None:
        value = _or_default(at, parameter, value, default, alone=passed.kind is Kind.UNKNOWN)
    return _assumed(at, parameter, value, is_on_gpu=given.device is Device.CUDA)


def _promised(at: Point, parameter: Parameter) -> AbstractValue:
    """Return the annotated value of a parameter, or that of the overridden method's parameter."""
    function = at.function
    if parameter.annotation is not None or function.owner is None:
        return at.context.annotations.read(parameter.annotation, at.module, function)
    for base in function.owner.mro()[1:]:
        at.asks(base, function.name)
        above = base.methods.get(function.name)
        same = above.by_name.get(parameter.name) if above is not None else None
        if above is not None and same is not None and same.annotation is not None:
            return at.context.annotations.read(same.annotation, above.module, above)
    return BOTTOM


def _assumed(at: Point, parameter: Parameter, value: AbstractValue, *, is_on_gpu: bool) -> AbstractValue:
    """Return the value of a parameter with assumptions for an unknown kind or device."""
    function = at.function
    uses = at.context.uses(at.state)
    is_sure = is_on_gpu or works_where_its_module_is(function) or uses.trains or at.number in uses.downloaded
    confidence = Confidence.INFERRED if is_sure else Confidence.DECLARED
    where, text = parameter.annotation or function.node, IS_TENSOR
    if value.kind in _NOTHING and at.declare():
        if not is_sure:
            confidence = Confidence.ASSUMED
        if value is BOTTOM and takes_gradients(function):
            value, where, text = TENSOR, function.node, _IS_GRADIENT
        elif _is_used_as_tensor(at, parameter):
            value, where, text = join(value, TENSOR), function.node, _IS_USED
    return assumed_tensor(at, value, parameter.name, confidence, (at.module, where), text)


def _is_used_as_tensor(at: Point, parameter: Parameter) -> bool:
    """Return whether the function uses a parameter as only a tensor can be used, or models have a tensor of this name."""
    if (
        at.function.owner is not None
        and works_where_its_module_is(at.function)
        and is_input_of_models(parameter.name)
        and at.number not in at.state.ir.truths  # `if not input_ids` asks a list
    ):
        return True
    uses = at.context.uses(at.state)
    return at.number in uses.tensors or at.number in uses.handled


_IS_GRADIENT = "`{}` is a gradient, and no code found places the gradient on the CPU"
_IS_USED = "`{}` is used as a tensor: the call blocks if the argument is on the GPU"


def _receiver(function: Function) -> AbstractValue:
    """Return the receiver of a method: the object, or the class of a class method."""
    of_class = function.is_of_class or function.name in TAKE_CLASSES
    return AbstractValue(Kind.CLASS if of_class else Kind.INSTANCE, payload=function.owner)


def _rest(at: Point, parameter: Parameter, passed: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return the value of ``*args`` or ``**kwargs``."""
    if parameter.star == "*":
        return list_of(join(passed, promised), Kind.TUPLE)
    if passed.kind is Kind.DICT:
        return passed
    return put(EMPTY, BOTTOM, promised) if at.declare() else BOTTOM


def _passed_or_promised(at: Point, value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return the passed value refined by the annotation, or the annotated value where no call site passes one."""
    if value.kind is Kind.UNKNOWN:
        return with_layers_placed(at, promised)
    value = _as_promised(at, value, promised)
    return _filled(value, promised) if _has_gaps(value, promised) and at.declare() else value


def _as_scalar(value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    return value if value.kind in {promised.kind, Kind.DEVICE} else promised


def _as_promised(at: Point, value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return the passed value refined by the annotated value."""
    if promised.kind in SCALARS:
        return join_all([_as_scalar(option, promised) for option in value.items or (value,)])
    if promised.kind is Kind.UNION:
        return _as_one_of(at, value, promised)
    if promised.kind in ARRAYS and value.kind not in ARRAYS:
        options = (value.items or ()) if value.kind is Kind.UNION else (value,)
        return join_all([_as_array(option, promised) for option in options])
    return value


def _as_array(value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return a passed value, or the annotated array in its place; only a list of numbers contradicts the annotation."""
    return promised if value.kind in _NO_ARRAYS and not _are_numbers(value) else value


def _has_gaps(value: AbstractValue, promised: AbstractValue) -> bool:
    """Return whether a container has an unknown item whose value the annotation gives."""
    if value.kind is not promised.kind or value.kind not in SEQUENCES:
        return False
    if value.items is None:
        return value.element is BOTTOM and _item_of(promised, 0) is not BOTTOM
    return any(item is BOTTOM and _item_of(promised, n) is not BOTTOM for n, item in enumerate(value.items))


def _filled(value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return a container with its unknown items filled from the annotation."""
    if value.items is None:
        return refine(value, element=_item_of(promised, 0))
    items = [_item_of(promised, n) if item is BOTTOM else item for n, item in enumerate(value.items)]
    return refine(value, items=tuple(items))


def _item_of(promised: AbstractValue, number: int) -> AbstractValue:
    if promised.items is not None:
        return promised.items[number] if number < len(promised.items) else BOTTOM
    return promised.element or BOTTOM


def _as_one_of(at: Point, value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return the passed value refined by an annotated union; a GPU tensor outweighs a number."""
    if all(option.kind in SCALARS for option in promised.options):
        return promised if any(option.kind in ARRAYS for option in value.options) else value
    if any(option.kind is Kind.TENSOR for option in promised.options):
        others = [option for option in value.items or (value,) if option.kind is not Kind.NUMBER]
        is_outweighed = any(option.is_gpu for option in others) or not at.stays_open()
        return join_all(others) if is_outweighed else value
    return value


def _are_numbers(value: AbstractValue) -> bool:
    """Return whether a list consists of numbers, or of lists of them; such a list is no array, whatever the annotation says."""
    kinds = {part.kind for part in parts_of(value)} if value.kind in SEQUENCES else set()
    return Kind.NUMBER in kinds and kinds <= {Kind.NUMBER, Kind.UNKNOWN}


_OF_FLAGS = frozenset({Kind.NUMBER, Kind.UNKNOWN})
_OF_DEVICES = frozenset({Kind.STRING, Kind.DEVICE})


def _is_none(at: Point, parameter: Parameter, passed: AbstractValue) -> bool:
    """Return whether a parameter is None by default, and each call leaves it out or passes None.

    Of the calls of modules, many are not found: a None that a module passes on says nothing of the others.
    """
    if not parameter.is_none_by_default or is_passed_through(at, parameter):
        return False
    left_out = at.read(at.context.known.defaulted[parameter])
    if passed is NONE and works_where_its_module_is(at.function):
        return False
    return left_out == LEFT_OUT or (passed is NONE and not left_out)


def _or_default(
    at: Point, parameter: Parameter, value: AbstractValue, default: AbstractValue, *, alone: bool
) -> AbstractValue:
    """Return the value of a parameter with a default; ``alone`` says that no call site passes a value."""
    defaulted = at.context.known.defaulted[parameter]
    if parameter.is_flag and value.kind in _OF_FLAGS:
        if at.read(defaulted) >= PERHAPS_PASSED:
            return join(value, BOOL)  # some call passes what nobody knows
        if alone:
            return default
    asks = not alone or parameter.is_compared  # a comparison is read again when a call passes a value
    if asks and at.read(defaulted) >= LEFT_OUT and not alone:
        value = join(value, default)
    return _with_default(value, default, alone=alone, is_public=not is_private(at.function.name))


def _with_default(
    value: AbstractValue, default: AbstractValue, *, alone: bool, is_public: bool
) -> AbstractValue:
    """Return the join of the passed value and the default; ``alone`` says that no call site passes a value.

    Others may leave out an argument of a public function, whatever the project passes.
    """
    if alone and default.kind in _OF_DEVICES and device_named(default) is Device.CPU:
        return refine(default, confidence=Confidence.ASSUMED)  # callers outside, who have a GPU, name it
    if alone and (default.kind is Kind.STRING or default.device is Device.CUDA):
        return default  # such as the name of a device, or a device
    same = next((option for option in value.options if option.kind is default.kind), None)
    has_other = (
        is_public and same is not None and same.payload is not None and same.payload != default.payload
    )
    if default.kind is Kind.NONE or value.kind is Kind.UNKNOWN or has_other:
        return join(value, default)
    return value
