"""A value of which nothing is known but that only a tensor is used so is one; what is copied to the host comes from the GPU."""

import torch
from backend import lease
from torch.nn import functional as F


def of_a_call(model, rows):
    scores = model(rows)
    best = torch.softmax(scores, -1).max()
    if best > 0.5:  # expect: SYN104 (assumed)
        return scores.item()  # expect: SYN101 (assumed)
    return scores[0].item()  # expect: SYN101 (assumed)


def of_what_was_made_of_a_parameter(rows, pad):
    flat = F.relu(rows - 1)
    flat.sum().item()  # expect: SYN101 (assumed)
    return rows.max().item()  # expect: SYN101 (assumed)


def of_masks(rows, labels, pad):
    kept = labels != pad
    kept.all().item()  # expect: SYN101 (assumed)
    return rows[kept & (labels > 0)]  # expect: SYN201 (assumed)


def of_a_list(rows, first):
    rows[first:]
    rows[0].item()  # silent
    return rows.item()  # silent


def of_attributes(state, key):
    momentum = state[key].mul_(2)
    if momentum.max() > 1:  # expect: SYN104 (assumed)
        return state.scale.item()  # silent
    state.weight.zero_()
    return state.weight.item()  # expect: SYN101 (assumed)


def of_arrays_too():
    rows = lease()
    rows.sum(), rows.tolist()  # silent
    return rows.item()  # silent


class Agent:
    def act(self, rows):  # at: act
        actions = self.policy(rows)
        return actions.cpu().numpy()  # expect: SYN105 (inferred)


def array_of(value):
    return value.detach().cpu().numpy()  # expect: SYN105 (inferred)


def copied_and_read(value):
    copied = value.cpu()  # expect: SYN105 (inferred)
    return copied.tolist(), value.max().item()  # expect: SYN101 (inferred)


def collected(model, loader):
    kept = []
    for rows in loader:
        scores, state = model(rows)
        kept.append(scores.cpu())  # expect: SYN105 (inferred)
        kept.append({key: each.to("cpu") for key, each in state.items()})  # expect: SYN105 (inferred)
    return kept


def host(rows_cpu):
    return torch.sum(rows_cpu).item(), rows_cpu.clamp(0).tolist()  # silent


def of_a_model(model):
    model.cpu()  # silent: it may be a module
    model.cpu().eval()  # silent
    return model


def decoded(audio):
    samples = audio.samples
    if hasattr(samples, "cpu"):
        samples = samples.cpu().numpy()  # expect: SYN105 (assumed)
    return samples, audio.channels.cpu().numpy()  # expect: SYN105 (inferred)
