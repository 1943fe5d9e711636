"""The handler of an error runs seldom; an exception that is an answer, such as `StopIteration`, may come in every step."""

import torch


def report(x):
    return x.tolist()  # expect: SYN102 (once)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, loader):
        try:
            y = torch.linalg.cholesky(x)  # expect: SYN502 (step)
        except (RuntimeError, torch.linalg.LinAlgError):
            print(x.min().item())  # expect: SYN101 (once)
            report(x)
            y = x
        except torch.cuda.OutOfMemoryError:
            y = torch.zeros(3, device="cuda") * x.max().item()  # expect: SYN101 (once)
        try:
            z = next(loader)
        except StopIteration:
            z = y.max().item()  # expect: SYN101 (step)
        except (KeyError, RuntimeError):
            z = y.min().item()  # expect: SYN101 (step)
        except:  # noqa: E722 (a bare handler is the case)
            z = y.sum().item()  # expect: SYN101 (step)
        return z
