from .buffers import SHARED as limit
from .pool import Pool

__all__ = ["Pool", "limit"]
