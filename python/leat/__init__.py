"""leat: LLM training tokens from text to the GPU.

To make datasets, see help(leat.pack), help(leat.Packer), help(leat.Run) and help(leat.Tokenizer); to read them,
help(leat.open), help(leat.Plan) and help(leat.Loader). Options that belong together are groups: leat.fit and
leat.Opening of a Plan; leat.Outputs, leat.Column, leat.Device, leat.IO and leat.StatsFile of a Loader; leat.Files,
leat.Chat and leat.Pairs of leat.pack().

For other libraries, imported on first use: leat.IterableDataset and leat.MapDataset (torch.utils.data),
leat.DataModule (Lightning), leat.LoaderMixin and leat.check_model (transformers), leat.GrainSource (Grain).

leat.integrations has a module for each trainer and engine; leat.chat renders conversations.
"""
import leat._clash  # noqa: F401
from leat._leat import Error, version as __version__
from leat.batch import Batch
from leat.columns import attach, attach_commit, attach_range
from leat.dataset import Dataset, open
from leat.diagnosis import Diagnosis, diagnose
from leat.encodings import encoding_for_model, encoding_name_for_model, get_encoding, list_encoding_names
from leat.foreign import Adopted, Import, adopt, import_dataset
from leat.loader import Loader, LoaderNotice
from leat.mirror import Copied, pull, push
from leat.mixture import Mixture, ramp
from leat.options import FIM, IO, Chat, Column, Device, Files, Opening, Outputs, Pairs, StatsFile, choose, fit
from leat.packer import Packer
from leat.packing import Export, Progress, Summary, export, merge, pack
from leat.plan import Plan, Sample
from leat.prometheus import stats_prometheus
from leat.pushed import Piece
from leat.run import Run
from leat.tokenizer import Encoding, Tokenizer

__all__ = ["Adopted", "Batch", "Chat", "Column", "Copied", "Dataset", "Device", "Diagnosis", "Encoding", "Error",
           "Export", "FIM", "Files", "IO", "Import", "Loader", "LoaderNotice", "Mixture", "Opening", "Outputs",
           "Packer", "Pairs", "Piece", "Plan", "Progress", "Run", "Sample", "StatsFile", "Summary", "Tokenizer",
           "__version__", "adopt", "attach", "attach_commit", "attach_range", "choose", "diagnose",
           "encoding_for_model", "encoding_name_for_model", "export", "fit", "get_encoding", "import_dataset",
           "list_encoding_names", "merge", "open", "pack", "pull", "push", "ramp", "stats_prometheus"]

# {name: (module of leat, or the name's own, packages of which one must be installed)}
_LATER = {"IterableDataset": ("integrations.torch_data", ("torch",)),
          "MapDataset": ("integrations.torch_data", ("torch",)),
          "DataModule": ("integrations.lightning", ("lightning", "pytorch_lightning")),
          "LoaderMixin": ("integrations.transformers", ("transformers",)),
          "check_model": ("integrations.model_check", ("torch",)),
          "GrainSource": ("integrations.grain", ("numpy",)),
          "chat": ("chat", ("jinja2",)), "integrations": ("integrations", ("leat",))}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"leat has no {name}")
    from importlib import import_module

    module, packages = _LATER[name]
    try:
        found = import_module(f"leat.{module}")
    except ImportError as missing:
        raise ImportError(f"leat.{name} needs {packages[0]}, which cannot be imported: {missing}") from missing
    return found if module == name else getattr(found, name)


def __dir__():
    # Names only what can be imported here, because help(leat) imports all of it.
    from importlib.util import find_spec

    return sorted([*globals(), *(name for name, (_, packages) in _LATER.items() if any(map(find_spec, packages)))])
