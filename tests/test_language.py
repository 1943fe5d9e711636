"""README, pages and help follow the vocabulary and the rules of writing: those of ``styles/``, which Vale reads too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from syncscan.cli import COMMANDS, SUBCOMMANDS

ROOT = Path(__file__).resolve().parent.parent
RULES = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / "styles/syncscan").glob("*.yml")
}
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(
        f"docs/{name}.md"
        for name in [
            "index",
            "tutorial",
            "guide",
            "facts",
            "trace",
            "trace-format",
            "trace-figures",
            "simulate",
            "accuracy",
            "reliability",
            "glossary",
            "gallery",
            "proved",
        ]
    ),
    *sorted(
        str(path.relative_to(ROOT))
        for folder in ("how-to", "patterns", "rules")
        for path in (ROOT / "docs" / folder).glob("*.md")
    ),
]
HELP = [
    *COMMANDS,
    *map(" ".join, SUBCOMMANDS),
    "facts record",
    "facts merge",
    "recipe show",
    "ops show",
    "ops verify",
]


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of a page, without code, tables and comments; a name in code counts as one word."""
    text = re.sub(r"(?ms)^```.*?^```|^ {4}.*?$|^\|.*?$|<!--.*?-->", "\n\n", markdown)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``?[^`\n]+``?", "CODE", text)
    text = re.sub(r"[*_#>]+", "", text)
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", text):
        line = " ".join(block.split())
        yield from (part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])|:\s+", line) if part)


def problems(markdown: str) -> list[str]:
    """What the rules say of a page."""
    found = []
    for sentence in sentences(markdown):
        for wrong, right in RULES["Terms"]["swap"].items():
            if match := re.search(wrong, sentence, re.IGNORECASE):
                found.append(f"{match[0]!r}, write {right!r}: {sentence}")
        openings = [match[0] for raw in RULES["Openings"]["raw"] if (match := re.search(raw, sentence))]
        found += [f"begins with {opening!r}: {sentence}" for opening in openings]
        length = RULES["SentenceLength"]
        if (count := len(re.findall(length["token"], sentence))) > length["max"]:
            found.append(f"{count} words: {sentence}")
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_follows_the_rules_of_writing(page):
    assert problems((ROOT / page).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", HELP)
def test_the_help_of_a_command_follows_the_rules_of_writing(syncscan, name):
    text = syncscan(*name.split(), "--help").stdout
    about = re.split(r"(?m)^\S.*:$", text.partition("\n\n")[2])[0]
    options = re.findall(r"(?m)^  -.*?(?: {2,}|\n {10,})(\S.*(?:\n {10,}.*)*)", text)
    assert (
        problems("\n\n".join([re.sub(r"(?m)^ +", "", about), *(" ".join(each.split()) for each in options)]))
        == []
    )


def test_the_rules_find_what_they_are_for():
    text = "Which lines make the CPU wait for the GPU. What was kept is mended."
    assert len(problems(text)) == 6
    assert problems(" ".join(["word"] * 26)) == [f"26 words: {' '.join(['word'] * 26)}"]
    assert problems("Fine: `a wait` is code.\n\n    a wait\n\n| a wait | in a table |\n") == []
