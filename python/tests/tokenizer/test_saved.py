"""leat.PreTrainedTokenizer.save_pretrained(): what leat and transformers' AutoTokenizer open in the folder is what was
saved, with what has been set since."""
import json
import os
import warnings

import pytest

import leat
from leat import _classes

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
os.environ["HF_HUB_OFFLINE"] = "1"
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] <x> a b ##b Hello".split()
TEXTS = ["a", "Hello abb [MASK] b", "<x>ab <x> [PAD] c"]
ATTRIBUTES = ("model_input_names", "padding_side", "truncation_side", "extra_special_tokens", "special_tokens_map",
              "clean_up_tokenization_spaces", *_classes.NAMED)
MASK = {"__type": "AddedToken", "content": "[MASK]", "lstrip": True, "normalized": False, "rstrip": False,
        "single_word": False, "special": True}


def write(folder, config, model, other=None):
    vocab = {word: i for i, word in enumerate(WORDS)}
    t = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocab, unk_token="[UNK]"))
    t.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    t.add_special_tokens([*WORDS[:4], tokenizers.AddedToken("[MASK]", lstrip=True), "<x>"])
    t.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[
        ("[CLS]", 2), ("[SEP]", 3)])
    folder.mkdir()
    t.save(str(folder / "tokenizer.json"))
    for name, content in (("tokenizer_config.json", config), ("config.json", model),
                          ("special_tokens_map.json", other)):
        if content is not None:
            (folder / name).write_text(json.dumps(content))
    return leat.PreTrainedTokenizer(folder)


def same(saved, mine):
    """Opened by both; `mine` is what was saved."""
    again, theirs = leat.PreTrainedTokenizer(saved), transformers.AutoTokenizer.from_pretrained(str(saved))
    for text in TEXTS:
        assert again(text).input_ids == mine(text).input_ids == theirs(text)["input_ids"]
    for name in ATTRIBUTES:
        assert getattr(again, name) == getattr(mine, name) == getattr(theirs, name), name
    assert again.model_max_length == mine.model_max_length == theirs.model_max_length
    return theirs


@pytest.mark.parametrize("config, model, other", [
    (None, None, None), (None, {"model_type": "bert"}, None), (None, {"model_type": "mistral"}, None),
    ({"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "mask_token": MASK, "model_max_length": 7,
      "padding_side": "left", "image_token": "<x>"}, {"model_type": "llama"}, None),
    ({"tokenizer_class": "LlamaTokenizerFast", "pad_token": "[PAD]"}, {"model_type": "mistral"}, None),
    ({"tokenizer_class": "PreTrainedTokenizerFast"}, None, {"pad_token": "[SEP]", "cls_token": "[CLS]",
                                                           "additional_special_tokens": ["<x>"]}),
    ({"tokenizer_class": "PreTrainedTokenizerFast", "additional_special_tokens": ["<x>", "[MASK]"]}, None, None),
    ({"tokenizer_class": "PreTrainedTokenizerFast", "extra_special_tokens": {"image": "<x>"}}, None, None)],
    ids=json.dumps)
def test_folders(tmp_path, config, model, other):
    mine = write(tmp_path / "from", config, model, other)
    paths = mine.save_pretrained(tmp_path / "to" / "it")
    assert {os.path.basename(path) for path in paths} == set(os.listdir(tmp_path / "to" / "it"))
    assert not (tmp_path / "to" / "it" / "config.json").exists()
    same(tmp_path / "to" / "it", mine)
    for name, value in {"pad_token": "<x>", "mask_token": None, "padding_side": "left", "model_max_length": 5,
                        "truncation_side": "left", **({"image": "[SEP]"} if "image" in mine.special_tokens_map else
                                                      {"extra_special_tokens": ["[MASK]"]})}.items():
        setattr(mine, name, value)
    mine.save_pretrained(tmp_path / "to" / "it")  # over what is there
    assert same(tmp_path / "to" / "it", mine).pad_token == "<x>"
    mine.model_max_length = int(1e30)
    mine.save_pretrained(tmp_path / "from")  # where it came from
    same(tmp_path / "from", mine)


@pytest.mark.parametrize("model", [None, {"model_type": "bert"}], ids=str)
def test_set_to_what_the_class_has(tmp_path, model):
    """Where no file names the class of tokenizer that is saved, what a file says of other attributes was kept in the
    copy if they had been set to what that class has of its own: padding_side "right", no chat_template."""
    mine = write(tmp_path / "from", {"padding_side": "left", "truncation_side": "left", "model_max_length": 7,
                                     "mask_token": "[MASK]", "chat_template": "a"}, model, {"pad_token": "[PAD]"})
    (tmp_path / "from" / "chat_template.jinja").write_text("b")
    mine.padding_side = mine.truncation_side = "right"
    mine.model_max_length = int(1e30)
    mine.mask_token = mine.pad_token = mine.chat_template = None
    mine.save_pretrained(tmp_path / "to")
    assert same(tmp_path / "to", mine).chat_template is None
    assert leat.PreTrainedTokenizer(tmp_path / "to").chat_template is None


def test_a_model_is_beside(tmp_path):
    """Its config.json stays, and says nothing of the tokenizer."""
    mine = write(tmp_path / "from", None, {"model_type": "bert"})
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    mine.save_pretrained(tmp_path / "to")
    assert json.loads((tmp_path / "to" / "config.json").read_text()) == {"model_type": "gpt2"}
    same(tmp_path / "to", mine)


@pytest.mark.parametrize("config, model", [({"tokenizer_class": "BertTokenizer", "do_lower_case": False}, None),
                                           (None, {"model_type": "bert"})])
def test_vocabulary_of_a_class(tmp_path, config, model):
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    for name, content in ("tokenizer_config.json", config), ("config.json", model):
        if content:
            (tmp_path / "from" / name).write_text(json.dumps(content))
    mine = leat.PreTrainedTokenizer(tmp_path / "from")
    mine.save_pretrained(tmp_path / "to")
    same(tmp_path / "to", mine)
    mine.pad_token, mine.mask_token = "[SEP]", None
    mine.save_pretrained(tmp_path / "to")
    same(tmp_path / "to", mine)


def test_without_a_folder(tmp_path):
    """A tokenizer.json alone, of a file and of a leat.Tokenizer; the file may be gone."""
    write(tmp_path / "from", {"padding_side": "left"}, {"model_type": "bert"})
    for n, given in enumerate((str(tmp_path / "from" / "tokenizer.json"), leat.Tokenizer(tmp_path / "from"))):
        mine = leat.PreTrainedTokenizer(given, pad_token="[PAD]")
        if n:
            os.remove(tmp_path / "from" / "tokenizer.json")
        mine.save_pretrained(tmp_path / str(n))
        assert mine.padding_side == "right"
        same(tmp_path / str(n), mine)


def test_compressed(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    write(tmp_path / "from", {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}, None)
    path = tmp_path / "from" / "tokenizer.json"
    (tmp_path / "from" / "tokenizer.json.zst").write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    path.unlink()
    mine = leat.PreTrainedTokenizer(tmp_path / "from")
    mine.save_pretrained(tmp_path / "to")
    same(tmp_path / "to", mine)


def test_refused(tmp_path):
    with pytest.raises(NotImplementedError, match="'gpt2', 50257 ids> cannot be saved.*needs a tokenizer.json"):
        leat.PreTrainedTokenizer("gpt2").save_pretrained(tmp_path / "to")
    mine = write(tmp_path / "from", None, None)
    for option in {"push_to_hub": True}, {"filename_prefix": "x"}, {"legacy_format": True}:
        with pytest.raises(NotImplementedError, match="only copies files"):
            mine.save_pretrained(tmp_path / "to", **option)
    assert not (tmp_path / "to").exists()
    named = write(tmp_path / "named", {"extra_special_tokens": {"image": "<x>"}}, None)
    named.extra_special_tokens = ["[MASK]"]
    with pytest.raises(NotImplementedError, match="no place for a list"):
        named.save_pretrained(tmp_path / "to")
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "vocab.txt").write_text("a")
    with pytest.raises(FileExistsError, match="already has vocab.txt, which would be read"):
        mine.save_pretrained(tmp_path / "to")
    assert os.listdir(tmp_path / "to") == ["vocab.txt"]


def test_an_ordinary_token_gets_a_name(tmp_path):
    """AutoTokenizer takes it for a special one, and cuts texts at it; leat keeps to the file, and said nothing."""
    mine = write(tmp_path / "from", None, None)
    mine.pad_token = "[CLS]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine.save_pretrained(tmp_path / "special")
    mine.pad_token = "b"
    with pytest.warns(UserWarning, match="pad_token 'b' is an ordinary token"):
        mine.save_pretrained(tmp_path / "to")
