#!/usr/bin/env python3
"""test_show_split.py: leat show of characters that several tokens have a part of, which was a wall of \\xe5\\xad\\x98:
the token with a character's first byte shows it, once, the others a mark of that; in text, in colours, side by side and
on pages; of texts, documents and samples. What is expected comes from the bytes of each token, as leat decode gives
them. Only what makes no character is an escape: bytes that are wrong, and a character that the edge of what is shown,
or of a document, cuts. Joined, without marks, what is shown is the text. With published vocabularies, too, where they
are at hand (LEAT_VOCAB and LEAT_CORPORA, or ../shared/vocab and ../shared/corpora)."""
import html
import json
import os
import pathlib
import re
import subprocess
import unicodedata

from own import build, started

VOCAB = started / os.environ.get("LEAT_VOCAB", "../shared/vocab")
CORPORA = started / os.environ.get("LEAT_CORPORA", "../shared/corpora")
MARK, PART, BASE, NEWLINE, TAB = "\u2502", "\u21e0", "\u25cc", "\u21b5", "\u21e5"


def leat(*words, stdin=b""):
    done = subprocess.run([build / "leat", *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def show(*words, stdin=b""):
    return leat("show", *words, stdin=stdin).decode()


def tokens_of(tokenizer, text):
    """The bytes of each token of a text without line breaks."""
    ids = leat("encode", "-t", tokenizer, stdin=text).decode().split()
    lines = leat("decode", "-t", tokenizer, "--raw", stdin="".join(n + "\n" for n in ids).encode()).split(b"\n")
    assert b"".join(lines) == text and len(lines) == len(ids) + 1, (tokenizer, text)
    return lines[:-1]


def expected(tokens):
    """The text and mark of each token: characters are those of the tokens in which they begin."""
    starts, at = {}, 0
    for number, token in enumerate(tokens):
        for byte in token:
            if byte & 0xC0 != 0x80:
                starts[at] = number
            at += 1
    shown, begins = [""] * len(tokens), 0
    for character in b"".join(tokens).decode():
        number = starts[begins]
        size = len(character.encode())
        if shown[number] == "" and unicodedata.category(character)[0] == "M":
            shown[number] = BASE
        shown[number] += character
        begins += size
    return [(PART if token[:1] and token[0] & 0xC0 == 0x80 else "") + text for token, text in zip(tokens, shown)]


def rows_of(page):
    """The text of each token in the flow, and in the table."""
    flow = re.search('<div class="flow">(.*?)</div>', page, re.S)[1]
    spans = re.findall(r'<span class="[ab]" title="place \d+[^"]*">(.*?)</span>(?=<span class="[ab]"|$)', flow, re.S)
    cells = re.findall('<td class="mono"><span class=".">(.*?)</span></td>', page, re.S)
    return [[html.unescape(re.sub("<[^>]*>", "", x)) for x in xs] for xs in (spans, cells)]


def plain(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def body(text):
    """What stands between the figures and the legend."""
    return re.sub("\n\n[^\n]* begins a token.*", "", text.split("\n", 1)[1], flags=re.S).rstrip("\n")


def check(tokenizer, text):
    want = expected(tokens_of(tokenizer, text.encode()))
    marked = "".join(MARK + token for token in want)
    got = body(show("-t", tokenizer, "--no-color", stdin=text.encode()))
    assert got == marked, (tokenizer, got, marked)
    assert got.replace(MARK, "").replace(PART, "").replace(BASE, "") == text.replace(BASE, ""), (tokenizer, got)
    assert body(plain(show("-t", tokenizer, "--color", stdin=text.encode()))) == "".join(want), tokenizer
    page = show("-t", tokenizer, "--html", "-", stdin=text.encode())
    flow, table = rows_of(page)
    assert flow == table == want, (tokenizer, flow, table, want)
    titles = re.findall('title="place [^"]*"', page)
    assert [PART in token for token in want] == ["a part of the character before it" in title for title in titles]
    return want


TEXT = ("\u041f\u0440\u0438\u0432\u0435\u0442, \u5b58\u5728\u7684\u4e16\u754c\u3002 \u65e5\u672c\u8a9e "
        "\ud55c\uad6d\uc5b4 \U0001f642\U0001f468\U0001f33e caf\u00e9 e\u0301 \u0e19\u0e35\u0e48 "
        "\u05e9\u05dc\u05d5\u05dd \u10d2\u10d0 \U00020bb7\u4e00\u3002\u3002\u9f98 \u0986\u09ae\u09bf \U0001d54f x")
split = 0
for tokenizer in "bytes", "gpt2", "cl100k_base", "o200k_base":
    split += sum(token.startswith(PART) for token in check(tokenizer, TEXT))
assert split > 100, split
# a token that ends one character and begins another, and a character of four tokens, whatever tokenizers do
made = {"type": "BPE", "vocab": {}, "merges": []}
letters = [*map(chr, [*range(33, 127), *range(161, 173), *range(174, 256)])]
table = dict(zip([*range(33, 127), *range(161, 173), *range(174, 256)], letters))
table.update({byte: chr(256 + n) for n, byte in enumerate(b for b in range(256) if b not in table)})
PAIRS = [(0x98, 0xE5), (0x9C, 0xA8)] # of U+5B58 U+5728: e5 ad 98 e5 9c a8
made["vocab"] = {**{table[b]: b for b in range(256)},
                 **{table[a] + table[b]: 256 + n for n, (a, b) in enumerate(PAIRS)}}
made["merges"] = [f"{table[a]} {table[b]}" for a, b in PAIRS]
byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
pathlib.Path("made.json").write_text(json.dumps({"model": made, "decoder": byte_level, "pre_tokenizer": byte_level}),
                                     encoding="utf-8")
assert check("made.json", "\u5b58\u5728\U0001f642\u00e9") == [
    "\u5b58", PART, PART + "\u5728", PART, "\U0001f642", PART, PART, PART, "\u00e9", PART]

# side by side: the same tokens in each column
both = show("-t", "gpt2", "-t", "bytes", "--no-color", stdin=TEXT.encode()).rsplit("\n\n", 1)[0].split("\n")[4:]
for number, tokenizer in enumerate(["gpt2", "bytes"]):
    column = ""
    for line in both:
        at = wide = 0
        while at < len(line) and (wide < 51 or unicodedata.category(line[at])[0] == "M"): # 49 places, and two blanks
            wide += 0 if unicodedata.category(line[at])[0] == "M" else 1 + (
                unicodedata.east_asian_width(line[at]) in "WF")
            at += 1
        column += (line[:at], line[at:])[number].rstrip(" ") if number else line[:at].rstrip(" ")
    want = "".join(MARK + token for token in expected(tokens_of(tokenizer, TEXT.encode())))
    assert column.replace(" ", "") == want.replace(" ", ""), (tokenizer, column, want)

# lines: a shade or mark goes on below the break
assert body(show("-t", "bytes", "--no-color", stdin="\u00e9\n\t\u5b58\n".encode())) == (
    f"{MARK}\u00e9{MARK}{PART}{MARK}{NEWLINE}\n{MARK}{TAB}{MARK}\u5b58{MARK}{PART}{MARK}{PART}{MARK}{NEWLINE}")

# ---- What makes no character ----------------------------------------------------------------------------------------

pathlib.Path("d.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in ("a\u5b58b\u5728", "\u00e9")),
                                   encoding="utf-8")
leat("pack", "-o", "d", "-t", "bytes", "--end", "none", "d.jsonl")


def tail(*words):
    """The tokens of the last lines."""
    out = show(*words, "--no-color")
    return [line for line in out.splitlines() if line.startswith(MARK) and "begins a token" not in line]


Q = MARK + PART
assert tail("d", "--document", "0") == [f"{MARK}a{MARK}\u5b58{Q}{Q}{MARK}b{MARK}\u5728{Q}{Q}"]
assert tail("d", "--tokens", "0:3") == [f"{MARK}a{MARK}\\xe5{MARK}\\xad"], tail("d", "--tokens", "0:3")
assert tail("d", "--tokens", "2:6") == [f"{MARK}\\xad{MARK}\\x98{MARK}b{MARK}\\xe5"], tail("d", "--tokens", "2:6")
assert tail("d", "--tokens", "7:10") == [f"{MARK}\\xa8", f"{MARK}\u00e9{Q}"], tail("d", "--tokens", "7:10")
sample = ["--source", "d", "--order", "sequential", "--seq-len", "3", "--sample"]
assert tail(*sample, "0") == [f"{MARK}a{MARK}\u5b58{Q}{MARK}\u2192{PART}"], tail(*sample, "0") # of the last label, too
assert tail(*sample, "1") == [f"{MARK}\\x98{MARK}b{MARK}\\xe5{MARK}\u2192\\x9c"] # what follows is of another row
assert [x for row in map(json.loads, show(*sample, "0", "--json").splitlines()) for x in row["tokens"]] == [
    "a", "\ufffd", "\ufffd"] # as each token is by itself
page = show(*sample, "0", "--html", "-")
assert "\u5b58</span>" in page and '<span class="l">\u2192 <span class="p">\u21e0</span></span>' in page, page
fitted = ["--source", "d", "--order", "fit", "--seq-len", "16", "--step", "0", "--batch", "1"]
lines = show(*fitted, "--no-color")
assert f"{MARK}b{MARK}\u5728{Q}{MARK}\u2192{PART}\n" in lines and f"{MARK}\u00e9{MARK}\u2192{PART}\n" in lines, lines
lines = show(*fitted, "--no-color", "--align", "4") # the last token is an input, too
assert f"{MARK}b{MARK}\u5728{Q}\u250a{PART}\n" in lines and f"{MARK}\u00e9\u250a{PART}\u250a\\x00" in lines, lines
# two documents, of which the first ends inside of a character, and bytes that are none
subprocess.run([build / "make_dataset", "edge", "vocabulary=256", "document=195",
                "document=169,255,240,159,65,229,173"], check=True)
assert tail("edge", "-t", "bytes", "--tokens", ":") == [
    f"{MARK}\\xc3", MARK + MARK.join(["\\xa9", "\\xff", "\\xf0", "\\x9f", "A", "\\xe5", "\\xad"])]

# ---- The bytes that sentencepiece has names for ---------------------------------------------------------------------

pieces = {"<unk>": 0, **{"<0x%02X>" % b: 1 + b for b in range(256)}, "a": 257}
pathlib.Path("pieces.json").write_text(json.dumps({"model": {
    "type": "BPE", "vocab": pieces, "merges": [], "unk_token": "<unk>", "byte_fallback": True}}), encoding="utf-8")
assert body(show("-t", "pieces.json", "--no-color", stdin="a\u5b58\U0001f642\n".encode())) == (
    f"{MARK}a{MARK}\u5b58{Q}{Q}{MARK}\U0001f642{Q}{Q}{Q}{MARK}<0x0A>")
leat("pack", "-o", "p", "-t", "pieces.json", "--end", "none", "d.jsonl")
assert tail("p", "--tokens", "0:3") == [f"{MARK}a{MARK}<0xE5>{MARK}<0xAD>"], tail("p", "--tokens", "0:3")

# ---- Published vocabularies -----------------------------------------------------------------------------------------

if (CORPORA / "sample_multi.jsonl.zst").exists() and VOCAB.exists():
    lines = subprocess.run(["zstd", "-dc", CORPORA / "sample_multi.jsonl.zst"], stdout=subprocess.PIPE,
                           check=True).stdout.splitlines()
    texts = [" ".join(json.loads(line)["text"][:300].split()) for line in lines[::max(1, len(lines) // 8)]]
    hidden = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
    text = unicodedata.normalize("NFC", " ".join([TEXT, *(t for t in texts if not hidden.search(t))])) # as qwen has it
    for path in map(str, sorted(VOCAB.glob("*.zst"))):
        if "mistral_v1" not in path and "gemma" not in path:
            check(path, text)
            continue
        got = body(show("-t", path, "--no-color", stdin=text.encode()))
        assert "<0x" not in got and (PART in got or "gemma" in path), (path, got)
        got = got.replace(MARK, "").replace(PART, "").replace(BASE, "").replace("\u2581", " ")
        assert got.strip(" ") == text.replace(BASE, "").strip(" "), (path, got, text)
