"""Hostile files in Python: whatever a dataset or a tokenizer's file says, there are answers, or exceptions that speak
of the file; no crash. The datasets are the golden ones, what the fuzzer has stored, and random changes of that, nearly
all with checksums that fit (tests/fuzz/make_shapes.c); LEAT_TEST_SEED=7 changes the random part.

What was found: a post-processor of a tokenizer.json that is malformed gave TypeErrors and ids that are no numbers; now
no such file opens."""
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT, command

import leat

CHANGED = 100


def survives(tmp_path, names):
    at = tmp_path / "at"
    done = subprocess.run([sys.executable, ROOT / "python/tests/hostile_program.py", *map(str, names)], check=False,
                          env={**os.environ, "LEAT_HOSTILE_AT": str(at), "PYTHONFAULTHANDLER": "1"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{at.read_text()}: {done.stdout[-3000:]}"
    assert "'answered'" in done.stdout.splitlines()[-1] and "'Error'" in done.stdout.splitlines()[-1]


def test_golden(tmp_path):
    names = sorted((ROOT / "tests/golden").glob("*/*.leat"))
    assert len(names) > 50
    survives(tmp_path, names)


@pytest.mark.skipif(not (BUILD / "make_shapes").exists(), reason="make_shapes has not been built")
def test_shapes(tmp_path):
    folder = tmp_path / "shapes"
    folder.mkdir()
    seed = os.environ.get("LEAT_TEST_SEED", "1")
    command("make_shapes", folder, CHANGED, seed, *sorted((BUILD / "tests/fuzz/corpus/dataset").iterdir()))
    names = sorted(folder.glob("*.leat"))
    assert len(names) > CHANGED
    survives(tmp_path, names)


def test_tokenizers(tmp_path):
    names = []
    for kind, suffix in (("load_json", "json"), ("load_tiktoken", "tiktoken"), ("load_sentencepiece", "model")):
        for path in sorted((BUILD / "tests/fuzz/corpus" / kind).iterdir()):
            names.append(tmp_path / f"{path.name}.{suffix}")
            shutil.copy(path, names[-1])
    survives(tmp_path, names)


def with_processor(path, processor):
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "post_processor": processor,
                                "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}))
    return path


@pytest.mark.parametrize("processor", ["x", 5, {"type": "TemplateProcessing"}, {"type": "BertProcessing", "cls": 5},
                                       {"type": "Sequence", "processors": 5}], ids=str)
def test_post_processor(tmp_path, processor):
    with pytest.raises(leat.Error, match="post_processor"):
        leat.Tokenizer(with_processor(tmp_path / "tokenizer.json", processor), like="tokenizers")


def test_post_processor_of_no_ids(tmp_path):
    """It is read, and its tokens are nobody's: no text gets any, and asking for them is refused."""
    processor = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "z"}}],
                 "special_tokens": {"z": {"ids": ["1", 2**70, -1]}}}
    tokenizer = leat.Tokenizer(with_processor(tmp_path / "tokenizer.json", processor), like="tokenizers")
    assert tokenizer.end_token is None
    with pytest.raises(ValueError, match="the post-processor in tokenizer.json adds are not known"):
        tokenizer.encode("a")


def test_post_processor_beyond_the_vocabulary(tmp_path):
    special = {"z": {"id": "z", "ids": [0, 2], "tokens": ["a", "z"]}}
    t = leat.Tokenizer(with_processor(tmp_path / "tokenizer.json", {
        "type": "TemplateProcessing", "pair": [], "special_tokens": special,
        "single": [{"SpecialToken": {"id": "z", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}),
        like="tokenizers")
    with pytest.raises(ValueError, match="the tokens that the post-processor in tokenizer.json adds are not known"):
        t.encode("ab")
    assert t.encode("ab", add_special_tokens=False) == [0, 1]
