"""Attributes count with all that sets them, also where no assignment names them."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

SET = {
    "by-name": """
        class Box:
            def __init__(self) -> None:
                self.limit = 0
            def load(self, x: torch.Tensor) -> None:
                setattr(self, "limit", x)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "by-a-computed-name": """
        class Box:
            def __init__(self) -> None:
                self.limit = 0
            def load(self, values: dict[str, torch.Tensor]) -> None:
                for name, value in values.items():
                    setattr(self, name, value)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "by-the-setter-of-all": """
        class Movable:
            def __setattr__(self, name: str, value) -> None:
                if isinstance(value, torch.Tensor):
                    value = value.cuda()
                super().__setattr__(name, value)
        class Box(Movable):
            def __init__(self) -> None:
                self.limit = torch.zeros(1)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "past-the-setter": """
        class Box:
            def __init__(self, x: torch.Tensor) -> None:
                self.limit = 0
                object.__setattr__(self, "limit", x)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "as-a-buffer-of-a-computed-name": """
        class Box(torch.nn.Module):
            def __init__(self, x: torch.Tensor, name: str) -> None:
                super().__init__()
                self.limit = 0
                self.register_buffer(name, x)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "as-a-buffer": """
        class Box(torch.nn.Module):
            def __init__(self, x: torch.Tensor) -> None:
                super().__init__()
                self.register_buffer(name="limit", tensor=x)
            def reset(self) -> None:
                self.limit = 0
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "by-itself-alone": """
        class Box:
            def move(self, fn) -> None:
                self.limit = fn(self.limit)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
}


@pytest.mark.parametrize("program", SET.values(), ids=SET.keys())
def test_no_way_to_set_an_attribute_is_forgotten(program: str) -> None:
    assert not proved(program).is_proved


def test_a_setter_that_passes_values_on_changes_none() -> None:
    program = """
        class Named:
            def __setattr__(self, name: str, value) -> None:
                if name.startswith("_"):
                    raise AttributeError(name)
                super().__setattr__(name, value)
        class Box(Named):
            def __init__(self) -> None:
                self.limit = 0
        class Other:
            def load(self, values: dict[str, torch.Tensor]) -> None:
                for name, value in values.items():
                    setattr(self, name, value)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """
    assert proved(program).is_proved


def test_a_test_for_none_doubts_an_annotation() -> None:
    program = """
        def step(x: torch.Tensor, y: torch.Tensor) -> None:
            if x is None:
                y.item()
    """
    assert not proved(program).is_proved


def test_a_name_that_is_set_to_a_number_is_one() -> None:
    program = """
        class Box:
            def __init__(self) -> None:
                setattr(self, "limit", 0)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """
    assert proved(program).is_proved


FILLED = """
class Pool:
    def __init__(self, n: int) -> None:
        self.free = list(range(n))
    def put(self, row: int) -> None:
        self.free.append(row)
    def take(self) -> int:
        return 1 if self.free.pop() else 2
    {more}
def step(pool: Pool) -> int:
    return pool.take()
"""


@pytest.mark.parametrize(
    ("more", "is_proved"),
    [
        ("", True),
        ("def size(self) -> int: return len(self.free)", True),
        ("def lose(self, x: torch.Tensor) -> None: self.free.append(x)", False),
        ("def lose(self) -> list: return self.free", False),
        ("def lose(self, x: torch.Tensor) -> None: (lambda: self.free.append(x))()", False),
        ("def lose(self, x: torch.Tensor) -> None: self.free[0] = x", False),
        ("def lose(self) -> object: return getattr(self, 'free')", False),
        ("def lose(self, rows) -> None: self.free = rows = []; rows.append(rows)", False),
        ("def lose(self, rows) -> None: self.free = rows", False),
    ],
)
def test_a_list_that_nobody_receives_holds_what_was_put_into_it(more: str, is_proved: bool) -> None:
    assert proved(FILLED.replace("{more}", more)).is_proved is is_proved


def test_a_declared_list_stays_declared_where_others_receive_it() -> None:
    program = """
        class Pool:
            def __init__(self) -> None:
                self.rows: list[int] = []
            def put(self, row) -> None:
                self.rows.append(row)
        def step(pool: Pool) -> list:
            return pool.rows if pool.rows[0] else []
    """
    assert proved(program).is_proved


LACKING = """
class Cache:
    def __init__(self, n: int) -> None:
        self.n = n
class Rows(Cache):
    {body}
def step(x: torch.Tensor, cache: Cache, n: int) -> int:
    found = x if n > 3 else cache
    return 1 if found.shape[0] == n else 2
"""


@pytest.mark.parametrize(
    ("body", "is_proved"),
    [
        ("pass", True),  # a `Cache` has no shape, so `found` is the tensor
        ("shape = unknown", False),
        ("def set(self, shape):\n        self.shape = shape", False),
        ("def __getattr__(self, name):\n        return unknown", False),
        ("def set(self, name, value):\n        setattr(self, name, value)", False),
        ("@property\n    def shape(self):\n        return unknown", False),
    ],
)
def test_an_object_without_an_attribute_is_not_read(body: str, *, is_proved: bool) -> None:
    assert proved(LACKING.format(body=body)).is_proved is is_proved
    for outside in ("class Cache(Base):", "@register\nclass Cache:"):
        program = LACKING.format(body=body).replace("class Cache:", outside)
        assert any("truth" in each.finding.message for each in proved(program).obstacles)


def test_a_class_attribute_below_a_property_counts() -> None:
    program = """
        class Base:
            @property
            def size(self) -> int:
                return 1
        class Below(Base):
            size = {value}
        def step(base: Base) -> int:
            return 1 if base.size else 2
    """
    assert proved(program.format(value=3)).is_proved
    assert not proved(program.format(value="unknown")).is_proved


def test_what_object_gives_is_not_none() -> None:
    program = """
        class Settings:
            def __getattribute__(self, name):
                return super().__getattribute__(name)
            def step(self) -> int:
                size = super().__getattribute__({name})
                return 1 if {test} else 2
    """
    for name, test, is_proved in (
        ("'size'", "size", False),
        ("'__dict__'", "size", True),
        ("'__dict__'", "size.get('a') is None", True),
        ("'__dict__'", "size.get('a')", False),
    ):
        text = program.format(name=name, test=test)
        assert proved(text, entry="Settings.step").is_proved is is_proved


def test_a_copy_is_of_the_class_of_the_original() -> None:
    program = """
        import copy
        class Settings:
            def __init__(self, size: int) -> None:
                self.size = size
        {method}
        def step(settings: Settings) -> int:
            return 1 if copy.deepcopy(settings).size else 2
    """
    assert proved(program.format(method="")).is_proved
    method = "    def __deepcopy__(self, memo):\n                torch.cuda.synchronize()"
    assert not proved(program.format(method=method)).is_proved
    tensors = "import copy\ndef step(x: torch.Tensor) -> int:\n    return 1 if copy.deepcopy(x) else 2\n"
    assert not proved(tensors).is_proved


def test_the_text_of_a_class_is_on_the_host() -> None:
    for text in ("str(type(x))", "f'{x.__class__}'"):
        assert proved(f"def step(x) -> str:\n    return {text}\n").is_proved
    assert not proved("def step(x) -> str:\n    return str(x)\n").is_proved


LOADING = """
    class Box:
        def __init__(self) -> None:
            self.limit = 0
            self.size = 1
        def load(self, values: dict[str, torch.Tensor], other: object) -> None:
            {table}
            for name, value in values.items():
                {guard}
    def step(box: Box) -> int:
        return 1 if box.limit else 2
"""
SIZES = 'names = {"size", "rest"}'


@pytest.mark.parametrize(
    ("table", "guard", "is_proved"),
    [
        (SIZES, "assert name in names; setattr(self, name, value)", True),
        ("pass", "assert name in ('size', 'rest'); self.register_buffer(name, value)", True),
        (SIZES, "if name in names: setattr(self, name, value)", True),
        (
            "pass",
            "\n".join(
                ["if name not in ['size']:", " " * 20 + "continue", " " * 16 + "setattr(self, name, value)"]
            ),
            True,
        ),
        ('names = {"size", "limit"}', "assert name in names; setattr(self, name, value)", False),
        (SIZES + '; names.add("limit")', "assert name in names; setattr(self, name, value)", False),
        (SIZES + "; names = other", "assert name in names; setattr(self, name, value)", False),
        (SIZES, "setattr(self, name, value); assert name in names", False),
        (SIZES, "assert name in names; name = 'l' + 'imit'; setattr(self, name, value)", False),
        (SIZES, "assert name not in names; setattr(self, name, value)", False),
        (SIZES, "if name not in names: setattr(self, name, value)", False),
        ('names = {"size", other}', "assert name in names; setattr(self, name, value)", False),
        (SIZES, "assert name in names; other.limit = value; setattr(self, name, value)", False),
    ],
)
def test_a_test_of_a_computed_name_says_which_attributes_are_set(
    table: str, guard: str, is_proved: bool
) -> None:
    assert proved(LOADING.format(table=table, guard=guard)).is_proved is is_proved


def test_an_annotated_attribute_keeps_its_type_under_computed_names() -> None:
    program = """
        class Box:
            def __init__(self) -> None:
                self.limit: int = 0
                self.rest = 0
            def load(self, values: dict[str, torch.Tensor]) -> None:
                for name, value in values.items():
                    setattr(self, name, value)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
        def other(box: Box) -> int:
            return 1 if box.rest else 2
    """
    assert proved(program).is_proved
    assert not proved(program, entry="other").is_proved


@pytest.mark.parametrize(
    ("annotation", "is_proved"),
    [(": list[int]", True), ("", False), (": list[torch.Tensor]", False), (": list", False)],
)
def test_an_annotated_attribute_keeps_its_type_under_stores_on_unknown_objects(
    annotation: str, is_proved: bool
) -> None:
    program = f"""
        class Box:
            def __init__(self) -> None:
                self.rows{annotation} = []
            def reset(self) -> None:
                self.rows = []
        def load(box, x: torch.Tensor) -> None:
            box.rows = [x]
        def step(box: Box) -> int:
            return 1 if box.rows[0] else 2
    """
    assert proved(program).is_proved is is_proved


def test_a_store_of_the_class_itself_counts_against_an_annotation() -> None:
    program = """
        class Box:
            def __init__(self) -> None:
                self.limit: int = 0
            def load(self, x: torch.Tensor) -> None:
                self.limit = x
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """
    assert not proved(program).is_proved
