"""ids_texts.py: the texts that check_ids.py compares on: corpora where they are at hand, written-out nasty text, and
random Unicode strings. Everything follows from a seed."""
import json
import os
import random
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPORA = os.environ.get("LEAT_CORPORA", os.path.join(ROOT, "..", "shared", "corpora"))

POOL = [
    "'s", "'S", "'ll", "'RE", "\u017f", "'\u017f", " ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "a", "b",
    "Z",
    "word", " the", " and", "The", "1", "12345", "\u0661", "\u00e9", "e\u0301", "\u4e2d", "\u6587", "\u65e5\u672c",
    "\u3072\u3089", "\u30ab", "\ud55c", "\u1112\u1161\u11ab", "\U0001f642",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea", "\u200d", "\u200b", "\u00a0", "\u2003", "\u2028", "\x00", "\x01", "\x1c", "\x1f", "\x85",
    "\u01c5", "\u02b0", "!", "?!", "...", ",", "//", "(", ")", "<|endoftext|>", "<s>", "</s>", "<unk>", "<0x41>",
    "\u2581",
    "\u0120", "_", "-", "\u0300\u0301", "\u0f71\u0f72", "\ufb01", "\u212b", "\u0130", "\u00df", "\u03a3", "\u03c2",
    "\U0001d7d8", "\u3000", "\ufeff", "\ufffd", "\u2047", "\u0434", "\u041f\u0440\u0438\u0432\u0435\u0442", "\u0643",
    "\u0e33", "\u0958", "\u1e9b\u0323", "\ufdfa", "\uff76\uff9e", "\u00bd", "\u2460", "\U00020000", "\U0010ffff",
    "\ue000",
    "x" * 40, "=" * 17, " " * 23, "\u2581" * 3,
]


def random_text(r, pool):
    kind = r.random()
    if kind < 0.3:
        tops = (0x110000, 0x3000, 0x250, 128)
        points = (r.randrange(r.choice(tops)) for _ in range(r.randrange(30)))
        return "".join(chr(c) for c in points if not 0xD800 <= c < 0xE000)
    if kind < 0.6:
        few = [r.choice(pool) for _ in range(3)]
        return "".join(r.choice(few) for _ in range(r.randrange(20)))
    return "".join(r.choice(pool) for _ in range(r.randrange(25)))


def random_texts(count, seed, extra=()):
    r = random.Random(seed)
    pool = POOL + list(extra) * (1 + len(POOL) // (4 * len(extra))) if extra else POOL
    return [random_text(r, pool) for _ in range(count)]


def nasty_texts():
    """What has hurt tokenizers: long runs, white space at every place, names of special tokens, lone characters."""
    texts = ["", " ", "\n", "\x00", "\u2581", "\u0301", "\ufffd", "<unk>", "a" * 5000, " " * 3000, "\n" * 999,
             "ab" * 3000,
             "\u4e2d" * 2000, "\U0001f642" * 800, "\u0301" * 500, "a\u0301" * 700, "'" * 600, "1" * 1000,
             "\u2581" * 700,
             "".join(map(chr, range(0x250))), "".join(map(chr, range(0x2000, 0x2100))),
             " ".join(chr(c) for c in range(0x1F600, 0x1F650)), "\u200d".join("\U0001f468\U0001f469\U0001f467" * 50)]
    for space in (" ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2581"):
        for word in ("a", "the", "\u4e2d\u6587", "12", "!", "\u00e9"):
            texts += [space + word, word + space, space + word + space, word + space + word,
                      3 * space + word + 2 * space]
    for name in ("<s>", "</s>", "<unk>", "<|endoftext|>", "<|im_start|>", "[INST]", "<pad>", "<mask>", "<0x0A>"):
        texts += [name, " " + name, name + " ", "a" + name + "b", name + name, name[:-1], name + "\n" + name.upper()]
    return texts


def lines_of(name):
    path = os.path.join(CORPORA, name + ".jsonl.zst")
    if not os.path.exists(path) or not shutil.which("zstd"):
        return []
    plain = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    return [json.loads(line)["text"] for line in plain.decode().split("\n") if line.strip()]


def corpus_texts(share):
    """Documents of the samples; for the full share more of them, and whole."""
    nasty = lines_of("sample_nasty")
    rest = [t for name in ("sample_english", "sample_multi", "sample_code") for t in lines_of(name)]
    if share == "ci":
        return [t[:20000] for t in nasty] + [t[:2000] for t in rest[::6]]
    large = [t for name in ("large_english", "large_multi", "large_code") for t in lines_of(name)[:3000]]
    return nasty + rest + large


def made_words(count, seed):
    """Text to train on, where there is no corpus: words of syllables, few of them often, as in languages."""
    r = random.Random(seed)
    syllables = [c + v for c in ("b", "d", "k", "l", "m", "n", "r", "s", "t", "th", "\u0434", "\u043f", "\u4e2d",
                                 "\u65e5")
                 for v in ("a", "e", "i", "o", "u", "\u00e9", "\u0438", "an", "ing")]
    words = ["".join(r.choice(syllables) for _ in range(r.randint(1, 4))) for _ in range(2000)]
    ends = [" ", " ", " ", " ", ", ", ". ", "\n", "  ", "'s ", " 42 ", "! ", "-"]
    return "".join(words[min(int(r.expovariate(0.005)), 1999)] + r.choice(ends) for _ in range(count))


def training_lines(corpus):
    """About 300 KB in lines."""
    if not corpus:
        return made_words(40000, 5).splitlines(keepends=True)
    lines = []
    for text in corpus[::max(1, len(corpus) // 300)]:
        lines += text[:1000].splitlines(keepends=True)
    return lines
