"""hf:// beside the Hub's own client, on one server (tests/remote/hub_server.py): huggingface_hub, unchanged, lists and
reads the server's repositories, so that the server is one of the Hub's protocol; and leat packs what the client finds
and downloads, by folders and by patterns, on branches, commits and refs/convert/parquet."""
import importlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import leat
from leat.command import program

pytest.importorskip("huggingface_hub")
LEAT = program("leat")
REMOTE = pathlib.Path(__file__).resolve().parents[3] / "tests" / "remote"


def lines(*texts):
    return "".join(json.dumps({"text": t}) + "\n" for t in texts).encode()


LARGE = lines(*(f"{i} " + "text " * 30 for i in range(50)))
FILES = {"README.md": b"# A dataset\n", "a.jsonl": lines("a"), "data/b.jsonl": LARGE, "data/c.txt": b"c",
         "data/deep/er/d.jsonl": lines("d"), "data/deep/e.jsonl": lines("e"), "data/f g.jsonl": lines("f"),
         "other/h.jsonl": LARGE + lines("h"), "other/i1.jsonl": lines("i1"), "other/i2.jsonl": lines("i2")}
PATTERNS = ["*.jsonl", "data/*.jsonl", "data/**", "**/*.jsonl", "*/?.jsonl", "other/i[0-9].jsonl", "other/i[!1].jsonl",
            "**/deep/*.jsonl", "da*/*.jsonl", "data/**/e.jsonl"]


@pytest.fixture(scope="module")
def hub():
    sys.path.insert(0, str(REMOTE))
    try:
        server = importlib.import_module("hub_server")
    finally:
        sys.path.remove(str(REMOTE))
    with server.HubServer() as hub:
        hub.first = hub.commit("datasets/org/name", FILES)
        hub.commit("datasets/org/name", {"a.jsonl": lines("later"), **{k: v for k, v in FILES.items() if "o" in k}})
        hub.commit("datasets/org/name", {"default/train/0.jsonl": LARGE}, "refs/convert/parquet")
        hub.commit("datasets/org/gated", FILES)
        hub.commit("datasets/org/private", FILES)
        hub.commit("models/org/model", {"x.jsonl": LARGE})
        hub.gated, hub.private, hub.token = {"datasets/org/gated"}, {"datasets/org/private"}, server.TOKEN
        yield hub
        assert not hub.storage.tokens_seen


def client(hub, tmp_path, words, **more):
    """What a program of huggingface_hub prints, as JSON: its address of the Hub is read when it is imported. Of files
    that Xet keeps it asks for the plain address, as leat does: the server has no store of Xet's pieces."""
    code = ("import huggingface_hub as h, json\napi, fs = h.HfApi(), h.HfFileSystem()\n"
            "def name(call, *words, **more):\n"
            "    try: call(*words, **more)\n"
            "    except Exception as e: return type(e).__name__\n"
            f"print(json.dumps({words}))\n")
    env = {**os.environ, **hub.environment(HF_HOME=str(tmp_path / "hub"), HOME=str(tmp_path)),
           "HF_HUB_DISABLE_XET": "1", **more}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def pack(hub, tmp_path, *words, **more):
    env = {**os.environ, **hub.environment(HOME=str(tmp_path)), **more}
    done = subprocess.run([LEAT, "pack", "-o", tmp_path / "out", "-t", "bytes", "--end", "none", "--force", "--json",
                           *words], env=env, capture_output=True, text=True, timeout=200)
    if "libcurl" in done.stderr:
        pytest.skip("no libcurl")
    return done


def packed(hub, tmp_path, *words, **more):
    """The documents, and the paths of the inputs in their repository."""
    done = pack(hub, tmp_path, *words, **more)
    assert done.returncode == 0, done.stderr
    with leat.open(tmp_path / "out") as dataset:
        paths = [i.path for i in dataset.inputs]
        texts = [bytes(int(t) for t in dataset[i]) for i in range(len(dataset))]
    assert all("@" in p for p in paths)
    return [p.partition("@")[2].partition("/")[2] for p in paths], texts


def texts_of(name, content):
    return [content] if name.endswith(".txt") else [json.loads(line)["text"].encode() for line in content.splitlines()]


def test_tree(hub, tmp_path):
    """The server lists to the client what was committed; several pages are joined."""
    listed = client(hub, tmp_path, "[[e.path, e.size, e.lfs is not None] for e in api.list_repo_tree('org/name', "
                    f"repo_type='dataset', revision='{hub.first}', recursive=True) if hasattr(e, 'size')]")
    assert listed == sorted([n, len(c), len(c) > 500] for n, c in FILES.items())
    assert sum("cursor=" in path for _, path, _ in hub.requests) >= 3
    assert client(hub, tmp_path, f"(lambda i: [i.id, i.sha, i.siblings])(api.dataset_info('org/name', expand=['sha'], "
                  f"revision='{hub.first}'))") == ["org/name", hub.first, None]
    paths = client(hub, tmp_path, "[e.path for e in api.get_paths_info('org/name', ['data', 'a.jsonl', 'no'], "
                   "repo_type='dataset')]")
    assert sorted(paths) == ["a.jsonl", "data"]
    inputs, _ = packed(hub, tmp_path, f"hf://datasets/org/name@{hub.first}/")
    assert inputs == sorted(n for n in FILES if n != "README.md")


def test_files(hub, tmp_path):
    """What the client downloads is what leat packs."""
    texts = client(hub, tmp_path, "[open(h.hf_hub_download('org/name', n, repo_type='dataset', "
                   f"revision='{hub.first}')).read() for n in ('data/b.jsonl', 'data/f g.jsonl')]")
    for name, text in zip(("data/b.jsonl", "data/f g.jsonl"), texts, strict=True):
        assert text.encode() == FILES[name]
        inputs, documents = packed(hub, tmp_path, f"hf://datasets/org/name@{hub.first}/{name}")
        assert inputs == [name] and documents == texts_of(name, text.encode())
    assert client(hub, tmp_path, "fs.cat_file('datasets/org/name/other/h.jsonl', start=700, end=720).decode()") == \
        FILES["other/h.jsonl"][700:720].decode()


def test_odd_names(hub, tmp_path):
    """Names that need encoding, below an endpoint with a path, in a repository that has another name now."""
    files = {n: lines(n) for n in ("a+b.jsonl", "c d.jsonl", "e%41.jsonl", "f#g.jsonl", "h&i=j'.jsonl", "ü/é.jsonl",
                                   "k;l,m@n$.jsonl")}
    hub.commit("datasets/org/odd", {**files, "large+.jsonl": LARGE})
    hub.renamed, hub.base = {"datasets/old/odd": "datasets/org/odd"}, "/behind/hub"
    try:
        for name in "org/odd", "old/odd":
            texts = client(hub, tmp_path, "{e.path: open(h.hf_hub_download('" + name + "', e.path, "
                           "repo_type='dataset')).read() for e in api.list_repo_tree('" + name + "', recursive=True, "
                           "repo_type='dataset') if hasattr(e, 'size')}")
            assert texts == {n: c.decode() for n, c in {**files, "large+.jsonl": LARGE}.items()}
            inputs, documents = packed(hub, tmp_path, f"hf://datasets/{name}/")
            assert inputs == sorted(texts) and documents == [t for n in inputs for t in texts_of(n, texts[n].encode())]
    finally:
        hub.renamed, hub.base = {}, ""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(hub, tmp_path, pattern):
    found = client(hub, tmp_path, f"[p for p in fs.glob('hf://datasets/org/name@{hub.first}/{pattern}') "
                   "if fs.isfile(p)]")
    wanted = [p.partition("@")[2].partition("/")[2] for p in found]
    wanted = [n for n in wanted if n != "README.md"]
    inputs, documents = packed(hub, tmp_path, f"hf://datasets/org/name@{hub.first}/{pattern}")
    assert inputs == sorted(wanted)
    assert documents == [t for n in inputs for t in texts_of(n, FILES[n])]


@pytest.mark.parametrize("name", ["org/name@refs/convert/parquet/**/*.jsonl",
                                  "org/name@refs%2Fconvert%2Fparquet/**/*.jsonl", "org/name@main/**/*.jsonl",
                                  "org/name/**/*.jsonl"])
def test_revisions(hub, tmp_path, name):
    """As the client reads names, with their revisions."""
    commits = hub.repositories["datasets/org/name"]["refs"]
    found = client(hub, tmp_path, f"fs.glob('hf://datasets/{name}')")
    inputs, _ = packed(hub, tmp_path, f"hf://datasets/{name}")
    assert inputs and len(inputs) == len(found) and all(f.endswith(n) for n, f in zip(inputs, found, strict=True))
    with leat.open(tmp_path / "out") as dataset:
        assert commits["refs/convert/parquet" if "refs" in name else "main"] in dataset.inputs[0].path


def test_refused(hub, tmp_path):
    """What the client calls an error of this kind is one for leat, which says what to do."""
    for call, name, kind, why in (
            ("api.dataset_info, 'org/name', revision='v9'", "org/name@v9/", "RevisionNotFoundError",
             "unknown revision"),
            ("h.hf_hub_download, 'org/gated', 'a.jsonl', repo_type='dataset'", "org/gated/a.jsonl", "GatedRepoError",
             "accept its terms"),
            ("h.hf_hub_download, 'org/name', 'no', repo_type='dataset'", "org/name/no", "RemoteEntryNotFoundError",
             "does not exist in that revision"),
            ("h.hf_hub_download, 'no/name', 'no', repo_type='dataset'", "no/name/no", "RepositoryNotFoundError",
             "there is no repository")):
        assert client(hub, tmp_path, f"name({call})") == kind
        done = pack(hub, tmp_path, f"hf://datasets/{name}")
        assert done.returncode == 1 and why in done.stderr
    more = {"HF_TOKEN": hub.token}
    assert client(hub, tmp_path, "api.dataset_info('org/private').id", **more) == "org/private"
    assert packed(hub, tmp_path, "hf://datasets/org/private/a.jsonl", **more)[0] == ["a.jsonl"]


def test_limits(hub, tmp_path):
    """Of a limited rate, both wait for what the Hub says."""
    hub.faults = ["429", "429"]
    assert client(hub, tmp_path, "[e.path for e in api.list_repo_tree('org/model')]") == ["x.jsonl"]
    hub.faults = ["429", "429"]
    assert packed(hub, tmp_path, "hf://org/model/x.jsonl")[0] == ["x.jsonl"]
    assert hub.faults == []


def test_ctrl_c(hub, tmp_path, monkeypatch):
    """While a tokenizer waits for a limit of the Hub's, signal handlers run."""
    for name, value in hub.environment(HF_HOME=str(tmp_path / "hub"), HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    hub.faults = ["much later"]
    hub.events = [("/api/models/org/no", 1, lambda: os.kill(os.getpid(), signal.SIGINT))]
    with pytest.raises(KeyboardInterrupt):
        leat.Tokenizer("org/no")
    assert hub.faults == [] and hub.events == []


def test_tokenizer(hub, tmp_path, monkeypatch):
    """One cache for both: what leat has fetched, the client finds without the Hub, and the other way round."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    # large enough for the other server, once
    files = {"tokenizer.json": tokenizer.to_str(pretty=True).encode() + b" " * 600,
             "tokenizer_config.json": b'{"eos_token": "b"}', "model.safetensors": bytes(2000)}
    commit = hub.commit("models/org/tok", files)
    hub.commit("models/org/other", files, "refs/pr/1")
    for name, value in hub.environment(HF_HOME=str(tmp_path / "hub"), HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert list(leat.Tokenizer.from_pretrained("org/tok").encode("a b c")) == [0, 1, 2]
    found = client(hub, tmp_path, "[h.hf_hub_download('org/tok', n, local_files_only=True) for n in "
                   "('tokenizer.json', 'tokenizer_config.json')]", HF_HUB_OFFLINE="1")
    assert [pathlib.Path(p).read_bytes() for p in found] == [files["tokenizer.json"], files["tokenizer_config.json"]]
    assert commit in found[0]
    cached = client(hub, tmp_path, "[[r.repo_id, r.nb_files, len(h.scan_cache_dir().warnings)] for r in "
                    "h.scan_cache_dir().repos]")
    assert cached == [["org/tok", 2, 0]]
    client(hub, tmp_path, "h.hf_hub_download('org/other', 'tokenizer.json', revision='refs/pr/1')")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert list(leat.Tokenizer("org/other@refs/pr/1").encode("b")) == [1]
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert list(leat.Tokenizer("org/other@refs/pr/1").encode("b")) == [1]


def test_python(hub, tmp_path, monkeypatch):
    for name, value in hub.environment(HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    leat.pack("hf://datasets/org/name/other/", tmp_path / "out", "bytes", end=None)
    with leat.open(tmp_path / "out") as dataset:
        assert len(dataset) == len([t for n in FILES if n.startswith("other/") for t in texts_of(n, FILES[n])])
