from .deep import table
