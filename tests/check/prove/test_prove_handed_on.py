"""Programs that hide a synchronization behind what is handed on, raised, replaced or annotated; none is proved."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import PRELUDE, assert_the_wait_decides, proved

HIDDEN = {
    "a class that is raised": """
    class E(Exception):
        def __init__(self) -> None:
            torch.cuda.synchronize()
    def step() -> None:
        raise E
""",
    "a class that a function raises": """
    class E(Exception):
        def __init__(self) -> None:
            torch.cuda.synchronize()
    def fail(error: type[Exception]) -> None:
        raise error
    def step() -> None:
        fail(E)
""",
    "a class from a decorator": """
    def waits(function):
        return Waiting
    @waits
    def quick() -> int:
        return 1
    def step() -> None:
        quick()
""",
    "a function from a decorator in a decorator": """
    def waits(name: str):
        def decorator(function):
            return wait
        return decorator
    @waits("a")
    def quick() -> int:
        return 1
    def step() -> None:
        quick()
""",
    "one of two functions from a decorator": """
    def waits(function):
        return wait or function
    @waits
    def quick() -> int:
        return 1
    def step() -> None:
        quick()
""",
    "a special method that is replaced": """
    class Box:
        def __init__(self) -> None:
            self.size = 1
    def slow(self) -> None:
        torch.cuda.synchronize()
    def step() -> None:
        Box.__init__ = slow
        Box()
""",
    "a static method that is replaced": """
    class Box:
        @staticmethod
        def run() -> int:
            return 1
    def step() -> None:
        Box.run = wait
        Box.run()
""",
    "the call of a module that is replaced": """
    class Net(torch.nn.Module):
        def forward(self) -> int:
            return 1
    def step(net: Net) -> None:
        net._call_impl = wait
        net()
""",
    "a method that loggers call": """
    class Own(logging.Logger):
        def handle(self, record) -> None:
            torch.cuda.synchronize()
    def step(logger: Own) -> None:
        logger.warning("a")
""",
    "the text of what is logged": """
    class Own(logging.Logger):
        pass
    class Key:
        def __str__(self) -> str:
            torch.cuda.synchronize()
            return "a"
    def step(logger: Own, key: Key) -> None:
        logger.warning("%s", key)
""",
    "a property under a private name": """
    def lazy(function):
        return property(function)
    class Box:
        @lazy
        def __size(self) -> int:
            torch.cuda.synchronize()
            return 1
        def get(self) -> int:
            return self.__size
    def step(box: Box) -> int:
        return box.get()
""",
    "a class behind a protocol": """
    def run(sort: type[Go]) -> None:
        sort()
    def step() -> None:
        run(Waiting)
""",
    "a function in a tuple of a protocol": """
    def pair() -> tuple[Job, int]:
        return wait, 1
    def step() -> None:
        job, _ = pair()
        job()
""",
    "a class for a pattern": """
    def step() -> str:
        return re.compile("a").sub(Waiting, "a")
""",
    "a key in a dictionary of options": """
    def step(xs: list[int]) -> None:
        options = {"key": Waiting}
        xs.sort(**options)
""",
    "a setter with starred parameters": """
    class Box:
        def __setattr__(self, *args) -> None:
            if args[1]:
                pass
    def step(box: Box, x: torch.Tensor) -> None:
        box.size = x
""",
    "a setter that gets a private name": """
    class Box:
        def __setattr__(self, name: str, value: object) -> None:
            if name == "_Box__size":
                torch.cuda.synchronize()
        def load(self) -> None:
            self.__size = 3
    def step(box: Box) -> None:
        box.load()
""",
    "a decorated setter": """
    def longer(function):
        def inner(self, name: str, value: object) -> None:
            function(self, name + "x", value)
        return inner
    class Box:
        @longer
        def __setattr__(self, name: str, value: object) -> None:
            if name == "sizex":
                torch.cuda.synchronize()
    def step(box: Box) -> None:
        box.size = 3
""",
    "the setter of a metaclass": """
    class Meta(type):
        def __setattr__(cls, name: str, value: object) -> None:
            torch.cuda.synchronize()
    class Box(metaclass=Meta):
        pass
    def step() -> None:
        Box.size = 3
""",
    "an operator of an unknown object with a set": """
    class Odd:
        def __sub__(self, other):
            return torch.ones(1, device="cuda")
    def step(odd, names: set[str]) -> int:
        return 1 if odd - names else 2
""",
    "an iterator after a view": """
    class Lines:
        def __iter__(self):
            torch.cuda.synchronize()
            return iter([])
    def step(table: dict[str, int], lines) -> None:
        table.keys() - lines
""",
}
ANNOTATED = """
    class Box:
        def __init__(self) -> None:
            self.limit: {annotation} = {value}
    def load(box, x: torch.Tensor) -> None:
        box.limit = x
    def step(box: Box) -> int:
        return 1 if box.limit else 2
"""
NAMED = """
    class Box:
        def __init__(self) -> None:
            self.limit = 0
            self.size = 1
        def load(self, name: str, value: torch.Tensor, other) -> None:
            {body}
    def step(box: Box) -> int:
        return 1 if box.limit else 2
"""


def test_a_method_of_a_dictionary_that_is_handed_on_gives_its_values() -> None:
    assert_the_wait_decides("""
    class Box:
        @property
        def size(self) -> int:
            torch.cuda.synchronize()
            return 1
    def step(boxes: dict[str, Box], names: list[str]) -> int:
        return sum(box.size for box in map(boxes.get, names) if box is not None)
    """)
    stored = """
    def step(x: torch.Tensor) -> int:
        rows = {"a": 1}
        get = rows.get
        rows["a"] = x
        return 1 if get("a") else 2
    """
    assert not proved(stored).is_proved


def test_a_copy_is_of_the_same_kind_and_its_items_may_copy_themselves_to_anything() -> None:
    program = """
    import copy
    class Box:
        def step(self, x: torch.Tensor) -> None:
            held = copy.deepcopy(self.__dict__)
            held["version"] = "1"
    """
    assert proved(program, entry="Box.step").is_proved
    copied = """
    import copy
    class Cell:
        def __deepcopy__(self, memo):
            return torch.ones(1, device="cuda")
    def step() -> int:
        cell = {made}
        return 1 if cell else 2
    """
    for made in ("copy.deepcopy((Cell(),))[0]", "copy.deepcopy(Cell())"):
        assert not proved(copied.format(made=made)).is_proved
    assert proved(copied.format(made="copy.deepcopy(Cell())").replace("__deepcopy__", "other")).is_proved


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_no_program_with_a_wait_is_proved(program: str) -> None:
    assert not proved(PRELUDE + program).is_proved


@pytest.mark.parametrize(
    ("annotation", "value", "is_proved"),
    [
        ("int", "0", True),
        ("Any", "0", False),
        ("object", "0", False),
        ("Job", "wait", False),
        ("Optional[torch.Tensor]", "None", False),
    ],
)
def test_an_annotation_that_allows_a_tensor_holds_nothing(
    annotation: str, value: str, is_proved: bool
) -> None:
    program = PRELUDE + ANNOTATED.format(annotation=annotation, value=value)
    assert proved(program).is_proved is is_proved


def test_an_annotation_of_a_subclass_says_nothing_of_the_class_above() -> None:
    program = """
        class A:
            def __init__(self) -> None:
                self.limit = 0
        class B(A):
            def __init__(self) -> None:
                self.limit: int = 0
        def load(box, x: torch.Tensor) -> None:
            box.limit = x
        def step(box: A) -> int:
            return 1 if box.limit else 2
    """
    assert not proved(program).is_proved


@pytest.mark.parametrize(
    "body",
    [
        "names = {'size'}; names |= {other}; assert name in names; setattr(self, name, value)",
        "names = ['size']; names[0] = other; assert name in names; setattr(self, name, value)",
        "names = {'size'}; more = names; more.add(other); assert name in names; setattr(self, name, value)",
        "names = {'size'}; fill(names); assert name in names; setattr(self, name, value)",
        "from tables import names; assert name in names; setattr(self, name, value)",
        "\\n".join(["if name not in ('size',):", " " * 16 + "return", " " * 12 + "else:", " " * 16 + "name = other",
                   " " * 12 + "setattr(self, name, value)"]),
        "\\n".join(["assert name in {'size'}", " " * 12 + "match other:", " " * 16 + "case str(name):",
                   " " * 20 + "setattr(self, name, value)"]),
    ],
)  # fmt: skip
def test_a_table_of_names_that_others_change_says_nothing(body: str) -> None:
    assert not proved(NAMED.format(body=body.replace("\\n", "\n"))).is_proved
