"""Dependencies point one way: the import graph of the package, drawn from its source."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "syncscan"
RULES = ROOT.parent / "rules"  # installed as syncscan.rules

# The floors of each package, the lowest first: what stands on one line may import what stands on the same line
# or on those above it, and not the other way. All that lies in a package is held to that.
FLOORS = {
    "syncscan": (
        "errors model syntax words",
        "ops reference system",
        "rule guard simulate",
        "rules config trace",
        "facts",
        "check measure pytest_plugin",
        "verify",
        "report",
        "server",
        "commands",
        "cli",
        "__main__",
    ),
    "syncscan.check": (
        "nesting notebook result",
        "baseline blocks discover drained files ignores newer write suppress fix infer",
        "allowed compiled defects frequency",
        "match",
        "persistence",
        "hidden",
        "matching",
        "prove",
        "engine",
        "cache resident",
        "libraries",
        "session",
        "since",
    ),
    "syncscan.check.infer": (
        "domain",
        "ir",
        "source",
        "lower",
        "dataflow",
        "transfer",
        "solve kept",
    ),
    "syncscan.check.frequency": (
        "closures debugging epochs flags given guards transfers",
        "calls counters held",
        "options regions",
        "functions gates",
        "cached",
        "lines",
        "reach seldom",
        "entry_points",
        "project",
    ),
    "syncscan.check.persistence": ("findings state", "verdicts"),
    "syncscan.check.prove": (
        "answer cycles packages uses values",
        "bindings computed_names conditions identity observed promises ran registrations settled",
        "forms outline",
        "bodies",
        "source walk",
        "kept",
        "assumptions receivers results",
        "recorded",
        "frame",
        "callbacks decorators lacking lists names stores unread",
        "data passed registered special",
        "definitions narrowing setters",
        "containers truths",
        "comparisons python",
        "outside",
        "functions operators",
        "attributes format_fields",
        "calls",
        "statements",
        "expressions",
        "everything prover",
        "reachability",
        "certificate",
        "contracts stored",
    ),
    "syncscan.commands": (
        "exit_handling interface observed parameters",
        "check_options compare running trace_options watch",
        "interim trace_report",
        "prove_anew prove_given",
        "check_run facts_record fix_run init_run prove_run trace_run",
        "check clean facts fix init ops prove recipe rule server trace trace_diff",
    ),
    "syncscan.measure": (
        "cupti describe operands write",
        "learn watch",
        "probe",
        "effects handwritten opinfo",
        "page results",
        "campaign derive run",
        "report",
    ),
    "syncscan.reference": (
        "checks templates uploads",
        "chunks request_state seq_lens spec_decode step_inputs",
        "blocking",
    ),
    "syncscan.report": (
        "address words",
        "console pages records safe_text trace_json trace_lines trace_rows",
        "chrome_trace compared diff limits ranks speedscope",
        "compared_json diff_json",
        "concise github gitlab json_report junit progress proof_text sarif schema statistics text trace_text verified_text",
        "compared_text diff_text html proof_json",
        "formats trace_formats",
    ),
    "syncscan.report.html": ("page", "of_check of_diff of_proof of_trace"),
    "syncscan.simulate": ("inside", "export spawned", "context"),
    "syncscan.simulate.inside": (
        "bodies checks errors figures imports marks stores tracebacks",
        "cpu gradients indexing kinds memory patches pinning",
        "warnings_of_torch",
        "autocast conditions generators recording legacy overridable registered taint",
        "compiled functions plans uncomputed",
        "gpu",
        "interpreter",
        "capture constructors distributed graphs jit_kernels launches machine streams transfers",
        "cuda modes",
        "threads",
        "simulation",
    ),
    "syncscan.ops": ("binding dimensions kinds modules", "inferred table", "stubs"),
    "syncscan.system": ("files git memory workers",),
    "syncscan.server": ("answers progress settings", "workspace", "server"),
    "syncscan.verify": ("scratch", "run", "search"),
    "syncscan.trace": (
        "hook",
        "arrivals front interpreter parsed shape",
        "declared",
        "classify contract launch spread store",
        "sites",
        "lines",
        "merge propose",
        "trace",
        "load",
    ),
    "syncscan.trace.hook._syncscan_hook": (
        "append buffers callees exits imports interfaces interrupts part places threads window words",
        "checked cupti debugmode entry record room seen simulated starved steps timeline",
        "calls",
        "lines",
        "script watch",
        "arm output",
        "hook",
        "start",
    ),
}
# They run in the program's Python, where nothing else of ours need be.
ALONE = {
    "syncscan.trace.hook": "syncscan.trace.hook._syncscan_hook.hook",
    "syncscan.simulate.inside": "syncscan.simulate.inside.simulation",
}


def modules() -> dict[str, Path]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ["syncscan", *path.relative_to(ROOT).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    for path in RULES.glob("*.py"):
        found["syncscan.rules" if path.stem == "__init__" else f"syncscan.rules.{path.stem}"] = path
    return found


MODULES = modules()


def imports_of(name: str) -> Iterator[str]:
    """Every module of the package that a module imports anywhere in its text, for types or at run time."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                imported = f"{source}.{alias.name}" if f"{source}.{alias.name}" in MODULES else source
                if imported in MODULES:
                    yield imported


@functools.cache
def graph() -> dict[str, set[str]]:
    """The imports of every module, which only these tests read: not all processes that collect them."""
    return {name: {imported for imported in imports_of(name) if imported != name} for name in MODULES}


def is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in graph:
        if name not in order:
            visit(name)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(graph()) == []


@pytest.mark.parametrize("package", FLOORS)
def test_no_module_imports_from_a_floor_above_its_own(package: str) -> None:
    floor = {f"{package}.{name}": i for i, names in enumerate(FLOORS[package]) for name in names.split()}

    def floor_of(name: str) -> int | None:
        return floor.get(".".join(name.split(".")[: package.count(".") + 2]))

    unplaced = {
        name for name in MODULES if is_in(name, package) and name != package and floor_of(name) is None
    }
    assert unplaced == set(), "say on which floor it stands"
    assert {name for name in floor if name not in MODULES} == set()
    upwards = [
        (name, imported)
        for name, all_imported in graph().items()
        for imported in all_imported
        if (own := floor_of(name)) is not None and (other := floor_of(imported)) is not None and other > own
    ]
    assert upwards == []


@pytest.mark.parametrize("package", ALONE)
def test_what_runs_inside_the_program_imports_nothing_of_ours_but_itself(package: str) -> None:
    inside = {name for name in MODULES if is_in(name, package)}
    assert ALONE[package] in inside
    assert {imported for name in inside for imported in graph()[name]} <= inside


def public_classes(name: str) -> Iterator[str]:
    """The public classes that a module defines."""
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def test_two_public_classes_have_two_names() -> None:
    places: dict[str, list[str]] = {}
    for name in MODULES:
        if not is_in(
            name, "syncscan.reference.blocking"
        ):  # whose classes have the names of what replaces them
            for public in public_classes(name):
                places.setdefault(public, []).append(name)
    twice = {public: names for public, names in places.items() if len(names) > 1}
    # The inference is not held to this yet.
    assert not {p: n for p, n in twice.items() if not all(is_in(m, "syncscan.check.infer") for m in n)}
    assert places["SyncscanError"] == ["syncscan.errors"]


def test_the_graph_shows_circles_and_hidden_imports() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert "syncscan.simulate.context" in graph()["syncscan"]  # which a function in it imports


def test_a_file_has_at_most_500_lines() -> None:
    folders = [ROOT, RULES, *(ROOT.parent / name for name in ("tests", "benchmarks", "docs"))]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(files) > len(MODULES)
    assert [path for path in files if len(path.read_bytes().splitlines()) > 500] == []


def test_no_function_has_a_complexity_above_15() -> None:
    complexity = pytest.importorskip("radon.complexity")
    blocks = {
        f"{path}:{block.lineno}: {block.name}": block.complexity
        for path in MODULES.values()
        for block in complexity.cc_visit(path.read_text(encoding="utf-8"))
    }
    assert len(blocks) > len(MODULES)
    assert {name: count for name, count in blocks.items() if count > 15} == {}
