"""ids_made.py: vocabularies that check_ids.py trains: with tokenizers, one configuration for each thing that a
tokenizer.json can ask for and then combinations drawn at random; and ranks for tiktoken. Each becomes a file.
ids_pieces.py has those of sentencepiece."""
import base64
import json
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from ids_edits import (EDITS, all_bytes, bytes_that_merge, drop_single_characters, equal_sums, few_characters,
                       float_scores, half_the_bytes, high_pieces, holes_in_ids, long_numbers, no_unknown, option,
                       other_prefix, pieces, pieces_of_bytes, pieces_twice, short_words, unk_id_of_a_word,
                       without_unk_id, without_unknown, zero_pieces)

MARK = "\u2581"
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
        r"\s+(?!\S)|\s+")
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


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
    """Among them expressions that match nothing, with which leat rejects texts before ByteLevel: tokenizers takes the
    text "1" to "#1", but then ByteLevel with use_regex to the pieces "##" and "1", and without it panics."""
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
    yield from letters_configurations()
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


def letters_configurations():
    """ByteLevel where something maps or changes its letters before the model sees them."""
    B, N, D = pre_tokenizers.ByteLevel, normalizers.ByteLevel(), [decoders.ByteLevel()]
    prefix = {"continuing_subword_prefix": "\u4e2d"}
    letters = [((), (B(False, use_regex=False), B(True))), ((N,), (B(True),)), ((N, N), ()),
               ((), (B(True), pre_tokenizers.Digits(True), B(False, use_regex=False), pre_tokenizers.Punctuation())),
               ((N, normalizers.NFKD(), normalizers.Lowercase()), ()), ((normalizers.NFC(), N, normalizers.NFC()), ()),
               ((N, normalizers.Replace("\u0120", MARK), normalizers.Prepend(MARK)), ()),
               ((N, normalizers.Strip()), (pre_tokenizers.Split("\u0120", "merged_with_next"),)),
               ((N,), (pre_tokenizers.Metaspace("_", "always"),))]
    for i, (normalizer, pre) in enumerate(letters):
        for unk in ({}, {"unk_token": "<unk>"}):
            yield Configuration(f"letters {i} unk={bool(unk)}", normalizer, pre, D, model=unk)
        yield Configuration(f"letters {i}, bytes", normalizer, pre, D, model={"byte_fallback": True}, edits=[all_bytes])
        yield Configuration(f"letters {i}, WordLevel", normalizer, pre, D, model={"unk_token": "[UNK]"},
                            kind="WordLevel")
        yield Configuration(f"letters {i}, Unigram", normalizer, pre, D, kind="Unigram",
                            trainer={"vocab_size": 2000})
    yield Configuration("letters, foreign prefix", pre=[B(False)], decoder=D, model=prefix)
    yield Configuration("letters, foreign prefix, WordPiece", pre=[B(True)], decoder=D, kind="WordPiece",
                        model={"unk_token": "[UNK]", **prefix})


def first_configurations(charsmap):
    """Metaspace's "first" after what removes, replaces or doubles the text's first character, and after cuts in it."""
    R, P = normalizers.Replace, normalizers.Precompiled(charsmap)
    changes = [[P, normalizers.Strip(False, True), R(Regex(" {2,}"), MARK)], [P], [P, normalizers.Strip()],
               [normalizers.Strip()], [normalizers.Nmt()], [normalizers.StripAccents()], [R("the", ""), P],
               [R(Regex("^.[aeiou]?"), "x y")], [R(Regex("[aeiou]+"), "\u00e9")], [R(Regex(r"^\W+"), "")],
               [normalizers.Prepend("ab "), R(Regex("ab? ?[t1]?"), "q. ")],
               [normalizers.Prepend("\u00bd "), P, R("1", "")],
               [normalizers.BertNormalizer(True, True, False, True)], [normalizers.Lowercase(), R("i", "")],
               [normalizers.Prepend(MARK), R(" ", MARK)], [normalizers.NFKC()],
               [normalizers.Strip(), normalizers.NFKD()], [normalizers.BertNormalizer()],
               [normalizers.NFD(), normalizers.StripAccents()], [normalizers.NFKD(), R(Regex(r"^\w"), "")],
               [R("the", "a\u0301\u0316"), normalizers.NFC(), P], [normalizers.NFKC(), normalizers.NFD(), R("e", "")],
               [normalizers.Prepend(""), R(Regex("^the"), "a")]]
    cuts = [[], [pre_tokenizers.Punctuation()], [pre_tokenizers.Split(Regex("[^a-z]"), "isolated")],
            [pre_tokenizers.ByteLevel(True)],
            [pre_tokenizers.Split(Regex("."), "isolated")],
            [pre_tokenizers.ByteLevel(False, use_regex=False), pre_tokenizers.Split(Regex("."), "isolated")]]
    for i, change in enumerate(changes):
        for k, cut in enumerate(cuts):
            yield Configuration(f"first {i}, cut {k}", change,
                                [*cut, pre_tokenizers.Metaspace(MARK, "first", bool(k))],
                                [decoders.Metaspace()], {"unk_token": "<unk>"}, {"limit_alphabet": 300},
                                added_tokens()[::5] if k == 1 else ())


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


# ---- WordPiece, WordLevel -------------------------------------------------------------------------------------------

def bert_normalizers():
    return [normalizers.BertNormalizer(clean, chinese, accents, lower) for clean in (True, False)
            for chinese in (True, False) for accents in (None, True, False) for lower in (True, False)]


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
    named += [*first_configurations(charsmap), *unigram_configurations(charsmap), *word_configurations(),
              *added_configurations(charsmap)]
    return named + [drawn(n, charsmap) for n in range(50 if share == "ci" else 600)]


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
