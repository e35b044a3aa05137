"""test_remote.py: a dataset on a server, by its URL: its tokens, documents and batches are those of the local files;
the loader says what the server had to give; and after a fork, what is not here yet is an error, not a wait. leat.pull()
and leat.push() copy it, or raise what the commands say."""
import fcntl
import os
import pathlib
import pickle
import shutil
import signal
import sys
import time
import traceback

import numpy as np
import pytest
from conftest import ROOT

import leat

sys.path.insert(0, str(ROOT / "tests" / "remote"))
URL = "s3://b/counting"


@pytest.fixture
def server(counting, tmp_path, monkeypatch):
    """Serves the dataset of counting tokens; the cache is empty."""
    from s3_server import S3Server

    objects = {f"b/counting{s}": pathlib.Path(counting + s).read_bytes() for s in (".leat", ".tokens")}
    with S3Server(objects) as server:
        for name, value in server.environment(LEAT_CACHE=str(tmp_path / "cache"), AWS_MAX_ATTEMPTS="2").items():
            monkeypatch.setenv(name, value)
        try:
            leat.open(URL).close()
        except leat.Error as error:
            if "need libcurl" in str(error):
                pytest.skip("no libcurl")
            raise
        yield server


def test_tokens_and_documents(server, counting):
    remote, local = leat.open(URL), leat.open(counting)
    assert len(remote) == len(local) and remote.info.identity == local.info.identity
    assert np.array_equal(remote.read(150_000, 1000), local.read(150_000, 1000))
    for number in (0, 7, len(local) - 1):
        assert np.array_equal(remote.documents[number], local.documents[number])


def test_batches(server, counting, tmp_path):
    with leat.Loader(leat.Plan(counting, 128, 9), 5, framework="numpy") as local:
        want = [next(local).inputs.copy() for _ in range(30)]
    plan = leat.Plan(URL, 128, 9)
    with open(tmp_path / "cache" / "filling", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # so that nobody copies the rest before it is needed
        with leat.Loader(plan, 5, framework="numpy") as loader:
            assert all(np.array_equal(next(loader).inputs, inputs) for inputs in want)
            stats = loader.stats()
    assert stats["remote_requests"] > 0 and stats["cache_bytes"] == len(server.objects["b/counting.tokens"])
    assert 0 < stats["remote_share"] <= 1


def test_a_server_that_fails(server):
    server.faults, server.fault_suffix = [""] + ["denied"] * 1000, ".tokens"  # opening finds both ends in the cache
    remote = leat.open(URL)
    with pytest.raises(leat.Error, match="s3://b/counting.tokens: the server denies access"):
        remote.read(150_000, 1000)


def test_after_a_fork(server):
    remote = leat.open(URL)
    here = remote.read(1000, 10)
    child = os.fork()
    if child == 0:
        try:
            fine = np.array_equal(remote.read(1000, 10), here)
            try:
                remote.read(150_000, 1000)
            except leat.Error as error:
                os._exit(0 if fine and "open it in each process" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(remote.read(150_000, 1000)) == 1000


def test_a_cache_of_its_own(server, counting, tmp_path):
    place = tmp_path / "own"
    with leat.open(URL, cache=place, cache_size="1GiB") as remote:
        assert np.array_equal(remote.read(150_000, 1000), leat.open(counting).read(150_000, 1000))
        again = pickle.loads(pickle.dumps(remote))
    assert list(place.glob("*-*/index.leat")) and again._how["cache"] == place
    plan = leat.Plan(URL, 128, 9, open=leat.Opening(cache=tmp_path / "planned", cache_size=2**30))
    assert (tmp_path / "planned").exists() and pickle.loads(pickle.dumps(plan)).text == plan.text
    parsed = leat.Plan.parse(plan.text, open=leat.Opening(cache=tmp_path / "parsed"))
    assert parsed.seq_len == 128 and (tmp_path / "parsed").exists()
    with pytest.raises(ValueError, match="cache_size must be a size like 2GiB or 512MiB, not 'lots'"):
        leat.open(URL, cache_size="lots")


def test_online(server, tmp_path, monkeypatch):
    """A complete copy opens without its server, but not if `online` forbids that, in a pickled dataset too."""
    disk = shutil.disk_usage(tmp_path)
    if disk.free - disk.total / 20 < 2**30:
        pytest.skip("the cache leaves a 20th of the disk free, and would fill nothing")
    with leat.Loader(leat.Plan(URL, 128, 9), 5, framework="numpy") as loader:
        next(loader)
        while loader.stats()["cached_bytes"] < loader.stats()["cache_bytes"] or loader.stats()["caching"]:
            time.sleep(0.01)
        assert loader.stats()["cache_failed"] == 0
    online = leat.open(URL, online=True)
    plan = leat.Plan(URL, 128, 9, open=leat.Opening(online=True))
    again, planned = pickle.dumps(online), pickle.dumps(plan)
    server.faults = ["503"] * 10000
    assert len(leat.open(URL)) == len(online)
    for call in (lambda: leat.open(URL, online=True), lambda: leat.Plan(URL, 128, 9, open=leat.Opening(online=True)),
                 lambda: leat.Plan.parse(plan.text, open=leat.Opening(online=True)), lambda: pickle.loads(again),
                 lambda: pickle.loads(planned)):
        with pytest.raises(leat.Error, match="503"):
            call()
    monkeypatch.setenv("LEAT_ONLINE", "1")
    with pytest.raises(leat.Error, match="503"):
        leat.open(URL)
    monkeypatch.setenv("LEAT_ONLINE", "maybe")
    with pytest.raises(leat.Error, match="LEAT_ONLINE must be 1 or 0"):
        leat.open(URL)


def files(name):
    return [pathlib.Path(f"{name}{s}").read_bytes() for s in (".leat", ".tokens")]


def test_presigned(server, counting):
    """.name, repr() and errors had what follows the ? of a URL. A pickle has it, since it opens the dataset again."""
    server.objects.update({f"web/n{s}": pathlib.Path(counting + s).read_bytes() for s in (".leat", ".tokens")})
    server.open_buckets = {"web"}
    name = f"{server.url}/web/n"
    dataset = leat.open(name + "?sig=SIGNED")
    assert dataset.name == name and repr(dataset) == f"leat.open({name!r})"
    assert leat.open([name + "?sig=SIGNED", name]).name == [name, name]
    again = pickle.loads(pickle.dumps(dataset))
    assert again.info.identity == dataset.info.identity and b"SIGNED" in pickle.dumps(again)
    for wrong in (lambda: leat.open(name + "x?sig=SIGNED"), lambda: leat.Tokenizer(name + "?sig=SIGNED"),
                  lambda: dataset.read(0, 1 << 60), lambda: leat.Plan(dataset, 8, 1),
                  lambda: leat.open(name.replace("//", "//user:PASSED@"))):
        with pytest.raises(leat.Error) as error:
            wrong()
        assert "SIGNED" not in f"{error.value!r}{error.value.file}" and "PASSED" not in str(error.value)


SIGNED = "https://user:PASSED@host.invalid/web/n?sig=SIGNED"
SHOWN = {
    "import_dataset": lambda plan, out: leat.import_dataset(SIGNED, out),
    "import_dataset to": lambda plan, out: leat.import_dataset(out, SIGNED),
    "a name instead of a plan": lambda plan, out: leat.Loader(SIGNED, 1, framework="numpy"),
    "a list instead of a plan": lambda plan, out: leat.Loader([SIGNED], 1, framework="numpy"),
    "source": lambda plan, out: leat.Plan((SIGNED, 1, 2, 3), 8),
    "source in a tuple": lambda plan, out: leat.Plan([(SIGNED, 1, 2, 3)], 8),
    "weights": lambda plan, out: plan.change(16, weights={SIGNED: 1}),
    "phases": lambda plan, out: leat.Plan({"a": 1}, 8, phases=[(8, {SIGNED: 1})]),
    "a phase": lambda plan, out: leat.Plan({"a": 1}, 8, phases=[(8, SIGNED)]),
    "stop": lambda plan, out: plan.change(16, stop=[SIGNED]),
    "bans in a file": lambda plan, out: plan.ban(SIGNED),
    "bans": lambda plan, out: plan.ban([SIGNED], 0),
    "a ban": lambda plan, out: plan.ban([(SIGNED, "x\n")], 0),
    "load": lambda plan, out: leat.Plan.load(SIGNED),
    "replay": lambda plan, out: leat.Mixture(plan, SIGNED, replay=True),
    "trace": lambda plan, out: plan.trace(document=(SIGNED, 0)),
    "trace without a number": lambda plan, out: plan.trace(document=SIGNED),
    "skip": lambda plan, out: leat.Plan("a", 8, skip=[SIGNED]),
    "split": lambda plan, out: leat.Plan("a", 8, split={SIGNED: "1,"}),
    "use": lambda plan, out: leat.Plan("a", 8, use=[SIGNED]),
    "order": lambda plan, out: leat.Plan("a", 8, order=SIGNED),
    "open": lambda plan, out: leat.Plan("a", 8, open=SIGNED),
    "include": lambda plan, out: leat.Files("a", include=[SIGNED, 1]),
    "template": lambda plan, out: leat.Chat([SIGNED]),
    "log": lambda plan, out: leat.Mixture(plan, [SIGNED]),
    "device of torch": lambda plan, out: leat.Loader(plan, 1, device=SIGNED),
    "device": lambda plan, out: leat.Loader(plan, 1, framework="numpy", device=SIGNED),
    "stats_file": lambda plan, out: leat.StatsFile([SIGNED]),
    "source_weights": lambda plan, out: leat.Loader(plan, 1, framework="numpy", source_weights={SIGNED: "x"}),
    "texts": lambda plan, out: leat.Tokenizer("gpt2").encode_batch(SIGNED),
    "a run": lambda plan, out: leat.Run.open(SIGNED),
}


@pytest.mark.parametrize("place", SHOWN)
def test_refused_without_secrets(place, counting, tmp_path):
    """Most of these had the SIGNED as it was given, with its signature and password."""
    with pytest.raises((leat.Error, TypeError, ValueError, OSError)) as error:
        SHOWN[place](leat.Plan(counting, 8), str(tmp_path / "out"))
    said = "".join(traceback.format_exception_only(error.type, error.value)) + repr(error.value.__cause__)
    assert "SIGNED" not in said and "PASSED" not in said, said


def test_ids_without_secrets(server, tmp_path):
    """datatrove's ids of documents without one of their own had the name as it was given."""
    pytest.importorskip("datatrove")
    from leat.integrations import datatrove
    with leat.Packer(tmp_path / "n", "bytes") as packer:
        packer.add("text")
    server.objects.update({f"web/n{s}": (tmp_path / f"n{s}").read_bytes() for s in (".leat", ".tokens")})
    server.open_buckets = {"web"}
    read = datatrove.Read(f"{server.url}/web/n?sig=SIGNED")
    assert next(iter(read.run())).id == f"{server.url}/web/n/0"


def test_batches_of_another_trainer_without_secrets(server, counting):
    from leat.integrations import modded_nanogpt
    server.objects.update({f"web/n{s}": pathlib.Path(counting + s).read_bytes() for s in (".leat", ".tokens")})
    server.open_buckets = {"web"}
    with pytest.raises(ValueError, match="web/n do not stand between two begin tokens"):
        modded_nanogpt.Batches(f"{server.url}/web/n?sig=SIGNED", 64, 64)


def test_pull(server, counting, tmp_path):
    seen = []
    made = leat.pull(URL, tmp_path / "copy", progress=lambda done, total: seen.append((done, total)))
    size = sum(len(b) for b in files(counting))
    assert files(tmp_path / "copy") == files(counting) and made.bytes == size and made.kept == 0
    assert made.tokens == leat.open(counting).info.tokens and made.documents == len(leat.open(counting))
    assert made.requests > 2 and made.retries == 0
    assert seen and all(done <= total == size for done, total in seen) and seen == sorted(seen)
    assert seen[-1] == (size, size)  # a bar ended at 98.7 %
    with pytest.raises(leat.Error, match="force=True") as error:
        leat.pull(URL, str(tmp_path / "copy"))
    assert error.value.status == "exists"
    assert leat.pull(URL, tmp_path / "copy", force=True, connections=1).bytes == size
    with pytest.raises(leat.Error, match="s3://b/nothing.leat does not exist"):
        leat.pull("s3://b/nothing", tmp_path / "nothing")
    with pytest.raises(ValueError, match="connections must be from 1 to 64, not 65"):
        leat.pull(URL, tmp_path / "copy", connections=65)
    with pytest.raises(TypeError):
        leat.pull(None, tmp_path / "copy")
    with pytest.raises(TypeError):
        leat.pull(URL, tmp_path / "other", progress=5)


def test_push(server, counting, tmp_path):
    seen = []
    made = leat.push(counting, "s3://b/new", progress=lambda done, total: seen.append((done, total)))
    assert [server.objects[f"b/new{s}"] for s in (".leat", ".tokens")] == files(counting)
    assert made.bytes == sum(len(b) for b in files(counting)) == seen[-1][1] and made.kept == 0
    with pytest.raises(leat.Error, match="force=True") as error:
        leat.push(counting, "s3://b/new")
    assert error.value.status == "exists"
    leat.push(counting, "s3://b/new", force=True)
    with pytest.raises(leat.Error):
        leat.push(tmp_path / "nothing", "s3://b/other")
    assert "b/other.leat" not in server.objects


class Enough(Exception):
    pass


def test_stopped(server, counting, tmp_path):
    """By an exception of `progress`, and by Ctrl-C while the server is silent; the next call goes on from there."""
    def stop(done, total):
        raise Enough

    with pytest.raises(Enough) as error:
        leat.pull(URL, tmp_path / "copy", progress=stop)
    assert error.value.__cause__.status == "stopped" and error.value.__cause__.resumable
    assert not (tmp_path / "copy.leat").exists()
    with pytest.raises(Enough):
        leat.push(counting, "s3://b/new", progress=stop)
    assert "b/new.leat" not in server.objects
    server.faults, server.fault_suffix = ["silent"] * 100, ".tokens"
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            leat.pull(URL, tmp_path / "copy")
    finally:
        signal.signal(signal.SIGALRM, before)
    server.faults = []
    server.break_silence()
    assert leat.pull(URL, tmp_path / "copy").tokens and files(tmp_path / "copy") == files(counting)
