#!/usr/bin/env python3
"""test_go_on.py: runs whose inputs are cut off or broken, that reject too much, or that are stopped: each input is
named once, with where it was cut off, what is missing and why, in text and in JSON; and one command is printed that
goes on. The test runs that command as it stands, in a shell, and it ends with 0, or says something new that is true,
until it does. What was said contradicted itself: of two inputs that were cut off one was named, "--resume
--allow-truncated" was answered by "already exists", and a Parquet file of which nothing was read was "packed as far as
it was readable".
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from programs import LEAT, rng

folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP")))
parquet = pathlib.Path(__file__).resolve().parent.parent / "parquet/files/many.parquet"
os.chdir(folder)
env = {**os.environ, "PATH": os.path.dirname(LEAT) + ":" + os.environ["PATH"]}

lines = b"".join(b'{"text":"number %d %d"}\n' % (i, rng.randrange(10**9)) for i in range(3000))
whole = gzip.compress(lines)
sound = {"whole.jsonl": lines[:lines.index(b"\n", 20000) + 1], "a cut.jsonl.gz": whole, "b.jsonl.gz": whole,
         "it's.parquet": parquet.read_bytes(), "middle.parquet": parquet.read_bytes(), "array.json":
         json.dumps([{"text": str(i)} for i in range(100)]).encode()}
damaged = {**sound, "a cut.jsonl.gz": whole[:9000], "b.jsonl.gz": whole[:7000],
           "it's.parquet": parquet.read_bytes()[:999],
           "array.json": sound["array.json"].replace(b"},", b"};", 1)}
middle = bytearray(parquet.read_bytes())
middle[len(middle) // 2:len(middle) // 2 + 8] = b"\xff" * 8
damaged["middle.parquet"] = bytes(middle)


def write(files):
    for name, data in files.items():
        pathlib.Path(name).write_bytes(data)


def run(words):
    done = subprocess.run([LEAT, "pack", *words], capture_output=True, env=env)
    return done.returncode, done.stderr.decode(), done.stdout.decode()


def sh(command):
    """Runs what was printed as it stands."""
    done = subprocess.run(["sh", "-c", command], capture_output=True, env=env)
    return done.returncode, done.stderr.decode(), done.stdout.decode()


def command_of(said):
    """The one command that is printed."""
    found = re.findall(r": (leat pack .*)$", said, re.M)
    assert len(found) == 1, said
    return found[0]


def entries(said):
    """What is said of each damaged input: (name, place, what is left)."""
    return [(m[1], int(m[2].replace(",", "")), m[3]) for m in
            re.finditer(r"(?:^leat:   |: )([^:;\n]*), at byte ([\d,]+): [^\n]*?; (what should follow is missing|"
                        r"[\d,]+ bytes were not read|what follows was not read)(?:\n|$)", said, re.M)]


def names(said):
    return [name for name, _, _ in entries(said)]


def clear(name="out"):
    for path in folder.glob(name + "*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def check_json(words, wanted):
    """The same in JSON, and in leat info."""
    code, said, printed = run([*words, "--json", "--resume", "--allow-truncated"])
    summary = json.loads(printed)
    assert code == 0 and [d["input"] for d in summary["damaged"]] == wanted, (said, printed)
    assert summary["truncated_inputs"] == len(wanted), printed
    left = {0: "what should follow is missing", None: "what follows was not read"}
    told = [(d["input"], d["offset"], left.get(d["unread_bytes"], f"{d['unread_bytes'] or 0:,} bytes were not read"))
            for d in summary["damaged"]]
    assert entries(said) == told, (said, told)
    info = json.loads(subprocess.run([LEAT, "info", "--json", "out"], capture_output=True, check=True).stdout)
    assert info["damaged"] == summary["damaged"], (info["damaged"], summary["damaged"])


def check_damage():
    """All is packed, and inputs were damaged: the command that accepts that ends with 0, also when it is repeated."""
    write(damaged)
    for inputs, wanted in ((["a cut.jsonl.gz", "whole.jsonl", "b.jsonl.gz"], ["a cut.jsonl.gz", "b.jsonl.gz"]),
                           (["whole.jsonl", "it's.parquet"], ["it's.parquet"]),
                           (["middle.parquet", "whole.jsonl", "array.json"], ["middle.parquet", "array.json"]),
                           (["it's.parquet", "a cut.jsonl.gz", "whole.jsonl"], ["it's.parquet", "a cut.jsonl.gz"])):
        for more in ([], ["--shuffle", "3"], ["--split", "x=0.5"], ["--force", "--max-rejects=90%"], ["--part", "1/1"]):
            words = ["-t", "bytes", "--max-rejects", "90%", *more, "-o", "out", "--", *inputs]
            code, said, _ = run(words)
            assert code == 1 and names(said) == wanted, (words, code, said, names(said))
            lost = [i for i, at, _ in entries(said) if at == 0]
            assert ("as they were readable" in said or "as it was readable" in said) == (len(lost) < len(wanted)), said
            command = command_of(said)
            for _ in range(2):
                code, said, printed = sh(command)
                assert code == 0 and names(said) == wanted and "is finished already" in printed, (command, code, said)
                assert ": leat pack" not in said, said
            check_json([w for w in words if w not in ("--", "--force")], wanted)
            clear()
    # whole again, which the sizes show: something new, and what it says to do leads to the dataset
    words = ["-t", "bytes", "--max-rejects", "90%", "-o", "out", "a cut.jsonl.gz"]
    command = command_of(run(words)[1])
    write(sound)
    code, said, _ = sh(command)
    assert code == 1 and "if these are whole now, replace it (--force)" in said, said
    assert run([*words, "--force"])[:2] == (0, "")
    clear()


def check_rejects():
    """Too many: one that goes on further each time, at last to the end; the damage on the way is said as well."""
    write(damaged)
    bad = b"".join(b"no\n" if rng.random() < 0.01 else b'{"text":"x"}\n' for _ in range(3000))
    pathlib.Path("bad.jsonl").write_bytes(bad)
    for inputs in (["bad.jsonl"], ["a cut.jsonl.gz", "bad.jsonl", "b.jsonl.gz"]):
        for more in (["--max-rejects", "0"], ["--max-rejects=1"], ["--force", "--max-rejects", "3"]):
            code, said, _ = run(["-t", "bytes", *more, "-o", "out", *inputs])
            before = -1
            while code == 4:
                rejected = int(re.search(r"([\d,]+) of [\d,]+ records? w", said)[1].replace(",", ""))
                assert rejected > before, (rejected, before)
                before = rejected
                code, said, _ = sh(command_of(said))
            cut = [i for i in inputs if i.endswith("gz")]
            assert code == (1 if cut else 0) and names(said) == cut, (code, said)
            if cut:
                assert sh(command_of(said))[0] == 0, (said, sh(command_of(said)))
            clear()
    # nothing is left of a run of nothing: the command starts over, once the input is whole
    code, said, _ = run(["-t", "bytes", "--max-rejects", "90%", "-o", "out", "it's.parquet"])
    assert code == 4 and names(said) == ["it's.parquet"] and "nothing of it could be read" in said, said
    write(sound)
    done = sh(command_of(said))
    assert done[0] == 0, (said, done)
    clear()


def check_stopped():
    """By SIGTERM, whenever that comes: most times the run is in the middle."""
    pathlib.Path("many").mkdir()
    for i in range(400):
        pathlib.Path(f"many/{i:03}.jsonl").write_bytes(sound["whole.jsonl"] * 3)
    for more in ([], ["--force"]):
        words = ["-t", "bytes", "--threads", "1", *more, "-o", "out", "many", "--progress", "never"]
        process = subprocess.Popen([LEAT, "pack", *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        while process.poll() is None and not list(folder.glob("out.partial.tokens")):
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        said = process.communicate()[1].decode()
        assert process.returncode in (0, 5, -signal.SIGTERM), said
        if process.returncode == 5 and "nothing is lost" in said:
            code, said, _ = sh(command_of(said))
            assert code == 0, said
    clear()


def check_parts():
    """Of a run in a folder whose name a shell would divide: leat status says the same, and the part goes on."""
    write(damaged)
    run_words = ["-t", "bytes", "--max-rejects", "90%"]
    assert run(["--run", "my run", "--parts", "2", *run_words, "a cut.jsonl.gz", "b.jsonl.gz", "whole.jsonl"])[0] == 0
    parts = {}
    for part in (1, 2):
        code, said, _ = run(["--run", "my run", "--part", str(part)])
        again = run(["--run", "my run", "--part", str(part)])
        assert (code, said) == again[:2] or code == 0, (said, again)
        parts[part] = names(said)
        status = subprocess.run([LEAT, "status", "my run"], capture_output=True).stdout.decode()
        assert code == (1 if parts[part] else 0) and all(name in status for name in parts[part]), (said, status)
        if code:
            assert sh(command_of(said))[0] == 0
        assert run(["--run", "my run", "--part", str(part)])[:2] == (0, "")
    assert sorted(parts[1] + parts[2]) == ["a cut.jsonl.gz", "b.jsonl.gz"], parts
    assert subprocess.run([LEAT, "merge", "-o", "out", "my run"], capture_output=True).returncode == 0
    clear()


def check_many():
    """More than are shown: JSON has all."""
    for i in range(25):
        pathlib.Path(f"cut{i:02}.jsonl.gz").write_bytes(whole[:2000])
    inputs = [f"cut{i:02}.jsonl.gz" for i in range(25)]
    code, said, _ = run(["-t", "bytes", "--max-rejects", "90%", "-o", "out", *inputs])
    assert code == 1 and names(said) == inputs[:20] and "and 5 more" in said, said
    check = json.loads(sh(command_of(said) + " --json")[2])
    assert [d["input"] for d in check["damaged"]] == inputs
    # what no command can give again: standard input; and one that is too long to be printed
    done = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "in", "--max-rejects", "90%", "--format", "jsonl", "-"],
                          input=whole[:2000], capture_output=True)
    assert done.returncode == 1 and b"-, at byte 2,000" in done.stderr and b"leat pack" not in done.stderr, done
    code, said, _ = run(["-t", "bytes", "--max-rejects", "90%", "-o", "long", *(["whole.jsonl"] * 500), inputs[0]])
    assert code == 1 and "leat pack" not in said and "--allow-truncated counts that as success" in said, said
    clear()


try:
    check_damage()
    check_rejects()
    check_stopped()
    check_parts()
    check_many()
finally:
    shutil.rmtree(folder)
