"""An engine that stays in memory follows what `from module import *` brings."""

from __future__ import annotations

import pytest

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import asked, source

ON_GPU = 'torch.zeros(3, device="cuda")'


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("user", "from a import *\ndef make():\n    pass\nmake().item()\n", 0),
        ("user", "from b import *\nmake().item()\n", 0),
        ("user", "from a import *\nfrom b import *\nmake().item()\n", 0),
        ("user", "from b import *\nfrom a import *\nmake().item()\n", 1),
        ("a", "from b import *\n", 0),
        ("a", "", 0),
    ],
)  # fmt: skip
def test_what_a_star_imports_is_followed_where_it_changes(name, text, count) -> None:
    made = f"import torch\ndef make():\n    return {ON_GPU}\n"
    texts = {"a": made, "b": "import torch\ndef make():\n    return torch.zeros(3)\n", "user": "from a import *\nmake().item()\n"}  # fmt: skip
    sources = {each: source(each, text) for each, text in texts.items()}
    engine = Engine(Conventions())
    assert len(asked(engine, sources)[0].findings) == 1
    sources[name] = source(name, text)
    result = asked(engine, sources)[0]
    assert result == asked(Engine(Conventions()), sources)[0]
    assert len(result.findings) == count


def test_stars_in_another_order_are_followed() -> None:
    made = "import torch\ndef make():\n    return torch.zeros(3{})\n"
    texts = {"a": made.format(', device="cuda"'), "b": made.format(""), "user": "from b import *\nfrom a import *\nmake().item()\n"}  # fmt: skip
    sources = {each: source(each, text) for each, text in texts.items()}
    engine = Engine(Conventions())
    assert len(asked(engine, sources)[0].findings) == 1
    sources["user"] = source("user", "from a import *\nfrom b import *\nmake().item()\n")
    assert asked(engine, sources)[0] == asked(Engine(Conventions()), sources)[0]
