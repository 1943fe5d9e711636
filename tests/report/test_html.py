"""The HTML report: what is in the file, and, where there is a Chromium, what a person does with it."""

from __future__ import annotations

import json
import re

import pytest

from syncscan.report.address import rule_address
from tests.report.browser import CHROMIUM, Browser
from tests.report.conftest import make_process, make_site, make_trace, outside

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202e{{7*7}}${7*7}"


def data_of(page: str):
    """What the script of a page draws."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


@pytest.fixture
def page(keep, syncscan, tmp_path):
    """Writes the page of a trace: ``page(trace)`` gives its file."""

    def write(*traces):
        folders = [keep(f"trace{number}", trace) for number, trace in enumerate(traces)]
        done = syncscan("trace", "report", "--output-format", "html", "-o", "page.html", *folders)
        assert (done.stdout, done.stderr, done.status) == ("", "", 0)
        return tmp_path / "page.html"

    return write


def test_one_file_asks_for_nothing_else(page):
    text = page(make_trace(make_site(10))).read_text()
    assert (
        re.findall(
            r"(?:src|href)\s*=\s*[\"']?[^\"'\s>]+", re.sub(r"<script>.*</script>", "", text, flags=re.DOTALL)
        )
        == []
    )
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text


def test_what_was_checked_of_starved_time_is_said(page):
    check = {"steps": 3, "waits": 6, "starved_ns": 600_000, "timeline_ns": 660_000}
    said, *_ = data_of(page(make_trace(make_site(10), starved_check=check)).read_text())["remarks"]
    assert said.startswith(
        "idle GPU time was checked in 3 steps (6 syncs): 220 us per step by the kernels' own"
    )


def test_the_source_around_a_place_is_in_it(page, tmp_path):
    source = tmp_path / "engine.py"
    source.write_text(
        "".join(f"line{number} = {number}\n" for number in range(1, 10)) + "if\tself.t10.item():\n    pass\n"
    )
    site = make_site(10, path=str(source), column=4, end_column=19)
    data = data_of(page(make_trace(site)).read_text())
    assert list(data["sources"][str(source)]) == ["6", "7", "8", "9", "10", "11", "12"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine.py", "something else stands here\n" * 12),  # the file has changed
        ("secret.txt", "self.t10.item()\n" * 12),  # no Python
        ("gone.py", None),
    ],
)
def test_of_other_files_that_a_trace_names_nothing_is_in_it(page, tmp_path, path, text):
    if text is not None:
        (tmp_path / path).write_text(text)
    site = make_site(10, path=str(tmp_path / path), column=1)
    assert data_of(page(make_trace(site)).read_text())["sources"] == {}


def test_a_check_has_its_fixes_as_diffs(project, syncscan, tmp_path):
    lines = [
        "import torch",
        "def f(xs: list[int]):",
        "    t = torch.tensor(xs, device='cuda')",
        "    return t + 1",
    ]
    project({"a.py": "\n".join(lines) + "\n"})
    done = syncscan("check", "--when", "all", "--output-file", "html=page.html", "a.py")
    assert done.status == 1
    (row,) = data_of((tmp_path / "page.html").read_text())["rows"]
    assert row["cells"][3:5] == ["SYN301", "a.py:3"]
    assert row["fix"]["title"] == "Fix (unsafe)"
    assert row["fix"]["lines"][:4] == ["@@ line 3 @@", f" {lines[0]}", f" {lines[1]}", f"-{lines[2]}"]
    (added,) = [line for line in row["fix"]["lines"] if line.startswith("+")]
    fixed = syncscan("check", "--when", "all", "--unsafe-fixes", "--diff", "a.py").stdout
    assert f"\n{added}\n" in fixed
    assert row["evidence"]


def test_a_check_counts_suppressed_findings(project, syncscan, tmp_path):
    read = "x = torch.zeros(1, device='cuda').item()"
    project({"a.py": f"import torch\n{read}\n{read}  # syncscan: ignore[SYN101] once, at start-up\n"})
    syncscan("check", "--when", "all", "--output-file", "html=page.html", "a.py")
    totals = {
        each["label"]: each["value"] for each in data_of((tmp_path / "page.html").read_text())["totals"]
    }
    assert (totals["findings"], totals["suppressed"]) == ("1", "1")


def test_a_file_that_cannot_be_written_is_one_line(keep, syncscan):
    done = syncscan(
        "trace",
        "report",
        "--output-format",
        "html",
        "-o",
        "no/such/page.html",
        keep("trace", make_trace(make_site(10))),
    )
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "syncscan: no/such/page.html: no such file or directory\n"


def test_text_of_others_cannot_leave_the_data(page):
    text = page(make_trace(make_site(10, expression=HOSTILE), command=[HOSTILE])).read_text()
    assert text.count("</script>") == 2
    assert "owned'</script>" not in text
    assert "\u202e" not in text


# ---- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


SHOWN = "[...document.querySelectorAll('tr.row td.place')].map((cell) => cell.textContent)"


@pytest.fixture
def trace():
    """Three places in steps, one outside, on two ranks."""
    start = 1_700_000_000_000_000_000
    timeline = [
        {
            "pid": rank, "rank": rank, "steps": [["steady", "MainThread", start, 8_000_000, 1, 20_000]],
            "waits": [[0, "MainThread", start + 4_000_000, 3_000_000]],
        }
        for rank in (0, 1)
    ]  # fmt: skip
    return make_trace(
        make_site(10, total=9_000_000),
        make_site(20, total=1_000_000, code="SYN102", path="/code/sampler.py", function="Sampler.forward"),
        make_site(30, total=5_000_000, expression="self.done.any()", code="SYN104"),
        outside(90),
        processes=[make_process(rank=rank, pid=rank) for rank in (0, 1)],
        timeline=timeline,
    )


@pytest.fixture
def opened(browser, page, trace):
    browser.open(page(trace))
    yield browser
    assert browser.said == []
    assert [address for address in browser.asked if not address.startswith(("file:", "about:"))] == []


def test_the_costliest_is_first_and_a_click_sorts(opened):
    assert opened.run(SHOWN) == [
        "/code/engine.py:10",
        "/code/engine.py:30",
        "/code/sampler.py:20",
        "/code/engine.py:90",
    ]
    opened.click("#head th:first-child button")
    assert opened.run(SHOWN)[0] == "/code/engine.py:90"
    assert opened.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "ascending"


def test_a_filter_and_a_choice_narrow_the_table(opened):
    opened.press("/")
    opened.press(*"forward")
    opened.run("new Promise((done) => setTimeout(done))")
    assert opened.run(SHOWN) == ["/code/sampler.py:20"]
    assert opened.run("document.getElementById('shown').textContent") == "1 of 4 sites"
    opened.run("const f = document.getElementById('filter'); f.value = ''; f.oninput()")
    opened.run("const s = document.querySelector('#facets select'); s.value = 'SYN104'; s.onchange()")
    assert opened.run(SHOWN) == ["/code/engine.py:30"]


def test_the_keyboard_opens_and_closes_a_place(opened):
    opened.press("j", "ArrowDown", "Enter")
    assert "self.done.any()" in opened.run("document.querySelector('tr.detail').textContent")
    assert opened.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    opened.press("k", "j", "Enter")
    assert opened.run("document.querySelectorAll('tr.detail').length") == 0


def test_a_link_leads_to_its_place(opened):
    opened.press("j", "Enter")
    opened.click("tr.detail a[href^='#']")
    assert opened.run("location.hash") == "#place-0"
    assert opened.run("document.querySelector('tr.detail a').href") == "file:///code/engine.py"
    assert opened.run("document.querySelector('td.code a')?.href ?? null") == rule_address("SYN101")


def test_a_path_breaks_after_a_folder_and_nowhere_else(browser, page):
    long = "a_folder_with_a_name_that_is_long_enough/" * 3
    browser.open(page(make_trace(make_site(10, path=f"/{long}engine.py"))))
    lines = browser.run(
        "[...document.querySelector('td.place span').childNodes].filter((n) => n.nodeType === 3).map((n) => {"
        " const r = document.createRange(); r.selectNode(n); return [n.textContent, r.getClientRects().length]; })"
    )
    assert lines == [["/", 1], *[[part + "/", 1] for part in long.split("/")[:-1]], ["engine.py:10", 1]]


def test_an_address_with_a_place_opens_it(browser, page, trace):
    browser.open(page(trace), "#place-2")
    assert (
        browser.run("document.querySelector('tr.row[aria-expanded=true] td.place').textContent")
        == "/code/sampler.py:20"
    )


def test_the_flame_graph_is_as_wide_as_what_blocked(opened):
    opened.click("#tab-flame")
    bars = opened.run(
        "[...document.querySelectorAll('#flame-graph button')].map((b) => [b.textContent, b.offsetWidth, b.title])"
    )
    widths = {name: width for name, width, _ in bars}
    whole = widths["<module>  /code/serve.py:5"]
    assert widths["self.t10.item()  /code/engine.py:10"] == pytest.approx(whole * 9 / 15.02, abs=2)
    assert next(title for name, _, title in bars if name.startswith("self.t10")).endswith(": 9 ms (59.9%)")
    opened.click("#flame-graph button.leaf")
    opened.click("#flame-graph button.leaf")  # enlarged, then followed to its place
    assert "self.t10.item()" in opened.run("document.querySelector('tr.detail').textContent")


def test_the_timeline_has_a_lane_for_each_thread_and_leads_to_places(opened):
    opened.click("#tab-timeline")
    assert opened.run("lanes.map((lane) => lane.name)") == ["rank 0, MainThread", "rank 1, MainThread"]
    opened.run("zoom(0.5); zoom(Infinity)")
    opened.click("#lanes canvas")  # in its middle is the wait of rank 0 or 1, at half of the time
    opened.run("const hit = hits.find((one) => one[4] !== null); reveal(hit[4])")
    assert "self.t10.item()" in opened.run("document.querySelector('tr.detail').textContent")


def test_light_and_dark(browser, page, trace):
    file = page(trace)
    color = "getComputedStyle(document.body).backgroundColor"
    browser.open(file, dark=True)
    dark = browser.run(color)
    browser.click("#theme")
    light = browser.run(color)
    browser.open(file)
    assert (browser.run(color), dark) == (light, "rgb(15, 20, 25)")


def test_a_hostile_trace_runs_nothing(browser, page):
    site = make_site(
        10, path=f"/w/{HOSTILE}.py", function=HOSTILE, expression=HOSTILE, instead=HOSTILE, code=None,
        threads={HOSTILE: 1}, ranks={HOSTILE: 1}, stacks=[{"count": 1, "frames": [f"{HOSTILE}:1:{HOSTILE}"]}],
    )  # fmt: skip
    script = make_site(20, path="javascript:alert(1)//", code="javascript:alert(1)")
    start = 1_700_000_000_000_000_000
    timeline = [
        {
            "pid": 1,
            "rank": None,
            "steps": [[HOSTILE, HOSTILE, start, 10, 1, 1]],
            "waits": [[0, HOSTILE, start, 5]],
        }
    ]
    browser.open(page(make_trace(site, script, command=[HOSTILE], timeline=timeline)))
    browser.press("j", "Enter", "j", "j", "Enter")
    for view in ("#tab-flame", "#tab-timeline"):
        browser.click(view)
    assert browser.run("document.title") == "Lines that blocked the CPU"
    assert browser.run("document.querySelectorAll('img, iframe').length") == 0
    assert browser.run("[...document.links].filter((link) => !/^(https|file):/.test(link.href)).length") == 0
    assert "<img src=x" in browser.run("document.querySelector('tr.detail').textContent")
    assert browser.said == []


def test_many_places_are_drawn_as_one_scrolls(browser, page):
    browser.open(page(make_trace(*[make_site(number, total=number * 1000) for number in range(1, 3001)])))
    assert browser.run("document.getElementById('shown').textContent") == "3,000 sites"
    drawn = browser.run("document.querySelectorAll('tr.row').length")
    assert drawn <= 600
    browser.run("drawMore()")
    assert browser.run("document.querySelectorAll('tr.row').length") > drawn
    browser.run("reveal(2999)")
    assert browser.run("document.activeElement.querySelector('td.place').textContent") == "/code/engine.py:1"


def test_a_comparison_in_a_browser(browser, keep, syncscan, tmp_path):
    base, head = (
        keep("base", make_trace(make_site(10))),
        keep("head", make_trace(make_site(10, count=200), make_site(20))),
    )
    assert syncscan("trace", "diff", "--output-format", "html", "-o", "diff.html", base, head).status == 1
    browser.open(tmp_path / "diff.html")
    rows = browser.run(
        "[...document.querySelectorAll('tr.row')].map((row) => [...row.cells].slice(0, 3).map((c) => c.textContent))"
    )
    assert rows == [["new", "0 → 1", "0 → 20 us"], ["worse", "1 → 2", "20 us → 40 us"]]
    assert browser.said == []
