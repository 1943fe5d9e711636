"""What is known of the names of one function at one point of it, by path: ``x``, ``self.x``, ``d["k"]``."""

from __future__ import annotations

from dataclasses import dataclass, field

from syncscan.check.infer.values.lattice import join
from syncscan.model import Value

Environment = dict[str, Value]


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


def forget_inside(env: Environment, path: str) -> None:
    """Forget what was known of longer paths, whose beginning is bound anew."""
    stale = [
        known for known in env if known.startswith(path) and known[len(path) : len(path) + 1] in {".", "["}
    ]
    for known in stale:
        del env[known]
