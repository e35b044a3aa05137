#!/usr/bin/env python3
"""check_scanners.py [--program PROGRAM] [--strings N] [--quick] [--seed N] [--only WORD] [FILE...]

Compares leat's pretokens with those of tiktoken and tokenizers: every hand-made scanner, a list of patterns through the
general path, and the simple pre-tokenizers; whole and in random windows; on the texts of FILE... (JSON lines with a
member "text", or .zst of that) and on N random strings of nasty characters each. Any difference is printed, and the
exit status is then 1. 77: a reference is not installed. The last line is "N passed, N failed, N skipped", one for each
scanner, pattern or pre-tokenizer, and one for all random expressions. --quick tries few of these, and asks the simple
pre-tokenizers, whose tests of characters check_unicode.py compares one by one, for the first characters and a tenth of
the others, drawn by the seed.

tokenizers shows its pretokens. tiktoken does not: it is given a vocabulary of all single bytes and all pairs of bytes
with ranks in a random order, so that a boundary between pretokens, or its absence, changes the tokens around it.
A reference's answers serve for the text whole and in windows.

PROGRAM is pretokens_dump.c, built; without it, cc builds it here.
"""
import argparse
import functools
import json
import os
import random
import struct
import subprocess
import sys

os.environ["RUST_BACKTRACE"] = "0"
try:
    import tiktoken
    from tokenizers import Regex, pre_tokenizers as pre
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

# ---- Patterns ---------------------------------------------------------------------------------------------------

A = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
X = r"[^\r\n\p{L}\p{N}]?"
P = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
O = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
W = r"\s*[\r\n]+|\s+(?!\S)|\s+"
U = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
D = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
UK = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
DK = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = rf"{A}|{X}\p{{L}}+|\p{{N}}{{1,3}}|{P}|{W}"
QWEN2 = rf"{A}|{X}\p{{L}}+|\p{{N}}|{P}|{W}"
QWEN35 = rf"{A}|{X}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{W}"
O200K = rf"{X}{U}*{D}+{A}?|{X}{U}+{D}*{A}?|\p{{N}}{{1,3}}|{O}|{W}"
TEKKEN = rf"{X}{U}*{D}+|{X}{U}+{D}*|\p{{N}}|{O}|{W}"
KIMI = rf"[\p{{Han}}]+|{X}{UK}*{DK}+{A}?|{X}{UK}+{DK}*{A}?|\p{{N}}{{1,3}}|{P}|{W}"
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]
TIKTOKEN_R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
TIKTOKEN_CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
                   r"\s*[\r\n]|\s+(?!\S)|\s")
TIKTOKEN_CL100K_OLD = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|"
                       r"\s*[\r\n]|\s+(?!\S)|\s+")

SCANNERS_ONIGURUMA = {"gpt2": [GPT2], "llama3": [LLAMA3], "qwen2": [QWEN2], "qwen3.5": [QWEN35], "o200k": [O200K],
                      "tekken": [TEKKEN], "kimi": [KIMI], "deepseek": DEEPSEEK}
SCANNERS_RUST = {"gpt2": TIKTOKEN_R50K, "cl100k": TIKTOKEN_CL100K, "llama3": TIKTOKEN_CL100K_OLD, "qwen2": QWEN2,
                 "qwen3.5": QWEN35, "o200k": O200K, "tekken": TEKKEN, "kimi": KIMI}

# For the general path. Those of real tokenizers come first.
BOTH = [
    GPT2, LLAMA3, QWEN2, QWEN35, O200K, TEKKEN, KIMI, *DEEPSEEK,
    r"[\r\n]", r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯ]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", "[一-龥ࠀ-一가-퟿]+", r"\p{N}+",
    r"\p{N}", r"[0-9]", r"[0-9][0-9][0-9]", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\s*[\r\n]+|\s+(?!\S)|\s+", r"\d+",
    r"(?=(\d{3})+(?!\d))", r" ?\p{L}+| ?\p{N}+", r"\d{1,2}", r"\d{3}(?=\d)", r"[\p{Han}]+", r"\p{Han}",
    r"\w+|[^\w\s]+", r"[^\s\p{L}\p{N}]+", r"\S+", r"\s", r"\S+\s?", r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", r"_", r"\.|,|;",
    r"(?i:[a-z]+)", r"(?i)don't|[^d]+", r"(?i:[^s]+)", r"(?i)\w+ing\b|\s", r"\b", r"\B", r"\bt", r"^", r"$", r"^a|b$",
    r"\A.", r".\z", r".+", r"(?:.|\n)", r".+?", r"a*", r"\s*", r"x?", r"", r"(?:)", r"(a|b)+?c", r"\p{L}++\s*+",
    r"(?>\s+)\S", r"\p{L}{2,3}?", r"[^\p{L}]{2,}", r"[\p{Punct}]+", r"[\p{L}&&[^a-z]]+", r"[[a-f][0-9]]+",
    r"[a-w&&[^c-g]z]+",
    r"[\p{L}\p{M}]+", r"[^\p{L}\p{M}\p{N}\s]", r"\P{L}+", r"\p{^L}+", r"[\s\S]", r"[\d\s]+", r"[^\d\s]+",
    r"[-a]+", r"[a-]+", r"[\]\[]+", r"[\\/]+", r"\x41|\x{e9}+", r"\t|\n|\r|\f|\v|\e|\a", r"(?<=\s)\S+",
    r"(?<!\p{L})\p{L}",
    r"(?<=a|bc)\w", r"(?=\p{Lu})", r"(?!\s).", r"\R", r"\R+\s*", r"\h+", r"\H", r"\O", r"\N+", r"(?#comment)a+",
    r"(?<name>\s)\S", r"((a)|(b))+", r"a|ab|abc", r"(?:a|b|\s)+s", r"a{2}", r"a{,2}b", r"a{2,}", r"a{b", r"a{1,2,3}",
    r"{", r"}", r"\{\}", r"\p{Z}+", r"\p{Zs}", r"\p{C}", r"\p{Cc}+", r"\p{Lu}\p{Ll}*", r"\p{Lt}|\p{Lm}", r"\p{Nd}+",
    r"\p{Punct}", r"\p{Space}+", r"\p{Word}+", r"[\p{Word}]+", r"[\w]+", r"[^\w]", r"[\W\d]+", r"[[:space:]]+",
    r"[[:digit:]]+", r"[[:punct:]]+", r"[[:word:]]+", r"[[:^space:]]+", r"[[:cntrl:]]", r"[[:blank:]]",
    r"[[:xdigit:]]+", r"[[:ascii:]]+", r"\p{ASCII}+", r"\p{Any}", r"[^\n]", r"'(?i:s|t|ll)", r"(?i:k+)\p{N}?",
    r"\p{Greek}+", r"[\p{Hiragana}\p{Katakana}\u30fc]+", r"\p{Hangul}+|\p{Latn}+", r"[\p{Thai}\p{Lao}]",
    r"\p{Old_Italic}", r"[\p{Latin}\p{Common}]+", r"\P{Cyrillic}+", r"\p{Mn}+", r"\p{Mc}|\p{Me}", r"[\p{Pd}\p{Pc}]",
    r"\p{Ps}|\p{Pe}", r"\p{Sc}", r"\p{Sm}+", r"\p{So}", r"\p{Cf}", r"\p{Cn}", r"\p{Co}", r"\p{Nl}|\p{No}",
    r"\p{Alphabetic}+", r"\p{Uppercase}", r"\p{Lower}+", r"\p{Emoji}", r"\p{Extended_Pictographic}+",
    r"\p{Ideographic}+", r"[^\p{Inherited}]", r"\p{Assigned}",
    r"(?i:[k-s]+)", r"\Z", r"\s+\Z", r"(?:\s|\S)",
]
ONIGURUMA = [r"a(?i)b|c", r"(?m:.+)", r"a{2}?", r"a{1,2}+b", r"a++?", r"(?:a+)?+", r"\u0041|\u00e9", r"\s+$",
             r"^\s*", r"\p{M}+", r"a{3,}{2}", r"[a-c[x-z]&&[^by]]+", r"\'|\"|\/", r"(?'n'a)b",
             r"[[:alpha:]]+", r"[[:alnum:]]+", r"[[:upper:]][[:lower:]]*", r"[[:graph:]]+", r"[[:print:]]+",
             r"[[:^graph:]]", r"\141|\60+|\01[\1012]", r"\cA|\C-\M-a|\M-\c?|[\ca-\c_]+", r"\M-`|\x4|(?i)\163",
             r"[a-c-e]+", r"[[a]--/]", r"[]^\k\R-]+|\k|\q\g?", r"[!-&&\W]"]
RUST = [r"\pL\pN?", r"a(?i)b|c", r"(?s:.+)", r"(?m)^.*$", r"(?m:$)", r"a{2}?", r"a{1,2}+b", r"[\p{L}--[a-z]]+",
r"\u{41}|\u00e9",
        r"\p{Script=Han}+", r"\p{sc=Grek}", r"\p{gc=Lu}", r"\p{Line_Separator}", r"(?P<n>a)b", r"[[:alpha:]]+",
        r"[[:upper:]][[:lower:]]+", r"(?i)st|ss",
        r"\s++$", r"\U0001F600|\u{1F468}", r"(?i:k)", r"(?is:S.)", r"[a-z&&[^aeiou]]+"]
# What must be refused rather than done wrongly.
REFUSED_ONIGURUMA = [r"\X", r"(a)\1", r"\G", r"\K", r"(?~a)", r"(?(1)a)", r"(?i:ss)", r"(?i:fi)", r"(?i:é)",
                     r"[[:latin:]]", r"\p{InBasicLatin}", r"\p{Script=Greek}", r"\y", r"(?<a>b)\k<a>", r"[]",
                     r"(", r")", r"a{100000}", r"*a", r"(?i:[à-ü])", r"\xc3", r"(?W:\w)", r"\1", r"[a-\d]", r"\g<0>"]
REFUSED_RUST = [r"(a)\1", r"\X", r"\G", r"\K", r"[[a]~~[b]]", r"(?x: a)", r"(?i:\p{Lu})", r"\p{scx=Greek}",
                r"\p{Block=Greek}", r"a**", r"(?U:a+)", r"\<"]

# What random expressions for Oniguruma are made of.
ATOMS = list("abskSK1 .-^$,'\n{}]:#\u00e9\u4e00") + r"""
    \s \S \w \W \d \D \h \H \b \B \A \z \Z \R \N \O \p{L} \P{L} \p{Lu} \p{^N} \p{Han} \p{M} \x41 \x{e9} \u00e9 \t \n
    \r\n \. \\ \/ \- \e \a \v \f \0 \01 \141 \o{141} \o \q \L \U \Q \c \ca \_ \@ \< \"
    {1 && (?#x) (?i) (?m) (?i-m)""".split()
ITEMS = list("abskSK1 .^$,'-&:~[]\u00e9\u017f") + r"""
    a-z 0-9 A-K a- -a -- && ^ \s \S \w \W \d \h \p{L} \P{N} \p{^L} [:alpha:] [:^space:] [:punct:] [:word:] \] \[ \- \\
    \b \x41 \x{e9} \n \e \R \A \o{113} \101 \c \ca \t-\r a-\x7a [a-f] [^a-f] [: :] [=a=]""".split()
REPEATS = [""] * 9 + """
    ? * + ?? *? +? ?+ *+ ++ {2} {1,2} {,2} {1,} {2}? {1,2}? {1,2}+ {0} ** +* ?* {2}{2} {,} {3}*?""".split()
OPENINGS = r"( (?: (?: (?= (?! (?<= (?<! (?> (?i: (?i: (?-i: (?m: (?<n> (?i-m:".split()


def random_class(rng, depth=0, negated=False):
    """A negated class has no negated one in it: to Oniguruma [^[^\\P{L}\\P{N}]] is ASCII."""
    sign = "" if negated else rng.choice(("", "^"))
    items = [random_class(rng, depth + 1, negated or bool(sign)) if depth < 3 and rng.random() < 0.2 else
             rng.choice(ITEMS) for _ in range(rng.randint(1, 4))]
    return "[" + sign + "".join(items) + "]"


def random_expression(rng, depth=0):
    out = ""
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if kind < 0.25:
            out += random_class(rng)
        elif kind < 0.45 and depth < 3:
            out += rng.choice(OPENINGS) + random_expression(rng, depth + 1) + ")"
        else:
            out += rng.choice(ATOMS)
        out += rng.choice(REPEATS)
    return out + ("|" + random_expression(rng, depth + 1) if depth < 3 and rng.random() < 0.25 else "")


# ---- Texts ------------------------------------------------------------------------------------------------------

NASTY = (
    list("abcstdmlrvexSTDMLRVEAZIkK019_/\\-.,!?()[]{}|^$*+~`\"#%&=<>@:;") + list("'''''''      \n\n\r\t") +
    ["'s", "'S", "'ll", "'Re", "'VE", "'\u017f", "\u2019s", "\u02bcs", "\uff07s", "\u017f", "\u212a", "\u0149",
    "\u00df",
     "\ufb06", "\u1e9e", "\r\n", "\n\n", "  ", "   ", "\n ", " \n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\xa0",
     "\u1680", "\u2003", "\u202f", "\u3000", "\u200b", "\u200c", "\u200d", "\ufeff", "\u180e", "\u2060", "\x00", "\x01",
     "\x1f", "\x7f", "\xb2", "\xb9", "\xbd", "\u0660", "\u0966", "\u0e53", "\u2167", "\u2460", "\u3007", "\u4e00",
     "\u4dff", "\u9fa5", "\u9fa6", "\u9fff", "\u3040", "\u3042", "\u3097", "\u3099", "\u309b", "\u309f", "\u30a0",
     "\u30a2", "\u30fb", "\u30fc", "\u30ff", "\u3100", "\u3005", "\u302a", "\u2e80", "\u2f00", "\uf900", "\U00020000",
     "\uac00", "\u1100", "\u0301", "\u0300", "\u20dd", "\u093e", "\u0bcd", "\ufe0f", "\u01c5", "\u1f88", "\u02b0",
     "\u02bc", "\u00aa", "\u05d0", "\u0627", "\u0e01", "\u10d0", "\u1c90", "\u13a0", "\uab70", "\u00e9", "\u00c9",
     "\u00e5", "\u212b", "\u0416", "\u0436", "\u03a3", "\u03c2", "\u0130", "\u0131", "\u0345", "\u24b6", "\u2160",
     "\U0001f600", "\U0001f468", "\U0001f468\u200d\U0001f469", "\U0001f1e9", "\u2764\ufe0f", "\u00a9", "\u20ac",
     "\u3001", "\u3002", "\uff01", "\uff11", "\uff21", "\uff41", "\u061d", "\u166d", "\U000e0001", "\ue000",
     "\U0010ffff", "\ufffd", "\ufffe", "\u0378", "\U0001e900", "\U0001e922", "\U00016ff4", "\U00011de0", "\u1c89",
     "\ua7cb", "\U00010d50", "\u00b5", "\u2126", "\u03b1", "\u0eab", "\U00010300", "\u00ad", "\u0903",
     "\U0001e4d0", "\U00031350", "\U00010d4a"])


def random_strings(count, rng):
    out = []
    for _ in range(count):
        alphabet = NASTY if rng.random() < 0.5 else rng.sample(NASTY, rng.randint(1, 12))
        parts = []
        for _ in range(rng.randint(1, 24)):
            c = rng.choice(alphabet) if rng.random() < 0.97 else chr(rng.choice(
                [rng.randrange(0xd800), rng.randrange(0xe000, 0x20000), rng.randrange(0x20000, 0x110000)]))
            parts.append(c * (1 if rng.random() < 0.8 else rng.randint(2, 12)))
        out.append("".join(parts))
    return out


def read_texts(path):
    if path.endswith(".zst"):
        data = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    else:
        data = open(path, "rb").read()
    return [json.loads(line)["text"] for line in data.splitlines() if line.strip()]


def build():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    if subprocess.run(["pkg-config", "--exists", "libpcre2-8"]).returncode != 0:
        print("skipped: no libpcre2-8")
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(77)
    program = "build/tests/conformance/pretokens_dump"
    subprocess.run(["make", "-s", "-C", root, program], check=True)
    return os.path.join(root, program)


# ---- Ours -------------------------------------------------------------------------------------------------------

class Refused(Exception):
    pass


class GaveUp(SystemExit):
    """On a text that needs too many steps."""


def ours(program, words, texts, window=None):
    coded = [t.encode() for t in texts]
    data = b"".join(struct.pack("<I", len(t)) + t for t in coded)
    command = [program] + (["-w", str(window)] if window is not None else []) + words
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode == 4:
        raise GaveUp(f"{command}: gave up")
    if done.returncode == 3:
        raise Refused(done.stdout.decode(errors="replace").strip())
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}: {done.stderr.decode()}")
    numbers = memoryview(done.stdout).cast("I")
    at, out = 0, []
    for text in coded:
        n = numbers[at]
        out.append([text[numbers[at + 1 + 2 * i]:numbers[at + 2 + 2 * i]] for i in range(n)])
        at += 1 + 2 * n
    if at != len(numbers):
        raise SystemExit(f"{command}: more answers than texts")
    return out


# ---- The references ---------------------------------------------------------------------------------------------

@functools.lru_cache
def pair_ranks(seed):
    rng = random.Random(seed)
    pairs = [bytes([a, b]) for a in range(256) for b in range(256)]
    rng.shuffle(pairs)
    ranks = {bytes([i]): i for i in range(256)}
    ranks.update((p, 256 + i) for i, p in enumerate(pairs))
    return ranks


def ordinary(encoding, texts):
    """Ids, or None where the reference panics, as it does on empty ones. A panic is no Exception, and prints itself:
    not now."""
    def one(text):
        try:
            return encoding.encode_ordinary(text)
        except BaseException as e:
            if type(e).__name__ != "PanicException":
                raise
            return None

    sys.stderr.flush()
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        return [one(t) for t in texts]
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def pair_encoding(pattern, seed):
    return tiktoken.Encoding("pairs", pat_str=pattern, mergeable_ranks=pair_ranks(seed), special_tokens={})


class Checker:
    def __init__(self, program, seed):
        self.program, self.seed, self.failures, self.compared = program, seed, 0, 0
        self.passed = self.failed = self.refused = self.seen = 0
        self.reported = {}

    def count(self):
        """What was compared since the last call is one case."""
        self.passed += self.failures == self.seen
        self.failed += self.failures != self.seen
        self.seen = self.failures

    def report(self, name, text, want, got):
        self.failures += 1
        self.reported[name] = self.reported.get(name, 0) + 1
        if self.reported[name] <= 2:
            print(f"DIFFERENT {name}\n  text {text[:300]!r}\n  want {want[:60]}\n  got  {got[:60]}")

    def same(self, name, words, texts, windowed, step):
        """Against a pre-tokenizer of tokenizers."""
        want = [[p.encode() for p, _ in step.pre_tokenize_str(t)] for t in texts]
        for how, asked, wanted, window in self.ways(name, texts, windowed, want):
            got = ours(self.program, words, asked, window)
            for t, w, g in zip(asked, wanted, got):
                if w != g:
                    at = next((i for i, (a, b) in enumerate(zip(w, g)) if a != b), min(len(w), len(g)))
                    self.report(how, t, w[max(0, at - 2):at + 4], g[max(0, at - 2):at + 4])
        self.count()

    def same_tiktoken(self, name, words, texts, windowed, encoding):
        """Returns on how many texts tiktoken panics: these are not compared."""
        want, memo = ordinary(encoding, texts), {}
        for how, asked, wanted, window in self.ways(name, texts, windowed, want):
            for t, pretokens, w in zip(asked, ours(self.program, words, asked, window), wanted):
                ids = []
                for p in pretokens:
                    if p not in memo:
                        if len(memo) > 1000000:
                            memo.clear()
                        memo[p] = encoding._core_bpe.encode_single_piece(p)
                    ids.extend(memo[p])
                if w is not None and w != ids:
                    self.report(how, t, ["(tiktoken)"], pretokens)
        self.count()
        return want.count(None)

    def ways(self, name, texts, windowed, want):
        """Whole, then the last `windowed` texts in windows."""
        self.compared += len(texts) + windowed
        yield name, texts, want, None
        yield name + ", windows", texts[len(texts) - windowed:], want[len(want) - windowed:], self.seed


# ---- What is compared -------------------------------------------------------------------------------------------

BEHAVIORS = ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")
SNAKE = dict(zip(BEHAVIORS, ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous")))


def check_named(check, wanted, texts, windowed):
    """The hand-made scanners."""
    for name, patterns in SCANNERS_ONIGURUMA.items():
        if wanted("scanner " + name + " oniguruma"):
            step = pre.Sequence([pre.Split(Regex(p), "isolated") for p in patterns])
            check.same(f"scanner {name} oniguruma", ["scanner", name, "oniguruma"], texts, windowed, step)
            print(f"scanner {name} oniguruma: {check.compared} texts so far, {check.failures} differ", flush=True)
    for name, pattern in SCANNERS_RUST.items():
        if wanted("scanner " + name + " rust"):
            encoding = pair_encoding(pattern, check.seed)
            check.same_tiktoken(f"scanner {name} rust", ["scanner", name, "rust"], texts, windowed, encoding)
            print(f"scanner {name} rust: {check.compared} texts so far, {check.failures} differ", flush=True)


def check_oniguruma(check, texts, rng):
    """The general path; returns how many were tried."""
    tried = 0
    for pattern in BOTH + ONIGURUMA:
        behavior, invert = rng.choice(BEHAVIORS), rng.random() < 0.5
        for b, i in sorted({("Isolated", False), ("Removed", True), (behavior, invert)}):
            step = pre.Split(Regex(pattern), SNAKE[b], invert=i)
            tried += 1
            try:
                check.same(f"pattern {pattern!r} oniguruma {b} {i}", ["pattern", pattern, "oniguruma", b, str(int(i))],
                           texts, len(texts), step)
            except Refused as why:
                check.refused += 1
                print(why)
    return tried


def check_random(check, count, texts, rng):
    """Random expressions that both take, on texts that neither gives up, whose panic is a BaseException."""
    taken = 0
    for _ in range(count):
        pattern = random_expression(rng)
        try:
            step = pre.Split(Regex(pattern), "isolated")
            want = [[p.encode() for p, _ in step.pre_tokenize_str(t)] for t in texts]
        except KeyboardInterrupt:
            raise
        except BaseException:
            continue
        try:
            got = ours(check.program, ["pattern", pattern, "oniguruma", "Isolated", "0"], texts)
        except (Refused, GaveUp):
            continue
        taken += 1
        check.compared += len(texts)
        for t, w, g in zip(texts, want, got):
            if w != g:
                check.report(f"random expression {pattern!r}", t, w, g)
    print(f"random expressions: {count} tried, {taken} compared")
    if taken < count / 4:
        check.report("random expressions", "", ["a quarter of them compared"], [taken])
    check.count()


def check_rust(check, texts):
    tried = 0
    for pattern in BOTH + RUST:
        tried += 1
        try:
            encoding = pair_encoding(pattern, check.seed)
        except ValueError as e:
            print(f"tiktoken does not take {pattern!r}: {str(e)[:80]!r}")
            continue
        try:
            words = ["pattern", pattern, "rust", "Removed", "1"]
            panics = check.same_tiktoken(f"pattern {pattern!r} rust", words, texts, len(texts), encoding)
            if panics:
                print(f"tiktoken panics on {panics} of {len(texts)} texts with {pattern!r}")
        except Refused as why:
            check.refused += 1
            print(why)
    return tried


def check_refused(check):
    for dialect, patterns in (("oniguruma", REFUSED_ONIGURUMA), ("rust", REFUSED_RUST)):
        for pattern in patterns:
            try:
                ours(check.program, ["pattern", pattern, dialect, "Isolated", "0"], ["a"])
                check.report(f"pattern {pattern!r} {dialect}", "", ["refused"], ["taken"])
            except Refused:
                pass
            check.count()


def check_simple(check, texts, characters):
    texts = ["".join(characters[i:i + 1000]) for i in range(0, len(characters), 1000)] + texts
    steps = [(["whitespace"], pre.WhitespaceSplit()), (["words"], pre.Whitespace())]
    steps += [(["digits", str(int(i))], pre.Digits(i)) for i in (False, True)]
    steps += [(["punctuation", b], pre.Punctuation(SNAKE[b])) for b in BEHAVIORS]
    for string in [" ", "a", "  ", "\n\n", "\u2581", "ab", "'s", "\u4e00", ""]:
        steps += [(["string", string, b, str(int(i))], pre.Split(string, SNAKE[b], invert=i))
                  for b in BEHAVIORS for i in (False, True)]
    for words, step in steps:
        check.same(str(words), words, texts, len(texts), step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--program")
    parser.add_argument("--strings", type=int, default=20000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("LEAT_TEST_SEED", "1"), 0))
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print(f"LEAT_TEST_SEED={args.seed}")
    check = Checker(args.program or build(), args.seed)
    files = [t for f in args.files for t in read_texts(f)]
    strings = random_strings(args.strings, rng)
    few = random_strings(max(args.strings // 20, 300), rng)

    def wanted(name):
        return args.only in name

    check_named(check, wanted, files + strings, len(strings))
    tried = check_oniguruma(check, few, rng) if wanted("pattern oniguruma") else 0
    tried += check_rust(check, few) if wanted("pattern rust") else 0
    print(f"patterns: {tried} tried, {check.refused} refused; {check.compared} texts so far, {check.failures} differ")
    if wanted("random"):
        check_random(check, 1000 if args.quick else 20000, few[:40], random.Random(args.seed))
    if wanted("refused"):
        check_refused(check)
    if wanted("simple"):
        every = [chr(c) for c in range(0x110000) if not 0xd800 <= c < 0xe000]
        check_simple(check, few, every[:0x250] + rng.sample(every, len(every) // 10) if args.quick else every)
    print(f"{check.compared} texts compared, {check.failures} differ")
    print(f"{check.passed} passed, {check.failed} failed, {check.refused} skipped")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
