"""leat: LLM training tokens from text to the GPU. help(leat.open), help(leat.Plan) and help(leat.Loader) say how."""
from leat._leat import Error, version as __version__
from leat.dataset import Dataset, open
from leat.plan import Plan

__all__ = ["Dataset", "Error", "Plan", "__version__", "open"]
