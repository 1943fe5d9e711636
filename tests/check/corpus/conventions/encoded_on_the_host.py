"""A batch that an unknown processor or tokenizer encodes (`return_tensors`) is in host memory until the program moves it."""

import torch


def collate(examples, processor):
    batch = processor(text=[each["text"] for each in examples], return_tensors="pt", padding=True)
    if (batch["input_ids"] == 4).any():  # silent
        print(batch["input_ids"].tolist())  # silent
    return batch, torch.tensor([1, 2], device=batch["input_ids"].device)  # silent


def chat(processor, conversations):
    batch = processor.apply_chat_template(conversations, return_tensors="pt", return_dict=True)
    return batch["input_ids"].tolist()  # silent


def moved(processor, text):
    inputs = processor(text, return_tensors="pt").to("cuda")  # expect: SYN302
    return inputs["input_ids"].tolist()  # expect: SYN102


class Processor:
    def __call__(self, text, return_tensors):
        return {"input_ids": torch.zeros(3, device="cuda")}


def of_the_project(processor: Processor):
    return processor("a", return_tensors="pt")["input_ids"].tolist()  # expect: SYN102
