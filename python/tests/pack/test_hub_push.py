"""leat.push() and `leat push` to hf:// by huggingface_hub, unchanged, on a server that answers its calls: the files and
a card are there in one commit, leat.pull() gets them back, and what cannot be pushed is refused before anything is
sent."""
import importlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import leat
from conftest import BUILD, ROOT

pytest.importorskip("huggingface_hub")


@pytest.fixture
def hub():
    sys.path.insert(0, str(ROOT / "tests" / "remote"))
    try:
        server = importlib.import_module("hub_server")
    finally:
        sys.path.pop(0)
    with server.HubServer() as hub:
        hub.token = server.TOKEN
        yield hub
        assert not hub.storage.tokens_seen


def environment(hub, tmp_path, **more):
    return {**os.environ, **hub.environment(HF_HOME=str(tmp_path / "hub"), HOME=str(tmp_path)),
            "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": hub.token, "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "LEAT_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


def push(hub, tmp_path, *words, **more):
    done = subprocess.run([BUILD / "leat", "push", *words], env=environment(hub, tmp_path, **more),
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def files(hub, name="datasets/org/name"):
    repository = hub.repositories[name]
    return repository["commits"][repository["refs"]["main"]]


def test_push(hub, corpus, tmp_path):
    code, said, errors = push(hub, tmp_path, corpus, "hf://datasets/org/name", "--json")
    assert code == 0, errors
    with leat.open(corpus) as d:
        info = d.info
    said = json.loads(said)
    assert (said["tokens"], said["documents"]) == (info.tokens, info.documents)
    have = dict(files(hub))
    assert len(hub.repositories["datasets/org/name"]["commits"]) == 2  # the empty one, and all files at once
    card = have.pop("README.md").decode()
    assert f"{info.tokens:,}" in card and info.identity.hex() in card and "hf://datasets/org/name/corpus" in card
    assert have == {f"corpus.{s}": pathlib.Path(f"{corpus}.{s}").read_bytes() for s in ("leat", "tokens")}
    there = "hf://datasets/org/name/corpus"
    assert push(hub, tmp_path, corpus, there) == (
        1, "", f"leat: {there} already exists; choose another name or replace it (--force)\n")
    # what Python's call says; a card that is there stays
    code = (f"import leat\nprint(leat.push({corpus!r}, 'hf://datasets/org/name/a/b', progress=print))\n"
            f"leat.push({corpus!r}, {there!r}, force=True)\n")
    done = subprocess.run([sys.executable, "-c", code], env=environment(hub, tmp_path), capture_output=True, text=True)
    assert done.returncode == 0 and f"tokens={info.tokens}" in done.stdout, done.stderr
    assert set(files(hub)) == {"README.md", "corpus.leat", "corpus.tokens", "a/b.leat", "a/b.tokens"}
    assert files(hub)["README.md"].decode() == card
    pulled = subprocess.run([BUILD / "leat", "pull", there, tmp_path / "back"], env=environment(hub, tmp_path),
                            capture_output=True, text=True)
    if "libcurl" not in pulled.stderr:
        assert pulled.returncode == 0, pulled.stderr
        assert leat.open(tmp_path / "back").info.identity == info.identity


def test_refused(hub, corpus, tmp_path):
    for url in "hf://datasets/name", "hf://models/org/name", "hf://datasets/org/name@", "hf://datasets/org/name/a/../b":
        assert push(hub, tmp_path, corpus, url) == (
            2, "", f"leat: {url}: write hf://datasets/ORG/NAME[@REVISION][/PATH]\n")
    code, _, errors = push(hub, tmp_path, corpus, "hf://datasets/org/other", HF_TOKEN="hf_wrong")
    assert code == 1 and "hf://datasets/org/other/corpus: " in errors and "hf_wrong" not in errors
    hub.faults, hub.fault_part = ["denied"] * 9, ""
    code, _, errors = push(hub, tmp_path, corpus, "hf://datasets/org/other")  # the answer repeats the token
    hub.faults = []
    assert code == 1 and "(the token)" in errors and hub.token not in errors
    code, _, errors = push(hub, tmp_path, corpus, "hf://datasets/org/other", HF_ENDPOINT="http://127.0.0.1:9")
    assert code == 1 and errors.startswith("leat: hf://datasets/org/other/corpus: ") and errors.count("\n") == 1
    code, _, errors = push(hub, tmp_path, tmp_path / "none", "hf://datasets/org/other")
    assert code == 1 and "none.leat" in errors
    (tmp_path / "a.txt").write_text("abc")
    leat.pack([tmp_path / "a.txt"], tmp_path / "small", "bytes")
    leat.attach(tmp_path / "small", "score", "u8", [1], at="document")
    code, _, errors = push(hub, tmp_path, tmp_path / "small", "hf://datasets/org/other")
    assert code == 1 and "has columns, which pushing would leave out" in errors
    assert not hub.repositories


def test_without_the_client(hub, corpus, tmp_path):
    (tmp_path / "without").mkdir()
    (tmp_path / "without/huggingface_hub.py").write_text("raise ImportError('no such thing here')\n")
    code, _, errors = push(hub, tmp_path, corpus, "hf://datasets/org/name",
                           PYTHONPATH=os.pathsep.join([str(tmp_path / "without"), *filter(None, sys.path)]))
    assert code == 2 and "pushing to the Hub needs huggingface_hub" in errors
    assert "(pip install 'huggingface_hub')" in errors and not hub.requests
