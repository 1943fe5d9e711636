"""Where a node stands in its syntax tree: what is around it, what repeats it, who uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

_STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.Lambda)
_PATHS = (cst.Name, cst.Attribute, cst.Subscript)


class Surroundings:
    """The way up from every node of a tree, which may be a file or a single statement."""

    def __init__(self, tree: cst.Module) -> None:
        self._tree = tree
        self._parents: dict[int, cst.CSTNode] = {}
        queue: list[cst.CSTNode] = [tree]
        while queue:
            node = queue.pop()
            self._parents.update((id(child), node) for child in node.children)
            queue += node.children

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around a node; None around the statement."""
        return None if isinstance(node, _STATEMENTS) else self._parents.get(id(node))

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement in which a node stands."""
        return next((around for around in self._up(node) if isinstance(around, _STATEMENTS)), node)

    def beside(self, node: cst.CSTNode, steps: int) -> cst.CSTNode | None:
        """The statement that stands some steps behind the one of a node (before it if negative) in its body."""
        statement = self.statement(node)
        holder = self._parents.get(id(statement))
        if isinstance(holder, cst.SimpleStatementLine):
            holder = self._parents.get(id(holder))
        lines = holder.body if isinstance(holder, (cst.IndentedBlock, cst.Module)) else (statement,)
        body = [inner for line in lines for inner in statements_of(line)]
        place = next(i for i, other in enumerate(body) if other is statement) + steps
        return body[place] if 0 <= place < len(body) else None

    def function(self, node: cst.CSTNode) -> str:
        """The qualified name of the function in which a node stands, "<module>" outside of all."""
        around = [each for each in self._up(node, itself=False) if isinstance(each, _DEFINITIONS)]
        while around and isinstance(around[0], cst.ClassDef):
            del around[0]
        names = ["<lambda>" if isinstance(each, cst.Lambda) else each.name.value for each in around]
        return ".".join(reversed(names)) or "<module>"

    def in_loop(self, node: cst.CSTNode) -> bool:
        """Whether something in the tree runs a node again and again; a function that is defined there does not."""
        inner = node
        for around in self._up(node, itself=False):
            if isinstance(around, (cst.FunctionDef, cst.Lambda)):
                return False
            if _repeats(around, inner, self._parents.get(id(around))):
                return True
            inner = around
        return False

    def made_in_loop(self, node: cst.CSTNode) -> bool:
        """Whether an expression reads what the body of the innermost loop around it sets."""
        inner = node
        for around in self._up(node, itself=False):
            if isinstance(around, (cst.FunctionDef, cst.Lambda, cst.BaseComp)):
                return False
            if isinstance(around, (cst.For, cst.While)) and inner is around.body:
                return not self.paths_in(node).isdisjoint(self._bound_in(inner))
            inner = around
        return False

    def paths_in(self, node: cst.CSTNode) -> set[str]:
        """The names in an expression, and the attributes."""
        return {self._text(each) for each in nodes_of(node) if isinstance(each, (cst.Name, cst.Attribute))}

    def _bound_in(self, body: cst.CSTNode) -> set[str]:
        targets = [_target(each) for each in nodes_of(body)]
        bound = set()
        while targets:
            target = targets.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                targets += [element.value for element in target.elements]
            elif isinstance(target, cst.Subscript):
                targets.append(target.value)
            elif isinstance(target, (cst.Name, cst.Attribute)):
                bound.add(self._text(target))
        return bound

    def used_at_once(self, node: cst.CSTNode, after: cst.CSTNode | None) -> bool:
        """Whether the value of a node is used where it stands, or else by the statement behind it."""
        around = self._parents.get(id(node))
        if isinstance(around, cst.Assign):
            names = {self._text(target.target) for target in around.targets}
        elif isinstance(around, cst.AnnAssign):
            names = {self._text(around.target)}
        else:
            return not isinstance(around, (cst.Expr, cst.Return))
        inside = nodes_of(after) if after is not None else ()
        return any(isinstance(other, _PATHS) and self._text(other) in names for other in inside)

    def _up(self, node: cst.CSTNode, *, itself: bool = True) -> Iterator[cst.CSTNode]:
        around = node if itself else self._parents.get(id(node))
        while around is not None:
            yield around
            around = self._parents.get(id(around))

    def _text(self, node: cst.CSTNode) -> str:
        return self._tree.code_for_node(node)


def _target(node: cst.CSTNode) -> cst.CSTNode | None:
    """What a node sets, if it does."""
    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For)):
        return node.target
    return node.name if isinstance(node, cst.AsName) else None


def _repeats(around: cst.CSTNode, inner: cst.CSTNode, outer: cst.CSTNode | None) -> bool:
    """Whether a node runs what is right inside it again and again."""
    if isinstance(around, cst.While):
        return inner is not around.orelse
    if isinstance(around, cst.For):
        return inner is around.body
    if isinstance(around, cst.BaseComp):
        return not isinstance(inner, cst.CompFor)
    if isinstance(around, cst.CompFor):  # the first of several is read once
        return inner is not around.iter or isinstance(outer, cst.CompFor)
    return False


def statements_of(line: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The statements on a line, of which there are several where semicolons part them."""
    return line.body if isinstance(line, cst.SimpleStatementLine) else (line,)


def nodes_of(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node, and every node in it."""
    queue = [root]
    while queue:
        node = queue.pop()
        yield node
        queue += node.children
