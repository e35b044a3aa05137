"""test_pack_urls.py: leat.pack() reads what lies on a server as it reads files, and a refusal of the server is an
error with the URL."""
import gzip
import json
import pathlib
import sys

import pytest
from conftest import ROOT

import leat

sys.path.insert(0, str(ROOT / "tests" / "remote"))
LINES = "".join(json.dumps({"text": f"text number {i} " * (i % 50), "id": str(i)}) + "\n" for i in range(2000)).encode()


@pytest.fixture
def server(tmp_path, monkeypatch):
    from s3_server import S3Server

    with S3Server({"b/c/a.jsonl": LINES, "b/c/b.jsonl.gz": gzip.compress(LINES)}) as server:
        for name, value in server.environment(AWS_MAX_ATTEMPTS="2").items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        for name, data in server.objects.items():
            pathlib.Path(pathlib.Path(name).name).write_bytes(data)
        try:
            leat.pack("s3://b/none.jsonl", "none", "bytes", end=None)
        except leat.Error as error:
            if "libcurl" in str(error):
                pytest.skip("no libcurl")
        yield server


@pytest.mark.parametrize("inputs", ["s3://b/c/", ["s3://b/c/a.jsonl", "s3://b/c/b.jsonl.gz"]])
def test_the_same_dataset(server, inputs):
    remote = leat.pack(inputs, "remote", "bytes", end=None)
    local = leat.pack(["a.jsonl", "b.jsonl.gz"], "local", "bytes", end=None)
    assert (remote.documents, remote.tokens, remote.inputs) == (local.documents, local.tokens, 2)
    assert leat.open("remote").info.identity == leat.open("local").info.identity


def test_a_server_that_fails(server):
    server.faults = ["", ""] + ["denied"] * 1000
    with pytest.raises(leat.Error, match="s3://b/c/a.jsonl: the server denies access"):
        leat.pack("s3://b/c/a.jsonl", "remote", "bytes", end=None)
