"""Operands of every kind that a fix may meet, as Python that makes one."""

from __future__ import annotations

from hypothesis import strategies as st

Text = st.SearchStrategy[str]

_TENSOR_DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
    "complex64",
]
_ARRAY_DTYPES = [
    "float64",
    "float32",
    "float16",
    "int64",
    "int32",
    "int8",
    "uint8",
    "uint16",
    "bool",
    "complex128",
]


def _made(form: str, **parts: list[str]) -> Text:
    return st.fixed_dictionaries({name: st.sampled_from(texts) for name, texts in parts.items()}).map(
        lambda chosen: form.format(**chosen)
    )


numbers = st.one_of(
    st.sampled_from(
        ["0", "1", "-1", "3", "300", "2**40", "0.0", "0.5", "-1.5", "1e5", "1e39", "1j", "True", "False"]
    ),
    st.sampled_from(
        ['float("nan")', 'float("inf")', "np.float64(0.5)", "np.int32(7)", "np.bool_(True)", "np.float16(2)"]
    ),
    st.integers(-200, 2**33).map(str),
    st.floats(-1e6, 1e6).map(repr),
)
lists = st.one_of(
    st.sampled_from(
        [
            "[]",
            "[[]]",
            "()",
            "[1, 2, 3]",
            "(1, 2)",
            "[[1, 2], [3, 4]]",
            "[0.5, 1]",
            "[True, False]",
            "[1j, 2]",
        ]
    ),
    st.sampled_from(
        [
            "[3] * 4",
            "[0] * 0",
            "[[1], [2]] * 2",
            "[np.float32(1), np.float32(2)]",
            "[np.ones(2), np.zeros(2)]",
        ]
    ),
    st.sampled_from(
        ["[torch.tensor(1), torch.tensor(2.5)]", "list(range(5))", "[1, [2]]", "[2**40, 1]", "[1e39]", "[-1]"]
    ),
    st.lists(st.integers(-5, 5), max_size=4).map(str),
)
arrays = st.one_of(
    _made(
        "np.arange(6).reshape(2, 3).astype(np.{dtype}){view}",
        dtype=_ARRAY_DTYPES,
        view=["", ".T", "[:, ::2]", "[:0]", "[::-1]", "[1]", "[..., None]"],
    ),
    _made("np.array({data})", data=["3", "2.5", "[]", "[[]]", "[1, 'a']", "[None]"]),
    st.sampled_from(
        [
            "np.broadcast_to(np.ones(1), (3,))",
            "np.asfortranarray(np.ones((2, 3)))",
            "np.frombuffer(b'1234', np.uint8)",
        ]
    ),
)
_VIEWS = ["", ".t()", "[:, ::2]", "[:0]", "[0]", "[0, 0]", "[..., None]"]
tensors = st.one_of(
    _made("torch.arange(6).reshape(2, 3).to(torch.{dtype}){view}", dtype=_TENSOR_DTYPES, view=_VIEWS),
    st.sampled_from(
        ["torch.ones(1).expand(3)", "torch.ones(2, 1).expand(2, 3)", "torch.tensor(2.0)", "torch.zeros(0, 3)"]
    ),
    st.sampled_from(
        ["torch.ones(2, 3, requires_grad=True)", "(torch.ones(2, 3, requires_grad=True) * 2)[:, 1:]"]
    ),
    st.sampled_from(
        ["torch.ones(2, 3, 2, 2).to(memory_format=torch.channels_last)", "torch.tensor([1 + 2j, 3j]).conj()"]
    ),
)
pinned_tensors = st.one_of(
    _made(
        "torch.arange(6).reshape(2, 3).to(torch.{dtype}).pin_memory(){view}",
        dtype=_TENSOR_DTYPES,
        view=_VIEWS,
    ),
    st.sampled_from(
        [
            "torch.ones(2, pin_memory=True).expand(3, 2)",
            "torch.zeros(0, pin_memory=True)",
            "torch.ones(1, 3, pin_memory=True)",
        ]
    ),
    st.just("torch.ones(2, 3, pin_memory=True, requires_grad=True)"),
)
gpu_scalars = st.one_of(
    _made(
        "torch.tensor({number}, device='cuda').to(torch.{dtype})",
        number=["1", "2.5", "0"],
        dtype=_TENSOR_DTYPES,
    ),
    st.sampled_from(
        [
            "torch.ones((), device='cuda', requires_grad=True)",
            "torch.ones(1, device='cuda')",
            "torch.ones(3, device='cuda').sum()",
        ]
    ),
)
gpu_tensors = _made(
    "torch.zeros({shape}, dtype=torch.{dtype}, device='cuda')",
    shape=["4", "(4, 3)", "(2, 4, 3)"],
    dtype=_TENSOR_DTYPES,
)
gpu_indices = _made(
    "torch.tensor({rows}, device='cuda').to(torch.{dtype})",
    rows=["[1, 0]", "[-1]", "[]", "[1, 1]"],
    dtype=["int64", "int64", "int32", "uint8", "bool"],
)
matrices = st.sampled_from(
    ["torch.eye(3, device='cuda')", "-torch.eye(3, device='cuda')", "torch.zeros(2, 3, 3, device='cuda')"]
)

KINDS: dict[str, Text] = {
    "number": numbers,
    "list": lists,
    "array": arrays,
    "tensor": tensors,
    "pinned": pinned_tensors,
    "gpu scalar": gpu_scalars,
    "gpu tensor": gpu_tensors,
    "gpu index": gpu_indices,
    "matrix": matrices,
}
DEVICES = ["'cuda'", "'cuda:0'", "torch.device('cuda')", "D", "other.device", "device", "E", "0"]
DTYPES = [
    "",
    "",
    "torch.float32",
    "torch.float16",
    "torch.int64",
    "torch.int32",
    "torch.uint8",
    "torch.bool",
    "torch.complex64",
    "v_dtype",
]
