"""_pairs.py: pairs of texts, for leat.PreTrainedTokenizer: each text is encoded alone, and what the post-processor has
for pairs puts the two together."""
from __future__ import annotations

from leat import _special
from leat._by_tokenizers import threads_of
from leat._documents import plain_texts, refuse_lazy
from leat._post_processor import PLAIN


def pairs_of(text, pair):
    """(first texts, second texts) of a call's arguments; None: it has no pairs, or the second text is empty, which
    transformers takes for none. A list of pairs is a list of tuples or lists."""
    if pair is None:
        if not isinstance(text, (list, tuple)) or not text or not _is_pair(text[0]):
            return None
        if not all(map(_is_pair, text)):
            raise TypeError("a list of pairs has two texts in each of its tuples")
        return [first for first, _ in text], [second for _, second in text]
    if isinstance(text, str) != isinstance(pair, str):
        raise TypeError("text and text_pair must both be a str, or both be lists")
    if isinstance(text, str):
        return ([text], [pair]) if pair else None
    if not hasattr(text, "__len__") or not hasattr(pair, "__len__"):
        raise TypeError("text and text_pair must both be lists or columns, which have a length")
    if len(text) != len(pair):
        raise ValueError(f"{len(text)} texts and {len(pair)} second texts do not make pairs")
    return text, pair


def _is_pair(one):
    return isinstance(one, (list, tuple)) and len(one) == 2


def rows_of(tokenizer, pairs, pieces, keep, strategy, side, offsets, split):
    """A dict of each pair, with all that may be asked for. `keep`: how many of their own tokens may stay, or None."""
    texts = [_texts(given) for given in pairs]
    both = zip(*(_ids(tokenizer, some, split) for some in texts), *texts)
    return [_row(tokenizer, pieces, ids, _kept(*map(len, ids), keep, strategy, side), text if offsets else (None, None))
            for *ids, text in ((first, second, (a, b)) for first, second, a, b in both)]


def _texts(given):
    refuse_lazy(given)
    return plain_texts(given)


def _ids(tokenizer, texts, split):
    lists, _ = tokenizer._core.encode_batch(texts, not (split or tokenizer.encode_special_tokens), threads_of(None),
                                            _special.LIST, False)
    return lists


def _kept(first, second, keep, strategy, side):
    """What stays of two texts of so many tokens, as slices, by the rules of tokenizers."""
    if keep is None or first + second <= keep:
        return slice(None), slice(None)
    if keep == 0 or strategy not in ("only_first", "only_second"):
        counts = _longest_first(first, second, keep)
    else:
        counts = (keep - second, second) if strategy == "only_first" else (first, keep - first)
        if counts[strategy == "only_second"] <= 0:
            raise ValueError(f"truncation={strategy!r}: max_length has no room for the other text and a token "
                             "of this one")
    return tuple(slice(0, n) if side == "right" else slice(-n if n else 2**62, None) for n in counts)


def _longest_first(first, second, keep):
    short = min(first, second)
    if 2 * short > keep:  # both are cut, and the one that is not shorter keeps one more
        short = keep // 2
    return (short, keep - short) if first <= second else (keep - short, short)


def _row(tokenizer, pieces, ids, cuts, texts):
    encodings = [tokenizer._laid_out([own], PLAIN, cut, [text])[0] for own, cut, text in zip(ids, cuts, texts)]
    row = {name: [] for name in ("input_ids", "attention_mask", "token_type_ids", "special_tokens_mask",
                                 "sequence_ids", *(["offset_mapping"] if texts[0] is not None else []))}
    for own, type, number in pieces:
        more = own if number is None else encodings[number]
        row["input_ids"] += more
        row["attention_mask"] += [1] * len(more)
        row["token_type_ids"] += [type] * len(more)
        row["special_tokens_mask"] += [int(number is None)] * len(more)
        row["sequence_ids"] += [number] * len(more)
        if "offset_mapping" in row:
            row["offset_mapping"] += [(0, 0)] * len(more) if number is None else encodings[number].offsets
    return row
