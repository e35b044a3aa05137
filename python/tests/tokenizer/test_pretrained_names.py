"""leat.PreTrainedTokenizer: attributes and methods that programs ask a tokenizer of transformers for, and what a call
returned; and the sentences about what is missing."""
import copy
import json
import os
import pathlib
import pickle

import pytest

import leat
from made_texts import texts
from test_pretrained import CONFIG, made

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="module", params=["byte level", "words"])
def both(request, tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("model"), request.param)
    return leat.PreTrainedTokenizer(folder), transformers.AutoTokenizer.from_pretrained(str(folder))


SOME = ["a </s> b<pad>", "caf\u00e9 e\u0301", *texts(4, 9)]


def test_of_a_vocabulary(both):
    mine, theirs = both
    for name in "vocab", "name_or_path", "max_len_single_sentence", "pad_token_type_id", "split_special_tokens":
        assert getattr(mine, name) == getattr(theirs, name), name
    assert list(mine.get_added_vocab().items()) == list(theirs.get_added_vocab().items())
    assert mine.num_special_tokens_to_add() == theirs.num_special_tokens_to_add() == 2
    assert mine.num_special_tokens_to_add(True) == theirs.num_special_tokens_to_add(True)
    for text in SOME:
        tokens = theirs.tokenize(text)
        assert mine.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)
    with pytest.raises(ValueError, match="'no such token' is not a token"):
        mine.convert_tokens_to_string(["a", "no such token"])
    assert leat.PreTrainedTokenizer("gpt2").max_len_single_sentence == int(1e30)
    assert leat.PreTrainedTokenizer("gpt2").name_or_path == "gpt2"


def test_decoding_of_batches(both):
    """Ids alone were decoded one by one, and none at all to no text."""
    mine, theirs = both
    for ids in [5, 6, 7], [], [[5, 6], [7]], [[]], [[5], []]:
        assert mine.batch_decode(ids) == theirs.batch_decode(ids), ids
        assert mine.decode(ids) == theirs.decode(ids), ids


@pytest.mark.parametrize("of_file", [False, True])
def test_special_tokens_that_are_text(both, tmp_path, of_file):
    mine, theirs = both
    if of_file:
        folder = made(tmp_path, "byte level")
        (folder / "tokenizer_config.json").write_text(json.dumps({**CONFIG, "split_special_tokens": True}))
        mine, theirs = leat.PreTrainedTokenizer(folder), transformers.AutoTokenizer.from_pretrained(str(folder))
    for how in ({}, {"split_special_tokens": True}, {"split_special_tokens": False}):
        how["return_offsets_mapping"] = True
        assert mine(SOME, **how) == dict(theirs(SOME, **how)), how


def test_added_tokens(both, tmp_path):
    mine, theirs = both
    file = json.loads((pathlib.Path(theirs.name_or_path) / "tokenizer.json").read_text())
    file["added_tokens"] += [
        {"id": len(file["model"]["vocab"]) + n, "content": f"<{n}\u00e9>", "single_word": n % 2 == 0,
         "lstrip": n % 3 == 0, "rstrip": n > 3, "normalized": n in (1, 4), "special": n in (2, 3, 4)} for n in range(6)]
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    more = leat.PreTrainedTokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for mine, theirs in both, more:
        have, want = mine.added_tokens_decoder, theirs.added_tokens_decoder
        assert list(have) == sorted(want) and len(have) > 3
        for id, token in want.items():
            for name in "content", "single_word", "lstrip", "rstrip", "normalized", "special":
                assert getattr(have[id], name) == getattr(token, name), (token, name)
            assert str(have[id]) == str(token)
    with pytest.raises(NotImplementedError, match="only known of a tokenizer.json"):
        leat.PreTrainedTokenizer("gpt2").added_tokens_decoder


def plain(result):
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in result.items()}


@pytest.mark.parametrize("side", ["left", "right"])
def test_result(both, side):
    torch = pytest.importorskip("torch")
    mine, theirs = both
    how = {"padding": True, "truncation": True, "return_offsets_mapping": True, "padding_side": side}
    for given in SOME, SOME[0]:
        have, want = mine(given, **how), theirs(given, **how)
        assert have.data == want.data
        for n in range(len(SOME) if given is SOME else 1):
            assert have.tokens(n) == want.tokens(n)
            assert have.sequence_ids(n) == want.sequence_ids(n)
            for at in range(len(SOME[n]) + 1):
                assert have.char_to_token(n, at) == want.char_to_token(n, at)
        assert have.char_to_token(0) == want.char_to_token(0)
        for kind in None, "np", "pt":
            for axis in False, True:
                left, right = (copy.copy(one).convert_to_tensors(kind, prepend_batch_axis=axis) for one in (have, want))
                assert plain(left) == plain(right)
    assert mine(SOME, padding=True, return_tensors="pt").tokens(1) == theirs(SOME, padding=True).tokens(1)
    assert isinstance(mine("a").convert_to_tensors("pt").input_ids, torch.Tensor)


def test_what_a_result_does_not_know(both):
    mine, _ = both
    result = mine(SOME)
    for wrong, sentence in ((lambda: result.word_ids(), "which word"), (lambda: result[0], "encode_batch"),
                            (lambda: result.char_to_token(0), "return_offsets_mapping=True")):
        with pytest.raises(NotImplementedError, match=sentence):
            wrong()
    for lost in copy.copy(result), pickle.loads(pickle.dumps(result)), mine.pad(result):
        with pytest.raises(ValueError, match="not known"):
            lost.tokens()
    with pytest.raises(KeyError, match="labels"):
        result["labels"]
    with pytest.raises(AttributeError, match="labels"):
        result.labels


def test_sentences(both):
    mine, _ = both
    for how, sentence in (({"stride": 2}, "what truncation cuts off"), ({"is_split_into_words": True}, "into words"),
                          ({"return_overflowing_tokens": True}, "what truncation cuts off"),
                          ({"text_target": "b"}, "as labels"), ({"text_pair_target": "b"}, "as labels")):
        with pytest.raises(NotImplementedError, match=sentence):
            mine("a", **how)
    for wrong in None, 5, 5.0:
        with pytest.raises(TypeError, match=f"a text is a str, .*, not {wrong}"):
            mine(wrong)
    for wrong in [None], [5], [["a"]]:
        with pytest.raises(TypeError, match="a text is a str or bytes, not"):
            mine(wrong)


def test_truncation_is_checked_always(both):
    """An unknown word counted for nothing where no length was known."""
    mine = copy.copy(both[0])
    mine.model_max_length = int(1e30)
    for t in mine, both[1]:
        with pytest.raises(ValueError, match="foo"):
            t("a", truncation="foo")


def test_tensors_stay_tensors(both):
    """pad() of tensors gave lists, of which a collator's model knows nothing."""
    torch, numpy = pytest.importorskip("torch"), pytest.importorskip("numpy")
    mine, theirs = both
    for kind, make in (torch.Tensor, torch.tensor), (numpy.ndarray, numpy.array):
        rows = [{"input_ids": make(theirs(text)["input_ids"]), "labels": n} for n, text in enumerate(SOME)]
        together = {"input_ids": make([[1, 2], [3, 4]])}
        for given in rows, together:
            have, want = mine.pad(copy.deepcopy(given)), theirs.pad(copy.deepcopy(given))
            assert have.keys() == want.keys()
            for name in have:
                assert isinstance(have[name], kind) and isinstance(want[name], kind), name
                assert have[name].dtype == want[name].dtype and have[name].tolist() == want[name].tolist()
