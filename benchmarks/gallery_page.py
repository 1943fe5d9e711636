"""The page of the gallery; each command writes its own part. The agreement of a GPU with the simulated one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "gallery.md"
TITLE = "# Gallery: synchronizations per step, by model\n"
Run = tuple[str, str]  # model and mode
Runs = dict[Run, dict[str, float] | str]  # the rate of each line, or why there is none


def with_part(page: str, title: str, text: str) -> str:
    """Return the page with the text as the part of that title, in place of an earlier one or after the others."""
    head, *parts = re.split(r"^(?=## )", page or TITLE, flags=re.MULTILINE)
    names = [part.splitlines()[0][3:] for part in parts]
    part = f"## {title}\n\n{text.strip()}\n\n"
    if title in names:
        parts[names.index(title)] = part
    else:
        parts.append(part)
    return "\n\n".join(piece.strip() for piece in (head, *parts)) + "\n"


def write_part(title: str, text: str) -> None:
    """Write that part of the page."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(with_part(page, title, text), encoding="utf-8")


def agreement(real: Runs, simulated: Runs) -> tuple[str, list[str]]:
    """Return how many lines of the GPU and of the simulation are the same, in words, and those that are not."""
    total: Counter[str] = Counter()
    models = set()
    differences = []
    for run in sorted(real.keys() & simulated.keys()):
        there, here = real[run], simulated[run]
        if isinstance(there, str) or isinstance(here, str):
            why = there if isinstance(there, str) else here
            differences.append(f"{' '.join(run)}: not compared: {why}")
            continue
        models.add(run[0])
        total.update(both=len(there.keys() & here.keys()), gpu=len(there), simulated=len(here), runs=1)
        total.update(same=sum(here.get(line) == rate for line, rate in there.items()))
        differences += [
            f"{' '.join(run)}: {line}: {there.get(line, 0):g} on the GPU, {here.get(line, 0):g} simulated"
            for line in sorted(there.keys() | here.keys())
            if there.get(line) != here.get(line)
        ]
    said = (
        f"In {total['runs']} runs of {len(models)} models {total['both']} of the {total['gpu']} lines that block on the GPU block "
        f"simulated, {total['same']} of them at the same rate. {total['both']} of the {total['simulated']} simulated lines block on the GPU."
    )
    return said, differences
