"""Certificates as plain data, for the store."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from syncscan.check.persistence.findings import each, finding_of, parts, plain
from syncscan.check.prove.answer import Certificate, Group, NamedObstacle
from syncscan.model import Failure


def data_of(certificate: Certificate) -> list[Any]:
    """Return a certificate as data."""
    return [
        certificate.entry_point,
        certificate.functions,
        [[plain(one.finding), one.group.value, one.fact] for one in certificate.obstacles],
        list(certificate.assumptions),
        [list(astuple(failure)) for failure in certificate.failures],
    ]


def certificate_of(data: object) -> Certificate | None:
    """Return the certificate that data stands for; None where it stands for none."""
    try:
        entry_point, functions, obstacles, assumptions, failures = parts(data, str, int, list, list, list)
        return Certificate(
            entry_point,
            functions,
            tuple(
                NamedObstacle(finding_of(finding), Group(group), fact)
                for finding, group, fact in each(obstacles, list, str, str)
            ),
            tuple(parts(assumptions, *[str] * len(assumptions))),
            tuple(Failure(*failure) for failure in each(failures, str, int, str, bool, str, int)),
        )
    except ValueError:
        return None
