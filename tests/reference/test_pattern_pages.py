"""The pages of ``docs/patterns``: complete, and right about which lines wait."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from syncscan.reference.templates import templates
from tests.conftest import Command

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "docs" / "patterns").glob("*.md") if path.stem != "index")
SECTIONS = ["Before", "After", "Measured gain", "When not to use it"]


def sections(page: Path) -> dict[str, str]:
    _, *parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def code(section: str) -> str:
    (block,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    return block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_its_sections_and_stands_in_the_index(page: Path) -> None:
    assert list(sections(page)) == SECTIONS
    assert f"({page.name})" in (ROOT / "docs" / "patterns" / "index.md").read_text(encoding="utf-8")


def test_every_template_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    inner = {"cumsum_in_chunks", "carry_over_chunks"}  # operators of the chain of chunked_cumsum
    assert set(templates()) - inner <= set(re.findall(r"`(?:syncscan recipe show )?(\w+)`", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_before_waits_where_it_says_and_the_code_after_does_not(
    page: Path, tmp_path: Path, syncscan: Command
) -> None:
    before, after = (code(sections(page)[name]) for name in SECTIONS[:2])
    (tmp_path / "before.py").write_text(before, encoding="utf-8")
    (tmp_path / "after.py").write_text(after, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.syncscan]\n")
    result = syncscan("check", "--output-format", "json", "--min-confidence", "assumed")
    found = {
        (Path(finding["path"]).name, finding["line"], finding["code"])
        for finding in json.loads(result.stdout)["findings"]
    }
    assert found == {
        ("before.py", number, marked)
        for number, line in enumerate(before.splitlines(), 1)
        for marked in re.findall(r"# \w+: (SYN\d+)", line)
    }
