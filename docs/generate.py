"""Write what is generated in ``docs/``: the pages of the rules and operations, and the schema of the settings.

Puts the address of the repository (`syncscan.report.address`) wherever it is named. Tests fail while a page is stale.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from syncscan.measure.page import operations_page  # noqa: E402
from syncscan.ops import load_table  # noqa: E402
from syncscan.report.address import BRANCH, REPOSITORY  # noqa: E402
from syncscan.report.pages import pages  # noqa: E402
from syncscan.report.schema import settings_schema  # noqa: E402
from syncscan.rule import rule_book  # noqa: E402


def main() -> None:
    """Replace every page."""
    folder = DOCS / "rules"
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("*.md"):
        stale.unlink()
    for name, text in pages(rule_book().values()).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    (DOCS / "operations.md").write_text(operations_page(load_table()), encoding="utf-8", newline="\n")
    schema = json.dumps(settings_schema(), indent=2) + "\n"
    (DOCS / "settings.schema.json").write_text(schema, encoding="utf-8", newline="\n")
    for path in WITH_FIGURES:
        path.write_text(with_figures(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
    for path in with_addresses():
        text = path.read_text(encoding="utf-8")
        path.write_text(with_address(path.name, text), encoding="utf-8", newline="\n")


WITH_FIGURES = (DOCS.parent / "README.md", DOCS / "index.md")


def with_figures(page: str) -> str:
    """Return the text of a page with the figures of the page on accuracy, their one source."""
    block = re.compile(r"(?s)(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)")
    figures = block.search((DOCS / "accuracy.md").read_text(encoding="utf-8"))
    assert figures is not None
    return block.sub(lambda _: figures[0], page)


def with_addresses() -> list[Path]:
    """Return the files that name the repository."""
    top = DOCS.parent
    named = [top / "README.md", top / "pyproject.toml", top / "mkdocs.yml", *sorted(DOCS.rglob("*.md"))]
    return [path for path in named if path.exists()]


def with_address(name: str, text: str, repository: str = REPOSITORY) -> str:
    """Return the text of a file with the address of the repository, and nothing where there is none.

    A part ``<!-- with the address -->`` is a comment without an address, and a part without the address with one.
    In the README, which PyPI shows too, links to files of the repository are absolute.
    """
    owner = repository.removeprefix("https://github.com/") or "OWNER/syncscan"
    text = _shown(_shown(text, "with the address", bool(repository)), "without the address", not repository)
    text = re.sub(r"(?<=uses: )[\w.-]+/syncscan(?=@)", owner, text)
    text = re.sub(r"(?<=repo: https://github\.com/)[\w.-]+/syncscan\b", owner, text)
    if name == "README.md":
        text = re.sub(r"\]\(https://github\.com/[\w.-]+/syncscan/blob/\w+/([^)]*)\)", r"](\1)", text)
        if repository:
            text = re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({repository}/blob/{BRANCH}/\1)", text)
    if name == "pyproject.toml":
        text = re.sub(r"(?s)(?<=# Written by docs/generate\.py:\n).*?(?=# End\n)", _urls(repository), text)
    if name == "mkdocs.yml":
        text = re.sub(r"(?m)^repo_url: .*\n", "", text)
        text += f"repo_url: {repository}\n" if repository else ""
    return text


def _shown(text: str, name: str, visible: bool) -> str:
    """Return the text of a page whose parts of a name are visible, or comments."""
    part = re.compile(rf"(?s)<!-- {name}(?: -->)?\n(.*?)\n(?:<!-- )?/{name} -->")
    around = ("<!-- {0} -->", "<!-- /{0} -->") if visible else ("<!-- {0}", "/{0} -->")
    opening, closing = (each.format(name) for each in around)
    return part.sub(lambda found: f"{opening}\n{found[1]}\n{closing}", text)


def _urls(repository: str) -> str:
    """Return the addresses in the metadata of the package."""
    if not repository:
        return ""
    urls = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{BRANCH}/docs/index.md",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/{BRANCH}/CHANGELOG.md",
    }
    return "[project.urls]\n" + "".join(f'{name} = "{address}"\n' for name, address in urls.items())


if __name__ == "__main__":
    main()
