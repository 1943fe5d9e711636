import torch

WHERE = torch.device("cuda")
HOST = "cpu"
