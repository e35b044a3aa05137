"""`leat-bench compare` encodes a text with leat and with the libraries that are installed, and compares every id: the
ids of tiktoken and tokenizers are equal to leat's; a library with one other id is named, with the document, and the
exit code is 1. A module in the current folder is not taken for a library."""
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import pytest

import leat
from leat import compare_command
from conftest import BUILD, ROOT

TEXTS = ["The mill grinds slowly.", "Wasser läuft, 水が流れる", "a <|endoftext|> b", "x = [1, 22, 333]\n" * 40]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS))
    return tmp_path


def compare(folder, *words, path=(), code=0):
    package = str(pathlib.Path(leat.__file__).parents[1])
    done = subprocess.run([str(BUILD / "leat-bench"), "compare", *words], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LEAT_PYTHON": sys.executable,
                               "PYTHONPATH": os.pathsep.join([*map(str, path), package])})
    assert done.returncode == code, done.stderr
    return done


def test_ids_are_equal(folder):
    done = compare(folder, "-t", "gpt2", "--text", "body", "--runs", "2", "--with", "tiktoken,tokenizers", "--json",
                   "texts.jsonl")
    result = json.loads(done.stdout)
    schemas = json.loads((ROOT / "tests/cli/schemas.json").read_text(encoding="utf-8"))
    assert sorted(result) == sorted(schemas["definitions"]["leat-bench compare"]["required"])
    ids = sum(len(leat.Tokenizer("gpt2").encode(text)) for text in TEXTS if "<|" not in text)
    assert (result["documents"], result["left_out"], result["runs"]) == (3, 1, 2)
    assert result["bytes"] == sum(len(text.encode()) for text in TEXTS if "<|" not in text)
    assert [(x["name"], x["equal"], x["tokens"]) for x in result["programs"]] == [
        (name, True, ids) for name in ("leat", "tiktoken", "tokenizers")]
    assert result["programs"][1]["version"] == importlib.metadata.version("tiktoken")
    said = compare(folder, "-t", "gpt2", "--text", "body", "--runs", "1", "--with", "tiktoken", "texts.jsonl").stdout
    assert said.endswith(f"\nall {ids:,} ids are equal.\n")
    assert "left out: 1 document with the text of a special token\n" in said


def test_first_documents_only(folder):
    done = compare(folder, "-t", "gpt2", "--text", "body", "--runs", "1", "--with", "tiktoken", "--json", "--size",
                   "60", "texts.jsonl")
    assert json.loads(done.stdout)["bytes"] == sum(len(text.encode()) for text in TEXTS[:2])
    done = compare(folder, "-t", "gpt2", "--text", "body", "--runs", "1", "--with", "tiktoken", "--json", "--size",
                   "5", "texts.jsonl")
    assert json.loads(done.stdout)["bytes"] == 5


def test_other_ids_are_named(folder):
    (folder / "other").mkdir()
    (folder / "other" / "tiktoken.py").write_text(
        "import leat\n"
        "class Encoding:\n"
        "    def __init__(self, name, **more):\n"
        "        self._own = leat.Tokenizer('gpt2')\n"
        "    def encode_ordinary(self, text):\n"
        "        ids = list(self._own.encode_ordinary(text))\n"
        "        return ids[:-1] + [ids[-1] + 1] if 'mill' not in text else ids\n")
    done = compare(folder, "-t", "gpt2", "--text", "body", "--runs", "1", "--with", "tiktoken", "texts.jsonl",
                   path=[folder / "other"], code=1)
    assert "tiktoken has other ids than leat, first in document 1 (from 0).\n" in done.stdout
    assert "are equal" not in done.stdout


def test_a_library_that_cannot(folder):
    done = compare(folder, "-t", "bytes", "--text", "body", "--runs", "1", "--with", "tiktoken,tokenizers",
                   "texts.jsonl")
    assert "not measured: it needs a pattern and ranks" in done.stdout
    assert done.stdout.endswith("No other library was measured, so no ids were compared.\n")


def test_no_module_of_the_current_folder(folder):
    for name in ("tiktoken", "tokenizers", "numpy", "json", "leat"):
        (folder / f"{name}.py").write_text("open('was-run', 'w')\n")
    compare(folder, "-t", "gpt2", "--text", "body", "--runs", "1", "--with", "tiktoken,tokenizers", "texts.jsonl")
    assert not (folder / "was-run").exists()


def test_sentences_of_libraries(folder):
    """A library's sentence may quote the text: escape sequences do not reach the terminal, and one line is kept."""
    (folder / "other").mkdir()
    (folder / "other" / "tiktoken.py").write_text("raise RuntimeError('a\\x1b[31mb\\nsecond line')\n")
    done = compare(folder, "-t", "gpt2", "--text", "body", "--runs", "1", "--with", "tiktoken", "texts.jsonl",
                   path=[folder / "other"])
    assert "not measured: RuntimeError: a\\x1b[31mb\n" in done.stdout and "second" not in done.stdout


def test_large_inputs_are_refused(folder, monkeypatch):
    """They would be copied to the disk whole, for a measurement of a few MB."""
    (folder / "to").mkdir()
    monkeypatch.setattr(compare_command, "MOST_INPUT", (folder / "texts.jsonl").stat().st_size - 1)
    with pytest.raises(compare_command.Wrong, match="more than 4 GiB"):
        compare_command.write_texts(str(folder / "to"), [str(folder / "texts.jsonl")], "body", 1000, {})


@pytest.mark.parametrize("words, said", [
    (["--with", "tiktokn", "texts.jsonl"], "unknown library tiktokn; there are gigatoken, tiktoken, tokenizers, "),
    (["--with", "sentencepiece", "texts.jsonl"], "--with sentencepiece: sentencepiece is not installed (pip install "),
    (["nosuch.jsonl"], "nosuch.jsonl"),
    (["--text", "other", "texts.jsonl"], "other"),
])
def test_refused(folder, words, said):
    done = subprocess.run([str(BUILD / "leat-bench"), "compare", "-t", "gpt2", *words], cwd=folder,
                          capture_output=True, text=True,
                          env={**os.environ, "LEAT_PYTHON": sys.executable,
                               "PYTHONPATH": str(pathlib.Path(leat.__file__).parents[1])})
    assert done.returncode in (1, 2) and said in done.stderr and done.stderr.startswith("leat-bench: ")
