"""The JSON schema of the settings, for editors: what a [tool.syncscan] table may hold.

`syncscan.config` accepts whatever the schema accepts, but for conditions that name no parameter of their
operation. The schema is stricter in one way: codes are in capitals.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from syncscan.model import REPORTED_CONFIDENCE, Conventions, When
from syncscan.ops import DTYPES, RESULTS, Effect
from syncscan.ops.dimensions import STATEMENT
from syncscan.ops.kinds import KINDS
from syncscan.report.address import BRANCH, REPOSITORY
from syncscan.rule import rule_book

_Schema = dict[str, Any]


def settings_schema() -> _Schema:
    """Return the schema as plain data."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **({"$id": f"{REPOSITORY}/raw/{BRANCH}/docs/settings.schema.json"} if REPOSITORY else {}),
        "title": "Settings of syncscan",
        "description": "The [tool.syncscan] table of a pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": _settings(),
    }


def _settings() -> dict[str, _Schema]:
    prefixes = {code[:length] for code in rule_book() for length in range(len("SYN"), len(code) + 1)}
    codes = _strings({"enum": sorted(prefixes)})
    return {
        "extend": _described(_TEXT, "A file whose [tool.syncscan] holds where this one says nothing."),
        "select": _described(codes, "Codes or prefixes of codes to report; the longest that fits decides."),
        "ignore": _described(
            codes, "Codes or prefixes not to report; wins over select where both fit equally."
        ),
        "extend-select": _described(codes, "Codes or prefixes to report in addition to select."),
        "per-file-ignores": _described(
            {"type": "object", "additionalProperties": codes, "propertyNames": _PATTERN},
            "Codes not to report in the files that a pattern names.",
        ),
        "min-confidence": _described(
            {"enum": [level.label for level in REPORTED_CONFIDENCE]},
            "Report findings from this confidence on.",
        ),
        "exclude": _described(
            _strings(_PATTERN), "Files that are neither reported nor read; patterns as in a .gitignore."
        ),
        "require-reason": _described(_FLAG, "Whether each suppression must say why."),
        "hot": _described(
            _strings({"type": "string", "pattern": "^[^:]+:.+$"}),
            "Entry points of the code that must not block, as 'package.module:Class.method'.",
        ),
        "sync-free": _described(
            _strings({"type": "string", "pattern": "^[^:]+:.+$"}),
            "Functions that are to be free of synchronization, as 'package.module:Class.method'.",
        ),
        "configurations": _described(
            {"type": "object", "additionalProperties": _strings(_TEXT)},
            "Assumptions of `syncscan prove --assume NAME`, by name, as 'package.module:Class.attribute = CONSTANT'.",
        ),
        "when": _described(
            _strings({"enum": [*(each.value for each in When), "all"]}),
            'Report only code that runs at these times; ["step", "unknown"] by default.',
        ),
        "hot-only": _described(_FLAG, 'The old name of when = ["step"].'),
        "all": _described(_FLAG, 'The old name of when = ["all"].'),
        "baseline": _described(_TEXT, "The file of what is known and not reported, relative to this one."),
        "environment": _described(
            _TEXT, "The Python environment whose packages are read, relative to this file; auto, or none."
        ),
        "facts": _described(
            _strings(_TEXT),
            "Files that `syncscan facts record` wrote, whose facts the check uses; relative to this one.",
        ),
        "conventions": _described(
            {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    field.name.replace("_", "-"): _strings({"type": "string"})
                    for field in fields(Conventions)
                },
            },
            "Shell patterns of names that say where a tensor lives, in place of the usual ones.",
        ),
        "operations": _described(
            {"type": "object", "propertyNames": {"pattern": _FULL_NAME}, "additionalProperties": _entry()},
            "What the project's own C++, CUDA and Triton operations do to the host, by their full names.",
        ),
    }


_FLAG: _Schema = {"type": "boolean"}
_FULL_NAME = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"
_TEXT: _Schema = {"type": "string", "minLength": 1}
_PATTERN: _Schema = {"type": "string", "pattern": "^(?!!$)"}  # a lone "!" excludes and includes nothing


def _entry() -> _Schema:
    """Return an entry of the operation table; the reader checks that conditions name parameters in ``args``."""
    dtype = "|".join(map(re.escape, sorted(DTYPES)))
    result = "|".join(map(re.escape, sorted(RESULTS)))
    whole: _Schema = {"type": "integer", "minimum": 0}
    of_result: dict[str, _Schema] = {
        "result": {"type": "string", "pattern": rf"^({result}|arg \w+|a \S+)$"},
        "dtype": {"type": "string", "pattern": f"^({dtype})(, ({dtype}))*$"},
        "ndim": {"anyOf": [whole, {"type": "string", "pattern": f"^({STATEMENT.pattern})$"}]},
        "count": whole,
        "reduces": {"type": "string"},
    }
    parameters = _strings({"type": "string", "pattern": r"^\*?[^\W\d]\w*$"})
    condition = {"type": "string", "pattern": _condition()}
    effect = {"enum": [effect.value for effect in Effect]}
    case = _object({"as": effect, "when": condition, "unless": condition}, required="as")
    return _object(
        {
            "args": parameters,
            "blocks": _strings(case),
            "reads": parameters,
            "sometimes": _strings(case),
            **of_result,
            "forms": _strings(_object({"when": condition, **of_result}, required="when")),
            "aten": _strings({"type": "string"}),
            "aliases": _strings({"type": "string"}),
            "measured": _FLAG,
        }
    )


def _condition() -> str:
    """Return the pattern of the conditions that `syncscan.ops.parse_condition` reads."""
    kinds = "|".join(sorted(KINDS))
    term = rf"\w+ (is (not )?({kinds})|(not )?given|> \d+ bytes)"
    return f"^({term}( and {term})*)?$"


def _object(properties: dict[str, _Schema], *, required: str = "") -> _Schema:
    keys = {"required": [required]} if required else {}
    return {"type": "object", "additionalProperties": False, "properties": properties, **keys}


def _strings(item: _Schema) -> _Schema:
    return {"type": "array", "items": item}


def _described(schema: _Schema, description: str) -> _Schema:
    return {"description": description, **schema}
