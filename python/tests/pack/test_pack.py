"""leat.pack and leat.merge: the bytes and the numbers of the command, all options, interrupts, errors."""
import csv
import glob
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import leat
from leat.command import program
from made_texts import texts

LEAT = program("leat")


def corpus(folder, count=400, seed=20):
    """A few files of all kinds; the list of their paths."""
    folder.mkdir(exist_ok=True)
    some = texts(count, seed)
    records = [{"text": t, "id": f"a{i}", "meta": {"body": t[::-1], "n": i}} for i, t in enumerate(some)]
    (folder / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    with gzip.open(folder / "b.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"text": t}) + "\n" for t in some[:50] + ["twice", "twice"])
    (folder / "c.txt").write_text("one document <|endoftext|>")
    (folder / "d.md").write_bytes(b"# \xff not UTF-8")
    return [folder / name for name in ("a.jsonl", "b.jsonl.gz", "c.txt", "d.md")]


def command(*arguments, code=0, **environment):
    done = subprocess.run([LEAT, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment})
    assert done.returncode == code, done.stderr
    return done.stdout


def same(a, b):
    for suffix in (".tokens", ".leat"):
        with open(f"{a}{suffix}", "rb") as one, open(f"{b}{suffix}", "rb") as two:
            assert one.read() == two.read(), (a, b, suffix)
    return True


@pytest.mark.parametrize("how, flags", [
    ({}, ""),
    ({"tokenizer": "cl100k_base", "threads": 3, "memory": "6GiB"}, "-t cl100k_base --threads 1"),
    ({"text": "meta.body", "id": "meta.n", "max_rejects": None}, "--text meta.body --id meta.n --max-rejects 100%"),
    ({"end": None, "begin": 50256, "special": True}, "--end none --begin 50256 --special"),
    ({"end": "!", "begin": "<|endoftext|>", "id": None}, "--end ! --begin <|endoftext|> --id ="),
    ({"inputs": leat.Files("in", format="text"), "invalid_utf8": "reject", "max_rejects": 3},
     "--format text --invalid-utf8 reject --max-rejects 3"),
    ({"invalid_utf8": "reject", "max_rejects": 0.5}, "--invalid-utf8 reject --max-rejects 50%"),
    ({"shuffle": 7, "dedup": True, "split": {"valid": 0.1, "test": "0.05"}},
     "--shuffle 7 --dedup --split valid=0.1,test=0.05"),
    ({"part": (2, 3)}, "--part 2/3"),
    ({"write": "direct"}, "--write direct"),
    ({"part": "1/2", "end": "50256"}, "--part 1/2 --end 50256"),
])
def test_as_the_command(tmp_path, monkeypatch, how, flags):
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path / "in")
    arguments = ["" if f == "=" else f for f in flags.split()]
    told = json.loads(command("pack", "-o", "theirs", "--json", *arguments, "in"))
    s = leat.pack(output="mine", **{"inputs": ["in"], **how})
    assert same("mine", "theirs")
    for name in ("inputs", "documents", "tokens", "text_bytes", "rejected", "deduplicated", "special_strings",
                 "truncated_inputs"):
        assert getattr(s, name) == told[name], name
    assert [dict(one, output=one["output"].replace("theirs", "mine")) for one in told["splits"]] == s.splits
    for split in s.splits:
        assert same(split["output"], split["output"].replace("mine", "theirs"))
    if told["rejected"]:
        assert open("mine.rejects.jsonl").read() == open("theirs.rejects.jsonl").read()
    assert s.output == "mine" and s.seconds > 0 and s.mb_per_s > 0 and s.tokens_per_s > 0 and s.peak_memory > 1 << 20


def test_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = corpus(tmp_path / "in")
    want = leat.pack("in", "all")
    (tmp_path / "list").write_text("".join(f"{p}\n" for p in paths))
    for n, inputs in enumerate([paths, map(str, paths), [os.fsencode(p) for p in paths], "@list", tmp_path / "in"]):
        got = leat.pack(inputs, f"o{n}")
        same = dict(output="", seconds=0, mb_per_s=0, tokens_per_s=0, peak_memory=0, replaced_in={})
        assert got._replace(**same) == want._replace(**same)
        assert list(got.replaced_in.values()) == list(want.replaced_in.values())
        with open(f"o{n}.tokens", "rb") as a, open("all.tokens", "rb") as b:
            assert a.read() == b.read()
    assert leat.pack(paths, tmp_path / "path.leat").output == str(tmp_path / "path.leat")
    assert leat.pack(paths, os.fsencode(tmp_path / "bytes.tokens")).tokens == want.tokens
    assert os.path.exists("path.tokens") and os.path.exists("bytes.leat")


def test_rejected_inputs(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{}\n')
    (tmp_path / "b.jsonl").write_text('{"text": 1}\n{}\n')
    got = leat.pack([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "out", "bytes", max_rejects=3)
    assert got.rejected_inputs == [{"input": str(tmp_path / "b.jsonl"), "records": 2,
                                    "reason": '"text" is a number, not a string'}]


def test_keep(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "n": 3}\n{"text": "b", "n": 3.0e0}\n{"text": "c"}\n')
    kept = leat.pack(tmp_path / "a.jsonl", tmp_path / "kept", "bytes", keep="n = 3", progress=None)
    assert (kept.documents, kept.kept_out, kept.rejected) == (2, 1, 0)
    kept = leat.pack(tmp_path / "a.jsonl", tmp_path / "all", "bytes", keep=["n exists", 'text != "a"'], progress=None)
    assert (kept.documents, kept.kept_out) == (1, 2)
    with pytest.raises(leat.Error, match=r"of the 3 records read, .*\(allow_empty=True makes it") as none:
        leat.pack(tmp_path / "a.jsonl", tmp_path / "none", "bytes", keep="n = 4", progress=None)
    assert none.value.status == "empty" and not list(tmp_path.glob("none*"))
    assert leat.pack(tmp_path / "a.jsonl", tmp_path / "none", "bytes", keep="n = 4", allow_empty=True).documents == 0
    assert leat.merge(tmp_path / "none", tmp_path / "joined", allow_empty=True).documents == 0
    with pytest.warns(RuntimeWarning, match=r'no record has a field "txt" that is not null \(did you mean "text"\?\)'):
        kept = leat.pack(tmp_path / "a.jsonl", tmp_path / "both", "bytes", keep="n * 2 = 6 and not txt = a")
    assert (kept.documents, kept.kept_out) == (2, 1)
    for wrong, error in (("n", leat.Error), ("n =\0", TypeError), ([3], TypeError), (["n = 3"] * 65, ValueError)):
        with pytest.raises(error):
            leat.pack(tmp_path / "a.jsonl", tmp_path / "no", "bytes", keep=wrong, progress=None)
    assert not (tmp_path / "no.leat").exists()


def test_tables_in_text(tmp_path):
    """As Python's csv writes them, with the fields that a JSON record would have; and files of folders by patterns."""
    rows = [{"id": str(i), "body": t, "n": str(i % 3)} for i, t in enumerate(texts(200, 3))]
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name, dialect in (("a.csv", "excel"), ("sub/b.tsv", "excel-tab")):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "body", "n"], dialect=dialect)
            writer.writeheader()
            writer.writerows(rows)
    with open(folder / "c.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({**row, "n": int(row["n"])}) + "\n" for row in rows)
    made = []
    for i, pattern in enumerate(["*.csv", ["sub/*", "nothing"], "c.*"]):
        summary = leat.pack(leat.Files(folder, include=pattern), tmp_path / f"out{i}", text="body", keep="n >= 1",
                            progress=None)
        assert summary.inputs == 1 and summary.skipped == 2
        d = leat.open(tmp_path / f"out{i}")
        made.append((d.read(0, d.info.tokens).tolist(), [d.place(k).id for k in range(d.info.documents)]))
    assert made[0] == made[1] == made[2] and len(made[0][1]) == len([r for r in rows if r["n"] != "0"])
    assert leat.pack(leat.Files(folder, exclude=["*.tsv", "c.*"]), tmp_path / "out", text="body", progress=None,
                     force=True).inputs == 1
    with pytest.raises(leat.Error, match='no column "text" in the header; it has "id", "body", "n"'):
        leat.pack(folder / "a.csv", tmp_path / "none")
    with pytest.raises(TypeError, match="include of leat.Files must be a pattern"):
        leat.Files(folder, include=[1])


def test_by(tmp_path):
    lines = [json.dumps({"text": f"text {n}", "lang": ["en", "De", 3][n % 3]}) + "\n" for n in range(30)]
    (tmp_path / "a.jsonl").write_text("".join(lines) + '{"text": ""}\n')
    made = leat.pack(tmp_path / "a.jsonl", tmp_path / "all", "bytes", by="lang", split={"v": 0.3}, progress=None,
                     max_rejects=None)
    assert (made.documents, made.rejected, made.splits) == (30, 1, [])
    assert [(o["value"], o.get("split")) for o in made.outputs] == \
        [("3", "v"), ("3", None), ("De", "v"), ("De", None), ("en", "v"), ("en", None)]
    for o in made.outputs:
        with leat.Dataset(o["name"]) as d:
            assert (len(d), len(d.tokens)) == (o["documents"], o["tokens"])
            assert d.metadata["leat.by.value"] == o["value"]
        assert o["name"] == f"{tmp_path}/all.{o['value']}{'.v' if 'split' in o else ''}"
    part = leat.pack(tmp_path / "a.jsonl", tmp_path / "part", "bytes", by="lang", part=(1, 1), progress=None,
                     max_rejects=None)
    merged = leat.merge(part.output, tmp_path / "merged", split={"v": 0.3})
    assert part.outputs == [] and [o["identity"] for o in merged.outputs] == [o["identity"] for o in made.outputs]
    again = leat.pack(tmp_path / "a.jsonl", tmp_path / "all", "bytes", by="lang", split={"v": 0.3}, progress=None,
                      max_rejects=None, resume=True)
    assert again.was_finished and again.outputs == made.outputs
    with pytest.raises(TypeError):
        leat.pack(tmp_path / "a.jsonl", tmp_path / "no", "bytes", by=3)


def test_array(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([{"text": "a"}, {"text": "b"}], indent=2))
    assert leat.pack(tmp_path / "a.json", tmp_path / "a", "bytes", progress=None).documents == 2


def test_wrong_field(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    open("a.jsonl", "w").write('{"text": "a", "id": 1}\n' * 3)
    for options, message in (({"text": "txt"}, 'they have "text", "id"; did you mean "text"? (text=NAME)'),
                             ({"text": "body"}, "name the one that holds the text (text=NAME)"),
                             ({"mask_field": "spans"}, "name the one that holds what is learned (mask_field=NAME)"),
                             ({"by": "lang"}, "name the one that holds the value that chooses a dataset (by=NAME)")):
        with pytest.raises(leat.Error) as e:
            leat.pack("a.jsonl", "x", "bytes", max_rejects=None, **options)
        assert e.value.status == "not-found" and message in str(e.value), e.value
        assert os.listdir() == ["a.jsonl"]


def test_created(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path / "in")
    command("pack", "-o", "theirs", "in", SOURCE_DATE_EPOCH="1700000000")
    leat.pack("in", "given", created=1700000000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    leat.pack("in", "found")
    assert same("given", "theirs") and same("found", "theirs")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ValueError, match="SOURCE_DATE_EPOCH"):
        leat.pack("in", "x")


def test_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path / "in")
    leat.pack("in", "there")
    before = open("there.leat", "rb").read()
    with pytest.raises(leat.Error) as e:
        leat.pack("in", "there")
    assert e.value.status == "exists" and "there.leat" in str(e.value) and not e.value.resumable
    assert open("there.leat", "rb").read() == before
    leat.pack("in", "there", force=True)
    with pytest.raises(leat.Error) as e:
        leat.pack("nothing", "x")
    assert e.value.status == "no-file" and "nothing" in str(e.value)
    with pytest.raises(leat.Error) as e:
        leat.pack("in", "x", invalid_utf8="reject", max_rejects=0)
    assert e.value.status == "rejects"
    for wrong, match in (({"invalid_utf8": "drop"}, "invalid_utf8"),
                         ({"write": "fast"}, "write"), ({"end": 10**6}, "50256"),
                         ({"end": "no such token"}, "no such token"), ({"begin": -1}, "begin"),
                         ({"end": "no"}, "keyword: end=None means no such token"),
                         ({"begin": "False"}, "begin=None means no such token"),
                         ({"threads": 0}, "threads"),
                         ({"memory": "two"}, "2GiB"), ({"memory": 0}, "memory"), ({"shuffle": -1}, "shuffle"),
                         ({"part": (3, 2)}, "part"), ({"part": "x/2"}, "x"), ({"max_rejects": 2.0}, "max_rejects"),
                         ({"max_rejects": "200%"}, "max_rejects"), ({"max_rejects": -5}, "max_rejects")):
        with pytest.raises(ValueError, match=match):
            leat.pack("in", "x", **wrong)
    for wrong in ({"shuffle": True}, {"progress": 5}, {"pattern": "gpt2"}):
        with pytest.raises(TypeError):
            leat.pack("in", "x", **wrong)
    with pytest.raises(leat.Error, match="split"):
        leat.pack("in", "y", split={"leat": 0.1})
    with pytest.raises(leat.Error, match="split"):
        leat.pack("in", "z", split="valid")
    assert not any(os.path.exists(n + ".leat") for n in "xyz")


def test_end_token_that_is_not_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizers = pytest.importorskip("tokenizers")
    t = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1}, []))
    t.add_special_tokens(["</s>", "<eos>"])
    t.save("tokenizer.json")
    (tmp_path / "a.txt").write_text("ab")
    with pytest.raises(ValueError, match=r"end=ID.*2 \(</s>\)"):
        leat.pack("a.txt", "x", "tokenizer.json")
    assert leat.pack("a.txt", "x", "tokenizer.json", end="<eos>").tokens == 3


def test_truncated_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = gzip.compress("".join(json.dumps({"text": t}) + "\n" for t in texts(3000, 21)).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:len(whole) * 2 // 3])
    with pytest.raises(leat.Error, match="cut.jsonl.gz") as e:
        leat.pack("cut.jsonl.gz", "a")
    assert e.value.status == "truncated" and e.value.summary.documents > 100
    size = os.path.getsize("cut.jsonl.gz")
    assert e.value.damaged == e.value.summary.damaged == [
        {"input": "cut.jsonl.gz", "offset": size, "reason": "it ends in the middle of a gzip member",
         "unread_bytes": 0}] and "allow_truncated=True with resume=True counts that as success" in str(e.value)
    with pytest.warns(RuntimeWarning, match="cut.jsonl.gz"):
        s = leat.pack("cut.jsonl.gz", "b", allow_truncated=True)
    assert s.truncated_inputs == 1 and same("a", "b")
    # what the error says to do
    with pytest.warns(RuntimeWarning, match=f"at byte {size}: it ends in the middle of a gzip member; what should"):
        s = leat.pack("cut.jsonl.gz", "a", allow_truncated=True, resume=True)
    assert s.was_finished and s.damaged == e.value.damaged
    open("cut.jsonl.gz", "wb").write(whole)
    assert leat.pack("cut.jsonl.gz", "a", force=True).damaged == []
    open("two.jsonl.gz", "wb").write(whole[:999])
    with pytest.raises(leat.Error, match="rejected") as e:
        leat.pack(["cut.jsonl.gz", "two.jsonl.gz"], "c", max_rejects=0)
    assert e.value.status == "rejects" and e.value.resumable
    assert [d["input"] for d in e.value.damaged] == ["two.jsonl.gz"]


def large(folder, mib=6):
    line = [json.dumps({"text": t}) + "\n" for t in texts(2000, 22)]
    path = folder / "large.jsonl"
    with open(path, "w") as file:
        while file.tell() < mib << 20:
            file.writelines(line)
    return path


def test_progress(tmp_path):
    path = large(tmp_path)
    seen = []
    s = leat.pack(path, tmp_path / "out", progress=seen.append)
    assert seen and all(isinstance(p, leat.Progress) for p in seen)
    assert seen[-1].total_bytes == os.path.getsize(path) and seen[-1].bytes <= seen[-1].total_bytes
    assert [p.bytes for p in seen] == sorted(p.bytes for p in seen) and seen[-1].tokens <= s.tokens
    assert {p.bound for p in seen} <= {"reading", "encoding", "writing"}
    seen.clear()
    leat.pack(path, tmp_path / "mixed", shuffle=1, progress=seen.append)
    assert seen[-1].bound == "arranging"
    leat.pack(path, tmp_path / "silent", progress=None)


def test_bar(tmp_path, capsys):
    pytest.importorskip("tqdm")
    path = large(tmp_path, 2)
    leat.pack(path, tmp_path / "out", shuffle=3, progress=True)
    shown = capsys.readouterr()
    assert "pack" in shown.err and "tokens" in shown.err and shown.out == ""
    leat.pack(path, tmp_path / "auto")
    assert capsys.readouterr().err == ""


def test_exception_in_progress_ends_the_run(tmp_path):
    class Enough(Exception):
        pass

    def stop(p):
        if p.documents > 0:
            raise Enough("that far")

    for mib in (32, 128, 512):  # it is asked now and then: a run may be over before
        path = large(tmp_path, mib)
        with pytest.raises(Enough, match="that far") as e:
            leat.pack(path, tmp_path / "out", progress=stop, threads=1, force=mib > 32)
        if e.value.__cause__ is not None:
            break
    assert isinstance(e.value.__cause__, leat.Error) and e.value.__cause__.status == "stopped"
    assert e.value.__cause__.resumable
    assert not os.path.exists(tmp_path / "out.leat")
    with pytest.raises(leat.Error, match="resume"):
        leat.pack(path, tmp_path / "out")
    s = leat.pack(path, tmp_path / "out", resume=True)
    leat.pack(path, tmp_path / "whole")
    assert same(tmp_path / "out", tmp_path / "whole") and not s.was_finished
    s = leat.pack(path, tmp_path / "out", resume=True)
    assert s.was_finished and s.mb_per_s == s.tokens_per_s == 0


def test_rates_of_a_resumed_run(tmp_path):
    """They counted the text of the run before over the seconds of this one."""
    out, path = tmp_path / "out", large(tmp_path, 32)
    with open(path, "a") as file:
        file.write("{}\n")
    with pytest.raises(leat.Error) as e:
        leat.pack(path, out, "bytes", max_rejects=0)
    assert e.value.resumable
    seen = []
    s = leat.pack(path, out, "bytes", max_rejects=1, resume=True, progress=seen.append)
    first = [p for p in seen if p.bound != "checking"]
    whole, own = (s.text_bytes, s.tokens), (s.text_bytes - first[0].text_bytes, s.tokens - first[0].tokens)
    assert first[0].bytes_before > 0 and own < whole
    assert (s.mb_per_s * s.seconds * 1e6, s.tokens_per_s * s.seconds) == pytest.approx(own)


def test_resuming_checks_what_was_written(tmp_path):
    """That can be stopped, too, and refuses what is damaged."""
    out, path, seen = tmp_path / "out", large(tmp_path), []
    with open(path, "a") as file:
        file.write("{}\n")
    with pytest.raises(leat.Error) as e:
        leat.pack(path, out, "bytes", max_rejects=0)

    def stop(p):
        seen.append(p)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as e:
        leat.pack(path, out, "bytes", max_rejects=1, resume=True, progress=stop)
    assert e.value.__cause__.status == "stopped" and e.value.__cause__.resumable
    assert [p.bound for p in seen] == ["checking"] and 0 < seen[0].bytes <= seen[0].total_bytes
    origins = tmp_path / "out.partial.origins"
    whole = origins.read_bytes()
    origins.write_bytes(whole[:100] + b"\1" + whole[101:])
    with pytest.raises(leat.Error, match="out.partial.origins is damaged.*force=True") as e:
        leat.pack(path, out, "bytes", max_rejects=1, resume=True)
    assert e.value.status == "checkpoint" and not e.value.resumable
    origins.write_bytes(whole)
    leat.pack(path, out, "bytes", max_rejects=1, resume=True)
    leat.pack(path, tmp_path / "whole", "bytes", max_rejects=1)
    assert same(out, tmp_path / "whole")


def test_follow_links(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("in", "out", "links"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(folder)
    (tmp_path / "in" / "link.txt").symlink_to("../out/a.txt")
    s = leat.pack("in", "x", "bytes")
    assert (s.inputs, s.skipped, s.skipped_files) == (1, 1, ["in/link.txt"])
    s = leat.pack(leat.Files("in", follow_links=True), "x", "bytes", force=True)
    assert (s.inputs, s.skipped) == (2, 0)
    (tmp_path / "links" / "a.txt").unlink()
    (tmp_path / "links" / "a.txt").symlink_to("../out/a.txt")
    hint = r"\(leat.Files\(..., follow_links=True\)\)"
    with pytest.raises(leat.Error, match="links that lead out of it, such as links/a.txt.*" + hint):
        leat.pack("links", "y", "bytes")


INTERRUPTED = """
import os, signal, sys, leat
def say(p):
    print(p.documents, flush=True)
    if sys.argv[3] == "0":  # in the middle for sure
        os.kill(os.getpid(), signal.SIGINT)
try:
    leat.pack(sys.argv[1], sys.argv[2], progress=say)
except KeyboardInterrupt as e:
    print("interrupted", e.__cause__.resumable, flush=True)
    raise
"""


def test_interrupt_is_resumable(tmp_path):
    """Ctrl-C in a process of its own, at moments all over the run."""
    path = large(tmp_path, 160)
    leat.pack(path, tmp_path / "whole")
    interrupted = 0
    for n in range(4):
        out = tmp_path / f"out{n}"
        with subprocess.Popen([sys.executable, "-c", INTERRUPTED, path, out, str(n)], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE) as p:
            p.stdout.readline()
            if n > 0:
                time.sleep(0.1 * n)
                p.send_signal(signal.SIGINT)
            told, errors = p.communicate()
        if p.returncode != 0:
            assert "KeyboardInterrupt" in errors, errors
            assert "interrupted True" in told or "interrupted False" in told
            interrupted += 1
        s = leat.pack(path, out, resume=True)
        assert same(out, tmp_path / "whole") and s.documents > 0
    assert interrupted > 0


OTHERS_GO_ON = """
import os, sys, threading, leat
source, into = os.pipe()
os.dup2(source, 0)
text = open(sys.argv[2], "rb").read()
def write():
    with open(into, "wb", buffering=0) as file:
        for at in range(0, len(text), 60000):
            file.write(text[at:at + 60000])
thread = threading.Thread(target=write)
thread.start()
print(leat.pack(leat.Files("-", format="jsonl"), sys.argv[1]).text_bytes)
thread.join()
"""


def test_other_threads_go_on(tmp_path):
    """What is packed comes from another thread: if that could not go on meanwhile, there would be no end."""
    path = large(tmp_path, 12)
    told = subprocess.run([sys.executable, "-c", OTHERS_GO_ON, tmp_path / "out", path], check=True, timeout=200,
                          capture_output=True, text=True).stdout
    with open(path, encoding="utf-8") as file:
        assert int(told) == sum(len(json.loads(line)["text"].encode()) for line in file)


def test_merge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path / "in")
    whole = leat.pack("in", "whole")
    for i in (1, 2, 3):
        leat.pack("in", f"part{i}", part=(i, 3))
    parts = ["part1", "part2", "part3"]
    seen = []
    s = leat.merge(parts, "merged", progress=lambda *p: seen.append(p))
    assert same("merged", "whole") and s.tokens == whole.tokens and s.documents == whole.documents
    mixed = leat.merge(parts, "mixed", shuffle=5, dedup=True, split={"valid": 0.2}, threads=2, memory="1MiB")
    command("merge", "-o", "theirs", "--shuffle", "5", "--dedup", "--split", "valid=0.2", *parts)
    assert same("mixed", "theirs") and same("mixed.valid", "theirs.valid")
    assert mixed.deduplicated > 0 and mixed.splits[0]["output"] == "mixed.valid"
    with pytest.raises(leat.Error, match="merged"):
        leat.merge(parts, "merged")
    leat.merge(parts, "merged", force=True)
    with pytest.raises(leat.Error, match="part"):
        leat.merge(["part3", "part1"], "x")
    # what a pattern matches, in any order
    (tmp_path / "part9.rejects.jsonl").write_text("")
    with pytest.warns(RuntimeWarning, match="^part9 is left out: files of it are named, but no finished dataset$"):
        leat.merge(sorted(glob.glob("part*"), reverse=True), "pattern")
    assert same("pattern", "whole")
    with pytest.raises(ZeroDivisionError):
        leat.merge(parts, "x", progress=lambda *p: 1 / 0)
    assert not os.path.exists("x.leat")


def test_commands():
    """`python -m leat`, and the programs that the console scripts become."""
    version = command("--version")
    assert leat.__version__ in version
    for what in ([sys.executable, "-m", "leat"], [sys.executable, "-c", "from leat.command import leat; leat()"]):
        assert subprocess.run([*what, "--version"], capture_output=True, text=True, check=True).stdout == version
        assert subprocess.run([*what, "pack"], capture_output=True).returncode == 2
    bench = subprocess.run([sys.executable, "-c", "from leat.command import bench; bench()", "--help"],
                           capture_output=True, text=True, check=True)
    assert "limits" in bench.stdout
