def longest(lens):
    return lens.max().item()  # expect: SYN101 (step)
    # reached: Runner.step > longest
