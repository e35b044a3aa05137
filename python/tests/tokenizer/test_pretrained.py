"""leat.PreTrainedTokenizer in the place of transformers' tokenizers: the same dicts for texts and batches, with every
kind of truncation, padding and what may be asked for, lengths and tensors too, on files that are made here and on
published ones where they are at hand; and as the function of datasets.map()."""
import copy
import itertools
import json
import os
import pickle
import random

import pytest

import leat
from made_texts import texts
from public_files import published_vocabulary

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
os.environ["HF_HUB_OFFLINE"] = "1"
CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
          "pad_token": "<pad>", "model_max_length": 9}


def made(folder, kind):
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers
    special = ["<unk>", "<s>", "</s>", "<pad>"]
    if kind == "byte level":
        t = tokenizers.Tokenizer(models.BPE())
        t.normalizer = normalizers.NFC()
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=special, show_progress=False,
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    else:
        t = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>"))
        t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    t.train_from_iterator(texts(500, 3), trainer)
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    t.enable_truncation(4)  # the file's own, which a call does not follow
    t.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        **CONFIG, **({} if kind == "byte level" else {"padding_side": "left", "truncation_side": "left",
                                                      "model_input_names": ["input_ids", "token_type_ids"]})}))
    return folder


@pytest.fixture(scope="module", params=["byte level", "words"])
def both(request, tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("model"), request.param)
    return leat.PreTrainedTokenizer(folder), transformers.AutoTokenizer.from_pretrained(str(folder))


def batch(seed):
    return ["", "a", "</s> b<pad>", "caf\u00e9 e\u0301", *texts(4, seed)]


def test_calls(both):
    mine, theirs = both
    options = itertools.product((True, False), (False, True, "max_length"), (None, True, False, "only_first"),
                                (None, 2, 8), (None, 4))
    for i, (special, padding, truncation, length, multiple) in enumerate(options):
        asked = dict(add_special_tokens=special, padding=padding, truncation=truncation, max_length=length,
                     pad_to_multiple_of=multiple if padding else None)
        more = dict(return_offsets_mapping=i % 2 > 0, return_special_tokens_mask=i % 3 > 0,
                    return_token_type_ids=(None, True, False)[i % 3], return_attention_mask=(None, False, True)[i % 3])
        if padding and truncation and multiple and (length or mine.model_max_length) % multiple:
            for t in mine, theirs:  # leat filled up to more than max_length
                with pytest.raises(ValueError, match="multiple of"):
                    t(batch(i), **asked)
            continue
        want, got = theirs(batch(i), **asked, **more), mine(batch(i), **asked, **more)
        want, got = ({name: list(map(list, values)) for name, values in out.items()} for out in (want, got))
        assert want == got, asked
        assert dict(theirs("a text", **asked)) == dict(mine("a text", **asked))
    assert mine("a text").input_ids == mine("a text")["input_ids"] == mine.encode("a text") == theirs.encode("a text")


def test_lengths_and_tensors(both):
    import numpy
    mine, theirs = both
    options = dict(padding=True, return_length=True, return_offsets_mapping=True, return_token_type_ids=True)
    for some in "a text", ["a text"], batch(5):
        assert dict(theirs(some, return_length=True)) == dict(mine(some, return_length=True))
        want, got = (t(some, return_tensors="np", **options) for t in (theirs, mine))
        assert list(want) == list(got)
        for name, array in got.items():
            assert array.dtype == want[name].dtype and numpy.array_equal(array, want[name]), name
    assert numpy.array_equal(mine.encode("a b", return_tensors="np"), theirs.encode("a b", return_tensors="np"))
    with pytest.raises(ValueError, match="use padding=True"):
        mine(["a", "a b c"], return_tensors="np")
    with pytest.raises(ValueError, match='must be "np" or "pt"'):
        mine("a", return_tensors="tf")
    torch = pytest.importorskip("torch")
    got, want = mine("a b", return_tensors="pt").input_ids, theirs("a b", return_tensors="pt").input_ids
    assert got.dtype == torch.int64 and torch.equal(got, want)


def test_vocabulary(both):
    mine, theirs = both
    assert (mine.pad_token_id, mine.eos_token, mine.mask_token_id) == (theirs.pad_token_id, "</s>", None)
    assert len(mine) == len(theirs) and mine.get_vocab() == theirs.get_vocab()
    for text in batch(1):
        assert mine.tokenize(text) == theirs.tokenize(text)
        for skip in True, False:
            assert mine.decode(mine.encode(text), skip) == theirs.decode(theirs.encode(text), skip_special_tokens=skip)
    names = ["a", "no such token", "<pad>"]
    assert mine.convert_tokens_to_ids(names) == theirs.convert_tokens_to_ids(names)
    assert pickle.loads(pickle.dumps(mine))(names) == mine(names)


def test_file_is_parsed_once(both, monkeypatch):
    """vocab_size parsed a tokenizer.json each time."""
    from leat import _by_tokenizers
    mine, parses = pickle.loads(pickle.dumps(both[0])), []
    parsed = _by_tokenizers.parsed
    monkeypatch.setattr(_by_tokenizers, "parsed", lambda stored: parses.append(1) or parsed(stored))
    for _ in range(3):
        assert mine.vocab_size == both[1].vocab_size
        mine(["a text"])
        mine("a text", add_special_tokens=False)
        mine.decode([5], clean_up_tokenization_spaces=True)
    assert len(parses) == 1


def test_datasets_map(both):
    datasets = pytest.importorskip("datasets")
    mine, theirs = both
    table = datasets.Dataset.from_dict({"text": batch(2), "n": list(range(8))})
    want = table.map(lambda rows: theirs(rows["text"], truncation=True), batched=True)
    columns = theirs.model_input_names
    for got in (table.map(mine, batched=True, input_columns="text", fn_kwargs={"truncation": True}),
                table.map(mine, batched=True, fn_kwargs={"truncation": True}),
                table.map(mine, fn_kwargs={"truncation": True})):
        assert all(got[name][:] == want[name][:] for name in columns)


def test_refused(both):
    mine = both[0]
    for wrong, sentence in (({"truncation": "only_second"}, "single texts"), ({"padding": "short"}, "padding must be")):
        with pytest.raises(ValueError, match=sentence):
            mine("a", **wrong)
    with pytest.raises(ValueError, match="less than the 2 tokens"):
        mine("a", truncation=True, max_length=1)
    with pytest.raises(ValueError, match="give pad_token=NAME"):
        leat.PreTrainedTokenizer("gpt2")(["a", "a b c"], padding=True)
    assert leat.PreTrainedTokenizer("gpt2", pad_token="<|endoftext|>")(["a", "b c"], padding=True).attention_mask == [
        [1, 0], [1, 1]]
    with pytest.raises(NotImplementedError, match="split into words; use transformers"):
        mine(["a", "b"], is_split_into_words=True)
    with pytest.raises(TypeError, match="unknown argument 'end'"):
        leat.PreTrainedTokenizer("gpt2", end="x")


@pytest.mark.parametrize("name", ["qwen2_5", "llama3_1", "mistral_v1", "gemma2", "gpt2"])
def test_published(tmp_path, name):
    published_vocabulary(name, tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    mine, theirs = leat.PreTrainedTokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    r = random.Random(4)
    some = batch(3) + ["".join(r.choices("ab Z\u00e9\u0301\u65e5\u1e69\u212b\n\t 12.,\U0001f600\u2581\ud55c", k=12))
                       for _ in range(200)]
    want, got = (t(some, return_offsets_mapping=True, truncation=True, max_length=12) for t in (theirs, mine))
    assert dict(want) == dict(got)


def listed(value):
    return ("array", value.tolist()) if hasattr(value, "tolist") else value


def test_pad(both):
    """What a collator does with what calls gave."""
    pytest.importorskip("numpy")
    mine, theirs = both
    rows = [dict(theirs(text), labels=n) for n, text in enumerate(batch(5))]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for given in (rows, columns):
        for how in ({}, {"max_length": 40, "padding": "max_length"}, {"pad_to_multiple_of": 8},
                    {"padding_side": "left"}, {"return_tensors": "np"}):
            have, want = mine.pad(given, **how), theirs.pad(copy.deepcopy(given), **how)  # which changes it
            assert want.keys() == have.keys(), how
            for name in want:
                assert listed(want[name]) == listed(have[name]), (how, name)
    assert mine.pad(rows[1], max_length=30, padding="max_length") == dict(
        theirs.pad(rows[1], max_length=30, padding="max_length"))
    names = batch(3)
    assert mine(names, padding=True, padding_side="left") == dict(theirs(names, padding=True, padding_side="left"))


def test_pad_odd(both):
    mine, theirs = both
    for given in ({"input_ids": []}, {"input_ids": [1, 2], "labels": 0.5}, {"input_ids": [1], "labels": None},
                  {"input_ids": [[1, 2], [3]], "labels": [0.5, 1]}):
        assert dict(mine.pad(given)) == dict(theirs.pad(copy.deepcopy(given)))
    for wrong in ([], {"labels": [1]}):
        with pytest.raises(ValueError, match="input_ids"):
            mine.pad(wrong)
    for wrong in ("abc", ["a"]):
        with pytest.raises(TypeError):
            mine.decode(wrong)
    with pytest.raises(ValueError, match="not the id of a token"):
        copy.copy(mine).pad_token_id = 10**7
    other = copy.copy(mine)
    other.pad_token = "<s>"
    assert mine.pad_token == "<pad>" and other.pad_token_id == 1


def test_collator(both):
    torch = pytest.importorskip("torch")
    mine, theirs = both
    features = [dict(theirs(text), labels=0.5) for text in batch(2)]
    want = transformers.DataCollatorWithPadding(theirs)([dict(f) for f in features])
    have = transformers.DataCollatorWithPadding(mine)([dict(f) for f in features])
    assert want.keys() == have.keys() and all(
        want[name].dtype == have[name].dtype and torch.equal(want[name], have[name]) for name in want)
    moved = mine(batch(2), padding=True, return_tensors="pt").to("cpu")
    assert isinstance(moved["input_ids"], torch.Tensor)
    assert mine.convert_ids_to_tokens(torch.tensor([1, 4])) == theirs.convert_ids_to_tokens([1, 4])
    assert mine.decode(torch.tensor([[1, 4], [5, 6]])) == theirs.decode([[1, 4], [5, 6]])
    assert mine.decode(token_ids=[1, 4]) == theirs.decode(token_ids=[1, 4])


def test_of_transformers_class(both, tmp_path):
    """The Trainer asks for transformers' class before it takes its padding collator; what leat has comes first."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")

    class Tokenizer(leat.PreTrainedTokenizer, transformers.PreTrainedTokenizerBase):
        pass

    mine, theirs = Tokenizer(both[1].name_or_path), both[1]
    features = [{"input_ids": theirs(text)["input_ids"], "labels": 1} for text in batch(2)]
    args = transformers.TrainingArguments(str(tmp_path), report_to=[], use_cpu=True)
    have, want = (transformers.Trainer(torch.nn.Linear(1, 1), args, processing_class=t).data_collator(features)
                  for t in (mine, theirs))
    assert want.keys() == have.keys() and all(torch.equal(want[name], have[name]) for name in want)
    assert mine(batch(4), padding=True) == dict(theirs(batch(4), padding=True))
    mine.save_pretrained(tmp_path / "saved")
    assert transformers.AutoTokenizer.from_pretrained(str(tmp_path / "saved"))("a")["input_ids"] == mine("a").input_ids


def test_names_can_be_set(both):
    mine, theirs = pickle.loads(pickle.dumps(both[0])), transformers.AutoTokenizer.from_pretrained(
        both[1].name_or_path)
    for t in (mine, theirs):
        t.pad_token = t.eos_token
    assert mine.pad_token_id == theirs.pad_token_id == mine.eos_token_id
    names = batch(4)
    assert mine(names, padding=True) == dict(theirs(names, padding=True))
    for t in (mine, theirs):
        t.pad_token_id = 1
    assert mine.pad_token == theirs.pad_token
    assert pickle.loads(pickle.dumps(mine)).pad_token == theirs.pad_token
    assert mine.vocab_size == theirs.vocab_size and mine.is_fast


def test_hub_id_has_its_files(both, tmp_path, monkeypatch):
    """A model in the local hub cache: all of its files count, not only the vocabulary."""
    snapshot = tmp_path / "models--some--model" / "snapshots" / "abc"
    snapshot.parent.mkdir(parents=True)
    os.symlink(both[1].name_or_path, snapshot)
    (tmp_path / "models--some--model" / "refs").mkdir()
    (tmp_path / "models--some--model" / "refs" / "main").write_text("abc")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    mine = leat.PreTrainedTokenizer.from_pretrained("some/model")
    for name in ("model_max_length", "padding_side", "truncation_side", "eos_token", "pad_token_id",
                 "model_input_names"):
        assert getattr(mine, name) == getattr(both[0], name), name


def test_clean_up(tmp_path):
    """Spaces before punctuation, but not of byte-pair models."""
    for kind in ("byte level", "words"):
        folder = made(tmp_path, kind)
        (folder / "tokenizer_config.json").write_text(json.dumps({**CONFIG, "clean_up_tokenization_spaces": True}))
        mine, theirs = leat.PreTrainedTokenizer(folder), transformers.AutoTokenizer.from_pretrained(str(folder))
        for text in ("we are here , now . i do n't ! he 's ' so '", *texts(20, 8)):
            ids = theirs(text)["input_ids"]
            for how in ({}, {"clean_up_tokenization_spaces": False}, {"clean_up_tokenization_spaces": True}):
                assert mine.decode(ids, **how) == theirs.decode(ids, **how)
                assert mine.batch_decode([ids], **how) == theirs.batch_decode([ids], **how)


@pytest.mark.parametrize("length", [{"model_max_length": 5.0}, {"max_len": 5}, {"max_len": 5, "model_max_length": 6},
                                    {"max_len": 5, "model_max_length": None}, {"model_max_length": 1e30},
                                    {"model_max_length": 10**30}, {"max_length": 5}, {}], ids=json.dumps)
def test_longest(tmp_path, length):
    """As a float, and by its old name. Where transformers fails on a float, its whole number counts. Where the files
    say nothing it was None, with which min(tokenizer.model_max_length, 1024) failed."""
    made(tmp_path, "byte level")
    config = {name: value for name, value in CONFIG.items() if name != "model_max_length"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, **length}))
    mine, theirs = leat.PreTrainedTokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    assert mine.model_max_length == theirs.model_max_length
    if length.get("model_max_length") == 5.0:
        theirs.model_max_length = 5
    for asked in {"truncation": True}, {"padding": "max_length"}, {"truncation": True, "padding": "max_length"}:
        assert mine(batch(6), **asked) == dict(theirs(batch(6), **asked))
        if mine.model_max_length > 10**20:  # too large a number for tokenizers
            assert mine(batch(6), max_length=mine.model_max_length, **asked) == mine(batch(6), **asked)


@pytest.mark.parametrize("length", [5.5, "5"])
def test_lengths_that_are_no_numbers(tmp_path, length):
    """A TypeError as in transformers, but of calls that need the length."""
    made(tmp_path, "byte level")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**CONFIG, "model_max_length": length}))
    mine, theirs = leat.PreTrainedTokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for asked in {"truncation": True}, {"padding": "max_length"}:
        with pytest.raises(TypeError):
            theirs("a", **asked)
        with pytest.raises(TypeError, match="model_max_length in tokenizer_config.json, must be a whole number, not"):
            mine("a", **asked)
    assert mine("a").input_ids == mine("a", truncation=True, max_length=9).input_ids
    with pytest.raises(TypeError, match="max_length.* must be a whole number, not 4.0"):
        mine("a", truncation=True, max_length=4.0)


ADDED = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False,
         "single_word": False, "special": True}


@pytest.mark.parametrize("config, other", [
    ({}, {}), ({"additional_special_tokens": ["<one>", "</s>"]}, {}), ({"extra_special_tokens": ["<one>", "<s>"]}, {}),
    ({"extra_special_tokens": ["<one>"], "additional_special_tokens": ["<two>"]}, {}),
    ({"extra_special_tokens": [], "additional_special_tokens": ["<two>"]}, {}),
    ({"image_token": "<one>", "add_bos_token": True, "mask_token": ADDED}, {}),
    ({"extra_special_tokens": {"boi_token": "<one>", "end": "<two>"}, "sound_token": "<s>"}, {}),
    ({"model_specific_special_tokens": {"end": "<two>"}}, {}),
    ({"model_specific_special_tokens": {"end": "<two>"}, "image_token": "<one>"}, {}),
    ({"extra_special_tokens": ["<one>", "<s>"]}, {"extra_special_tokens": ["<two>", "<one>"], "pad_token": "<two>"}),
    ({}, {"additional_special_tokens": ["<two>"], "image_token": "<one>"}), ({"pad_token": None}, {}),
    ({"added_tokens_decoder": {}}, {"additional_special_tokens": ["<two>"], "pad_token": "<two>"})], ids=json.dumps)
def test_special_tokens(tmp_path, config, other):
    """The lists of them, from what tokenizer_config.json and special_tokens_map.json may say."""
    made(tmp_path, "byte level")
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    for name in "<mask>", "<one>", "<two>":
        file["added_tokens"].append({"id": 600 + len(file["added_tokens"]), "content": name, "special": True,
                                     "single_word": False, "lstrip": False, "rstrip": False, "normalized": False})
        file["model"]["vocab"][name] = file["added_tokens"][-1]["id"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**CONFIG, **config}))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(other))
    mine, theirs = leat.PreTrainedTokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for t in mine, pickle.loads(pickle.dumps(mine)), copy.copy(mine):
        for name in ("special_tokens_map", "all_special_tokens", "all_special_ids", "extra_special_tokens",
                     "extra_special_tokens_ids", *(f"{name}{end}" for name in theirs.special_tokens_map
                                                   for end in ("", "_id"))):
            assert getattr(t, name) == getattr(theirs, name), name
    ids = theirs("a b <one><two> c<pad>")["input_ids"]
    assert mine("a b <one><two> c<pad>").input_ids == ids
    assert mine.get_special_tokens_mask(ids, already_has_special_tokens=True) == theirs.get_special_tokens_mask(
        ids, already_has_special_tokens=True)
    for skip in True, False:
        assert mine.convert_ids_to_tokens(ids, skip_special_tokens=skip) == theirs.convert_ids_to_tokens(
            ids, skip_special_tokens=skip)
    for t in mine, theirs:
        t.extra_special_tokens = ["<s>", "<two>"]
    assert mine.all_special_ids == theirs.all_special_ids
    with pytest.raises(AttributeError):
        mine.additional_special_tokens
    with pytest.raises(NotImplementedError, match="already_has_special_tokens=True"):
        mine.get_special_tokens_mask(ids)


@pytest.mark.parametrize("direction", ["Left", "Right"])
@pytest.mark.parametrize("config", [{}, {"tokenizer_class": "BertTokenizer"}, {"tokenizer_class": "LlamaTokenizer"},
                                    {"padding_side": "right", "pad_token": "<s>", "truncation_side": "left"}], ids=str)
def test_what_tokenizer_json_says(tmp_path, config, direction):
    """Its padding and truncation name the token and the sides that no other file does."""
    made(tmp_path, "words")
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    file["padding"] = {"strategy": "BatchLongest", "direction": direction, "pad_to_multiple_of": None, "pad_id": 3,
                       "pad_type_id": 0, "pad_token": "<pad>"}
    file["truncation"]["direction"] = direction
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", **config}))
    mine, theirs = leat.PreTrainedTokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    for name in "padding_side", "truncation_side", "pad_token":
        assert getattr(mine, name) == getattr(theirs, name), name


def test_masking(both):
    """transformers' collator for masked language models."""
    torch = pytest.importorskip("torch")
    mine, theirs = (copy.copy(t) for t in both)
    for t in mine, theirs:
        t.mask_token = "a"
    have, want = (transformers.DataCollatorForLanguageModeling(t, mlm_probability=1.0, seed=3)(
        [{"input_ids": theirs(text)["input_ids"]} for text in batch(4)]) for t in (mine, theirs))
    assert torch.equal(have["labels"], want["labels"])
