"""ids_made.py: vocabularies that check_ids.py trains: with tokenizers, one configuration for each thing that a
tokenizer.json can ask for and then combinations drawn at random; with sentencepiece; and ranks for tiktoken. Each
becomes a file."""
import base64
import io
import json
import random
import struct

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

MARK = "\u2581"
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
        r"\s+(?!\S)|\s+")
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
BYTES = [f"<0x{b:02X}>" for b in range(256)]


class Configuration:
    """What one tokenizer.json is made of. `edits` change the file once it is trained."""

    def __init__(self, name, normalizer=(), pre=(), decoder=(), model=None, trainer=None, added=(), edits=(),
                 kind="BPE"):
        self.kind = kind
        self.name, self.normalizer, self.pre, self.decoder = name, list(normalizer), list(pre), list(decoder)
        self.model, self.trainer = dict(model or {}), dict(trainer or {})
        self.added, self.edits = list(added), list(edits)


TRAINERS = {"BPE": trainers.BpeTrainer, "Unigram": trainers.UnigramTrainer, "WordPiece": trainers.WordPieceTrainer,
            "WordLevel": trainers.WordLevelTrainer}


def in_sequence(parts, kind):
    return None if not parts else parts[0] if len(parts) == 1 else kind(list(parts))


def byte_level(parts):
    return any(type(p).__name__ == "ByteLevel" for p in parts)


def train(configuration, lines, path):
    """Writes the tokenizer.json."""
    c = configuration
    t = Tokenizer(getattr(models, c.kind)(**c.model))
    normalizer, pre = in_sequence(c.normalizer, normalizers.Sequence), in_sequence(c.pre, pre_tokenizers.Sequence)
    if normalizer:
        t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    options = {"vocab_size": 1200, "show_progress": False}
    if byte_level(c.pre + c.normalizer):
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    if "unk_token" in c.model:
        options["special_tokens"] = [c.model["unk_token"]]
    if c.kind == "WordLevel":
        options.pop("initial_alphabet", None)
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if name in c.model:
            options[name] = c.model[name]
    if c.kind == "Unigram":
        options["special_tokens"], options["unk_token"] = ["<unk>"], "<unk>"
        # all characters must find room
        lines = [line[:300] for i, line in enumerate(lines) if i % 40 == 0 or all(c < "\u0180" for c in line)]
    t.train_from_iterator(lines, TRAINERS[c.kind](**{**options, **c.trainer}))
    decoder = in_sequence(c.decoder, decoders.Sequence)
    if decoder:
        t.decoder = decoder
    for token in c.added:
        (t.add_special_tokens if token.special else t.add_tokens)([token])
    file = json.loads(t.to_str())
    for edit in c.edits:
        edit(file)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(file, f, ensure_ascii=False)


# ---- Edits ----------------------------------------------------------------------------------------------------------

def add_entry(file, text):
    vocab = file["model"]["vocab"]
    taken = set(vocab.values()) | {a["id"] for a in file["added_tokens"]}
    vocab.setdefault(text, max(taken) + 1)


def duplicate_merges(file):
    r, merges = random.Random(1), file["model"]["merges"]
    for _ in range(80):
        merges.insert(r.randrange(len(merges) + 1), r.choice(merges))


def shuffle_merges(file):
    random.Random(2).shuffle(file["model"]["merges"])


def strings_as_merges(file):
    merges = file["model"]["merges"]
    if all(" " not in a + b for a, b in merges):
        file["model"]["merges"] = ["#version: 0.2"] + [a + " " + b for a, b in merges]


def other_merges(file):
    """Other ways to the same tokens, and tokens whose only merge is gone."""
    r, model = random.Random(3), file["model"]
    prefix = model.get("continuing_subword_prefix") or ""
    for text in sorted(model["vocab"]):
        for i in range(1, len(text)):
            left, right = text[:i], prefix + text[i:]
            if left in model["vocab"] and right in model["vocab"] and r.random() < 0.3:
                model["merges"].insert(r.randrange(len(model["merges"]) + 1), [left, right])
    model["merges"] = [m for m in model["merges"] if r.random() < 0.95]


def unreachable_entries(file):
    for text in ("the", "\u0120the\u0120", "\u2581word\u2581", "abc def", "word", "zzzz", "'s", "12345", "the"[::-1]):
        add_entry(file, text)


def byte_tokens(file, keep=lambda b: True, merges=()):
    for b, text in enumerate(BYTES):
        if keep(b):
            add_entry(file, text)
    for left, right in merges:
        add_entry(file, left + right)
        file["model"]["merges"].insert(0, [left, right])


def all_bytes(file):
    byte_tokens(file)


def half_the_bytes(file):
    byte_tokens(file, lambda b: b % 3 != 1)


def bytes_that_merge(file):
    byte_tokens(file,
                merges=[("<0xE4>", "<0xB8>"), ("<0xE4><0xB8>", "<0xAD>"), ("<0xD0>", "<0x9F>"), ("<0xF0>", "<0x9F>")])


def drop_single_characters(file):
    """Characters that no merge needs go, so that they are unknown."""
    model = file["model"]
    needed = {part for merge in model["merges"] for part in merge}
    gone = [t for i, t in enumerate(sorted(t for t in model["vocab"] if len(t) == 1 and t not in needed)) if i % 2]
    for text in gone:
        del model["vocab"][text]


def holes_in_ids(file):
    shift = {i: i + 100 * (i // 50) for i in file["model"]["vocab"].values()}
    file["model"]["vocab"] = {t: shift[i] for t, i in file["model"]["vocab"].items()}


def without_unknown(file):
    file["model"]["vocab"].pop(file["model"].get("unk_token"), None)
    file["added_tokens"] = [a for a in file["added_tokens"] if a["content"] != file["model"].get("unk_token")]


def option(name, value):
    def edit(file):
        file["model"][name] = value
    return edit


EDITS = (duplicate_merges, shuffle_merges, strings_as_merges, other_merges, unreachable_entries, all_bytes,
         half_the_bytes, bytes_that_merge, drop_single_characters, holes_in_ids)

# ---- tokenizer.json -------------------------------------------------------------------------------------------------


def splits():
    """Split pre-tokenizers of all kinds: expressions and strings, each behaviour, inverted or not."""
    patterns = [Regex(GPT4), Regex(r"\s+"), Regex(r"\w+|[^\w\s]+"), Regex(r"\p{N}"), Regex(r"(?=\p{Lu})"),
                Regex(r"[aeiou]"), " ", "a", "'s", "\u4e2d", "the"]
    return [pre_tokenizers.Split(p, b, invert) for p in patterns for b in BEHAVIORS for invert in (False, True)]


def added_tokens():
    """Every combination of flags, on names that meet each other and words of the text."""
    names = ["<a>", "<b>", " c ", "the", "an", "\u00c9t", "\ufb01n", "<a><b>", "word", "1", "\u4e2d", "'s", "\n", "_",
             "<A>", "Tt", " the", "x ", "<|endoftext|>", "\u0301", "e\u0301", "</s>", "12", "<s> ", "\u2581the", "A B",
             "ing",
             "!", "<b", "b>", "word the", "\u00a0"]
    return [AddedToken(name, **{flag: bool(i >> k & 1) for k, flag in enumerate(FLAGS)})
            for i, name in enumerate(names)]


def all_normalizers(charsmap):
    """Among them expressions that match nothing, which leat refuses with ByteLevel: tokenizers takes the text "1" to
    "#1", but then ByteLevel with use_regex to the pieces "##" and "1", and without it panics."""
    return [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Lowercase(),
            normalizers.Strip(True, True), normalizers.Strip(True, False), normalizers.Strip(False, True),
            normalizers.Nmt(), normalizers.Replace(" ", MARK), normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Replace("the", ""), normalizers.Replace(Regex("(?=1)"), "#"), normalizers.Prepend(""),
            normalizers.Replace(Regex(r"[aeiou]+"), "\u00e9"), normalizers.Prepend(MARK), normalizers.Prepend("ab "),
            normalizers.Precompiled(charsmap)]


def all_pre_tokenizers():
    some = [pre_tokenizers.Digits(True), pre_tokenizers.Digits(False), pre_tokenizers.Whitespace(),
            pre_tokenizers.WhitespaceSplit(), pre_tokenizers.UnicodeScripts()]
    some += [pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.CharDelimiterSplit("\u3002")]
    some += [pre_tokenizers.FixedLength(length) for length in (1, 3, 300)]
    some += [pre_tokenizers.Punctuation(b) for b in BEHAVIORS]
    some += [pre_tokenizers.Metaspace(MARK, scheme, split) for scheme in ("always", "first", "never")
             for split in (True, False)]
    return some + [pre_tokenizers.Metaspace("_", "first", True)]


def all_decoders():
    return [decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0), decoders.Strip(MARK, 2, 1),
            decoders.Strip("a", 1, 2), decoders.Replace(MARK, " "), decoders.Replace(Regex("[aeiou]+"), "\u00e9"),
            decoders.Replace("the", ""), decoders.Metaspace(MARK, "always", True),
            decoders.Metaspace(MARK, "first", True), decoders.Metaspace(MARK, "never", False),
            decoders.BPEDecoder("</w>"), decoders.WordPiece("##", True),
            decoders.WordPiece("@@", False), decoders.ByteLevel(), decoders.CTC("e", MARK, True),
            decoders.CTC("the", " ", False), decoders.CTC("", "", True)]


LLAMA_DECODER = (decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0))


def byte_level_configurations():
    B, D = pre_tokenizers.ByteLevel, (decoders.ByteLevel(),)
    for prefix in (False, True):
        for regex in (False, True):
            yield Configuration(f"ByteLevel prefix={prefix} regex={regex}", pre=[B(prefix, use_regex=regex)], decoder=D)
    for i, split in enumerate(splits()):
        yield Configuration(f"ByteLevel after Split {i}", pre=[split, B(bool(i % 3 == 0), use_regex=False)], decoder=D)
    for i, part in enumerate(all_pre_tokenizers()):
        yield Configuration(f"ByteLevel after pre-tokenizer {i}", pre=[part, B(False, use_regex=bool(i % 2))],
                            decoder=D)
        yield Configuration(f"ByteLevel before pre-tokenizer {i}", pre=[B(bool(i % 2), use_regex=False), part],
                            decoder=D)
    yield Configuration("ByteLevel normalizer", [normalizers.ByteLevel()], decoder=D)
    yield Configuration("NFC, ByteLevel normalizer, Split", [normalizers.NFC(), normalizers.ByteLevel()],
                        [pre_tokenizers.Split(Regex("\u0120"), "merged_with_next")], D)
    for edit in EDITS:
        yield Configuration(f"ByteLevel, {edit.__name__}", pre=[B(False)], decoder=D, edits=[edit])
        yield Configuration(f"ByteLevel, ignore_merges, {edit.__name__}", pre=[B(True)], decoder=D,
                            edits=[edit, option("ignore_merges", True)])
    yield Configuration("ByteLevel, suffix", pre=[B(False)], decoder=[decoders.BPEDecoder("</w>")],
                        model={"end_of_word_suffix": "</w>"})
    yield Configuration("ByteLevel, bytes missing, unk", pre=[B(False)], decoder=D, model={"unk_token": "<unk>"},
                        edits=[drop_single_characters])
    yield Configuration("ByteLevel, bytes missing, fused unk", pre=[B(False)], decoder=D,
                        model={"unk_token": "<unk>", "fuse_unk": True}, edits=[drop_single_characters])
    yield Configuration("ByteLevel, bytes missing", pre=[B(False)], decoder=D, edits=[drop_single_characters])


def text_configurations(charsmap):
    unk = {"unk_token": "<unk>"}
    few = {"limit_alphabet": 60}
    for i, part in enumerate(all_pre_tokenizers() + splits()[:20]):
        yield Configuration(f"pre-tokenizer {i}", pre=[part], decoder=[decoders.Metaspace()], model=unk, trainer=few)
    for i, part in enumerate(all_normalizers(charsmap)):
        yield Configuration(f"normalizer {i}", [part], [pre_tokenizers.Whitespace()], model=unk, trainer=few)
        yield Configuration(f"normalizer {i}, one piece", [part], model={**unk, "fuse_unk": bool(i % 2)}, trainer=few,
                            decoder=LLAMA_DECODER)
    for name, edits in (("complete bytes", [all_bytes]), ("incomplete bytes", [half_the_bytes]), ("no bytes", []),
                        ("bytes that merge", [bytes_that_merge])):
        for fuse in (False, True):
            for model in (unk, {}):
                yield Configuration(f"byte_fallback, {name}, fuse={fuse}, unk={bool(model)}",
                                    [normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)], decoder=LLAMA_DECODER,
                                    model={**model, "fuse_unk": fuse, "byte_fallback": True}, trainer=few, edits=edits)
    for ignore in (False, True):
        for affix in ({"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"},
                      {"continuing_subword_prefix": "@@", "end_of_word_suffix": "</w>"}):
            yield Configuration(f"affixes {' '.join(affix.values())} ignore_merges={ignore}",
                                pre=[pre_tokenizers.Whitespace()], model={**unk, **affix},
                                decoder=[decoders.BPEDecoder("</w>") if len(affix) > 1 else
                                         decoders.WordPiece("##", True)],
                                trainer=few, edits=[option("ignore_merges", ignore)])
            yield Configuration(f"affixes {' '.join(affix.values())} one piece ignore_merges={ignore}",
                                model={**unk, **affix, "byte_fallback": True}, trainer=few,
                                edits=[all_bytes, option("ignore_merges", ignore)])
    yield Configuration("unknown token not in the vocabulary", model=unk, trainer=few, edits=[without_unknown])
    for edit in EDITS:
        yield Configuration(f"one piece, {edit.__name__}", [normalizers.Replace(" ", MARK)],
                            model={**unk, "fuse_unk": True},
                            trainer=few, decoder=LLAMA_DECODER, edits=[edit])
        yield Configuration(f"words, ignore_merges, {edit.__name__}", pre=[pre_tokenizers.Metaspace()], model=unk,
                            trainer=few, decoder=[decoders.Metaspace()], edits=[edit, option("ignore_merges", True)])


# ---- Unigram --------------------------------------------------------------------------------------------------------

def pieces(change):
    """An edit of each pair of text and score; None leaves it out."""
    def edit(file):
        model = file["model"]
        kept = [change(i, *pair) for i, pair in enumerate(model["vocab"])]
        model["vocab"] = [pair for pair in kept if pair]
    edit.__name__ = change.__name__
    return edit


def float_scores(i, text, score):
    return [text, struct.unpack("<f", struct.pack("<f", score))[0]]


def equal_sums(i, text, score):
    return [text, float(-len(text) if i % 3 else round(score))]


def high_pieces(i, text, score):
    return [text, 30 + score / 3]


def zero_pieces(i, text, score):
    return [text, 0]


def few_characters(i, text, score):
    return None if len(text) == 1 and i % 3 == 0 else [text, score]


def long_numbers(i, text, score):
    return [text, score / 3 * 10.0 ** (i % 5 * 60 - 120)]


def pieces_twice(file):
    vocab = file["model"]["vocab"]
    vocab += [[text, score * 0.9] for text, score in vocab[1::11]]
    vocab += [["", -1.0], ["<unk>", -3.0], ["\u4e2d\u4e2d", -99.5]]


def pieces_of_bytes(keep):
    def edit(file):
        file["model"]["vocab"] += [[text, -12.5] for b, text in enumerate(BYTES) if keep(b)]
        file["model"]["byte_fallback"] = True
    return edit


def without_unk_id(file):
    file["model"]["unk_id"] = None


def unk_id_of_a_word(file):
    file["model"]["unk_id"] = 40


# ---- WordPiece, WordLevel -------------------------------------------------------------------------------------------

def bert_normalizers():
    return [normalizers.BertNormalizer(clean, chinese, accents, lower) for clean in (True, False)
            for chinese in (True, False) for accents in (None, True, False) for lower in (True, False)]


def short_words(file):
    file["model"]["max_input_chars_per_word"] = 5


def other_prefix(file):
    vocab = file["model"]["vocab"]
    file["model"].update(continuing_subword_prefix="", vocab={t: i for t, i in vocab.items() if i % 5 or i < 9})


def no_unknown(file):
    file["model"]["unk_token"] = "[none]"


def word_configurations():
    bert = pre_tokenizers.BertPreTokenizer()

    def made(name, normalizer=(), pre=(bert,), kind="WordPiece", **more):
        unk = {"unk_token": "[UNK]"}
        return Configuration(f"{kind}, {name}", normalizer, pre, more.pop("decoder", [decoders.WordPiece()]), unk,
                             {"special_tokens": ["[UNK]", "[CLS]", "[SEP]"], **more.pop("trainer", {})}, kind=kind,
                             **more)

    for i, normalizer in enumerate(bert_normalizers()):
        yield made(f"BertNormalizer {i}", [normalizer])
    for edit in (short_words, other_prefix, no_unknown, holes_in_ids):
        yield made(edit.__name__, [normalizers.BertNormalizer()], edits=[edit])
        yield made(edit.__name__ + ", ByteLevel", pre=[pre_tokenizers.ByteLevel(False)], edits=[edit],
                   decoder=[decoders.ByteLevel()])
    yield made("StripAccents", [normalizers.NFD(), normalizers.StripAccents()])
    yield made("StripAccents alone", [normalizers.StripAccents(), normalizers.BertNormalizer(lowercase=False)])
    yield made("one word", [normalizers.BertNormalizer()], ())
    yield made("added tokens", [normalizers.BertNormalizer(strip_accents=False, lowercase=False)],
               added=[t for t in added_tokens() if t.content not in ("\u00a0", "\n", "\u0301")])
    few = {"vocab_size": 600}
    for i, pre in enumerate((bert, pre_tokenizers.Whitespace(), pre_tokenizers.ByteLevel(False))):
        yield made(f"pre-tokenizer {i}", [normalizers.Lowercase()], [pre], "WordLevel", decoder=(), trainer=few)
        yield made(f"pre-tokenizer {i}, no unknown token", (), [pre], "WordLevel", edits=[no_unknown], trainer=few)


def unigram_configurations(charsmap):
    D, M = [decoders.Metaspace()], pre_tokenizers.Metaspace
    edits = [pieces(c) for c in (float_scores, equal_sums, high_pieces, zero_pieces, few_characters, long_numbers)]
    edits += [pieces_twice, without_unk_id, unk_id_of_a_word]
    fallbacks = {"no bytes": [option("byte_fallback", True)], "all bytes": [pieces_of_bytes(lambda b: True)],
                 "some bytes": [pieces_of_bytes(lambda b: b % 7)]}

    def made(name, normalizer=(), pre=(M(),), decoder=D, **more):
        trainer = dict(vocab_size=2000, max_piece_length=more.pop("longest", 16))
        return Configuration("Unigram, " + name, normalizer, pre, decoder, trainer=trainer, kind="Unigram", **more)

    yield made("T5", [normalizers.Precompiled(charsmap)])
    yield made("XLM-R", [normalizers.Precompiled(charsmap)], [pre_tokenizers.WhitespaceSplit(), M()])
    yield made("ALBERT", [normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.Lowercase(),
                          normalizers.Precompiled(charsmap)], [pre_tokenizers.WhitespaceSplit(), M()])
    yield made("ByteLevel", pre=[pre_tokenizers.ByteLevel(False)], decoder=[decoders.ByteLevel()])
    yield made("ByteLevel, bytes", pre=[pre_tokenizers.ByteLevel(True)], decoder=[decoders.ByteLevel()],
               edits=[pieces(few_characters), pieces_of_bytes(lambda b: b != 0xa0)])
    yield made("one piece", pre=())
    yield made("spaces", [normalizers.Replace(" ", MARK)], (), LLAMA_DECODER, longest=40)
    yield made("not split", pre=[M(MARK, "first", False)])
    for edit in edits:
        yield made(edit.__name__, edits=[edit])
        yield made(f"{edit.__name__}, one piece", [normalizers.Replace(" ", MARK)], (), edits=[edit])
        for name, bytes_ in fallbacks.items():
            yield made(f"{edit.__name__}, {name}", decoder=LLAMA_DECODER, edits=[*bytes_, pieces(few_characters), edit])
    yield made("added tokens", added=added_tokens())
    yield made("added tokens, Precompiled", [normalizers.Precompiled(charsmap)],
               added=[t for t in added_tokens() if t.content not in ("\ufb01n", "\u00a0", "\u0301")])


def added_configurations(charsmap):
    D = (decoders.ByteLevel(),)
    tokens = added_tokens()
    yield Configuration("added tokens", pre=[pre_tokenizers.ByteLevel(False)], decoder=D, added=tokens)
    for i in range(len(FLAGS)):
        shifted = [AddedToken(t.content, **{flag: bool((k * 7 + 3 * i) >> n & 1) for n, flag in enumerate(FLAGS)})
                   for k, t in enumerate(tokens)]
        yield Configuration(f"added tokens {i}, normalizers",
                            [normalizers.NFKC()] if i % 2 else [normalizers.Lowercase(), normalizers.NFC()],
                            [pre_tokenizers.ByteLevel(bool(i % 2))], D,
                            added=[t for t in shifted if t.content != "<A>"])
        yield Configuration(f"added tokens {i}, Metaspace", [normalizers.Prepend(MARK)] if i % 3 else [],
                            [pre_tokenizers.Metaspace(MARK, ("first", "always", "never")[i % 3], bool(i % 2))],
                            [decoders.Metaspace()], {"unk_token": "<unk>"}, added=shifted)
        yield Configuration(f"added tokens {i}, Precompiled", [normalizers.Precompiled(charsmap)],
                            [pre_tokenizers.Metaspace(MARK, "always")], [decoders.Metaspace()], {"unk_token": "<unk>"},
                            added=[t for t in shifted if t.content not in ("\ufb01n", "\u00a0", "\u0301")])
    yield Configuration("added tokens, Strip and Replace", [normalizers.Strip(), normalizers.Replace("the", "an")],
                        [pre_tokenizers.Whitespace()], [], {"unk_token": "<unk>"},
                        added=[t for t in tokens if t.content.strip() not in ("the", "\n", "")])
    yield Configuration("added tokens that normalize to the same", [normalizers.Lowercase()],
                        [pre_tokenizers.ByteLevel(False)], D, added=[AddedToken("<a>"), AddedToken("<A>")])
    yield Configuration("an added token that normalizes to nothing", [normalizers.Strip()],
                        [pre_tokenizers.ByteLevel(False)], D, added=[AddedToken("  "), AddedToken("<A>")])


def drawn(number, charsmap):
    """A configuration drawn at random."""
    r = random.Random(1000 + number)

    def some(parts, most):
        return [r.choice(parts) for _ in range(r.choice([0, 1, 1, 2, most]))]

    norms, pres = some(all_normalizers(charsmap), 3), some(all_pre_tokenizers() + splits()[:: r.randint(1, 7)], 3)
    bytewise = r.random() < 0.5
    if bytewise:
        place = r.choice([len(pres), len(pres), r.randint(0, len(pres))])
        pres.insert(place, pre_tokenizers.ByteLevel(r.random() < 0.3, use_regex=r.random() < 0.5))
    model, edits = {}, r.sample(EDITS, r.choice([0, 1, 1, 2]))
    if r.random() < 0.6:
        model["unk_token"] = "<unk>"
    model["fuse_unk"], model["byte_fallback"] = r.random() < 0.5, not bytewise and r.random() < 0.5
    if r.random() < 0.15:
        model["end_of_word_suffix"] = "</w>"
    if r.random() < 0.1:
        model["continuing_subword_prefix"] = "##"
    edits.append(option("ignore_merges", r.random() < 0.3))
    decoder = [decoders.ByteLevel()] if bytewise and r.random() < 0.7 else some(all_decoders(), 4)
    chosen = [t for t in added_tokens() if r.random() < 0.25] if r.random() < 0.5 else []
    return Configuration(f"drawn {number}", norms, pres, decoder, model, {"limit_alphabet": r.choice([30, 100, 1000])},
                         chosen, edits)


def configurations(charsmap, share):
    """Those with names, then drawn ones. The ci share takes every third of the many Split ones."""
    named = list(byte_level_configurations()) + list(text_configurations(charsmap))
    if share == "ci":
        named = [c for i, c in enumerate(named) if "Split " not in c.name or i % 5 == 0]
    named += [*unigram_configurations(charsmap), *word_configurations(), *added_configurations(charsmap)]
    return named + [drawn(n, charsmap) for n in range(50 if share == "ci" else 600)]


# ---- tokenizer.model ------------------------------------------------------------------------------------------------

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
    """Some of the pieces that can be merged in one way are unused. leat refuses those with two: unused_two_ways()."""
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


# ---- *.tiktoken -----------------------------------------------------------------------------------------------------


def write_ranks(path, tokens):
    """Tokens, as bytes, in the order of their ranks."""
    with open(path, "wb") as f:
        for rank, token in enumerate(tokens):
            f.write(base64.b64encode(token) + b" " + str(rank).encode() + b"\n")


def ranks_made(lines, seed):
    """Single bytes in any order, then bytes of the texts, in any order: many are out of reach of the others."""
    r = random.Random(seed)
    singles = [bytes([b]) for b in range(256)]
    r.shuffle(singles)
    text = "".join(lines).encode()
    more = set()
    while len(more) < 2000:
        at = r.randrange(len(text) - 20)
        more.add(text[at:at + r.choice([2, 2, 2, 3, 3, 4, 5, 7, 12])])
    return singles + sorted(more, key=lambda t: (len(t) * r.random(), t))
