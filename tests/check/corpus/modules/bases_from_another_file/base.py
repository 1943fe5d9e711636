from abc import ABC, abstractmethod
from typing import Generic, TypeVar

T = TypeVar("T")


class Backend(ABC, Generic[T]):
    def __init__(self, lens: T):
        self.lens = lens

    def read(self):
        return self.build().tolist()  # expect: SYN102

    @abstractmethod
    def build(self): ...
