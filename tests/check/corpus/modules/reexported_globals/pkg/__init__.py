from .inner import table
