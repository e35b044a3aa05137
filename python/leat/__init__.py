"""leat: LLM training tokens from text to the GPU. help(leat.open), help(leat.Plan) and help(leat.Loader) say how."""
from leat._leat import Error, version as __version__

__all__ = ["Error", "__version__"]
