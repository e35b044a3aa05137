"""_tokenizer_file.py: what of a tokenizer.json has no part in encoding documents, but in what tokenizers returns."""
from __future__ import annotations


def byte_letters():
    """GPT-2's letter for each byte, as byte-level files write them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: byte for byte in plain}
    others = [byte for byte in range(256) if byte not in letters]
    letters.update((byte, 256 + i) for i, byte in enumerate(others))
    return letters


def affixes_of(processor):
    kind = processor["type"] if processor else "ByteLevel"
    if kind == "ByteLevel":
        return [], []
    if kind == "Sequence":
        before, after = [], []
        for one in processor["processors"]:
            b, a = affixes_of(one)
            before, after = b + before, after + a
        return before, after
    if kind in ("BertProcessing", "RobertaProcessing"):
        return [processor["cls"][1]], [processor["sep"][1]]
    if kind == "TemplateProcessing":
        sides, ids = ([], []), processor["special_tokens"]
        behind = 0
        for piece in processor["single"]:
            if "Sequence" in piece:
                behind = 1
            else:
                sides[behind].extend(ids[piece["SpecialToken"]["id"]]["ids"])
        return sides
    raise NotImplementedError(f"the post-processor {kind} of a tokenizer.json is not known: give "
                              "add_special_tokens=False")


def unpacked(file):
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise NotImplementedError(
                "what a compressed tokenizer.json puts around texts cannot be read before Python 3.14 without the "
                "package zstandard: decompress the file, or give add_special_tokens=False") from None
        return zstandard.ZstdDecompressor().decompressobj().decompress(file)
    return zstd.decompress(file)
