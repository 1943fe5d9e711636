"""Operations that the project registers with torch, and those whose measured stub says that they do not block."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import assert_the_wait_decides, proved, proved_files

REGISTRATIONS = {
    "a library": 'lib = torch.library.Library("own", "FRAGMENT")\nlib.impl("scale", scale, "CUDA")',
    "a helper": 'direct_register_custom_op(op_name="scale", op_func=scale, fake_impl=fake)',
    "the whole name": 'torch.library.impl("own::scale", "CUDA", scale)',
}


@pytest.mark.parametrize("registration", REGISTRATIONS.values(), ids=REGISTRATIONS)
def test_an_operation_runs_what_the_project_registers(registration: str) -> None:
    lines = registration.replace("\n", "\n        ")
    assert_the_wait_decides(f"""
        mine = torch.library.Library("own", "FRAGMENT")
        def direct_register_custom_op(op_name, op_func, fake_impl=None, target=None):
            library = target or mine
            library.define(op_name + "(Tensor x) -> Tensor")
            library.impl(op_name, op_func, dispatch_key="CUDA")
        def scale(x: torch.Tensor) -> torch.Tensor:
            torch.cuda.synchronize()
            return x
        def fake(x: torch.Tensor) -> torch.Tensor:
            return torch.zeros(int(x.sum()))
        {lines}
        def step(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.own.scale(x)
    """)


def test_a_decorator_registers_an_operation() -> None:
    assert_the_wait_decides("""
        @torch.library.custom_op("own::scale", mutates_args=())
        def scale(x: torch.Tensor) -> torch.Tensor:
            torch.cuda.synchronize()
            return x
        @scale.register_fake
        def _(x: torch.Tensor) -> torch.Tensor:
            return torch.zeros(int(x.sum()))
        def step(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.own.scale.default(x)
    """)


def test_the_answer_says_that_the_registration_is_all_there_is() -> None:
    certificate = proved_files(
        {
            "kernels": """
            def scale(x: torch.Tensor) -> torch.Tensor:
                return x * 2
            torch.library.impl("own::scale", "CUDA", scale)
            """,
            "program": """
            def step(x: torch.Tensor) -> torch.Tensor:
                return torch.ops.own.scale(x)
            """,
        },
        entry="program:step",
    )
    assert certificate.is_proved
    assert any("torch.ops.own.scale" in each for each in certificate.assumptions)


@pytest.mark.parametrize(
    "registration",
    [
        'torch.library.impl("own::other", "CUDA", scale)',
        'torch.library.register_fake("own::scale", scale)',
        'print("scale", scale)',
        'def later():\n            torch.library.impl("own::scale", "CUDA", scale)',
    ],
)
def test_an_operation_that_nothing_registers_is_unknown(registration: str) -> None:
    assert not proved(f"""
        def scale(x: torch.Tensor) -> torch.Tensor:
            return x * 2
        {registration}
        def step(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.own.scale(x)
    """).is_proved


def test_a_measured_stub_is_an_assumption() -> None:
    certificate = proved("""
        def step(x: torch.Tensor, out: torch.Tensor, weight: torch.Tensor) -> None:
            torch.ops._C.rms_norm(out, x, weight, 1e-5)
    """)
    assert certificate.is_proved
    assert any("torch.ops._C.rms_norm" in each for each in certificate.assumptions)


def test_a_measured_stub_says_what_is_read() -> None:
    program = """
        def step(x: torch.Tensor, out: torch.Tensor, epsilon: {}) -> None:
            torch.ops._C.rms_norm(out, x, None, epsilon)
    """
    assert proved(program.format("float")).is_proved
    assert not proved(program.format("torch.Tensor")).is_proved


def test_a_stub_that_was_only_reviewed_proves_nothing() -> None:
    assert not proved("""
        from flash_attn import flash_attn_func
        def step(x: torch.Tensor) -> torch.Tensor:
            return flash_attn_func(x, x, x)
    """).is_proved


FAST_AND_SLOW = """
        from torch.library import Library, custom_op
        lib = Library("own", "FRAGMENT")
        other = Library("other", "FRAGMENT")
        NAME = "scale"
        def fast(x: torch.Tensor) -> torch.Tensor:
            return x * 2
        def slow(x: torch.Tensor) -> torch.Tensor:
            torch.cuda.synchronize()
            return x
        def made(function):
            return slow
        {}
        def step(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.own.scale(x)
"""


@pytest.mark.parametrize(
    "registrations",
    [
        'lib.impl("scale", fast, "CPU")\nif torch.cuda.is_available():\n    lib.impl("scale", slow, "CUDA")',
        'lib.impl("scale", fast, "CPU")\nresult = lib.impl("scale", slow, "CUDA")',
        'lib.impl("scale", fast, "CPU")\nlib.impl("scale", made(fast), "CUDA")',
        'lib.impl("scale", fast, "CPU")\nlib.impl(NAME, slow, "CUDA")',
        'lib.impl("scale", fast, "CPU")\nlib.impl("scale", lambda x: slow(x), "CUDA")',
        'fast = made(fast)\nlib.impl("scale", fast, "CUDA")',
        'other.impl("scale", fast, "CUDA")',
        'lib.impl("scale.out", fast, "CUDA")',
        '@custom_op("own::scale", mutates_args=())\ndef scale(x: torch.Tensor) -> torch.Tensor:\n    return x\nscale.register_kernel("cuda")(slow)',
        '@custom_op("own::scale", mutates_args=(), device_types="cpu")\ndef scale(x: torch.Tensor) -> torch.Tensor:\n    return x',
        'def register_custom_op(name, function):\n    def inner(x):\n        return slow(x)\n    lib.impl(name, inner)\nregister_custom_op("scale", fast)',
    ],
)
def test_a_registration_that_is_not_understood_leaves_the_operation_unknown(registrations: str) -> None:
    assert not proved(FAST_AND_SLOW.format(registrations.replace("\n", "\n        "))).is_proved


def test_one_that_is_understood_is_proved() -> None:
    assert proved(FAST_AND_SLOW.format('lib.impl("scale", fast, "CUDA")')).is_proved


def test_torch_reads_a_tensor_that_is_given_for_a_number() -> None:
    program = """
        @torch.library.custom_op("own::scale", mutates_args=())
        def scale(x: torch.Tensor, n: int) -> torch.Tensor:
            return x
        def step(x: torch.Tensor, n: int) -> torch.Tensor:
            return torch.ops.own.scale(x, {})
    """
    assert proved(program.format("n")).is_proved
    assert not proved(program.format("x.sum()")).is_proved


def test_a_project_may_register_an_operation_that_a_stub_describes() -> None:
    assert not proved("""
        lib = torch.library.Library("_C", "FRAGMENT")
        def slow(result: torch.Tensor, input: torch.Tensor) -> None:
            torch.cuda.synchronize()
        lib.impl("silu_and_mul", slow, "CUDA")
        def step(x: torch.Tensor, out: torch.Tensor) -> None:
            torch.ops._C.silu_and_mul(out, x)
    """).is_proved


def test_another_file_may_prepare_a_backward_pass() -> None:
    files = {
        "program": """
        @torch.library.custom_op("own::scale", mutates_args=())
        def scale(x: torch.Tensor) -> torch.Tensor:
            return x * 2
        def step(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.own.scale(x)
        """,
        "backward": """
        def setup(ctx, inputs, output):
            torch.cuda.synchronize()
        torch.library.{}("own::scale", lambda ctx, grad: grad, setup_context=setup)
        """,
    }
    assert proved_files({"program": files["program"]}, entry="program:step").is_proved
    files["backward"] = files["backward"].format("register_autograd")
    assert not proved_files(files, entry="program:step").is_proved


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("register_custom_op", "register_custom_op"),
        ("register_custom_op as go", "go"),
        ("register_custom_op\ngo = register_custom_op", "go"),
        ("own_custom_op\ngo = own_custom_op", "go"),
        ("mine\ngo = mine.impl", "go"),
        (
            "identity\ndef bind():\n    global go\n    from helper import register_custom_op as go\nbind()",
            "go",
        ),
    ],
)
def test_a_helper_under_another_name_may_register_any_operation(imported: str, called: str) -> None:
    helper = """
mine = torch.library.Library("own", "FRAGMENT")
def register_custom_op(op_name, op_func):
    mine.impl(op_name, op_func, dispatch_key="CUDA")
def own_custom_op(op_name, op_func):
    mine.impl(op_name, op_func)
def identity(x: torch.Tensor) -> torch.Tensor:
    return x
register_custom_op("scale", identity)
"""
    program = f"""
from helper import {imported}
def scale(x: torch.Tensor) -> torch.Tensor:
    torch.cuda.synchronize()
    return x
{called}("scale", scale)
def step(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.own.scale(x)
"""
    assert not proved_files({"helper": helper, "program": program}, entry="program:step").is_proved


PARTIAL = """
import functools
theirs = torch.library.Library("theirs", "FRAGMENT")
mine = torch.library.Library("own", "FRAGMENT")
def register_custom_op(op_name, op_func, target_lib=mine):
    target_lib.impl(op_name, op_func, dispatch_key="CUDA")
def scale(x: torch.Tensor) -> torch.Tensor:
    {body}
def other(x: torch.Tensor) -> torch.Tensor:
    return x
register_their_op = {partial}
register_their_op({arguments})
register_custom_op("other", other)
def step(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.{operation}(x)
{more}
"""
PLAIN = {
    "more": "",
    "body": "return x",
    "partial": "functools.partial(register_custom_op, target_lib=theirs)",
    "arguments": 'op_name="scale", op_func=scale',
    "operation": "theirs.scale",
}
WAITS = {"body": "torch.cuda.synchronize(); return x"}


@pytest.mark.parametrize(
    ("changed", "is_proved"),
    [
        ({}, True),
        (WAITS, False),
        ({**WAITS, "operation": "own.other"}, True),
        ({"partial": "functools.partial(register_custom_op, op_func=scale)"}, False),
        ({"partial": 'functools.partial(register_custom_op, "scale")', "arguments": "scale"}, False),
        ({"partial": "functools.partial(register_custom_op, **options)"}, False),
        ({"arguments": "name, scale", "operation": "own.other"}, False),
        ({"partial": "make.partial(register_custom_op, target_lib=theirs)", "operation": "own.other"}, False),
        ({"operation": "own.other", "more": 'globals()["register_their_op"]("other", slow)'}, False),
        ({"operation": "own.other", "more": "sys.modules[__name__].register_their_op('other', slow)"}, False),
        ({"operation": "own.other", "more": "def functools(): pass"}, False),
        ({"operation": "own.other", "more": "import mine as functools"}, False),
        ({"operation": "own.other", "more": "match print:\n    case register_their_op: pass"}, False),
        ({"partial": f"{PLAIN['partial']}\nlater = register_their_op", "operation": "own.other"}, False),
        ({"partial": f"{PLAIN['partial']}\nregister_their_op = print", "operation": "own.other"}, False),
    ],
)
def test_a_partial_of_a_helper_registers_as_the_helper_does(changed: dict[str, str], is_proved: bool) -> None:
    program = PARTIAL.format_map({**PLAIN, **changed})
    assert proved_files({"program": program}, entry="program:step").is_proved is is_proved


def test_a_partial_that_another_file_names_may_register_any_operation() -> None:
    files = {"program": PARTIAL.format_map({**PLAIN, "operation": "own.other"})}
    assert proved_files(files, entry="program:step").is_proved
    files["more"] = """
from program import register_their_op
def slow(x):
    torch.cuda.synchronize()
register_their_op("other", slow)
"""
    assert not proved_files(files, entry="program:step").is_proved


def test_a_helper_that_registers_twice_registers_anything() -> None:
    program = """
mine = torch.library.Library("own", "FRAGMENT")
def register_custom_op(op_name, op_func, gpu_func):
    mine.impl(op_name, op_func, "CPU")
    mine.impl(op_name, gpu_func, "CUDA")
def fast(x: torch.Tensor) -> torch.Tensor:
    return x
def slow(x: torch.Tensor) -> torch.Tensor:
    torch.cuda.synchronize()
    return x
register_custom_op("other", fast, slow)
def step(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.own.other(x)
"""
    assert not proved_files({"program": program}, entry="program:step").is_proved


@pytest.mark.parametrize("call", ['op_name="other", op_func=slow', '"other", slow'])
def test_a_helper_of_another_package_may_register_any_operation(call: str) -> None:
    program = f"""
from elsewhere import register_custom_op
mine = torch.library.Library("own", "FRAGMENT")
def fast(x: torch.Tensor) -> torch.Tensor:
    return x
def slow(x: torch.Tensor) -> torch.Tensor:
    torch.cuda.synchronize()
    return x
mine.impl("other", fast, "CPU")
register_custom_op({call})
def step(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.own.other(x)
"""
    assert not proved_files({"program": program}, entry="program:step").is_proved
