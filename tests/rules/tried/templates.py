"""Statements that the fixes rewrite, over operands of every kind: each a function of its operands that returns what it made."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.rules.tried.operands import DEVICES, DTYPES, KINDS


@dataclass(frozen=True)
class Case:
    """One statement and the operands that it gets; ``kinds`` names what it was drawn from."""

    kinds: str
    body: str
    operands: tuple[str, ...]

    @property
    def follows_a_device(self) -> bool:
        """Whether the caller chooses the device, so that it may be the CPU."""
        return not {"device", "E", "other", "other.device"}.isdisjoint(_names(self.body))

    def function(self, name: str) -> str:
        """The statement as a function, with a caller that shows what the operands are."""
        parameters = "".join(f"{letter}, " for letter in "vw"[: len(self.operands)])
        passed = "".join(f"{operand}, " for operand in self.operands)
        return (
            f"def {name}({parameters}device, other, v_dtype):\n    {self.body}\n    return y\n"
            f"def calls_{name}():\n    {name}({passed}'cuda', torch.ones(1, device='cuda'), torch.float32)\n"
        )


def _names(text: str) -> set[str]:
    words = "".join(
        letter if letter.isalnum() or letter in "_." else " " for letter in text.replace("device=", " ")
    )
    return set(words.split())


def _keywords(**given: str) -> str:
    return "".join(f", {name}={text}" for name, text in given.items() if text)


devices = st.sampled_from(DEVICES)
dtypes = st.sampled_from(DTYPES)


@st.composite
def constructors(draw: st.DrawFn) -> Case:
    """`torch.tensor` of host data, straight on the GPU (SYN301)."""
    kind = draw(st.sampled_from(["number", "list", "array", "tensor"]))
    data = draw(KINDS[kind])
    gradient = draw(st.sampled_from(["", "", "", "True"]))
    given = _keywords(dtype=draw(dtypes), device=draw(devices), requires_grad=gradient)
    written = draw(st.booleans())
    return Case(kind, f"y = torch.tensor({data if written else 'v'}{given})", (data,))


@st.composite
def repetitions(draw: st.DrawFn) -> Case:
    """`torch.tensor` of one number, again and again (SYN301)."""
    number = draw(st.sampled_from(["v", "0", "1", "0.5", "-1", "300", "True", "1e39"]))
    form = draw(
        st.sampled_from(["[{}]", "[{}] * w", "[[{}]] * w", "[{}] * 4", "[{}] * len(range(w))", "[{}] * 0"])
    )
    given = _keywords(dtype=draw(dtypes), device=draw(devices))
    operands = (draw(KINDS["number"]), draw(st.sampled_from(["3", "1", "0", "-1"])))
    return Case("repeated number", f"y = torch.tensor({form.format(number)}{given})", operands)


@st.composite
def lengths(draw: st.DrawFn) -> Case:
    """`torch.tensor` of what counts something (SYN301)."""
    number = draw(
        st.sampled_from(["len(w)", "v.shape[0]", "v.size(0)", "v.numel()", "v.dim()", "w.shape[0]"])
    )
    form = draw(
        st.sampled_from(["{}", "[{}]", "[{}] * len(w)", "[0.5] * {}", "[{}] * v.shape[0]", "[0] * {}"])
    )
    given = _keywords(dtype=draw(dtypes), device=draw(devices))
    shape = draw(st.sampled_from(["3", "0, 2", "300, 1", "2, 3"]))
    operands = (f"torch.zeros({shape})", draw(st.sampled_from(["[1, 2]", "[]", "np.zeros((2, 2))"])))
    return Case("length", f"y = torch.tensor({form.format(number)}{given})", operands)


_SOURCES = {
    "tensor": ["v", "v", "v + 1", "v.clone()", "v.contiguous()", "torch.cat([v, v])", "-v"],
    "pinned": ["v", "v", "v[:1]", "v.detach()"],
    "array": ["torch.from_numpy(v)", "torch.as_tensor(v)", "torch.tensor(v)", "torch.from_numpy(v).clone()", "torch.from_numpy(v) + 1"],
    "list": ["torch.tensor(v)", "torch.as_tensor(v)", "torch.tensor(v, dtype=torch.float32)", "torch.tensor([1, 2])"],
    "number": ["torch.tensor(v)", "torch.full((2,), v)", "torch.tensor(3, dtype=torch.int32)"],
    "factory": [
        "torch.zeros(2, 3)", "torch.ones(3, dtype=torch.int32)", "torch.arange(5)", "torch.arange(0, 1, 0.1)", "torch.eye(3)",
        "torch.full((2,), 7)", "torch.linspace(0, 1, 5)", "1 - torch.eye(3)[None]", "torch.arange(4).unsqueeze(0) * 2",
        "torch.zeros(2)[:, None] + torch.ones(3)", "torch.arange(3).float()", "torch.ones(2, 3).t()", "2 ** torch.arange(5)",
        "torch.empty(0)", "torch.zeros(2, requires_grad=True)", "torch.arange(len([1, 2]), dtype=v_dtype)", "torch.eye(2) @ torch.eye(2)",
    ],
}  # fmt: skip


@st.composite
def uploads(draw: st.DrawFn, *, non_blocking: str = "") -> Case:
    """A copy to the GPU, of a name or of what is made on the spot (SYN302; SYN303 with `non_blocking=True`)."""
    kind = draw(st.sampled_from([kind for kind in _SOURCES if kind != "pinned" or not non_blocking]))
    source = draw(st.sampled_from(_SOURCES[kind]))
    wrapped = source if source.isidentifier() or (source.endswith(")") and " " not in source.split("(")[0] and not any(o in source for o in (" + ", " - ", " * ", " ** ", " @ "))) else f"({source})"  # fmt: skip
    device = draw(devices)
    more = f", {non_blocking}" if non_blocking else ""
    way = draw(
        st.sampled_from(
            [f".to({device}{more})"] * 3
            + [f".to(device={device}{more})", f".to({device}, torch.float32{more})", f".to(other{more})"]
            + [
                f".cuda({more.removeprefix(', ')})",
                f".to({device}, dtype=v_dtype{more})",
                f".to({device}, copy=True{more})",
            ]
        )
    )
    operand = draw(KINDS[kind]) if kind in KINDS else "None"
    return Case(kind, f"y = {wrapped}{way}", (operand,))


@st.composite
def fills(draw: st.DrawFn, *, non_blocking: str = "") -> Case:
    """`copy_` of host memory into a GPU tensor (SYN302; SYN303 with `non_blocking=True`)."""
    kind = draw(st.sampled_from(["tensor", "pinned"] if not non_blocking else ["tensor"]))
    operand = draw(KINDS[kind])
    source = draw(st.sampled_from(_SOURCES[kind]))
    more = f", {non_blocking}" if non_blocking else ""
    body = f"y = torch.zeros(2, 3, dtype=v_dtype, device='cuda'); y.copy_({source}{more})"
    return Case(kind, body, (operand,))


@st.composite
def stores(draw: st.DrawFn) -> Case:
    """A number stored in one element or through an index tensor (SYN306), and a tensor stored in a row (SYN307)."""
    # No float8, as the page of the rule says: the GPU has no `index_fill_` of it (torch 2.11, H200).
    kind = draw(st.sampled_from(["number", "written number", "pinned", "tensor"]))
    value = "v" if kind != "written number" else draw(KINDS["number"])
    operand = draw(KINDS["number" if kind == "written number" else kind])
    shape, index = draw(
        st.sampled_from([("4", "1"), ("4", "-1"), ("4, 3", "1, 2"), ("4, 3", "1"), ("2, 4, 3", "0"), ("4", "w"), ("4, 3", "w"), ("4", "True"), ("4", "9")])
    )  # fmt: skip
    dtype = draw(st.sampled_from(["float32", "float16", "int64", "int8", "uint8", "bool", "complex64", "v"]))
    made = f"torch.zeros({shape}, dtype={'v_dtype' if dtype == 'v' else f'torch.{dtype}'}, device='cuda')"
    tail = draw(st.sampled_from(["", "", ".t()" if shape.count(",") == 1 else "", " * 1"]))
    rows = draw(KINDS["gpu index"])
    return Case(
        kind if index != "w" else f"{kind}, gpu index",
        f"y = {made}{tail}; y[{index}] = {value}",
        (operand, rows),
    )


@st.composite
def stacks(draw: st.DrawFn) -> Case:
    """`torch.tensor` of GPU scalars (SYN106)."""
    form = draw(st.sampled_from(["[v, w]", "[v]", "[v, w, v]", "[v * 2, w.sum()]"]))
    given = _keywords(dtype=draw(st.sampled_from(["", "", "torch.float32"])), device=draw(devices))
    return Case(
        "gpu scalar",
        f"y = torch.tensor({form}{given})",
        (draw(KINDS["gpu scalar"]), draw(KINDS["gpu scalar"])),
    )


@st.composite
def factorisations(draw: st.DrawFn) -> Case:
    """`torch.linalg.cholesky`, which raises an error for some matrices (SYN502)."""
    return Case("matrix", "y = torch.linalg.cholesky(v)", (draw(KINDS["matrix"]),))


TEMPLATES: dict[str, st.SearchStrategy[Case]] = {
    "SYN301 constructor": constructors(),
    "SYN301 repetition": repetitions(),
    "SYN301 length": lengths(),
    "SYN302 upload": uploads(),
    "SYN302 copy_": fills(),
    "SYN303 upload": uploads(non_blocking="non_blocking=True"),
    "SYN303 copy_": fills(non_blocking="non_blocking=True"),
    "SYN306, SYN307 store": stores(),
    "SYN106 stack": stacks(),
    "SYN502 factorisation": factorisations(),
}
