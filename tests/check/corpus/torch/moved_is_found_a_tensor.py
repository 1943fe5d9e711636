"""What is moved to the GPU is found to be a tensor by what is done with it."""

import torch
import torch.nn.functional as F


def train(batches, model):
    model = model.to("cuda")
    for x, y in batches:
        x, y = x.cuda(), y.to("cuda")
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if torch.isnan(loss):  # expect: SYN104
            break
        print(x.mean().item())  # expect: SYN101
        right = (x.argmax(-1) == y).sum().item()  # expect: SYN101
    return right, torch.relu(x + 1).tolist()  # expect: SYN102


def serve(tokenizer, model, text):
    model = model.cuda().eval()
    if model.training or not model:  # silent
        print(model)  # silent
    batch = tokenizer(text).to("cuda")
    if "labels" in batch.keys() and "ids" in batch:  # silent
        batch.pop("labels")  # silent
    for name, value in batch.items():
        print(name, batch[name])  # silent
    torch.compile(model)  # silent
    return model(**batch), len(batch), batch.size(0), model.cpu()  # silent
