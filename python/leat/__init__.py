"""leat: LLM training tokens from text to the GPU. help(leat.open), help(leat.Plan) and help(leat.Loader) say how."""
from leat._leat import Error, version as __version__
from leat.packer import Packer
from leat.packing import Progress, Summary, merge, pack
from leat.tokenizer import Encoding, Tokenizer

__all__ = ["Encoding", "Error", "Packer", "Progress", "Summary", "Tokenizer", "__version__", "merge", "pack"]
