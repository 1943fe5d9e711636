"""Tests of flags for debugging, measurement, capture or export: ``if self.verbose``, ``if os.environ.get("X_DEBUG")``.

The first are off unless a person looks on, so what they guard runs in no step of production. CUDA graphs are captured at start-up,
and models are exported once: ``if in_capture``, ``if torch.compiler.is_exporting()``.
"""

from __future__ import annotations

import ast
import functools
import re

from syncscan.check.infer.source.syntax import last_name

_DEBUGS = re.compile(
    r"""_*(.*_)?(debug(ging|ger)?|verbose|verbosity|bench(mark(ing)?)?|profil(er|ing))(_.*)?
    |_*(is|in|for|during)_(.*_)?(captur(e|ing) | export(ing)?) | _*(capturing|exporting)""",
    re.IGNORECASE | re.VERBOSE,
)
_READS_SETTINGS = frozenset({"get", "getenv", "isEnabledFor"})  # of an environment, or of a logger


def debugs(test: ast.expr, *, holds: bool) -> bool:
    """Return whether a test has this outcome for debugging, measurement or capture alone."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and _compares(test.left, test.ops[0], test.comparators[0]) is holds
    return holds and _is_flag(test)


def _compares(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    """Return the outcome of a comparison that debugging gives; None where the comparison asks something else."""
    if isinstance(operator, (ast.Gt, ast.GtE)):
        return True if _is_flag(left) else None
    if not isinstance(operator, (ast.Eq, ast.NotEq)) or not isinstance(right, ast.Constant):
        return None
    is_equal = isinstance(operator, ast.Eq)
    if _is_flag(left):
        return is_equal is _is_on(right.value)
    return is_equal if _is_named(str(right.value)) else None  # `level == "DEBUG"`


def _is_flag(node: ast.expr) -> bool:
    """Return whether an expression is a flag for debugging by its name, or by the name of the setting that it reads."""
    if isinstance(node, ast.Subscript):
        return _is_named(_text_of(node.slice))
    if isinstance(node, ast.Call) and last_name(node.func) in _READS_SETTINGS:
        return bool(node.args) and _is_named(_text_of(node.args[0]))
    asked = node.func if isinstance(node, ast.Call) else node
    if isinstance(asked, ast.Call) and last_name(asked.func) == "getattr" and len(asked.args) > 1:
        return _is_named(_text_of(asked.args[1]))  # `getattr(torch.compiler, "is_exporting", never)()`
    return _is_named(last_name(asked))


@functools.lru_cache(maxsize=4096)
def _is_named(name: str) -> bool:
    return _DEBUGS.fullmatch(name) is not None


def _text_of(node: ast.expr) -> str:
    """Return the text of a constant, or the last name of a path."""
    return str(node.value) if isinstance(node, ast.Constant) else last_name(node)


def _is_on(value: object) -> bool:
    """Return whether a constant turns a flag on; a flag of the environment is a string."""
    return bool(value) and str(value).lower() not in {"0", "false"}
