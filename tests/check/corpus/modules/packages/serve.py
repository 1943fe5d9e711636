"""Names are found through packages, re-exports and submodules."""

import engine
import engine.pool
from engine import Pool, buffers, limit
from engine.buffers import *  # noqa: F403
from engine.buffers import make as made_there


def run():
    Pool(4).rows.tolist()  # expect: SYN102
    made_there(4).tolist()  # expect: SYN102
    engine.buffers.make(4).tolist()  # expect: SYN102
    buffers.make(4).tolist()  # expect: SYN102
    engine.pool.Pool(4).rows.tolist()  # expect: SYN102
    buffers.SHARED.tolist()  # expect: SYN102
    engine.Pool(4).read()
    limit.tolist()  # expect: SYN102
    shared_by_star.tolist()  # expect: SYN102
    return engine.missing.anything().tolist()  # silent
