"""check_memory.py LEAT TMP [MIB [MEMORY [WORD]]]: the peak of resident memory of leat pack stays below --memory MEMORY
(in MiB), for a document of MIB MiB (a JSON record, a text, plain and compressed, malformed), for very many tiny
documents, for very many bad lines, for many small compressed texts that become large, for a large corpus, and for
Parquet files of large and of very many row groups, of very many columns, of a page with a text of MIB MiB, in each
codec, and of a text of more than MEMORY in each encoding; and nothing of it is refused that can be cut.

Once the bound was 64 MiB more, and a text of 115 MiB as DELTA_BYTE_ARRAY took 234 MiB.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import zlib

leat, tmp = os.path.abspath(sys.argv[1]), sys.argv[2]
size = int(sys.argv[3]) if len(sys.argv) > 3 else 40
memory = int(sys.argv[4]) if len(sys.argv) > 4 else 96
only = sys.argv[5] if len(sys.argv) > 5 else ""
PART = b"".join(b"the wheel turns %d times, and the river \\u00e9t\xc3\xa9 runs past mill %d. " % (i, i * i)
                for i in range(15000))[:1 << 20]
PART = PART[:PART.rindex(b". ") + 2]
TEXT = PART.replace(b"\\u00e9", b"\xc3\xa9")
failures = 0


def put(name, pieces):
    """A file of these pieces, compressed if its name says so."""
    path = os.path.join(tmp, name)
    if name.endswith(".zst"):
        with open(path, "wb") as f:
            p = subprocess.Popen(["zstd", "-q", "-1", "-c"], stdin=subprocess.PIPE, stdout=f)
            for piece in pieces:
                p.stdin.write(piece)
            p.stdin.close()
            p.wait()
        return name
    with open(path, "wb") as f:
        for piece in pieces:
            f.write(piece)
    return name


def record(count):
    yield b'{"text": "first"}\n{"id": 7, "text": "'
    for _ in range(count):
        yield PART
    yield b'"}\n{"text": "last"}\n'


def repeated(piece, count):
    for _ in range(count):
        yield piece


def tiny_documents(count):
    for at in range(0, count, 10000):
        yield b'{"text":""}\n' * min(10000, count - at)


def small_gz(count):
    """Texts of some 100 bytes on disk each, which become 4 MiB."""
    c = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = c.compress(b"mill " * (4 << 20 >> 3)) + c.flush()
    return [put("small%d.txt.gz" % i, [data]) for i in range(count)]


# ---- Parquet: files of one required column, text; pages are compressed with gzip if nothing else is said ------------

def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def fields(*pairs):
    """A struct of Thrift's compact protocol, of (its field's number, its value)."""
    out, last = b"", 0
    for number, value in pairs:
        kind, data = ((5, varint(2 * value)) if isinstance(value, int) else
                      (12, value) if isinstance(value, bytes) else
                      (8, varint(len(value)) + value.encode()) if isinstance(value, str) else
                      (9, (bytes([len(value) << 4 | 12]) if len(value) < 15 else b"\xfc" + varint(len(value)))
                       + b"".join(value)))
        out, last = out + bytes([number - last << 4 | kind]) + data, number
    return out + b"\0"


PLAIN, SNAPPY, GZIP, ZSTD, LZ4_RAW = 0, 1, 2, 6, 7


def lz4_length(n):
    return b"\xff" * ((n - 15) // 255) + bytes([(n - 15) % 255])


def by_hand(piece, codec, last):
    """For Snappy and LZ4: the bytes as they are, but for the last 32, if those before them are the same; a block of LZ4
    ends with bytes as they are."""
    same = len(piece) > 99 and piece[-32:] == piece[-64:-32]
    start = piece[:-32] if same and not (last and codec == LZ4_RAW) else piece
    again = start != piece
    if codec == SNAPPY:
        return b"\xfc" + struct.pack("<I", len(start) - 1) + start + (b"\x7e\x20\0" if again else b"")
    return (bytes([min(len(start), 15) << 4 | again * 15]) + (lz4_length(len(start)) if len(start) >= 15 else b"") +
            start + (b"\x20\0\x0d" if again else b""))


def compressed(texts, codec):
    """The values of a page, PLAIN, whose texts come in pieces."""
    pieces = [struct.pack("<I", sum(map(len, text))) * (i == 0) + piece
              for text in texts for i, piece in enumerate(text)]
    size = sum(map(len, pieces))
    if codec == GZIP:
        c = zlib.compressobj(1, zlib.DEFLATED, 31)
        return size, b"".join(map(c.compress, pieces)) + c.flush()
    if codec == ZSTD:
        return size, subprocess.run(["zstd", "-q", "-1", "-c"], input=b"".join(pieces), stdout=subprocess.PIPE).stdout
    if codec == PLAIN:
        return size, b"".join(pieces)
    return size, varint(size) * (codec == SNAPPY) + b"".join(
        by_hand(piece, codec, i + 1 == len(pieces)) for i, piece in enumerate(pieces))


def page(texts, codec=GZIP):
    """A data page, from its header on; the texts come in pieces, of which a long one has many."""
    size, packed = compressed(texts, codec)
    return fields((1, 0), (2, size), (3, len(packed)), (5, fields((1, len(texts)), (2, 0), (3, 3), (4, 3)))) + packed


def parquet(groups, codec=GZIP):
    """A file of row groups, each so many times a page of so many rows."""
    body, metas, rows = [b"PAR1"], [], 0
    at = 4
    for data, times, count in groups:
        meta = fields((1, 6), (2, []), (3, []), (4, codec), (5, times * count), (6, 0), (7, times * len(data)), (9, at))
        metas.append(fields((1, [fields((2, at), (3, meta))]), (2, 0), (3, times * count)))
        body += [data] * times
        at += times * len(data)
        rows += times * count
    footer = fields((1, 1), (2, [fields((4, "schema"), (5, 1)), fields((1, 6), (3, 0), (4, "text"))]), (3, rows),
                    (4, metas))
    return [*body, footer, struct.pack("<I", len(footer)), b"PAR1"]


def wide(count):
    """A row, with so many columns beside, whose pages are not looked at; in two pieces: the footer is one."""
    data = page([[b"text"]])
    column = [fields((2, 4), (3, fields((1, 1), (2, []), (3, []), (4, GZIP), (5, 1), (6, 0), (7, 9), (9, 4))))]
    of_text = fields((2, 4), (3, fields((1, 6), (2, []), (3, []), (4, GZIP), (5, 1), (6, 0), (7, len(data)), (9, 4))))
    schema = [fields((1, 1), (3, 0), (4, "column %d" % i)) for i in range(count)]
    half = count // 2
    footer = fields((1, 1), (2, [fields((4, "schema"), (5, count + 1)), *schema[:half],
                                 fields((1, 6), (3, 0), (4, "text")), *schema[half:]]), (3, 1),
                    (4, [fields((1, column * half + [of_text] + column * (count - half)), (2, 0), (3, 1))]))
    return [b"PAR1" + data, footer, struct.pack("<I", len(footer)), b"PAR1"]


def large_page(codec, name):
    """Between two small ones, in a row group of its own. liblz4 decompresses one in a single call, in which what it
    reads and writes, pages of a file that the kernel can take back, is resident."""
    text = PART[:-64] + PART[:32] * 2
    run("a large page, " + name, [put("large.parquet", parquet(
        [(page([[b"first"]], codec), 1, 1), (page([[text] * size], codec), 1, 1), (page([[b"last"]], codec), 1, 1)],
        codec))], documents=3, more=2 * size if codec == LZ4_RAW else 0)


def data_page(encoding, count, *pieces):
    """One that is not compressed."""
    size = sum(map(len, pieces))
    header = fields((1, 0), (2, size), (3, size), (5, fields((1, count), (2, encoding), (3, 3), (4, 3))))
    return header + b"".join(pieces)


def differences(first, second):
    """Two numbers, in a block of 128 of 4 parts, of which the first has 32 bits for each difference."""
    return b"\x80\x01\x04\x02" + varint(2 * first) + b"\0\x20\0\0\0" + struct.pack("<32I", second - first, *[0] * 31)


def dictionary_page(count, *pieces):
    size = sum(map(len, pieces))
    return fields((1, 2), (2, size), (3, size), (7, fields((1, count), (2, 0)))) + b"".join(pieces)


def large_values(encoding):
    """A short text and one that memory has no room for, in a page that is not compressed."""
    text = [TEXT] * (memory + memory // 8)
    size = sum(map(len, text))
    data = {"DELTA_LENGTH_BYTE_ARRAY": lambda: data_page(6, 2, differences(1, size), b"x", *text),
            "DELTA_BYTE_ARRAY": lambda: data_page(7, 2, differences(0, 1), differences(1, size - 1), *text),
            "a dictionary": lambda: dictionary_page(2, struct.pack("<I", 1), b"x", struct.pack("<I", size), *text) +
            data_page(8, 2, b"\1\3\2")}[encoding]()
    run("large values, " + encoding, [put("large.parquet", parquet([(data, 1, 2)], PLAIN))], tokenizer="bytes",
        documents=2)


def run(what, names, tokenizer="gpt2", documents=None, rejects=0, threads=2, reason="", more=0):
    global failures
    p = subprocess.run([leat, "pack", "-t", tokenizer, "-o", "out", "--force", "--json", "--memory", "%dMi" % memory,
                        "--max-rejects", "100%", "--allow-binary", "--threads", str(threads), *names],
                       cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0:
        if b"this build cannot read" not in p.stderr:
            print("%s: exit code %d: %s" % (what, p.returncode, p.stderr.decode()))
            failures += 1
        return
    r = json.loads(p.stdout)
    peak = r["peak_memory"] / (1 << 20)
    if reason:
        with open(os.path.join(tmp, "out.rejects.jsonl")) as f:
            reason = "" if all(reason in json.loads(line)["reason"] for line in f) else "other reasons than " + reason
    ok = not reason and peak < memory + more and r["documents"] == documents and r["rejected"] == rejects
    print("%-38s %7.1f MiB of text, %9d documents, %9d rejects, %6.1f s, peak %6.1f MiB%s" % (
        what, r["text_bytes"] / (1 << 20), r["documents"], r["rejected"], r["seconds"], peak, "" if ok else "  WRONG"))
    failures += not ok
    for name in names:
        os.unlink(os.path.join(tmp, name))


def main():
    os.makedirs(tmp, exist_ok=True)
    zst = bool(shutil.which("zstd"))
    print("a document of %d MiB, --memory %dMiB" % (size, memory))
    cases = [
        ("a record", lambda: run("a record", [put("a.jsonl", record(size))], documents=3)),
        ("a compressed record", lambda: zst and run("a compressed record", [put("a.jsonl.zst", record(size))],
                                                    documents=3)),
        ("a text", lambda: run("a text", [put("a.txt", repeated(TEXT, size))], documents=1)),
        ("a compressed text", lambda: zst and run("a compressed text", [put("a.txt.zst", repeated(TEXT, size))],
                                                  documents=1)),
        ("a text by bytes, one thread", lambda: run("a text by bytes, one thread", [put(
            "a.txt", repeated(TEXT, size))], tokenizer="bytes", documents=1, threads=1)),
        ("a malformed text", lambda: run("a malformed text", [put("a.txt", repeated(
            b"\xff \xfe " * 262144, size // 4))], documents=1)),
        ("malformed texts of 8 MiB", lambda: run("malformed texts of 8 MiB", [put("a%d.txt" % i, repeated(
            b"\xff\xfe\xfd " * 262144, 8)) for i in range(max(2, size // 32))], documents=max(2, size // 32))),
        ("a record of escapes", lambda: run("a record of escapes", [put("a.jsonl", [b'{"text":"', *repeated(
            b"\\u6c34 " * 131072, size // 4), b'"}\n'])], documents=1)),
        ("tiny documents", lambda: run("tiny documents", [put("a.jsonl", tiny_documents(size * 10000))],
                                       documents=size * 10000)),
        ("tiny documents, compressed", lambda: zst and run("tiny documents, compressed", [put(
            "a.jsonl.zst", tiny_documents(size * 10000))], documents=size * 10000)),
        ("bad lines", lambda: run("bad lines", [put("a.jsonl", repeated(b"x\n" * 10000, size * 2))], documents=0,
                                  rejects=size * 20000)),
        ("a bad record", lambda: run("a bad record", [put("a.jsonl", [*record(size), b"{\n", b'{"text":"', *repeated(
            PART, size // 2)])], documents=3, rejects=2)),
        ("a piece that cannot be cut", lambda: run("a piece that cannot be cut", [put("a.jsonl", [
            b'{"text": "first"}\n{"text": "', *repeated(b"letters" * 150000, size), b'"}\n{"text": "last"}\n'])],
            documents=2, rejects=1, reason="cannot be cut")),
        ("small compressed texts", lambda: run("small compressed texts", small_gz(size), documents=size)),
        ("a corpus", lambda: run("a corpus", [put("a.jsonl", repeated(b"".join(
            b'{"text": "%s"}\n' % PART[i:i + 4096].replace(b"\\", b"") for i in range(0, len(PART) - 4096, 4096)),
            size))], documents=size * len(range(0, len(PART) - 4096, 4096)))),
        ("a large row group", lambda: run("a large row group", [put("a.parquet", parquet([
            (page([[PART[:4096]]] * 50), size * 5, 50)]))], documents=size * 250)),
        ("a row group of tiny rows", lambda: run("a row group of tiny rows", [put("a.parquet", parquet([
            (page([[b"x"]] * 10000), size, 10000)]))], documents=size * 10000)),
        ("very many row groups", lambda: run("very many row groups", [put("a.parquet", parquet(
            [(page([[b"text"]]), 1, 1)] * (size * 300)))], documents=size * 300)),
        ("very many columns", lambda: run("very many columns", [put("a.parquet", wide(size * 1000))], documents=1)),
    ] + [("a large page, " + name, lambda codec=codec, name=name: (codec != ZSTD or zst) and large_page(codec, name))
         for codec, name in [(PLAIN, "not compressed"), (SNAPPY, "Snappy"), (GZIP, "gzip"), (ZSTD, "zstd"),
                             (LZ4_RAW, "LZ4_RAW")]] + [
        ("large values, " + what, lambda what=what: large_values(what))
        for what in ("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "a dictionary")]
    for what, case in cases:
        if only in what:
            case()


main()
sys.exit(failures > 0)
