"""test_run_pushed.py: leat.Run: processes push parts, with attempts that lose, die or come too late; the commit makes
one dataset, in its order, with the bytes that a packer alone gives, and nothing else is left; in a folder and in a
bucket; and, with splits, one for each, with the documents that leat.pack() gives it."""
import multiprocessing
import os
import pathlib
import pickle
import signal
import sys

import numpy
import pyarrow
import pytest

import leat

PARTS = f"leat-parts-{os.geteuid()}"  # in a scratch folder

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "remote"))
PROCESSES = multiprocessing.get_context("spawn")


def table(key, rows=50):
    """The documents of a part, in two batches."""
    texts = [f"document {n} of part {key}" * (n % 7) for n in range(rows)]
    one = pyarrow.table({"body": texts, "name": [f"{key}-{n}" for n in range(rows)]})
    return pyarrow.concat_tables([one.slice(0, 20), one.slice(20)])


def attempt(run, key, fate, answers):
    if fate == "slow":  # begins before the others, ends after them
        packer = run.part(key)
        packer.extend(table(key))
        answers.put((key, None))
        answers.cancel_join_thread()
        signal.pause()
    with run.part(key) as packer:
        packer.extend(table(key).to_batches())
        if fate == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
    answers.put((key, packer.piece))


def begin(run, key, fate, answers):
    process = PROCESSES.Process(target=attempt, args=(run, key, fate, answers))
    process.start()
    return process


def files(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def alone(tmp_path, key):
    with leat.Packer(tmp_path / "alone", "bytes", force=True) as packer:
        packer.extend(table(key), text="body", id="name")
    return [(tmp_path / f"alone{suffix}").read_bytes() for suffix in (".leat", ".tokens")]


def check(dataset, keys):
    assert [dataset.place(n).id for n in range(len(dataset))] == [f"{key}-{n}" for key in keys for n in range(50)]
    dataset.verify()


def test_processes(tmp_path):
    run = leat.Run(tmp_path / "run", "bytes", text="body", id="name")
    answers = PROCESSES.Queue()
    fates = [("2", "slow"), ("1", "killed"), ("0", ""), ("1", ""), ("2", ""), ("1", "")]
    slow = begin(run, *fates[0], answers)
    assert answers.get() == ("2", None)
    others = [begin(run, *fate, answers) for fate in fates[1:]]
    got = [answers.get() for _ in range(4)]
    for process in others:
        process.join()
    assert [process.exitcode for process in others] == [-signal.SIGKILL, 0, 0, 0, 0]
    with pytest.raises(leat.Error, match="is not committed"):
        leat.open(tmp_path / "run")
    pieces = dict(got)  # the last attempt of each
    assert {piece.documents for piece in pieces.values()} == {50} and pieces["0"].rejected == 0
    dataset = run.commit([pieces[key] for key in "201"])
    check(dataset, "201")
    check(leat.open(tmp_path / "run"), "201")
    assert len(files(tmp_path / "run")) == 2 + 2 * 3
    for part in dataset.parts:
        name = pathlib.Path(os.fsdecode(part.name))
        expected = alone(tmp_path, name.name[0])
        assert [name.with_name(name.name + suffix).read_bytes() for suffix in (".leat", ".tokens")] == expected
    slow.kill()
    slow.join()
    assert len(files(tmp_path / "run")) == 2 + 2 * 3


def test_pickle_and_again(tmp_path):
    run = leat.Run(tmp_path / "run", "bytes", text="body", id="name")
    other = pickle.loads(pickle.dumps(run))
    late = other.part(7)
    with other.part(7) as packer:
        packer.extend(table(7))
    with pytest.raises(AttributeError):
        late.piece
    piece = pickle.loads(pickle.dumps(packer.piece))
    assert piece == packer.finish() and piece.key == "7" and repr(packer).endswith("50 documents given, finished>")
    run.commit([piece])
    other.commit([piece])
    with pytest.raises(leat.Error, match="committed without this attempt at the part 7") as error:
        late.finish()
    assert error.value.status == "state"
    late.abandon()
    with pytest.raises(leat.Error) as error:
        leat.Run(tmp_path / "run", "bytes")
    assert error.value.status == "exists"
    before = leat.open(tmp_path / "run")
    new = leat.Run(tmp_path / "run", "bytes", force=True)
    with new.part("only") as packer:
        packer.add("one document", id="x")
    assert len(leat.open(tmp_path / "run")) == 50
    assert len(new.commit([packer.piece])) == 1 and len(before) == 50
    assert len(files(tmp_path / "run")) == 4


def test_pickle_of_a_run_that_is_no_more(tmp_path):
    """A late task, or a late driver, must not meet the run that has taken the folder since."""
    old = leat.Run(tmp_path / "run", "bytes")
    pickled = pickle.dumps(old)
    assert pickle.loads(pickled)._pushed.number() == leat.Run(tmp_path / "run", "bytes")._pushed.number()
    new = leat.Run(tmp_path / "run", "bytes", end=7, force=True)
    with pytest.raises(leat.Error, match="another one has taken its place") as error:
        pickle.loads(pickled)
    assert error.value.status == "state" and error.value.file == str(tmp_path / "run")
    with new.part(1) as packer:
        packer.add("text")
    new.commit([packer.piece])


def test_abort_of_an_opened_run(tmp_path):
    """A run whose driver has died can be ended by anybody who has the folder."""
    leat.Run(tmp_path / "run", "bytes").part(1).abandon()
    leat.Run.open(tmp_path / "run").abort()
    assert not (tmp_path / "run").exists()


def test_attempt_that_begins_in_an_abort(tmp_path):
    """What it makes while its lock is swept goes with it, and so does the folder."""
    run = leat.Run(tmp_path / "run", "bytes")
    packer = run.part("a")
    lock, = (tmp_path / "run").glob("a.*.partial.lock")
    run.abort()
    (tmp_path / "run").mkdir(exist_ok=True)
    lock.with_suffix(".hashes").touch()
    packer.abandon()
    assert not (tmp_path / "run").exists()


def test_exceptions(tmp_path):
    with pytest.raises(ZeroDivisionError), leat.Run(tmp_path / "run", "bytes") as run:
        with run.part("a") as packer:
            packer.add("text")
        with pytest.raises(KeyError), run.part("b") as packer:
            raise KeyError
        assert len(files(tmp_path / "run")) == 3
        1 / 0
    assert not (tmp_path / "run").exists()
    run.abort()
    for key in ("", ".x", "a/b", "x" * 129):
        with pytest.raises(leat.Error, match="cannot name a part"):
            leat.Run(tmp_path / "other", "bytes").part(key)
    with pytest.raises(leat.Error, match="is not the piece of a run"):
        run.commit([leat.Piece("a", 1, 1, 1, 0, 0, "no line")])
    with pytest.raises(leat.Error, match="is not the folder of a run"):
        pickle.loads(pickle.dumps(run))


def push(run, key, **where):
    with run.part(key, **where) as packer:
        packer.extend(table(key))
    return packer.piece


def test_append(tmp_path):
    """A finished dataset never changes: who trains on it goes on, by its list, and the folder is a new one."""
    folder, options = tmp_path / "run", dict(text="body", id="name", append=True)
    run = leat.Run(folder, "bytes", **options)
    run.commit([push(run, "1"), push(run, "0")])
    before = leat.open(folder)
    loader = leat.Loader(leat.Plan(folder, 32, 7), 4)
    batches = [numpy.asarray(next(loader).inputs).copy() for _ in range(2)]
    state = loader.state_dict()
    batches += [numpy.asarray(next(loader).inputs).copy() for _ in range(3)]
    with pytest.raises(leat.Error, match=r"append to it or replace it \(append=True or force=True\)") as error:
        leat.Run(folder, "bytes", text="body", id="name")
    assert error.value.status == "exists"

    with pytest.raises(KeyError), leat.Run(folder, "bytes", **options) as failed:
        push(failed, "1")
        raise KeyError
    assert leat.open(folder).info.identity == before.info.identity and "leat-run" not in files(folder)

    run = pickle.loads(pickle.dumps(leat.Run(folder, "bytes", **options)))
    pieces = [push(run, "1"), push(run, "2")]
    assert leat.open(folder).info.identity == before.info.identity
    after = run.commit(pieces)
    assert run.commit(pieces).info.identity == after.info.identity != before.info.identity
    check(after, "1012")
    check(before, "10")
    earlier, = folder.glob("leat-run.list.*")
    check(leat.open(earlier), "10")
    assert leat.open(earlier).info.identity == before.info.identity
    loader = leat.Loader(leat.Plan(earlier, 32, 7), 4, state=state)
    assert all(numpy.array_equal(numpy.asarray(next(loader).inputs), batch) for batch in batches[2:])
    with pytest.raises(leat.Error, match="has other datasets"):
        leat.Loader(leat.Plan(folder, 32, 7), 4, state=state)
    for other, what in (({"end": None}, "another end-of-document token"), ({"tokenizer": "gpt2"}, "another tokenizer")):
        with pytest.raises(leat.Error, match=what) as error:
            leat.Run(folder, **{"tokenizer": "bytes", **options, **other})
        assert error.value.status == "incompatible"


def test_masks(tmp_path):
    run = leat.Run(tmp_path / "run", "bytes", mask="learned", end=None)
    with run.part("a") as packer:
        packer.extend(pyarrow.table({"text": [[1, 2, 3]], "learned": [[0, 1, 1]]}))
    assert run.commit([packer.piece]).mask().tolist() == [0, 255, 255]


def test_conversations(tmp_path):
    pytest.importorskip("jinja2")
    (tmp_path / "chat.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    run = pickle.loads(pickle.dumps(leat.Run(tmp_path / "run", "bytes", chat=tmp_path / "chat.jinja", id="n")))
    with run.part("a") as packer:
        packer.extend([{"messages": said, "n": "7"}])
    dataset = run.commit([packer.piece])
    assert dataset.place(0).id == "7" and bytes(dataset[0].tolist()) == b"<user>a<assistant>b"


# ---- In a bucket ----

@pytest.fixture(params=["s3", "az"])
def server(request, tmp_path, monkeypatch):
    from azure_server import AzureServer
    from s3_server import S3Server

    with {"s3": S3Server, "az": AzureServer}[request.param]({}) as server:
        for name, value in server.environment(AWS_MAX_ATTEMPTS="2").items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("LEAT_CACHE", str(tmp_path / "cache"))
        monkeypatch.chdir(tmp_path)
        try:
            leat.open(f"{server.scheme}://b/none")
        except leat.Error as error:
            if "libcurl" in str(error):
                pytest.skip("no libcurl")
        yield server


def names(server):
    return sorted(name.partition("/")[2] for name in server.objects)


def test_bucket(server, tmp_path):
    (tmp_path / "scratch").mkdir()
    where = dict(scratch=tmp_path / "scratch")
    run = leat.Run(f"{server.scheme}://b/made", "bytes", text="body", id="name")
    task = pickle.loads(pickle.dumps(run))
    pieces = {}
    late = task.part("0", **where)
    late.extend(table("0"))
    for key in ("0", "1", "1"):
        with task.part(key, **where) as packer:
            packer.extend(table(key))
        pieces[key] = packer.piece
    assert files(tmp_path / "scratch" / PARTS) and len(names(server)) == 1 + 3 * 2
    # for its user alone: the first user's folder, leat-parts, kept a second one out, who could read what was in it
    assert os.listdir(tmp_path / "scratch") == [PARTS]
    assert (tmp_path / "scratch" / PARTS).stat().st_mode & 0o777 == 0o700
    with pytest.raises(leat.Error, match="is not committed"):
        leat.open(f"{server.scheme}://b/made/")
    dataset = run.commit([pieces["1"], pieces["0"]])
    check(dataset, "10")
    assert len(names(server)) == 2 + 2 * 2
    task.commit([pieces["1"], pieces["0"]])
    with pytest.raises(leat.Error) as error:
        task.commit([pieces["0"], pieces["1"]])
    assert error.value.status == "exists"
    with pytest.raises(leat.Error, match="committed without this attempt"):
        late.finish()
    late.abandon()
    assert len(names(server)) == 2 + 2 * 2 and files(tmp_path / "scratch" / PARTS) == []
    with pytest.raises(leat.Error, match="is a finished dataset"):
        leat.Run(f"{server.scheme}://b/made", "bytes")

    new = leat.Run(f"{server.scheme}://b/made", "bytes", force=True)
    with new.part("x", **where) as packer:
        packer.add("text")
    check(leat.open(f"{server.scheme}://b/made/"), "10")
    new.abort()
    check(leat.open(f"{server.scheme}://b/made/"), "10")
    assert len(names(server)) == 1 + 2 * 2


def test_bucket_two_commits(server, tmp_path):
    """Of two that replace a finished dataset at once, with other attempts, one counts, and its files stay."""
    (tmp_path / "scratch").mkdir()

    def made(run):
        with run.part("a", scratch=tmp_path / "scratch") as packer:
            packer.add("text")
        return packer.piece

    run = leat.Run(f"{server.scheme}://b/made", "bytes")
    run.commit([made(run)])
    run = leat.Run(f"{server.scheme}://b/made", "bytes", force=True)
    pieces, before = [made(run), made(run)], dict(server.objects)
    run.commit([pieces[0]])
    listed = next(name for name in server.objects if name.endswith("leat-run.list"))
    server.appearing = {listed: server.objects[listed]}
    server.objects.clear()
    server.objects.update(before)
    server.put_faults = ["appear"]  # the other one's list, since the old one was read
    with pytest.raises(leat.Error) as error:
        run.commit([pieces[1]])
    assert error.value.status == "exists" and server.objects[listed] == server.appearing[listed]
    run.commit([pieces[0]])
    assert len(names(server)) == 2 + 2

    run = leat.Run(f"{server.scheme}://b/made", "bytes", force=True)
    server.put_faults, piece = [], made(run)
    server.put_faults = ["lost"]  # it was the same commit
    run.commit([piece])
    assert len(names(server)) == 2 + 2


def test_bucket_append(server, tmp_path):
    where, options = dict(scratch=tmp_path), dict(text="body", id="name", append=True)
    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    run.commit([push(run, "0", **where)])
    before, kept = leat.open(f"{server.scheme}://b/made/").info.identity, dict(server.objects)
    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    push(run, "0", **where)
    run.abort()
    assert leat.open(f"{server.scheme}://b/made/").info.identity == before
    assert {name: kept[name] for name in kept if not name.endswith("leat-run")} == server.objects

    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    pieces = [push(run, "0", **where), push(run, "1", **where)]
    server.put_faults = ["", "lost"]  # of the list before, and the new one
    check(run.commit(pieces), "001")
    run.commit(pieces)
    assert len(names(server)) == 3 + 3 * 2
    earlier, = [name for name in server.objects if "/leat-run.list." in name]
    check(leat.open(f"{server.scheme}://{earlier}"), "0")
    assert leat.open(f"{server.scheme}://{earlier}").info.identity == before
    with pytest.raises(leat.Error) as error:
        leat.open(f"{server.scheme}://{earlier[:-1]}{'0' if earlier[-1] == '1' else '1'}")
    assert error.value.status == "no-file"
    with pytest.raises(leat.Error) as error:
        leat.Run(f"{server.scheme}://b/made", "bytes", **options, end=None)
    assert error.value.status == "incompatible"

    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    listed, piece = next(name for name in server.objects if name.endswith("leat-run.list")), push(run, "2", **where)
    server.appearing, server.put_faults = {listed: server.objects[earlier]}, ["", "appear"]
    for status in ("exists", "state"):  # another list, since it was read, and before
        with pytest.raises(leat.Error) as error:
            run.commit([piece])
        assert error.value.status == status and server.objects[listed] == server.objects[earlier]
    server.put_faults = []
    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    check(run.commit([push(run, "2", **where)]), "02")
    assert len(names(server)) == 3 + 2 * 2


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("inner, outer", [("commit", "abort"), ("commit", "force"), ("abort", "commit")])
def test_bucket_commit_meets_an_abort(server, monkeypatch, append, inner, outer):
    """Nothing is locked in a bucket: whichever comes between the looking and the writing of the other, one of both is
    refused, the dataset is the one before or the one that was committed, and none is lost."""
    meets = "leat-run.list" if outer == "commit" else "leat-run"
    put, calls, said = server.RequestHandlerClass.on_put, {}, {}

    def on_put(self, bucket, key, members, body):
        if key.endswith(f"meets/{meets}") and inner in calls:
            attempt(inner, calls.pop(inner))
        return put(self, bucket, key, members, body)

    def attempt(name, call):
        try:
            call()
            said[name] = "done"
        except leat.Error as error:
            said[name] = error.status

    if append:
        run = leat.Run(f"{server.scheme}://b/meets", "bytes")
        with run.part("old") as packer:
            packer.extend(["a", "b"])
        run.commit([packer.piece])
    run = leat.Run(f"{server.scheme}://b/meets", "bytes", append=append)
    with run.part("new") as packer:
        packer.add("c")
    other = pickle.loads(pickle.dumps(run))
    all_calls = {"commit": lambda: run.commit([packer.piece]), "abort": other.abort,
                 "force": lambda: leat.Run(f"{server.scheme}://b/meets", "bytes", end=7, force=True)}
    calls[inner] = all_calls[inner]
    monkeypatch.setattr(server.RequestHandlerClass, "on_put", on_put)
    attempt(outer, all_calls[outer])
    assert not calls, "they did not meet"
    committed = said["commit"] == "done"
    assert said in ([{"commit": "done", "abort": "state"}] if outer == "abort" else
                    [{"commit": "done", "force": "done"}] if outer == "force" else
                    [{"commit": "state", "abort": "done"}]), said
    wanted = 2 * append + committed
    if wanted:
        with leat.open(f"{server.scheme}://b/meets/") as dataset:
            assert len(dataset) == wanted
            dataset.verify()
    else:
        with pytest.raises(leat.Error):
            leat.open(f"{server.scheme}://b/meets/")


def test_bucket_damage(server, tmp_path):
    """Sizes are compared by the commit, and everything else when the dataset is opened."""
    (tmp_path / "scratch").mkdir()
    run = leat.Run(f"{server.scheme}://b/made", "bytes")
    with run.part("a", scratch=tmp_path / "scratch") as packer:
        packer.add("text")
    index = next(name for name in server.objects if name.endswith(".leat"))
    whole = server.objects.pop(index)
    with pytest.raises(leat.Error, match="the files of the part a are not there"):
        run.commit([packer.piece])
    server.objects[index] = whole
    run.commit([packer.piece])
    other = leat.Run(f"{server.scheme}://b/other", "bytes")
    with other.part("a", scratch=tmp_path / "scratch") as packer:
        packer.add("test")
    changed = next(name for name in server.objects if "/other/" in name and name.endswith(".leat"))
    server.objects[index] = server.objects[changed]
    server.objects[index[:-5] + ".tokens"] = server.objects[changed[:-5] + ".tokens"]
    with pytest.raises(leat.Error) as error:
        leat.open(f"{server.scheme}://b/made/")
    assert error.value.status == "mismatch"


@pytest.mark.parametrize("server", ["s3"], indirect=True)
@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_bucket_uploads(server, tmp_path, scheme):
    """What killed tasks have sent of a part is swept by the commit, an abort and another run, and by the same one that
    begins again it is not: a task may live. Uploads of others stay."""
    where, other = dict(scratch=tmp_path), {"b/made/part-1.tokens", "b/made/deeper/a.0123456789abcdef.tokens", "b/else"}

    def begin(**options):
        return leat.Run(f"{scheme}://b/made", "bytes", text="body", id="name", **options)

    def left():
        return {upload["name"] for upload in server.uploads.values()}

    for n, name in enumerate(other):
        server.uploads[f"other {n}"] = {"name": name, "parts": {}}
    dead = {f"b/made/{key}.0123456789abcde{n}.{suffix}" for key in "abc" for n in range(2)
            for suffix in ("leat", "tokens")}

    def kill():
        server.uploads.update({f"dead {n}": {"name": name, "parts": {1: b"x"}} for n, name in enumerate(dead)})

    run = begin()
    kill()
    begin()
    assert left() == other | dead
    run.commit([push(run, "a", **where)])
    assert left() == other
    kill()
    run = begin(append=True)
    assert left() == other
    kill()
    run.abort()
    assert left() == other
    kill()
    server.no_lists = 405  # of a server that does not list them
    run = begin(append=True)
    check(run.commit([push(run, "b", **where)]), "ab")
    assert left() == other | dead
    server.no_lists = 0
    begin(force=True).abort()
    assert left() == other

    run = begin(append=True)
    packer = run.part("c", **where)
    packer.extend(table("c"))
    server.put_faults = ["denied"]
    with pytest.raises(leat.Error):
        packer.finish()
    made = next(name for name in files(tmp_path / PARTS) if name.endswith(".tokens"))
    server.uploads["own"] = {"name": f"b/made/{made}", "parts": {}}  # as if it were a large one
    packer.abandon()
    assert left() == other
    run.abort()
    check(leat.open(f"{scheme}://b/made/"), "ab")


def test_dead_scratch(server, tmp_path):
    (tmp_path / "scratch").mkdir()
    run = leat.Run(f"{server.scheme}://b/made", "bytes", text="body", id="name")
    if os.fork() == 0:
        packer = run.part("a", scratch=tmp_path / "scratch")
        packer.extend(table("a"))
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    assert len(files(tmp_path / "scratch" / PARTS)) > 1
    with run.part("a", scratch=tmp_path / "scratch") as packer:
        packer.extend(table("a"))
    assert files(tmp_path / "scratch" / PARTS) == []
    check(run.commit([packer.piece]), "a")


# ---- With splits ----

SPLIT = "valid=0.1,test=0.2"


def split_names(folder):
    return [folder, f"{folder}/valid", f"{folder}/test"]


def made_with_splits(run, keys, **where):
    pieces = []
    for key in keys:
        with run.part(key, **where) as packer:
            packer.extend(table(key))
        pieces.append(packer.piece)
    return pieces


def documents(dataset):
    return [(dataset.place(n).id, dataset[n].tolist()) for n in range(len(dataset))]


def test_splits_are_those_of_pack(tmp_path):
    """The documents of each dataset, and their order, are those of leat.pack() of the same texts, in one part or in
    several; and merged they have its bytes."""
    import json

    rows = [row for key in "ba" for row in table(key).to_pylist()]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    leat.pack(tmp_path / "texts.jsonl", tmp_path / "packed", "bytes", text="body", id="name", split=SPLIT)
    expected = [leat.open(tmp_path / f"packed{name}") for name in ("", ".valid", ".test")]
    assert all(len(one) > 5 for one in expected)

    run = pickle.loads(pickle.dumps(leat.Run(tmp_path / "run", "bytes", text="body", id="name", split=SPLIT)))
    pieces = pickle.loads(pickle.dumps(made_with_splits(run, "ab")))
    assert [piece.documents for piece in pieces] == [50, 50] and pieces[0].line.count("\n") == 2
    for name in split_names(tmp_path / "run"):
        with pytest.raises(leat.Error, match="is not committed"):
            leat.open(name)
    run.commit(pieces[::-1])
    whole = leat.Run(tmp_path / "one", "bytes", text="body", id="name", split=dict(valid=0.1, test=0.2))
    with whole.part("all") as packer:
        packer.extend(pyarrow.Table.from_pylist(rows))
    whole.commit([packer.piece])
    for folder in ("run", "one"):
        for name, dataset in zip(split_names(tmp_path / folder), expected):
            dataset_made = leat.open(name)
            dataset_made.verify()
            assert documents(dataset_made) == documents(dataset)
        for name, suffix in zip(split_names(tmp_path / folder), ("", ".valid", ".test")):
            leat.merge([name], tmp_path / "joined", force=True)
            assert (tmp_path / "joined.tokens").read_bytes() == (tmp_path / f"packed{suffix}.tokens").read_bytes()
    with pytest.raises(leat.Error, match="ids alone have none"), \
            leat.Run(tmp_path / "ids", "bytes", split=SPLIT).part("a") as packer:
        packer.extend(pyarrow.table({"text": [[1, 2, 3]], "id": ["x"]}))
    leat.merge([tmp_path / "run", tmp_path / "run" / "valid"], tmp_path / "both")
    assert documents(leat.open(tmp_path / "both")) == documents(expected[0]) + documents(expected[1])


def test_rejects_of_splits(tmp_path):
    """The list of an attempt's rejects lies beside its dataset, not beside what was divided."""
    with leat.Run(tmp_path / "run", "bytes", split=SPLIT, invalid_utf8="reject", max_rejects=1) as run:
        with run.part("a") as packer:
            packer.add(b"\xff")
            packer.add("text")
        assert packer.piece.rejected == 1
        assert [name.split(".", 2)[2] for name in files(tmp_path / "run") if name[:2] == "a."] == [
            "leat", "rejects.jsonl", "tokens"]
        run.commit([packer.piece])
    assert sum(name.endswith("rejects.jsonl") for name in files(tmp_path / "run")) == 1


def test_bucket_splits(server, tmp_path):
    (tmp_path / "scratch").mkdir()
    where = dict(scratch=tmp_path / "scratch")
    run = leat.Run(f"{server.scheme}://b/made", "bytes", text="body", id="name", split=SPLIT)
    late = pickle.loads(pickle.dumps(run)).part("0", **where)
    late.extend(table("0"))
    pieces = made_with_splits(run, "01", **where)
    made_with_splits(run, "1", **where)  # which does not count
    assert len(names(server)) == 1 + 2 + 3 * 3 * 2
    for name in split_names(f"{server.scheme}://b/made"):
        with pytest.raises(leat.Error, match="is not committed"):
            leat.open(name + "/")
    attempt = pieces[1].line.splitlines()[1].split()[4]
    index = next(name for name in server.objects if name.endswith(f"/valid/1.{attempt}.leat"))
    whole = server.objects.pop(index)
    with pytest.raises(leat.Error, match="the files of the part 1 are not there"):
        run.commit(pieces)
    server.objects[index] = whole
    run.commit(pieces)
    assert len(names(server)) == 2 + 2 + 2 * 3 * 2
    run.commit(pieces)
    here = leat.Run(tmp_path / "here", "bytes", text="body", id="name", split=SPLIT)
    here.commit(made_with_splits(here, "01"))
    for there, name in zip(split_names(f"{server.scheme}://b/made"), split_names(tmp_path / "here")):
        assert documents(leat.open(there + "/")) == documents(leat.open(name))
    with pytest.raises(leat.Error, match="committed without this attempt"):
        late.finish()
    late.abandon()
    assert len(names(server)) == 2 + 2 + 2 * 3 * 2 and files(tmp_path / "scratch" / PARTS) == []

    new = leat.Run(f"{server.scheme}://b/made", "bytes", split="test=0.5", force=True)
    with new.part("x", **where) as packer:
        packer.add("text")
    assert len(leat.open(f"{server.scheme}://b/made/valid/")) > 5
    new.abort()
    assert len(leat.open(f"{server.scheme}://b/made/valid/")) > 5 and len(names(server)) == 1 + 2 + 2 * 3 * 2
    new = leat.Run(f"{server.scheme}://b/made", "bytes", split="test=0.5", force=True)
    with new.part("x", **where) as packer:
        packer.add("text")
    new.commit([packer.piece])
    assert len(names(server)) == 2 + 1 + 2 * 2 and not any("/valid/" in name for name in names(server))
    other = leat.Run(f"{server.scheme}://b/other", "bytes", text="body", id="name", split=SPLIT)
    made_with_splits(other, "0", **where)
    other.abort()
    assert len(names(server)) == 2 + 1 + 2 * 2


def test_append_with_splits(server, tmp_path):
    """One list names the parts of all three datasets, old and new."""
    folder, where = f"{server.scheme}://b/grows", dict(scratch=tmp_path)
    options = dict(text="body", id="name", split=SPLIT, append=True)

    def now():
        return [documents(leat.open(f"{name}/")) for name in split_names(folder)]

    run = leat.Run(folder, "bytes", **options)
    run.commit(made_with_splits(run, "01", **where))
    before = now()
    for other in ({"split": None}, {"split": "valid=0.1"}, {"split": SPLIT + ",more=0.1"}):
        with pytest.raises(leat.Error, match="has other splits than this run") as error:
            leat.Run(folder, "bytes", **{**options, **other})
        assert error.value.status == "incompatible"
    run = leat.Run(folder, "bytes", **options)
    made_with_splits(run, "2", **where)
    run.abort()
    assert now() == before
    run = leat.Run(folder, "bytes", **options)
    run.commit(made_with_splits(run, "02", **where))
    after = now()
    assert all(new[:len(old)] == old and len(new) > len(old) for old, new in zip(before, after))
    assert sum(map(len, after)) == 2 * sum(map(len, before)) == 200
    earlier, = [f"{server.scheme}://{name}" for name in server.objects if "/leat-run.list." in name]
    assert documents(leat.open(earlier)) == before[0]


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_bucket_uploads_of_splits(server, tmp_path):
    where, options = dict(scratch=tmp_path), dict(text="body", id="name", split=SPLIT, append=True)
    other = {"b/made/valid/part-1.tokens", "b/made/valid/deeper/a.0123456789abcdef.tokens",
             "b/made/else/a.0123456789abcdef.tokens"}
    dead = {f"b/made/{split}a.0123456789abcdef.{suffix}" for split in ("", "valid/", "test/")
            for suffix in ("leat", "tokens")}

    def left():
        return {upload["name"] for upload in server.uploads.values()}

    def kill(names):
        server.uploads.update({name: {"name": name, "parts": {1: b"x"}} for name in names})

    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    kill(other | dead)
    leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    assert left() == other | dead
    run.commit(made_with_splits(run, "a", **where))
    assert left() == other
    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    kill(dead)
    run.abort()
    assert left() == other

    run = leat.Run(f"{server.scheme}://b/made", "bytes", **options)
    packer = run.part("c", **where)
    packer.extend(table("c"))
    server.put_faults = ["denied"]
    with pytest.raises(leat.Error):
        packer.finish()
    made = next(name for name in files(tmp_path / PARTS) if name.endswith(".divided.tokens"))
    attempt = made.removesuffix(".partial.divided.tokens")
    kill({f"b/made/{attempt}.tokens", f"b/made/test/{attempt}.tokens"})  # as if they were large ones
    packer.abandon()
    assert left() == other
    run.abort()
    assert sum(len(leat.open(f"{name}/")) for name in split_names(f"{server.scheme}://b/made")) == 50
