"""What was moved stays what it was under the methods that modules and batches have as well."""

import torch


def run(batch, where: torch.device):
    x = batch.to("cuda")
    x.apply(1).cpu(), x.clone().cpu(), x.contiguous().cpu(), x.copy_(1).cpu(), x.detach().cpu()  # silent
    (
        x.double().cpu(),
        x.expand(1).cpu(),
        x.flatten().cpu(),
        x.gather(1).cpu(),
        x.index_select(1).cpu(),
    )  # silent
    (
        x.permute(1).cpu(),
        x.reshape(1).cpu(),
        x.share_memory_().cpu(),
        x.split(1).cpu(),
        x.squeeze().cpu(),
    )  # silent
    (
        x.type(1).cpu(),
        x.unbind().cpu(),
        x.unsqueeze(0).cpu(),
        x.view(1).cpu(),
        x.zero_grad(),
        x.half().cpu(),
    )  # silent
    x.eval().cpu(), x.train().cpu(), x.requires_grad_().cpu(), x.float().cpu(), x.bfloat16().cpu()  # silent
    x.size(0).item(), x.values().tolist()  # silent
    x.parameters(), x.buffers(), x.state_dict(), x.modules(), x.children(), x.named_parameters()  # silent
    x.clone().tolist(), x.view(-1).tolist(), x.half().tolist()  # expect: SYN102, SYN102, SYN102
    x.argmax(-1).cpu()  # expect: SYN105
    x.to("cpu").tolist()  # silent
    x.to(torch.float16).tolist()  # todo: SYN102
    batch.to(torch.device("cuda")).sum().item()  # expect: SYN101
    batch.to(where).sum().item()  # todo: SYN101
    batch.cuda(0).sum().item()  # expect: SYN101
    batch.to("cpu").sum().item()  # silent
    batch.cpu().cuda().sum().item()  # expect: SYN101
    torch.ones(4)[x].tolist()  # silent
    y = torch.ones(4, device="cuda") if batch else x
    y.cpu()  # expect: SYN105
    return x + 1, (x + 1).cpu()  # expect: SYN105
