"""Functions of torch that call the function they are given: their results are on the device of what that function returns."""

from functools import partial

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, vjp, vmap
from torch.utils._pytree import tree_map, tree_map_only
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x


def loss(w, x):
    return (w * x).sum()


def chunk_hits(rows):
    return rows.sum(), (rows > 0).sum()


def on_host(w):
    return w.cpu()  # expect: SYN105


def checkpoints(net: Net, rows: torch.Tensor):
    x = torch.ones(3, 3, device="cuda")
    checkpoint(net, x, use_reentrant=False).sum().item()  # expect: SYN101
    checkpoint(loss, x, x=x).item()  # expect: SYN101
    kl, hits = checkpoint(chunk_hits, x, use_reentrant=False)
    int(hits)  # expect: SYN103
    checkpoint(lambda rows: rows.cpu(), x).sum().item()  # expect: SYN105
    checkpoint_sequential([net, net], 2, x).sum().item()  # expect: SYN101
    checkpoint(partial(loss, x), x).item()  # expect: SYN101
    checkpoint(loss, torch.ones(3), torch.ones(3)).item()  # silent
    return kl


def transforms():
    w, x = torch.ones(3, device="cuda"), torch.ones(3, 3, device="cuda")
    losses = vmap(loss, in_dims=(None, 0))(w, x)
    losses.tolist()  # expect: SYN102
    torch.vmap(loss)(x, x).tolist()  # expect: SYN102
    each = torch.vmap(loss, in_dims=(None, 0))
    each(w, x).tolist()  # expect: SYN102
    grad(loss)(w, x).tolist()  # expect: SYN102
    grad(loss, argnums=1)(torch.ones(3), x).tolist()  # expect: SYN102
    grad(loss, argnums=0)(torch.ones(3), torch.ones(3)).tolist()  # silent
    slope, value = grad_and_value(loss)(w, x)
    value.item()  # expect: SYN101
    slope.tolist()  # expect: SYN102
    jacrev(loss)(w, x).tolist()  # expect: SYN102
    hessian(partial(loss, x=x))(w).tolist()  # expect: SYN102
    value, pullback = vjp(loss, w, x)
    value.item()  # expect: SYN101
    value, tangent = jvp(loss, (w, x), (w, x))
    tangent.item()  # expect: SYN101
    vmap(on_host)(x).tolist()  # silent
    torch.autograd.functional.jacobian(partial(loss, x), w).tolist()  # expect: SYN102
    value, product = torch.autograd.functional.hvp(partial(loss, x), w, w)
    value.item()  # expect: SYN101
    product.tolist()  # expect: SYN102


def modules_and_trees(net: Net):
    x = torch.ones(3, 3, device="cuda")
    functional_call(net, dict(net.named_parameters()), (x,)).sum().item()  # expect: SYN101
    functional_call(net, dict(net.named_parameters()), x).sum().item()  # expect: SYN101
    state = tree_map(lambda t: t + 1, {"a": x, "b": [x, x]})
    state["a"].sum().item()  # expect: SYN101
    state["b"][0].sum().item()  # expect: SYN101
    moved = tree_map_only(torch.Tensor, lambda t: t.cpu(), [x])  # expect: SYN105
    moved[0].sum().item()  # silent


def positions(table: torch.Tensor):
    rows = vmap(lambda row: row.argmax())(torch.ones(3, 3, device="cuda"))
    return table[rows]  # silent
