"""_added_token.py: the added tokens of a tokenizer.json, as it describes them."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AddedToken:
    """An added token, with the attributes of tokenizers' AddedToken. str() of it is the token."""
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    def __str__(self):
        return self.content


def added_tokens_of(core, listed):
    """{id: AddedToken}; `listed` is the list in the tokenizer.json, or None without such a file."""
    if listed is None:
        raise NotImplementedError("added_tokens_decoder is only known of a tokenizer.json; get_added_vocab() has the "
                                  "added tokens of all files")
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    told = {token["content"]: AddedToken(token["content"], *(bool(token.get(name)) for name in flags))
            for token in listed}
    names = ((id, text.decode("utf-8", "replace")) for id, (text, *_) in sorted(core.tokens(True).items()))
    return {id: told[name] for id, name in names if name in told}
