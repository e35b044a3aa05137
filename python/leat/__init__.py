"""leat: LLM training tokens from text to the GPU. help(leat.open), help(leat.Plan) and help(leat.Loader) say how.

For other libraries, imported when they are used: leat.IterableDataset and leat.MapDataset (torch.utils.data),
leat.DataModule (Lightning), leat.LoaderMixin (transformers' Trainer), leat.GrainSource (Grain).
"""
from leat._leat import Error, version as __version__
from leat.batch import Batch
from leat.dataset import Dataset, open
from leat.loader import Loader, LoaderNotice
from leat.plan import Plan, Sample

__all__ = ["Batch", "Dataset", "Error", "Loader", "LoaderNotice", "Plan", "Sample", "__version__", "open"]

_LATER = {"IterableDataset": "torch_data", "MapDataset": "torch_data", "DataModule": "lightning",
          "LoaderMixin": "huggingface", "GrainSource": "grain"}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"leat has no {name}")
    from importlib import import_module

    return getattr(import_module(f"leat.integrations.{_LATER[name]}"), name)


def __dir__():
    return sorted([*globals(), *_LATER])
