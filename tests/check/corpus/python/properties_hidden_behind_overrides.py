"""A property calls a method that subclasses override: it waits where all of them do."""

import abc

import torch


class Operator(abc.ABC):
    def __init__(self):
        self.mask = torch.ones(4, device="cuda")

    @abc.abstractmethod
    def _size(self): ...

    def _permuted(self):
        return self.mask

    def _checked(self):
        raise NotImplementedError

    @property
    def size(self):
        return self._size()

    @property
    def permuted(self):
        return self._permuted()

    @property
    def checked(self):
        return self._checked()


class Dense(Operator):
    def _size(self):
        return int(self.mask.sum())  # expect: SYN103

    def _permuted(self):
        return self.mask.T

    def _checked(self):
        return self.mask.tolist()  # expect: SYN102


class Masked(Operator):
    def _size(self):
        return self.mask.sum().item()  # expect: SYN101

    def _permuted(self):
        return self.mask[self.mask > 0].tolist()  # expect: SYN102, SYN201

    def _checked(self):
        return self.mask.tolist()  # expect: SYN102


def use(operator: Operator):
    operator.size  # expect: SYN501 (inferred)
    operator.checked  # expect: SYN501 (inferred)
    operator.permuted  # silent: a dense one does not wait
