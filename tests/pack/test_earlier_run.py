#!/usr/bin/env python3
"""test_earlier_run.py: a run that stopped with a checkpoint, and then one of the same output that shuffles,
deduplicates, splits or divides where that one did not, or the reverse. It is refused, with advice that works: with the
options of the earlier run --resume gives the bytes of a run that did not stop, and with --force nothing of it is left.

Finished datasets of splits and values that a run with --force does not write stay, but are named: once out.valid stayed
without a word beside a new `out` that had its documents, and training saw the validation data. A merged dataset keeps
what its parts say of themselves: splits of a value's dataset were not named, and all.train, made of splits of that
name, was called one of an earlier run of `all`, and to be removed.
"""
import json
import os
import pathlib
import shutil
import subprocess

from programs import SMALL

folder = pathlib.Path(os.environ.get("LEAT_TEST_TMP", "/tmp")) / "earlier"
KINDS = [[], ["--dedup"], ["--shuffle", "3"], ["--split", "v=0.2"], ["--by", "kind"], ["--by", "kind", "--dedup"]]


def leat(*words):
    done = subprocess.run([SMALL, "pack", "-t", "bytes", "-o", "out", "in.jsonl", *words], cwd=folder, text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stderr


def files():
    return {path.name: path.read_bytes() if path.is_file() else sorted(os.listdir(path))
            for path in folder.glob("out*")}


def clear():
    for path in folder.glob("out*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def stop(kind):
    """One record too many is no JSON; the checkpoints before it stay."""
    clear()
    code, said = leat(*kind, "--max-rejects", "1")
    assert code == 4, (kind, code, said)
    assert any("checkpoint" in name for path in folder.rglob("out*") for name in [path.name, *(
        os.listdir(path) if path.is_dir() else [])]), files()


def undisturbed(kind):
    clear()
    code, said = leat(*kind, "--max-rejects", "9")
    assert code == 0, (kind, said)
    return files()


def check(earlier, later, wanted):
    case = (earlier, later)
    stop(earlier)
    before = files()
    code, said = leat(*later, "--max-rejects", "9")
    assert code == 1 and "the earlier run of out has not ended" in said, (case, said)
    assert "(--resume or --force)" in said, (case, said)
    code, said = leat(*later, "--max-rejects", "9", "--resume")
    assert code in (1, 3) and "give the same inputs and options, or start over (--force)" in said, (case, code, said)
    assert files() == before, case
    code, said = leat(*earlier, "--max-rejects", "9", "--resume")
    assert code == 0 and files() == wanted[str(earlier)], (case, said, files().keys())
    stop(earlier)
    code, said = leat(*later, "--max-rejects", "9", "--force")
    assert code == 0 and files() == wanted[str(later)], (case, said, files().keys())


def check_killed(kind, wanted):
    """What a run that was killed before its first checkpoint leaves is removed as well, whichever file it is."""
    for name in "tokens", "run":
        clear()
        (folder / f"out.partial.{name}").write_bytes(b"")
        code, said = leat(*kind, "--max-rejects", "9", "--force")
        assert code == 0 and files() == wanted[str(kind)], (kind, name, said, files().keys())


def check_handed_down(made):
    clear()
    made("--by", "kind")
    made("--split", "x=0.2,v=0.1,w=0.1", "-o", "out.b", "out.a", "--force", command=("merge",))
    said = made("--force", "-o", "out.b", "out.a", command=("merge",))
    assert "warning: out.b.v, out.b.w, out.b.x stay: this run does not write them." in said, said
    clear()
    made("--split", "v=0.2")
    made("-o", "out.z.v", "out.v", "out.v", command=("merge",))
    said = made("--force", "-o", "out.z", "out", command=("merge",))
    assert "If an earlier run of out.z made it, documents of it may" in said and "is of" not in said, said


def check_left():
    """After a run with --force, of pack and of merge: what the earlier one made beside it."""
    def made(*words, command=("pack", "-t", "bytes", "--max-rejects", "9", "-o", "out", "in.jsonl")):
        done = subprocess.run([SMALL, *command, *words], cwd=folder, text=True, capture_output=True, check=True)
        return done.stderr

    clear()
    made("--split", "v=0.2,wx=0.2")
    made("--by", "kind", "--split", "v=0.2")
    said = made("--split", "v=0.2,wx=0.2", "--force")
    assert all(name in said for name in ("out.a", "out.b", "out.a.v", "out.b.v")) and "out.wx" not in said, said
    said = made("--by", "kind", "--split", "v=0.2", "--force")
    assert "out.v" in said and "out.wx" in said and "out.a" not in said, said
    for name in "ab":
        for path in folder.glob(f"out.{name}*"):
            path.unlink()
    said = made("--split", "v=0.2", "--force")
    alone = "stays: this run does not write it. If an earlier run of out made it,"
    assert f"warning: out.wx {alone}" in said and "out.v " not in said, said
    for path in folder.glob("out.wx*"):
        path.unlink()
    said = made("--force")
    assert f"warning: out.v {alone}" in said, said
    assert {"out.v.leat", "out.v.tokens"} < set(files()), files()
    shutil.copy(folder / "out.leat", folder / "out.other.leat")  # these say nothing of a run of `out`
    shutil.copy(folder / "out.tokens", folder / "out.other.tokens")
    for suffix in "leat", "tokens":  # nor does a split of another name, and what does not open
        shutil.copy(folder / f"out.v.{suffix}", folder / f"out.named.{suffix}")
    (folder / "out.bad.leat").write_text("damaged")
    for kind in (["--force", "--split", "v=0.1"], ["--force", "--by", "kind"]):
        said = made(*kind)
        assert not any(f"out.{name}" in said for name in ("other", "named", "bad")), said
        assert ("out.v" in said) == ("--by" in kind), said
    clear()
    made("--split", "v=0.2,w=0.1")
    said = made("--force", "--split", "v=0.3", "-o", "out", "out.w", command=("merge",))
    assert f"warning: out.w {alone}" in said and "out.v" not in said, said
    check_handed_down(made)
    for command in (["pack", "-t", "bytes", "-o", "no", "in.jsonl"], ["merge", "-o", "no", "out"],
                    ["order", "--seq-len", "8", "--source", "out"]):
        done = subprocess.run([SMALL, *command, "--split", "v=0.1", "--split", "w=0.1"], cwd=folder, text=True,
                              capture_output=True, check=False)
        assert done.returncode == 2 and "--split is given twice" in done.stderr, (command, done)
    clear()


shutil.rmtree(folder, ignore_errors=True)
folder.mkdir()
lines = [json.dumps({"text": f"{i} " * 50, "kind": "ab"[i % 2]}) for i in range(1500)]
(folder / "in.jsonl").write_text("\n".join([*lines, "broken", "broken"]) + "\n")
wanted = {str(kind): undisturbed(kind) for kind in KINDS}
for kind in KINDS[1:]:
    check([], kind, wanted)
    check(kind, [], wanted)
    check_killed(kind, wanted)
check_left()
shutil.rmtree(folder)
