def longest(lens):
    return lens.max().item()  # expect: SYN101 (hot)
    # reached: Runner.step > longest
