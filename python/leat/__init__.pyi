# __init__.pyi: the names of the package.
from leat import chat as chat
from leat import integrations as integrations
from leat._leat import Error as Error
from leat._leat import version as __version__
from leat.batch import Batch as Batch
from leat.columns import attach as attach
from leat.columns import attach_commit as attach_commit
from leat.columns import attach_range as attach_range
from leat.dataset import Dataset as Dataset
from leat.dataset import open as open
from leat.diagnosis import Diagnosis as Diagnosis
from leat.diagnosis import diagnose as diagnose
from leat.encodings import encoding_for_model as encoding_for_model
from leat.encodings import encoding_name_for_model as encoding_name_for_model
from leat.encodings import get_encoding as get_encoding
from leat.encodings import list_encoding_names as list_encoding_names
from leat.foreign import Adopted as Adopted
from leat.foreign import Import as Import
from leat.foreign import adopt as adopt
from leat.foreign import import_dataset as import_dataset
from leat.integrations.grain import GrainSource as GrainSource
from leat.integrations.transformers import LoaderMixin as LoaderMixin
from leat.integrations.model_check import check_model as check_model
from leat.integrations.lightning import DataModule as DataModule
from leat.integrations.torch_data import IterableDataset as IterableDataset
from leat.integrations.torch_data import MapDataset as MapDataset
from leat.loader import Loader as Loader
from leat.loader import LoaderNotice as LoaderNotice
from leat.mirror import Copied as Copied
from leat.mirror import pull as pull
from leat.mirror import push as push
from leat.mixture import Mixture as Mixture
from leat.mixture import ramp as ramp
from leat.options import FIM as FIM
from leat.options import IO as IO
from leat.options import Chat as Chat
from leat.options import Column as Column
from leat.options import Device as Device
from leat.options import Files as Files
from leat.options import Opening as Opening
from leat.options import Outputs as Outputs
from leat.options import Pairs as Pairs
from leat.options import StatsFile as StatsFile
from leat.options import choose as choose
from leat.options import fit as fit
from leat.packer import Packer as Packer
from leat.packing import Export as Export
from leat.packing import Progress as Progress
from leat.packing import Summary as Summary
from leat.packing import export as export
from leat.packing import merge as merge
from leat.packing import pack as pack
from leat.plan import Plan as Plan
from leat.plan import Sample as Sample
from leat.prometheus import stats_prometheus as stats_prometheus
from leat.pushed import Piece as Piece
from leat.run import Run as Run
from leat.tokenizer import Encoding as Encoding
from leat.tokenizer import Tokenizer as Tokenizer

__all__ = ["Adopted", "Batch", "Chat", "Column", "Copied", "Dataset", "Device", "Diagnosis", "Encoding", "Error",
           "Export", "FIM", "Files", "IO", "Import", "Loader", "LoaderNotice", "Mixture", "Opening", "Outputs",
           "Packer", "Pairs", "Piece", "Plan", "Progress", "Run", "Sample", "StatsFile", "Summary", "Tokenizer",
           "__version__", "adopt", "attach", "attach_commit", "attach_range", "choose", "diagnose",
           "encoding_for_model", "encoding_name_for_model", "export", "fit", "get_encoding", "import_dataset",
           "list_encoding_names", "merge", "open", "pack", "pull", "push", "ramp", "stats_prometheus"]
