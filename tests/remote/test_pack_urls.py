#!/usr/bin/env python3
"""test_pack_urls.py: leat pack reads s3://, prefixes and http:// as it reads files: the same documents, ids and hashes
of inputs for JSON lines, texts and Parquet, plain or compressed, whatever the server does on the way; stopped, killed
and resumed; in parts that are merged, and in a run's folder. An object that changes ends the run with a sentence. No
key is in any message or file."""
import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import checks
from checks import build, check
from s3_server import ACCESS, SECRET, S3Server

here = pathlib.Path(__file__).resolve().parent.parent
leat, dump = build / "tiny" / "leat", build / "dataset_dump"  # ranges of at most 2 KiB
folder = checks.own_folder("pack_urls", leat, dump)
SIGNATURE = "X-Signature=UNSPEAKABLE"
PACK = ["-t", "bytes", "--end", "none", "--max-rejects", "100%"]


def start(server, *words, **more):
    env = {"PATH": os.environ["PATH"], **server.environment(**{"AWS_MAX_ATTEMPTS": "6", **more})}
    return subprocess.Popen([leat, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def finish(server, process):
    out, said = process.communicate(timeout=250)
    server.settle()
    said = said.decode() + out.decode()
    check("no key is said", not any(s in said for s in (ACCESS, SECRET, SIGNATURE)), said)
    return process.returncode, said


def run(server, *words, **more):
    return finish(server, start(server, *words, **more))


def pack(server, name, *words, **more):
    return run(server, "pack", *PACK, "--progress", "never", "-o", name, *words, **more)


def summary(said):
    return json.loads(said[said.index("{"):])


def shown(name):
    """All of a dataset but the places of its inputs, of which the last part of the name stays."""
    lines = subprocess.run([dump, "show", name], cwd=folder, check=True, capture_output=True).stdout.decode()
    for before in ("s3://b/c/", "c/"):
        lines = lines.replace(" " + before.encode().hex(), " ")
    return [line for line in lines.split("\n") if not line.startswith("sizes ")]


def check_same(what, name, wanted, result):
    code, said = result
    check(what, code == 0 and shown(name) == shown(wanted), code, said)


def check_refused(what, name, result, why, code=1):
    check(what, result[0] == code and why in result[1] and not (folder / f"{name}.leat").exists(), *result)


def files(name):
    return [(folder / f"{name}.{suffix}").read_bytes() for suffix in ("leat", "tokens")]


# ---- What is read ----

def test_prefix(server):
    for more in ([], ["--threads", "1"], ["--threads", "5", "--memory", "128MiB"]):
        check_same(f"a prefix {more}", "prefix", "local", pack(server, "prefix", "s3://b/c/", "--force", *more))
    check_refused("a tar archive in gzip", "no", pack(server, "no", "s3://b/lie.jsonl.gz"),
                  "s3://b/lie.jsonl.gz is compressed, and what it holds is a tar archive: unpack it first")
    check_refused("a zip archive below a prefix", "no", pack(server, "no", "s3://b/lies/"),
                  "s3://b/lies/a.jsonl is a zip archive: unpack it first")
    check_refused("a wrong field", "no", pack(server, "no", "s3://b/small.jsonl", "--text", "txt"),
                  's3://b/small.jsonl: no member "txt" in the first record; it has "text"; did you mean "text"?')
    code, said = pack(server, "marked", "s3://b/marked/", "--json")
    wanted = ["s3://b/marked/_foo.jsonl", "s3://b/marked/x/_temporary/"]
    check("names with _", code == 0 and summary(said)["skipped_files"] == wanted and summary(said)["documents"] == 1 and
          "skipped 2 names in folders, for beginning with _ " in said, code, said)
    code, said = pack(server, "text", "s3://b/marked/", "--json", "--format", "text", "--max-rejects", "100%")
    check("names with _, as text", code == 0 and summary(said)["skipped"] == 0, code, said)
    code, said = pack(server, "equal", "s3://b/equal/", "--json")
    check("names with _ and =", code == 0 and summary(said)["documents"] == 2 and summary(said)["skipped"] == 0, said)
    code, said = pack(server, "icon", "s3://b/icon/", "--json")
    check("names with control characters", code == 0 and summary(said)["documents"] == 2 and
          summary(said)["skipped_files"] == ["s3://b/icon/Icon\r"], code, said)
    words = "s3://b/marked/_foo.jsonl", "s3://b/marked/x/_temporary/"
    check("names with _, named", pack(server, "named", *words)[0] == 0)
    check_refused("nothing else", "no", pack(server, "no", "s3://b/only/"),
                  "s3://b/only/ has no file to pack but names that begin with _, which are passed over in folders, "
                  "such as s3://b/only/_a.jsonl")
    for below, what in (("", "delta is a Delta Lake"), ("delta/", "delta is a Delta Lake"), ("hudi/", "hudi is a Hudi"),
                        ("ice/", "ice is an Iceberg")):
        check_refused(f"a table {below}", "no", pack(server, "no", f"s3://b/lake/{below}"),
                      f"the folder s3://b/lake/{what} table, and some of its files may hold rows that were deleted")
    code, said = run(server, "info", "prefix", "--json")
    inputs = [i["path"] for i in summary(said)["inputs"]] if code == 0 else []
    check("its inputs", inputs == sorted(f"s3://b/c/{n}" for n in names), inputs)
    with open(folder / "list", "w") as f:
        f.write("\n".join(f"s3://b/c/{n}" for n in names))
    check_same("a list", "listed", "local", pack(server, "listed", "@list"))
    server.repeats = "empty"
    check_refused("a list without objects and without an end", "none", pack(server, "none", "s3://b/c/"),
                  "the server's list is not valid for S3")
    # what never ends took all memory that there is, 5 GiB in 25 seconds; and 400,000 names 312 MiB, of 64 allowed
    server.repeats = "more"
    check_refused("a list without an end", "none", pack(server, "none", "s3://b/c/", LEAT_MAX_LISTED="2500"),
                  "s3://b/c/: the server lists more than 2500 objects; name a folder with fewer, or set LEAT_MAX_L")
    code, said = run(server, "info", "s3://b/c/", LEAT_MAX_LISTED="2500")
    check("a folder of datasets without an end", code == 1 and "lists more than 2500 objects" in said, code, said)
    check_refused("names that take too much", "none", pack(server, "none", "s3://b/c/", "--memory", "48MiB"),
                  "take all of 48 MiB of memory; allow more, or pack fewer at once (--memory SIZE)", 2)
    process, before = start(server, "pack", *PACK, "-o", "none", "s3://b/c/"), len(server.requests)
    while process.poll() is None and len(server.requests) < before + 9:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    code, said = finish(server, process)
    check("a stop while a list does not end", code == 5, code, said)
    server.repeats = False
    # a list of parts, and a run, of which somebody else says how large they are
    server.objects.update({f"b/large/leat-run{end}": bytes((64 << 20) + 1) for end in ("", ".list")})
    for words in (["info", "s3://b/large/"], ["info", "s3://b/large/leat-run.list"], ["status", "s3://b/large"]):
        code, said = run(server, *words)
        check(words, code == 1 and "is too large: a list or plan has at most 64 MiB" in said, code, said)
    for end in ("", ".list"):
        del server.objects[f"b/large/leat-run{end}"]
    check_refused("below nothing", "none", pack(server, "none", "s3://b/nothing/"), "s3://b/nothing/ has no file")
    check_refused("what cannot be read", "none", pack(server, "none", "s3://b/other/"),
                  "has 1 file that may hold texts but cannot be read; s3://b/other/x.arrow is an Arrow file")
    code, said = pack(server, "chosen", "s3://b/other/", "--exclude", "*.arrow", "--include", "x.*l", "--json")
    check("what a pattern leaves out is not judged", code == 0 and summary(said)["inputs"] == 1 and
          "skipped 3 files in folders, by --include and --exclude: s3://b/other/x.arrow" in said, code, said)
    check_refused("patterns without a folder", "none", pack(server, "none", "s3://b/other/x.jsonl", "--exclude", "y"),
                  "patterns choose files of folders, and no input is a folder", code=2)
    code, said = pack(server, "one", "s3://b/other/", "--skip-unknown", "--json")
    check("what is left out", code == 0 and summary(said)["inputs"] == 1 and "x.bin" in said and "x.png" in said,
          code, said)
    check_refused("a list on a server", "none", pack(server, "none", "@s3://b/list"), "a list is a file of this")


def test_splits(server):
    """Below a prefix as in a folder, of which README.md is asked, too."""
    check_refused("splits by names", "no", pack(server, "no", "s3://b/hub/"), "the files of the folder s3://b/hub/ do "
                  "not all belong to one split: train (2 files: train-1.jsonl, train-2.jsonl), test (1 file: "
                  "test.jsonl);", 2)
    with open(folder / "list", "w") as f:
        f.write("s3://b/hub/train-1.jsonl\ns3://b/hub/test.jsonl\n")
    check_refused("splits of a list", "no", pack(server, "no", "@list"), "the inputs do not all belong to one split: "
                  "train (1 file: train-1.jsonl), test (1 file: test.jsonl);", 2)
    code, said = pack(server, "train", "s3://b/hub/", "--split-of", "train", "--json")
    check("one split", code == 0 and summary(said)["inputs"] == 2 and
          summary(said)["skipped_files"] == ["s3://b/hub/test.jsonl"], code, said)
    server.objects["b/hub/README.md"] = (b"---\nconfigs:\n- config_name: a\n  data_files:\n"
                                        b"  - {split: train, path: t*1*}\n  - {split: more, path: test*}\n---\n" +
                                        b"x" * 9000)
    code, said = pack(server, "train", "s3://b/hub/", "--split-of", "more", "--json", "--force")
    if "no libyaml" not in said:
        check("a split of README.md", code == 0 and summary(said)["hub_splits"] == [
            {"split": "train", "inputs": 1, "packed": False}, {"split": "more", "inputs": 1, "packed": True},
            {"split": None, "inputs": 1, "packed": False}], code, said)
    server.objects["b/hub/README.md"] = b"---\nconfigs: [\n---\n"
    check_refused("README.md that cannot be read", "no", pack(server, "no", "s3://b/hub/"),
                  "s3://b/hub/README.md lists configurations", 1 if "no libyaml" in said else 2)
    code, said = pack(server, "train", "s3://b/hub/", "--split-of", "all", "--json", "--force")
    check("all of it", code == 0 and summary(said)["inputs"] == 3, code, said)
    del server.objects["b/hub/README.md"]


def test_ranges(server):
    """Of Parquet, the footer and the wanted columns, each once or so; of a small file, first how long it is, with its
    first bytes."""
    asked_for = []
    for more in ([], ["--id", ""]):
        server.requests = []
        code, said = pack(server, "ranges", "--force", *more, "s3://b/c/many.parquet")
        ranges = [h["Range"][6:].split("-") for _, _, _, h in server.requests if "Range" in h]
        asked_for.append(sum(int(last) - int(first) + 1 for first, last in ranges))
        check(f"a table {more}", code == 0, code, said)
    size = len(server.objects["b/c/many.parquet"])
    check("ranges of a table", 2 * size > asked_for[0] > asked_for[1] + size // 10, asked_for, size)
    server.requests = []
    pack(server, "ranges", "--force", "s3://b/small.jsonl")
    check("requests for a small file", len(server.requests) == 2, len(server.requests))


def test_web(server):
    """Each request of a web server has the query; nothing that is written does."""
    server.open_buckets = {"b"}
    urls = [f"{server.url}/b/c/{n}?{SIGNATURE}" for n in names]
    code, said = pack(server, "web", *urls)
    check("by http", code == 0 and files("web")[1] == files("local")[1], code, said)
    code, said = run(server, "info", "web", "--json")
    paths = [i["path"] for i in summary(said)["inputs"]] if code == 0 else []
    check("its inputs", paths == [f"{server.url}/b/c/{n}" for n in names], paths)
    check_refused("a folder", "none", pack(server, "none", server.url + "/b/c/"), "only buckets can be listed")
    check_refused("no suffix", "none", pack(server, "none", server.url + "/b/list"), "unknown suffix", 2)
    server.objects["b/table"] = server.objects["b/c/many.parquet"]
    code, said = pack(server, "bare", server.url + "/b/table")
    check("Parquet by its first bytes", code == 0 and files("bare")[1] == files("many")[1], code, said)
    code, said = run(server, "pack", *PACK, "--run", "run-web", "--parts", "2", urls[0])
    check("a run's plan holds no key", code == 2 and "?" in said and not (folder / "run-web").exists(), code, said)
    check_refused("another scheme", "none", pack(server, "none", "ftp://b/x.jsonl"), "leat reads only those")
    server.open_buckets = set()


def test_options(server):
    for number, more in enumerate((["--dedup", "--split", "valid=0.2"], ["--shuffle", "7"], ["--keep", "id exists"],
                                   ["--by", "id"])):
        words = ["kinds.jsonl"] if "--by" in more else ["a.jsonl", "b.jsonl.gz", "many.parquet"]
        for name, before in ((f"of{number}", "s3://b/c/"), (f"lo{number}", "c/")):
            code, said = pack(server, name, *more, *(before + w for w in words))
            check(f"{more}", code == 0, code, said)
        made = sorted(p.name for p in folder.glob(f"of{number}*.leat"))
        same = all(shown(n[:-5]) == shown("lo" + n[2:-5]) for n in made)
        check(f"{more}: the same datasets", made and same, made)
    code, said = run(server, "pack", "-t", "gpt2", "--dry-run", "-o", "dry", "s3://b/c/many.parquet",
                     "s3://b/c/a.jsonl")
    check("--dry-run of a table", code == 4 and "1 jsonl, 1 parquet" in said, code, said)
    code, said = run(server, "pack", "-t", "gpt2", "--dry-run", "-o", "dry", "s3://b/c/d.jsonl.zst")
    check("--dry-run", code == 0 and "The first text: t" in said, code, said)


# ---- Servers that misbehave ----

def test_faults(server):
    for number, faults in enumerate((["503", "", "reset", "", "short", ""] * 5, ["500", "", "", "stall", "reset"],
                                     ["later"], ["", "silent"] + ["short", ""] * 10)):
        server.faults, server.fault_suffix = ["", *faults], ""
        check_same(f"{faults}", f"f{number}", "local", pack(server, f"f{number}", "s3://b/c/"))
    server.faults = ["", ""] + ["503"] * 1000
    check_refused("no end of 503", "none", pack(server, "none", "s3://b/c/a.jsonl", AWS_MAX_ATTEMPTS="2"),
                  "SlowDown")
    server.faults = ["", "", "denied"] * 20
    check_refused("not allowed", "none", pack(server, "none", "s3://b/c/"), "denies access")
    server.faults = ["whole"] * 20
    check_refused("no ranges", "none", pack(server, "none", "s3://b/c/a.jsonl"), "does not serve parts of files")
    server.faults = []
    check_refused("not there", "none", pack(server, "none", "s3://b/c/no.jsonl"), "s3://b/c/no.jsonl does not exist")


def test_changes(server):
    for name in names:
        if name == "empty.jsonl":
            continue
        before = server.objects[f"b/c/{name}"]
        for server.ignores_conditions in (False, True):
            server.faults, server.fault_suffix = ["", "", "changed"], name
            result = pack(server, "none", "s3://b/c/" + name)
            check_refused(f"a change of {name}", "none", result, f"{name} has changed while it was read")
            check("of another version, nothing goes on", "--resume" not in result[1], result[1])
            server.objects[f"b/c/{name}"] = before
        server.ignores_conditions = False
    server.faults, server.fault_suffix = [], ""
    # without etags and conditions, a size says it: of an object that becomes shorter, no rest is made up
    name, before = "b/c/a.jsonl", server.objects["b/c/a.jsonl"]
    for what, after in ("shorter", before[:9000]), ("longer", before + before[:100]):
        server.silent, server.requests = (name, 10240), []
        process = start(server, "pack", *PACK, "-o", "none", "s3://" + name, AWS_MAX_ATTEMPTS="1000")
        while process.poll() is None and not asked(server, name, "bytes=10240"):
            time.sleep(0.01)
        server.objects[name], server.etags[name], server.silent = after, server.etag(name), None
        check_refused(what, "none", finish(server, process), "has changed while it was read")
        server.objects[name] = before
        del server.etags[name]


def asked(server, name, begin):
    with server.lock:
        return any(path.endswith(name) and head.get("Range", "").startswith(begin + "-")
                   for _, _, path, head in server.requests)


# ---- Stopped and resumed ----

def size_of(name):
    return (folder / name).stat().st_size if (folder / name).exists() else 0


def test_resume(server):
    """A range in the middle never comes; all before it is packed."""
    for name in ("a.jsonl", "b.jsonl.gz", "d.jsonl.zst", "many.parquet"):
        server.requests = []
        pack(server, "whole", "--force", "s3://b/c/" + name)
        ranges = sorted({int(h["Range"][6:].partition("-")[0]) for _, _, p, h in server.requests
                         if p.endswith(name) and "Range" in h})
        silent = ranges[len(ranges) * 3 // 4]
        for number, wanted in ((signal.SIGTERM, 5), (signal.SIGKILL, -9)):
            if name not in ("a.jsonl", "b.jsonl.gz") and number == signal.SIGKILL:
                continue  # too little comes before for a checkpoint
            server.silent, server.requests = (f"b/c/{name}", silent), []
            out = f"r{number}-{name}"
            words = ["pack", *PACK, "-o", out, "s3://b/c/" + name, "--threads", "2"]
            process = start(server, *words, AWS_MAX_ATTEMPTS="1000")
            # asking goes ahead of packing: until half of what comes before the silence is packed, of 2 bytes per token
            enough = silent if name == "a.jsonl" else 0
            while process.poll() is None and not (
                    asked(server, name, f"bytes={silent}") and size_of(f"{out}.partial.tokens") >= enough and (
                    number == signal.SIGTERM or size_of(f"{out}.partial.checkpoint") > 0)):
                time.sleep(0.01)
            process.send_signal(number)
            code, said = finish(server, process)
            check(f"{name} is stopped", code == wanted and not (folder / f"{out}.leat").exists(), code, said)
            server.silent = None
            if number == signal.SIGTERM:
                check_etag(server, name, words)
            server.requests = []
            code, said = run(server, *words, "--resume")
            check(f"{name} goes on", code == 0 and files(out) == files("whole"), code, said)
            begins = {int(h["Range"][6:].partition("-")[0]) for _, _, p, h in server.requests if "Range" in h}
            if name == "a.jsonl":  # but for its first bytes, which tell what it is
                check(f"{name} goes on in the middle", not any(40000 < b < silent // 2 for b in begins), sorted(begins))


def check_etag(server, name, words):
    """The same size and another etag: another input."""
    before = server.objects[f"b/c/{name}"]
    server.objects[f"b/c/{name}"] = before[:-2] + b" \n"
    code, said = run(server, *words, "--resume")
    check("another etag", code == 1 and "the earlier run of" in said and "etag" in said, code, said)
    server.objects[f"b/c/{name}"] = before


# ---- Parts ----

def test_parts(server):
    for parts in (2, 5):
        for i in range(1, parts + 1):
            code, said = pack(server, f"p{parts}-{i}", "--part", f"{i}/{parts}", "s3://b/c/")
            check(f"part {i}/{parts}", code == 0, code, said)
        code, said = run(server, "merge", "-o", f"p{parts}", *(f"p{parts}-{i}" for i in range(1, parts + 1)))
        check(f"{parts} parts", code == 0 and files(f"p{parts}") == files("prefix"), code, said)
    code, said = run(server, "pack", *PACK, "--run", "run", "--parts", "3", "s3://b/c/")
    check("a run's plan", code == 0, code, said)
    for i in (2, 3, 1):
        if i == 1:
            before = server.objects["b/c/a.jsonl"]
            server.objects["b/c/a.jsonl"] = before[:-2] + b" \n"
            code, said = run(server, "pack", "--run", "run", "--part", "1")
            check("a part sees another object", code == 1 and "etag" in said, code, said)
            server.objects["b/c/a.jsonl"] = before
        code, said = run(server, "pack", "--run", "run", "--part", str(i))
        check(f"part {i} of a run", code == 0, code, said)
    code, said = run(server, "merge", "run", "-o", "merged")
    check("a run's parts", code == 0 and files("merged") == files("prefix"), code, said)


def test_no_libcurl(server):
    (folder / "empty").mkdir()
    for library in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (folder / "empty" / library).write_text("none")
    check_refused("without libcurl", "none", pack(server, "none", "s3://b/c/", LD_LIBRARY_PATH="empty"), "libcurl")


def test_little_memory(server):
    """More objects at once than the memory for what is read ahead has room for with ranges of the usual length."""
    for i in range(120):
        server.objects[f"b/many/{i:03}.jsonl"] = small
    words = ["-o", "little", "--threads", "119", "--memory", "200MiB", "--json", "s3://b/many/"]
    code, said = finish(server, subprocess.Popen(
        [build / "leat", "pack", *PACK, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], **server.environment()}))
    check("little memory", code == 0 and summary(said)["documents"] == 120, code, said)


def check_files():
    for path in folder.rglob("*"):
        written = path.read_bytes() if path.is_file() else b""
        check(f"no key in {path.name}", not any(s.encode() in written for s in (ACCESS, SECRET, SIGNATURE)))


def zstd_frame(content):
    """A frame of blocks that are not compressed (RFC 8878): not every system has the zstd command."""
    parts = [content[i:i + 60000] for i in range(0, len(content), 60000)]
    blocks = [(len(part) << 3 | (i + 1 == len(parts))).to_bytes(3, "little") + part for i, part in enumerate(parts)]
    return bytes.fromhex("28b52ffda0") + len(content).to_bytes(4, "little") + b"".join(blocks)


(folder / "c").mkdir()
words = random.Random(1)
text = ["t" + "".join(words.choices("abcdefgh ü\n", k=words.randrange(1500))) for _ in range(120)]
lines = "".join(json.dumps({"text": t, "id": str(i)}) + "\n" for i, t in enumerate(text)).encode()
long = json.dumps({"text": "long " * 9000}).encode() + b"\n"
kinds = "".join(json.dumps({"text": t, "id": "xy"[i % 2]}) + "\n" for i, t in enumerate(text[:30])).encode()
(folder / "c/a.jsonl").write_bytes(lines + long + lines[:lines.index(b"\n") + 1])
(folder / "c/b.jsonl.gz").write_bytes(gzip.compress(lines, 1) + gzip.compress(lines[::1], 9))
(folder / "c/c.txt").write_text(text[0] * 9)
(folder / "c/empty.jsonl").write_bytes(b"")
(folder / "c/kinds.jsonl").write_bytes(kinds)
(folder / "c/array.json").write_text(json.dumps([{"text": t} for t in text[:20]], indent=1))
shutil.copy(here / "parquet/files/many.parquet", folder / "c/many.parquet")
(folder / "c/e.csv").write_text("text,id\n" + "".join(f'"{i},\n""{t}"""' + "\n" for i, t in enumerate(text[:50])))
(folder / "c/d.jsonl.zst").write_bytes(zstd_frame((folder / "c/a.jsonl").read_bytes()))
names = sorted(p.name for p in (folder / "c").iterdir())
objects = {f"b/c/{n}": (folder / "c" / n).read_bytes() for n in names}
objects.update({"b/c/.hidden/x.jsonl": lines, "b/c/folder/": b"", "b/c/README.md": b"no text to train on",
               "b/other/x.arrow": b"a,b\n", "b/other/x.bin": bytes(9), "b/other/x.png": b"x", "b/other/x.jsonl": lines,
               "b/hub/train-1.jsonl": lines, "b/hub/train-2.jsonl": lines, "b/hub/test.jsonl": lines,
               "b/list": b"a\n", "b/small.jsonl": b'{"text":"a"}\n'})
small = objects["b/small.jsonl"]
objects["b/lie.jsonl.gz"] = gzip.compress(b"a".ljust(257, b"\0") + b"ustar\x0000".ljust(255, b"\0") + lines)
objects["b/lies/a.jsonl"] = b"PK\3\4" + lines
objects.update({f"b/marked/{n}": small for n in ("a.jsonl", "_foo.jsonl", "_metadata", "x/_temporary/0.jsonl",
                                                "x/_temporary/1/0.jsonl", "x/.y/_z/0.jsonl")})
objects.update({f"b/equal/{n}": small for n in ("a.jsonl", "x/_lang=de/0.jsonl")})
objects.update({f"b/icon/{n}": small for n in ("Icon\r", "a\r.jsonl", "b.jsonl")})
objects.update({"b/marked/_SUCCESS": b"", "b/marked/_empty.jsonl": b"", "b/only/_a.jsonl": small})
objects.update({f"b/lake/{n}": small for n in ("delta/a.jsonl", "delta/_delta_log/0.json", "hudi/a.jsonl",
                                              "hudi/.hoodie/x", "ice/data/a.jsonl", "ice/metadata/v1.metadata.json")})
with S3Server(objects) as server:
    code, said = pack(server, "local", "c")
    pack(server, "many", "c/many.parquet")
    check("files", code == 0, code, said)
    checks.need_libcurl(pack(server, "none", "s3://b/none.jsonl")[1])
    checks.run_tests((test_prefix, test_splits, test_ranges, test_web, test_options, test_faults, test_changes,
                      test_resume, test_parts, test_little_memory, test_no_libcurl), server)
check_files()
checks.finish(folder)
