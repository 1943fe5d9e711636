"""Play the first day of a large project: print the commands, their output and their time.

    python benchmarks/first_day.py FOLDER

FOLDER holds the source of vLLM 0.19.0 (``pip download --no-deps --no-binary :all: vllm==0.19.0``, unpacked); the
source is copied into a repository of its own, with a cache of its own. The change edits one file, and makes a line of another file
block. ``docs/how-to/first-day.md`` shows the output. Times are wall seconds and processor seconds of this machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = """
[tool.syncscan]
baseline = "syncscan-baseline.json"
hot = [
  "vllm.v1.worker.gpu_model_runner:GPUModelRunner.execute_model",
  "vllm.v1.worker.gpu_model_runner:GPUModelRunner.sample_tokens",
]
"""
FILE = "vllm/v1/sample/ops/penalties.py"
CHANGES = (
    ("from vllm.utils.platform_utils import is_pin_memory_available\n", ""),
    ("    output_tokens_tensor = make_tensor_with_pad(\n", "    return make_tensor_with_pad(\n"),
    ('        device="cpu",\n', "        device=device,\n"),
    ("        pin_memory=is_pin_memory_available(),\n", ""),
    ("    return output_tokens_tensor.to(device, non_blocking=True)\n", ""),
)
OUTPUTS = (
    "--output-file",
    "sarif=red.sarif",
    "--output-file",
    "gitlab=red.gitlab.json",
    "--output-file",
    "github=red.github",
)


def main() -> None:
    """Go through the day."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "vllm"
        shutil.copytree(options.source, root)
        git(root, "init", "--quiet", "--initial-branch", "main")
        commit(root, "vLLM 0.19.0")
        with (root / "pyproject.toml").open("a", encoding="utf-8") as stream:
            stream.write(SETTINGS)
        check(root, "--write-baseline", "syncscan-baseline.json")
        print(f"$ head -3 syncscan-baseline.json\n{''.join(head(root / 'syncscan-baseline.json', 3))}")
        commit(root, "Let syncscan know what is there")
        check(root)
        git(root, "switch", "--quiet", "--create", "change")
        path = root / FILE
        text = path.read_text(encoding="utf-8")
        for before, after in CHANGES:
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
        commit(root, "Make the tokens of penalties where they are needed")
        check(root, *OUTPUTS)
        for name in ("github", "gitlab.json"):
            print(f"$ cat red.{name}\n{(root / f'red.{name}').read_text(encoding='utf-8')}")
        print("$ the results in red.sarif that nothing suppresses")
        print(unsuppressed(root / "red.sarif"))
        check(root, "--since", "main", "--output-format", "github")


def check(root: Path, *arguments: str) -> None:
    """Run a check, and print what it says and takes."""
    print(f"$ syncscan check vllm {' '.join(arguments)}".rstrip())
    start, used = time.monotonic(), processor_seconds()
    command = [sys.executable, "-m", "syncscan", "check", "vllm", *arguments]
    environment = {**os.environ, "XDG_CACHE_HOME": str(root.parent / "kept")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    passed, used = time.monotonic() - start, processor_seconds() - used
    print(
        f"{done.stdout}{done.stderr}[exit status {done.returncode}, {passed:.1f} s, {used:.1f} s of processors]\n"
    )
    sys.stdout.flush()


def unsuppressed(file: Path) -> str:
    """The results of a SARIF log that are to be seen, as JSON."""
    code = (
        "import json,sys; run = json.load(open(sys.argv[1]))['runs'][0]; "
        "print(json.dumps([r for r in run['results'] if 'suppressions' not in r], indent=1))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    ).stdout


def processor_seconds() -> float:
    """What all children have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def head(file: Path, count: int) -> list[str]:
    """The first lines of a file."""
    return file.read_text(encoding="utf-8").splitlines(keepends=True)[:count]


def commit(root: Path, message: str) -> None:
    """Commit all that is there."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def git(root: Path, *arguments: str) -> None:
    """Run git, whatever the settings of the machine."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    program = shutil.which("git") or sys.exit("this needs git")
    subprocess.run([program, *who, *arguments], cwd=root, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
