"""Observations of arguments, results and attributes: how often which word, and never a value."""

from __future__ import annotations

import sys
from dis import get_instructions
from time import perf_counter_ns
from types import FunctionType, GetSetDescriptorType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any

    from .places import Places

QUIET = 1000  # calls in a row without anything new, after which a function is no longer watched
SETTLED = 50  # such calls, after which something new means that the program does something else now
MOST_WORDS = 24  # for one name; the rest are recorded as objects
MOST_BOUND = 64  # variables of a function
FLUSH_NS = 1_000_000_000
_OPTIMIZED, _GENERATOR = 0x1 | 0x2, 0x20 | 0x80 | 0x200  # generators, coroutines
_VARARGS, _VARKEYWORDS = 0x4, 0x8
RETURN = "return"
AFTER = " after"  # behind the name of a parameter: a container at the end of a call
BOUND = " bound"  # behind the name of a variable that the function binds: what it is at the end of a call
ABSENT = "absent"  # the word for a key that a dictionary does not have, and for an attribute that `getattr` does not find
_CONTAINERS = (list, dict, set)
_DATA = (int, float, bool, str, type(None))
_NOTHING = object()
_REGISTRIES = ("_parameters", "_buffers", "_modules")  # where the modules of torch look
_SEES_ENDS = hasattr(sys, "monitoring")  # a profiler that looks at variables there lets them live longer
# By these names a function may hold its variables as a dictionary.
_LOOKING = frozenset({"locals", "vars", "dir", "eval", "exec"})
_OF_FRAMES = frozenset({"_getframe", "currentframe", "f_locals"})
_OURS = 3  # references to the variables of a frame: of the frame, of ours, and of the question
_MRO_OF, _DICT_OF = type.__dict__["__mro__"], type.__dict__["__dict__"]
_GETATTRIBUTE = object.__dict__["__getattribute__"]
_WITHOUT_ATTRIBUTES = (
    int,
    float,
    str,
    bytes,
    tuple,
    type,
    FunctionType,
    MethodType,
    ModuleType,
    type(None),
    type(len),
)


class WatchedFunction:
    """The observations of one function. ``quiet`` counts the calls since something was new; ``over`` ends the watch."""

    __slots__ = (
        "asked",
        "attributes",
        "bound",
        "calls",
        "code",
        "dictionaries",
        "events",
        "filled",
        "flushed",
        "is_closed",
        "keys",
        "names",
        "over",
        "owner",
        "quiet",
        "words",
    )

    def __init__(self, code: CodeType) -> None:
        self.code = code
        flags = code.co_flags
        count = (
            code.co_argcount + code.co_kwonlyargcount + bool(flags & _VARARGS) + bool(flags & _VARKEYWORDS)
        )
        names = code.co_varnames[:count]
        is_method = bool(code.co_argcount) and names[0] == "self"
        self.owner = names[0] if is_method else None
        # The object of a method is of the method's class; that of a function in a function, of any.
        is_inner = "<locals>" in getattr(code, "co_qualname", "").rpartition(".")[0].rpartition(".")[2]
        self.names = names[1:] if is_method and not is_inner else names
        # Names in the function's source: other keys of a dictionary are not recorded, for keys may be data.
        self.keys = frozenset(text for text in code.co_consts if type(text) is str and text.isidentifier())
        self.asked = tuple(sorted(self.keys)) if "getattr" in code.co_names else ()  # by a name in quotes
        self.attributes = (*code.co_names, *self.asked)
        self.over = False
        self.calls = self.quiet = self.events = self.flushed = 0
        self.words: dict[str, dict[str, int]] = {}
        # By name of dictionaries, how often one was seen; -1 where not all keys of the function were looked at.
        self.dictionaries: dict[str, int] = {}
        self.filled: tuple[str, ...] | None = (
            None  # parameters whose containers it may fill; None until one was a container
        )
        self.bound = _bound_in(code) if _SEES_ENDS else ()  # variables
        # Its variables are also a dictionary of the program, which is left alone.
        self.is_closed = _may_look(code)

    @property
    def is_generator(self) -> bool:
        """Return whether it goes on after it has handed something out."""
        return bool(self.code.co_flags & _GENERATOR)

    def add(self, name: str, word: str) -> bool:
        """Count a word for a name; whether it is a new one."""
        words = self.words.get(name)
        if words is None:
            words = self.words[name] = {}
        count = words.get(word)
        is_new = count is None
        if count is None:
            if len(words) >= MOST_WORDS:
                word = "object"
            count = words.get(word, 0)
        words[word] = count + 1
        return is_new

    def absent(self) -> Iterator[tuple[str, str, int]]:
        """Yield the keys that the function names, and that a dictionary did not have, with how often."""
        for name, seen in list(self.dictionaries.items()):
            for key in sorted(self.keys) if seen > 0 else ():
                present = sum(self.words.get(f"{name}[{key}]", {}).values())
                if present < seen:
                    yield f"{name}[{key}]", ABSENT, seen - present


class SeenCalls:
    """All observations of this process, by code object.

    ``watches`` decides by file and module name whether functions are of interest. ``flush`` is called
    when something is new, at most once a second.
    """

    def __init__(
        self, places: Places, watches: Callable[[str, str], bool], flush: Callable[[], None]
    ) -> None:
        self._places = places
        self._flush = flush
        self._flushed_ns = 0
        self.news = 0  # number of new functions and words
        self.wake: Callable[[], object] = lambda: None  # lets those who watch ask again about all functions
        self._watches = watches
        self.functions: dict[int, WatchedFunction | None] = {}
        self._kept: list[CodeType] = []  # so that the ids of code objects stay theirs

    def meet(self, code: CodeType, module: str) -> WatchedFunction | None:
        """Return the function of a code object, seen for the first time; None if it is not watched."""
        is_function = code.co_flags & _OPTIMIZED == _OPTIMIZED and not code.co_name.startswith("<")
        function = WatchedFunction(code) if is_function and self._watches(code.co_filename, module) else None
        self.news += 1
        self._kept.append(code)
        self.functions[id(code)] = function
        return function

    def call(self, function: WatchedFunction, frame: FrameType) -> None:
        """Note where the arguments of a call live, and what the method's object holds of what it names."""
        if function.quiet >= QUIET:
            function.over = True
            return
        local = _locals_of(frame)
        function.calls += 1
        function.quiet += 1
        function.events += 1
        is_new = False
        for parameter in function.names:
            if parameter in local:
                value = local[parameter]
                is_new |= self._note(function, parameter, value)
                if issubclass(type(value), _WITHOUT_ATTRIBUTES):
                    continue
                if function.filled is None:
                    function.filled = _never_bound(function.code, function.names)
                is_new |= self._note_attributes(function, parameter, value, "")
        if function.owner is not None and function.owner in local:
            for attribute, value in _held(local[function.owner], function.attributes):
                is_new |= self._note(function, f"self.{attribute}", value)
        if is_new:
            self._note_news(function)

    def _note(self, function: WatchedFunction, name: str, value: Any) -> bool:
        """Count the type of a name's value, and of the values under the keys that the function names."""
        keyed = self._places.keyed(value, function.keys)
        if keyed is None:
            return function.add(name, self._places.name(value))
        others, under, is_whole = keyed
        seen = function.dictionaries.get(name, 0)
        function.dictionaries[name] = seen + 1 if is_whole and seen >= 0 else -1
        news = [function.add(f"{name}[{key}]", word) for key, word in under]
        news.append(function.add(f"{name}{{}}", self._places.keys_name(value)))
        return function.add(name, others) or any(news)

    def _note_attributes(self, function: WatchedFunction, name: str, value: Any, when: str) -> bool:
        """Note what an object that is no method's own holds of what the function names."""
        is_new = False
        if not issubclass(type(value), _CONTAINERS):
            for attribute, held in _held(value, function.attributes):
                is_new |= self._note(function, f"{name}.{attribute}{when}", held)
            is_new |= self._note_absent(function, name, value, when)
        return is_new

    def _note_absent(self, function: WatchedFunction, name: str, value: Any, when: str) -> bool:
        """Note which of the attributes that the function asks for by ``getattr`` an object lacks."""
        lacking = _lacking(value, function.asked, self._places.module_getattr) if function.asked else ()
        news = [function.add(f"{name}.{attribute}{when}", ABSENT) for attribute in lacking]
        return any(news)

    def returned(self, function: WatchedFunction, result: Any, frame: FrameType) -> None:
        """Note where the result of a call lives, what its arguments hold then, and what its variables are."""
        function.events += 1
        is_new = self._note(function, RETURN, result)
        if (function.filled or function.bound) and not function.is_closed:
            local = _locals_of(frame)
            for parameter in function.filled or ():
                value = local.get(parameter)
                if issubclass(type(value), _CONTAINERS):
                    is_new |= self._note(function, f"{parameter}{AFTER}", value)
                elif not issubclass(type(value), _WITHOUT_ATTRIBUTES):
                    is_new |= self._note_attributes(function, parameter, value, AFTER)
            if function.bound:
                function.add(BOUND, "none")  # counts the calls whose ends were seen
            for variable in function.bound:
                if variable in local:
                    is_new |= function.add(f"{variable}{BOUND}", self._places.name(local[variable]))
        if is_new:
            self._note_news(function)

    def _note_news(self, function: WatchedFunction) -> None:
        """Watch all functions again for a while after a function that had settled shows something new."""
        self.news += 1
        had_settled = function.quiet > SETTLED
        function.quiet = 0
        if had_settled:
            over = [each for each in list(self.functions.values()) if each is not None and each.over]
            for each in over:
                each.over, each.quiet = False, QUIET - SETTLED
            if over:
                self.wake()
        now = perf_counter_ns()
        if now > self._flushed_ns + FLUSH_NS:  # a killed process has then written nearly everything
            self._flushed_ns = now
            self._flush()

    def reset(self) -> None:
        """Forget what was seen, in a forked child: the parent reports its own calls."""
        for function in list(self.functions.values()):
            if function is not None:
                function.calls = function.events = function.flushed = 0
                function.words = {name: dict.fromkeys(words, 0) for name, words in function.words.items()}
                function.dictionaries = {name: min(n, 0) for name, n in function.dictionaries.items()}

    def changed(self, *, whole: bool) -> Iterator[tuple[str, list[Any]]]:
        """Yield what the file says of the functions that were called since the last time, or of all."""
        for function in list(self.functions.values()):
            if function is None or not function.events or (function.flushed == function.events and not whole):
                continue
            function.flushed = function.events
            code = function.code
            words = {name: dict(counts) for name, counts in list(function.words.items())}
            for name, word, count in function.absent():
                words.setdefault(name, {})[word] = count
            yield "seen", [code.co_filename, code.co_name, code.co_firstlineno, function.calls, words]


def _held(owner: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of these names that an object, or its torch registries, holds, and its class as plain data.

    No property runs.
    """
    held = _dictionary_of(owner)
    if held is None:
        return
    holders = [held, *_registries(held, _REGISTRIES[:2])]
    for name in names:
        for holder in holders:
            if dict.__contains__(holder, name):
                yield name, dict.__getitem__(holder, name)
                break
        else:
            value = _of_class(owner, name)
            kind = type(value)
            if any(kind is each for each in _DATA):  # a set would ask the class for its hash
                yield name, value


def _dictionary_of(owner: Any) -> dict[str, Any] | None:
    """Return the dictionary of an object's attributes; None where it has none, or where code of the program computes it."""
    descriptor = _of_class(owner, "__dict__")
    return descriptor.__get__(owner) if type(descriptor) is GetSetDescriptorType else None


def _registries(held: dict[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the dictionaries in which a module of torch keeps parameters, buffers and modules."""
    found: list[Any] = [dict.get(held, name) for name in names]
    return [each for each in found if issubclass(type(each), dict)]


def _of_class(owner: Any, name: str) -> Any:
    """Return what the classes of an object hold under a name, as it stands there; ``_NOTHING`` where they hold nothing."""
    for cls in _MRO_OF.__get__(type(owner)):
        held = _DICT_OF.__get__(cls)
        if name in held:
            return held[name]
    return _NOTHING


def _lacking(owner: Any, names: tuple[str, ...], module_getattr: Any) -> list[str]:
    """Return those attributes that an object surely lacks: no class computes the attributes that nobody set."""
    held = _dictionary_of(owner)
    computing = _of_class(owner, "__getattr__")
    if (
        held is None
        or _of_class(owner, "__getattribute__") is not _GETATTRIBUTE
        or not (computing is _NOTHING or computing is module_getattr)
    ):
        return []
    holders = [held, *_registries(held, _REGISTRIES)]
    return [
        name
        for name in names
        if not any(dict.__contains__(each, name) for each in holders) and _of_class(owner, name) is _NOTHING
    ]


def _never_bound(code: CodeType, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters that the function itself never binds again: at its end they are the objects of its caller."""
    bound = {*_named_in(code, "STORE_", "DELETE_")}
    return tuple(name for name in names if name not in bound)


def _bound_in(code: CodeType) -> tuple[str, ...]:
    """Return the variables that a function binds, and never deletes."""
    own = {*code.co_varnames, *code.co_cellvars}.difference(_named_in(code, "DELETE_"))
    names = dict.fromkeys(_named_in(code, "STORE_FAST", "STORE_DEREF"))
    return tuple(name for name in names if name in own)[:MOST_BOUND]


def _may_look(code: CodeType) -> bool:
    """Return whether a function may hold its variables as a dictionary."""
    if not _OF_FRAMES.isdisjoint(code.co_names):
        return True
    return not _LOOKING.isdisjoint(code.co_names) and not _LOOKING.isdisjoint(
        _named_in(code, "LOAD_GLOBAL", "LOAD_NAME")
    )


def _named_in(code: CodeType, *kinds: str) -> Iterator[str]:
    """Yield the names of the instructions of some kinds."""
    for instruction in get_instructions(code):
        if instruction.opname.startswith(kinds):
            found = instruction.argval
            yield from found if isinstance(found, tuple) else (found,)


def _locals_of(frame: FrameType) -> dict[str, Any]:
    """Return the local variables of a function; drop the copy that a frame may hold, unless somebody else holds it too."""
    local = frame.f_locals
    if sys.version_info[:2] != (3, 12):  # where a profiler runs, the frame takes the copy back
        return local
    copied = dict(local)
    if sys.getrefcount(local) <= _OURS:
        local.clear()
    return copied
