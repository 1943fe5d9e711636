"""The schema of the settings, held against what reads them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syncscan.config import parse_config
from syncscan.errors import ConfigError
from syncscan.report.schema import settings_schema

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = settings_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

VALUES = st.one_of(
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from(["", "SYN101", "SYN1", "SYN9", "proved", "sure", "a/b.py", "!", "m:f", "m", "base.json"]),
    st.lists(
        st.sampled_from(["SYN101", "SYN", "nothing", "*.py", "!", "", "/", "m:f", ":f", "m:", "*_cpu"]),
        max_size=3,
    ),
    st.dictionaries(
        st.sampled_from(["host-names", "gpu-names", "tests/**", "!", "other"]),
        st.lists(st.sampled_from(["SYN1", "*_cpu", "SYN9"]), max_size=2),
        max_size=2,
    ),
)
TABLES = st.dictionaries(
    st.sampled_from([*(key for key in SCHEMA["properties"] if key != "extend"), "unknown"]),
    VALUES,
    max_size=3,
)


def is_read(table: dict) -> bool:
    try:
        parse_config(table, Path("pyproject.toml"))
    except ConfigError:
        return False
    return True


@settings(max_examples=1000, deadline=None)
@given(TABLES)
@example({"when": [""]})
def test_what_the_schema_accepts_is_what_is_read(table):
    assert VALIDATOR.is_valid(table) == is_read(table)


@pytest.mark.parametrize("key", SCHEMA["properties"])
def test_no_setting_takes_anything(key):
    assert not VALIDATOR.is_valid({key: 17})


def test_the_schema_is_one_and_the_page_is_not_stale():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    written = json.loads((DOCS / "settings.schema.json").read_text(encoding="utf-8"))
    assert written == SCHEMA, "run `python docs/generate.py`"


def test_rules_as_json(syncscan):
    data = json.loads(syncscan("rule", "--output-format", "json").stdout)
    assert data["version"] == 1
    listed = [line.split()[0] for line in syncscan("rule").stdout.splitlines()]
    assert [rule["code"] for rule in data["rules"]] == listed
    assert set(data["rules"][0]) == {"code", "name", "group", "summary", "instead", "fix", "page", "url"}
