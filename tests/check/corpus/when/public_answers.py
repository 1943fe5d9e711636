"""A public function that answers users runs for each request, also where the project calls it at the start alone."""

import torch


class Classifier:
    def load_model(self):
        self.warmed = self.predict_proba(torch.ones(1, device="cuda"))
        self._predict_scores(torch.ones(1, device="cuda"))
        self.probe(torch.ones(1, device="cuda"))

    def predict_proba(self, x):
        return x.cpu()  # expect: SYN105 (unknown)

    def _predict_scores(self, x):
        return x.cpu()  # expect: SYN105 (once)

    def probe(self, x):
        return x.cpu()  # expect: SYN105 (once)
