"""The names to which the text of a file gives values: by a default, an assignment, an argument or a key.

The text is read without its tree, since each file of a project is asked. A name too many costs a label; a missing one would
call an option off that is on. So names of trailing comments count, too, and of prose, but no messages that name the argument
that they ask for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_IS_TRUE = re.compile(r"[=:,(]\s*True\b")
# The `x` of `x=`, `x: bool =` and `"x":`.
_NAMED = re.compile(r"(?<![\w\"'])(\w+)\s*(?::[^=]*)?[=,]|[\"'](\w+)[\"']\s*[:,]")
# Texts, and names in a docstring, that end on their line; a quote that is left begins a text, or is an apostrophe in one.
_CLOSED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`")
_QUOTES = frozenset("\"'`")
# An argument `x=1`, an attribute `.x = 1`, an annotated default `x: int = 1`, or a key `"x": 1`, with the value up to a comma.
_GIVEN = re.compile(
    r"""[(,\n.\"'](?:
    (?<=[(,\n])\s*(?P<argument>\w+)=(?!=)(?=(?P<a>[^\n,)]*))
    |(?<=\.)(?P<attribute>\w+)[ \t]*=(?!=)(?=(?P<b>[ \t]*\w*getattr\([^\n)]*\)|[^\n,]*))
    |(?<=[(,\n])\s*(?P<annotated>\w+)[ \t]*:(?:[^=\n:,\[]|\[[^\]\n]*\])+=(?!=)(?=(?P<c>[^\n,)]*))
    |(?<=[\"'])(?P<key>\w+)[\"'][ \t]*:(?=(?P<d>[^\n,}]*)))""",
    re.VERBOSE,
)
_NAMES = {"a": "argument", "b": "attribute", "c": "annotated", "d": "key"}  # by the groups of their values
_NOTHING = re.compile(r"(?:None|False|0|0\.0*|)")
_FIELD = re.compile(r"\w*[Ff]ield\(")
_READ = re.compile(
    r"""[\w.]+\.(\w+)|\w*getattr\([\w.]+,[ \t]*["'](\w+)["'](?:,[ \t]*(?:None|False|0|0\.0))?\)"""
)


def turned_on(text: str) -> Iterator[str]:
    """Yield the names to which a source gives True, and names beside them."""
    for match in _IS_TRUE.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[line : match.start() + 1]
        if not before.lstrip().startswith("#") and _QUOTES.isdisjoint(_CLOSED.sub("", before)):
            yield from (name or key for name, key in _NAMED.findall(before))


def given_values(text: str) -> tuple[set[str], set[tuple[str, str]]]:
    """Return the names to which a source gives more than None, False or zero, and attributes with the name of what they read.

    An argument with the value of its own name, ``f(x=x)`` or ``f(x=args.x)``, gives nothing new. The tree of a class
    tells more of its fields, so a default such as ``field(...)`` is left out.
    """
    given, read = set[str](), set[tuple[str, str]]()
    for match in _GIVEN.finditer(text):
        kind = match.lastgroup or ""
        value = match[kind].strip()
        name = match[_NAMES[kind]]
        origin = _origin(value) if kind in {"a", "b"} else ""
        if _NOTHING.fullmatch(value) or name in {value, origin} or (kind == "c" and _FIELD.match(value)):
            continue
        if origin and kind == "b":
            read.add((name, origin))
        else:
            given.add(name)
    return given, read


def _origin(value: str) -> str:
    """Return the name of the attribute that an expression reads, also by `getattr`; "" for other expressions."""
    found = _READ.fullmatch(value)
    return (found[1] or found[2]) if found is not None else ""
