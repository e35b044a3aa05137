#!/usr/bin/env python3
"""test_csv_long.py: what leat pack cuts from random CSV whose records and quoted fields are about as long as they may
be, or longer, or whose quotes do not end: records, and rejects with their places and reasons, are those of the rules of
csv_records.h, written here a second time. With small pieces, where CSV_MAX_BYTES is 32 KiB; and once with the usual
ones, with several memories. (The reason for a quote that did not end, in a line longer than 4 MiB, once depended on
--memory and --threads.)"""
import json
import os
import re
import subprocess
import sys

from programs import LEAT, SMALL, rng

MOST = 32768
TOO_LONG, UNCLOSED, CUT_OFF = REASONS = "too long for one", "does not end within", "the input ends in the record"
os.chdir(os.environ.get("LEAT_TEST_TMP", "/tmp"))


def line_end(data, at):
    """After the end of the line."""
    return min([i + 1 for i in (data.find(b"\n", at), data.find(b"\r", at)) if i >= 0], default=len(data))


def quoted(data, quote):
    """(after the quote that ends the one at `quote`, True); (None, False): that does not end in time; (the end of the
    data, False), if that comes first."""
    at = quote + 1
    while (at := data.find(b'"', at, quote + MOST)) >= 0:
        if data[at + 1:at + 2] != b'"':
            return at + 1, True
        at += 2
        if at >= quote + MOST:
            break
    return None if len(data) >= quote + MOST else len(data), False


def record_end(data, at):
    """(after the record, why it is lost)"""
    while at < len(data):
        if data[at] == ord('"'):
            end, closed = quoted(data, at)
            if end is None:
                line = line_end(data, at)
                return line, UNCLOSED if line <= at + MOST and data[line - 1] in b"\r\n" else None
            if end == len(data) and not closed:
                return end, CUT_OFF
            if data[end:end + 1] not in (b",", b"\r", b"\n"):
                return line_end(data, end), None
            at = end
        else:
            while at < len(data) and data[at] not in b",\r\n":
                at += 1
        at += 1
        if at > len(data) or data[at - 1] in b"\r\n":
            return min(at, len(data)), None
    return at, None


def split(data):
    """(begin, why) of each record, after the header."""
    out, at = [], line_end(data, 0)
    while at < len(data):
        if data[at] in b"\r\n":
            at += 1
            continue
        begin = at
        at, why = record_end(data, begin)
        out.append((begin, why or (TOO_LONG if at - begin > MOST else None)))
    return out


def body(size, letters):
    return bytes(rng.choice(letters) for _ in range(8)) * (size // 8 + 1)


def record():
    size, small = rng.choice([3, 50, 3000, 20000, 32000, 32750, 33000, 40000, 100000]), rng.choice([3, 50, 3000])
    lines, plain = b"abc  ,,\n\r", b"abcdefg "
    return rng.choice([lambda: body(small, plain) + b",x", lambda: body(size, plain) + b",x",
                       lambda: b'"' + body(size, lines) + b'",y', lambda: b'"' + body(size, lines),
                       lambda: b'"' + body(size, plain),
                       lambda: b'"' + body(small, lines) + b'","' + body(size, lines) + b'"',
                       lambda: b'"' + body(small, lines) + b'"z' + body(size, plain) + b",y",
                       lambda: b'"' + body(size, lines).replace(b"a", b'""') + b'",' + body(size, plain)])()


def pack(program, *words):
    done = subprocess.run([program, "pack", "-t", "bytes", "-o", "out", "--force", "--max-rejects", "100%", "--json",
                           "--allow-truncated", *words, "in.csv"], capture_output=True, text=True)
    rejects = []
    if os.path.exists("out.rejects.jsonl"):
        with open("out.rejects.jsonl", encoding="utf-8") as file:
            rejects = [json.loads(line) for line in file]
        os.unlink("out.rejects.jsonl")
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout), rejects


def lost(rejects):
    return [(x["offset"], why) for x in rejects for why in REASONS if why in x["reason"]]


for case in range(40):
    data = b"text,b\n" + b"".join(record() + rng.choice([b"\n", b"\r\n", b"\r", b"\n\n"])
                                 for _ in range(rng.randint(1, 12)))
    data = data[:rng.choice([len(data), len(data) - 1, rng.randrange(8, len(data) + 1)])]
    with open("in.csv", "wb") as file:
        file.write(data)
    total, rejects = pack(SMALL, "--threads", str(rng.randint(1, 3)))
    wanted = split(data)
    assert lost(rejects) == [w for w in wanted if w[1]], (case, lost(rejects), [w for w in wanted if w[1]])
    assert total["documents"] + total["rejected"] == len(wanted), (case, total, len(wanted))

with open("in.csv", "wb") as file:
    file.write(b'text\nfirst\n"' + b"a" * ((4 << 20) + 100) + b"\nlast\n")
# the pieces of little memory; with a sanitizer, whose own memory counts, more is little
refused = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "out", "--force", "--memory", "1Mi", "--threads", "1",
                          "in.csv"], capture_output=True, text=True).stderr
little = int(re.search(r"allow at least (\d+) MiB", refused)[1]) + 15
for words in ("--memory", f"{little}Mi", "--threads", "1"), ("--memory", "512Mi"):
    total, rejects = pack(LEAT, *words)
    assert lost(rejects) == [(11, TOO_LONG)] and total["documents"] == 2, (words, total, rejects)
