"""Findings as JUnit's XML, which nearly every CI shows: a failed test for each, or one that passed where there is none.

A finding that does not fail the build is a test that was skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO
from xml.etree import ElementTree as ET

from syncscan.model import Failure, Finding, place_of
from syncscan.report.records import Report, advised, places_of
from syncscan.report.safe_text import safe_line

_NO_XML = re.compile("[\ufffe\uffff]")  # besides the controls, which safe_line shows as escapes


def render(report: Report, stream: TextIO) -> None:
    """Write one suite, indented, and a line end."""
    cases = [*map(_failed, (*report.failures, *report.unfixed)), *_cases(report)]
    if not cases:
        cases = [ET.Element("testcase", {"classname": "syncscan", "name": "check"})]
    count = {kind: str(sum(case.find(kind) is not None for case in cases)) for kind in _KINDS}
    suite = ET.Element(
        "testsuite",
        {
            "name": "syncscan",
            "tests": str(len(cases)),
            "failures": count["failure"],
            "errors": count["error"],
            "skipped": count["skipped"],
            "time": f"{report.seconds:.3f}",
        },
    )
    suite.extend(cases)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(ET.tostring(root, encoding="unicode") + "\n")


_KINDS = ("failure", "error", "skipped")


def _cases(report: Report) -> Iterator[ET.Element]:
    for finding in report.findings:
        path = report.in_repository(finding.path)
        where = place_of(finding.function or path, finding.cell)
        name = f"{finding.code} {where}:{finding.line}:{finding.column}"
        case = ET.Element(
            "testcase",
            {"classname": _text(path), "name": _text(name), "file": _text(path), "line": str(finding.line)},
        )
        kind = "failure" if finding.severity >= report.fails_on else "skipped"
        element = ET.SubElement(case, kind, {"message": _text(f"{finding.code} {finding.message}")})
        if kind == "failure":
            element.set("type", finding.severity.label)
            element.text = _body(finding, path)
        yield case


def _body(finding: Finding, path: str) -> str:
    lines = [
        f"at: {place_of(path, finding.cell)}:{finding.line}:{finding.column}",
        f"expression: {finding.expression}",
    ]
    lines += [f"because: {step.text} ({step.place})" for step in finding.evidence]
    if finding.passed_too:
        lines += [f"also passed at: {places_of(finding.passed_too)}"]
    return "\n".join(map(_text, [*lines, advised(finding)]))


def _failed(failure: Failure) -> ET.Element:
    case = ET.Element("testcase", {"classname": _text(failure.path), "name": "analysis"})
    ET.SubElement(case, "error", {"message": _text(failure.message), "type": "syncscan"})
    return case


def _text(text: str) -> str:
    return _NO_XML.sub("", safe_line(text))
