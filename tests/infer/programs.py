"""Programs for the property tests: torch-ish Python that parses, and that nobody would write."""

from __future__ import annotations

import textwrap

from hypothesis import strategies as st

NAMES = ("x", "y", "t", "mask_gpu", "lens_cpu", "f", "g", "A", "B", "self", "cls", "m")
ATTRIBUTES = ("shape", "device", "forward", "__call__", "grad", "T", "x", "t", "is_cuda", "buf", "__enter__")
METHODS = (
    "item",
    "tolist",
    "cuda",
    "to",
    "view",
    "append",
    "items",
    "sum",
    "nonzero",
    "copy_",
    "__call__",
    "f",
)
FUNCTIONS = (
    'torch.zeros(3, device="cuda")',
    "torch.tensor([1, 2], device=d)",
    "torch.where(t)",
    "np.zeros(3)",
    "functools.partial(f, x)",
    "functools.partial(functools.partial, f)",
    "torch.device(d)",
    "super().__init__()",
    "type(x)(*y, **m)",
    "map(f, t)",
    "sorted(t, key=lambda g: g(g))",
    "A()",
    "B(A, f)()",
    "getattr(x, 'item')()",
    "nn.Module()",
    "dict(a=t, **m)",
    "list(zip(t, x))",
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "@", "&", "|", "<<", "==", "<", "is", "in", "and", "or", "is not")

name = st.sampled_from(NAMES)
attribute = st.builds("{}.{}".format, name, st.sampled_from(ATTRIBUTES))
subscript = st.builds(
    "{}[{}]".format, name, st.sampled_from(["0", "m", "t > 0", ":x", "..., None", "[1, 2]", "1, t"])
)
atom = st.one_of(
    name,
    st.sampled_from(
        ["1", "-2.5", '"cuda"', '"cuda:0"', "None", "True", "b'a'", "...", "[]", "{}", "()", "1j"]
    ),
    st.sampled_from(FUNCTIONS),
    attribute,
    subscript,
)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
        st.builds("(not {})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({}, *{})".format, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{{{}: {}, **{}}}".format, inner, inner, name),
        st.builds("{{{}, *{}}}".format, inner, inner),
        st.builds("({})({}, *{}, k={}, **{})".format, inner, inner, name, inner, name),
        st.builds("({}).{}({})".format, inner, st.sampled_from(METHODS), inner),
        st.builds("({}).{}".format, inner, st.sampled_from(ATTRIBUTES)),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({})[{}:{}]".format, inner, inner, inner),
        st.builds("(lambda {0}, *a, k={1}, **kw: {2})".format, name, inner, inner),
        st.builds("(lambda g: g(g))({})".format, inner),
        st.builds("[{0} for {1} in {2} if {0} for {3} in {1}]".format, inner, name, inner, name),
        st.builds("{{{}: {} for {} in {}}}".format, inner, inner, name, inner),
        st.builds("({} for {}, *{} in {})".format, inner, name, name, inner),
        st.builds("({} := {})".format, name, inner),
        st.builds('f"{{{}!r:>{{{}}}}}"'.format, name, name),
    )


expression = st.recursive(atom, _compound, max_leaves=5)
target = st.one_of(name, attribute, subscript, st.builds("({}, *{})".format, name, attribute))

simple = st.one_of(
    expression,
    st.builds("{} = {}".format, target, expression),
    st.builds("{} = {} = {}".format, target, target, expression),
    st.builds("{}: {} = {}".format, name, expression, expression),
    st.builds("{} {}= {}".format, st.one_of(name, attribute, subscript), st.sampled_from("+-*@"), expression),
    st.builds("del {}".format, st.one_of(name, attribute, subscript)),
    st.builds("assert {}, {}".format, expression, expression),
    st.builds("raise {} from {}".format, expression, name),
    st.sampled_from(
        ["pass", "import torch", "import numpy as np", "from .b import *", "from a import A as B"]
    ),
    st.sampled_from(
        ["f = lambda g: g(g)", "f(f)", "A.__call__ = A()", "A()()", "x = functools.partial(x, x)"]
    ),
    st.sampled_from(
        ["A.forward = A", "t = t.cuda()", "m = m, m", "x = [x]", "self.t = self", "from b import A, f"]
    ),
)


def _indent(body: str) -> str:
    return textwrap.indent(body, "    ")


def block_of(statement: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Some statements, indented."""
    return st.lists(statement, min_size=1, max_size=4).map("\n".join).map(_indent)


def _statement(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = block_of(inner)
    return st.one_of(
        st.builds("if {}:\n{}\nelif {}:\n{}\nelse:\n{}".format, expression, body, expression, body, body),
        st.builds("for {} in {}:\n{}\n    break\nelse:\n{}".format, target, expression, body, body),
        st.builds("while {}:\n{}\n    continue".format, expression, body),
        st.builds("with {} as {}, {}:\n{}".format, expression, target, expression, body),
        st.builds(
            "try:\n{}\nexcept {} as x:\n{}\nelse:\n{}\nfinally:\n{}".format, body, name, body, body, body
        ),
        st.builds("try:\n{}\nfinally:\n{}".format, body, body),
        st.builds(
            "match {}:\n    case [{}, *y]:\n    {}\n    case _:\n        pass".format, expression, name, name
        ),
        st.builds("match {}:\n    case A(x={}) if {}:\n        pass".format, expression, name, expression),
        st.builds("@{}\ndef {}({}, /, y={}, *a, **k):\n{}\n    return {}".format, *_function(body)),
        st.builds("def {}({}=None):\n    global x\n{}\n    yield {}".format, name, name, body, expression),
        st.builds(
            "def f():\n    x = {}\n    def g():\n        nonlocal x\n        x = f\n{}".format,
            expression,
            body,
        ),
        st.builds(
            "async def {}():\n    async for x in t:\n        await {}\n{}".format, name, expression, body
        ),
        st.builds("@{}\nclass {}({}):\n    x: {} = {}\n{}".format, *_class(body)),
        st.builds("class {}({}):\n{}".format, name, name, _methods(body)),
    )


def _function(body: st.SearchStrategy[str]) -> tuple[st.SearchStrategy[str], ...]:
    decorator = st.sampled_from(
        ["f", "property", "staticmethod", "torch.no_grad()", "x.setter", "classmethod"]
    )
    return decorator, name, name.filter("y".__ne__), expression, body, expression


def _class(body: st.SearchStrategy[str]) -> tuple[st.SearchStrategy[str], ...]:
    decorator = st.sampled_from(["dataclass", "f", "dataclasses.dataclass(frozen=True)"])
    return (
        decorator,
        name,
        st.sampled_from(["A, B", "nn.Module", "A[B]", "f()", "m.A"]),
        expression,
        expression,
        body,
    )


def _methods(body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    method = st.sampled_from(["__init__", "forward", "__call__", "__enter__", "f", "item"])
    one = st.builds("def {}(self, x, *y):\n{}\n    return {}".format, method, body, expression)
    return st.lists(one, min_size=1, max_size=2).map("\n".join).map(_indent)


statement = st.recursive(simple, _statement, max_leaves=4)
HEAD = "import torch, functools, dataclasses\nfrom torch import nn\nfrom dataclasses import dataclass\n"
program = st.lists(statement, min_size=1, max_size=8).map(lambda parts: HEAD + "\n".join(parts) + "\n")
