"""What was moved stays what it was under the methods that modules and batches have as well."""

import torch


def run(batch, other, where: torch.device):
    x = batch.to("cuda")
    x.apply(1).cpu(), x.apply(1).tolist()  # expect: SYN102
    x.clone().cpu(), x.clone().tolist()  # expect: SYN102, SYN105
    x.contiguous().cpu(), x.contiguous().tolist()  # expect: SYN102, SYN105
    x.copy_(1).cpu(), x.copy_(1).tolist()  # expect: SYN102, SYN105
    x.detach().cpu(), x.detach().tolist()  # expect: SYN102, SYN105
    x.double().cpu(), x.double().tolist()  # expect: SYN102
    x.expand(1).cpu(), x.expand(1).tolist()  # expect: SYN102, SYN105
    x.flatten().cpu(), x.flatten().tolist()  # expect: SYN102, SYN105
    x.gather(1).cpu(), x.gather(1).tolist()  # expect: SYN102, SYN105
    x.index_select(1).cpu(), x.index_select(1).tolist()  # expect: SYN102, SYN105
    x.permute(1).cpu(), x.permute(1).tolist()  # expect: SYN102, SYN105
    x.reshape(1).cpu(), x.reshape(1).tolist()  # expect: SYN102, SYN105
    x.share_memory_().cpu(), x.share_memory_().tolist()  # expect: SYN102
    x.split(1).cpu(), x.split(1).tolist()  # expect: SYN102
    x.squeeze().cpu(), x.squeeze().tolist()  # expect: SYN102, SYN105
    x.type(1).cpu(), x.type(1).tolist()  # expect: SYN102
    x.unbind().cpu(), x.unbind().tolist()  # expect: SYN102, SYN105
    x.unsqueeze(0).cpu(), x.unsqueeze(0).tolist()  # expect: SYN102, SYN105
    x.view(1).cpu(), x.view(1).tolist()  # expect: SYN102, SYN105
    x.half().cpu(), x.half().tolist()  # expect: SYN102
    x.eval().cpu(), x.eval().tolist()  # expect: SYN102
    x.train().cpu(), x.train().tolist()  # expect: SYN102
    x.requires_grad_().cpu(), x.requires_grad_().tolist()  # expect: SYN102
    x.float().cpu(), x.float().tolist()  # expect: SYN102
    x.bfloat16().cpu(), x.bfloat16().tolist()  # expect: SYN102
    x.size(0).item(), x.values().tolist()  # silent
    x.parameters(), x.buffers(), x.state_dict(), x.modules(), x.children(), x.named_parameters()  # silent
    x.prepared_by_the_project().tolist()  # silent
    x.argmax(-1).cpu()  # expect: SYN105
    x.to("cpu").tolist()  # silent
    x.to(torch.float16).tolist()  # expect: SYN102
    batch.to(torch.device("cuda")).sum().item()  # expect: SYN101
    batch.to(where).sum().item()  # expect: SYN101
    batch.cuda(0).sum().item()  # expect: SYN101
    other.to("cpu").sum().item()  # expect: SYN105 (inferred)
    other.cpu().cuda().sum().item()  # expect: SYN101, SYN105, SYN302
    torch.ones(4)[x].tolist()  # silent
    y = torch.ones(4, device="cuda") if batch else x
    y.cpu()  # expect: SYN105
    return x + 1, (x + 1).cpu()  # expect: SYN105
