"""ids_pieces.py: models that check_ids.py trains with sentencepiece, of each type, and changes to such a file."""
import io
import struct

import sentencepiece


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def fields(message):
    """The fields of a protocol buffer: number, wire type, value."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            size = number() if key & 7 == 2 else 4 if key & 7 == 5 else 8
            value = message[at:at + size]
            at += size
        yield key >> 3, key & 7, value


def write(parts):
    out = b""
    for number, kind, value in parts:
        out += varint(number << 3 | kind)
        out += varint(value) if kind == 0 else (varint(len(value)) if kind == 2 else b"") + value
    return out


def charsmap_of(model):
    spec = next(value for number, _, value in fields(model) if number == 3)
    return next(value for number, _, value in fields(spec) if number == 2)


def with_types(model, change):
    """The model with pieces changed: change(place, text, score, type) gives a new score and type."""
    parts, place = [], 0
    for number, kind, value in fields(model):
        if number == 1:
            piece = {n: v for n, _, v in fields(value)}
            score, type_ = change(place, piece[1].decode(), struct.unpack("<f", piece.get(2, b"\0\0\0\0"))[0],
                                  piece.get(3, 1))
            value = write([(1, 2, piece[1]), (2, 5, struct.pack("<f", score)), (3, 0, type_)])
            place += 1
        parts.append((number, kind, value))
    return write(parts)


def text_of(piece):
    return next(v for n, _, v in fields(piece) if n == 1).decode()


def texts_of(model):
    return [text_of(value) for number, _, value in fields(model) if number == 1]


def one_way(model):
    """The pieces that can be merged from other pieces and characters in one way at most."""
    symbols = set(texts_of(model))
    symbols |= set("".join(symbols))
    return {t for t in symbols if sum(t[:i] in symbols and t[i:] in symbols for i in range(1, len(t))) < 2}


def unused(every):
    """Some of the pieces that can be merged in one way are unused; unused_two_ways() has the others."""
    def unused_pieces(model):
        single = one_way(model)
        return with_types(model, lambda place, text, score, type_: (
            score, 5 if type_ in (1, 4) and place % every == 0 and text in single else type_))
    return unused_pieces


def unused_two_ways(model):
    single = one_way(model)
    return with_types(model, lambda place, text, score, type_: (score, type_ if type_ != 1 or text in single else 5))


def equal_scores(model):
    return with_types(model, lambda place, text, score, type_: (float(round(score / 7)), type_))


def odd_scores(model):
    return with_types(model, lambda place, text, score, type_: ((score * 7919) % 1013 - 500, type_))


def whole_scores(model):
    """Many ways have equal sums."""
    return with_types(model, lambda place, text, score, type_: (
        float(-len(text) if place % 3 else round(score)), type_))


def high_scores(model):
    """Two unknown characters may be better than a token."""
    return with_types(model, lambda place, text, score, type_: (30 + score / 3, type_))


def far_scores(model):
    """Sums leave the range in which sentencepiece keeps them."""
    return with_types(model, lambda place, text, score, type_: (score * (900 if place % 2 else -700), type_))


def defined(model):
    """Ordinary pieces become user-defined ones."""
    return with_types(model, lambda place, text, score, type_: (score, 4 if type_ == 1 and place % 9 == 0 else type_))


def no_characters(model):
    """Characters of pieces that are no pieces themselves."""
    parts = [p for i, p in enumerate(fields(model))
             if not (p[0] == 1 and i % 3 and i > 300 and len(text_of(p[2])) == 1)]
    return write(parts)


def renamed(old, new):
    """The piece at a place, or of a name, gets another's name."""
    def rename(model):
        parts, place = [], 0
        for number, kind, value in fields(model):
            if number == 1:
                if old in (place, text_of(value)):
                    value = write([(n, k, new.encode() if n == 1 else v) for n, k, v in fields(value)])
                place += 1
            parts.append((number, kind, value))
        return write(parts)
    return rename


def train_model(lines, **options):
    file = io.BytesIO()
    all_options = {"model_type": "bpe", "vocab_size": 1500, "hard_vocab_limit": False, "minloglevel": 2,
                   "num_threads": 2,
                   "character_coverage": 0.99, **options}
    few = [line for i, line in enumerate(lines) if i % 40 == 0 or all(c < "\u0180" for c in line)]
    short = [line.strip("\n")[:300] for line in few[:1500] if line.strip()]
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(short), model_writer=file, **all_options)
    return file.getvalue()


SYMBOLS = ["<sep>", "the", "\u4e2d\u6587", "a b", " x", "th", "<s>2", "\u2581w", "12", "\ufb01"]


def models_of_sentencepiece():
    """Name, options of the trainer, changes to the file: of each type."""
    yield from models_of_bpe()
    for name, options, changes in models_of_bpe():
        yield "unigram, " + name, dict(options, model_type="unigram"), changes
    for type_ in "word", "char":
        for name, options, changes in models_of_bpe():
            yield f"{type_}, {name}", dict(options, model_type=type_), changes
    for change in (whole_scores, high_scores, no_characters):
        yield f"unigram, {change.__name__}, defined, unused", dict(model_type="unigram"), [change, defined, unused(7)]
    yield "unigram, far from 0", dict(model_type="unigram", byte_fallback=True), [far_scores]


def models_of_bpe():
    yield "plain", {}, []
    for fallback in (False, True):
        for prefix in (False, True):
            for extra in (False, True):
                yield f"byte_fallback={fallback} prefix={prefix} remove_extra={extra}", dict(
                    byte_fallback=fallback, add_dummy_prefix=prefix, remove_extra_whitespaces=extra), []
    for rule in ("identity", "nmt_nfkc", "nfkc", "nfkc_cf", "nmt_nfkc_cf"):
        yield rule, dict(normalization_rule_name=rule, byte_fallback=rule != "nfkc"), []
        yield rule + ", all white space", dict(normalization_rule_name=rule, remove_extra_whitespaces=False,
                                               user_defined_symbols=SYMBOLS), []
    for fallback in (False, True):
        yield f"user_defined_symbols, byte_fallback={fallback}", dict(user_defined_symbols=SYMBOLS,
                                                                      byte_fallback=fallback), []
    yield "control_symbols", dict(control_symbols=["<c>", "<d>"], user_defined_symbols=["<c>x"], pad_id=3), []
    for prefix in (False, True):
        for extra in (False, True):
            yield f"treat_whitespace_as_suffix prefix={prefix} remove_extra={extra}", dict(
                treat_whitespace_as_suffix=True, add_dummy_prefix=prefix, remove_extra_whitespaces=extra,
                byte_fallback=extra, user_defined_symbols=SYMBOLS if prefix else []), []
    yield "split_digits", dict(split_digits=True, byte_fallback=True), []
    yield "allow_whitespace_only_pieces", dict(allow_whitespace_only_pieces=True, remove_extra_whitespaces=False,
                                               normalization_rule_name="identity", byte_fallback=True), []
    yield "pieces over words", dict(split_by_whitespace=False, split_by_number=False, split_by_unicode_script=False), []
    yield "character_coverage 0.98", dict(character_coverage=0.98), []
    yield "character_coverage 0.98, byte_fallback", dict(character_coverage=0.98, byte_fallback=True), []
    yield "unk_surface", dict(unk_surface="?u?", character_coverage=0.98), []
    for change in (unused(3), unused(1), unused_two_ways, equal_scores, odd_scores, defined, no_characters):
        for fallback in (False, True):
            yield f"{change.__name__}, byte_fallback={fallback}", dict(byte_fallback=fallback), [change]
    for old, new in ((3, "an"), ("an", "<c>"), ("an", "<unk>"), ("an", "in")):
        yield f"{old} is called {new}, too", dict(control_symbols=["<c>"]), [renamed(old, new)]
    yield "unused, odd scores", dict(byte_fallback=True), [odd_scores, unused(2)]
    yield "unused, equal scores, defined", dict(), [equal_scores, defined, unused(2)]
