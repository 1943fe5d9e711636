"""The environment of an evaluation: going back, and meeting, as copies of it would."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscan.check.infer.evaluate.environment import Environment
from syncscan.check.infer.values.basic import CPU_TENSOR, NONE, NUMBER, STRING
from syncscan.check.infer.values.lattice import join
from syncscan.model import Value

Plain = dict[str, Value]
paths = st.sampled_from(["x", "y", "x.a", "x.a.b", "x[0]", "y['k']"])
values = st.sampled_from([NONE, NUMBER, STRING, CPU_TENSOR])
binds = st.tuples(st.just("bind"), paths, values)
forgets = st.tuples(st.just("forget"), paths)
forks = st.deferred(lambda: st.tuples(st.just("fork"), st.lists(bodies, min_size=1, max_size=4)))
backs = st.deferred(lambda: st.tuples(st.just("back"), bodies))
bodies = st.lists(st.one_of(binds, forgets, forks, backs), max_size=5)


def run(env: Environment, body: list) -> None:
    for what, *rest in body:
        if what == "bind":
            env.forget_inside(rest[0])
            env[rest[0]] = rest[1]
        elif what == "forget":
            env.forget(rest[0])
        else:
            ends = []
            for branch in rest[0] if what == "fork" else [rest[0]]:
                start = env.begin()
                run(env, branch)
                ends.append(env.rewind(start))
            if what == "fork":
                env.apply(env.meet(*ends))


def run_on_copies(env: Plain, body: list) -> Plain:
    env = dict(env)
    for what, *rest in body:
        if what == "bind":
            inside = [path for path in env if path.startswith((f"{rest[0]}.", f"{rest[0]}["))]
            for path in inside:
                del env[path]
            env[rest[0]] = rest[1]
        elif what == "forget":
            env.pop(rest[0], None)
        elif what == "fork":
            env = functools.reduce(joined, [run_on_copies(env, branch) for branch in rest[0]])
    return env


def joined(a: Plain, b: Plain) -> Plain:
    both = {path: join(a[path], b[path]) for path in a if path in b}
    return both | {
        path: value for path, value in [*a.items(), *b.items()] if path in "xy" and path not in both
    }


@pytest.mark.long
@given(bodies)
def test_branches_leave_what_copies_of_the_environment_would(body: list) -> None:
    env = Environment()
    run(env, body)
    assert dict(env) == run_on_copies({}, body)


@pytest.mark.parametrize("names", [0, 1000])
def test_a_branch_costs_what_it_binds(names: int) -> None:
    env = Environment()
    for number in range(names):
        env[f"x{number}"] = NUMBER
    start = env.begin()
    env["y"] = STRING
    assert env.rewind(start) == {"y": STRING}
    assert len(env) == names
