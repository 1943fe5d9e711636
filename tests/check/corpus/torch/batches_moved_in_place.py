from torch.utils.data import DataLoader


def load_to_gpu(batch, device):
    for key, value in batch.items():
        batch[key] = value.to(device)  # expect: SYN302
    return batch


def load_ids(batch):
    batch["ids"] = batch["ids"].to("cuda")  # expect: SYN302
    return batch


def train(loader: DataLoader):
    for batch in loader:
        batch = load_to_gpu(batch, "cuda")
        print(batch["lengths"].max().item())  # expect: SYN101
    for batch in loader:
        batch = load_ids(batch)
        print(batch["ids"].max().item())  # expect: SYN101
        print(batch["names"].max().item())  # silent: still on the host
