#!/usr/bin/env python3
"""test_damaged_inputs.py: which inputs were cut off or broken, where, and how many bytes of them were not read: all
three forms of leat info say it first. It was "inputs were cut off or broken", in the metadata of the text and of JSON
only. Places are those of the files as this test made them. What is stored is the same for any number of threads and
memory, after a stop, of parts that are joined, and in each dataset of a division.
"""
import bz2
import gzip
import json
import lzma
import os
import pathlib
import re
import subprocess
import tempfile
import zlib

from programs import LEAT, SMALL, build, rng

files = pathlib.Path("tests/parquet/files").resolve()
os.chdir(tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP")))


def leat(*words, code=0, program=LEAT):
    done = subprocess.run([program, *words], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    said = done.stderr.decode()
    assert done.returncode == code, (words, done.returncode, said)
    return done.stdout.decode()


def pack(name, *words, code=0, program=LEAT):
    return leat("pack", "-t", "bytes", "-o", name, "--max-rejects", "99999", "--allow-truncated", *words, code=code,
                program=program)


def damaged(name):
    return json.loads(leat("info", "--json", name))["damaged"]


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


def is_read(name):
    """Whether the build can read such a file."""
    done = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "try", "--force", name], capture_output=True, check=False)
    return b"this build cannot read" not in done.stderr


# ---- What is known of each kind of damage ---------------------------------------------------------------------------

records = [json.dumps({"text": "".join(rng.choice("abcdefgh ") for _ in range(300)), "v": str(i % 3)}).encode()
           for i in range(3000)]
lines = b"\n".join(records) + b"\n"
array = b"[" + b",\n".join(records) + b"]"
want, files_of = [], []


def case(name, data, offset, unread, reason):
    write(name, data)
    if is_read(name):
        files_of.append(name)
        want.append({"input": name, "offset": offset, "reason": reason, "unread_bytes": unread})


for form, compress, member in (("gz", gzip.compress, "a gzip member"), ("bz2", bz2.compress, "a bzip2 stream"),
                               ("xz", lzma.compress, "an xz stream")):
    whole = compress(lines)
    cut = rng.randrange(len(whole) // 3, len(whole) - 20)
    case("cut.jsonl." + form, whole[:cut], cut, 0, "it ends in the middle of " + member)
    case("tail.jsonl." + form, whole + b"no member", len(whole), 9,
         f"its {'bzip2' if form == 'bz2' else 'gzip' if form == 'gz' else form} data is broken")
    case(f"text.txt.{form}", compress(lines[:2000])[:-3], len(compress(lines[:2000])) - 3, 0,
         "it ends in the middle of " + member)
wrong = bytearray(gzip.compress(lines))
wrong[-8] ^= 1 # of the checksum
case("sum.jsonl.gz", bytes(wrong), len(wrong) - 8, 8, "its gzip data is broken")
case("open.json", array[:-1], len(array) - 1, 0,
     "it ends in the middle of its JSON array, where a comma or ] is expected")
at = len(b"[" + b",\n".join(records[:2000]))
bad = array[:at] + b";" + array[at + 1:]
broken = "its JSON array is broken: a comma or ] is expected"
case("bad.json", bad, at, len(bad) - at, broken)
case("bad.json.gz", gzip.compress(bad), at, len(bad) - at, broken) # of the text
case("short.parquet", (files / "many.parquet").read_bytes()[:900], 0, 900,
     "it is cut off or its footer is broken: no row was found")
write("sound.jsonl", lines)
inputs = []
for name in files_of:
    inputs += [name, "sound.jsonl"] if rng.random() < 0.3 else [name]

pack("out", *inputs)
assert damaged("out") == want, (damaged("out"), want)
stored = dict(json.loads(leat("info", "--json", "out"))["parts"][0]["metadata"])["leat.damaged"]
assert [json.loads(line) for line in stored.split("\n")] == want, stored # as FORMAT.md says

# ---- The three forms ------------------------------------------------------------------------------------------------


def text_lines(name):
    """What the text says below the dataset's name, up to the number of tokens."""
    text = leat("info", name)
    assert text.startswith(name + "\n"), text
    return text[len(name) + 1:text.index("  tokens ")].splitlines()


def sentence(d):
    rest = f"{d['unread_bytes']:,} byte{' was' if d['unread_bytes'] == 1 else 's were'} not read"
    return "%s, at byte %s: %s; %s" % (d["input"], f"{d['offset']:,}", d["reason"],
                                       rest if d["unread_bytes"] else "what should follow is missing")


def check_forms(name, found):
    first, *rest = text_lines(name)
    many = len(found) > 1
    lost = sum(d["offset"] == 0 for d in found)
    assert first == "  damaged     %d input%s cut off or broken, and %s" % (
        len(found), "s were" if many else " was",
        ("nothing of %s could be read" % ("them" if many else "it")) if lost == len(found) else
        "packed as far as %s readable" % ("they were" if many else "it was") +
        (f", but {lost} not at all" if lost else "")), first
    more = ["... and %d more (--json has them all)" % (len(found) - 20)] if len(found) > 20 else []
    assert [line.strip() for line in rest] == [sentence(d) for d in found[:20]] + more, rest
    assert "leat.damaged" not in leat("info", name) # nor said twice


check_forms("out", want)
pack("sound", "sound.jsonl")
assert damaged("sound") == [] and text_lines("sound") == []

# names that are markup, that would turn a terminal, and that JSON escapes
ODD = '<b>"\x1b[31m\\\u202e.jsonl.gz'
write(ODD, pathlib.Path("cut.jsonl.gz").read_bytes())
pack("odd", ODD)
assert [d["input"] for d in damaged("odd")] == [ODD]
assert "\\x1b[31m" in text_lines("odd")[1] and "\\u202e" in text_lines("odd")[1], text_lines("odd")
assert not any(c in leat("info", "odd") for c in "\x1b\u202e")

# many: the text shows some
for i in range(23):
    write("many%02d.jsonl.gz" % i, pathlib.Path("cut.jsonl.gz").read_bytes()[:1000 + i])
pack("many", *("many%02d.jsonl.gz" % i for i in range(23)))
assert [d["offset"] for d in damaged("many")] == list(range(1000, 1023))
check_forms("many", damaged("many"))

# ---- The same bytes -------------------------------------------------------------------------------------------------

# a large gzip file whose deflate data are not valid in the middle: its place was that of a buffer
noise = b"".join(b'{"text":"%s"}\n' % rng.randbytes(60).hex().encode() for _ in range(40000))
sound = gzip.compress(noise, 1)
why = ""
while "Error -3" not in why or "check" in why: # else it is found by the checksum
    noise = bytearray(sound)
    at = len(noise) // 2 + rng.randrange(99999)
    noise[at:at + 200] = rng.randbytes(200)
    try:
        why = str(gzip.decompress(noise))[:0]
    except (zlib.error, OSError) as error:
        why = str(error)
write("noise.jsonl.gz", noise)
many = bytearray((files / "many.parquet").read_bytes())
for at in 3000, 9001, 15003:
    many[at:at + 3] = b"\xff\0\xff"
write("many.parquet", many)
inputs += ["noise.jsonl.gz", "many.parquet", "sound.jsonl"]
pack("whole", *inputs, program=SMALL)
index = pathlib.Path("whole.leat").read_bytes()
for threads, memory in (1, "96MiB"), (7, "1GiB"):
    pack("again", "--force", "--threads", str(threads), "--memory", memory, *inputs)
    assert pathlib.Path("again.leat").read_bytes() == index, (threads, memory)
leat("pack", "-t", "bytes", "-o", "stopped", "--max-rejects", "60", "--allow-truncated", *inputs, code=4, program=SMALL)
pack("stopped", "--resume", *inputs, program=SMALL)
assert pathlib.Path("stopped.leat").read_bytes() == index, "resumed"
for i in range(1, 6):
    pack(f"part.{i}", "--part", f"{i}/5", *inputs, program=SMALL)
leat("merge", "-o", "joined", *(f"part.{i}" for i in range(1, 6)))
assert pathlib.Path("joined.leat").read_bytes() == index, "parts"
place = damaged("whole")[-2]
assert place["input"] == "noise.jsonl.gz" and at <= place["offset"] < len(noise), (place, at)
assert place["unread_bytes"] == len(noise) - place["offset"]
leat("merge", "-o", "first", "part.1", "part.2", "part.3")
leat("merge", "-o", "again", "--force", "first", "part.4", "part.5")
assert pathlib.Path("again.leat").read_bytes() == index, "parts that were joined in two steps"
pack("file", "many.parquet")
for i in range(1, 6):
    pack(f"rows.{i}", "--part", f"{i}/5", "many.parquet")
assert sum(len(damaged(f"rows.{i}")) for i in range(1, 6)) > 1, "the damage is in one part"
leat("merge", "-o", "rows", *(f"rows.{i}" for i in range(1, 6)))
assert damaged("rows") == damaged("file"), (damaged("rows"), damaged("file"))
assert pathlib.Path("rows.leat").read_bytes() == pathlib.Path("file.leat").read_bytes(), "parts of a file"
leat("merge", "-o", "rows.1-3", "rows.1", "rows.2", "rows.3")
leat("merge", "-o", "rows", "--force", "rows.1-3", "rows.4", "rows.5")
assert damaged("rows") == damaged("file"), "parts of a file, joined in two steps"

# rows of Parquet: the first page that cannot be read, and all bytes from such pages to the ends of their row groups
rows = damaged("whole")[-1]
pages = [(int(page), int(group)) for page, group in re.findall(
    r"the page at byte (\d+), in [^;]*row group (\d+)", pathlib.Path("whole.rejects.jsonl").read_text())]
assert rows["input"] == "many.parquet" and rows["offset"] == pages[0][0], (rows, pages)
assert re.fullmatch(rf"row group {pages[0][1]} is broken: rows \d+ to \d+ are lost", rows["reason"]), rows
each = []
for at in 3000, 9001, 15003:
    one = bytearray((files / "many.parquet").read_bytes())
    one[at:at + 3] = b"\xff\0\xff"
    write("one.parquet", one)
    pack("one", "--force", "one.parquet")
    each.append(damaged("one")[0]["unread_bytes"])
    assert 0 < each[-1] < len(one) // 5
assert rows["unread_bytes"] == sum(each), (rows, each)

# ---- Arranged, divided, of lists, and badly spelled ---------------------------------------------------------------

found = damaged("whole")
lined = [name for name in inputs if name.endswith((".jsonl", ".jsonl.gz"))]
for options in ["--split", "a=0.3"], ["--dedup"], ["--shuffle", "7"], ["--by", "v"]:
    pack("arranged", *options, *lined)
    names = [n[:-5] for n in os.listdir() if n.startswith("arranged") and n.endswith(".leat")]
    assert names
    for name in names:
        assert damaged(name) == [d for d in found if d["input"] in lined], (options, name)
        os.remove(name + ".leat")
        os.remove(name + ".tokens")
leat("pack", "--run", "run", "--parts", "3", "-t", "bytes", "--split", "a=0.3", "--max-rejects", "99999", *inputs)
for i in range(1, 4):
    leat("pack", "--run", "run", "--part", str(i), "--allow-truncated")
for part in "run", "run/a":
    leat("merge", part, "-o", "merged", "--shuffle", "5", "--force")
    assert damaged("merged") == found, "split by the parts of a run, and shuffled by the merge"

maker = os.path.join(build, "make_dataset")
# a line of another spelling does not say which input was damaged
subprocess.run([maker, "odd", "metadata=leat.damaged=inputs were cut off or broken", "document=1"], check=True)
for command in ["info", "odd"], ["merge", "-o", "odds", "odd"]:
    refused = subprocess.run([os.path.join(build, "leat"), *command], capture_output=True, text=True)
    assert refused.returncode == 3 and "odd: the metadata leat.damaged have a line" in refused.stderr, refused
# a line is JSON, however it is spelled: blanks, another order and escapes were refused
line = r'{"reason": "it \u0062roke off", "input": "a\/b", "offset": 7, "unread_bytes": null}'
subprocess.run([maker, "spaced", "metadata=leat.damaged=" + line, "document=1"], check=True)
assert damaged("spaced") == [json.loads(line)]
os.makedirs("list")
pack("list/a", "cut.jsonl.gz")
pack("list/b", "sum.jsonl.gz")
assert damaged("list") == damaged("list/a") + damaged("list/b") and len(damaged("list")) == 2
