"""What is known of the names of one function at one point of it, by path: ``x``, ``self.x``, ``d["k"]``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from syncscan.check.infer.values.lattice import join
from syncscan.model import Value

Environment = dict[str, Value]
_JOINT = re.compile(r"[.\[]")


@dataclass(slots=True)
class Loop:
    """A loop that is being run, and what was known where its body was left by a statement for that."""

    broken: list[Environment] = field(default_factory=list)
    continued: list[Environment] = field(default_factory=list)


def join_environments(a: Environment | None, b: Environment | None) -> Environment:
    """What is known where two paths meet; a path that ended does not count."""
    if a is None or b is None:
        return dict(a or b or {})
    joined: Environment = {}
    for name, value in a.items():
        other = b.get(name)
        if other is None:
            if "." not in name and "[" not in name:
                joined[name] = value
        else:
            joined[name] = value if value is other else join(value, other)
    for name, value in b.items():
        if name not in a and "." not in name and "[" not in name:
            joined[name] = value
    return joined


def beginnings(path: str) -> list[str]:
    """The shorter paths with which a path begins: ``self`` and ``self.x`` of ``self.x[0]``."""
    return [path[: found.start()] for found in _JOINT.finditer(path)]
