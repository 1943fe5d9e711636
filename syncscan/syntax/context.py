"""The CST context of a node: its parents, its enclosing loops, and the users of its value."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from syncscan.syntax.names import NamesIn
from syncscan.syntax.source_text import SourceText, nodes_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_PATHS = (ast.Name, ast.Attribute, ast.Subscript)


class SyntaxContext:
    """The parent and the source text of each node of a tree, which is a file or a single statement."""

    def __init__(self, nodes: Iterable[ast.AST], lines: Sequence[str]) -> None:
        self._parents: dict[int, ast.AST] = {}
        self._names: dict[ast.AST, NamesIn] = {}
        self.text = SourceText(lines, self._around)
        self.include(nodes)

    def include(self, nodes: Iterable[ast.AST]) -> None:
        """Add the children of these nodes to the parent map."""
        for node in nodes:
            self._parents.update((id(child), node) for child in ast.iter_child_nodes(node))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node within its statement, or None for the statement itself."""
        return None if isinstance(node, ast.stmt) else self._around(node)

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement that contains a node, or the node itself where the tree has none."""
        return next((around for around in self.up(node) if isinstance(around, ast.stmt)), node)

    def beside(self, node: ast.AST, steps: int) -> ast.stmt | None:
        """Return the statement ``steps`` after the statement of a node in its body (before, if negative), or None."""
        statement = self.statement(node)
        holder = self._around(statement)
        fields = [value for _, value in ast.iter_fields(holder)] if holder is not None else []
        bodies: list[list[ast.stmt]] = [value for value in fields if isinstance(value, list)]
        body = next((body for body in bodies if _is_in(statement, body)), [])
        places = [i + steps for i, other in enumerate(body) if other is statement]
        return next((body[place] for place in places if 0 <= place < len(body)), None)

    def function(self, node: ast.AST) -> str:
        """Return the qualified name of the function that contains a node, "<module>" outside functions."""
        definitions = (*_FUNCTIONS, ast.ClassDef)
        around = [each for each in self.up(node, itself=False) if isinstance(each, definitions)]
        while around and isinstance(around[0], ast.ClassDef):
            del around[0]
        names = ["<lambda>" if isinstance(each, ast.Lambda) else each.name for each in around]
        return ".".join(reversed(names)) or "<module>"

    def in_loop(self, node: ast.AST) -> bool:
        """Return whether a loop or comprehension in the tree evaluates a node repeatedly.

        A loop around a function definition does not count for the nodes inside the function.
        """
        inner = node
        for around in self.up(node, itself=False):
            if isinstance(around, _FUNCTIONS):
                return False
            if _repeats(around, inner, self._around(around)):
                return True
            inner = around
        return False

    def made_in_loop(self, node: ast.AST) -> bool:
        """Return whether an expression reads a name that the body of the innermost enclosing loop sets."""
        inner = node
        for around in self.up(node, itself=False):
            if isinstance(around, (*_FUNCTIONS, *_COMPREHENSIONS)):
                return False
            is_tested = isinstance(around, ast.While) and inner is around.test
            if isinstance(around, _LOOPS) and (is_tested or _is_in(inner, around.body)):
                return not self.paths_in(node).isdisjoint(self._bound_in(around.body))
            inner = around
        return False

    def paths_in(self, node: ast.AST) -> set[str]:
        """Return the names and attribute paths that an expression contains, as source text."""
        inside = ast.walk(node)
        return {
            self.text.bare_text_of(each) for each in inside if isinstance(each, (ast.Name, ast.Attribute))
        }

    def _bound_in(self, body: Iterable[ast.stmt]) -> set[str]:
        inside = (each for statement in body for each in ast.walk(statement))
        stored = (each for each in inside if isinstance(each, _PATHS) and isinstance(each.ctx, ast.Store))
        return {
            self.text.bare_text_of(each.value if isinstance(each, ast.Subscript) else each) for each in stored
        }

    def used_at_once(self, node: ast.AST, after: ast.AST | None) -> bool:
        """Return whether the statement of a node uses the node's value; for an assignment, whether ``after`` uses the target."""
        around = self._around(node)
        if isinstance(around, ast.Assign):
            names = {self.text.bare_text_of(target) for target in around.targets}
        elif isinstance(around, ast.AnnAssign):
            names = {self.text.bare_text_of(around.target)}
        else:
            return not isinstance(around, (ast.Expr, ast.Return))
        inside = nodes_of(after) if after is not None else ()
        return any(isinstance(other, _PATHS) and self.text.bare_text_of(other) in names for other in inside)

    def _around(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(id(node))

    def names_around(self, node: ast.AST) -> NamesIn:
        """Return the names of the function that contains a node, or those of the outermost known node outside functions."""
        root = self.root(node)
        if root not in self._names:
            self._names[root] = NamesIn(root)
        return self._names[root]

    def root(self, node: ast.AST) -> ast.AST:
        """Return the function that contains a node, or the outermost known node outside functions."""
        outermost = node
        for around in self.up(node, itself=False):
            outermost = around
            if isinstance(around, _FUNCTIONS):
                break
        return outermost

    def up(self, node: ast.AST, *, itself: bool = True) -> Iterator[ast.AST]:
        """Yield a node and what contains the node, from the inside out."""
        around = node if itself else self._around(node)
        while around is not None:
            yield around
            around = self._around(around)


def _is_in(node: ast.AST, body: Iterable[ast.AST]) -> bool:
    return any(each is node for each in body)


def _repeats(around: ast.AST, inner: ast.AST, outer: ast.AST | None) -> bool:
    """Return whether a node evaluates its direct child ``inner`` repeatedly."""
    if isinstance(around, ast.While):
        return not _is_in(inner, around.orelse)
    if isinstance(around, (ast.For, ast.AsyncFor)):
        return _is_in(inner, around.body)
    if isinstance(around, _COMPREHENSIONS):
        return not isinstance(inner, ast.comprehension)
    if isinstance(around, ast.comprehension):  # the first iterable is evaluated once
        is_first = isinstance(outer, _COMPREHENSIONS) and outer.generators[0] is around
        return inner is not around.iter or not is_first
    return False


def raises(statement: ast.AST) -> bool:
    """Return whether a statement only decides on an error: an `assert`, or an `if` that begins with a raise and has no `else`."""
    if isinstance(statement, ast.If):
        return isinstance(statement.body[0], ast.Raise) and not statement.orelse
    return isinstance(statement, ast.Assert)
