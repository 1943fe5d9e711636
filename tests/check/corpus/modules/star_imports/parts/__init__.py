from .buffers import *  # noqa: F403
