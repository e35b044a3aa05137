#!/usr/bin/env python3
"""gen_unicode.py [--check]: makes the Unicode tables of tokenize_tools/tokenizer/ by asking the reference libraries.

A class, a normal form or a grapheme boundary means in leat what it means in the library that defines a tokenizer. So
the tables do not come from the Unicode database, of which every library has another version, but from the libraries:
each of the 1,114,112 - 2,048 characters is put before them, and what they do with it is written down. --check makes the
tables anew and compares them with the files.

Needs the packages tiktoken and tokenizers, in the versions that the files' heads name.
"""
import os
import struct
import sys
import unicodedata
from importlib.metadata import version

import tiktoken
from c_arrays import array, braced, lines_of, two_stage
from tokenizers import Regex, normalizers, pre_tokenizers

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tokenize_tools", "tokenizer",
                      "unicode")
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ALL_TEXT = "".join(map(chr, POINTS))
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

# ---- Classes of regular expressions ----------------------------------------------------------------------------------

# in the order of the bits in unicode.h
CLASSES = (r"\p{Lu}", r"\p{Ll}", r"\p{Lt}", r"\p{Lm}", r"\p{Lo}", r"\p{M}", r"\p{N}", r"\p{P}", r"\p{S}", r"\s",
           r"\p{Han}", r"\w", r"\p{Nd}")
LETTERS = CLASSES[:5]


def rust_matches(pattern, text=ALL_TEXT):
    """Returns the characters that matches of the pattern cover in tiktoken's engine, which drops all others."""
    bytes_only = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=bytes_only, special_tokens={})
    return bytes(encoding.encode_ordinary(text)).decode()


def oniguruma_drops(pattern, text=ALL_TEXT):
    """Returns the characters that no match of the pattern covers in the engine of tokenizers."""
    return "".join(piece for piece, _ in pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str(text))


def rust_class(pattern):
    return set(map(ord, rust_matches(f"(?:{pattern})+")))


def oniguruma_class(pattern):
    return set(POINTS).difference(map(ord, oniguruma_drops(f"(?:{pattern})+")))


def probe_classes(ask):
    """Returns a list of class words by code point, whose bits are in the order of CLASSES."""
    words = [0] * 0x110000
    sets = [ask(pattern) for pattern in CLASSES]
    for bit, members in enumerate(sets):
        for c in members:
            words[c] |= 1 << bit
    if set().union(*sets[:len(LETTERS)]) != ask(r"\p{L}"):
        sys.exit(r"\p{L} is not the union of its parts")
    for pattern, wanted in ((r"[^\s\p{L}\p{N}]", set(POINTS) - ask(r"\p{L}") - sets[6] - sets[9]), (r"\d", sets[12]),
                            (r"\S", set(POINTS) - sets[9]), (".", set(POINTS) - {10})):
        if ask(pattern) != wanted:
            sys.exit(f"{pattern} is not what its parts say")
    return words


def check_folding(ask):
    """Checks that (?i:'s) matches s, S and U+017F, and other letters of contractions in two cases only, as scanners
    assume."""
    for letter in "stremvld":
        wanted = {ord(letter), ord(letter.upper())} | ({0x17F} if letter == "s" else set())
        if ask(f"(?i:{letter})") != wanted:
            sys.exit(f"(?i:{letter}) matches other characters than expected")
    if ask("(?i:'s|'t|'re|'ve|'m|'ll|'d)"):
        sys.exit("a single character matches a contraction")


# ---- What tokenizers asks of single characters -----------------------------------------------------------------------

def probe_character_tests():
    """Returns bits as in unicode.h: numeric, punctuation, white space, mark, control, nonspacing mark."""
    # A numeric character becomes a piece of its own; at least two letters stand between them.
    numeric = {ord(piece) for piece, _ in pre_tokenizers.Digits(True).pre_tokenize_str("ab".join(ALL_TEXT) + "ab")
               if len(piece) == 1}

    def dropped(pre_tokenizer):
        kept = "".join(piece for piece, _ in pre_tokenizer.pre_tokenize_str(ALL_TEXT))
        return set(POINTS).difference(map(ord, kept))

    def emptied(normalizer):
        return {c for c in POINTS if normalizer.normalize_str(chr(c)) == ""}

    space = emptied(normalizers.Strip())
    if space != dropped(pre_tokenizers.WhitespaceSplit()):
        sys.exit("Strip and WhitespaceSplit disagree about white space")
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True,
                                         lowercase=False)
    sets = (numeric, dropped(pre_tokenizers.Punctuation("removed")), space, emptied(normalizers.StripAccents()),
            emptied(bert), emptied(accents))
    words = [0] * 0x110000
    for bit, members in enumerate(sets):
        for c in members:
            words[c] |= 1 << bit
    return words


def probe_scripts():
    """Returns the scripts of UnicodeScripts, numbered in order of appearance. 0 is a character that joins any script,
    which the pre-tokenizer drops if it stands alone."""
    pieces = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    rest = [c for c in POINTS if pieces(chr(c))]
    table, first = [0] * 0x110000, []
    runs = [piece for piece, _ in pieces("".join(map(chr, rest)))]
    if "".join(runs) != "".join(map(chr, rest)):
        sys.exit("UnicodeScripts drops a character that it keeps alone")
    for run in runs:
        number = next((i for i, c in enumerate(first) if len(pieces(c + run[0])) == 1), len(first))
        first[number:number + 1] = [run[0]] if number == len(first) else [first[number]]
        for c in run:
            table[ord(c)] = number + 1
    return table


# ---- Normal forms ----------------------------------------------------------------------------------------------------

HANGUL = range(0xAC00, 0xD7A4)
VOWELS, TAILS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)
NOT_YES, BOUNDARY = 8, 12  # first bit of each property, which has a bit per form


class Normalization:
    """The tables of UAX 15, derived from tokenizers' four normalizers."""

    def __init__(self):
        self.apply = {form: getattr(normalizers, form)().normalize_str for form in FORMS}
        self.of = {form: {c: text for c in POINTS if (text := self.apply[form](chr(c))) != chr(c)} for form in FORMS}
        self.check_hangul()
        self.classes = self.probe_combining_classes()
        self.pairs = self.probe_compositions()
        self.words = self.property_words()

    def check_hangul(self):
        for i, c in enumerate(HANGUL):
            parts = chr(0x1100 + i // 588) + chr(0x1161 + i % 588 // 28) + (chr(0x11A7 + i % 28) if i % 28 else "")
            if any(self.of[form].pop(c) != parts for form in ("NFD", "NFKD")) or self.apply["NFC"](parts) != chr(c):
                sys.exit("Hangul syllables are not composed as expected")

    def probe_combining_classes(self):
        """Returns the combining classes. Two marks after a letter change places if the first has the greater class. The
        numbers come from Python's newer table; each mark is compared with one of each class, to check that both
        agree."""
        nfd = self.apply["NFD"]

        def changes_places(first, second):
            return nfd("a" + first + second) == "a" + second + first != "a" + first + second

        whole = [chr(c) for c in POINTS if c not in self.of["NFD"] and c not in HANGUL]
        marks = [c for c in whole if changes_places("\u0345", c) or changes_places(c, "\u0334")]
        samples = {}
        for c in marks:
            samples.setdefault(unicodedata.combining(c), c)
        for c in marks:
            mine = unicodedata.combining(c)
            for other, sample in samples.items():
                if changes_places(c, sample) != (mine > other) or changes_places(sample, c) != (mine < other):
                    sys.exit(f"U+{ord(c):04X} is not sorted as of class {mine}")
        if 0 in samples:
            sys.exit("a mark has class 0")
        return {ord(c): unicodedata.combining(c) for c in marks}

    def probe_compositions(self):
        nfc, nfd = self.apply["NFC"], self.apply["NFD"]
        pairs = {}
        for c, parts in self.of["NFD"].items():
            if nfc(chr(c)) == chr(c):
                first, second = nfc(parts[:-1]), parts[-1]
                if len(first) != 1 or nfc(first + second) != chr(c):
                    sys.exit(f"U+{c:04X} has no pair that makes it")
                pairs[ord(first), ord(second)] = c
        seconds = {b for _, b in pairs}
        for a in {a for a, _ in pairs} | set(pairs.values()):
            for b in seconds:
                in_order = nfd(chr(a) + chr(b)) == nfd(chr(a)) + nfd(chr(b))
                if in_order and (len(nfc(chr(a) + chr(b))) == 1) != ((a, b) in pairs):
                    sys.exit(f"U+{a:04X} U+{b:04X} is composed, or not, against the table")
        return pairs

    def property_words(self):
        """Returns words: the low byte is the combining class, then come "not always in this form" and "a boundary lies
        before" for each form."""
        seconds = {b for _, b in self.pairs} | set(VOWELS) | set(TAILS)
        words = []
        for c in range(0x110000):
            word = self.classes.get(c, 0)
            for bit, form in enumerate(FORMS):
                composes = form in ("NFC", "NFKC")
                first = ord(self.of["NFKD" if "K" in form else "NFD"].get(c, chr(c))[0])
                no = c in self.of[form] or not composes and c in HANGUL
                maybe = composes and c in seconds
                starts = not self.classes.get(first) and not (composes and first in seconds)
                word |= (no or maybe) << NOT_YES + bit | starts << BOUNDARY + bit
            words.append(word)
        return words

    def inert_leads(self, form):
        """Returns for each first byte of UTF-8 the length if no character that begins with it ever changes or moves,
        else 0."""
        mask = 1 << NOT_YES + FORMS.index(form) | 0xFF
        lengths = [1] * 0x80 + [0] * 0x80
        for lead in range(0xC2, 0xF5):
            length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            first = {2: lead - 0xC0 << 6, 3: lead - 0xE0 << 12, 4: lead - 0xF0 << 18}[length]
            last = min(first + (1 << 6 * (length - 1)), 0x110000)
            if not any(word & mask for word in self.words[first:last]):
                lengths[lead] = length
        return lengths


COMPOSITION_SLOTS = 2048


def composition_slot(a, b):
    return ((a * 0x9E3779B1 ^ b * 0x85EBCA6B) & 0xFFFFFFFF) >> 21


def composition_table(pairs):
    """Returns a table with open addressing; a collision takes the next slot."""
    slots = [(0, 0, 0)] * COMPOSITION_SLOTS
    for (a, b), c in sorted(pairs.items()):
        at = composition_slot(a, b)
        while slots[at][2]:
            at = (at + 1) % COMPOSITION_SLOTS
        slots[at] = a, b, c
    return slots


def decomposition_pool(normal):
    """Returns all sequences, each a word for its length, then a word class << 24 | code point for each character."""
    pool, places = [0], {}
    offsets = []
    for form in ("NFD", "NFKD"):
        table = [0] * 0x110000
        for c, text in sorted(normal.of[form].items()):
            if text not in places:
                places[text] = len(pool)
                pool.append(len(text))
                pool.extend(normal.classes.get(ord(x), 0) << 24 | ord(x) for x in text)
            table[c] = places[text]
        offsets.append(table)
    return pool, offsets


def probe_lowercase():
    """Returns code points by the number that is added to them. normalize_unicode.c names the only character that
    becomes two."""
    lower = normalizers.Lowercase().normalize_str
    to = {c: text for c in POINTS if (text := lower(chr(c))) != chr(c)}
    if to.pop(0x130) != "i\u0307" or any(len(text) != 1 for text in to.values()):
        sys.exit("another character than U+0130 becomes two in lower case")
    if lower("\u0391\u03a3") != "\u03b1\u03c3":
        sys.exit("the final sigma is treated apart")
    deltas = [0] + sorted({ord(text) - c for c, text in to.items()})
    table = [deltas.index(ord(to[c]) - c) if c in to else 0 for c in range(0x110000)]
    return table, deltas


# ---- Grapheme clusters -----------------------------------------------------------------------------------------------

def make_charsmap(rules):
    """Returns a precompiled charsmap of a dict of strings, as sentencepiece stores it: u32 size of the trie, double
    array, replacements that end in NUL."""
    pool, values, units, taken = b"", {}, {0: 0}, {0}
    for to in rules.values():
        if to not in values:
            values[to] = len(pool)
            pool += to.encode() + b"\0"
    root = {}
    for key, to in rules.items():
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = values[to]
    # A unit's label alone tells its parent, so each node needs a base of its own.
    todo, bases = [(0, root)], set()
    while todo:
        at, node = todo.pop()
        base = len(bases) + 1
        while base in bases or any(base ^ label in taken for label in node):
            base += 1
        bases.add(base)
        taken.update(base ^ label for label in node)
        offset = at ^ base
        assert offset < 1 << 21
        units[at] = units[at] & 0xFF | offset << 10 | (0x100 if 0 in node else 0)
        for label, child in node.items():
            units[base ^ label] = label or 1 << 31 | child
            if label:
                todo.append((base ^ label, child))
    size = (max(units) | 255) + 1
    return struct.pack(f"<I{size}I", 4 * size, *(units.get(i, 0) for i in range(size))) + pool


GRAPHEME_CATEGORIES = ("ANY", "CR", "LF", "CONTROL", "EXTEND", "ZWJ", "SPACING_MARK", "PREPEND", "L", "V", "T", "LV",
                       "LVT", "PICTOGRAPH", "CONSONANT")
CONJUNCT_EXTEND, CONJUNCT_LINKER = 0x10, 0x20  # bits that are added to a category


class Graphemes:
    """Finds the boundaries of grapheme clusters in tokenizers. Its Precompiled normalizer replaces a cluster of less
    than six bytes as a whole if a key begins it, and loses the rest. So a key followed by U+0301 shows if the two are a
    cluster of their own. Clusters that this cannot distinguish (two regional indicators) make no difference to the
    normalizer."""

    KEYS = "a", "\u00a9", "\u0915", "\u1100", "\u1161", "\u11a8"

    def __init__(self):
        self.replace = normalizers.Precompiled(make_charsmap({key: "X" for key in self.KEYS})).normalize_str
        self.replace_prepend = normalizers.Precompiled(make_charsmap({"\u0600": "X"})).normalize_str

    def joined(self, before, key):
        """Returns True if a cluster that begins earlier continues into key + U+0301."""
        return self.replace(before + key + "\u0301").endswith("\u0301")

    def category(self, c):
        """Returns the category as an index, and the conjunct bits."""
        x = chr(c)
        bits = 0
        if x in "\r\n":
            return GRAPHEME_CATEGORIES.index("CR" if x == "\r" else "LF")
        prepend = self.joined(x, "a")
        if not prepend:
            if self.joined("\u0915" + x, "\u0915"):
                bits = CONJUNCT_LINKER
            elif self.joined("\u0915\u094d" + x, "\u0915"):
                bits = CONJUNCT_EXTEND
        if self.replace("a" + x) == "X":
            extend = self.joined("\u00a9" + x + "\u200d", "\u00a9")
            name = "ZWJ" if self.joined("\u00a9" + x, "\u00a9") else "EXTEND" if extend else "SPACING_MARK"
        elif prepend:
            name = "PREPEND"
        elif self.joined(x, "\u1100"):
            name = "L"
        elif self.joined(x, "\u1161"):
            name = "LV" if c in HANGUL else "V"
        elif self.joined(x, "\u11a8"):
            name = "LVT" if c in HANGUL else "T"
        elif self.joined(x + "\u200d", "\u00a9"):
            name = "PICTOGRAPH"
        elif self.joined(x + "\u094d", "\u0915"):
            name, bits = "CONSONANT", 0
        else:
            # Of four bytes and more, no cluster is short, so the category makes no difference.
            control = len(x.encode()) < 4 and self.replace_prepend("\u0600" + x) != "X"
            name = "CONTROL" if control else "ANY"
        return GRAPHEME_CATEGORIES.index(name) | bits


def probe_graphemes():
    graphemes = Graphemes()
    table = [0] * 0x110000
    for c in POINTS:
        table[c] = graphemes.category(c)
    return table


# ---- Unicode versions, for the heads ---------------------------------------------------------------------------------

# a character that each version added
ASSIGNED = {"9.0": 0x1E900, "10.0": 0x0860, "11.0": 0x1C90, "12.0": 0x0E86, "13.0": 0x30000, "14.0": 0x0870,
            "15.0": 0x1E4D0, "15.1": 0x2EBF0, "16.0": 0x1C89, "17.0": 0x323B0}


def unicode_version(members, first_of=None):
    return [v for v, c in (first_of or ASSIGNED).items() if c in members][-1]


def describe_versions(classes, normal, lower, grapheme):
    rust, oniguruma = ({c for c in POINTS if words[c] & 0x1F} for words in classes)
    marks = {"8.0": 0x8E3, "9.0": 0x1E944, "10.0": 0x1DF6, "11.0": 0x7FD, "12.0": 0x0EBA}
    cases = {"15.0": 0x2C2F, "16.0": 0x1C89, "17.0": 0xA7CE}
    extends = {"15.1": 0x1E4EC, "16.0": 0x897, "17.0": 0x1ACF}
    return {
        "rust": unicode_version(rust),
        "oniguruma": unicode_version(oniguruma),
        "normal": unicode_version(normal.classes, marks),
        "lower": unicode_version({c for c in POINTS if lower[c]}, cases),
        "grapheme": unicode_version({c for c in POINTS if grapheme[c] & 15 == 4}, extends),
    }


# ---- Writing C -------------------------------------------------------------------------------------------------------

def head(file, what):
    guard = "LEAT_TOKENIZER_" + file.upper().replace(".", "_")
    text = (f"/*\n * {file}: {what}\n *\n * Made by scripts/gen_unicode.py from tiktoken {version('tiktoken')} and"
            f" tokenizers {version('tokenizers')}; do not edit.\n */\n/* clang-format off */\n")
    return f"{text}#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"


def class_file(classes, tests, versions):
    return (head("unicode_tables.h", "classes of characters, read by unicode.c.\n *\n * Unicode"
                 f" {versions['rust']} (Rust) and {versions['oniguruma']} (Oniguruma).")
            + two_stage("uint16_t", "class", ["rust", "oniguruma"], classes) + "\n"
            + two_stage("uint8_t", "char_test", ["char_test"], [tests]) + "\n#endif\n")


def normalize_file(normal, lower, deltas, versions):
    pool, (canonical, compatible) = decomposition_pool(normal)
    slots = composition_table(normal.pairs)
    body = "".join("    { " + ", ".join(f"0x{x:x}" if x else "0" for x in slot) + " },\n" for slot in slots)
    leads = braced(normal.inert_leads(form) for form in FORMS)
    return (head("normalize_tables.h", "normal forms and lower case, read by normalize_unicode.c.\n *\n * Unicode"
                 f" {versions['normal']} (normal forms) and {versions['lower']} (lower case).")
            + "/* combining class, then bits for NFC, NFD, NFKC, NFKD: not always in the form; a boundary before */\n"
            + two_stage("uint16_t", "normal", ["normal"], [normal.words])
            + "\n/* for each form and first byte: its character's length, if all such are inert */\n"
            + f"static const uint8_t inert_lead[4][256] = {{\n{leads}\n}};\n"
            + "\n/* where in the pool a decomposition is, or 0; there its length, then class << 24 | code point */\n"
            + two_stage("uint16_t", "decomposition", ["canonical", "compatible"], [canonical, compatible])
            + array("uint32_t", "decompositions", pool, "0x{:x}")
            + "\n/* first, second, composed */\n"
            + f"static const uint32_t compositions[{COMPOSITION_SLOTS}][3] = {{\n{body}}};\n"
            + "\n/* which of the differences takes a character to lower case */\n"
            + two_stage("uint8_t", "lower", ["lower"], [lower])
            + array("int32_t", "lower_deltas", deltas) + "\n#endif\n")


def grapheme_file(grapheme, versions):
    enum = lines_of(", ".join(f"GRAPHEME_{name}" for name in GRAPHEME_CATEGORIES).split(" "))
    return (head("grapheme_tables.h", f"boundaries of grapheme clusters, read by grapheme.c.\n *\n * Unicode"
                 f" {versions['grapheme']}.")
            + f"enum {{\n{enum}\n}};\n/* added to the category */\nenum {{ CONJUNCT_EXTEND = {CONJUNCT_EXTEND},"
            f" CONJUNCT_LINKER = {CONJUNCT_LINKER} }};\n\n"
            + two_stage("uint8_t", "grapheme", ["grapheme"], [grapheme]) + "\n#endif\n")


def script_file(scripts):
    return (head("script_tables.h", "scripts of characters, read by unicode.c.")
            + two_stage("uint8_t", "script", ["script"], [scripts]) + "\n#endif\n")


def make_files():
    for ask in (rust_class, oniguruma_class):
        check_folding(ask)
    classes = probe_classes(rust_class), probe_classes(oniguruma_class)
    tests = probe_character_tests()
    normal = Normalization()
    lower, deltas = probe_lowercase()
    grapheme = probe_graphemes()
    versions = describe_versions(classes, normal, lower, grapheme)
    return {
        "unicode_tables.h": class_file(classes, tests, versions),
        "normalize_tables.h": normalize_file(normal, lower, deltas, versions),
        "grapheme_tables.h": grapheme_file(grapheme, versions),
        "script_tables.h": script_file(probe_scripts()),
    }


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for name, text in make_files().items():
        path = os.path.join(FOLDER, name)
        if not check:
            with open(path, "w") as f:
                f.write(text)
        elif not os.path.exists(path) or open(path).read() != text:
            stale.append(name)
    if stale:
        sys.exit("not what scripts/gen_unicode.py makes: " + ", ".join(stale))


if __name__ == "__main__":
    main()
