"""Records -> entries of the table. A pure function: the same records give the same table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from syncscan.errors import SyncscanError
from syncscan.measure.describe import Description
from syncscan.measure.effects import effect_of
from syncscan.measure.handwritten import Sheet, sheets
from syncscan.measure.learn import MeasuredCall, all_hold, learn, waits
from syncscan.measure.probe import Record
from syncscan.measure.results import result_of
from syncscan.ops import Case, Condition, Effect, Operation, OperationTable

_NO_SHEET = Sheet("", (), ())
ATEN_SHOWN = 4  # overloads named in an entry, those that blocked the host first


def derive(records: Iterable[Record], known: OperationTable) -> dict[str, Operation]:
    """Return an entry for each operation that was measured, or is known and cannot be.

    Conditions of the table in place stay where they agree with every measured call; others are
    learnt anew. Parameters and results that the table declares stay too: the calls of one machine cannot
    determine all of them.
    """
    by_name: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if "error" not in record:
            by_name[record["op"]].append(record)
    entries = {name: _entry(name, found, known.operations.get(name)) for name, found in by_name.items()}
    for name, sheet in sheets().items():
        if name not in entries and not sheet.cases:
            entries[name] = Operation(
                name, sheet.args, result=sheet.result, dtype=sheet.dtype, measured=False
            )
    for name, operation in known.operations.items():
        entries.setdefault(name, replace(operation, measured=False))
    return dict(sorted(entries.items()))


def replace_measured(
    records: Sequence[Record], known: OperationTable, names: Collection[str], measured_on: Mapping[str, str]
) -> dict[str, Operation]:
    """Return the entries of a table with these operations measured anew, and the others as they are.

    SyncscanError where the table was measured on another GPU or version of torch: a table is of one machine.
    """
    here, there = (tuple(on.get(key) for key in ("gpu", "torch")) for on in (measured_on, known.measured_on))
    if here != there:
        raise SyncscanError(f"the table was measured on {there}, and this is {here}: measure every operation")
    found = derive(records, known)
    return dict(
        sorted({**known.operations, **{name: found[name] for name in names if name in found}}.items())
    )


def _entry(name: str, records: list[Record], known: Operation | None) -> Operation:
    sheet = sheets().get(name, _NO_SHEET)
    args = sheet.args or _longest_names(records) or (known.args if known else ())
    if sheet.alone:
        records = [record for record in records if not record["code"].startswith("op_db ")]
    blocks, sometimes = _conditions(name, args, records, sheet, known)
    entry = result_of(name, args, records, sheet)
    if known:
        shares = entry.result == "view" and known.result == "input"  # seen in memory, so surer than declared
        result = "view" if shares else known.result
        entry = replace(
            entry,
            result=result,
            dtype=known.dtype,
            ndim=known.ndim,
            count=known.count,
            reduces=known.reduces,
            forms=known.forms,
        )
    args = _with_mentioned(args, entry, (*blocks, *sometimes))
    return replace(entry, args=args, blocks=blocks, sometimes=sometimes, aten=_aten(name, records))


def _conditions(
    name: str, args: tuple[str, ...], records: list[Record], sheet: Sheet, known: Operation | None
) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Return the conditions that always hold, and conditions that sometimes hold. If the first explain all calls, the others are dropped."""
    kept = _confirmed(_renamed(known, args), records) if known else ()
    if all(says(kept, record) for record in records if record["waited"]):
        return kept, ()
    learnt, sometimes = _learnt(name, args, kept, records, sheet)
    known_sometimes = known.sometimes if known else ()
    told = all(says((*kept, *known_sometimes), record) for record in records if record["waited"])
    if sometimes and told:
        return kept, known_sometimes
    return (*kept, *learnt), sometimes


def _longest_names(records: list[Record]) -> tuple[str, ...]:
    return max((tuple(record.get("names", ())) for record in records), key=len, default=())


def _with_mentioned(args: tuple[str, ...], entry: Operation, cases: Sequence[Case]) -> tuple[str, ...]:
    """Add the keyword-only parameters that the entry mentions."""
    plain = {arg.removeprefix("*") for arg in args} | {"any", ""}
    mentioned = [term.arg for case in cases for term in (*case.when, *case.unless)]
    mentioned += [entry.reduces, entry.result.removeprefix("arg ") if entry.result.startswith("arg ") else ""]
    return (*args, *sorted({arg for arg in mentioned if arg not in plain}))


def says(cases: Sequence[Case], record: Record) -> bool:
    """Return whether the conditions say that a call blocks."""
    return waits(((case.when, case.unless) for case in cases), record["args"])


def _renamed(known: Operation, args: tuple[str, ...]) -> tuple[Case, ...]:
    """Return the conditions of the table in place, with the present names of the parameters."""
    names = {old.removeprefix("*"): new.removeprefix("*") for old, new in zip(known.args, args, strict=False)}

    def renamed(condition: Condition) -> Condition:
        return tuple(replace(term, arg=names.get(term.arg, term.arg)) for term in condition)

    return tuple(replace(case, when=renamed(case.when), unless=renamed(case.unless)) for case in known.blocks)


def _confirmed(cases: Sequence[Case], records: list[Record]) -> tuple[Case, ...]:
    """Return the conditions that some blocking call meets, and that no other call contradicts."""
    waited = [record for record in records if record["waited"]]
    others = [record for record in records if not record["waited"]]
    return tuple(
        case
        for case in cases
        if any(says([case], r) for r in waited) and not any(says([case], r) for r in others)
    )


def _learnt(
    name: str, args: tuple[str, ...], kept: Sequence[Case], records: list[Record], sheet: Sheet
) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Return conditions for calls that the confirmed ones do not explain: those that hold always, and sometimes."""
    names = list(
        dict.fromkeys([*(arg.removeprefix("*") for arg in args), *(a for r in records for a in r["args"])])
    )
    open_ = [record for record in records if not says(kept, record)]
    examples = [*(MeasuredCall(record["args"], record["waited"]) for record in open_), *_without_gpu(records)]
    cases: dict[bool, list[Case]] = {False: [], True: []}
    asked = [each for each in names if each != "rest"]
    for found in learn(examples, asked, sizes=bool(sheet.cases), shapes=_is_of_matrices(records)):
        matched = [r for r in open_ if r["waited"] and all_hold(found.when, r["args"])]
        effect = Effect(sheet.effect) if sheet.effect else effect_of(name, matched)
        effect = Effect.SCALAR if _wants_number(found.when, records) else effect
        cases[found.sometimes].append(_case(effect, found.when))
    return tuple(cases[False]), tuple(cases[True])


def _is_of_matrices(records: list[Record]) -> bool:
    """Return whether an operation is linear algebra: elsewhere a form that fits the blocking calls is chance."""
    return any("linalg" in overload for record in records for overload in record["aten"])


def _without_gpu(records: list[Record]) -> list[MeasuredCall]:
    """Return the blocking calls, as non-blocking calls with all operands in host memory."""
    waited = [record["args"] for record in records if record["waited"]]
    return [MeasuredCall(moved, waited=False) for args in waited if (moved := _on_host(args)) != args]


def _wants_number(condition: Condition, records: list[Record]) -> bool:
    """Return whether a condition is on a parameter that takes a number, and blocks on 0-d tensors only."""
    if len(condition) != 1 or condition[0].kind != "gpu":
        return False
    given = [(record["waited"], record["args"].get(condition[0].arg)) for record in records]
    takes_number = any(value is not None and value["is"] == "number" for _, value in given)
    return takes_number and not any(waited and value and value.get("shape") for waited, value in given)


def _case(effect: Effect, condition: Condition) -> Case:
    """Return a case whose negated kind is an "unless", which reads better and is decided more carefully."""
    denied = [term for term in condition if term.negated and term.test == "is"][:1]
    return Case(
        effect,
        tuple(term for term in condition if term not in denied),
        tuple(replace(term, negated=False) for term in denied),
    )


def _on_host(args: dict[str, Description]) -> dict[str, Description]:
    """Return the same operands in host memory: a call that touches no GPU cannot block on one."""
    return {name: _moved(value) for name, value in args.items()}


def _moved(value: Description) -> Description:
    if value["is"] == "tensor" and value["on"] == "gpu":
        return value | {"on": "cpu"}
    if value["is"] in {"device", "string"} and value["value"].startswith("cuda"):
        return value | {"value": "cpu"}
    return value | {"items": [_moved(item) for item in value["items"]]} if "items" in value else value


def _aten(name: str, records: list[Record]) -> tuple[str, ...]:
    """Return the overloads that blocked the host; if none did, the overloads of the operation's own name."""
    waiting: dict[str, int] = defaultdict(int)
    seen: dict[str, int] = defaultdict(int)
    for record in records:
        for overload, calls in record["aten"].items():
            plain = overload.removeprefix("aten.")
            seen[plain] += 1
            waiting[plain] += bool(calls)
    base = name.rpartition(".")[2].strip("_")
    own = [overload for overload in seen if overload.split(".")[0].strip("_").removesuffix("_") == base]
    blocking = sorted((o for o in waiting if waiting[o]), key=lambda o: (-waiting[o], o))[:ATEN_SHOWN]
    return (
        tuple(sorted({*blocking, *own}))
        if len({*blocking, *own}) <= 2 * ATEN_SHOWN
        else tuple(sorted(blocking))
    )
