import a


def doubled(t):
    t.item()  # expect: SYN101
    return t * 2


def again():
    return a.make().item()  # expect: SYN101
