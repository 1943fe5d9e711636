"""Real files, changed by chance into what nobody wrote: most of it still parses. The same for the same seed."""

from __future__ import annotations

import ast
import contextlib
import io
import keyword
import re
import textwrap
import tokenize
import warnings
from collections.abc import Callable, Sequence
from random import Random

from syncscan.ops import load_table

# Of the mutants; the rest is kept though it is no Python any more.
_PARSES = 0.9
_TRIES = 12
_MOST_CHANGES = 3
_DEPTHS = (3, 10, 30, 90, 300, 1500)  # CPython reads 200 brackets and 100 levels of blocks
_REPEATS = (2, 50, 1000)
_MOST_BYTES = 1_000_000  # syncscan reads no file above 2 MiB

_TENSORS = (
    'torch.zeros(3, device="cuda")',
    "torch.ones(2, 2).cuda()",
    'torch.tensor([1, 2], device="cuda")',
    "torch.randn(4).pin_memory()",
    'torch.arange(5, device="cuda")[torch.tensor([0, 1])]',
    'torch.zeros(3, device="cuda").item()',
    'torch.nonzero(torch.ones(3, device="cuda"))',
)
_EXPRESSIONS = (  # an expression inside of which another one stands
    "({})", "[{}]", "({},)", "{{{}: 1}}", "{{*{}}}", "-{}", "not {}", "({} + x)", "({} if x else y)", "(lambda: {})",
    "f({})", "{}.T", "{}[0]", "[{} for x in y]", "(x := {})", "(x and {})", "(x < {})", "{}.item()", "({} @ t)",
    "(yield {})", "(await {})", "{}()", "x[{}:]", "torch.stack([{}])",
)  # fmt: skip
_STATEMENTS = (  # the line above a block
    "if x:", "for x in y:", "while t.item():", "with x as y:", "try:", "def f(x=t):", "class A(A):", "async def f():",
    "for t in t:", "while True:", "if t.is_cuda:", "match x:",
)  # fmt: skip

Mutation = Callable[[str, str, Random], str]


def mutant(text: str, donor: str, random: Random) -> str:
    """A file changed once or a few times, with parts of another file."""
    must_parse = random.random() < _PARSES
    for _ in range(random.randint(1, _MOST_CHANGES)):
        for _ in range(_TRIES):
            changed = _changed(text, donor, random)
            if changed != text and (not must_parse or parse(changed)):
                text = changed
                break
    return text


def _changed(text: str, donor: str, random: Random) -> str:
    mutation = random.choice(MUTATIONS)
    changed = mutation(text, donor, random)
    return changed if len(changed) < max(_MOST_BYTES, len(text)) else text


def parse(text: str) -> ast.Module | None:
    """The syntax tree, if there is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# Tokens and lines


def delete_token(text: str, _: str, random: Random) -> str:
    """Take a token out."""
    spans = _tokens(text)
    if not spans:
        return text
    start, end = random.choice(spans)
    return text[:start] + text[end:]


def duplicate_token(text: str, _: str, random: Random) -> str:
    """Write a token twice."""
    spans = _tokens(text)
    if not spans:
        return text
    start, end = random.choice(spans)
    return f"{text[:end]} {text[start:]}"


def swap_tokens(text: str, _: str, random: Random) -> str:
    """Let two tokens of a kind change places."""
    spans = _tokens(text)
    if not spans:
        return text
    first = random.choice(spans)
    like = [s for s in spans if text[slice(*s)].isidentifier() == text[slice(*first)].isidentifier()]
    return _swapped(text, *sorted((first, random.choice(like))))


def swap_lines(text: str, _: str, random: Random) -> str:
    """Let two lines of the same indentation change places."""
    lines = text.split("\n")
    first = random.randrange(len(lines))
    like = [number for number, line in enumerate(lines) if _indentation(line) == _indentation(lines[first])]
    second = random.choice(like)
    lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _swapped(text: str, first: tuple[int, int], second: tuple[int, int]) -> str:
    if first[1] > second[0]:
        return text
    between = text[first[1] : second[0]]
    return text[: first[0]] + text[slice(*second)] + between + text[slice(*first)] + text[second[1] :]


def _tokens(text: str) -> list[tuple[int, int]]:
    """Where the tokens are that can be seen."""
    starts = _line_starts(text)
    found: list[tuple[int, int]] = []
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    with contextlib.suppress(tokenize.TokenError, SyntaxError):  # those before are tokens nonetheless
        found.extend(
            (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
            for token in tokens
            if token.string.strip()
        )
    return found


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


# Trees


def transplant_expression(text: str, donor: str, random: Random) -> str:
    """Put an expression of another file in the place of one."""
    places, donors = _expressions(text), _expressions(donor)
    if not places or not donors:
        return text
    return _replaced(text, random.choice(places), f"({_unparsed(random.choice(donors))})")


def transplant_statement(text: str, donor: str, random: Random) -> str:
    """Put a statement of another file in the place of one."""
    places, donors = _statements(text), _statements(donor)
    if not places or not donors:
        return text
    place = random.choice(places)
    return _replaced(text, place, _below(place, _unparsed(random.choice(donors))))


def nest_expression(text: str, _: str, random: Random) -> str:
    """Put an expression deep into others."""
    places = _expressions(text)
    if not places:
        return text
    place = random.choice(places)
    forms = random.sample(_EXPRESSIONS, random.randint(1, 3))
    inner = f"({_unparsed(place)})"
    for depth in range(random.choice(_DEPTHS)):
        inner = forms[depth % len(forms)].format(inner)
    return _replaced(text, place, f"({inner})")


def nest_statement(text: str, _: str, random: Random) -> str:
    """Put a statement deep into blocks."""
    places = _statements(text)
    if not places:
        return text
    place = random.choice(places)
    forms = random.sample(_STATEMENTS, random.randint(1, 3))
    inner = _unparsed(place)
    for depth in range(random.choice(_DEPTHS[:4])):
        head = forms[depth % len(forms)]
        inner = f"{head}\n{textwrap.indent(inner, ' ')}"
        inner = {"try:": f"{inner}\nfinally:\n pass", "match x:": _case(inner)}.get(head, inner)
    return _replaced(text, place, _below(place, inner))


def _case(match: str) -> str:
    head, _, body = match.partition("\n")
    return f"{head}\n case [x, *y]:\n{textwrap.indent(body, ' ')}"


def repeat_statement(text: str, _: str, random: Random) -> str:
    """Write a statement many times, with a name of its own each time."""
    places = _statements(text)
    if not places:
        return text
    place = random.choice(places)
    once = _unparsed(place)
    name = random.choice(re.findall(r"\w+", once) or [""])
    fresh = name.isidentifier() and not keyword.iskeyword(name)
    times = range(random.choice(_REPEATS))
    copies = [re.sub(rf"\b{name}\b", f"{name}_{number}", once) if fresh else once for number in times]
    return _replaced(text, place, _below(place, "\n".join(copies)))


def place_tensors(text: str, _: str, random: Random) -> str:
    """Put tensors on the GPU in the place of a few expressions."""
    for _ in range(random.randint(1, 10)):
        places = _expressions(text)
        if not places:
            break
        text = _replaced(text, random.choice(places), random.choice(_TENSORS))
    return f"import torch; {text}" if text and not text[0].isspace() else text


def name_like_torch(text: str, _: str, random: Random) -> str:
    """Give a few names of the file other names, which torch knows, wherever they stand."""
    names = sorted({name for name in re.findall(r"[^\W\d]\w*", text) if not keyword.iskeyword(name)})
    chosen = random.sample(names, min(len(names), random.randint(1, 8)))
    new = {name: random.choice(_torch_names()) for name in chosen}
    return re.sub(r"[^\W\d]\w*", lambda found: new.get(found[0], found[0]), text)


def _torch_names() -> Sequence[str]:
    operations = sorted({name.rpartition(".")[2] for name in load_table().operations})
    return [
        *operations,
        *("torch", "cuda", "device", "self", "T", "shape", "forward", "__call__", "super") * 20,
    ]


def _expressions(text: str) -> list[ast.expr]:
    """The expressions that others may replace; those in f-strings have no position of their own."""
    tree = parse(text)
    if tree is None:
        return []
    inside = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)
    }
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and not isinstance(node, (ast.Slice, ast.Starred, ast.FormattedValue))
        and id(node) not in inside
    ]


def _statements(text: str) -> list[ast.stmt]:
    tree = parse(text)
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)] if tree is not None else []


def _unparsed(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):  # quotes in quotes, or too deep
        return "x"


def _below(place: ast.stmt, statement: str) -> str:
    """A statement as it has to be written where another one stands."""
    return textwrap.indent(statement, " " * place.col_offset).lstrip()


def _replaced(text: str, node: ast.expr | ast.stmt, new: str) -> str:
    """The text with something else in the place of a node; its columns count bytes."""
    lines = text.encode().splitlines(keepends=True)  # as Python counts them
    assert node.end_lineno is not None
    before = [*lines[: node.lineno - 1], lines[node.lineno - 1][: node.col_offset]]
    after = [lines[node.end_lineno - 1][node.end_col_offset :], *lines[node.end_lineno :]]
    return b"".join([*before, new.encode(errors="replace"), *after]).decode()


MUTATIONS: tuple[Mutation, ...] = (
    delete_token,
    duplicate_token,
    swap_tokens,
    swap_lines,
    transplant_expression,
    transplant_statement,
    nest_expression,
    nest_statement,
    repeat_statement,
    place_tensors,
    name_like_torch,
)
