"""A server adds and removes its requests between the steps: that runs for each request, and not in each step."""

import torch


class Engine:
    def execute_model(self, waiting, x: torch.Tensor):
        for request in waiting:
            self.add_request(request)
            self._free_finished_seqs(request)
        rows = self.add_rows(x.cuda())
        return rows

    def add_request(self, request):
        self.ids = torch.tensor(request.ids, device="cuda")  # expect: SYN301 (unknown)
        self._set_length(request.length)

    def _set_length(self, length):
        self.length = torch.tensor(length, device="cuda")  # expect: SYN301 (unknown)

    def _free_finished_seqs(self, request):
        self.ids[0] = 0  # expect: SYN306 (unknown)

    def add_rows(self, rows):
        return rows.tolist()  # expect: SYN102 (step)
