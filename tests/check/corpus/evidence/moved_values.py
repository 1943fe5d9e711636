"""What was moved before anything told that it is a tensor."""


def run(batch, model):
    ids = batch.to("cuda")  # at: moved
    ids.sum().item()  # expect: SYN101 (inferred)
    # because: moved: `batch.to("cuda")` places the tensor on the GPU
    labels = batch.cuda()  # at: cuda
    return labels.sum().item()  # expect: SYN101 (inferred)
    # because: cuda: `batch.cuda()` places the tensor on the GPU
