"""made_files.py: what a small tokenizer.json holds, with the parts that a test is about."""


def file_of(model, normalizer=None, pre=None, added=(), post=None):
    """A tokenizer.json. Of an added token: its text and the flags that are set."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"version": "1.0", "truncation": None, "padding": None, "normalizer": normalizer, "pre_tokenizer": pre,
            "post_processor": post, "decoder": None, "model": model, "added_tokens": [
                {"id": len(model["vocab"]) + i, "content": text, **{flag: flag in those for flag in flags}}
                for i, (text, *those) in enumerate(added)]}


def unigram(unknown, *more):
    return {"type": "Unigram", "unk_id": 0, "byte_fallback": False,
            "vocab": [[unknown, 0.0], *([piece, -1.0] for piece in more)]}


def words(kind, *vocabulary, **more):
    return {"type": kind, "vocab": {word: i for i, word in enumerate(vocabulary)}, "unk_token": "<u>", **more}
