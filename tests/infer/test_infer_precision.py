"""Where the analysis stays silent, and where it does not, on the smallest programs that once misled it.

Every line of a program that has to be reported ends in ``# expect: CODE``; no other line may be.
"""

from __future__ import annotations

import re
import textwrap

from syncscan.config import DEFAULT_CONFIDENCE
from tests.texts import check_texts


def check_marks(program: str, **beside: str) -> None:
    """Compare the findings in a program with the marks in it; ``beside`` are other files of its project."""
    text = textwrap.dedent(program)
    marks = [
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        for code in re.findall(r"# expect: (\w+)", line)
    ]
    result = check_texts(text, **{name: textwrap.dedent(content) for name, content in beside.items()})
    findings = [
        finding
        for finding in result.findings
        if finding.path == "a.py" and finding.confidence >= DEFAULT_CONFIDENCE
    ]
    assert [(finding.line, finding.code) for finding in findings] == marks


def test_a_lambda_that_may_be_another_function_is_evaluated() -> None:
    check_marks(
        """
        import torch

        def double(t):
            return t * 2

        def run(fast: bool):
            apply = double if fast else (lambda t: t.sum())
            apply(torch.ones(4, device="cuda"))
            return torch.ones(4, device="cuda").sum().item()  # expect: SYN101
        """
    )


def test_a_tuple_of_slices_is_no_list_of_indices() -> None:
    check_marks(
        """
        import torch

        def crop(axis: int, size: int):
            rows = torch.zeros((8, 4), device="cuda")
            window = [slice(None)] * rows.dim()
            window[axis] = slice(size)
            part = rows[tuple(window)]
            parts = tuple(slice(0, n) for n in rows.shape)
            part = rows[parts]
            rows[parts] = 0.0
            return rows[list(range(size))]  # expect: SYN305
        """
    )


def test_a_tuple_of_lists_holds_indices() -> None:
    check_marks(
        """
        import torch

        def pick(columns: list[int]):
            rows = torch.zeros((8, 4), device="cuda")
            return rows[tuple([columns] * 2)]  # expect: SYN305
        """
    )


def test_an_index_of_dtype_uint8_is_a_mask() -> None:
    check_marks(
        """
        import torch

        def select():
            rows = torch.zeros((8, 4), device="cuda")
            chosen = torch.zeros(8, dtype=torch.uint8, device="cuda")
            kept = rows[chosen]  # expect: SYN201
            kept = rows[chosen.int().byte()]  # expect: SYN201
            rows[chosen] = 0.0
            rows[chosen.long()] = 0.0  # expect: SYN306
            return rows[torch.zeros(8, dtype=torch.uint8)]
        """
    )


def test_an_empty_tensor_is_not_copied() -> None:
    check_marks(
        """
        import torch

        nothing = torch.tensor([], dtype=torch.int8, device="cuda")
        one = torch.tensor([0], dtype=torch.int8, device="cuda")  # expect: SYN301
        """
    )


def test_the_text_of_an_error_may_wait() -> None:
    check_marks(
        """
        import torch

        def guard(strict: bool, n: int):
            error = torch.ones(4, device="cuda").sum()
            assert n > 0, f"off by {error.item()}"
            if strict:
                raise ValueError(f"off by {error}, at most {error.max().item()}")
            assert error < 1, "too far off"  # expect: SYN104
        """
    )


def test_a_device_that_is_the_host_unless_someone_says_so() -> None:
    check_marks(
        """
        import torch

        class Pool:
            def __init__(self, size: int, device: str = "cpu"):
                self.rows = torch.zeros(size, device=device)

            def first(self):
                return self.rows[0].item()

        class GpuPool:
            def __init__(self, size: int, device: str = "cuda"):
                self.rows = torch.zeros(size, device=device)

            def first(self):
                return self.rows[0].item()  # expect: SYN101
        """
    )


def test_a_device_that_callers_name() -> None:
    check_marks(
        """
        import torch

        def make(size: int, device: str):
            return torch.zeros(size, device=device)

        def made_here(size: int, device: str = "cpu"):
            return torch.zeros(size, device=device)

        make(4, "cpu").sum().item()
        made_here(4, "cuda").sum().item()  # expect: SYN101
        """
    )


def test_a_helper_works_where_its_arguments_live() -> None:
    check_marks(
        """
        import torch

        def pad(t: torch.Tensor, size: int):
            return torch.cat([t, t.new_zeros(size - t.shape[0])])

        def run():
            on_host = pad(torch.ones(4), 8)
            on_gpu = pad(torch.ones(4, device="cuda"), 8)
            on_host.sum().item()
            on_gpu.sum().item()  # expect: SYN101
        """
    )


def test_a_helper_that_downloads_returns_to_the_host() -> None:
    check_marks(
        """
        import torch

        def fetch(t: torch.Tensor):
            return t.cpu() if t.is_cuda else t  # expect: SYN105

        def run():
            fetch(torch.ones(4)).sum().item()
            fetch(torch.ones(4, device="cuda")).sum().item()
        """
    )


def test_what_a_while_loop_tested_is_known_behind_it() -> None:
    check_marks(
        """
        import torch

        def fetched():
            x = torch.zeros(1, device="cuda")
            while x.is_cuda:
                x = x.to("cpu", non_blocking=True)
            x.item()

        def left(stop: bool):
            x = torch.zeros(1, device="cuda")
            while x.is_cuda:
                if stop:
                    break
                x = x.to("cpu", non_blocking=True)
            x.item()  # expect: SYN101

        def endless(stop: bool):
            x = torch.zeros(1)
            while True:
                if stop:
                    x = torch.zeros(1, device="cuda")
                    break
            x.item()  # expect: SYN101
        """
    )


def test_the_else_of_a_loop_does_not_run_after_a_break() -> None:
    check_marks(
        """
        import torch

        def search(rows: list[int]):
            found = torch.zeros(1, device="cuda")
            for row in rows:
                if row:
                    break
            else:
                found = torch.zeros(1)
                found.item()
            found.item()  # expect: SYN101

        def only_else(rows: list[int]):
            found = torch.zeros(1, device="cuda")
            for row in rows:
                if row:
                    return found
            else:
                found = torch.zeros(1)
            return found.item()
        """
    )


def test_every_statement_of_a_class_body_sets_attributes() -> None:
    check_marks(
        """
        import sys

        import torch

        t = torch.zeros(1)

        class Limits:
            if sys.platform == "linux":
                t = torch.zeros(1, device="cuda")
            else:
                t = torch.zeros(2, device="cuda")

            class Inner:
                low = torch.zeros(1, device="cuda")

                def read(self):
                    return self.low.item()  # expect: SYN101

            def read(self):
                return self.t.item()  # expect: SYN101

        def read():
            return t.item()
        """
    )


def test_a_guard_of_a_case_is_tested_and_its_pattern_binds() -> None:
    check_marks(
        """
        import torch

        def choose(mode: int, x: torch.Tensor | None):
            flag = torch.zeros(1, device="cuda")
            row = torch.zeros(1, device="cuda")
            rest = torch.zeros(1, device="cuda")
            match mode:
                case 1 if flag.any():  # expect: SYN104
                    return 1
                case row:
                    return row.item()

        def parts(pair: tuple[torch.Tensor, torch.Tensor]):
            match (torch.zeros(1), torch.zeros(1, device="cuda")):
                case (a, b):
                    a.item()
                    b.item()  # expect: SYN101
        """
    )


def test_decorators_and_defaults_are_evaluated() -> None:
    check_marks(
        """
        import torch

        x = torch.zeros(1, device="cuda")

        def times(count):
            return lambda function: function

        @times(x.item())  # expect: SYN101
        def step(count=x.item()):  # expect: SYN101
            return count

        @times(
            count=x.item(),  # expect: SYN101
        )
        class Runner:
            @times(x.item())  # expect: SYN101
            async def step(self): return 1
        """
    )


def test_a_global_is_what_any_function_makes_it() -> None:
    check_marks(
        """
        import torch

        buf = torch.zeros(3)
        made = None
        host = None

        def setup():
            global buf, made, host
            buf = torch.zeros(3, device="cuda")
            made = torch.zeros(3, device="cuda")
            host = torch.zeros(3)

        def other():
            buf = torch.zeros(3)
            host = torch.zeros(3, device="cuda")
            buf.item()

        def step():
            buf.item()  # expect: SYN101
            host.item()
            declared_by_setup_late.item()  # expect: SYN101
            if made is not None:
                made.item()  # expect: SYN101

        def setup_late():
            global declared_by_setup_late
            declared_by_setup_late = torch.zeros(3, device="cuda")
        """
    )


def test_a_nested_function_rebinds_a_variable_of_the_outer_one() -> None:
    check_marks(
        """
        import torch

        def run():
            t = None
            kept = torch.zeros(3)

            def put():
                nonlocal t
                kept = torch.zeros(3, device="cuda")
                t = torch.zeros(3, device="cuda")

            def read():
                return t.item()  # expect: SYN101

            put()
            if t is not None:
                t.item()  # expect: SYN101
            kept.item()
        """
    )


def test_a_name_that_says_host_decides_where_paths_disagree() -> None:
    check_marks(
        """
        import torch

        class Batch:
            lens_cpu: torch.Tensor | None = None

            def fill(self, other: "Batch", fast: bool):
                lens = torch.ones(4) if fast else torch.ones(4, device="cuda")
                self.lens_cpu = lens

            def most(self):
                return self.lens_cpu.max().item()
        """
    )


def test_a_name_that_says_gpu_takes_no_evidence_away() -> None:
    check_marks(
        """
        import torch

        def run(fast: bool):
            rows = torch.ones(4, device="cuda") if fast else torch.ones(4)
            rows_gpu = rows
            return rows_gpu.sum().item()  # expect: SYN101
        """
    )


def test_what_is_made_of_an_array_is_like_it_even_if_a_caller_passes_a_list() -> None:
    check_marks(
        """
        import numpy as np
        import torch

        def kept(counts: np.ndarray):
            mask = torch.from_numpy(counts >= 0)
            return torch.zeros(3, device="cuda")[mask]

        kept(np.zeros(3))
        kept([1, 2])
        """
    )


def test_isinstance_tells_the_classes_of_the_project_apart() -> None:
    check_marks(
        """
        import numpy as np
        import torch

        class Host:
            def propose(self):
                return np.zeros(3)

        class Device:
            def propose(self):
                return torch.zeros(3, device="cuda")

        class Runner:
            def __init__(self, fast: bool):
                self.drafter = Device() if fast else Host()

            def step(self):
                if isinstance(self.drafter, Device):
                    return self.drafter.propose().tolist()  # expect: SYN102
                return self.drafter.propose().tolist()
        """
    )


def test_a_collective_over_a_group_of_unknown_backend_is_not_reported() -> None:
    check_marks(
        """
        import torch
        import torch.distributed as dist

        def start(group: dist.ProcessGroup):
            dist.barrier(group=group)
            torch.cuda.synchronize()  # expect: SYN401
        """
    )


def test_tests_do_not_say_what_others_pass() -> None:
    check_marks(
        """
        import torch

        def total(lens):
            return lens.sum().item()

        def widest(rows):
            return rows.max().item()

        def run():
            total(torch.ones(4))
            return peak(torch.ones(4, device="cuda"))

        def peak(rows):
            return rows.max().item()  # expect: SYN101
        """,
        test_a="""
        import torch
        from a import total, widest

        def test_total():
            assert total(torch.ones(4, device="cuda")) == widest(torch.ones(4, device="cuda"))
        """,
    )


def test_a_helper_returns_to_where_each_caller_is() -> None:
    check_marks(
        """
        import torch

        def padded(t, n):
            return torch.cat([t, t.new_zeros(n)])

        def stacked(tensors):
            out = torch.full((len(tensors), 4), 0, device=tensors[0].device)
            return out

        def placed(n, device):
            return torch.zeros(n, device=device)

        class Batch:
            def __init__(self, lens, tokens):
                self.ids = padded(torch.zeros(4, device="cuda"), 2)
                self.lens = padded(lens, 2)

            def read(self):
                padded(torch.zeros(4), 2).sum().item()
                self.lens.sum().item()
                return self.ids.sum().item()  # expect: SYN101

        def run():
            stacked([torch.ones(4, device="cuda")]).sum().item()  # expect: SYN101
            stacked([torch.ones(4), torch.ones(4)]).sum().item()
            placed(3, "cuda").sum().item()  # expect: SYN101
            placed(3, "cpu").sum().item()
        """
    )


def test_a_branch_for_other_hardware_is_not_followed() -> None:
    check_marks(
        """
        import torch
        from platforms import current_platform, is_torch_npu_available

        def _gathered(t):
            return t.item()

        def run(t: torch.Tensor, kind: str):
            t = torch.ones(4, device="cuda")
            if t.device.type == "neuron":
                return _gathered(t)
            if not torch.cuda.is_available():
                return t.sum().item()
            if current_platform.is_xpu() and t.any():
                t = t.cpu()
            if kind in ("npu", "hpu") or is_torch_npu_available():
                t.tolist()
            if current_platform.is_rocm() or current_platform.is_xpu():
                t.tolist()  # expect: SYN102
            most = t.max().item() if not current_platform.is_tpu() else t.tolist()  # expect: SYN101
            assert current_platform.is_cuda_alike()
            return t.tolist()  # expect: SYN102

        def elsewhere(t):
            assert current_platform.is_cpu()
            return torch.ones(4, device="cuda").tolist()
        """
    )


def test_a_wait_that_is_allowed_is_not_reported() -> None:
    check_marks(
        """
        import torch
        import syncscan
        from project.debug import allow_grad_sync, gpu_sync_allowed, gpu_sync_check, no_sync_allowed

        def run():
            x = torch.ones(4, device="cuda")
            with syncscan.allow_sync("the scheduler needs the count"):
                count = x.sum().item()
                if count > 2:
                    x.tolist()
            with gpu_sync_allowed():
                x.tolist()
            with gpu_sync_check(), no_sync_allowed(), allow_grad_sync():
                return x.tolist()  # expect: SYN102
        """
    )


def test_a_table_of_tensors_is_no_tensor() -> None:
    check_marks(
        """
        import torch

        def merged(batch, device):
            batch = batch.to("cuda")
            if "ids" in batch.keys():
                return batch.pop("ids")
            return torch.ones(4, device="cuda").sum().item()  # expect: SYN101
        """
    )


def test_the_sizes_of_a_result_do_not_place_it() -> None:
    check_marks(
        """
        import torch
        import torch.nn.functional as F

        def window():
            width = torch.ones((), device="cuda", dtype=torch.int64)
            index = F.pad(torch.arange(8), (0, width), "constant", -1)  # expect: SYN106
            return index[index != -1].sum().item()
        """
    )


def test_what_a_module_makes_may_be_on_the_gpu_from_the_start() -> None:
    check_marks(
        """
        import torch
        from torch import nn

        class Rotary(nn.Module):
            def __init__(self):
                super().__init__()
                self.device = torch.device("cuda")
                self.table = self._table()

                self._reset()

            def _table(self):
                return torch.arange(16).float().to(self.device)

            def _reset(self):
                self.count = torch.zeros(3).sum().item()

            def forward(self, x: torch.Tensor):
                self._reset()
                return x + torch.arange(16).to(self.device)  # expect: SYN302
        """
    )


def test_what_is_moved_to_the_gpu_is_found_to_be_a_tensor() -> None:
    check_marks(
        """
        import torch
        import torch.nn.functional as F

        def train(batches, model):
            model = model.to("cuda")
            for x, y in batches:
                x, y = x.cuda(), y.to("cuda")
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                if torch.isnan(loss):  # expect: SYN104
                    break
                print(x.mean().item())  # expect: SYN101
                right = (x.argmax(-1) == y).sum().item()  # expect: SYN101
            return torch.relu(x + 1).tolist()  # expect: SYN102

        def serve(tokenizer, model, text):
            model = model.cuda().eval()
            if model.training or not model:
                print(model)
            batch = tokenizer(text).to("cuda")
            if "labels" in batch.keys() and "ids" in batch:
                batch.pop("labels")
            for name, value in batch.items():
                print(name, batch[name])
            torch.compile(model)
            return model(**batch), len(batch), batch.size(0), model.cpu()
        """
    )


def test_a_context_manager_may_end_a_loop_that_has_no_end() -> None:
    check_marks(
        """
        import contextlib
        import queue
        import torch

        def drained(waiting):
            t = torch.ones(4, device="cuda")
            with contextlib.suppress(queue.Empty):
                while True:
                    waiting.get_nowait()
            return t.sum().item()  # expect: SYN101
        """
    )


def test_a_device_may_be_named_by_its_number() -> None:
    check_marks(
        """
        import torch

        def on(device):
            return torch.zeros(3, device=device)

        def run(rank: int):
            on("cpu").sum().item()
            return on(rank).sum().item()  # expect: SYN101
        """
    )


def test_what_came_in_a_container_through_a_call_is_not_proved() -> None:
    text = """
        import torch

        def table():
            return {"lens": torch.zeros(3, device="cuda")}

        def read():
            return table()["lens"].item()

        def here():
            return {"lens": torch.zeros(3, device="cuda")}["lens"].item()
    """
    found = check_texts(textwrap.dedent(text)).findings
    confidences = {finding.line: finding.confidence.label for finding in found}
    assert confidences == {8: "inferred", 11: "proved"}
