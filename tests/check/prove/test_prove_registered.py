"""Operations that the project registers with torch, and those whose measured stub says that they do not block."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import assert_the_wait_decides, proved, proved_files

REGISTRATIONS = {
    "a library": 'library = torch.library.Library("own", "FRAGMENT")\nlibrary.impl("scale", scale, "CUDA")',
    "a helper": 'direct_register_custom_op(op_name="scale", op_func=scale, fake_impl=fake)',
    "the whole name": 'torch.library.impl("own::scale", "CUDA", scale)',
}


@pytest.mark.parametrize("registration", REGISTRATIONS.values(), ids=REGISTRATIONS)
def test_an_operation_runs_what_the_project_registers(registration: str) -> None:
    lines = registration.replace("\n", "\n        ")
    assert_the_wait_decides(f"""
        from helpers import direct_register_custom_op
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
