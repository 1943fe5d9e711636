"""A trace as text: the lines that wait, the costliest first, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from syncscan.report.console import Console
from syncscan.report.records import plural
from syncscan.report.safe_text import safe_values
from syncscan.trace.sites import spot

MAX_SITES = 30
MAX_REMARKS = 60
MAX_RANKS = 16
_ALL = "`-o DIR` and `--format json` give all"
_PHASES = {"compile": "while compiling", "capture": "in graph capture"}


def render(trace: dict[str, Any], stream: TextIO, width: int) -> None:
    """Write the report, its table ``width`` characters wide; nothing in the trace commands the terminal."""
    trace = safe_values(trace)
    console = Console(file=stream, width=width, highlight=False, soft_wrap=False)
    sites = [s for s in trace["sites"] if s["allowed"] is None and s["phase"] != "warmup"]
    console.print(Text(_headline(trace, sites), style="bold"), soft_wrap=True)
    if sites:
        with console.capture() as table:
            console.print(_table(trace, sites[:MAX_SITES]))
        stream.writelines(f"{line.rstrip()}\n" for line in table.get().splitlines())
    if len(sites) > MAX_SITES:
        console.print(f"and {len(sites) - MAX_SITES} more sites; {_ALL}")
    for line in _shortest(_remarks(trace)):
        console.print(Text(line), soft_wrap=True)


def _shortest(remarks: list[str]) -> list[str]:
    """The first remarks and the last, which is how the command ended."""
    if len(remarks) <= MAX_REMARKS:
        return remarks
    left_out = len(remarks) - MAX_REMARKS
    return [*remarks[: MAX_REMARKS - 1], f"and {left_out} more remarks; {_ALL}", remarks[-1]]


def _headline(trace: dict[str, Any], sites: list[dict[str, Any]]) -> str:
    traced = [p for p in trace["processes"] if p.get("detectors") and p["wall_ns"]]
    if not traced:
        return f"syncscan: nothing was traced: {_why_nothing(trace)}"
    waits = sum(site["count"] for site in sites)
    blocked = sum(site["blocked_ns"]["total"] for site in sites)
    seconds = sum(p["wall_ns"] for p in traced) / 1e9
    text = f"syncscan: the CPU waited for the GPU {plural(waits, 'time')} at {plural(len(sites), 'place')}"
    if any("simulated" in p["detectors"] for p in traced):
        text = (
            text.replace("waited", "would have waited", 1) + " (a simulated GPU: for how long is not known)"
        )
    elif any(_timed(site) for site in sites):
        text += f", {blocked / 1e9:.3g} s of {seconds:.3g} s ({_share(blocked, seconds * 1e9)})"
    return text + f" in {plural(len(traced), 'process', 'processes')}{_ranks(traced)}"


def _why_nothing(trace: dict[str, Any]) -> str:
    hooked = [p for p in trace["processes"] if p["hooked"]]
    if not hooked:
        return "no Python process could be hooked"
    with_torch = [p for p in hooked if p["torch"]]
    if not with_torch:
        return "no process imported torch"
    if any(p["detectors"] for p in with_torch):
        return "the program ended before its waits were written for the first time"
    if all(p["cuda"] == "simulated" for p in with_torch):
        return "the program put nothing on the simulated GPU"
    if not any(p["cuda"] for p in with_torch):
        return f"torch {with_torch[0]['torch']} in the program has no CUDA"
    return "no process started CUDA"


def _ranks(traced: list[dict[str, Any]]) -> str:
    ranks = sorted({p["rank"] for p in traced if p["rank"] is not None})
    if len(ranks) > MAX_RANKS:
        return f", {len(ranks)} ranks"
    return f", ranks {', '.join(map(str, ranks))}" if ranks else ""


def _table(trace: dict[str, Any], sites: Iterable[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("blocked", "of wall", "waits", "a step"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("code", no_wrap=True)
    table.add_column("where, what, and what to write instead", overflow="fold", ratio=1)
    wall = sum(p["wall_ns"] for p in trace["processes"] if p.get("detectors"))
    for site in sites:
        blocked = site["blocked_ns"]["total"]
        table.add_row(
            _milliseconds(blocked) if _timed(site) else "-",
            _share(blocked, wall) if _timed(site) else "-",
            str(site["count"]),
            f"{site['per_step']:.3g}" if site["per_step"] is not None else "",
            Text(site["code"] or "-"),
            _description(site),
        )
    return table


def _timed(site: dict[str, Any]) -> bool:
    return "cupti" in site["detectors"]


def _description(site: dict[str, Any]) -> Group:
    text = Text.assemble((_where(site), "cyan"), f" in {site['function']}")
    phase = _PHASES.get(site["phase"])
    details = [phase] if phase else []
    if site["backward_of"]:
        details.append(f"backward of {site['backward_of']}")
    details += _spread(site)
    if site["missed_by"]:
        details.append(f"{site['api']}, unseen by debug mode")
    if details:
        text.append(f" ({'; '.join(details)})", style="dim")
    below = [Text(site["expression"])] if site["expression"] else []
    below += [Text(f"instead: {site['instead']}", style="green")] if site["instead"] else []
    return Group(text, *(Padding(line, (0, 0, 0, 2)) for line in below))


def _spread(site: dict[str, Any]) -> list[str]:
    ranks = {rank: count for rank, count in site["ranks"].items() if rank.isdigit()}
    if len(ranks) < 2:
        return [f"rank {rank} only" for rank in ranks if rank != "0"]
    low, high = min(ranks.values()), max(ranks.values())
    return [
        f"{low} on each of {len(ranks)} ranks" if low == high else f"{low} to {high} on {len(ranks)} ranks"
    ]


def _remarks(trace: dict[str, Any]) -> list[str]:
    lines = []
    steps = trace["steps"]
    if steps is not None:
        lines.append(f"{plural(steps['started'], 'step')} of {steps['target']}{_warmup(trace)}")
    for site in trace["sites"]:
        if site["allowed"] is not None:
            blocked = f", {_milliseconds(site['blocked_ns']['total'])}" if _timed(site) else ""
            lines.append(
                f"allowed ({site['allowed']}): {plural(site['count'], 'time')}{blocked}, at {_where(site)}"
            )
    lines += _process_remarks(trace["processes"])
    if trace["command"]:  # unknown where the launcher was killed
        lines.append(f"`{_shortened(trace['command'])}` ended with exit status {trace['exit_status']}")
    return lines


def _process_remarks(processes: list[dict[str, Any]]) -> list[str]:
    """What is to be said of processes, once for all of which it is the same."""
    told: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for process in processes:
        remarks = [("", f": {note}") for note in process.get("notes", ())]
        if not process["hooked"]:
            remarks.append(("not hooked: ", f": {process['why']}"))
        elif process["detectors"] and not process["wall_ns"]:
            remarks.append(("", " ended before it wrote any waits"))
        for remark in remarks:
            told.setdefault(remark, []).append(process)
    return [f"{before}{_named(those)}{after}" for (before, after), those in told.items()]


def _named(processes: list[dict[str, Any]]) -> str:
    one = f"{processes[0]['pid']} ({_shortened(processes[0]['argv'])})"
    return f"process {one}" if len(processes) == 1 else f"{len(processes)} processes, such as {one}"


def _shortened(command: list[str]) -> str:
    return " ".join(" ".join(command).split())[:80]


def _warmup(trace: dict[str, Any]) -> str:
    if not trace["steps"]["warmup"]:
        return ""
    waits = sum(site["count"] for site in trace["sites"] if site["phase"] == "warmup")
    return f"; the {trace['steps']['warmup']} of warm-up, with {plural(waits, 'wait')}, are left out"


def _where(site: dict[str, Any]) -> str:
    return spot(_short(site["path"]), site["line"])


def _short(path: str) -> str:
    """The path from the working folder, if it lies in it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path


def _milliseconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.4g} ms"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
