"""leat.Tokenizer in the place of tokenizers' Tokenizer: files made by its trainers give both the same results."""
import json
import pickle

import pytest

import leat
from conftest import ROOT
from made_files import file_of, unigram
from made_texts import texts

tokenizers = pytest.importorskip("tokenizers")

SPECIAL = ["<s>", "</s>", "<pad>", "<|end|>"]


def trained(kind):
    """A small vocabulary of a kind that is met."""
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
    if kind == "byte level":
        t = tokenizers.Tokenizer(models.BPE())
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        t.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=SPECIAL, show_progress=False,
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    else:  # as Llama 2: spaces are letters, unknown ones fall back to bytes
        t = tokenizers.Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
        t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                       decoders.Strip(" ", 1, 0)])
        trainer = trainers.BpeTrainer(vocab_size=900, show_progress=False,
                                      special_tokens=["<unk>", *SPECIAL, *(f"<0x{i:02X}>" for i in range(256))])
    t.train_from_iterator(texts(2000, 10), trainer)
    t.add_tokens([tokenizers.AddedToken("<think>", special=False, normalized=False)])
    one, two = t.token_to_id("<s>"), t.token_to_id("</s>")
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A $B </s>",
                                                     special_tokens=[("<s>", one), ("</s>", two)])
    return t


@pytest.fixture(scope="module", params=["byte level", "byte fallback"])
def both(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.json"
    theirs = trained(request.param)
    theirs.save(str(path))
    return leat.Tokenizer.from_file(path), tokenizers.Tokenizer.from_file(str(path)), path


def sprinkled():
    return ["<s>", "a<|end|>b", "<think> x</think>", "x </s> <pad>y"] + [
        t[:len(t) // 2] + name + t[len(t) // 2:] for t, name in zip(texts(60, 11), (SPECIAL + ["<think>"]) * 12)]


def test_vocabulary(both):
    mine, theirs, _ = both
    assert mine.get_vocab_size() == theirs.get_vocab_size()
    assert mine.get_vocab_size(with_added_tokens=False) == theirs.get_vocab_size(with_added_tokens=False)
    assert mine.get_vocab() == theirs.get_vocab()
    for i in range(mine.n_vocab + 2):
        assert mine.id_to_token(i) == theirs.id_to_token(i)
    for name in [*theirs.get_vocab(), "no such token"]:
        assert mine.token_to_id(name) == theirs.token_to_id(name)
    assert mine.num_special_tokens_to_add(False) == theirs.num_special_tokens_to_add(False) == 2
    assert mine.special_tokens_set >= set(SPECIAL)


@pytest.mark.parametrize("add", [None, True, False])
def test_encode(both, add):
    mine, theirs, _ = both
    how = {} if add is None else {"add_special_tokens": add}
    some = texts(300, 12) + sprinkled()
    for text in some:
        have, want = mine.encode(text, **how), theirs.encode(text, **how)
        assert have.ids == want.ids, repr(text)
        assert have.tokens == want.tokens
        assert have.special_tokens_mask == want.special_tokens_mask
        assert pickle.loads(pickle.dumps(have)).special_tokens_mask == want.special_tokens_mask
        assert have.attention_mask == want.attention_mask and have.type_ids == want.type_ids
        assert len(have) == len(want)
        assert mine.decode(have.ids) == theirs.decode(want.ids)
        assert mine.decode(have.ids, skip_special_tokens=False) == theirs.decode(want.ids, skip_special_tokens=False)
    assert [e.ids for e in mine.encode_batch(some, **how)] == [e.ids for e in theirs.encode_batch(some, **how)]
    ids = [e.ids for e in mine.encode_batch(some, **how)]
    assert mine.decode_batch(ids) == theirs.decode_batch(ids)


def test_encode_special_tokens(both):
    mine, theirs, path = both
    mine, theirs = leat.Tokenizer.from_file(path), tokenizers.Tokenizer.from_file(str(path))
    mine.encode_special_tokens = theirs.encode_special_tokens = True
    for text in sprinkled():
        assert mine.encode(text).ids == theirs.encode(text).ids


def test_rules_of_tiktoken(both):
    """The other library's keywords choose its rules."""
    mine, theirs, path = both
    plain = leat.Tokenizer(path)
    with pytest.raises(ValueError, match="<s>"):
        plain.encode("x <s> y")
    assert plain.encode("xy") == theirs.encode("xy", add_special_tokens=False).ids
    assert plain.encode("x<s>y", allowed_special="all") == theirs.encode("x<s>y", add_special_tokens=False).ids
    assert plain.encode("x<s>y", add_special_tokens=True) == theirs.encode("x<s>y").ids
    assert "<s>" in plain.decode(plain.encode("x<s>y", allowed_special="all"))
    with pytest.raises(TypeError, match="one or the other"):
        plain.encode("x", add_special_tokens=True, allowed_special="all")


def test_padding_is_not_passed_over(both, tmp_path):
    _, theirs, path = both
    asking = tokenizers.Tokenizer.from_file(str(path))
    asking.enable_padding()
    asking.save(str(tmp_path / "tokenizer.json"))
    mine = leat.Tokenizer.from_file(tmp_path / "tokenizer.json")
    with pytest.raises(NotImplementedError, match=r"asks for padding.*call no_padding\(\)"):
        mine.encode("a text that is longer than that")
    mine.no_padding()
    assert mine.encode("a text that is longer than that").ids == theirs.encode("a text that is longer than that").ids


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("most", [2, 3, 7])
def test_truncation(both, tmp_path, most, direction):
    _, _, path = both
    theirs = tokenizers.Tokenizer.from_file(str(path))
    plain = theirs.normalizer is None  # else there are no offsets
    theirs.enable_truncation(most, direction=direction)
    theirs.save(str(tmp_path / "tokenizer.json"))
    asked, told = leat.Tokenizer.from_file(tmp_path / "tokenizer.json"), leat.Tokenizer.from_file(path)
    told.enable_truncation(most, direction=direction)
    assert asked.truncation == told.truncation == theirs.truncation
    for mine in asked, told:
        for text in ("", "a", "a text that is longer than that", "x <s> y"):
            for add in True, False:
                want = theirs.encode(text, add_special_tokens=add)
                got = mine.encode(text, add_special_tokens=add, offsets=plain)
                assert got.ids == want.ids and (not plain or got.offsets == want.offsets)
                assert got.special_tokens_mask == want.special_tokens_mask
        assert [e.ids for e in mine.encode_batch(["a b c d", ""])] == [
            e.ids for e in theirs.encode_batch(["a b c d", ""])]
    told.no_truncation()
    assert told.truncation is None
    assert len(told.encode("a text that is longer than that")) > 7
    for wrong in ({"max_length": 1}, {"max_length": 4, "stride": 3}, {"max_length": -1}, {"max_length": 4.0},
                  {"max_length": 4, "strategy": "only_second"}, {"max_length": 4, "direction": "up"}):
        with pytest.raises(ValueError, match="max_length|strategy|direction"):
            told.enable_truncation(**wrong)


def test_offsets(both):
    mine, theirs, path = both
    if theirs.normalizer is not None:
        with pytest.raises(NotImplementedError, match=r"the normalizer \(Prepend, Replace\) of this tokenizer may"):
            mine.encode("some text", offsets=True)
        return
    for text in [*sprinkled(), *texts(40, 12), "", "a\u2581b", "  x  \n", "\u65e5\u672c \U0001d54f"]:
        for add in True, False:
            want, got = theirs.encode(text, add_special_tokens=add), mine.encode(text, add_special_tokens=add,
                                                                                offsets=True)
            assert (got.ids, got.offsets) == (want.ids, want.offsets)
            # the bytes are all there, once
            own = got.byte_offsets[1:-1] if add else got.byte_offsets
            assert b"".join(text.encode()[b:e] for b, e in own) == text.encode()
    plain = leat.Tokenizer(path)  # by tiktoken's rules
    got = plain.encode("some text", offsets=True)
    assert got.offsets == theirs.encode("some text", add_special_tokens=False).offsets
    assert pickle.loads(pickle.dumps(got)).byte_offsets == got.byte_offsets
    batch = mine.encode_batch(["some text", "more"], offsets=True)
    assert [e.offsets for e in batch] == [e.offsets for e in theirs.encode_batch(["some text", "more"])]
    assert mine.encode(b"a\xff b", offsets=True).offsets == theirs.encode("a\ufffd b").offsets
    with pytest.raises(AttributeError, match="offsets=True"):
        mine.encode("some text").offsets


def test_columns(both):
    import numpy
    import pyarrow
    mine, _, _ = both
    listed = ["some text", "", "more"]
    ids = [e.ids for e in mine.encode_batch(listed)]
    for column in (numpy.array(listed), numpy.array(listed, dtype=object), pyarrow.array(listed), tuple(listed),
                   pyarrow.chunked_array([listed[:1], listed[1:]]), iter(listed)):
        assert [e.ids for e in mine.encode_batch(column)] == ids
    for column in (numpy.array(listed), pyarrow.array(listed)):
        assert len(mine.encode_ordinary_batch(column)) == 3


@pytest.mark.parametrize("names", ["ByteLevel", "NFC ByteLevel", "Lowercase ByteLevel", "Lowercase", "NFD"])
def test_normalized_added_tokens(tmp_path, names):
    """Added tokens that are looked for in normalized text are called by their normalized text."""
    from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers
    path = str(tmp_path / "tokenizer.json")
    letters = {letter: i for i, letter in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    theirs = tokenizers.Tokenizer(models.BPE(letters, []))
    theirs.normalizer = normalizers.Sequence([getattr(normalizers, name)() for name in names.split()])
    if "ByteLevel" not in names:
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    theirs.add_tokens([AddedToken("<A b>", normalized=True), AddedToken("é\tx", normalized=True),
                       AddedToken("E\u0301 y", normalized=True), AddedToken("<Å z>", normalized=False)])
    theirs.add_special_tokens([AddedToken("<S>", normalized=False), AddedToken("<T é>", normalized=True)])
    theirs.save(path)
    theirs, mine = tokenizers.Tokenizer.from_file(path), leat.Tokenizer.from_file(path)
    assert [mine.id_to_token(i) for i in range(mine.n_vocab + 2)] == [theirs.id_to_token(i)
                                                                     for i in range(mine.n_vocab + 2)]
    assert mine.get_vocab() == theirs.get_vocab()
    for name in [*theirs.get_vocab(), *(theirs.id_to_token(i) for i in range(theirs.get_vocab_size()))]:
        assert mine.token_to_id(name) == theirs.token_to_id(name), name
    for text in ("a <A b>é\txE\u0301 y <Å z><S> <T é>", "<a B> É y", "<T é", *texts(50, 14)):
        have, want = mine.encode(text), theirs.encode(text)
        assert have.ids == want.ids and have.tokens == want.tokens
        assert have.special_tokens_mask == want.special_tokens_mask
    if names == "ByteLevel":
        for skip in True, False:
            ids = theirs.encode("a <A b>é\txE\u0301 y <Å z><S> <T é>").ids
            assert mine.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)


def test_around_documents(both, tmp_path):
    data = json.loads(both[2].read_text())
    sides = {"sep": ["</s>", 1], "cls": ["<s>", 0]}
    data["post_processor"] = {"type": "BertProcessing", **sides}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data))
    mine = leat.Tokenizer(path)
    assert (mine.begin_token, mine.end_token) == (0, 1)
    texts = tmp_path / "texts.txt"
    texts.write_text("some text")
    plain = mine.encode_ordinary("some text").ids
    for arguments, ids in (({}, [0, *plain, 1]), ({"begin": None}, [*plain, 1]), ({"end": None}, plain),
                           ({"end": 0}, [*plain, 0]), ({"begin": 1}, [1, *plain, 1])):
        leat.pack(texts, tmp_path / "out", mine, force=True, **arguments)
        assert leat.Dataset(tmp_path / "out")[0].tolist() == ids
        with leat.Packer(tmp_path / "added", mine, force=True, **arguments) as packer:
            packer.add("some text")
        assert leat.Dataset(tmp_path / "added")[0].tolist() == ids
    # the reference takes a second processor's tokens for texts
    data["post_processor"] = {"type": "Sequence", "processors": [{"type": "BertProcessing", **sides}] * 2}
    path.write_text(json.dumps(data))
    assert leat.Tokenizer(path).begin_token is None
    with pytest.raises(NotImplementedError, match="goes on after one that adds tokens"):
        leat.Tokenizer.from_file(path).encode("some text")


def test_pickled_with_what_was_set(tmp_path):
    """Truncation, no_padding() and encode_special_tokens come along; a file with another post-processor is refused."""
    from tokenizers import models, pre_tokenizers, processors, trainers
    t = tokenizers.Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(texts(100, 1), trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    path = str(tmp_path / "tokenizer.json")
    t.enable_truncation(5)
    t.enable_padding()
    t.save(path)
    mine = leat.Tokenizer.from_file(path)
    text, plain = "one two three four five <s>", pickle.dumps(mine)
    mine.no_padding()
    for change in (lambda: None, lambda: mine.enable_truncation(3), mine.no_truncation,
                   lambda: setattr(mine, "encode_special_tokens", True)):
        change()
        again, want = pickle.loads(pickle.dumps(mine)), mine.encode(text)
        assert again.encode(text) == want and again.truncation == mine.truncation
        assert pickle.dumps(again) == pickle.dumps(mine) != plain
    t.no_padding()
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    t.save(path)
    with pytest.raises(ValueError, match="has changed since"):
        pickle.loads(plain)


def test_ids_that_are_no_tokens(tmp_path):
    """Left out where tokenizers leaves them out; as ids, what has __index__."""
    numpy = pytest.importorskip("numpy")
    t = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    t.save(str(tmp_path / "tokenizer.json"))
    mine = leat.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for ids in ([0, 7, 1], [9], [0, 1]):
        assert mine.decode(ids) == t.decode(ids)
        assert mine.decode(iter(ids)) == mine.decode(numpy.array(ids)) == t.decode(ids)
        assert leat.Tokenizer(tmp_path / "tokenizer.json").decode(ids, skip_special_tokens=False) == t.decode(ids)
    with pytest.raises(leat.Error, match="unknown id 7"):
        leat.Tokenizer(tmp_path / "tokenizer.json").decode([0, 7])
    assert mine.id_to_token(numpy.int64(1)) == "b" and mine.id_to_token(7) is None
    assert mine.decode_tokens_bytes(numpy.array([0, 1])) == [b"a", b"b"]
    with pytest.raises(TypeError):
        mine.id_to_token(1.0)


def test_tables_are_refused():
    pandas = pytest.importorskip("pandas")
    table = {"text": ["one", "two"]}
    for texts_ in (table, pandas.DataFrame(table)):
        with pytest.raises(TypeError, match="is a table"):
            leat.Tokenizer("gpt2").encode_batch(texts_)


def test_names_that_are_there_twice(tmp_path):
    """decode() leaves out all tokens with the name of a special one: it left out only the first."""
    file = file_of(unigram("<u>", "</s>", "a", "b", "</s>", "a"))
    file["added_tokens"] = [{"id": 1, "content": "</s>", "special": True, "single_word": False, "lstrip": False,
                             "rstrip": False, "normalized": False}]
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    mine = leat.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for skip in True, False:
        for ids in ([2, 1, 3, 4, 5], [4], [1, 4, 4, 9]):
            assert mine.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
    assert [mine.id_to_token(i) for i in range(7)] == [theirs.id_to_token(i) for i in range(7)]
    assert mine.get_vocab() == theirs.get_vocab()
    for size in True, False:
        assert mine.get_vocab_size(size) == theirs.get_vocab_size(size)
    assert [mine.token_to_id(name) for name in ("</s>", "a", "b")] == [theirs.token_to_id(name)
                                                                     for name in ("</s>", "a", "b")]
    assert mine.encode("ab</s>a").ids == theirs.encode("ab</s>a").ids
    for wrong, error in (([-1], OverflowError), ([2**40], OverflowError), ([1.5], TypeError)):
        with pytest.raises(error):
            mine.decode(wrong, skip_special_tokens=True)


def test_names_of_arguments(both):
    """Those of tokenizers, which are refused beside the first argument that they name."""
    mine, theirs, _ = both
    ids = theirs.encode("a text </s>").ids
    for add in True, False:
        assert mine.encode(sequence="a text </s>", pair=None, is_pretokenized=False, add_special_tokens=add) == \
            theirs.encode(sequence="a text </s>", pair=None, is_pretokenized=False, add_special_tokens=add).ids
        for name in "encode_batch", "encode_batch_fast":
            have, want = (getattr(t, name)(input=["a", "b c"], is_pretokenized=False, add_special_tokens=add)
                          for t in (mine, theirs))
            assert [e.ids for e in have] == [e.ids for e in want]
    for skip in True, False:
        assert mine.decode(ids=ids, skip_special_tokens=skip) == theirs.decode(ids=ids, skip_special_tokens=skip)
        assert mine.decode_batch(sequences=[ids], skip_special_tokens=skip) == theirs.decode_batch(
            sequences=[ids], skip_special_tokens=skip)
    for call in (lambda: mine.encode("a", sequence="b"), lambda: mine.encode_batch(["a"], input=["b"]),
                 lambda: mine.decode([1], ids=[2]), lambda: mine.decode_batch([[1]], sequences=[[2]])):
        with pytest.raises(TypeError, match="is another name of .*: give one of them"):
            call()
    for call in (mine.encode, mine.encode_batch, mine.decode, mine.decode_batch,
                 lambda: mine.encode_batch([("a", "b")])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(NotImplementedError, match="single texts"):
        mine.encode(sequence=["a", "b"], is_pretokenized=True)
    with pytest.raises(NotImplementedError, match="single texts"):
        mine.encode(sequence="a", pair="b")


def test_map_of_datasets():
    """The line of python/README.md, also in processes: the ids of tokenizers."""
    datasets = pytest.importorskip("datasets")
    line = next(line for line in (ROOT / "python/README.md").read_text(encoding="utf-8").splitlines()
                if line.startswith("rows = rows.map("))
    texts = [f"text {i} of some <|endoftext|>"[: 9 + i] for i in range(40)]
    t = leat.Tokenizer("gpt2", like="tokenizers")
    want = [t.encode(text).ids for text in texts]
    for more in "", ", num_proc=2":
        names = {"rows": datasets.Dataset.from_dict({"text": texts}), "t": t}
        exec(line.replace("batched=True", "batched=True" + more), names)
        assert names["rows"].column_names == ["input_ids"] and names["rows"]["input_ids"][:] == want


def test_objects(both, tmp_path):
    """A tokenizers.Tokenizer and a fast tokenizer of transformers are taken as they are: the ids, and what stands
    around a document, are those of a folder that save_pretrained() writes. They raised TypeError."""
    transformers = pytest.importorskip("transformers")
    theirs = tokenizers.Tokenizer.from_str(both[1].to_str())
    theirs.add_special_tokens(["<new>"])
    mine = leat.Tokenizer(theirs, like="tokenizers")
    assert (mine.name, mine.n_vocab) == ("tokenizer.json", theirs.get_vocab_size())
    for text in texts(20, 5) + ["<new>x"]:
        assert mine.encode(text).ids == theirs.encode(text).ids
    first, second, third = (theirs.token_to_id(name) for name in ("<s>", "</s>", "<|end|>"))
    assert (mine.begin_token, mine.end_token) == (first, second)
    for after, end, around in ((["</s>"], "</s>", (first, second)), ([], "<|end|>", (first, third)),
                               (["</s>"], "<|end|>", (None, third))):
        theirs.post_processor = tokenizers.processors.TemplateProcessing(
            single=" ".join(["<s> $A", *after]), special_tokens=[("<s>", first), ("</s>", second)])
        fast = transformers.PreTrainedTokenizerFast(tokenizer_object=theirs, eos_token=end)
        fast.save_pretrained(tmp_path / "saved")
        for mine in (leat.Tokenizer(fast), pickle.loads(pickle.dumps(leat.Tokenizer(fast))),
                     leat.Tokenizer(tmp_path / "saved")):
            assert (mine.begin_token, mine.end_token) == around
            assert mine.fingerprint == leat.Tokenizer(tmp_path / "saved").fingerprint
    (tmp_path / "a.txt").write_text("some text")
    leat.pack([tmp_path / "a.txt"], tmp_path / "packed", fast)
    assert leat.open(tmp_path / "packed").info.end_token == around[1]
    with pytest.raises(TypeError):
        leat.Tokenizer(object())


ATTRIBUTES = ("ids", "type_ids", "tokens", "attention_mask", "special_tokens_mask", "n_sequences", "sequence_ids")


def same_encoding(mine, theirs):
    assert len(mine) == len(theirs)
    for name in ATTRIBUTES:
        assert getattr(mine, name) == getattr(theirs, name), name
    try:
        offsets = mine.offsets
    except NotImplementedError:  # a normalizer has changed the text
        return False
    assert offsets == theirs.offsets
    for i in range(len(theirs)):
        assert mine.token_to_chars(i) == theirs.token_to_chars(i)
        assert mine.token_to_sequence(i) == theirs.token_to_sequence(i)
    for i in range(offsets[-1][1] if offsets else 0):
        assert mine.char_to_token(i) == theirs.char_to_token(i)
    return True


def as_tokenizers_is(mine, theirs, some):
    for add in True, False:
        with_offsets = [same_encoding(mine.encode(text, add_special_tokens=add),
                                      theirs.encode(text, add_special_tokens=add)) for text in some]
        assert all(with_offsets) is (theirs.normalizer is None)
        for name in "encode_batch", "encode_batch_fast":
            for got, want in zip(getattr(mine, name)(some, add_special_tokens=add),
                                 theirs.encode_batch(some, add_special_tokens=add), strict=True):
                same_encoding(got, want)
    lists = [e.ids for e in theirs.encode_batch(some)]
    for skip in (), (True,), (False,):
        assert [mine.decode(ids, *skip) for ids in lists] == [theirs.decode(ids, *skip) for ids in lists]
        assert mine.decode_batch(lists, *skip) == theirs.decode_batch(lists, *skip)
    assert mine.decode(ids=lists[1], skip_special_tokens=False) == theirs.decode(lists[1], skip_special_tokens=False)
    assert mine.get_vocab() == theirs.get_vocab()
    assert mine.get_vocab_size() == theirs.get_vocab_size()
    for i in (*range(0, mine.n_vocab + 2, 7), mine.n_vocab - 1):
        assert mine.id_to_token(i) == theirs.id_to_token(i)
    for token in "a", "<s>", "<|endoftext|>", "no such token":
        assert mine.token_to_id(token) == theirs.token_to_id(token)
    assert mine.num_special_tokens_to_add(False) == theirs.num_special_tokens_to_add(False)
    theirs.enable_truncation(5, direction="left")
    mine.enable_truncation(5, direction="left")
    for text in some:
        same_encoding(mine.encode(text), theirs.encode(text))
    theirs.no_truncation(), mine.no_truncation()
    assert mine.truncation is theirs.truncation is None
    with pytest.raises(NotImplementedError, match="single texts"):
        mine.encode("a", "b")
    if theirs.normalizer is None:
        assert pickle.loads(pickle.dumps(mine.encode(some[-1]))).offsets == theirs.encode(some[-1]).offsets
    again = pickle.loads(pickle.dumps(mine))
    assert same_encoding(again.encode(some[-1]), theirs.encode(some[-1])) is (theirs.normalizer is None)
    assert tokenizers.Tokenizer.from_str(mine.to_str()).encode(some[-1]).ids == mine.encode(some[-1]).ids


def test_as_tokenizers(both):
    _, theirs, path = both
    as_tokenizers_is(leat.Tokenizer(path).as_tokenizers(), tokenizers.Tokenizer.from_file(str(path)),
                     ["some text", *texts(60, 13), *sprinkled()[1:]])


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_as_tokenizers_of_an_encoding(name, tmp_path):
    """Offsets of a file that leat had saved were refused: its Split is "Removed", and removes nothing."""
    leat.Tokenizer(name).save(tmp_path / "tokenizer.json")
    some = ["some text", *texts(60, 14), "a<|endoftext|> b"]
    for spec in name, tmp_path / "tokenizer.json":
        as_tokenizers_is(leat.Tokenizer(spec).as_tokenizers(),
                         tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")), some)
