#!/usr/bin/env python3
"""test_by.py: --by gives, for each value of a field, what packing the records of that value alone gives: the same input
is packed once more per value, with the other records turned into blanks, by the same options (shuffled, deduplicated,
split). Tokens are equal byte by byte, and the index section by section, but for what names the whole input (its hash
and rejects) and for the metadata leat.by*. Parts of a run, merged, and runs that are killed at random and resumed, have
the bytes of one run. Names: any two values have two, also for file systems that do not tell capitals
apart; what is refused leaves nothing.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from dataset import Dataset
from programs import LEAT, SMALL, rng

KILLS = int(os.environ.get("LEAT_TEST_KILLS", "4"))
# fsync on a disk would take most of the time
fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("LEAT_TEST_TMP")
folder = tempfile.mkdtemp(dir=fast)


def leat(*words, program=LEAT, code=0, command="pack", cwd=folder):
    more = ["-t", "bytes", "--max-rejects", "100%"] if command == "pack" else []
    done = subprocess.run([program, command, *more, *words], capture_output=True, cwd=cwd)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout.decode() if code == 0 else done.stderr.decode()


VALUES = ["en", "EN", "En", "de", "", "leat", "Tokens", "packed", "rejects", "a/b", "a.b", "x" * 900, "X" * 900, "é",
          "É", "\n\x7f", "Wikipedia (en)", "1", 1, 1.0, 1e300, True, False]


def value_of(record):
    value = record.get("meta", {}).get("lang")
    if value is None or isinstance(value, (list, dict)) or (isinstance(value, str) and "\0" in value):
        return None
    return value if isinstance(value, str) else json.dumps(value)


def make_lines(count, long):
    lines = []
    for i in range(count):
        record = {"text": f"{rng.randrange(30)} " * (long if i in (7, 8) else rng.randrange(1, 5)), "id": f"d{i}"}
        if rng.random() < 0.9:
            record["meta"] = {"lang": rng.choice(VALUES + [None, [], "a\0b"][:3 if rng.random() < 0.2 else 0])}
        if i in (1, 7, 8):  # of the long ones, which are not in memory whole, one has no value
            record["meta"] = {"lang": {1: "zz, only once", 7: "long, only once", 8: None}[i]}
        line = json.dumps(record, ensure_ascii=rng.random() < 0.5).encode()
        lines.append((value_of(record), line if i % 50 else b'{"text": broken'))
    return [(value if line.startswith(b'{"text": "') else None, line) for value, line in lines]


def write(place, lines, wanted):
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "in.jsonl"), "wb") as f:
        for value, line in lines:
            f.write((line if value in wanted else b" " * len(line)) + b"\n")


def made(name, place=folder):
    """{what follows NAME: its bytes}"""
    files = {f[len(name):]: open(os.path.join(place, f), "rb").read() for f in os.listdir(place)
             if f.startswith(name + ".")}
    assert not any("partial" in f or "packed." in f for f in files), files.keys()
    return files


def compare(name, alone, place):
    a, b = Dataset(os.path.join(folder, name)), Dataset(os.path.join(place, alone))
    assert a.token_bytes == b.token_bytes
    for kind in set(a.sections) | set(b.sections):
        if kind == "metadata":
            left = {k: v for k, v in a.metadata().items() if not k.startswith(b"leat.by")}
            assert left == b.metadata(), (name, a.metadata(), b.metadata())
        elif kind == "inputs":
            assert [i[:4] for i in a.inputs()] == [i[:4] for i in b.inputs()], (a.inputs(), b.inputs())
        else:
            assert a.sections[kind] == b.sections[kind], (name, kind)


def compare_with_filtered(lines):
    values = {value for value, _ in lines if value is not None}
    for number, options in enumerate([[], ["--dedup"], ["--dedup", "--shuffle", "7", "--split", "a=0.3,b=0.2"]]):
        name = f"out{number}"
        summary = json.loads(leat("--by", "meta.lang", "--json", "-o", name, *options, "in.jsonl",
                                  program=rng.choice([LEAT, SMALL])))
        rest = {o["value"]: o["name"] for o in summary["outputs"] if "split" not in o}
        assert set(rest) == values and len({n.lower() for n in rest.values()}) == len(values)
        assert summary["documents"] == sum(o["documents"] for o in summary["outputs"])
        assert summary["rejected"] == sum(value is None for value, _ in lines)
        for value in ["long, only once", *rng.sample(sorted(values), 5)]:
            place = os.path.join(folder, "alone")
            write(place, lines, {value})
            leat("-o", "alone", "--force", *options, "in.jsonl", cwd=place, program=SMALL)
            for split in [""] + ([".a", ".b"] if "--split" in options else []):
                compare(rest[value] + split, "alone" + split, place)
        shutil.rmtree(place)


def compare_parts(lines, options):
    """Parts, joined in any way, are one run."""
    for part in (1, 2, 3):
        text = leat("--by", "meta.lang", "-o", f"p{part}", "--part", f"{part}/3", "in.jsonl", program=SMALL)
        assert "leat merge" in text, text
    values = len({value for value, _ in lines if value is not None})
    words = ["--by", "meta.lang", "-o", "one", "--part", "1/1", "in.jsonl"]
    leat(*words, "--max-rejects", "20", program=SMALL, code=4)  # values are in the checkpoint
    assert f"carry {values} values of meta.lang" in leat(*words, "--resume", program=SMALL)
    leat("-o", "p12", "p1", "p2", command="merge")
    leat("-o", "bad", "p1", "p2", "--split", "a=0.5", command="merge", code=1)
    leat("-o", "all", "p12", "p3", *options, command="merge", program=SMALL)
    whole = {f: b for f, b in made("out2").items() if f != ".rejects.jsonl"}
    assert made("all") == whole, (sorted(made("all")), sorted(whole))
    again = leat("-o", "all", "p12", "p3", *options, command="merge", code=1)
    assert "already exists" in again and made("all") == whole
    leat("-o", "all", "p12", "p3", *options, "--force", command="merge")
    assert made("all") == whole


def compare_killed(options):
    """A run that is killed, over and over, and resumed."""
    whole = made("out2")
    command = [SMALL, "pack", "-t", "bytes", "--max-rejects", "100%", "--by", "meta.lang", "-o", "k", *options,
               "in.jsonl", "--resume"]
    began = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    seconds = time.monotonic() - began
    for f in made("k"):
        os.remove(os.path.join(folder, "k" + f))
    for _ in range(KILLS):
        done = False
        for _ in range(20):
            p = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(rng.random() * seconds)
            p.send_signal(signal.SIGKILL)
            said = p.communicate()[1]
            done = p.returncode == 0
            if done:
                break
            assert p.returncode == -signal.SIGKILL, said
            for f in os.listdir(folder):  # what has its name is whole
                if f.startswith("k.") and f.endswith(".leat") and "partial" not in f and "packed" not in f:
                    with open(os.path.join(folder, f), "rb") as index:
                        assert index.read() == whole[f[1:]], f
        if not done:
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        assert made("k") == whole
        assert "finished already" in leat("--by", "meta.lang", "-o", "k", *options, "in.jsonl", "--resume")
        for f in whole:
            os.remove(os.path.join(folder, "k" + f))


def check_parquet():
    """A column gives what the same field of JSON lines gives, whole and in parts."""
    files = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../parquet/files")
    for suffix in ("jsonl", "parquet"):
        path = os.path.join(files, "dictionary_2_snappy." + suffix)
        leat("--by", "id", "-o", suffix, path, program=SMALL)
        for part in (1, 2):
            leat("--by", "id", "-o", f"{suffix}{part}", "--part", f"{part}/2", path, program=SMALL)
        leat("-o", suffix + "-all", suffix + "1", suffix + "2", command="merge")
        whole = {f: b for f, b in made(suffix).items() if f != ".rejects.jsonl"}
        assert len(whole) > 20 and made(suffix + "-all") == whole
    tokens = [{f: b for f, b in made(s).items() if f.endswith(".tokens")} for s in ("jsonl", "parquet")]
    assert tokens[0] == tokens[1]
    with open(os.path.join(folder, "parquet.rejects.jsonl")) as f:
        reasons = [json.loads(line)["reason"] for line in f]
    assert '"id" is null, not a string, a number, true or false' in reasons
    text = leat("--by", "nothing", "-o", "no", os.path.join(files, "typed.parquet"), code=1)
    assert "has no column nothing" in text
    text = leat("--by", "ratio", "-o", "no", os.path.join(files, "typed.parquet"), code=1)
    assert "neither text nor an integer" in text


def check_names():
    letters = ["a", "A", "b", "B", ".", "/", "%", "-", "_", " ", "\n", "é", "4", "1"]
    values = {"".join(rng.choice(letters) for _ in range(rng.choice([1, 2, 3, 30, 90]))) for _ in range(60)}
    values |= {v.swapcase() for v in values} | {"%empty", "", "%41", "leat", "LEAT", "partial", "%lock", "..", "."}
    with open(os.path.join(folder, "names.jsonl"), "w") as f:
        for v in values:
            f.write(json.dumps({"text": v, "v": v}) + "\n")
    outputs = json.loads(leat("--by", "v", "--json", "-o", "names", "names.jsonl"))["outputs"]
    assert {o["value"] for o in outputs} == values
    assert len({o["name"].lower() for o in outputs}) == len(values)
    for o in outputs:
        suffix = o["name"][len("names."):]
        assert suffix.isascii() and len(suffix) <= 98 and not set(suffix) & set("./ \n*?'\""), suffix
        assert Dataset(os.path.join(folder, o["name"])).token_bytes  # the only document is the value
    made("names")


def check_packed_by_another():
    """What another run was about to divide says nothing of datasets that are finished; nor do those of OUT.X."""
    there = made("many")
    leat("-o", "plainly", "in2.jsonl")
    leat("--by", "text", "-o", "many.more", "in2.jsonl")
    os.mkdir(os.path.join(folder, "many.partial.packed"))
    for suffix in (".leat", ".tokens"):
        os.rename(os.path.join(folder, "plainly" + suffix), os.path.join(folder, "many.partial.packed/all" + suffix))
    leat("--by", "text", "-o", "many", "in2.jsonl", "--resume", code=1)
    assert os.path.exists(os.path.join(folder, "many.x.leat"))  # neither gone nor made again
    shutil.rmtree(os.path.join(folder, "many.partial.packed"))
    leat("--by", "text", "-o", "many", "in2.jsonl", "--resume")
    assert len(made("many.more")) == len(there)
    for f in made("many.more"):
        os.remove(os.path.join(folder, "many.more" + f))
    assert made("many") == there


def check_leftovers():
    """A run that has ended, but could not remove its folder: --resume does, unless another process uses it."""
    place = os.path.join(folder, "left.partial.by")
    words = ("--by", "meta.lang", "-o", "left", "in.jsonl")
    leat(*words)
    names = made("left")
    os.mkdir(place)
    shutil.copy(os.path.join(folder, "in.jsonl"), os.path.join(place, "1.ids"))
    leat(*words, "--resume")
    assert not os.path.exists(place), os.listdir(place)
    assert made("left") == names
    # an index that somebody has put there removed tokens of the same name, whatever these were
    os.mkdir(place)
    shutil.copy(os.path.join(folder, "left.en.leat"), os.path.join(place, "mine.leat"))
    with open(os.path.join(folder, "left.mine.tokens"), "wb") as f:
        f.write(b"mine")
    leat(*words, "--force")
    assert not os.path.exists(place) and made("left") == dict(names, **{".mine.tokens": b"mine"})
    os.remove(os.path.join(folder, "left.mine.tokens"))


def check_few_files():
    """Where a process may open few files, fewer datasets are written at once; where not even one fits, it says so."""
    def limit(files):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    words = [LEAT, "pack", "-t", "bytes", "--by", "v", "-o", "few", "in-few.jsonl"]
    with open(os.path.join(folder, "in-few.jsonl"), "w") as f:
        for i in range(40):
            f.write(json.dumps({"text": f"{i}", "v": i % 20}) + "\n")
    done = subprocess.run(words, capture_output=True, cwd=folder, preexec_fn=limit(60))
    assert done.returncode == 0, done.stderr
    assert len(made("few")) == 40
    done = subprocess.run([*words, "--force"], capture_output=True, cwd=folder, preexec_fn=limit(14))
    assert done.returncode == 1 and b"raise the limit of open files" in done.stderr, done


def check_refusals():
    with open(os.path.join(folder, "in2.jsonl"), "w") as f:
        for i in range(1025):
            f.write(json.dumps({"text": "x", "v": i}) + "\n")
    before = sorted(os.listdir(folder))
    text = leat("--by", "v", "-o", "many", "in2.jsonl", code=1)
    assert "1025 different values in the first 1025 documents" in text, text
    open(os.path.join(folder, "plain.txt"), "w").close()
    assert "it is a text" in leat("--by", "v", "-o", "many", "plain.txt", code=2)
    os.remove(os.path.join(folder, "plain.txt"))
    os.symlink("/", os.path.join(folder, "many.partial.by"))
    assert "is not a folder" in leat("--by", "text", "-o", "many", "in2.jsonl", code=1)
    os.remove(os.path.join(folder, "many.partial.by"))
    leat("--by", "text", "-o", "many", "in2.jsonl", "--resume")
    assert "many.x.leat already exists" in leat("--by", "text", "-o", "many", "in2.jsonl", code=1)
    check_packed_by_another()
    for f in made("many"):
        os.remove(os.path.join(folder, "many" + f))
    assert sorted(os.listdir(folder)) == before, set(os.listdir(folder)) ^ set(before)


lines = make_lines(400, 9000)
write(folder, lines, {value for value, _ in lines} | {None})
arranged = ["--dedup", "--shuffle", "7", "--split", "a=0.3,b=0.2"]
try:
    compare_with_filtered(lines)
    compare_parts(lines, arranged)
    compare_killed(arranged)
    check_parquet()
    check_leftovers()
    check_few_files()
    check_names()
    check_refusals()
finally:
    shutil.rmtree(folder)
