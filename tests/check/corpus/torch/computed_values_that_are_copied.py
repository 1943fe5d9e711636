"""Nobody copies to the host what is there, so a computed value that is copied is on the GPU, whatever its operands are."""


def scaled(lengths, x):
    return (lengths * x.size(1)).cpu()  # expect: SYN105


def compared(x, y):
    return (x > y).cpu()  # expect: SYN105


def joined(a, b):
    c = a + b
    return c.to("cpu")  # expect: SYN105


def kept(a, b):
    return a * b  # silent
