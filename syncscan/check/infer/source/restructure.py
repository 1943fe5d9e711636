"""Invalidation after edits that change definitions: the functions affected, and the lookups to repeat.

Lookups of module-level names are found by reading the source. Lookups of class members, module attributes,
and imports inside functions are recorded as they happen, also without a result
(`syncscan.check.infer.dataflow.cells.Knowledge.asked`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from syncscan.check.infer.source.edits import ModuleEdit, NotFollowedError
from syncscan.check.infer.source.fields import beside, says_so
from syncscan.check.infer.source.index import ALL, FIELDS, NO_NAMES, Class, Function, Import, Module, Virtual
from syncscan.check.infer.source.program import Program, relate
from syncscan.check.infer.source.syntax import walk

Named = tuple[Module, str]  # a name of a module
_CalledAs = tuple[Virtual, frozenset[str]]
Question = tuple[
    Class | Module | str, str
]  # a member of a class or of a module; or what is imported from one of a name


@dataclass(slots=True)
class Consequences:
    """The functions, lookups and files that an edit invalidates."""

    again: dict[Function, None] = field(default_factory=dict)  # functions that may do something else
    heads: dict[Function, None] = field(default_factory=dict)  # that may have to be called in another way
    questions: set[Question] = field(default_factory=set)  # that may have another answer
    files: list[str] = field(default_factory=list)  # the names of modules that are new, or not there any more

    def concern(self, question: Question) -> bool:
        """Return whether a lookup may have another answer."""
        of, name = question
        if question in self.questions:
            return True
        return isinstance(of, str) and any(_brings(Import(of, name), each) for each in self.files)


def restructure(
    program: Program, modules: list[Module], edits: Sequence[ModuleEdit], lambdas: Sequence[Function]
) -> Consequences:
    """Update the modules to their new definitions; raise NotFollowedError where the consequences are outside the incremental analysis."""
    work = _Restructuring(program, modules, edits, lambdas)
    work.run()
    return work.found


class _Restructuring:
    def __init__(
        self,
        program: Program,
        modules: list[Module],
        edits: Sequence[ModuleEdit],
        lambdas: Sequence[Function],
    ) -> None:
        self.found = Consequences()
        self._program = program
        self._modules = modules
        self._edits = edits
        self._lambdas = lambdas
        self._made = [cls for edit in edits for cls in edit.new_classes]
        self._fresh = {each for edit in edits for each in (*edit.new, *edit.new_classes)}
        self._gone = {each for edit in edits for each in (*edit.gone, *edit.gone_classes)}
        self._called_as: dict[Function, list[_CalledAs]] = {}  # before
        self._asked: dict[tuple[Class, str], None] = {}  # members that may be something else

    def run(self) -> None:
        for edit in self._edits:
            for cls in edit.gone_classes:
                self._note_members(cls, _members(cls))
            for cls, names in edit.members.items():
                self._note_members(cls, names)
        before = {edit.module: beside(edit.module) for edit in self._edits if not edit.new_as_a_whole}
        arranged = self._arrange()
        for edit in self._edits:
            edit.apply()
            self.found.heads.update(dict.fromkeys(edit.heads))
        self._check_kept(before)
        self._follow_names([*arranged, *((edit.module, name) for edit in self._edits for name in edit.names)])
        self._link()
        self._look_again()
        self._note_makers()

    # Files that are new, or not there any more

    def _arrange(self) -> list[Named]:
        """Update the module index; return the module-level names that now mean another module."""
        whole = [edit for edit in self._edits if edit.is_whole]
        self._program.forget_followed()
        if not whole:
            return []
        if any(edit.module.makers or any(map(says_so, edit.texts)) for edit in whole):
            raise NotFollowedError
        before, new = self._program.modules, [edit.module for edit in whole if edit.new_as_a_whole]
        stay = [module for module in self._modules if module.body not in self._gone]
        self._modules[:] = sorted([*stay, *new], key=_path)
        self._program.arrange(self._modules)
        self.found.files += _differing(before, self._program.modules, new)
        return [*self._named_by(self.found.files)]

    def _named_by(self, files: Iterable[str]) -> Iterator[Named]:
        """Yield the module-level names that may denote these modules or their contents."""
        for name in files:
            above, _, last = name.rpartition(".")
            if (package := self._program.modules.get(above)) is not None:
                yield package, last
            for module in self._modules:
                for local, target in module.names.items():
                    if isinstance(target, Import) and _brings(target, name):
                        yield module, local

    def _check_kept(self, before: dict[Module, frozenset[str]]) -> None:
        """Raise NotFollowedError where changed imports may carry fields in host memory."""
        keeping = {module.name for module in self._modules if module.kept}
        for edit in self._edits if keeping else ():
            if not keeping.isdisjoint(before.get(edit.module, frozenset()) ^ beside(edit.module)):
                raise NotFollowedError

    # Names of modules

    def _follow_names(self, otherwise: Sequence[Named]) -> None:
        """Invalidate the functions that may look up names with a new meaning."""
        if not otherwise:
            return
        names = _Names(self._program, self._modules)
        whole = {edit.module for edit in self._edits if edit.is_whole}
        starred = [module for module, name in otherwise if name.startswith(ALL)]
        if any(module not in whole or names.is_starred(module) for module in starred):
            raise NotFollowedError  # any name may mean something else
        names.mark(otherwise)
        for module, name in names.otherwise:
            self.found.questions.add((module, name))
            self.found.questions.update((known_as, name) for known_as in self._program.names_of(module))
        for module, mention in names.mentions():
            self._read_for(module, mention)

    def _read_for(self, module: Module, mention: _Mention) -> None:
        """Invalidate the definitions in a module that mention such names."""
        module.read()
        found = self.found
        found.again[module.body] = None
        for cls in module.classes:
            if cls not in self._fresh:
                self._read_class_for(cls, mention)
        for function in module.functions:
            if function in self._fresh or function is module.body:
                continue
            node = function.node
            decorators = getattr(node, "decorator_list", ())
            if function not in found.heads and any(map(mention.stands_in, decorators)):
                self._check_same(self._program.decorators_of(function), function.decorators)
            if any(map(mention.stands_in, _head(function))):
                found.heads[function] = found.again[function] = None
            elif mention.stands_in(node):
                found.again[function] = None
        for function in self._lambdas:
            if function.module is module and mention.stands_in(function.node):
                found.again[function] = None

    def _read_class_for(self, cls: Class, mention: _Mention) -> None:
        if any(map(mention.stands_in, [*cls.node.bases, *cls.node.decorator_list])):
            self._check_same(self._program.bases_of(cls), (cls.bases, cls.external_bases))
            self._check_same(self._program.decorators_of(cls), cls.decorators)
        declared = [name for name, node in cls.annotations.items() if mention.stands_in(node)]
        for name in declared:
            self.found.questions.update((each, name) for each in (*cls.linear, *cls.subclasses))

    @staticmethod
    def _check_same(now: object, before: object) -> None:
        if now != before:
            raise NotFollowedError

    # Members of classes

    def _note_members(self, cls: Class, names: Iterable[str]) -> None:
        """Record members that change, with their old state, which is computed only now."""
        line = [*_line(cls)]
        relatives = [*line, *cls.subclasses]
        for name in names:
            for each in relatives:
                self.found.questions.add((each, name))
                each.virtual(name)
                self._asked[each, name] = None
            for each in dict.fromkeys(other for above in line for other in (above, *above.subclasses)):
                if name in each.methods:
                    self._note_method(each.methods[name])
        for method in cls.module.functions:  # also those of which another one had the name
            if method.owner is cls and method.name in names:
                self._note_method(method)

    def _note_method(self, method: Function) -> None:
        if method not in self._fresh:
            self._called_as[method] = _called_as(method)

    def _link(self) -> None:
        """Link new classes and functions, and update subclasses."""
        for cls in self._made:
            self._program.link(cls)
        for function in (each for edit in self._edits for each in (*edit.new, *edit.heads)):
            function.decorate(self._program.decorators_of(function))
        for cls in self._made:
            self._note_members(cls, _members(cls))
        for edit in self._edits:
            edit.module.is_linked = True
            for cls in edit.gone_classes:
                self._take_out(cls)
        if self._made:
            self._put_in()

    def _take_out(self, cls: Class) -> None:
        """Remove a class from the subclasses of its bases."""
        if not self._gone.issuperset(cls.subclasses):
            raise NotFollowedError
        for base in cls.linear[1:]:
            base.subclasses.remove(cls)

    def _put_in(self) -> None:
        """Add new classes to the subclasses of their bases, in order."""
        above = {each for cls in self._made for each in _line(cls)}
        relate(self._made)
        classes = (cls for module in self._modules for cls in module.classes)
        order = {cls: number for number, cls in enumerate(classes)}
        for cls in above:
            cls.subclasses.sort(key=order.__getitem__)

    def _look_again(self) -> None:
        """Recompute the methods that calls may run, and invalidate methods whose callers change."""
        for cls, _ in self._asked:
            cls.forget_below()
        for cls, name in self._asked:
            cls.look_again(name)
        for method, before in self._called_as.items():
            method.called_as = None
            if method not in self._gone and _called_as(method) != before:
                self.found.again[method] = None

    def _note_makers(self) -> None:
        """Invalidate the private methods that may have become, or ceased to be, part of an initialisation."""
        changed = {each for edit in self._edits for each in edit.callers}
        changed |= {
            each.owner for edit in self._edits for each in (*edit.new, *edit.gone) if each.owner is not None
        }
        for cls in {each for owner in changed - self._gone for each in (owner, *owner.subclasses)}:
            cls.makers = None
            for method in cls.module.functions if cls.is_module else ():
                if method.owner is cls and method.name.startswith("_"):
                    self.found.again[method] = None


def _differing(before: dict[str, Module], after: dict[str, Module], new: Sequence[Module]) -> list[str]:
    """Return the names of new or deleted modules; raise NotFollowedError where one takes over another's name."""
    names = [name for name in {**before, **after} if before.get(name) is not after.get(name)]
    if any(name in after and (name in before or after[name] not in new) for name in names):
        raise NotFollowedError
    return names


def _path(module: Module) -> str:
    return module.path


def _members(cls: Class) -> list[str]:
    return [*dict.fromkeys((*cls.methods, *cls.nested, *sorted(cls.stored), *cls.annotations, FIELDS))]


def _line(cls: Class) -> Iterator[Class]:
    """Yield a class and its bases, also before linking."""
    queue, seen = [cls], set[Class]()
    for each in queue:
        if each not in seen:
            seen.add(each)
            yield each
            queue += each.linear or each.bases


def _called_as(method: Function) -> list[_CalledAs]:
    """Return the virtual methods through which a method may run, each with the keywords that do not reach its ``**kwargs``."""
    return [
        (virtual, virtual.names() if method.more is not None else NO_NAMES) for virtual in method.virtuals()
    ]


def _head(function: Function) -> Iterator[ast.expr]:
    """Yield the annotations of a function."""
    yield from (each.annotation for each in function.parameters if each.annotation is not None)
    returns = getattr(function.node, "returns", None)
    if returns is not None:
        yield returns


def _brings(target: Import, module: str) -> bool:
    """Return whether an import brings a module, its contents, or a parent package."""
    if target.module == module:
        return True
    if target.name:
        return f"{target.module}.{target.name}" == module
    return module.startswith(f"{target.module}.")


@dataclass(frozen=True, slots=True)
class _Mention:
    """Names to look for: plain ones, and attributes of other modules."""

    names: set[str]
    parts: set[str]

    def stands_in(self, node: ast.AST) -> bool:
        """Return whether a node contains one of the names, also within a string that may be an annotation."""
        return any(map(self._is_one, walk(node)))

    def _is_one(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Attribute):
            return node.attr in self.parts
        if isinstance(node, (ast.Global, ast.ImportFrom, ast.Import)):
            return False
        text = node.value if isinstance(node, ast.Constant) else None
        return isinstance(text, str) and any(name in text for name in (*self.names, *self.parts))


class _Names:
    """The module-level names with a new meaning, propagated along imports."""

    def __init__(self, program: Program, modules: Sequence[Module]) -> None:
        self.otherwise: dict[Named, None] = {}
        self._program = program
        self._importers: dict[Import, list[Named]] = {}
        for module in modules:
            for local, target in module.names.items():
                if isinstance(target, Import):
                    self._importers.setdefault(target, []).append((module, local))

    def is_starred(self, module: Module) -> bool:
        """Return whether a file has ``from module import *``."""
        return any(Import(known_as, ALL) in self._importers for known_as in self._program.names_of(module))

    def mark(self, names: Iterable[Named]) -> None:
        """Add names, and propagate them to their aliases and importers."""
        queue = [*names]
        while queue:
            named = queue.pop()
            if named in self.otherwise:
                continue
            self.otherwise[named] = None
            queue += self._standing_for(named)
            for module in dict.fromkeys(module for module, _ in self._holding(named[0])):
                queue += _aliases(module, _Mention(set(), {named[1]}))

    def _standing_for(self, named: Named) -> Iterator[Named]:
        """Yield the importers and aliases of a name."""
        module, name = named
        for known_as in self._program.names_of(module):
            yield from self._importers.get(Import(known_as, name), ())
            for importer, _ in self._importers.get(Import(known_as, ALL), ()):
                if name not in importer.names and name not in importer.globals:
                    yield importer, name
        yield from _aliases(module, _Mention({name}, set()))

    def _holding(self, module: Module) -> Iterator[Named]:
        """Yield the names that denote a module or one of its packages."""
        queue: list[Named] = []
        for name in self._program.names_of(module):
            parts = name.split(".")
            for count in range(1, len(parts) + 1):
                package, last = ".".join(parts[: count - 1]), parts[count - 1]
                whole = f"{package}.{last}" if package else last
                queue += self._importers.get(Import(whole), ())
                queue += self._importers.get(Import(package, last), ())
        seen: set[Named] = set()
        for named in queue:
            if named not in seen:
                seen.add(named)
                yield named
                queue += self._standing_for(named)

    def mentions(self) -> list[tuple[Module, _Mention]]:
        """Return the modules to search, each with the names to look for."""
        found: dict[Module, _Mention] = {}
        for module, name in self.otherwise:
            found.setdefault(module, _Mention(set(), set())).names.add(name)
        for module in [*found]:
            parts = {name for each, name in self.otherwise if each is module}
            written = re.compile(rf"\.\s*({'|'.join(map(re.escape, parts))})\b")
            for holder in dict.fromkeys(holder for holder, _ in self._holding(module)):
                if written.search(holder.lines.text):
                    found.setdefault(holder, _Mention(set(), set())).parts.update(parts)
        return [*found.items()]


def _aliases(module: Module, mention: _Mention) -> Iterator[Named]:
    return ((module, name) for name, node in module.aliases.items() if mention.stands_in(node))
