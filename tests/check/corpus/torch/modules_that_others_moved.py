"""What a module out of sight gives is where the module was moved: a tensor, or an object of them."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda").eval()
on_host = AutoModelForCausalLM.from_pretrained("gpt2")


@torch.inference_mode()
def generate(prompt, n, temperature=1.0):
    ids = tokenizer(prompt, return_tensors="pt").to("cuda").input_ids  # expect: SYN302
    past = None
    for _ in range(n):
        out = model(ids, past_key_values=past)
        past = out.past_key_values
        past_length = past.get_seq_length() + 1
        torch.arange(past_length)  # silent
        logits = out.logits[:, -1] / temperature
        probs = torch.softmax(logits, -1)
        if torch.isnan(probs).any():  # expect: SYN104
            raise ValueError
        token = torch.multinomial(probs, 1)
        if token.item() == tokenizer.eos_token_id:  # expect: SYN101
            break
        ids = torch.cat([ids, token], -1)
    return ids[0].tolist()  # expect: SYN102


def whole(prompt):
    ids = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=4)
    return ids[0].tolist()  # expect: SYN102


def loss_of(batch):
    loss, scores = model(**batch)[:2]
    if model(**batch)["loss"].item() > 1:  # expect: SYN101
        return float(model(**batch).loss.mean())  # expect: SYN103
    return model(**batch)[0].item()  # expect: SYN101


def rows(x):
    out = model(x)
    print(out[..., 1].tolist())  # expect: SYN102
    return out[:, 0].tolist()  # expect: SYN102


def of_settings(batch):
    for _ in range(model.config.num_layers + 1):  # silent
        torch.zeros(model.config.hidden_size * 2)  # silent
    if model.training and model.config.use_cache:  # silent
        int(model.config.vocab_size)  # silent
    out = model(batch)
    out.past_key_values[0].item(), out["kind"].item()  # silent
    print(out.text.tolist())  # silent
    return on_host(**batch).logits[:, -1].tolist()  # silent


generate("a", 3)
