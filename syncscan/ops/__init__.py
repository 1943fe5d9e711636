"""The operation table: its conditions and entries (`table`), and the kinds of value that conditions name."""

from syncscan.ops.binding import by_parameter
from syncscan.ops.table import (
    DEFAULT,
    DTYPES,
    RESULTS,
    Case,
    Condition,
    Effect,
    Form,
    Operation,
    OperationTable,
    Term,
    follows_default,
    load_table,
    parse_condition,
    parse_operations,
    parse_table,
    reads_number,
)

__all__ = [
    "DEFAULT",
    "DTYPES",
    "RESULTS",
    "Case",
    "Condition",
    "Effect",
    "Form",
    "Operation",
    "OperationTable",
    "Term",
    "by_parameter",
    "follows_default",
    "load_table",
    "parse_condition",
    "parse_operations",
    "parse_table",
    "reads_number",
]
