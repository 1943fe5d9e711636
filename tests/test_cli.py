"""The command as a whole: its help, its exit status, its start and its end."""

from __future__ import annotations

import gc
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from syncscan import __version__
from syncscan.cli import COMMANDS
from syncscan.reference.templates import templates
from syncscan.report.formats import FORMATS
from tests.foreground import foreground, wait_until

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\nprint(losses.sum().item())\n'
SILENT = "import torch\n\nlosses = torch.zeros(8)\nprint(losses.sum().item())\n"
COMMAND = [sys.executable, "-m", "syncscan"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def output(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("files", "arguments", "status"),
    [
        ({"a.py": SILENT}, [], 0),
        ({"a.py": BLOCKS}, [], 1),
        ({"a.py": BLOCKS}, ["--exit-zero"], 0),
        ({"a.py": BLOCKS}, ["--select", "SYN0"], 0),
        ({"a.py": "def f(:"}, [], 2),
        ({"a.py": "def f(:"}, ["--exit-zero"], 2),
        ({"a.py": "def f(:", "b.py": BLOCKS}, [], 2),
        ({"a.py": BLOCKS}, ["nope.py"], 2),
        ({"a.py": BLOCKS}, ["--select", "SYN999"], 2),
        ({"a.py": BLOCKS}, ["--statistics"], 1),
        ({"a.py": BLOCKS}, ["--output-format", "github"], 1),
        ({"a.py": BLOCKS}, ["--jobs", "2"], 1),
    ],
)
def test_exit_status(syncscan, project, files, arguments, status):
    project(files)
    assert syncscan("check", *arguments).status == status


def test_a_new_user_sees_where_why_and_what_to_do(syncscan, project):
    project({"a.py": BLOCKS})
    lines = syncscan("check").stdout.splitlines()
    assert lines[0].startswith("a.py:4:7: SYN101 ")
    assert lines[0].endswith(" [item-read, proved, warning]")
    assert lines[1:3] == ["4 | print(losses.sum().item())", "  |       ^^^^^^^^^^^^^^^^^^^"]
    assert any(line.startswith("  = because: ") and "a.py:3" in line for line in lines)
    assert any(line.startswith("  = in general: ") for line in lines)
    assert re.fullmatch(r"1 finding in 1 file; 1 file checked in \d+\.\d s", lines[-1])


def test_json_is_one_object_and_nothing_else(syncscan, project):
    project({"a.py": BLOCKS})
    run = syncscan("check", "--output-format", "json")
    report = json.loads(run.stdout)
    (finding,) = report["findings"]
    assert (finding["line"], finding["column"], finding["end_line"], finding["end_column"]) == (4, 7, 4, 26)
    assert finding["expression"] == "losses.sum().item()"
    assert set(report) == {"version", "tool", "findings", "left_out", "files", "baseline", "facts", "timing"}
    assert run.stderr == ""


def test_standard_input_without_a_name(syncscan):
    run = syncscan("check", "-", stdin=BLOCKS.encode())
    assert run.stdout.startswith("<stdin>:4:7: SYN101")
    assert syncscan("check", "-", stdin=b"x = '\xff'").stderr.startswith("syncscan: <stdin>:1: not utf-8")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["check", "-h"], ["rule", "--help"], ["trace", "report", "--help"]]
)
def test_help(syncscan, arguments):
    run = syncscan(*arguments)
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout.startswith("Usage: syncscan ")


def test_help_of_check_shows_examples_and_the_exit_status(syncscan):
    text = syncscan("check", "--help").stdout
    assert "  syncscan check src/ --select SYN1,SYN205 " in text
    assert "Exit status: 0 no findings; 1 findings; 2 " in text


def test_version(syncscan):
    assert syncscan("--version").stdout == f"syncscan, version {__version__}\n"


@pytest.mark.parametrize("word", ["SYN101", "syn101", "item-read"])
def test_explain(syncscan, word):
    run = syncscan("rule", word)
    assert (run.status, run.stdout) == (0, (ROOT / "docs/rules/SYN101.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("SYN1O1", "did you mean 'SYN101'?"),
        ("item-raed", "did you mean 'item-read'?"),
        ("Item-Raed", "did you mean 'item-read'?"),
        ("SYN1", "did you mean 'SYN101'?"),
        ("implicit", "did you mean 'implicit-truth'?"),
        ("weather", "`syncscan rule` lists them"),
        ("", "`syncscan rule` lists them"),
    ],
)
def test_explain_names_the_nearest_rule(syncscan, word, hint):
    run = syncscan("rule", word)
    assert (run.status, run.stderr) == (2, f"syncscan: no rule {word!r}; {hint}\n")


def test_rules_are_listed_in_order(syncscan):
    run = syncscan("rule")
    codes = [line.split()[0] for line in run.stdout.splitlines()]
    assert codes == sorted(codes)
    assert {"SYN001", "SYN101"} <= set(codes)


def test_an_unknown_command(syncscan):
    run = syncscan("chekc")
    assert run.status == 2
    assert run.stderr == "syncscan: No such command 'chekc'; see `syncscan --help`\n"


@pytest.mark.parametrize("arguments", [[], ["ops"]])
def test_a_group_called_alone_shows_its_help(syncscan, arguments):
    run = syncscan(*arguments)
    assert "Commands:" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["trace", "diff", "."], "Missing argument 'HEAD'; see `syncscan trace diff --help`"),
        (["rule", "--no-such"], "No such option '--no-such'; see `syncscan rule --help`"),
        (["ops", "show"], "Missing argument 'NAME'; see `syncscan ops show --help`"),
        (
            ["trace", "report", "nowhere"],
            "Invalid value for 'FOLDER...': Directory 'nowhere' does not exist; see",
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(syncscan, arguments, line):
    run = syncscan(*arguments)
    assert (run.status, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert run.stderr.startswith(f"syncscan: {line}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["check", "a.py"], ["rule"], ["rule", "SYN101"], ["--help"]])
def test_a_full_disk_is_one_line(tmp_path, arguments):
    (tmp_path / "a.py").write_text(BLOCKS)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "syncscan: the output: no space left on device\n")


def test_the_interpreter_runs_it_as_a_module(tmp_path):
    (tmp_path / "a.py").write_text(BLOCKS)
    done = output([*COMMAND, "check"], tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("a.py:4:7: SYN101")
    assert done.stderr == ""


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path):
    (tmp_path / "a.py").write_text(BLOCKS + "print(losses.sum().item())\n" * 500)
    with subprocess.Popen(
        [*COMMAND, "check"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_a_defect_of_syncscan_is_no_finding(syncscan, project, monkeypatch):
    project({"a.py": BLOCKS})
    monkeypatch.setattr("syncscan.check.session.Engine", None)
    run = syncscan("check")
    assert (run.status, run.stdout) == (2, "")
    assert "Traceback" in run.stderr
    assert run.stderr.endswith(
        "syncscan: this is a defect of syncscan; please report it with the lines above\n"
    )


WAITS_FOR_INPUT = [*COMMAND, "check", "-"]


def test_ctrl_c_ends_with_one_line(tmp_path):
    """Ctrl-C while it reads standard input, which surely is after the start of the command."""
    with subprocess.Popen(
        WAITS_FOR_INPUT,
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=foreground,
    ) as process:
        wait_until_it_reads(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"syncscan: interrupted\n")


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads the CPU time of a process in /proc")
def test_ctrl_c_ends_a_long_check_at_once(tmp_path):
    (tmp_path / "a.py").write_text(BLOCKS + "print(losses.sum().item())\n" * 20_000)
    with subprocess.Popen(
        [*COMMAND, "check"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=foreground,
    ) as process:
        wait_until(process.pid, lambda: cpu_seconds(process.pid) >= 1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out, err) == (130, b"", b"syncscan: interrupted\n")


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def wait_until_it_reads(pid: int) -> None:
    """Wait until a process sleeps in a read of a pipe, by what Linux says of it."""
    wait = Path(f"/proc/{pid}/wchan")
    if not wait.exists():
        pytest.skip("needs /proc")
    wait_until(pid, lambda: wait.read_text() in {"pipe_read", "pipe_wait", "anon_pipe_read"})


def test_torch_is_never_imported(tmp_path):
    (tmp_path / "a.py").write_text(BLOCKS)
    script = (
        "import sys\nsys.argv = ['syncscan', 'check', '--exit-zero']\nfrom syncscan.cli import main\n"
        "try: main()\nexcept SystemExit: print('torch' in sys.modules, 'numpy' in sys.modules)\n"
    )
    done = output([sys.executable, "-c", script], tmp_path)
    assert done.stdout.splitlines()[-1] == "False False"


def test_a_command_imports_only_what_it_needs(tmp_path):
    script = (
        "import sys, syncscan.cli; print([m for m in ('libcst', 'rich', 'pathspec') if m in sys.modules])"
    )
    done = output([sys.executable, "-c", script], tmp_path)
    assert done.stdout == "[]\n"


def test_a_check_imports_libcst_for_newer_syntax_alone(tmp_path):
    script = (
        "import sys\nsys.argv = ['syncscan', 'check', '--exit-zero', '-q']\nfrom syncscan.cli import main\n"
        "try: main()\nexcept SystemExit: print('libcst' in sys.modules)\n"
    )
    (tmp_path / "a.py").write_text(BLOCKS)
    assert output([sys.executable, "-c", script], tmp_path).stdout.splitlines()[-1] == "False"
    (tmp_path / "b.py").write_text("def f(:\n")
    assert output([sys.executable, "-c", script], tmp_path).stdout.splitlines()[-1] == "True"


def test_a_terminal_gets_colours(tmp_path):
    (tmp_path / "a.py").write_text(BLOCKS)
    assert "\x1b[" in on_terminal(tmp_path, "check", TERM="xterm", NO_COLOR="")
    assert "\x1b[1;31m" not in on_terminal(tmp_path, "check", TERM="xterm", NO_COLOR="1")


def on_terminal(folder: Path, *arguments: str, **env: str) -> str:
    """What a command writes to a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment(**env), stdout=follower, stderr=follower
    ) as process:
        os.close(follower)
        chunks = []
        while chunk := read_or_end(leader):
            chunks.append(chunk)
        process.wait()
    os.close(leader)
    return b"".join(chunks).decode()


def read_or_end(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""


@pytest.mark.parametrize("where", ["", "syncscan"])
def test_a_file_of_the_checked_project_is_never_imported(tmp_path, where):
    """Of the working folder, which `python -m` puts before all that is installed; a `syncscan` there has no `__init__`."""
    (tmp_path / where).mkdir(exist_ok=True)
    for name in ("__future__", "click", "typing", "pathlib", "rich", "libcst", "re", "json", "cli", "trace"):
        (tmp_path / where / f"{name}.py").write_text("raise SystemExit('imported ' + __file__)\n")
    (tmp_path / "a.py").write_text(BLOCKS)
    for arguments, status in ((["check", "a.py"], 1), (["trace", "--", "true"], 0)):
        done = output([*COMMAND, *arguments], tmp_path)
        assert (done.returncode, "imported" in done.stderr) == (status, False), done.stderr


def test_it_runs_from_a_source_tree():
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*COMMAND, "--version"], cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("syncscan, version ")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("path", "status"), [("a.py", 1), ("b.py", 0), ("none.py", 2), ("-", 0)])
def test_a_closed_stream_changes_no_status(tmp_path, closed, path, status):
    (tmp_path / "a.py").write_text(BLOCKS)
    (tmp_path / "b.py").write_text(SILENT)
    done = output(["sh", "-c", f"exec {shlex.join(COMMAND)} check {path} {closed}"], tmp_path)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert ("SYN101" in done.stdout) == (path == "a.py" and ">&-" not in closed.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(("path", "status"), [("a.py", 1), ("none.py", 2)])
def test_an_error_that_cannot_be_printed_changes_no_status(tmp_path, path, status):
    (tmp_path / "a.py").write_text(BLOCKS)
    line = f"{shlex.join(COMMAND)} check {path} 2>/dev/full"
    assert output(["sh", "-c", line], tmp_path).returncode == status


@pytest.mark.parametrize(
    "arguments",
    [
        *(["check", "--output-format", name] for name in FORMATS),
        ["check", "--statistics"],
        *(["trace", "report", "run", "--output-format", name] for name in ("text", "json", "html")),
        ["rule"],
        ["rule", "SYN101"],
        ["--help"],
        ["check", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_a_reader_that_left_ends_every_output_alike(tmp_path, arguments):
    (tmp_path / "a.py").write_text(BLOCKS)
    if "run" in arguments:
        assert output([*COMMAND, "trace", "-o", "run", "--", "true"], tmp_path).returncode == 0
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as pipe:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, b"")


# Unlike findings in a file of a long name: in every format more than a pipe holds, which is 64 KiB.
LONG_NAME = f"{'a' * 200}.py"
LONG = "import torch\n\n" + "".join(
    f"def f{n}(x{n}=torch.zeros(8, device='cuda')): x{n}.sum().item()\n" for n in range(400)
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_reader_that_leaves_in_the_middle_ends_an_unbuffered_output_too(tmp_path, name):
    (tmp_path / LONG_NAME).write_text(LONG)
    run = subprocess.Popen(
        [*COMMAND, "check", "--no-cache", "--output-format", name],
        cwd=tmp_path,
        env={**environment(), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with run:
        run.stdout.read(1)
        run.stdout.close()
        assert (run.stderr.read(), run.wait()) == (b"", 141)


def test_an_error_commands_nothing_of_the_terminal(syncscan):
    run = syncscan("check", "--config", "a\x1b]0;title\x07\nb\u202e.toml")
    assert run.status == 2
    assert r"a\x1b]0;title\x07\nb\u202e.toml" in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(("arguments", "status"), [((), 1), (("--baseline", "missing.json"), 2)])
def test_a_check_inside_a_program_leaves_its_garbage_collector_on(syncscan, project, arguments, status):
    project({"a.py": BLOCKS})
    assert gc.isenabled()
    assert syncscan("check", *arguments).status == status
    assert gc.isenabled()


@pytest.mark.parametrize(
    "name", ["", *COMMANDS, "ops show", "recipe show", "trace report", "trace diff", "facts record"]
)
def test_no_line_of_help_is_cut(syncscan, name):
    text = syncscan(*name.split(), "--help").stdout
    cut = [line for line in text.splitlines() if line.endswith("...") and not line.startswith("Usage:")]
    assert cut == []


COMPLETIONS = {
    "codes": ("check --select SYN20", {"SYN201", "SYN202", "SYN203", "SYN204", "SYN205", "SYN206"}),
    "codes-after-a-comma": ("check --ignore syn1,SYN40", {"syn1,SYN401", "syn1,SYN402"}),
    "a-code-to-show": ("rule SYN10", {f"SYN10{n}" for n in range(1, 8)}),
    "components": ("recipe show pre", {name for name in templates() if name.startswith("pre")}),
    "subcommands": ("trace re", {"report"}),
    "operations": ("ops show torch.nonzero", {"torch.nonzero", "torch.nonzero_static"}),
}


@pytest.mark.parametrize(("words", "expected"), COMPLETIONS.values(), ids=COMPLETIONS)
def test_a_shell_gets_completions(tmp_path, words, expected):
    line = f"syncscan {words}"
    shell = {
        "_SYNCSCAN_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "syncscan"],
        env=os.environ | shell,
        capture_output=True,
        text=True,
        check=False,
    )
    assert {word.partition(",")[2] for word in done.stdout.splitlines()} == expected


def test_nothing_unlike_is_suggested(syncscan):
    assert syncscan("ops", "show", "nosuch").stderr == (
        "syncscan: 'nosuch' is not in the table; write a whole name such as torch.nonzero\n"
    )
    assert "did you mean 'torch.repeat_interleave'?" in syncscan("ops", "show", "repeat_interleav").stderr
