"""Packages that are installed, and that a project imports, are read for what the project uses of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from syncscan.check.cache import Store
from syncscan.check.discover import Project
from syncscan.check.engine import check_sources
from syncscan.check.files import Source
from syncscan.check.libraries.needed import MOST_LINES
from syncscan.check.libraries.reading import Libraries
from syncscan.config import Config
from syncscan.model import Conventions
from tests.conftest import Command

Install = Callable[..., Path]
Found = Callable[..., set[tuple[int, str]]]

SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
LOSSES = """\
import torch
from torch import nn


def spread(x):
    return (x - x.mean()).abs().max()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        if x.sum() > 0:
            return self.layer(x)
        return x
"""
USE = """\
import torch
from losses import Net, spread

x = torch.ones(4, device="cuda")
print(spread(x).item())
net = Net().to("cuda")
print(net(x).tolist())
"""
IN_USE = {(5, "SYN101"), (6, "SYN302"), (7, "SYN102")}


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Write files into the packages of an environment; returns the environment."""

    def write(files: dict[str, str], environment: str = "env") -> Path:
        for name, text in files.items():
            file = tmp_path / environment / SITE / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / environment / "pyvenv.cfg").touch()
        return tmp_path / environment

    return write


@pytest.fixture
def found(syncscan: Command, tmp_path: Path) -> Found:
    """Check a program, and return the line and code of each finding."""

    def check(text: str, *options: object, file: str = "project/main.py") -> set[tuple[int, str]]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        run = syncscan("check", file, "--when", "all", "--output-format", "json", *options)
        assert not run.stderr
        return {(each["line"], each["code"]) for each in json.loads(run.stdout)["findings"]}

    return check


def test_results_of_installed_functions_and_modules_are_known(install: Install, found: Found) -> None:
    environment = install({"losses.py": LOSSES})
    assert found(USE, "--environment", environment) == IN_USE
    assert found(USE, "--environment", "none") < IN_USE


def test_nothing_is_reported_in_packages(install: Install, syncscan: Command, tmp_path: Path) -> None:
    environment = install({"losses.py": LOSSES})
    (tmp_path / "main.py").write_text(USE)
    options = ("main.py", "--when", "all", "--environment", environment)
    summary = syncscan("check", *options).stdout.splitlines()[-1]
    assert summary.startswith("3 findings in 1 file; 1 file checked in ")
    assert summary.endswith(" s, sources of losses read")
    assert (
        "read"
        not in syncscan("check", "main.py", "--when", "all", "--environment", "none").stdout.splitlines()[-1]
    )
    report = json.loads(syncscan("check", *options, "--output-format", "json").stdout)
    assert {each["path"] for each in report["findings"]} == {"main.py"}


@pytest.mark.parametrize(
    ("package", "main"),
    [
        ({"lib/__init__.py": "from .inner import spread\n"}, "from lib import spread\ncall = spread"),
        ({"lib/__init__.py": "from .inner import *\n"}, "from lib import spread\ncall = spread"),
        ({"lib/__init__.py": "from . import inner\n"}, "import lib\ncall = lib.inner.spread"),
        ({"lib/__init__.py": "from . import inner\n"}, "from lib import inner\ncall = inner.spread"),
        ({"lib/__init__.py": ""}, "import lib.inner as it\ncall = it.spread"),
        ({"lib/__init__.py": ""}, "import lib.inner\ncall = lib.inner.spread"),
        ({"lib/__init__.py": ""}, "from lib.inner import *\ncall = spread"),
        ({"lib/__init__.py": "from lib.inner import spread as other\n"}, "import lib as it\ncall = it.other"),
        (
            {
                "lib/__init__.py": "try:\n    from .inner import spread\nexcept ImportError:\n    spread = None\n"
            },
            "from lib import spread\ncall = spread",
        ),
        (
            {
                "lib/__init__.py": "",
                "lib/more/__init__.py": "",
                "lib/more/deep.py": "from ..inner import spread\n",
            },
            "from lib.more.deep import spread\ncall = spread",
        ),
        ({"lib/__init__.py": ""}, "def call(x):\n    from lib.inner import spread\n    return spread(x)"),
    ],
)
def test_names_are_followed_to_what_defines_them(
    install: Install, found: Found, package: dict[str, str], main: str
) -> None:
    environment = install({**package, "lib/inner.py": LOSSES})
    program = f'import torch\n{main}\nvalue = call(torch.ones(4, device="cuda")).item()\n'
    line = len(program.splitlines())
    assert (line, "SYN101") in found(program, "--environment", environment)


def test_what_definitions_use_is_read_too(install: Install, found: Found) -> None:
    environment = install(
        {
            "lib/__init__.py": "import torch\nfrom .parts import Base, SCALE\n\n\n"
            "class Loss(Base):\n    def __call__(self, x):\n        return self.inner(x) * SCALE\n",
            "lib/parts.py": "import torch\n\nSCALE = 2\n\n\nclass Base:\n    def inner(self, x):\n        return helper(x)\n\n\n"
            "def helper(x):\n    return x.float()\n",
        }
    )
    program = 'import torch\nfrom lib import Loss\nprint(Loss()(torch.ones(4, device="cuda")).tolist())\n'
    assert found(program, "--environment", environment) == {(3, "SYN102")}


def test_what_is_read_says_what_the_whole_package_says(install: Install, tmp_path: Path) -> None:
    """The definitions that a program names are enough: others of the package would tell it nothing."""

    others = "".join(f"\n\ndef other_{n}(x):\n    return spread(x) + {n}\n" for n in range(20))
    environment = install({"losses.py": LOSSES + others})
    main = Source(tmp_path / "main.py", "main.py", "main", USE)
    config = Config(root=tmp_path, environment=str(environment))
    read = Libraries().added_to(Project((main,), None), config)
    whole = Source(tmp_path / "losses.py", "losses.py", "losses", LOSSES + others)

    def findings(sources: tuple[Source, ...]) -> set[tuple[int, str]]:
        result = check_sources(sources, {"main.py"}, Conventions(), lambda *_: None)
        return {(each.line, each.code) for each in result.findings}

    assert findings(read.sources) == findings((main, whole)) == IN_USE
    (part,) = (source for source in read.sources if source is not main)
    assert "def other_" not in part.text
    assert len(part.text.splitlines()) <= len(whole.text.splitlines())


def test_a_package_that_changes_is_read_anew(install: Install, found: Found) -> None:
    environment = install({"losses.py": LOSSES})
    assert (5, "SYN101") in found(USE, "--environment", environment)
    install({"losses.py": LOSSES.replace(".max()", ".max().cpu()")})
    assert (5, "SYN101") not in found(USE, "--environment", environment)
    (environment / SITE / "losses.py").unlink()
    assert found(USE, "--environment", environment) == found(USE, "--environment", "none")


ONE = """\
import torch
from lib import spread

spread(torch.ones(4, device="cuda")).tolist()
"""
BLOCKS = {(4, "SYN102")}
OF_TORCH = "import torch\n\n\ndef spread(x):\n    return x.max()\n"
ON_HOST = OF_TORCH.replace("max()", "max().cpu()")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"lib.py": OF_TORCH}),
        ({"lib.py": OF_TORCH.replace("import torch\n", "")}, {"lib.py": OF_TORCH}),
        ({"lib.py": "def spread(x:\n"}, {"lib.py": OF_TORCH}),
        ({"lib/__init__.py": "from .inner import spread\n"}, {"lib/inner.py": OF_TORCH}),
        (
            {"lib/__init__.py": "from .inner import spread\n", "lib/inner/__init__.py": ""},
            {"lib/inner/__init__.py": OF_TORCH},
        ),
        ({"lib.py": ON_HOST}, {"lib/__init__.py": OF_TORCH}),
    ],
)
def test_a_package_that_comes_later_is_read(
    install: Install, found: Found, before: dict[str, str], after: dict[str, str]
) -> None:
    environment = install({"other.py": "", **before})
    assert found(ONE, "--environment", environment) != BLOCKS
    install(after)
    assert found(ONE, "--environment", environment) == BLOCKS


def test_one_answer_does_not_depend_on_another(install: Install, tmp_path: Path) -> None:

    environment = install({"lib/__init__.py": OF_TORCH, "lib/sub.py": OF_TORCH})
    config = Config(root=tmp_path, environment=str(environment))
    texts = [ONE, ONE.replace("spread\n", "spread, sub\n") + "sub.nothing(2)\n"]

    def read(text: str, libraries: Libraries) -> list[tuple[str, str]]:
        project = Project((Source(tmp_path / "main.py", "main.py", "main", text),), None)
        return [(each.module, each.text) for each in libraries.added_to(project, config).sources[1:]]

    alone = [read(text, Libraries()) for text in texts]
    assert alone[0] != alone[1]
    for order in ((0, 1), (1, 0)):
        shared, store = Libraries(), Store(tmp_path / f"store{order[0]}")
        assert {n: read(texts[n], shared) for n in order} == dict(enumerate(alone))
        assert {n: read(texts[n], Libraries(store)) for n in order} == dict(enumerate(alone))
        assert {n: read(texts[n], Libraries(store)) for n in order} == dict(enumerate(alone))


@pytest.mark.parametrize(
    "imports",
    [
        "import torch, lib",
        "import torch; import lib",
        "if True: import lib, torch",
        "from \\\n  lib import spread; import lib, torch",
    ],
)
def test_imports_may_stand_anywhere(install: Install, found: Found, imports: str) -> None:
    environment = install({"lib.py": OF_TORCH})
    program = f'{imports}\n\nlib.spread(torch.ones(4, device="cuda")).tolist()\n'
    assert found(program, "--environment", environment) == {(len(program.splitlines()), "SYN102")}


def test_words_that_look_like_imports_do_no_harm(install: Install, found: Found) -> None:
    environment = install({"lib.py": OF_TORCH})
    comment = (
        "# from https://example.org, import FP16/BF16 weights\n# from ..\n'import .'\nimport os.path, lib\n"
    )
    assert found(f"{comment}{ONE}", "--environment", environment) == {(8, "SYN102")}


@pytest.mark.parametrize(
    "text",
    [
        'import torch\nDOC = """\ntext\n"""; LIMIT = 3\ndef spread(x): return x.max() * LIMIT\n',
        "import torch\nA = 1; \\\n    LIMIT = 3\ndef spread(x): return x.max() * LIMIT\n",
        "import torch\nLIMIT = 3; A = (\n    1)\ndef spread(x): return x.max() * LIMIT\n",
        "import torch\ntry: from _fast import spread\nexcept ImportError:\n    def spread(x): return more(x)\ndef more(x): return x.max()\n",
        "import torch\ndef spread(x): return _RANK[0](x)\n_RANK = {}\n_RANK[0] = torch.max\n",
        "import torch\n@torch.no_grad()\ndef spread(\n    x,\n): return x.max()\n",
        '"""\ndef spread(x): return 1\n"""\nfrom __future__ import annotations\nimport torch\ndef spread(x: T): return x.max()\n',
    ],
)
def test_statements_are_read_whole(install: Install, found: Found, text: str) -> None:
    environment = install({"lib.py": text})
    assert found(ONE, "--environment", environment) == BLOCKS


@pytest.mark.parametrize(
    "chosen",
    [
        'DEV = "cpu"\n',
        'for DEV in ("cpu",):\n    pass\n',
        'class Settings:\n    device = "cpu"\n\n\nDEV = Settings().device\n',
        'def choose():\n    return "cpu"\n\n\nDEV = choose()\n',
        'SETTINGS = {}\nSETTINGS.update(device="cpu")\nDEV = SETTINGS["device"]\n',
    ],
)
def test_what_chooses_a_device_needs_no_torch(install: Install, found: Found, chosen: str) -> None:
    made = (
        "import torch\nfrom .settings import DEV\n\n\ndef spread(x):\n    return torch.ones(3, device=DEV)\n"
    )
    environment = install({"lib/__init__.py": made, "lib/settings.py": chosen})
    assert found(ONE, "--environment", environment) == set()
    install({"lib/settings.py": 'DEV = "cuda"\n'})
    assert found(ONE, "--environment", environment) == BLOCKS


def test_all_definitions_of_a_name_are_read_or_none(install: Install, found: Found) -> None:
    long = (
        f"def spread(x):\n{'    x = x' + chr(10) * 1}" + "    x = x\n" * MOST_LINES + "    return x.max()\n"
    )
    text = f"import torch\n\n\n{long}\n\n_spread = spread\n\n\ndef spread(x):\n    return _spread(x).cpu()\n"
    environment = install({"lib.py": text})
    assert found(ONE, "--environment", environment) == set()


def test_a_module_beside_the_file_comes_first(install: Install, found: Found, tmp_path: Path) -> None:
    environment = install({"lib.py": OF_TORCH})
    assert found(ONE, "--environment", environment) == BLOCKS
    (tmp_path / "project" / "lib.py").write_text(ON_HOST)
    assert found(ONE, "--environment", environment) == set()
    (tmp_path / "project" / "lib.py").unlink()
    relative = ONE.replace("from lib", "import lib\nfrom .lib")
    assert found(relative, "--environment", environment) == set()


def test_a_file_of_the_project_is_no_package(install: Install, syncscan: Command, tmp_path: Path) -> None:
    own = f"{OF_TORCH}\n\ndef other():\n    return torch.ones(1, device='cuda').item()\n"
    environment = install({"lib.py": own}, "project/env")
    (environment / "pyvenv.cfg").unlink()
    (tmp_path / "project" / "main.py").write_text(ONE)
    (tmp_path / "project" / "pyproject.toml").touch()

    def places(*options: object) -> set[tuple[str, int]]:
        run = syncscan("check", "project", "--when", "all", "--output-format", "json", *options)
        return {(Path(each["path"]).name, each["line"]) for each in json.loads(run.stdout)["findings"]}

    assert ("lib.py", 9) in places("--environment", "none")
    assert ("lib.py", 9) in places("--environment", environment)


def test_init_names_no_function_of_a_package(
    install: Install, syncscan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = """\
import torch


class Trainer:
    def __init__(self, loss):
        self.loss = loss

    def fit(self, net, x):
        for _ in range(10):
            self.train_step(net, x)

    def train_step(self, net, x):
        self.loss(net(x))
"""
    environment = install({"lib.py": trainer}, "env")
    (tmp_path / "main.py").write_text(
        "import torch\nfrom lib import Trainer\n\n\ndef loss(x):\n    print(x.sum().item())\n\n\n"
        'net = torch.nn.Linear(4, 4).to("cuda")\nTrainer(loss).fit(net, torch.ones(4, device="cuda"))\n'
    )
    monkeypatch.setenv("VIRTUAL_ENV", os.fspath(environment))
    assert syncscan("check", "main.py").status == 1
    syncscan("init", "--yes", ".")
    assert "lib:" not in (tmp_path / "pyproject.toml").read_text()
    monkeypatch.delenv("VIRTUAL_ENV")
    assert syncscan("check", ".", "--environment", "none").status == 0


def test_a_program_that_changes_needs_other_definitions(install: Install, found: Found) -> None:
    environment = install({"losses.py": LOSSES})
    shorter = USE.replace("net = Net", "net = print  # Net").replace("print(net(x).tolist())", "")
    assert found(shorter, "--environment", environment) == {(5, "SYN101")}
    assert found(USE, "--environment", environment) == IN_USE


def test_the_project_and_the_stubs_come_first(install: Install, found: Found, tmp_path: Path) -> None:
    on_host = "import torch\n\n\ndef spread(x):\n    return x.cpu()\n\n\ndef rearrange(x, form):\n    return x.cpu()\n"
    environment = install({"own.py": on_host, "einops.py": on_host})
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").touch()
    (tmp_path / "project" / "own.py").write_text("def spread(x):\n    return x.max()\n")
    program = (
        "import einops\nimport torch\nfrom own import spread\n\n"
        'x = torch.ones(4, device="cuda")\nspread(x).item()\neinops.rearrange(x, "a -> a 1").tolist()\n'
    )
    assert found(program, "--environment", environment) == {(6, "SYN101"), (7, "SYN102")}


def test_what_is_no_python_and_what_names_no_torch_is_left_out(install: Install, found: Found) -> None:
    environment = install(
        {
            "broken/__init__.py": "def spread(x:\n",
            "binary/__init__.py": "",
            "plain.py": "def spread(x):\n    return x\n",
        }
    )
    program = (
        "import binary.inner\nimport torch\nfrom broken import spread\nfrom plain import spread as same\n\n"
        'x = torch.ones(4, device="cuda")\nspread(x)\nsame(x)\nbinary.inner.call(x)\nx.tolist()\n'
    )
    assert found(program, "--environment", environment) == {(10, "SYN102")}


def test_near_definitions_are_read_before_the_bound(
    install: Install, found: Found, syncscan: Command
) -> None:
    body = "    x = x + 1\n" * (MOST_LINES // 2)
    links = "".join(f"def link_{n}(x):\n{body}    return link_{n + 1}(x)\n\n\n" for n in range(4))
    environment = install(
        {"far.py": f"import torch\n\n\n{links}def link_4(x):\n    return x\n", "losses.py": LOSSES}
    )
    program = (
        USE.replace("from losses", "from far import link_0\nfrom losses") + "print(link_0(x).tolist())\n"
    )
    near = {(line + 1, code) for line, code in IN_USE}
    assert found(program, "--environment", environment) == near
    summary = syncscan("check", "project/main.py", "--environment", environment).stdout.splitlines()[-1]
    assert ", sources of far and losses read in part" in summary
    first = program.replace("from far", "from  far").replace("link_0", "link_3")
    assert found(first, "--environment", environment) == {*near, (9, "SYN102")}


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environment_is_read(
    install: Install, found: Found, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for each in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(each, raising=False)
    environment = install({"losses.py": LOSSES})
    assert found(USE) < IN_USE
    monkeypatch.setenv(variable, os.fspath(environment))
    assert found(USE) == IN_USE
    assert found(USE, "--environment", "none") < IN_USE


def test_the_environment_of_the_project_is_read(
    install: Install, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(each, raising=False)
    install({"losses.py": LOSSES}, "project/.venv")
    assert found(USE) == IN_USE


def test_settings_name_an_environment(install: Install, found: Found, tmp_path: Path) -> None:
    install({"losses.py": LOSSES}, "project/tools/env")
    settings = tmp_path / "project" / "pyproject.toml"
    settings.write_text('[tool.syncscan]\nenvironment = "tools/env"\n')
    assert found(USE) == IN_USE
    settings.write_text('[tool.syncscan]\nenvironment = "none"\n')
    assert found(USE) < IN_USE


def test_a_folder_that_is_no_environment_is_an_error(syncscan: Command, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(USE)
    run = syncscan("check", "main.py", "--environment", "nowhere")
    assert run.status == 2
    assert "environment: nowhere: no Python environment; name a folder such as .venv" in run.stderr


def test_a_change_is_compared_with_the_same_packages(
    install: Install, syncscan: Command, tmp_path: Path
) -> None:

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    environment = install({"losses.py": LOSSES})
    (tmp_path / "main.py").write_text(USE)
    git("init", "-q")
    git("add", "main.py")
    git("commit", "-qm", "first")
    (tmp_path / "main.py").write_text(USE + "print(spread(x).tolist())\n")
    run = syncscan(
        "check",
        "main.py",
        "--when",
        "all",
        "--since",
        "HEAD",
        "--environment",
        environment,
        "--output-format",
        "json",
    )
    assert [(each["line"], each["code"]) for each in json.loads(run.stdout)["findings"]] == [(8, "SYN102")]
