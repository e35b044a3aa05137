"""test_remote.py: a dataset on a server, by its URL: its tokens, documents and batches are those of the local files;
the loader says what the server had to give; and after a fork, what is not here yet is an error, not a wait."""
import os
import pathlib
import sys

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

    things = {f"b/counting{s}": pathlib.Path(counting + s).read_bytes() for s in (".leat", ".tokens")}
    with S3Server(things) as server:
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


def test_batches(server, counting):
    with leat.Loader(leat.Plan(counting, 128, 9), 5, framework="numpy") as local:
        want = [next(local).inputs.copy() for _ in range(30)]
    with leat.Loader(leat.Plan(URL, 128, 9), 5, framework="numpy") as loader:
        assert all(np.array_equal(next(loader).inputs, inputs) for inputs in want)
        stats = loader.stats()
    assert stats["remote_requests"] > 0 and stats["cache_bytes"] == len(server.things["b/counting.tokens"])
    assert 0 < stats["remote_share"] <= 1


def test_a_server_that_fails(server):
    server.faults, server.fault_suffix = [""] + ["denied"] * 1000, ".tokens"  # opening finds both ends in the cache
    remote = leat.open(URL)
    with pytest.raises(leat.Error, match="s3://b/counting.tokens: the server does not allow that"):
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
