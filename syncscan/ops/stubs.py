"""Stubs: what the APIs of other packages do to device, dtype and host, as data.

``rules/stubs/PACKAGE.toml`` holds entries by full name, in the form of the operation table (`syncscan.ops`), with more keys:

    also        other full names of the same API
    items       the place of the tensors that the result holds: one of `syncscan.ops.RESULTS`
    uploads     parameters whose host data the call copies to the GPU, with a blocking copy
    callbacks   functions that the API calls: a parameter, or a method that a subclass defines; how often; and the places of its arguments
    examples    calls of the API, which ``benchmarks/stubs.py`` runs on the simulated GPU and compares with the entry

``*`` in a name stands for any part of a name, and the pattern with the longest text that fits is taken. ``[package]`` names the
release that was reviewed, and may say that the package has the API of another: ``same_as``. With ``read = true``, the source of an
installed package is read, and the stubs are for those that are not installed. Without a condition, a method blocks for an object that is on the GPU.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

from syncscan.errors import SyncscanError
from syncscan.ops.table import RESULTS, Case, Effect, Operation, parse_condition, parse_operations

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FREQUENCIES = frozenset({"step", "item", "once"})  # of a batch, of an item of data, of the call
_OWN_KEYS = frozenset({"also", "items", "uploads", "callbacks", "examples"})


@dataclass(frozen=True, slots=True)
class Callback:
    """A function that an API calls: ``gets`` is where each positional argument lives, "" where nothing is known."""

    name: str
    per: str
    gets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stub:
    """One entry: the operation in the form of the table, and the keys for APIs of packages."""

    operation: Operation
    items: str = ""
    callbacks: tuple[Callback, ...] = ()
    examples: tuple[str, ...] = ()
    reviewed: str = ""  # the release of the package


@functools.lru_cache(maxsize=65536)
def of(name: str) -> Stub | None:
    """Return the stub of a full name such as "einops.rearrange"; None where no package says anything of it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        package = ".".join(parts[:length])
        if package in packages():
            return _find(load(package), name)
    return None


def measured(name: str) -> Operation | None:
    """Return the C++ operation of exactly this name whose stub says what its calls were measured to do; None for others.

    Other stubs say what a review of a package's source found, and what some calls did on the simulated GPU.
    """
    stub = of(name) if name.startswith("torch.ops.") else None
    return stub.operation if stub is not None and "*" not in stub.operation.name else None


def with_cases_of_stub(operation: Operation) -> Operation:
    """Return an entry of the table with the cases of its stub: a measured call of `Normal` had a tensor for the first argument alone."""
    stub = of(operation.name)
    if stub is None or stub.operation.args != operation.args:
        return operation
    return replace(operation, blocks=tuple(dict.fromkeys((*operation.blocks, *stub.operation.blocks))))


def overridden(bases: Iterable[str], name: str) -> Callback | None:
    """Return how a framework calls a method that a class overrides, by the full names of the classes that it extends."""
    for base in bases:
        stub = of(base)
        for callback in stub.callbacks if stub is not None else ():
            if callback.name == name:
                return callback
    return None


@functools.cache
def packages() -> frozenset[str]:
    """Return the packages that have a file of stubs."""
    found = (path.name for path in (files("syncscan.rules") / "stubs").iterdir())
    return frozenset(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


@functools.cache
def names() -> tuple[str, ...]:
    """Return the full names of all stubs."""
    return tuple(name for package in sorted(packages()) for name in load(package))


@functools.cache
def is_read(package: str) -> bool:
    """Return whether the installed source of a package is read where there is one: its stubs say the same, and less."""
    return package not in packages() or bool(
        tomllib.loads(_text(package)).get("package", {}).get("read", False)
    )


def _text(package: str) -> str:
    return (files("syncscan.rules") / "stubs" / f"{package}.toml").read_text(encoding="utf-8")


@functools.cache
def load(package: str) -> Mapping[str, Stub]:
    """Return the stubs of a package by their names."""
    return parse(package, _text(package))


def parse(package: str, text: str) -> dict[str, Stub]:
    """Return the stubs of a file; SyncscanError names the first bad entry and its fault."""
    entries = tomllib.loads(text)
    try:
        about = entries.pop("package", {})
        if about.keys() - {"same_as", "read"} != {"reviewed"} or not all(
            isinstance(value, bool if key == "read" else str) for key, value in about.items()
        ):
            raise ValueError(
                '[package] must say `reviewed = "RELEASE"`, and at most `same_as = "PACKAGE"` and `read = true` more'
            )
        stubs = _renamed(about["same_as"], package) if "same_as" in about else {}
        for name, entry in entries.items():
            stub = replace(_parse_stub(name, entry), reviewed=about["reviewed"])
            for each in (name, *_texts(name, "also", entry.get("also", []))):
                if not each.startswith(f"{package}."):
                    raise ValueError(f"[{each}] is not of {package}")
                if each in stubs:
                    raise ValueError(f"[{each}] is there twice")
                stubs[each] = replace(stub, operation=replace(stub.operation, name=each))
    except ValueError as error:
        raise SyncscanError(f"stubs of {package}: {error}") from error
    return stubs


def _renamed(package: str, name: str) -> dict[str, Stub]:
    """Return the stubs of a package under another name of the package, in their examples too."""
    return {
        full: replace(
            stub,
            operation=replace(stub.operation, name=full),
            examples=tuple(each.replace(f"{package}.", f"{name}.") for each in stub.examples),
        )
        for each, stub in load(package).items()
        for full in [f"{name}{each.removeprefix(package)}"]
    }


def _find(stubs: Mapping[str, Stub], name: str) -> Stub | None:
    """Return the stub of a name, or the stub of the longest pattern that fits."""
    if name in stubs:
        return stubs[name]
    patterns = (pattern for pattern in stubs if "*" in pattern and fnmatchcase(name, pattern))
    found = max(patterns, key=len, default=None)
    return None if found is None else stubs[found]


def _parse_stub(name: str, entry: dict[str, Any]) -> Stub:
    table = {key: value for key, value in entry.items() if key not in _OWN_KEYS}
    operation = replace(parse_operations({name: table})[name], measured=False)
    parameters = {arg.removeprefix("*") for arg in operation.args}
    uploads = _texts(name, "uploads", entry.get("uploads", []))
    if unknown := set(uploads) - parameters:
        raise ValueError(f"[{name}]: uploads names {min(unknown)!r}, which is not in args")
    cases = tuple(Case(Effect.UPLOAD, parse_condition(f"{arg} is host data")) for arg in uploads)
    items = entry.get("items", "")
    if items not in RESULTS | {""}:
        raise ValueError(f"[{name}]: items is {items!r}, which is no place")
    callbacks = tuple(_parse_callback(name, each) for each in entry.get("callbacks", []))
    examples = _texts(name, "examples", entry.get("examples", []))
    return Stub(replace(operation, blocks=operation.blocks + cases), items, callbacks, examples)


def _parse_callback(name: str, given: object) -> Callback:
    if not isinstance(given, dict) or not {"name", "per"} <= given.keys() <= {"name", "per", "gets"}:
        raise ValueError(f"[{name}]: a callback is a table of name, per and gets, not {given!r}")
    gets = _texts(name, "gets", given.get("gets", []))
    if given["per"] not in FREQUENCIES or not str(given["name"]).isidentifier():
        raise ValueError(
            f"[{name}]: a callback has a name, and is called per {', '.join(sorted(FREQUENCIES))}"
        )
    if unknown := set(gets) - RESULTS - {""}:
        raise ValueError(f"[{name}]: gets names {min(unknown)!r}, which is no place")
    return Callback(given["name"], given["per"], gets)


def _texts(name: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"[{name}]: {key} must be a list of texts, not {value!r}")
    return tuple(value)
