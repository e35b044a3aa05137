"""trl.py: what TRL's SFTTrainer (1.16) asks for beside what transformers' Trainer does. leat.LoaderMixin is for both:

    class MyTrainer(leat.LoaderMixin, trl.SFTTrainer):
        pass
"""
from __future__ import annotations

from datasets import Dataset

from leat.integrations.transformers import LoaderMixin

__all__ = ["LoaderMixin"]


def stand_in_dataset():
    """SFTTrainer looks into a train_dataset, and prepares it, before anybody asks for batches: a row of one token."""
    return Dataset.from_dict({"input_ids": [[0]], "labels": [[0]]})


def check_loader(loader):
    """Raises ValueError if SFTTrainer, which counts tokens by them, finds neither position_ids nor an
    attention_mask."""
    if loader is not None and not {"position_ids", "attention_mask"} & set(loader._style.names):
        raise ValueError("SFTTrainer needs \"position_ids\" among the outputs of leat.Loader, which also keep the "
                         "documents of a row apart; or \"attention_mask\", for rows of one document")
