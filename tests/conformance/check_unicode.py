#!/usr/bin/env python3
"""check_unicode.py [--quick] [--tables] [PROGRAM]: compares leat's Unicode functions with the reference libraries.

PROGRAM is unicode_dump.c, built; without it, cc builds it here. Every line of the output is one comparison with the
number of cases and of differences; the last is "N passed, N failed, N skipped". The exit status is 0 if there is no
difference, 77 if the references are missing. LEAT_TEST_SEED changes the random texts. --tables also runs
scripts/gen_unicode.py --check.

--quick still asks for every code point, but for many in one text, a line each: the line ends keep them apart. It takes
a tenth of the random texts, of what may follow an apostrophe, and of what the second engine takes for words.
"""
import functools
import glob
import io
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
try:
    import sentencepiece
    from tokenizers import normalizers, pre_tokenizers
    import gen_unicode
    from ids_pieces import charsmap_of
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

POINTS = gen_unicode.POINTS
QUICK = "--quick" in sys.argv
SEED = int(os.environ.get("LEAT_TEST_SEED", "1"), 0)
LINES = 400
ALWAYS = 2
passed = failed = 0


def some_points():
    """All; the quick share's are the first ones and a tenth."""
    return [c for c in POINTS if c < 0x250] + random.Random(SEED).sample(POINTS, len(POINTS) // 10) if QUICK else POINTS


def report(what, cases, wrong):
    """`wrong` lists what differs; the first few are shown."""
    global passed, failed
    print(f"{what}: {cases} cases, {len(wrong)} differences", flush=True)
    for item in wrong[:5]:
        print("   ", item[:600])
    passed, failed = passed + (not wrong), failed + bool(wrong)


def build(folder):
    program = os.path.join(folder, "unicode_dump")
    sources = glob.glob(os.path.join(ROOT, "tokenize_tools/tokenizer/*.c"))
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-I", ROOT, "-I", os.path.join(ROOT, "include"),
                    "-I", os.path.join(ROOT, "src"), "-o", program,
                    os.path.join(ROOT, "tests/conformance/unicode_dump.c"), os.path.join(ROOT, "src/base/status.c")]
                   + sources, check=True)
    return program


class Dump:
    def __init__(self, program):
        self.program = program

    def raw(self, *arguments, data=b""):
        return subprocess.run([self.program, *arguments], input=data, stdout=subprocess.PIPE, check=True).stdout

    def texts(self, texts, *arguments):
        """Each text (bytes) through the program."""
        data = self.raw(*arguments, data=b"".join(struct.pack("<I", len(t)) + t for t in texts))
        out, at = [], 0
        while at < len(data):
            size = struct.unpack_from("<I", data, at)[0]
            out.append(data[at + 4:at + 4 + size])
            at += 4 + size
        if len(out) != len(texts) or at != len(data):
            sys.exit(f"{self.program} {' '.join(arguments)}: {len(out)} answers to {len(texts)} texts")
        return out

    def differing(self, texts, reference, arguments):
        mine = self.texts([t.encode() for t in texts], *arguments)
        return [(t, got.decode(), want) for t, got in zip(texts, mine) if got.decode() != (want := reference(t))]

    def compare(self, what, texts, reference, *arguments, lines=False):
        """Strings, against a function from string to string. `lines`: the quick share may make lines of them; ALWAYS:
        the other one too."""
        together = lines == ALWAYS or lines and QUICK
        asked = ["\n".join(texts[i:i + LINES]) for i in range(0, len(texts), LINES)] if together else texts
        wrong = self.differing(asked, reference, arguments)
        if asked is not texts:
            alone = [line for text, _, _ in wrong for line in text.split("\n")]
            wrong = self.differing(alone, reference, arguments) or wrong
        report(what, len(texts), [f"{t!a}: {got!a}, reference {want!a}" for t, got, want in wrong])


# ---- Classes ---------------------------------------------------------------------------------------------------------

def check_classes(dump):
    words = struct.unpack("<2228224H", dump.raw("classes"))
    for edition, name in enumerate(("rust", "oniguruma")):
        mine = words[edition * 0x110000:(edition + 1) * 0x110000]
        for bit, pattern in enumerate(gen_unicode.CLASSES):
            # one match a character, unlike in the generator; the quick share has no time for that many
            runs = f"(?:{pattern})+" if QUICK else pattern
            if name == "rust":
                members = set(map(ord, gen_unicode.rust_matches(runs)))
            else:
                members = set(POINTS) - set(map(ord, gen_unicode.oniguruma_drops(runs)))
            wrong = [f"U+{c:04X}" for c in range(0x110000) if (mine[c] >> bit & 1) != (c in members)]
            report(f"{name} {pattern}", 0x110000, wrong)
    check_folding()


def check_folding():
    """What stands after an apostrophe in (?i:'s|...), one or two characters."""
    pattern = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    points = [c for c in some_points() if c not in (0x27, 0x0A)]
    candidates = [chr(c) for c in points]
    candidates += [chr(c) + y for c in points for y in ("e", "l")]
    candidates += [x + chr(c) for c in points for x in "rvl"]
    known = {"s", "S", "\u017f", "t", "T", "m", "M", "d", "D"}
    known |= {a + b for x, y in ("re", "ve", "ll") for a in (x, x.upper()) for b in (y, y.upper())}
    wanted = [x for x in candidates if x in known or x[0] in known]
    text = "\n".join("'" + x for x in candidates)
    matched = {"rust": gen_unicode.rust_matches(pattern + r"|\n", text).split("\n"),
               "oniguruma": gen_unicode.oniguruma_drops(pattern, text).split("\n")}
    wrong = [f"rust: {c!a} {got!a}" for c, got in zip(candidates, matched["rust"])
             if (got != "") != (c in known or c[0] in known)]
    wrong += [f"oniguruma: {c!a} {left!a}" for c, left in zip(candidates, matched["oniguruma"])
              if (left != "'" + c) != (c in known or c[0] in known)]
    report(f"{pattern} matches {len(wanted)} of", 2 * len(candidates), wrong)


def check_characters(dump):
    mine = dump.raw("chars")
    tests = gen_unicode.probe_character_tests()
    report("character tests", 0x110000, [f"U+{c:04X}" for c in range(0x110000) if mine[c] != tests[c]])
    # the other engine of tokenizers is that of Rust, too: \w+|[^\w\s]+
    points = some_points()
    pieces = pre_tokenizers.Whitespace().pre_tokenize_str(" ".join("a" + chr(c) for c in points))
    words = {ord(piece[1]) for piece, _ in pieces if len(piece) == 2 and piece[0] == "a"}
    mine = struct.unpack("<2228224H", dump.raw("classes"))
    report(r"rust \w, as tokenizers has it", len(points),
           [f"U+{c:04X}" for c in points if (mine[c] >> 11 & 1) != (c in words)])


# ---- Normal forms ----------------------------------------------------------------------------------------------------

@functools.lru_cache
def interesting():
    """Characters that decompose, compose, move or almost do: by Python's tables, which decide nothing else here."""
    marks = [chr(c) for c in POINTS if unicodedata.combining(chr(c))]
    parts = {chr(c): unicodedata.decomposition(chr(c)).split() for c in POINTS}
    pairs = [[chr(int(x, 16)) for x in p] for p in parts.values() if len(p) == 2 and not p[0].startswith("<")]
    firsts, seconds = (sorted({pair[i] for pair in pairs}) for i in (0, 1))
    composed = [c for c, p in parts.items() if p and not p[0].startswith("<")]
    compatible = [c for c, p in parts.items() if p]
    jamo = [chr(c) for c in [*range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xD7B0, 0xD800)]]
    syllables = [chr(c) for c in range(0xAC00, 0xD7A4, 28)] + [chr(c) for c in range(0xAC00, 0xD7A4, 13)]
    ends = list("\u0300\u0301\u0323\u0334\u0345\u035c\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3\ud7a3\uac00\uac01")
    return [marks, seconds, firsts, composed, compatible, jamo, syllables, ends, list("aeiou AZ\0")]


def random_texts(groups, count, seed, longest=12):
    r = random.Random(seed)
    texts = []
    for _ in range(count):
        few = r.sample(groups, min(len(groups), r.randint(1, 3)))
        text = ""
        for _ in range(r.randint(1, longest)):
            text += chr(r.choice(POINTS)) if r.random() < 0.03 else r.choice(r.choice(few))
        texts.append(text)
    return texts


# what a character may meet: marks of classes 240, 230, 220 and 1, starters that compose with others
BEFORE = ("\u0345", "\u0301", "e", "\u00e9", "e\u0316", "\u1100", "\uac00", "\uac01", "\u09c7", "\u0bc6", "\u304b")
AFTER = ("\u0334", "\u0323", "\u0301", "\u1161", "\u11a8", "\u09be", "\u3099")


def check_normalization(dump):
    singles = [chr(c) for c in POINTS]
    texts = random_texts(interesting(), 20000 if QUICK else 200000, SEED)
    runs = random_texts(interesting()[:1], 200 if QUICK else 2000, SEED + 1, 200)
    runs = ["a" * (i % 3) + t + "e\u0301" for i, t in enumerate(runs)]
    for form in gen_unicode.FORMS:
        reference = getattr(normalizers, form)().normalize_str
        dump.compare(f"{form}, every character", singles, reference, form.lower(), lines=True)
        dump.compare(f"{form}, every character between letters and marks",
                     ["e\u0323" + x + "\u0302\u0323b" for x in singles], reference, form.lower(), lines=True)
        pairs = [before + x for before in BEFORE for x in map(chr, some_points())]
        pairs += [x + after for after in AFTER for x in map(chr, some_points())]
        dump.compare(f"{form}, every character with others", pairs, reference, form.lower(), lines=ALWAYS)
        dump.compare(f"{form}, random texts", texts, reference, form.lower())
        dump.compare(f"{form}, long runs of marks", runs, reference, form.lower())
    lower = normalizers.Lowercase().normalize_str
    dump.compare("lower case, every character", singles, lower, "lower", lines=True)
    dump.compare("lower case, random texts", [x.join("aA\u03a3 ") for x in singles[::17]] + texts[::10], lower, "lower")


# ---- UTF-8 -----------------------------------------------------------------------------------------------------------

def random_bytes(count, seed):
    """Valid characters, cut ones, and single bytes of all kinds."""
    r = random.Random(seed)
    leads = [0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
             0x8F, 0x90, 0x9F, 0xA0, 0x41]
    texts = []
    for _ in range(count):
        text = b""
        for _ in range(r.randint(0, 12)):
            kind = r.randrange(5)
            if kind == 0:
                text += b"a" * r.randrange(20)
            elif kind == 1:
                text += chr(r.choice(POINTS)).encode()
            elif kind == 2:
                text += chr(r.choice((0x10FFFF, 0x10000, 0xFFFF, 0xE000, 0xD7FF, 0x800, 0x7FF, 0x80)) - r.randrange(3)
                            ).encode(errors="surrogatepass")[:r.randint(1, 4)]
            elif kind == 3:
                text += bytes([r.choice(leads)])
            else:
                text += bytes([r.randrange(256)])
        texts.append(text)
    return texts


def check_utf8(dump):
    texts = random_bytes(10000 if QUICK else 100000, SEED)
    # each lead with each second byte, and those of three and four bytes near the limits
    texts += [bytes([a, b]) for a in range(256) for b in range(256)]
    edge = (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)
    texts += [bytes([a, b, c, d]) for a in range(0xC0, 0x100) for b in edge for c in edge for d in edge]
    texts += [bytes([a, b, c]) for a in range(0xC0, 0x100) for b in edge for c in edge]
    wrong = []
    for text, got in zip(texts, dump.texts(texts, "repair")):
        try:
            text.decode()
            valid = len(text)
        except UnicodeDecodeError as e:
            valid = e.start
        if got != struct.pack("<I", valid) + text.decode("utf-8", "replace").encode():
            wrong.append(f"{text}: {got}")
    report("UTF-8, valid prefix and repair", len(texts), wrong)


# ---- Charsmaps -------------------------------------------------------------------------------------------------------

def train(**options):
    """The bytes of a tiny model."""
    model = io.BytesIO()
    sentences = ["the quick brown fox jumps over the lazy dog", "caf\u00e9 \ufb01ne \uff76\uff9e \u00bd hello"] * 20
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=model, vocab_size=60,
                                             hard_vocab_limit=False, minloglevel=2, **options)
    return model.getvalue()


def random_rules(r, alphabet, count):
    rules = {}
    for _ in range(count):
        key = "".join(r.choice(alphabet) for _ in range(r.choice((1, 1, 1, 2, 2, 3, 4))))
        rules[key] = "".join(r.choice(alphabet + ["x", "yz", ""]) for _ in range(r.randint(0, 3)))
    return rules


def keys_of_rules(folder, name, rules):
    """A charsmap of one's own that sentencepiece has compiled."""
    path = os.path.join(folder, name + ".tsv")
    with open(path, "w") as f:
        for key, to in rules.items():
            f.write(" ".join(f"{ord(x):X}" for x in key) + "\t" + " ".join(f"{ord(x):X}" for x in to) + "\n")
    return train(normalization_rule_tsv=path)


def cluster_alphabet():
    """Characters of every kind that grapheme boundaries depend on, short ones first of all; where there is no time to
    ask for the kinds, the categories of Python's tables stand for them."""
    table = [unicodedata.category(chr(c)) for c in range(0x110000)] if QUICK else gen_unicode.probe_graphemes()
    r = random.Random(7)
    kinds = {}
    for c in POINTS:
        kinds.setdefault((table[c], len(chr(c).encode())), []).append(chr(c))
    return [r.sample(members, min(len(members), 6)) for members in kinds.values()] + \
        [list("ab\r\n"), list("\u0301\u00a9\u00ae\u200d"), list("\u0915\u094d\u093c"), list("\U0001f1e6\U0001f468"),
         list("\u1100\u1161\u11a8\uac00\uac01")]


def check_map(dump, folder, name, charsmap, model, texts, lines=False):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(charsmap)
    dump.compare(f"{name}, as tokenizers", texts, normalizers.Precompiled(charsmap).normalize_str, "graphemes", path,
                 lines=lines)
    if model:
        reference = sentencepiece.SentencePieceNormalizer(model_proto=model, add_dummy_prefix=False,
                                                          escape_whitespaces=False, remove_extra_whitespaces=False)
        dump.compare(f"{name}, as sentencepiece", texts, reference.Normalize, "longest", path, lines=lines)


def check_charsmaps(dump, folder):
    clusters = cluster_alphabet()
    groups = interesting() + clusters
    count = 10000 if QUICK else 100000
    texts = random_texts(groups, count, SEED + 2) + random_texts(clusters, count, SEED + 3)
    singles = [chr(c) for c in POINTS]
    for name in ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"):
        model = train(normalization_rule_name=name)
        check_map(dump, folder, name, charsmap_of(model), model, texts)
        check_map(dump, folder, name + ", every character", charsmap_of(model), model, singles, lines=True)
    r = random.Random(SEED + 4)
    for i in range(3 if QUICK else 12):
        few = r.sample(clusters, 4)
        alphabet = sorted({x for group in few for x in group if x not in "\r\n\t"} | set("ab\u00e9\u0301"))
        rules = random_rules(r, alphabet, 60)
        model = keys_of_rules(folder, f"rules{i}", {k: v for k, v in rules.items() if v})
        mine = random_texts(few + [list("ab\u00e9\u0301")], count // 10, SEED + 5 + i)
        check_map(dump, folder, f"rules{i}, compiled", charsmap_of(model), model, mine)
        check_map(dump, folder, f"rules{i}, made", gen_unicode.make_charsmap(rules), None, mine)
    # what follows a key within its cluster is lost, so that boundaries show
    for i, key in enumerate("a\u00a9\u00ae\u0915\u1100\u1161\u11a8\uac00\uac01\u0600"):
        charsmap = gen_unicode.make_charsmap({key: "X"})
        mine = [start + chr(c) + key + end for start in ("", "\u0915\u094d", "\u00a9\u200d") for end in "\u0301\u200d"
                for c in POINTS[i::977 if QUICK else 97]]
        mine += [t + key + "\u0301" for t in random_texts(clusters, count // 10, SEED + 30 + i, 5)]
        check_map(dump, folder, f"key U+{ord(key):04X}", charsmap, None, mine)


def main():
    programs = [x for x in sys.argv[1:] if not x.startswith("--")]
    print(f"LEAT_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        dump = Dump(programs[0] if programs else build(folder))
        check_utf8(dump)
        check_classes(dump)
        check_characters(dump)
        check_normalization(dump)
        check_charsmaps(dump, folder)
    if "--tables" in sys.argv:
        for script in ("gen_unicode.py", "gen_properties.py"):
            code = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", script), "--check"]).returncode
            report(f"tables made anew by {script}", 1, ["see above"] if code else [])
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
