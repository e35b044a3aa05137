"""ids_written.py: random tokenizer.json files, with every model, normalizer, pre-tokenizer and decoder that tokenizers
has, and vocabularies that no trainer would make."""
import base64
import json
import random

from tokenizers import pre_tokenizers

MARK = "\u2581"
LETTERS = list("abcdefgthe nrsAB1 2.,!-'_#")
CHARACTERS = LETTERS + [
    "\u00e9", "e\u0301", "\u0301", "\u4e2d", "\u6587", "\u3072", "\u30ab", "\ud55c", "\U0001f642", "\u00a0", "\u3000",
    "\u200b", "\u200d", "\t", "\n", "\r\n", "\ufb01", "\u00df", "\u0130", "\u2581", "\u0120", "\u0e33", "\u0434",
    "\u0643", "\u0958", "\x00", "\x85", "\ufffd", "<unk>", "##", "</w>"]
EXPRESSIONS = [
    r"\s+", r"\w+", r"[a-z]+", r"\p{L}+", r"\p{N}", r"\d{1,3}", r"[^\s\p{L}]+", r"\s+(?!\S)", r"(?i:'s|'t)",
    r" ?\p{L}+", r"\b", r"^", r"$", r"a|ab", r"(?<=a)b", r".", r"\n", r"e\x{301}", r"[\p{M}]", r"\p{Lu}",
    r"[[:punct:]]", r"\W", r"x*", r"(ab)+?", r"[^a]", r" {2,}", r"\p{Han}", r"(?=[A-Z])", r"\S+$", r"(?m)^a", r"\h"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
TOKENS = ["<s>", "</s>", "<mask>", "the", "a b", "AB", "\u00e9", "##", "\n", "  "]
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]
BYTES = [f"<0x{b:02X}>" for b in range(256)]
BYTE_LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())


class Draw:
    """One file. `charsmap`: sentencepiece's rules, compiled; without them there is no Precompiled."""

    def __init__(self, seed, charsmap=None):
        self.r = random.Random(seed)
        self.charsmap = base64.b64encode(charsmap).decode() if charsmap else None

    def maybe(self, chance=0.5):
        return self.r.random() < chance

    def text(self, most, empty):
        return "" if self.maybe(empty) else "".join(
            self.r.choice(CHARACTERS) for _ in range(self.r.randint(1, most)))

    def pattern(self):
        return {"String": self.text(3, 0)} if self.maybe(0.4) else {"Regex": self.r.choice(EXPRESSIONS)}

    def byte_level(self):
        return {"add_prefix_space": self.maybe(), "trim_offsets": self.maybe(), "use_regex": self.maybe()}

    def metaspace(self):
        return {"replacement": self.r.choice([MARK] * 4 + ["_", "\u0120"]), "split": self.maybe(),
                "prepend_scheme": self.r.choice(["always", "first", "never"])}

    def component(self, options, sequence):
        """A component by its options: a dict of functions, by type. Or a Sequence of some."""
        if self.maybe(0.2):
            some = [self.component(options, None) for _ in range(self.r.randint(0, 4))] if sequence else []
            return {"type": "Sequence", sequence: some} if sequence else self.component(options, None)
        kind = self.r.choice(sorted(options))
        return {"type": kind, **options[kind]()}

    def normalizer(self):
        r, options = self.r, {name: dict for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt",
                                                      "ByteLevel")}
        options["BertNormalizer"] = lambda: {
            "clean_text": self.maybe(), "handle_chinese_chars": self.maybe(), "lowercase": self.maybe(),
            "strip_accents": r.choice([None, True, False])}
        options["Strip"] = lambda: {"strip_left": self.maybe(), "strip_right": self.maybe()}
        options["Replace"] = lambda: {"pattern": self.pattern(), "content": self.text(3, 0.3)}
        options["Prepend"] = lambda: {"prepend": self.text(2, 0.02)}
        if self.charsmap:
            options["Precompiled"] = lambda: {"precompiled_charsmap": self.charsmap}
        return self.component(options, "normalizers")

    def pre_tokenizer(self):
        r, options = self.r, {name: dict for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer",
                                                      "UnicodeScripts")}
        options["ByteLevel"] = self.byte_level
        options["Split"] = lambda: {"pattern": self.pattern(), "behavior": r.choice(BEHAVIORS), "invert": self.maybe()}
        options["Digits"] = lambda: {"individual_digits": self.maybe()}
        options["Punctuation"] = lambda: {"behavior": r.choice(BEHAVIORS)}
        options["CharDelimiterSplit"] = lambda: {"delimiter": r.choice("a -\u2581\u4e2d1")}
        options["FixedLength"] = lambda: {"length": r.choice([1, 2, 3, 5, 7])}
        options["Metaspace"] = self.metaspace
        return self.component(options, "pretokenizers")

    def decoder(self):
        r, options = self.r, {"ByteFallback": dict, "Fuse": dict}
        options["ByteLevel"] = self.byte_level
        options["Metaspace"] = self.metaspace
        options["Strip"] = lambda: {"content": r.choice("a \u2581_"), "start": r.randint(0, 2),
                                    "stop": r.choice([0, 0, 0, 1])}
        options["Replace"] = lambda: {"pattern": self.pattern(), "content": self.text(2, 0.3)}
        options["WordPiece"] = lambda: {"prefix": r.choice(["##", "a", ""]), "cleanup": self.maybe()}
        options["BPEDecoder"] = lambda: {"suffix": r.choice(["</w>", "a"])}
        options["CTC"] = lambda: {"pad_token": r.choice(["<pad>", "a"]), "word_delimiter_token": r.choice("|b"),
                                  "cleanup": self.maybe()}
        return self.component(options, "decoders")

    # ---- Models ----

    def words(self, byte_level):
        """Single characters, most of those that texts have, and more that are made of them."""
        r, pool = self.r, CHARACTERS + [MARK] * 3
        if byte_level and self.maybe(0.8):
            pool = LETTERS[:13] + ["\u0120"] * 3 + r.sample(BYTE_LETTERS, 20)
        singles = {c for text in pool for c in text} | set(BYTE_LETTERS if byte_level and self.maybe(0.7) else ())
        bytes_ = [b for b in BYTES if self.maybe(0.995)] if self.maybe(0.3) else []
        more = ["".join(r.choice(pool) for _ in range(r.choice([1, 2, 2, 3, 4, 6])))
                for _ in range(r.choice([5, 60, 200]))]
        few = ["<unk>", *bytes_, *(c for c in sorted(singles) if self.maybe(0.9))]
        return list(dict.fromkeys(few)), more

    def byte_pairs(self, few, _):
        r = self.r
        affix = lambda name: r.choice([None] * 5 + [name, ""])
        model = {"dropout": None, "unk_token": r.choice([None, "<unk>"]), "continuing_subword_prefix": affix("##"),
                 "end_of_word_suffix": affix("</w>"), "fuse_unk": self.maybe(), "byte_fallback": self.maybe(0.3),
                 "ignore_merges": self.maybe(0.3)}
        prefix, suffix = model["continuing_subword_prefix"] or "", model["end_of_word_suffix"] or ""
        vocab = dict.fromkeys(few + [prefix + c + end for c in few if c not in BYTES for end in ("", suffix)])
        merges = {}
        for _ in range(r.choice([0, 10, 60, 150])):
            known = list(vocab)
            left, right = r.choice(known[-120:] if self.maybe() else known), r.choice(known)
            text = left + right[len(prefix):]
            if right.startswith(prefix) and not (suffix and left.endswith(suffix)) and len(text) < 13 and \
                    left not in BYTES and right not in BYTES:
                merges[left, right] = vocab[text] = None
        return {**model, "vocab": self.numbered(vocab), "merges": list(map(list, merges))}

    def numbered(self, vocab):
        ids = list(range(len(vocab)))
        if self.maybe(0.3):
            self.r.shuffle(ids)
        if self.maybe(0.2):
            ids = [2 * i + 3 for i in ids]
        return dict(zip(vocab, ids))

    def unigram(self, few, more):
        r, digits = self.r, self.r.choice([None, 3, 6])
        vocab = [[piece, float(-r.randint(0, 6)) if digits is None else round(-12 * r.random(), digits)]
                 for piece in dict.fromkeys(few + more)]
        return {"unk_id": r.choice([0, 0, 0, None, min(3, len(vocab) - 1)]), "vocab": vocab,
                "byte_fallback": self.maybe(0.3)}

    def word_piece(self, few, more):
        r, prefix = self.r, self.r.choice(["##", "##", "##", "", "@"])
        words = dict.fromkeys(few + more + [prefix + word for word in few + more])
        return {"unk_token": r.choice(["<unk>", "<unk>", "[UNK]"]), "continuing_subword_prefix": prefix,
                "max_input_chars_per_word": r.choice([100, 100, 5, 1, 0]), "vocab": self.numbered(words)}

    def word_level(self, few, more):
        return {"vocab": self.numbered(dict.fromkeys(few + more)),
                "unk_token": self.r.choice(["<unk>", "<unk>", "[UNK]"])}

    def model(self, byte_level):
        make = {"BPE": self.byte_pairs, "Unigram": self.unigram, "WordPiece": self.word_piece,
                "WordLevel": self.word_level}
        kind = self.r.choice(sorted(make))
        return {"type": kind, **make[kind](*self.words(byte_level))}

    def added(self, vocab):
        ids = vocab if isinstance(vocab, dict) else {piece: i for i, (piece, _) in enumerate(vocab)}
        free, tokens = max(ids.values()) + 1, {}
        for _ in range(self.r.randint(0, 5)):
            text = self.r.choice([*TOKENS, self.text(3, 0)])
            tokens.setdefault(text, ids.get(text, free + len(tokens)))
        return [{"id": i, "content": text, **{flag: self.maybe(0.4) for flag in FLAGS}}
                for text, i in sorted(tokens.items(), key=lambda token: token[1])]

    def file(self):
        normalizer = self.normalizer() if self.maybe(0.6) else None
        pre = self.pre_tokenizer() if self.maybe(0.75) else None
        model = self.model("ByteLevel" in json.dumps([normalizer, pre]))
        trims = self.maybe(0.2)  # changes offsets only
        return {"version": "1.0", "truncation": None, "padding": None, "normalizer": normalizer, "pre_tokenizer": pre,
                "added_tokens": self.added(model["vocab"]) if self.maybe() else [], "model": model,
                "post_processor": {"type": "ByteLevel", **self.byte_level()} if trims else None,
                "decoder": self.decoder() if self.maybe(0.7) else None}


def write(path, seed, charsmap=None):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(Draw(seed, charsmap).file(), file, ensure_ascii=bool(seed % 2))
