"""Facts: where the parameters, results and attributes of functions were seen to live.

`syncscan facts record` writes them, `syncscan check` reads them. A fact is about one version of a function. The key of a fact is
``module:qualname`` and a hash of the function's syntax. A fact counts the words of each name:

    words = {"x": {"gpu float": 340, "none": 2}, "return": {"tuple(gpu float, int)": 342}, "self.mask": {"host bool": 342}}

Words name a place and a sort ("gpu", "host", "pinned", "elsewhere"; "float", "int", "uint8", "bool"), or what is no
tensor: "array float", "int", "float", "bool", "text", "none", "gpu device", "object", and containers of words:
"list[gpu int | none]", "set[...]", "dict[...]" (of its values), "tuple[...]", "tuple(gpu float, int)" item by item.

- "object package.module.Class" has the class of an object that is no tensor.
- "dict package.module.Class[...]" has the class of a dictionary that is of a subclass.
- "more" stands for items of a container that were not looked at.

Some names are about parts of others:

- "options[size]": the value under a key of a dictionary, "absent" where it has no such key. Keys are those that the source
  of the function names.
- "options{}": the keys of a dictionary, "text" where all are texts.
- "options after": a container that a function was given, at the end of a call.
- "rate bound": a variable that the function binds, at the end of a call. " bound" counts the calls whose ends were seen.
- "options.size": an attribute of a parameter, "absent" where `getattr` does not find it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from syncscan.errors import SyncscanError
from syncscan.system.files import read_file
from syncscan.trace.shape import Mismatch, integer, map_of, parse, record

FORMAT_VERSION = 1
RETURN = "return"  # the name of what a function returns
AFTER = " after"  # behind the name of a parameter
BOUND = " bound"  # behind the name of a variable
ABSENT = "absent"
MAX_BYTES = 64 * 1024 * 1024
_FACTS = record(
    syncscan_facts=integer,
    functions=map_of(map_of(record(calls=integer, words=map_of(map_of(integer))))),
)
_SYNTAX = re.compile(r"[0-9a-f]{16}")

Words = dict[str, dict[str, int]]


@dataclass
class Observed:
    """The observations of one version of a function: the number of calls, and the count of each word, by name."""

    calls: int = 0
    words: Words = field(default_factory=dict)

    def add(self, calls: int, words: Mapping[str, Mapping[str, int]]) -> None:
        """Add the facts of another run."""
        self.calls += calls
        for name, counts in words.items():
            known = self.words.setdefault(name, {})
            for word, count in counts.items():
                if count:
                    known[word] = known.get(word, 0) + count


class FactSet:
    """The observations of functions, by ``module:qualname`` and the hash of their syntax."""

    def __init__(self) -> None:
        self.functions: dict[str, dict[str, Observed]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.functions.values()))

    def of(self, key: str, syntax: str) -> Observed:
        """Return the observations of one version of a function, which may be new."""
        return self.functions.setdefault(key, {}).setdefault(syntax, Observed())

    def merge(self, other: FactSet) -> None:
        """Add all that others know; in any order the same."""
        for key, versions in other.functions.items():
            for syntax, observed in versions.items():
                self.of(key, syntax).add(observed.calls, observed.words)

    def text(self) -> str:
        """Return the content of a file: one line a function, in order."""
        lines = []
        for key, versions in sorted(self.functions.items()):
            plain = {
                syntax: {"calls": observed.calls, "words": observed.words}
                for syntax, observed in versions.items()
            }
            lines.append(f"{json.dumps(key)}: {json.dumps(plain, sort_keys=True, separators=(',', ':'))}")
        functions = ",\n".join(lines)
        return f'{{"syncscan_facts": {FORMAT_VERSION}, "functions": {{\n{functions}\n}}}}\n'


def read_facts(path: Path) -> FactSet:
    """Return the facts in a file; SyncscanError in one line where there are none that this version reads."""
    try:
        value = parse(read_file(path, MAX_BYTES))
    except OSError as error:
        raise SyncscanError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except Mismatch as error:
        raise SyncscanError(f"{path}: {error}; make it again with `syncscan facts record`") from None
    version = value.get("syncscan_facts") if isinstance(value, dict) else None
    if version is None:
        raise SyncscanError(f"{path}: not a file of facts; `syncscan facts record -o FILE -- CMD` writes one")
    if version != FORMAT_VERSION:
        raise SyncscanError(f"{path}: version {version} of facts; this syncscan reads {FORMAT_VERSION}")
    try:
        return _facts(_FACTS(value)["functions"])
    except Mismatch as error:
        raise SyncscanError(f"{path}: damaged: {error}; make it again with `syncscan facts record`") from None


def _facts(functions: dict[str, dict[str, dict[str, object]]]) -> FactSet:
    facts = FactSet()
    for key, versions in functions.items():
        for syntax, observed in versions.items():
            if not _SYNTAX.fullmatch(syntax):
                raise Mismatch("not the hash of a function")
            words: Words = observed["words"]  # type: ignore[assignment]
            for word in {word for counts in words.values() for word in counts}:
                parse_word(word)
            facts.of(key, syntax).add(int(str(observed["calls"])), words)
    return facts


def syntax_of(function: ast.AST) -> str:
    """Return a hash of a function that stays where only comments, its docstring or the layout change."""
    digest = hashlib.sha256()
    for part in _parts(function):
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _parts(node: object) -> Iterator[str]:
    """Yield the parts of a node, the same in every version of Python that can parse the node."""
    if isinstance(node, ast.AST):
        yield type(node).__name__
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                value = value[ast.get_docstring(node, clean=False) is not None :]  # noqa: PLW2901
            if value is None or value == [] or name in {"kind", "type_comment"}:
                continue
            yield name
            yield from _parts(value)
        yield ")"
    elif isinstance(node, list):
        for item in node:
            yield from _parts(item)
        yield "]"
    else:
        yield repr(node)


def functions_in(
    tree: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function of a module, with its name in it such as ``Class.method`` or ``outer.inner``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
        inner = f"{prefix}{node.name}." if isinstance(node, _SCOPES) else prefix
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield from functions_in(node, inner)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DTYPES = frozenset({"bool", "uint8", "int", "float"})
_TENSORS = frozenset({"gpu", "host", "pinned", "elsewhere"})
_PLAIN = frozenset({"int", "float", "bool", "text", "none", "object", "more", ABSENT})
_OF_CLASS = re.compile(r"(object|dict) ([\w.<>]+)")
_LONGEST = 1000  # characters of a word


@dataclass(frozen=True)
class Word:
    """A parsed word: "tensor" (at ``place``), "array", "device" (``place``), a plain word, or a container.

    ``inside`` has the words of what a container may hold, ``items`` those of a tuple with a word for each item. ``cls`` is
    the full name of the class of an object, or of a dictionary.
    """

    sort: str
    place: str = ""
    dtype: str = ""
    inside: tuple[Word, ...] = ()
    items: tuple[Word, ...] | None = None
    cls: str = ""


def parse_word(text: str) -> Word:
    """Parse a word; Mismatch if the text is none."""
    if len(text) > _LONGEST:
        raise Mismatch("not a word for a place")
    word, rest = _word(text)
    if rest:
        raise Mismatch("not a word for a place")
    return word


def _word(text: str) -> tuple[Word, str]:
    """Return the word at the start of a text, and the rest of the text."""
    of_class = _OF_CLASS.match(text)
    if of_class is not None:
        return _word_of_class(of_class[1], of_class[2], text[of_class.end() :])
    head = re.match(r"[a-z0-9]+(?: [a-z0-9]+)?", text)
    if head is None:
        raise Mismatch("not a word for a place")
    name, rest = head[0], text[head.end() :]
    if name in {"list", "set", "dict", "tuple"} and rest.startswith("["):
        inside, rest = _several(rest[1:], " | ", "]")
        return Word(name, inside=inside), rest
    if name == "tuple" and rest.startswith("("):
        items, rest = _several(rest[1:], ", ", ")")
        return Word(name, items=items), rest
    place, _, dtype = name.partition(" ")
    if name in _PLAIN:
        return Word(name), rest
    if place in _TENSORS and dtype in _DTYPES:
        return Word("tensor", place, dtype), rest
    if place in _TENSORS - {"pinned"} and dtype == "device":
        return Word("device", place), rest
    if place == "array" and dtype in _DTYPES:
        return Word("array", dtype=dtype), rest
    raise Mismatch("not a word for a place")


def _word_of_class(sort: str, cls: str, rest: str) -> tuple[Word, str]:
    """Return the word for an object or a dictionary of a class, and the rest of the text."""
    if sort == "object":
        return Word(sort, cls=cls), rest
    if not rest.startswith("["):
        raise Mismatch("not a word for a place")
    inside, rest = _several(rest[1:], " | ", "]")
    return Word(sort, inside=inside, cls=cls), rest


def _several(text: str, between: str, end: str) -> tuple[tuple[Word, ...], str]:
    words: list[Word] = []
    while not text.startswith(end):
        if words:
            if not text.startswith(between):
                raise Mismatch("not a word for a place")
            text = text[len(between) :]
        word, text = _word(text)
        words.append(word)
    return tuple(words), text[len(end) :]


def merged(paths: Iterable[Path]) -> FactSet:
    """Return the facts of several files together."""
    facts = FactSet()
    for path in paths:
        facts.merge(read_facts(path))
    return facts
