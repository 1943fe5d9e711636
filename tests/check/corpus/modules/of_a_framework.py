"""Classes of frameworks whose source is not at hand: their subclasses are modules, and the data modules of Lightning are none."""

import lightning.pytorch as pl
from megatron.core.transformer.module import MegatronModule
from transformers import PreTrainedModel


class Model(PreTrainedModel):
    def forward(self, x):
        if x.sum() > 0:  # expect: SYN104 (inferred)
            return x
        return x.relu()


class Layer(MegatronModule):
    def forward(self, x):
        return x[x > 0]  # expect: SYN201 (inferred)


class Data(pl.LightningDataModule):
    def collate(self, rows):
        rows = rows.clamp(min=0)
        return rows[rows > 0]  # expect: SYN201 (assumed)
