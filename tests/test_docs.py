"""The pages of the rules are what their modules say, and the guide names what exists."""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from pathlib import Path

import pytest

from syncscan import __version__
from syncscan.commands.check import command
from syncscan.commands.fix import command as fix
from syncscan.config import parse_config
from syncscan.report.pages import pages
from syncscan.rule import rule_book

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).resolve().parent.parent / "docs"
GUIDE = (DOCS / "guide.md").read_text(encoding="utf-8")


def test_no_page_is_stale():
    written = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "rules").glob("*.md")}
    assert written == pages(rule_book().values()), "run `python docs/generate.py`"


@pytest.mark.parametrize("rule", rule_book().values(), ids=lambda rule: rule.code)
def test_a_page_is_complete(rule):
    page = pages([rule])[f"{rule.code}.md"]
    assert page.startswith(f"# {rule.code}: {rule.name}\n")
    assert len(sys.modules[type(rule).__module__].__doc__.splitlines()) > 2
    assert "**Suggestion:** " in page
    assert "expect:" not in page


def test_every_setting_in_the_guide_is_valid():
    (table,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    config = parse_config(tomllib.loads(table)["tool"]["syncscan"], DOCS / "guide.md")
    assert config.select


def test_every_option_in_the_guide_exists():
    params = [*command.params, *fix.params]
    options = {option for parameter in params for option in parameter.opts}
    assert set(re.findall(r"--[a-z]+(?:-[a-z]+)*", GUIDE)) <= options


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    included = re.compile(r'--8<-- "([^"]+)"')
    text = included.sub(
        lambda name: (DOCS.parent / name[1]).read_text("utf-8"), page.read_text(encoding="utf-8")
    )
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_every_code_on_a_page_is_a_rule(page):
    text = page.read_text(encoding="utf-8")
    added = re.findall(r'code = "(SYN\d{3})"', text)  # by the page that shows how
    assert set(re.findall(r"SYN\d{3}", text)) <= {*rule_book(), *added}


def test_the_pictures_of_the_start_page_show_its_findings(tmp_path):
    spec = importlib.util.spec_from_file_location("screenshots", DOCS / "screenshots.py")
    screenshots = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(screenshots)
    found = screenshots.check(tmp_path)
    assert "SYN301" in found
    assert "SYN104" in found
    for scheme in screenshots.SCHEMES:
        assert screenshots.stored(DOCS / f"report-{scheme}.png") == found, "run `python docs/screenshots.py`"


@pytest.fixture
def generate():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_address_of_the_repository_is_the_same_everywhere(generate):
    texts = {path: path.read_text(encoding="utf-8") for path in generate.with_addresses()}
    assert {path: generate.with_address(path.name, text) for path, text in texts.items()} == texts, (
        "run docs/generate.py"
    )


def test_the_address_is_put_in_and_taken_out(generate):
    """Of the README, whose links PyPI shows, of the metadata, and of what others copy."""
    address = "https://github.com/somebody/syncscan"
    for path in generate.with_addresses():
        text = path.read_text(encoding="utf-8")
        named = generate.with_address(path.name, text, address)
        assert "OWNER" not in named
        if path.suffix == ".md":
            assert "OWNER" not in re.sub(r"(?s)<!--.*?-->", "", generate.with_address(path.name, text, ""))
        assert generate.with_address(path.name, named, "") == generate.with_address(path.name, text, "")
        if path.name == "README.md":
            assert re.findall(r"\]\((?!https?:|#)", named) == []
        if path.name == "pyproject.toml":
            assert tomllib.loads(named)["project"]["urls"]["Issues"] == f"{address}/issues"


def test_figures_are_those_of_the_page_on_accuracy(generate):
    for path in generate.WITH_FIGURES:
        text = path.read_text(encoding="utf-8")
        assert generate.with_figures(text) == text, "run docs/generate.py"
        assert "<!-- figures -->\n|" in text


@pytest.mark.parametrize(
    "figure",
    [
        r"package of vLLM 0\.19\.0, ([\d,]+)",  # lines
        r"\| 28, among (\d+) findings",
        r"(\d+) in the baseline|(\d+) findings: \1 added",
        r"1474 files checked in [^;]*; [^\n]*?(\d+) that run once",
    ],
)
def test_pages_give_one_figure_for_one_thing(figure):
    pages = [path.read_text(encoding="utf-8") for path in (DOCS.parent / "README.md", *DOCS.rglob("*.md"))]
    values = [value[1] for page in pages for value in re.finditer(figure, page) if value[1]]
    assert len(values) > 1
    assert len(set(values)) == 1


def test_other_counts_of_findings_of_vllm_have_a_date():
    (default,) = {*re.findall(r"among (\d+) findings", (DOCS / "accuracy.md").read_text(encoding="utf-8"))}
    for path in DOCS.rglob("*.md"):
        paragraphs = path.read_text(encoding="utf-8").split("\n\n")
        for before, text in itertools.pairwise(["", *paragraphs]):
            counts = re.findall(r"\| vLLM 0\.19\.0 \| (\d{3}) \||the (\d{3})(?: findings)? of vLLM", text)
            for count in filter(None, itertools.chain(*counts)):
                assert count == default or re.search(r"\d November 2026", before + text), text


def test_snippets_name_the_tag_of_this_version():
    pages = [path.read_text(encoding="utf-8") for path in (DOCS.parent / "README.md", *DOCS.rglob("*.md"))]
    tags = {tag for page in pages for tag in re.findall(r"(?:syncscan@|rev: )(v[\w.]+)", page)}
    assert tags <= {f"v{__version__}"}
    assert {version for page in pages for version in re.findall(r"syncscan-([\d.]+)-py3", page)} == {
        __version__
    }
