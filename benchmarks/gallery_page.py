"""The page of the gallery; each command writes its own part."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "gallery.md"
TITLE = "# Gallery: synchronizations per step, by model\n"


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
