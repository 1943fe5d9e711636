"""The reference components: each sync-free form is proved, and the blocking forms are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source, read_source
from syncscan.check.prove.certificate import Proofs
from syncscan.model import Conventions, Finding
from syncscan.ops import load_table
from syncscan.reference.templates import templates

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "syncscan.reference"
# What the kernels behind the two helpers do: both were measured not to block.
HELPERS = {
    f"{PACKAGE}.uploads.upload": {"args": ["data", "device", "dtype"], "result": "gpu"},
    f"{PACKAGE}.uploads.staging": {"args": ["shape", "dtype", "device"], "result": "pinned"},
}
ON_HOST = "seq_lens:CommonAttentionMetadata.*_cpu*.is_cpu = True"
ON_GPU = "seq_lens:CommonAttentionMetadata.seq_lens.is_cuda = True"
# What a caller knows of the tensors that it passes, and the source does not say: three facts at most.
ASSUMED: dict[str, tuple[str, ...]] = {
    "max_seq_len": (ON_HOST,),
    "cross_attention_context": (ON_HOST,),
    "mla_context_lens": (ON_HOST,),
    "slice_micro_batch": (ON_HOST, ON_GPU),
    "CommonAttentionMetadata": (ON_HOST,),
    "RequestStates": ("request_state:RequestStates._free_rows = [0]",),
    "logprob_token_ids": ("step_inputs:logprob_token_ids.sampled.is_cuda = True",),
    "gather_logprobs": ("step_inputs:*.is_cuda = True",),
    "reorder_ngram_rows": (
        "step_inputs:reorder_ngram_rows.tables.is_cuda = True",
        "uploads:upload().ndim = 2",
        "uploads:upload().dtype = 'int64'",
    ),
    "count_penalty_bins": (
        "step_inputs:count_penalty_bins.*.is_cuda = True",
        "step_inputs:count_penalty_bins.rows.dtype = 'int64'",
        "step_inputs:count_penalty_bins.token_ids.dtype = 'int64'",
    ),
    "pad_logits_indices": ("step_inputs:pad_logits_indices.*.is_cuda = True",),
    "apply_bad_words": ("step_inputs:apply_bad_words.*.is_cuda = True",),
    "MambaMixer": ("step_inputs:MambaMixer.*.is_cuda = True",),
    "build_spec_decode_metadata": ("spec_decode:build_spec_decode_metadata.*.is_cuda = True",),
    "upload": ("uploads:upload.data.is_cpu = True",),
    "cumsum_in_chunks": (
        "chunks:*.is_cuda = True",
        "chunks:ChunkTables.indices.ndim = 2",
        "chunks:*.cu_seqlens.ndim = 1",
    ),
    "carry_over_chunks": (
        "chunks:*.is_cuda = True",
        "chunks:ChunkTables.indices.ndim = 2",
        "chunks:ChunkTables.offsets.ndim = 1",
    ),
}
# An index of a GPU tensor whose number of dimensions nothing shows may be a number on the GPU.
# `chunked_cumsum` needs a fourth fact: the dimensions of `offsets`.
NOT_YET = frozenset({"chunked_cumsum"})
Checked = tuple[Engine, list[Finding], list[Source]]


@pytest.fixture(scope="module")
def checked() -> Checked:
    files = sorted((ROOT / "syncscan" / "reference").rglob("*.py"))
    sources = [read_source(path, ROOT, {}) for path in files]
    engine = Engine(Conventions(), table=load_table().with_own(HELPERS))
    return engine, engine.check(sources, None, lambda *_: None).findings, sources


def proofs_of(checked: Checked, assumptions: tuple[str, ...] = ()) -> Proofs:
    engine, findings, sources = checked
    assert engine.solver is not None
    return Proofs(engine.solver, findings, sources, [f"{PACKAGE}.{each}" for each in assumptions])


def entries_of(proofs: Proofs, module: str, name: str) -> list[str]:
    functions = proofs.functions(module)
    return [f"{module}:{each}" for each in functions if each == name or each.rpartition(".")[0] == name]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xfail(strict=True)] if name in NOT_YET else [])
        for name in sorted(templates())
    ],
)
def test_a_sync_free_form_is_proved_with_three_assumptions_at_most(checked: Checked, name: str) -> None:
    assumptions = ASSUMED.get(name, ())
    assert len(assumptions) <= 3
    proofs = proofs_of(checked, assumptions)
    module = templates()[name].module
    module = module if module.startswith(PACKAGE) else f"{PACKAGE}.{module}"
    entries = entries_of(proofs, module, name) or [f"{module}:CommonAttentionMetadata.{name}"]
    found = {entry: [each.finding.message for each in proofs.certify(entry).obstacles] for entry in entries}
    assert {entry: messages for entry, messages in found.items() if messages} == {}


def test_each_blocking_call_of_the_blocking_forms_is_named(checked: Checked) -> None:
    proofs = proofs_of(checked)
    named = set()
    for path in sorted((ROOT / "syncscan" / "reference" / "blocking").glob("*.py")):
        module = f"{PACKAGE}.blocking.{path.stem}".removesuffix(".__init__")
        for name in proofs.functions(module):
            for each in proofs.certify(f"{module}:{name}").obstacles:
                finding = each.finding
                named |= {
                    (Path(finding.path).name, line) for line in range(finding.line, finding.end_line + 1)
                }
    marked = {
        (path.name, number)
        for path in (ROOT / "syncscan" / "reference" / "blocking").glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"# expect: SYN[1-5]", line)
    }
    assert marked
    assert marked - named == set()
