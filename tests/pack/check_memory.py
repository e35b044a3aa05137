"""check_memory.py LEAT TMP [MIB [MEMORY [WORD]]]: the peak of resident memory of leat pack stays below --memory MEMORY
(in MiB) and 64 MiB, for a document of MIB MiB (a JSON record, a text, plain and compressed, malformed), for very many
tiny documents, for very many bad lines, for many small compressed texts that become large, and for a large corpus; and
nothing of it is refused that can be cut.
"""
import json
import os
import shutil
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


def run(what, names, tokenizer="gpt2", documents=None, rejects=0, threads=2, reason=""):
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
    ok = not reason and peak < memory + 64 and r["documents"] == documents and r["rejected"] == rejects
    print("%-34s %7.1f MiB of text, %9d documents, %9d rejects, %6.1f s, peak %6.1f MiB%s" % (
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
    ]
    for what, case in cases:
        if only in what:
            case()


main()
sys.exit(failures > 0)
