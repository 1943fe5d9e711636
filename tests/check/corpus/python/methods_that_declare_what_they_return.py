"""What the methods below a class return is what they say, where their bodies do not show it."""

import torch
from storage import unpack


class Batch:
    def __init__(self):
        self.mask = torch.ones(4, device="cuda")


class Reader:
    def read(self, path):
        raise NotImplementedError

    def last(self):
        raise NotImplementedError

    def count(self):
        raise NotImplementedError

    def kept(self):
        raise NotImplementedError


class FileReader(Reader):
    def read(self, path) -> Batch:
        return unpack(path)

    def last(self) -> Batch:
        """Something else fills it in."""

    def count(self):
        return unpack("count")

    def kept(self) -> Batch:
        return torch.ones(4)


class OtherReader(Reader):
    def read(self, path):
        return unpack(path)

    def last(self):
        return unpack("last")


def use(reader: Reader):
    if reader.read("a").mask.any():  # expect: SYN104
        return reader.last().mask.tolist()  # expect: SYN102
    reader.kept().tolist()  # silent: what the body shows is worth more
    return reader.count().mask.tolist()  # silent
