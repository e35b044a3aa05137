"""reference.py: what leat pack must make of inputs, said a second time in plain Python: json, gzip and the zstd command
instead of leat's own readers, and the tokenizer `bytes`, whose ids are the bytes of the text.
"""
import codecs
import gzip
import json
import os
import struct
import subprocess
import zlib

from dataset import hash128, page_sum

END_TOKEN = 256
DEPTH = 1024
ID_BYTES = 65536
SAMPLE = 200


class Refused(Exception):
    pass


# ---- JSON -------------------------------------------------------------------------------------------------------

class Number(str):
    pass


# A raw byte from 0x80 on travels through Python's json as a character of a private plane, which escapes in the tests do
# not use: so escapes and bytes stay apart, and malformed UTF-8 passes as it does through leat.
RAW = 0xF0000
TO_RAW = {b: RAW + b for b in range(0x80, 0x100)}


def to_bytes(text):
    out = bytearray()
    for c in text:
        code = ord(c)
        if RAW + 0x80 <= code <= RAW + 0xFF:
            out.append(code - RAW)
        else:
            out += ("\ufffd" if 0xD800 <= code <= 0xDFFF else c).encode()
    return bytes(out)


class Constant:
    """NaN or an infinity, which leat takes as Python does."""

    def __init__(self, name):
        self.name = name


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Constant)


def parse(record):
    text = record.decode("latin-1").translate(TO_RAW)
    try:
        value, end = DECODER.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    except (ValueError, RecursionError):
        raise Refused("JSON") from None
    if text[end:].strip(" \t\r\n"):
        raise Refused("JSON")
    if depth(value) > DEPTH:
        raise Refused("JSON")
    return value


def depth(value):
    deepest, todo = 0, [(value, 1)]
    while todo:
        v, d = todo.pop()
        if isinstance(v, (dict, list)):
            deepest = max(deepest, d)
            todo.extend((x, d + 1) for x in (v.values() if isinstance(v, dict) else v))
    return deepest


def member(value, path):
    """The member that a dotted path names; None if there is none, for JSON's null the name of that."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return "null" if value is None else to_bytes(value) if isinstance(value, str) and not isinstance(value, Number) \
        else value


def text_and_id(record, options):
    value = parse(record)
    if not isinstance(value, dict):
        raise Refused("not an object")
    text, name = member(value, options.text), b""
    if text is None:
        raise Refused("has no")
    if not isinstance(text, bytes):
        raise Refused("not a string")
    if options.id:
        name = member(value, options.id)
        name = name if isinstance(name, bytes) else name.encode() if isinstance(name, Number) else b""
        if len(name) > ID_BYTES:
            raise Refused("longer than")
    return text, name


# ---- Inputs -----------------------------------------------------------------------------------------------------

class Options:
    def __init__(self, **more):
        self.text, self.id, self.reject_invalid, self.end, self.begin = "text", "id", False, END_TOKEN, None
        self.allow_binary = False
        self.encode = list # the tokenizer: from UTF-8 to ids
        self.__dict__.update(more)


def malformed(text):
    """Parts of it that are not UTF-8."""
    parts = []

    def count(error):
        parts.append(error)
        return "\ufffd", error.end

    codecs.register_error("leat.count", count)
    text.decode(errors="leat.count")
    return len(parts)


HEAD = 4096


def is_text(data):
    """Whether the first bytes look like UTF-8 text. Of the magic numbers only what random bytes may well begin with."""
    head = data[:HEAD]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b"):
        return False
    if head.count(0) > max(1, len(head) // 32):
        return False
    if len(head) == HEAD: # it may end inside a character
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        decoder.decode(head)
        head = head[:HEAD - len(decoder.getstate()[0])]
    count = malformed(head)
    return count <= 16 or count <= len(data[:HEAD]) // 32


def settle(text, options):
    """The text as it is encoded."""
    count = malformed(text)
    try:
        text.decode()
        return text
    except UnicodeDecodeError as e:
        if options.reject_invalid:
            raise Refused("not valid UTF-8 at its byte %d" % (e.start + 1)) from None
        if not options.allow_binary and count > 16 and count > len(text) // 100:
            raise Refused("%d parts of %d bytes are not valid UTF-8" % (count, len(text))) from None
        return text.decode(errors="replace").encode()


class Packed:
    """What comes out: documents, inputs, rejects, as dataset.py reads them."""

    def __init__(self, options):
        self.options, self.documents, self.inputs, self.rejects, self.text_bytes = options, [], [], [], 0

    def tokens(self):
        return [t for d in self.documents for t in d[0]]

    def record(self, record, number, path, offset, line, find):
        try:
            text, name = find(record, self.options)
            text = settle(text, self.options)
        except Refused as why:
            self.rejects.append((path, offset, line, str(why), record[:SAMPLE].decode(errors="replace")))
            return
        tokens = list(self.options.encode(text)) + ([] if self.options.end is None else [self.options.end])
        if self.options.begin is not None:
            tokens.insert(0, self.options.begin)
        self.documents.append((tuple(tokens), number, offset, line, name, hash128(text)))
        self.text_bytes += len(text)

    def lines(self, data, number, path):
        at, line = 0, 0
        while at < len(data):
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            record = data[at:end]
            if at == 0 and record[:3] == b"\xef\xbb\xbf":
                record = record[3:]
            line += 1
            if record.strip(b" \t\r\n"):
                self.record(record, number, path, at, line, text_and_id)
            at = end + 1

    def add(self, path, raw, kind):
        """One input: the bytes as they lie on disk."""
        data, number = inflate(raw), len(self.inputs)
        documents, rejects = len(self.documents), len(self.rejects)
        if kind == "text":
            if data[:3] == b"\xef\xbb\xbf":
                data = data[3:]
            self.record(data, number, path, 0, None, whole_text)
        else:
            self.lines(data, number, path)
        self.inputs.append((os.fsencode(path), len(raw), len(self.documents) - documents,
                            sum(len(d[0]) for d in self.documents[documents:]), len(self.rejects) - rejects,
                            page_sum(raw)))


def whole_text(text, options):
    if not options.allow_binary and not is_text(text):
        raise Refused("the input is")
    return text, b""


def inflate(raw):
    if raw[:2] == b"\x1f\x8b":
        return gzip.decompress(raw)
    if raw[:4] == b"\x28\xb5\x2f\xfd" or (raw[:4] and raw[1:4] == b"\x2a\x4d\x18" and raw[0] & 0xF0 == 0x50):
        return subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    return raw


def kind_of(path):
    for end in (".zst", ".gz"):
        path = path[:-len(end)] if path.endswith(end) else path
    extension = os.path.splitext(path)[1]
    return {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "text", ".md": "text"}.get(extension)


# ---- Making inputs ----------------------------------------------------------------------------------------------

def bgzip_member(data):
    """Its extra field says how long it is."""
    c = zlib.compressobj(6, zlib.DEFLATED, -15)
    data, sums = c.compress(data) + c.flush(), struct.pack("<II", zlib.crc32(data), len(data))
    return bytes.fromhex("1f8b08040000000000ff060042430200") + struct.pack("<H", len(data) + 25) + data + sums


def gzip_member(data, r):
    if len(data) <= 60000 and r.random() < 0.5:
        return bgzip_member(data)
    c = zlib.compressobj(r.choice([0, 1, 6]), zlib.DEFLATED, 31)
    return c.compress(data) + c.flush()


def zstd_frame(data, r):
    args = ["zstd", "-q", "-c", r.choice(["-1", "-3"]), r.choice(["--check", "--no-check"])]
    return subprocess.run(args, input=data, stdout=subprocess.PIPE, check=True).stdout


def skippable(r):
    content = r.randbytes(r.randrange(40))
    return bytes([0x50 + r.randrange(16)]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


def compress(data, form, r, last=True):
    """In one to four frames or members, cut anywhere; `last`: zeros may follow."""
    cuts = sorted(r.randrange(len(data) + 1) for _ in range(r.choice([0, 0, 1, 3])))
    pieces = [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]
    if form == "gz":
        return b"".join(gzip_member(p, r) for p in pieces) + (r.choice([b"", b"", b"\0" * 7]) if last else b"")
    out = b""
    for p in pieces:
        out += (skippable(r) if r.random() < 0.3 else b"") + zstd_frame(p, r)
    return out + (skippable(r) if r.random() < 0.3 else b"")
