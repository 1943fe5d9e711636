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
# Arguments and variables: `x=1`, `x = 1`, `x: int = 1`; with the value up to a comma.
_ARGUMENTS = re.compile(r"[(,\n]\s*(\w+)[ \t]*(?::(?:[^=\n:,\[]|\[[^\]\n]*\])+)?=(?!=)(?=[ \t]*([^\n,)]*))")
# Attributes: `.x = 1`, `.x: int = 1`, `.x += 1`; with the value up to the end of the line.
_ATTRIBUTES = re.compile(
    r"\.(\w+)[ \t]*(?::[^=\n]+)?([-+*/%@&|^<>]*)=(?!=)[ \t]*(\w*getattr\([^\n]*\)|[^\n#]*)"
)
_KEYS = re.compile(r"[\"'](\w+)[\"'][ \t]*:(?=[ \t]*([^\n,}]*))")
_FLAGS = re.compile(r"\.add_argument\([^)]*?[\"']--([\w.-]+)[\"'][^)]*?\bdefault=([^\n,)]*)")
# Names that get some value: `a, b.x = 1, 2`, `setattr(a, "x", 1)`, `a["x"] = 1`, `with f() as a.x`, `for a.x in b`.
_SEVERAL = re.compile(r"\n[ \t]*([\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)[ \t]*=(?!=)")
_OTHERS = (  # each begins with a fixed text, for which the search is fast
    re.compile(r"setattr\([^\n,]+,\s*[\"'](\w+)"),
    re.compile(r"\[[\"'](\w+)[\"']\][ \t]*[-+*/|&]?=(?!=)"),
    re.compile(r"as(?<!\was)[ \t]+[\w.]*\.(\w+)"),
    re.compile(r"for(?<!\wfor)[ \t]+[\w.]*\.(\w+)"),
)
_NOTHING = re.compile(r"None|False|0|0\.0*")
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

    A name that gets the value of its own name, ``f(x=x)`` or ``self.x = args.x``, gets nothing new. The tree of a class
    tells more of its fields, so a default such as ``field(...)`` is left out.
    """
    given, read = set(_others_given(text)), set[tuple[str, str]]()
    for name, value in _ARGUMENTS.findall(text):
        if not _is_nothing(name, value) and not _FIELD.match(value):
            given.add(name)
    for name, operator, value in _ATTRIBUTES.findall(text):
        origin = "" if operator else _origin(value.strip())
        if origin and origin != name:
            read.add((name, origin))
        elif operator or not _is_nothing(name, value):
            given.add(name)
    return given, read


def _others_given(text: str) -> Iterator[str]:
    """Yield names that get a value by a key, a flag, or in a form whose value is not asked for."""
    yield from (name for name, value in _KEYS.findall(text) if not _is_nothing(name, value))
    for flag, value in _FLAGS.findall(text):
        if not _is_nothing(flag, value):
            yield flag.rpartition(".")[2].replace("-", "_")
    for targets in _SEVERAL.findall(text):
        yield from (each.strip().rpartition(".")[2] for each in targets.split(","))
    yield from (name for form in _OTHERS for name in form.findall(text))


def _is_nothing(name: str, value: str) -> bool:
    """Return whether a value is None, False or zero, or that of the same name."""
    value = value.strip()
    return _NOTHING.fullmatch(value) is not None or name in {value, _origin(value)}


def _origin(value: str) -> str:
    """Return the name of the attribute that an expression reads, also by `getattr`; "" for other expressions."""
    found = _READ.fullmatch(value)
    return (found[1] or found[2]) if found is not None else ""
