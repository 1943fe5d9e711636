import state
from state import current
from state import current as now


def run():
    state.current.tolist()  # expect: SYN102
    now.tolist()  # expect: SYN102
    return current.tolist()  # expect: SYN102
