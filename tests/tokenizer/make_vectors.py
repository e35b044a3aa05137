#!/usr/bin/env python3
"""make_vectors.py: makes tests/tokenizer/vectors/, which test_vectors.c compares leat with.

Every id comes from a reference package, none from leat: tiktoken 0.14.0, tokenizers 0.23.3, sentencepiece 0.2.3,
mistral-common 1.13.1. It writes small made-up vocabularies, one a family, the texts, and what the references make of
them. Files:

  texts.txt       a text a line, with \\n, \\r, \\t, \\\\ and \\xNN; texts are bytes, and some are not UTF-8
  NAME.json       a made-up tokenizer.json; NAME.model one of sentencepiece; tekken.json one of mistral-common
  NAME.ids        for text N (from 0): "N ids" (special strings are text), "Ns ids" (they are tokens; if that differs),
                  "Nd text" (what the ids of the first line decode to, if that is not the text, repaired)

With these versions a run changes nothing, not a byte. word_suffix.json alone is kept as it is where it is there: its
letters with a suffix get their ids in the order of a hash table, another one in each run of tokenizers' trainer.
Run from the top of the repository, with those packages and the command zstd: tests/tokenizer/make_vectors.py
"""
import base64
import collections
import io
import json
import os
import re
import subprocess

import sentencepiece
import tiktoken
import tiktoken_ext.openai_public as openai_public
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

FOLDER = "tests/tokenizer/vectors"
DATA = "tokenize_tools/tokenizer/load/data"
MARK = "\u2581"

TEXTS = [
    b"", b" ", b"a", b"Hello, world!", b"The quick brown fox jumps over the lazy dog.",
    b"I'm, you're, he'll, we've, I'd, it's, don't", b"I'M YOU'RE HE'LL WE'VE I'D IT'S DON'T",
    b"'s 'sx ''s 'S' 'LLama 'rest", "it'\u017f 'K\u212a 'Re".encode(),
    b"0 12 345 6789 12345 1234567890", b"3.14159, -1e-9, 1,000,000; 0x7fff 2026-11-20",
    "\u0663\u0664\u0665 \u00b2\u00b3 \u2167 \u2460 \u0be7\u0be8\u0be9\u0be7".encode(),
    b"   leading and trailing   ", b"\n", b"\r\n", b"\n\n\n   \n", b"a\r\nb\rc\n\nd", b"tab\tseparated\t\tvalues\t \t",
    b"  two  three   four    spaces", b"x \n y\n \nz", b"end of line  \n  ",
    "\u00a0\u2003\u3000 \u200b\u0085 x".encode(),
    b"def f(x):\n    return x[0] + x['key']  # note\n\n\nclass A:\n\tpass\n", b"https://example.org/a_b?c=d&e=%20#f",
    b"<html><body>&amp;</body></html>", b"{\"key\": [1, 2.5, null], \"other\": \"va\\\\lue\"}",
    b"//// ----- ===== .... !!!",
    b"CamelCaseWord HTTPServer iPhone XMLHttpRequest ABCdef", "\u01c5 \u02b0 \u1fbc \u00aa\u00ba".encode(),
    "caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u00fcber stra\u00dfe \u0130stanbul".encode(),
    "cafe\u0301 n\u0303 A\u030a \u1e9b\u0323 q\u0307\u0323 \u0344".encode(),
    "\u1112\u1161\u11ab \uac00\u11a8 \u2126 \u212b \ufb01".encode(),
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0423\u043a\u0440\u0430\u0457\u043d\u0430".encode(),
    "\u0394\u03b5\u03bb\u03c6\u03bf\u03af \u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5".encode(),
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u4e2d\u6587abc\u6df7\u5408123".encode(),
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u30ab\u30bf\u30ab\u30ca\u30fc \u65e5\u672c\u8a9e".encode(),
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4".encode(),
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645\u064e\u0651".encode(),
    "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd".encode(),
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e".encode(),
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01".encode(),
    "\U0001f600\U0001f44d\U0001f3fd \u2764\ufe0f \U0001f468\u200d\U0001f469\u200d\U0001f467".encode(),
    "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7 \u00a9\u2122 \u20ac5 \u2211x\u00b2 \u2260 \u221e".encode(),
    "\U00020000\U0001d54f \ue000 \U0010ffff \u0378".encode(), "\ufeffbom \ufffd \ufffe".encode(),
    b"nul\0byte \x01\x02\x1f\x7f", b"cut \xf0\x9f\x98", b"\xff\xfe\x80 alone", b"\xc3(\xe2\x82(\xf0\x9f\x98(",
    b"\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80",
    b"<|endoftext|>", b"one<|endoftext|>two <|endoftext|> <|endoftext|><|endoftext|>",
    b"<|endoftext <|fim_prefix|>a<|fim_suffix|>b<|endofprompt|>",
    b"<s>Hello</s> <unk> <s></s> x<s> <pad>", b"<0x41> <0xE2> <0xZZ>",
    (MARK + "mark " + MARK + MARK + " x" + MARK).encode(),
    b"left <mask> right, un<mask>ed WORD word words Word  sword", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    b"ab" * 30,
    b"supercalifragilisticexpialidocious antidisestablishmentarianism", b"the then they there hello hellooo theatre",
    b"\n\n\n\n  \n\n<|user|>Hi\n<|end|>\n", b"low lower lowest newer wider new",
    b"world[SEP]the [SEP] they[SEP]there[SEP][SEP]here[SEP] new",
]

CORPUS = [
    "low lower lowest new newer newest wide wider widest hello hello world the then they there here where other",
    "The quick brown fox jumps over the lazy dog. It's the end of the line, isn't it? We've said I'm, you're, he'll.",
    "def f(x):\n    return x[0] + x['key']\n\n\nclass A:\n    pass\n", "0 1 12 123 1234 2026 3.14 100 200 300",
    "caf\u00e9 caf\u00e9 na\u00efve \u00fcber stra\u00dfe cafe\u0301",
    "\u4f60\u597d\u4e16\u754c\u4e2d\u6587 \u4f60\u597d \u3053\u3093\u306b\u3061\u306f \u4e16\u754c",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
    "ab abab aaaa aaaa abababab word words sword",
] * 3

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK = [
    r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]


# ---- Files ----

def escaped(text):
    named = {10: "\\n", 13: "\\r", 9: "\\t", 92: "\\\\"}
    line = "".join(named.get(b) or (chr(b) if 32 <= b < 127 else "\\x%02x" % b) for b in text)
    return line[:-1] + "\\x20" if line.endswith(" ") else line


def write(name, text):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def write_ids(name, encode, decode):
    """encode(str, special) gives ids; decode(ids) gives bytes."""
    lines = []
    for number, text in enumerate(TEXTS):
        repaired = text.decode("utf-8", "replace")
        plain, special = encode(repaired, False), encode(repaired, True)
        back = decode(plain)
        lines.append(" ".join([str(number), *map(str, plain)]))
        if special != plain:
            lines.append(" ".join(["%ds" % number, *map(str, special)]))
        if back != repaired.encode():
            lines.append("%dd %s" % (number, escaped(back)))
    write(name + ".ids", "\n".join(lines) + "\n")


# ---- The built-in ones ----

def ranks(name):
    plain = subprocess.run(["zstd", "-dc", "%s/%s.tiktoken.zst" % (DATA, name)], check=True, capture_output=True).stdout
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in plain.splitlines())}


def write_tiktoken():
    openai_public.load_tiktoken_bpe = lambda url, **_: ranks(os.path.basename(url).removesuffix(".tiktoken"))
    openai_public.data_gym_to_mergeable_bpe_ranks = lambda **_: ranks("r50k_base")
    for name in "gpt2", "cl100k_base", "o200k_base":
        encoding = tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]())

        def encode(text, special, encoding=encoding):
            return encoding.encode(text, allowed_special="all" if special else set(), disallowed_special=())

        write_ids(name, encode, encoding.decode_bytes)


def write_bytes():
    end = b"<|endoftext|>"

    def encode(text, special):
        parts = text.encode().split(end) if special else [text.encode()]
        return [i for n, part in enumerate(parts) for i in ([256] if n else []) + list(part)]

    write_ids("bytes", encode, bytes)


# ---- Made-up tokenizer.json ----

def trained(vocabulary, alphabet, normalizer, pre_tokenizer, **options):
    special, suffix = options.pop("special", []), options.get("end_of_word_suffix")
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=alphabet, show_progress=False,
                                  special_tokens=special, **({"end_of_word_suffix": suffix} if suffix else {}))
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def write_json(name, tokenizer, decoder, edit=None, keep=False):
    tokenizer.decoder = decoder
    tree = json.loads(tokenizer.to_str())
    if edit:
        edit(tree)
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":")) + "\n"
    path = os.path.join(FOLDER, name + ".json")
    if keep and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    write(name + ".json", text)
    tokenizer = Tokenizer.from_str(text)

    def encode(text, special):
        tokenizer.encode_special_tokens = not special
        return tokenizer.encode(text, add_special_tokens=False).ids

    write_ids(name, encode, lambda ids: tokenizer.decode(ids, skip_special_tokens=False).encode())


def byte_level(splits):
    parts = [pre_tokenizers.Split(Regex(s), "isolated") for s in splits]
    return pre_tokenizers.Sequence(parts + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def write_byte_level():
    alphabet, end = sorted(pre_tokenizers.ByteLevel.alphabet()), [AddedToken("<|endoftext|>", special=True)]

    def ignoring(tree):
        tree["model"]["ignore_merges"] = True
        for word in "hellooo", "\u0120hellooo", "\u0120theatre", "123":  # no merges lead to these
            tree["model"]["vocab"][word] = len(tree["model"]["vocab"])

    tokenizer = trained(360, alphabet, None, byte_level([LLAMA3]))
    write_json("ignore_merges", tokenizer, decoders.ByteLevel(), ignoring)
    tokenizer = trained(360, alphabet, normalizers.NFC(), byte_level([QWEN]))
    tokenizer.add_special_tokens(end)
    write_json("nfc", tokenizer, decoders.ByteLevel())
    tokenizer = trained(360, alphabet, None, byte_level(DEEPSEEK))
    tokenizer.add_special_tokens(end)
    write_json("three_splits", tokenizer, decoders.ByteLevel())
    tokenizer = trained(340, alphabet, None, pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.add_special_tokens(end)
    write_json("prefix_space", tokenizer, decoders.ByteLevel())
    parts = [pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
             pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated")]
    tokenizer = trained(340, alphabet, None, pre_tokenizers.Sequence(parts))
    write_json("digits", tokenizer, decoders.ByteLevel())
    parts = [pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.FixedLength(4),
             pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tokenizer = trained(340, alphabet, normalizers.Nmt(), pre_tokenizers.Sequence(parts))
    write_json("fixed_length", tokenizer, decoders.ByteLevel())
    tokenizer = trained(340, [], None, pre_tokenizers.UnicodeScripts(), unk_token="<unk>",
                        special=[AddedToken("<unk>", special=True, normalized=False)])
    write_json("scripts", tokenizer, decoders.CTC("e", " ", True))


def add_bytes(tree, places=range(256)):
    vocabulary = tree["model"]["vocab"]
    tree["model"].update(byte_fallback=True, fuse_unk=True)
    for byte in places:
        vocabulary["<0x%02X>" % byte] = max(vocabulary.values()) + 1


def write_metaspace():
    special = [AddedToken(t, special=True, normalized=False) for t in ("<unk>", "<s>", "</s>")]
    fallback = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    strip = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(),
                               decoders.Strip(" ", 1, 0)])
    spaces = normalizers.Replace(" ", MARK)
    tokenizer = trained(160, [], normalizers.Sequence([normalizers.Prepend(MARK), spaces]),
                        pre_tokenizers.Split(MARK, "merged_with_next"), special=special, unk_token="<unk>")
    tokenizer.pre_tokenizer = None
    write_json("prepend_replace", tokenizer, strip, add_bytes)
    tokenizer = trained(160, [], spaces, pre_tokenizers.Split(MARK, "merged_with_next"),
                        special=special, unk_token="<unk>")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in ("\n\n", "\n\n\n", MARK + MARK, "<pad>")])

    def gemma(tree):
        last = max(t["id"] for t in tree["added_tokens"])
        for token in tree["added_tokens"]:
            tree["model"]["vocab"][token["content"]] = token["id"]
        assert last == max(tree["model"]["vocab"].values())
        add_bytes(tree)

    write_json("split_spaces", tokenizer, fallback, gemma)
    for scheme in "always", "first", "never":
        tokenizer = trained(160, [], None, pre_tokenizers.Metaspace(prepend_scheme=scheme), special=special,
                            unk_token="<unk>", fuse_unk=scheme == "first")
        write_json("metaspace_" + scheme, tokenizer, decoders.Metaspace(prepend_scheme=scheme),
                   (lambda tree: add_bytes(tree, range(0x20, 0xd0))) if scheme == "always" else None)


def write_added():
    tokenizer = trained(330, sorted(pre_tokenizers.ByteLevel.alphabet()), normalizers.Lowercase(), byte_level([LLAMA3]))
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", special=True, rstrip=True),
                                  AddedToken("<mask>", special=True, lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("Word", single_word=True, normalized=True),
                          AddedToken("</s>", lstrip=True, rstrip=True),
                          AddedToken("\n\n", normalized=False), AddedToken("x<s>", normalized=False),
                          AddedToken("<s>", normalized=False), AddedToken("THE", normalized=True)])
    write_json("added", tokenizer, decoders.ByteLevel())
    tokenizer = trained(160, [], normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
                        pre_tokenizers.Whitespace(), special=[AddedToken("<unk>", special=True)], unk_token="<unk>",
                        end_of_word_suffix="</w>")
    write_json("word_suffix", tokenizer, decoders.BPEDecoder("</w>"), keep=True)


# ---- tekken ----

TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def merged_bytes(count):
    """Tokens of two bytes and more, by plain byte pair encoding of the words of CORPUS; ties go to the lesser pair."""
    words = [[bytes([b]) for b in word.encode()] for text in CORPUS for word in re.findall(" ?[^ ]+", text)]
    tokens = []
    while len(tokens) < count:
        pairs = collections.Counter(pair for word in words for pair in zip(word, word[1:]))
        first, second = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if first + second not in tokens:
            tokens.append(first + second)
        for word in words:
            for i in range(len(word) - 1, 0, -1):
                if word[i - 1:i + 1] == [first, second]:
                    word[i - 1:i + 1] = [first + second]
    return tokens


def write_tekken():
    """Of 256 + 120 tokens the last 20 are cut off, as in the published ones; no merges lead to " hellooo"."""
    special = ["<unk>", "<s>", "</s>", "[INST]", "<|endoftext|>"]
    tokens = [bytes([b]) for b in range(256)] + merged_bytes(119)
    tokens.insert(300, b" hellooo")
    tree = {
        "config": {"pattern": TEKKEN, "num_vocab_tokens": len(tokens), "default_vocab_size": len(tokens) - 20 + 8,
                   "default_num_special_tokens": 8, "version": "v7"},
        "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode(),
                   "token_str": t.decode() if i > 255 and t.decode("utf-8", "ignore").encode() == t else None}
                  for i, t in enumerate(tokens)],
        "special_tokens": [{"rank": i, "token_str": t, "is_control": True} for i, t in enumerate(special)],
    }
    write("tekken.json", json.dumps(tree, ensure_ascii=False, separators=(",", ":")) + "\n")
    tekkenizer = Tekkenizer.from_file(os.path.join(FOLDER, "tekken.json"))

    def plain(text):
        return tekkenizer.encode(text, bos=False, eos=False)

    def encode(text, with_special):
        """mistral-common's own encode() looks for no special tokens: here each is cut out before."""
        if not with_special:
            return plain(text)
        parts = re.split("(%s)" % "|".join(map(re.escape, special)), text)
        return [i for n, part in enumerate(parts) for i in ([special.index(part)] if n % 2 else plain(part))]

    write_ids("tekken", encode,
              lambda ids: tekkenizer.decode(ids, special_token_policy=SpecialTokenPolicy.KEEP).encode())


# ---- Unigram ----

def write_unigram():
    """Made, not trained: words, parts of words and characters, with scores of which many sums are equal."""
    words = sorted({part for text in CORPUS for word in text.split() for part in (word, MARK + word)})
    parts = sorted({w[i:i + n] for w in words for n in (1, 2, 3) for i in range(len(w) - n + 1)} | set(words))
    vocab = [["<unk>", 0.0], ["</s>", 0.0]]
    vocab += [[t, -1.0 - len(t) if i % 3 else -2.5 - 1.1 * len(t)] for i, t in enumerate(parts) if i % 7]
    vocab += [["ab", -3.25], ["lower", -4.0], [MARK, -2.0]]
    vocab += [["<0x%02X>" % b, -12.0] for b in range(256)]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": True}
    tree = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [
        {"id": 1, "content": "</s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}], "normalizer": {"type": "NFKC"}, "pre_tokenizer": {
             "type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True},
            "post_processor": None, "decoder": {"type": "Sequence", "decoders": [
                {"type": "ByteFallback"}, {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always",
                                           "split": True}]}, "model": model}
    for name in "unigram", "unigram_whole":
        if name == "unigram_whole":
            tree["pre_tokenizer"]["split"], model["byte_fallback"] = False, False
        text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
        write(name + ".json", text + "\n")
        t = Tokenizer.from_str(text)

        def encode(text, special, t=t):
            t.encode_special_tokens = not special
            return t.encode(text, add_special_tokens=False).ids

        write_ids(name, encode, lambda ids, t=t: t.decode(ids, skip_special_tokens=False).encode())


# ---- WordPiece ----

def write_words():
    words = sorted({w.lower() for text in CORPUS for w in re.findall(r"\w+|[^\w\s]", text)})
    parts = {w[:n] for w in words for n in (1, 2, 3)} | {"##" + w[i:i + n] for w in words for n in (1, 2, 3)
                                                         for i in range(1, len(w) - n + 1)} | set(words[::3])
    vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(parts)]) if i % 8}
    vocab["[UNK]"] = 1
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=12))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[SEP]"])
    write_json("wordpiece", tokenizer, decoders.WordPiece())


# ---- sentencepiece ----

def write_sentencepiece():
    for name, options in {
        "piece_fallback": {"byte_fallback": True, "user_defined_symbols": ["<pad>", "  "], "vocab_size": 420},
        "piece_unknown": {"byte_fallback": False, "add_dummy_prefix": False, "vocab_size": 150,
                          "user_defined_symbols": ["<mask>", "ab"], "remove_extra_whitespaces": True},
        "piece_unigram": {"model_type": "unigram", "vocab_size": 160,
                          "user_defined_symbols": ["<mask>", "ab"], "remove_extra_whitespaces": True,
                          "hard_vocab_limit": False},
    }.items():
        options = {"remove_extra_whitespaces": False, "model_type": "bpe", "normalization_rule_name": "identity",
                   **options}
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(" ".join(c.split("\n")) for c in CORPUS), model_writer=model,
            character_coverage=0.98, minloglevel=2, **options)
        with open(os.path.join(FOLDER, name + ".model"), "wb") as file:
            file.write(model.getvalue())
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        write_ids(name, lambda text, special: processor.encode(text), lambda ids: processor.decode(ids).encode())


os.makedirs(FOLDER, exist_ok=True)
write("texts.txt", "".join(escaped(t) + "\n" for t in TEXTS))
write_tiktoken()
write_bytes()
write_byte_level()
write_metaspace()
write_added()
write_tekken()
write_unigram()
write_words()
write_sentencepiece()
