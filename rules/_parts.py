"""The parts of an expression that suggestions name: its text on one line, its root, its names and calls."""

from __future__ import annotations

import ast

from syncscan.rule import Facts
from syncscan.syntax.use import last_set

LONGEST = 60  # characters of source text in a suggestion
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)  # which need no parentheses as operands
STEPS = 4  # names through which a value is followed
_READS = {"item": "number", "tolist": "copy", "cpu": "copy", "to": "copy"}  # by method

_TRIANGLES = frozenset({"tril", "triu"})

# Methods that compute nothing from the elements.
VIEWS = frozenset(
    {"bfloat16", "bool", "clone", "contiguous", "detach", "double", "flatten", "float", "half", "int", "long", "permute", "reshape",
     "squeeze", "t", "to", "transpose", "type", "unsqueeze", "view"}
)  # fmt: skip


def line_of(node: ast.AST | None, facts: Facts, edits: dict[ast.AST, str] | None = None) -> str:
    """Return the text of a node if the text is one short line; else ""."""
    if node is None:
        return ""
    source = facts.around(node).text
    text = source.edited(node, edits) if edits else source.text_of(node)
    return text if len(text) <= LONGEST and "\n" not in text else ""


def is_enclosed(text: str) -> bool:
    """Return whether one pair of parentheses encloses a whole expression: `(a + b)`, not `(a) + (b)`."""
    try:
        ast.parse(text[1:-1], mode="eval")
    except SyntaxError:
        return False
    return text.startswith("(")


def root_of(tensor: ast.AST | None) -> ast.AST | None:
    """Return the name or attribute at the start of a chain of calls, elements and operations."""
    while isinstance(tensor, (ast.Call, ast.Subscript, ast.BinOp, ast.Attribute)) and not is_path(tensor):
        if isinstance(tensor, ast.BinOp):
            tensor = tensor.left
        elif isinstance(tensor, (ast.Subscript, ast.Attribute)):
            tensor = tensor.value
        elif isinstance(tensor.func, ast.Attribute) and not is_torch(tensor.func.value):
            tensor = tensor.func.value
        else:
            tensor = tensor.args[0] if tensor.args else None
    return tensor if isinstance(tensor, (ast.Name, ast.Attribute)) else None


def views_in(tensor: ast.AST | None) -> list[ast.AST]:
    """Return a tensor and what it is a part, a view or a conversion of, up to what a call computes or a name holds."""
    found = []
    while tensor is not None:
        found.append(tensor)
        if isinstance(tensor, ast.Call):
            function = tensor.func
            tensor = (
                function.value if isinstance(function, ast.Attribute) and function.attr in VIEWS else None
            )
        else:
            tensor = tensor.value if isinstance(tensor, (ast.Subscript, ast.Attribute)) else None
    return found


def attribute_behind(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> ast.Attribute | None:
    """Return the attribute that a tensor is, or is a part, a view or a copy of, through names; else None.

    It is one of `self`, or of what a name took from `self` before.
    """
    for _ in range(STEPS):
        for each in views_in(tensor):
            if isinstance(each, ast.Attribute) and is_path(each) and _is_of_self(each, node, facts):
                return each
        inner = next(reversed(views_in(tensor)), None)
        tensor = last_set(inner.id, node, facts.around(node)) if isinstance(inner, ast.Name) else None
    return None


def _is_of_self(path: ast.Attribute, node: ast.AST, facts: Facts) -> bool:
    """Return whether a path starts at `self`, or at a name that was set to such a path."""
    (root,) = names_in(path)
    made = last_set(root, node, facts.around(node))
    return root == "self" or (made is not None and is_path(made) and names_in(made) == ["self"])


def whole_of(made: ast.AST | None) -> ast.AST | None:
    """Return the tensor whose triangle is made, ``torch.ones(n, n)`` of ``torch.ones(n, n).tril()``; other nodes as they are."""
    while (
        isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _TRIANGLES
    ):
        made = made.args[0] if is_torch(made.func.value) and made.args else made.func.value
    return made


def is_made_for(name: str, call: ast.Call, facts: Facts) -> bool:
    """Return whether a function makes a tensor for one copy alone: else it only stores slices, or changes the tensor in place."""
    around = facts.around(call)
    inside = {*ast.walk(call)}
    uses = [each for each in around.names_around(call).places[name] if isinstance(each.ctx, ast.Load)]
    if is_put_back(call, name, facts):  # behind which the name is that of the copy
        uses = [each for each in uses if each.lineno <= call.lineno]
    return all(each in inside or _is_filled(each, around.parent(each)) for each in uses)


def _is_filled(name: ast.Name, use: ast.AST | None) -> bool:
    """Return whether a use stores a slice into a tensor, or calls a method that changes the tensor in place."""
    if isinstance(use, ast.Subscript):
        return use.value is name and isinstance(use.ctx, ast.Store) and _has_slices(use)
    return isinstance(use, ast.Attribute) and use.attr.endswith("_")


def is_handled_by_element(name: str, node: ast.AST, facts: Facts) -> bool:
    """Return whether a function reads or stores single elements of a variable, which would block, one by one, on the GPU."""
    around = facts.around(node)
    uses = ((each, around.parent(each)) for each in around.names_around(node).places[name])
    return any(
        isinstance(part, ast.Subscript) and part.value is each and not _has_slices(part)
        for each, part in uses
    )


def _has_slices(part: ast.Subscript) -> bool:
    return any(isinstance(each, ast.Slice) for each in ast.walk(part.slice))


def is_path(node: ast.AST) -> bool:
    """Return whether a node is a name, or an attribute of a path."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_path(node.value))


def is_put_back(call: ast.Call, name: str, facts: Facts) -> bool:
    """Return whether the statement of a call puts its result in place of a value: ``self.x = self.x.to(device)``."""
    statement = facts.statement(call)
    return isinstance(statement, ast.Assign) and any(facts.source(each) == name for each in statement.targets)


def is_torch(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"torch", "th", "F", "math", "np"}


def names_in(node: ast.AST | None) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)] if node is not None else []


def calls_in(node: ast.AST | None) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)] if node is not None else []


def last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def kind_of_read(node: ast.AST) -> str:
    """Return whether a call reads one number or copies a tensor, by the name of its method; "" for others."""
    name = last_name(node.func) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or (name == "to" and not any(_is_cpu(each) for each in node.args)):
        return ""
    return _READS.get(name, "")


def _is_cpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cpu"
