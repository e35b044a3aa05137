"""test_written.py: offsets of tokens beside those of tokenizers, for files of tokenizers written at random
(tests/conformance/ids_written.py): the same, or not known."""
import os
import pathlib
import random
import sys

import pytest

import leat

tokenizers = pytest.importorskip("tokenizers")
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tests" / "conformance"))
import ids_written as written  # noqa: E402

SEED = int(os.environ.get("LEAT_TEST_SEED", "1"))
FILES = 400


def opened(path):
    """By tokenizers and by leat; None for what one of them refuses, which check_ids.py compares."""
    try:
        return tokenizers.Tokenizer.from_file(str(path)), leat.Tokenizer.from_file(path)
    except Exception:
        return None


def answer(theirs, text):
    """None where tokenizers fails."""
    try:
        return theirs.encode(text, add_special_tokens=False)
    except BaseException as e:
        if not isinstance(e, Exception) and type(e).__name__ != "PanicException":
            raise
        return None


def test_offsets_of_written_files(tmp_path):
    print(f"LEAT_TEST_SEED={SEED}")
    r, known, asked, refused, path = random.Random(SEED), 0, 0, 0, tmp_path / "tokenizer.json"
    for seed in range(SEED * 10**6, SEED * 10**6 + FILES):
        written.write(path, seed)
        both = opened(path)
        for _ in range(20 if both else 0):
            text = "".join(r.choice(written.CHARACTERS + written.TOKENS) for _ in range(r.randrange(12)))
            want = answer(both[0], text)
            if not want:
                continue
            asked += 1
            try:
                got = both[1].encode(text, add_special_tokens=False, offsets=True)
            except NotImplementedError as error:
                if "may change texts" in str(error):  # by its name
                    refused += 1
                    assert not both[0].normalizer or type(both[0].normalizer).__name__ == "Sequence" or \
                        type(both[0].normalizer).__name__ in str(error)
                continue
            assert (got.ids, got.offsets) == (want.ids, want.offsets), (seed, text)
            known += 1
    assert known > 10 and asked > refused > asked / 2
