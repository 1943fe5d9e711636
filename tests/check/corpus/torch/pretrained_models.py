"""`device_map` places a pretrained model on the GPU; the device of a model that moved is where it moved."""

import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer


def placed(name: str):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
    inputs = tokenizer("x", return_tensors="pt").to(model.device)  # expect: SYN302
    print(tokenizer.decode(model.generate(**inputs)[0]))  # expect: SYN105
    model(**inputs).logits.argmax(-1).tolist()  # expect: SYN102


def on_one(name: str):
    model = AutoModel.from_pretrained(name, device_map="cuda:0")
    model(torch.ones(1, 3)).last_hidden_state.cpu()  # expect: SYN105


def moved(name: str):
    model = AutoModel.from_pretrained(name).to("cuda")
    torch.ones(1, 3).to(model.device)  # expect: SYN302


def on_the_host(name: str, chosen):
    model = AutoModel.from_pretrained(name)
    model(torch.ones(1, 3)).last_hidden_state.tolist()  # silent
    model = AutoModel.from_pretrained(name, device_map="cpu")
    model(torch.ones(1, 3)).last_hidden_state.tolist()  # silent
    model = AutoModel.from_pretrained(name, device_map=chosen)
    model(torch.ones(1, 3)).last_hidden_state.tolist()  # silent
