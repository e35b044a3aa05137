"""leat: LLM training tokens from text to the GPU. help(leat.open), help(leat.Plan) and help(leat.Loader) say how."""
from leat._leat import Error, version as __version__
from leat.batch import Batch
from leat.dataset import Dataset, open
from leat.loader import Loader, LoaderNotice
from leat.plan import Plan, Sample

__all__ = ["Batch", "Dataset", "Error", "Loader", "LoaderNotice", "Plan", "Sample", "__version__", "open"]
