"""leat: LLM training tokens from text to the GPU.

help(leat.open), help(leat.Plan) and help(leat.Loader) say how datasets are read; help(leat.pack), help(leat.Packer) and
help(leat.Tokenizer) how they are made.

For other libraries, imported when they are used: leat.IterableDataset and leat.MapDataset (torch.utils.data),
leat.DataModule (Lightning), leat.LoaderMixin (transformers' Trainer), leat.GrainSource (Grain).
"""
from leat._leat import Error, version as __version__
from leat.batch import Batch
from leat.dataset import Dataset, open
from leat.loader import Loader, LoaderNotice
from leat.packer import Packer
from leat.packing import Progress, Summary, merge, pack
from leat.plan import Plan, Sample
from leat.tokenizer import Encoding, Tokenizer

__all__ = ["Batch", "Dataset", "Encoding", "Error", "Loader", "LoaderNotice", "Packer", "Plan", "Progress", "Sample",
           "Summary", "Tokenizer", "__version__", "merge", "open", "pack"]

_LATER = {"IterableDataset": "torch_data", "MapDataset": "torch_data", "DataModule": "lightning",
          "LoaderMixin": "huggingface", "GrainSource": "grain"}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"leat has no {name}")
    from importlib import import_module

    return getattr(import_module(f"leat.integrations.{_LATER[name]}"), name)


def __dir__():
    return sorted([*globals(), *_LATER])
