"""In a file that computes with another framework alone, methods that tensors have too say nothing."""

import jax.numpy as jnp
from backend import lease


def train(rows):
    loss = lease(jnp.mean(rows))
    if loss.detach().cpu() > 3:  # silent
        return loss.item()  # silent
    return rows.softmax(-1).tolist()  # silent


def train_later(step, rows):
    import optax

    loss = step(optax, rows)
    return loss.item()  # silent
