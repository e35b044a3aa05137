"""corpora.py: random corpora with every oddity that inputs of leat pack have, as a function of a random.Random."""
import json
import os
import shutil
import subprocess

from reference import Options, compress, kind_of

BOM = b"\xef\xbb\xbf"
WORDS = ["the", "mill", "wheel", "Wasser", "été", "水车", "\U0001F600", "\u2028", "a\tb", "\\", '"quote"', "\x7f",
         "\ufeff", "<|endoftext|>", "{\"text\": 1}", "line\nbreak", "\r\n", "\0", "\u07ff", "\uffff", "e\u0301"]
ESCAPES = [b"\\n", b"\\t", b"\\\"", b"\\\\", b"\\/", b"\\b", b"\\f", b"\\r", b"\\u0000", b"\\u0041", b"\\u00e9",
           b"\\uFFFD", b"\\ud83d\\ude00", b"\\uD83D\\uDE00", b"\\ud800", b"\\udc00", b"\\udc00\\ud800",
           b"\\ud83d\\ud83d\\ude00", b"\\ud83dx", b"\\ud83d\\n", b"\\ud83d\\u0041", b"\\u20ac"]
INVALID = [b"\xff", b"\xc0\xaf", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
           b"\xe2\x28\xa1", b"\xf8\x88\x80\x80\x80", b"\xc3"]


def length(r, most):
    """Mostly short; now and then up to `most`."""
    return r.choice([0, 1, 2, 5, 20, 20, 50, 200, r.randrange(1, most) if r.random() < 0.2 else 30])


def plain_text(r, most):
    out, wanted = b"", length(r, most)
    while len(out) < wanted:
        pick = r.random()
        if pick < 0.03:
            out += r.choice(INVALID)
        elif pick < 0.05:
            out += b"x" * r.randrange(1 + wanted)
        else:
            out += r.choice(WORDS).encode() + r.choice([b" ", b" ", b""])
    return out


def json_string(r, most):
    """What stands between the quotes of a valid string."""
    out, wanted = b"", length(r, most)
    while len(out) < wanted:
        pick = r.random()
        if pick < 0.03:
            out += r.choice(INVALID)
        elif pick < 0.2:
            out += r.choice(ESCAPES)
        elif pick < 0.22:
            out += r.choice([b"\\\\" * r.randrange(1, 40), b"y" * r.randrange(1 + wanted),
                             b"\\u00e9" * r.randrange(1 + wanted // 6)])
        else:
            out += json.dumps(r.choice(WORDS), ensure_ascii=r.random() < 0.5)[1:-1].encode() + b" "
    return out


def space(r):
    return r.choice([b"", b"", b"", b" ", b"\t", b"  ", b" \r "])


def value(r, level=0):
    pick = r.randrange(10 if level < 4 else 7)
    if pick < 2:
        return r.choice([b"0", b"-0", b"17", b"-3.25", b"1e9", b"2E-7", b"1.5e+10", b"123456789012345678901234567890"])
    if pick < 4:
        return r.choice([b"true", b"false", b"null"])
    if pick < 7:
        return b'"' + json_string(r, 60) + b'"'
    if pick == 7:
        return b"[" + b",".join(space(r) + value(r, level + 1) + space(r) for _ in range(r.randrange(4))) + b"]"
    return members(r, [(name(r), value(r, level + 1)) for _ in range(r.randrange(4))])


def name(r):
    return r.choice([b"text", b"id", b"meta", b"a", b"", b"te\\u0078t", b"text2", b"Text", b"body",
                     b"x" * r.randrange(300)])


def members(r, pairs):
    return b"{" + space(r) + (space(r) + b"," + space(r)).join(
        b'"' + n + b'"' + space(r) + b":" + space(r) + v for n, v in pairs) + space(r) + b"}"


def identity(r):
    return r.choice([b'"doc-%d"' % r.randrange(1000), b"%d" % r.randrange(10**6), b"-1.50e2", b"null", b'""',
                     b'"' + json_string(r, 40) + b'"', b"[1]"])


def escaped_name(r, n):
    """A member's name, some of its letters as escapes."""
    return b"".join(b"\\u%04x" % c if r.random() < 0.05 else bytes([c]) for c in n)


def nest(r, path, v):
    """The member that a dotted path names, within objects."""
    first, _, rest = path.partition(".")
    if not rest:
        return escaped_name(r, first.encode()), v
    inner = [nest(r, rest, v)] + [(name(r), value(r, 2)) for _ in range(r.randrange(2))]
    r.shuffle(inner)
    return escaped_name(r, first.encode()), members(r, inner)


def good_record(r, options, most):
    pairs = []
    if r.random() < 0.2: # a member that is given twice: the last one counts
        pairs.append(nest(r, options.text, r.choice([b'"first"', b"1", b"{}"])))
    pairs.append(nest(r, options.text, b'"' + json_string(r, most) + b'"'))
    if options.id and r.random() < 0.7:
        pairs.insert(r.randrange(2), nest(r, options.id, identity(r)))
    for _ in range(r.choice([0, 0, 1, 3])):
        pairs.insert(r.randrange(len(pairs) + 1), (b"z" + name(r), value(r)))
    return space(r) + members(r, pairs) + space(r)


def bad_record(r, options, most):
    good = good_record(r, options, most)
    text = b'"' + options.text.split(".")[0].encode() + b'"'
    at = r.randrange(len(good))
    return r.choice([
        lambda: good[:at], lambda: good[:at] + good[at + 1:], lambda: good[:at] + b"\x01" + good[at:],
        lambda: good[:at] + r.choice([b",", b":", b"}", b"]", b'"', b"\\", b"x", b"\x0b", b"0"]) + good[at:],
        lambda: good + b" x", lambda: good + good, lambda: BOM + good, lambda: b"{" + text + b": NaN}",
        lambda: b"{" + text + b": -Infinity}", lambda: b"{" + text + b": NaN1}", lambda: b"{" + text + b": -NaN}",
        lambda: b"{'text': 'x'}", lambda: b"{" + text + b': "\\x41"}',
        lambda: b"{" + text + b': "\\u12G4"}', lambda: b"{" + text + b': "\\u123', lambda: b"{" + text + b': "open',
        lambda: b"{" + text + b": 01}", lambda: b"{" + text + b": +1}", lambda: b"{" + text + b": .5}",
        lambda: b"{" + text + b": 1.}", lambda: b"{" + text + b": 1e}", lambda: b"{" + text + b": tru}",
        lambda: b"{" + text + b': "x",}', lambda: b"{" + text + b" 1}", lambda: b"[" + good + b"]",
        lambda: b'"a string"', lambda: b"17", lambda: b"null", lambda: b"{}", lambda: b"[]",
        lambda: b"{" + text + b": null}", lambda: b"{" + text + b": 1}", lambda: b"{" + text + b': ["x"]}',
        lambda: b"{" + text + b": {}}",
        lambda: b"{" + text + b": true}", lambda: r.randbytes(r.randrange(1, 40)).replace(b"\n", b"?"),
        lambda: b"[" * 1025 + b"]" * 1025, lambda: b'{"a":' * 1030, lambda: b"garbage " * r.randrange(1, 1 + most // 8),
        lambda: b'{"id": "' + b"i" * 65537 + b'", ' + text + b': "x"}',
    ])()


def begins_with_line(text):
    """Whether the first line is an object, or cannot begin one."""
    first = text.removeprefix(BOM).lstrip(b" \t\r\n").partition(b"\n")[0]
    try:
        return not first.startswith((b"{", b"[")) or isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def line_file(r, options, most):
    """JSON lines: records, bad ones, blank lines."""
    out = BOM if r.random() < 0.15 else b""
    end = r.choice([b"\n", b"\n", b"\r\n"])
    bad = r.choice([0, 0.05, 0.3])
    for _ in range(r.choice([0, 1, 3, 10, 40, 100])):
        pick = r.random()
        if pick < 0.08:
            out += r.choice([b"", b" ", b"\t \r", b" " * r.randrange(1 + most)])
        elif pick < 0.08 + bad:
            out += bad_record(r, options, most)
        else:
            out += good_record(r, options, most)
        out += end
    if out.endswith(end) and r.random() < 0.3:
        out = out[:-len(end)]
    # what begins as an array of objects is one, and a first line that is not one object may begin objects over lines:
    # check_json_arrays.py has these
    return out if begins_with_line(out) else b"{}\n" + out


def text_file(r, most):
    out = BOM if r.random() < 0.15 else b""
    for _ in range(r.choice([0, 1, 1, 5, 30])):
        out += plain_text(r, most)
    return out


def large_inputs(r, folder):
    """Inputs of each kind, each large enough for some checkpoints of the command with small pieces: lists of files."""
    def many(one, size):
        out = b""
        while len(out) < size:
            piece = one()
            out += piece if piece.endswith(b"\n") or not piece else piece + b"\n"
        return out

    def put(name, data):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
        return name

    def lines():
        return line_file(r, Options(), 3000)

    plain = put("plain.jsonl", many(lines, 600000))
    long = put("long.jsonl", many(lambda: line_file(r, Options(), 60000), 600000))
    texts = [put("t%02d.txt" % i, text_file(r, 30000)) for i in range(60)] + [put("u.txt", many(
        lambda: text_file(r, 3000), 300000))]
    bad = b"".join(b"%d bad\n" % i for i in range(30000))
    wrong, late = put("wrong.jsonl", bad), put("late.jsonl", b'{"text":"a"}\n' + bad)  # only the first has no document
    inputs = [[plain], [long], texts, [texts[0], plain, wrong, *texts[1:30], late, long]]
    if shutil.which("zstd"):
        for form in ("zst", "gz"):
            one = put("one.jsonl." + form, compress(many(lines, 100000), form, r))
            pieces = [compress(many(lines, 50000), form, r, False) for _ in range(8)]
            inputs.append([one, put("many.jsonl." + form, b"".join(pieces)), texts[3]])
    return inputs


def memory_choices(leat, folder, words):
    """What --memory may be; a sanitizer takes much."""
    p = subprocess.run([leat, "pack", "-t", "bytes", "-o", "none", "--memory", "1", "--allow-binary", *words],
                       cwd=folder, capture_output=True, text=True)
    least = int(p.stderr.split("allow at least ")[1].split()[0])
    return ["48Mi", "64Mi", "1Gi"] if least < 48 else ["4Gi"]


class Corpus:
    """Files below a folder, and the words that name them to leat pack. `items`: (path as leat calls it, raw bytes,
    kind), in the order of the documents."""

    def __init__(self, r, folder, options, most, forms, standard_input):
        self.items, self.words, self.stdin, self.format = [], [], None, "auto"
        self.skipped = []
        self.r, self.folder, self.options, self.most, self.forms = r, folder, options, most, forms
        if r.random() < 0.15:
            self.format = r.choice(["jsonl", "text"])
        for i in range(r.choice([1, 1, 2, 3, 5])):
            pick = r.random()
            if pick < 0.6:
                self.words.append(self.file("f%d" % i))
            elif pick < 0.8:
                self.words.append(self.make_folder("d%d" % i))
            elif pick < 0.95 or self.stdin is not None or not standard_input:
                self.words.append(self.list("l%d" % i))
            else:
                self.words.append("-")
                self.stdin = line_file(r, options, most) if self.format != "text" else text_file(r, most)
                self.items.append(("-", self.stdin, "text" if self.format == "text" else "jsonl"))
        if r.random() < 0.1: # the same input twice
            again = r.choice([p for p, _, _ in self.items])
            if again != "-":
                self.words.append(again)
                self.items.append(next(i for i in self.items if i[0] == again))

    def write(self, path, data):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)

    def content(self, path):
        kind = self.format if self.format != "auto" else kind_of(path)
        data = line_file(self.r, self.options, self.most) if kind == "jsonl" else text_file(self.r, self.most)
        for form in self.forms:
            if path.endswith("." + form):
                data = compress(data, form, self.r)
        return data, kind

    def named(self, stem):
        extension = self.r.choice([".jsonl", ".jsonl", ".ndjson", ".json", ".txt", ".txt", ".md"])
        return stem + extension + (self.r.choice(["", "", "", *("." + f for f in self.forms)]))

    def file(self, stem):
        path = self.named(stem)
        data, kind = self.content(path)
        if self.r.random() < 0.05 and "gz" in self.forms: # compressed, though its name does not say so
            data = compress(data, "gz", self.r) if path.endswith(kind_ends) else data
        self.write(path, data)
        self.items.append((path, data, kind))
        return path

    def make_folder(self, stem):
        """With files within folders, hidden ones and ones that are not taken."""
        r, names = self.r, set()
        while not names or r.random() < 0.7:
            where = r.choice(["", "", "sub/", "sub/deeper/", "Sub/", "été/", "sub.jsonl/"])
            names.add(self.named(where + r.choice(["a", "b", "B", "10", "9", "a b", "-", "ü"])))
        for n in sorted(names): # not in the order of Python's hashes, which differ from run to run
            self.write(os.path.join(stem, n), self.content(n)[0])
        self.write(stem + "/.hidden.jsonl", b"not to be read\n")
        self.write(stem + "/.git/x.jsonl", b"not to be read\n")
        if self.format == "auto":
            self.write(stem + "/README.rst", b"not to be read\n")
            self.skipped.append(stem + "/README.rst")
        word = stem + r.choice(["", "/"])
        for n in sorted(os.fsencode(stem + "/" + n) for n in names):
            path = os.fsdecode(n)
            with open(os.path.join(self.folder, path), "rb") as f:
                data = f.read()
            self.items.append((path, data, self.format if self.format != "auto" else kind_of(path)))
        return word

    def list(self, stem):
        """A list in a folder of its own: relative names count from there."""
        lines = [self.file(stem + "/" + n) for n in ["y", "x"][:self.r.randrange(1, 3)]]
        text = "".join("%s%s" % (p[len(stem) + 1:], self.r.choice(["\n", "\r\n", "\n\n"])) for p in lines)
        self.write(stem + "/list", text.encode())
        if self.r.random() < 0.3: # a list that a list names
            self.write(stem + "/outer", b"@list\n")
            return "@" + stem + "/outer"
        return "@" + stem + "/list"


kind_ends = (".jsonl", ".ndjson", ".json", ".txt", ".md")
