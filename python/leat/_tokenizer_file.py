"""_tokenizer_file.py: what of a tokenizer.json changes only what tokenizers returns, not how documents are encoded."""
from __future__ import annotations


def byte_letters():
    """The letter for each byte in GPT-2's byte-level files."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: byte for byte in plain}
    others = [byte for byte in range(256) if byte not in letters]
    letters.update((byte, 256 + i) for i, byte in enumerate(others))
    return letters


def affixes_of(processor, vocabulary):
    """(ids before a text, ids after it), all below `vocabulary`. Nobody has checked this part of the file before."""
    try:
        before, after = _sides(processor)
        good = all(type(i) is int and 0 <= i < vocabulary for i in (*before, *after))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ValueError("the post-processor in tokenizer.json is malformed: give add_special_tokens=False")
    return before, after


def _sides(processor):
    kind = processor["type"] if processor else "ByteLevel"
    if kind == "ByteLevel":
        return [], []
    if kind == "Sequence":
        before, after = [], []
        for one in processor["processors"]:
            b, a = _sides(one)
            if (before or after) and one["type"] != "ByteLevel":
                # the reference takes the tokens of a template for texts of their own
                raise NotImplementedError("a Sequence of post-processors in tokenizer.json goes on after one that adds "
                                          "tokens, which leat does not support: give add_special_tokens=False")
            before, after = b + before, after + a
        return before, after
    if kind in ("BertProcessing", "RobertaProcessing"):
        return [processor["cls"][1]], [processor["sep"][1]]
    if kind == "TemplateProcessing":
        sides, ids = ([], []), processor["special_tokens"]
        side = 0
        for entry in processor["single"]:
            if "Sequence" in entry:
                side = 1
            else:
                sides[side].extend(ids[entry["SpecialToken"]["id"]]["ids"])
        return sides
    raise NotImplementedError(f"unknown post-processor {kind!r} in tokenizer.json: give add_special_tokens=False")


def unpacked(file):
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise NotImplementedError(
                "a compressed tokenizer.json needs Python 3.14 or the package zstandard to find the tokens it puts "
                "around texts: install one, decompress the file, or give add_special_tokens=False") from None
        return zstandard.ZstdDecompressor().decompressobj().decompress(file)
    return zstd.decompress(file)
