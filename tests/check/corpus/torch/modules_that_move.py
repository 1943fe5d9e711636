"""A module that is made on the host blocks where it moves to the GPU, once for each of its parameters."""

import torch
from torch import nn

DEVICE = torch.device("cuda")


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.size = size

    def forward(self, x):
        return self.linear(x)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(4))


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 4))


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4) for _ in range(3)])


class Chain(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 3, 1), nn.ReLU())


class Wide(nn.Linear):
    pass


class Narrow(Wide):
    def __init__(self):
        super().__init__(2, 2)


class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.activation = nn.GELU()


class Moved(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.to(DEVICE)


class Given(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.linear = nn.Linear(4, 4, device=device)


class Around(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner


def build(size):
    return Block(size)


def build_both(size):
    return Block(size), Scale()


def made_here():
    model = Block(4).to(DEVICE)  # expect: SYN302
    later = Block(4)
    later.eval()
    later.to(DEVICE)  # expect: SYN302
    Block(4).half().cuda()  # expect: SYN302
    Block(4).to(torch.float16).to("cuda")  # expect: SYN302
    Block(4).to(DEVICE, torch.float16)  # expect: SYN302
    return model, later


def made_of_parts():
    Scale().cuda()  # expect: SYN302
    Table().cuda()  # expect: SYN302
    Stack().cuda()  # expect: SYN302
    Chain().cuda()  # expect: SYN302
    Narrow().cuda()  # expect: SYN302
    Around(Block(4)).cuda()  # expect: SYN302
    nn.Sequential(nn.ReLU(), Block(4)).cuda()  # expect: SYN302
    nn.ModuleDict({"block": Block(4)}).cuda()  # expect: SYN302


def made_elsewhere():
    build(4).to(DEVICE)  # expect: SYN302
    block, scale = build_both(4)
    block.to(DEVICE)  # expect: SYN302
    scale.to(DEVICE)  # expect: SYN302


def without_parameters():
    Smooth().to(DEVICE)  # silent
    nn.ReLU().cuda()  # silent
    nn.Sequential(nn.ReLU(), nn.Dropout(0.1)).cuda()  # silent
    nn.LayerNorm(4, elementwise_affine=False).cuda()  # silent
    nn.CrossEntropyLoss().to(DEVICE)  # silent


def made_there():
    Given(DEVICE).to(DEVICE)  # silent
    nn.Linear(4, 4, device=DEVICE).to(DEVICE)  # silent
    nn.Linear(4, 4, **{"device": DEVICE}).to(DEVICE)  # silent
    nn.Sequential(nn.Linear(4, 4, device=DEVICE)).to(DEVICE)  # silent
    Moved().to(DEVICE)  # silent


def stays_on_host(other):
    Block(4).to("cpu")  # silent
    Block(4).to(torch.float16)  # silent
    Block(4).to(other)  # silent


def asynchronous():
    Block(4).to(DEVICE, non_blocking=True)  # silent


def moved_before():
    twice = Block(4).to(DEVICE)  # expect: SYN302
    twice.to(DEVICE)  # silent
    in_place = Block(4)
    in_place.to(DEVICE)  # expect: SYN302
    in_place.to(DEVICE)  # silent
    nn.Sequential(in_place).to(DEVICE)  # silent
    around = Around(in_place)
    around.to(DEVICE)  # silent
    alias = second = Block(4)
    alias.to(DEVICE)  # expect: SYN302
    third = second
    third.to(DEVICE)  # silent: it is the same module
    handed = Block(4)
    given(handed)
    handed.to(DEVICE)  # silent: the callee may have moved it


def moved_in_each_step(batches):
    model = Block(4)
    for _ in batches:
        model.to(DEVICE)  # silent: it is there after the first step
    for _ in batches:
        fresh = Block(4)
        fresh.to(DEVICE)  # expect: SYN302


def build_moved():
    model = Block(4)
    model.to(DEVICE)  # expect: SYN302
    return model


def build_perhaps_moved(device):
    model = Block(4)
    if device is not None:
        model = model.to(device)
    return model


class PartMoved(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(4)
        self.block.to(DEVICE)  # expect: SYN302


class Unregistered(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.blocks = [Block(4)]
        self.size = inner.size


def made_by_others():
    build_moved().to(DEVICE)  # silent
    build_perhaps_moved(None).to(DEVICE)  # silent
    PartMoved().to(DEVICE)  # silent
    Unregistered(Block(4)).to(DEVICE)  # silent: it registers no part


def by_position():
    nn.Linear(4, 4, True, DEVICE).to(DEVICE)  # silent
    nn.LayerNorm(4, 1e-5, False).to(DEVICE)  # silent
    nn.GroupNorm(2, 4, 1e-5, False).to(DEVICE)  # silent
    nn.LayerNorm(4, 1e-5).to(DEVICE)  # expect: SYN302
    with torch.device("meta"):
        empty = nn.Linear(4, 4)
    empty.to(DEVICE)  # silent


def put_back(inner):
    model = Block(4)
    model = model.to(DEVICE)  # expect: SYN302
    model = model.to(DEVICE)  # silent
    wrapped = Block(4)
    wrapped = Around(wrapped)
    wrapped = wrapped.to(DEVICE)  # expect: SYN302
    inner = inner.to(DEVICE)  # silent: it may be there
    return model, wrapped, inner


def one_after_another():
    first, second, third, fourth, fifth = Block(4), Block(4), Block(4), Block(4), Block(4)
    for block in (first, second):
        block.to(DEVICE)  # expect: SYN302
    first.to(DEVICE)  # silent
    third.to(DEVICE)  # expect: SYN302
    for block in [third, fourth]:
        block.to(DEVICE)  # silent: one of them is there
    named = [fifth]
    fifth.to(DEVICE)  # silent: the list may have moved
    for block in named:
        block.to(DEVICE)  # silent
    for name, block in {"one": Block(4), "two": Scale()}.items():
        block = block.to(DEVICE)  # expect: SYN302
        print(name, block)
    for block in [Block(size) for size in (4, 8)]:
        block.cuda()  # expect: SYN302


def gathered(names, others):
    blocks = {"first": Block(4)}
    for name in names:
        blocks[name] = Block(4)
    for number, block in enumerate(blocks.values()):
        block.to(DEVICE)  # expect: SYN302
        print(number)
    for block in blocks.values():
        block.to(DEVICE)  # silent
    listed = []
    listed.append(Scale())
    for block in listed:
        block.cuda()  # expect: SYN302
    mixed = [Block(4)]
    mixed.extend(others)
    for block in mixed:
        block.cuda()  # silent: the others may be there
    repeated = [Block(4)]
    for _ in names:
        for block in repeated:
            block.cuda()  # silent: they are there after the first step


class Holder:
    def __init__(self):
        self.model = Block(4)
        self.model.to(DEVICE)  # expect: SYN302

    def load(self):
        self.model.to(DEVICE)  # silent: it may be there


def given(model):
    model.to(DEVICE)  # expect: SYN302


given(Block(4))
