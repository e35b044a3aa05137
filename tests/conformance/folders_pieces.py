"""folders_pieces.py: folders for check_folders.py with a sentencepiece model of type Unigram that a class of
transformers converts: each class, its options, and what files say of added tokens.
"""
import io
import random

import sentencepiece

PARTS = ["<extra_id_0>", "<extra_id_1>", "<extra_id_99>", "<unk>", "<pad>", "[CLS]", "<unk_2>", "<unk_102>", "<mask_1>",
         "<mask_2>", "<s>NOTUSED", "<c>", "<u>", " hello the", "\u2581he", "``", "''", "\u00a0", " .", ",", "HELLO",
         "Caf\u00e9\u0301", "\uff21\u2460", "\u65e5\u672c", "  x"]
WORDS = ("hello the then other there here he she said that this caf\u00e9 water waters 12 123 1,000 word words, . ! A. "
         "The Hello \u65e5\u672c \u4f60\u597d and end sand hand \uff21").split()


def model(**options):
    r = random.Random(5)
    lines = [" ".join(r.choices(WORDS, k=8)) for _ in range(2000)]
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=file,
        **{"model_type": "unigram", "vocab_size": 400, "num_threads": 1, "hard_vocab_limit": False, "minloglevel": 2,
           **options})
    return file.getvalue()


PLAIN = dict(control_symbols=["<c>"], user_defined_symbols=["<u>"])
T5 = dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
ALBERT = dict(pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"])
DEBERTA = dict(pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
               unk_piece="[UNK]")
IDENTITY = dict(normalization_rule_name="identity")
MASKS = {"mask_token": "<mask_2>", "mask_token_sent": "<mask_1>"}


def listed(content, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "single_word": False, "normalized": False,
            "special": True, **flags}


# The class, its type of model, the file, options of the training, configurations
CLASSES = (
    ("T5Tokenizer", "t5", "spiece.model", T5, [
        {}, {"extra_ids": 0}, {"extra_ids": 2}, {"additional_special_tokens": None}, {"additional_special_tokens": []},
        {"additional_special_tokens": [f"<extra_id_{i}>" for i in range(100)]}, {"eos_token": "<e>"},
        {"extra_special_tokens": ["<x>", listed("<t0>", __type="AddedToken", lstrip=True)], "extra_ids": 3},
        {"extra_ids": 0, "added_tokens_decoder": {"300": listed("<extra_id_1>", lstrip=True), "0": listed("<pad>"),
                                                  "301": listed("x", normalized=True, special=False)}}]),
    ("XLMRobertaTokenizer", "xlm-roberta", "sentencepiece.bpe.model", {}, [
        {}, {"mask_token": listed("<mask>", __type="AddedToken", lstrip=True)}, {"add_prefix_space": False},
        {"additional_special_tokens": ["<x>"]}, {"bos_token": "<b>", "cls_token": "<b>"}, {"mask_token": None}]),
    ("CamembertTokenizer", "camembert", "sentencepiece.bpe.model", {}, [
        {}, {"additional_special_tokens": ["<s>NOTUSED", "</s>NOTUSED"]}, {"mask_token": "<m>"},
        {"mask_token": listed("<mask>", __type="AddedToken")}, {"unk_token": "<foo>"}]),
    ("PegasusTokenizer", "pegasus", "spiece.model", T5, [
        MASKS, {**MASKS, "offset": 5}, {**MASKS, "additional_special_tokens": ["<mask_1>", "<unk_2>"]},
        {"mask_token": "<mask_1>", "mask_token_sent": "<mask_1>"}]),
    ("AlbertTokenizer", "albert", "spiece.model", ALBERT, [
        {}, {"do_lower_case": False}, {"keep_accents": True}, {"mask_token": listed("[MASK]", __type="AddedToken",
                                                                                    lstrip=True, normalized=True)}]),
    ("DebertaV2Tokenizer", "deberta-v2", "spm.model", DEBERTA, [
        {}, {"do_lower_case": True}, {"split_by_punct": True}, {"add_prefix_space": False}, {"unk_token": "<u>"}]),
)


def folders():
    """(name, files)"""
    for name, kind, file, options, configurations in CLASSES:
        models = {"plain": model(**options), "with tokens": model(**{**PLAIN, **options, **dict(
            user_defined_symbols=["<u>", "th", " x", "<extra_id_7>"] if name != "T5Tokenizer" else ["<u>", "th"])}),
                  "identity": model(**{**options, **IDENTITY, "byte_fallback": True})}
        for which, bytes in models.items():
            for i, configuration in enumerate(configurations):
                yield f"{name} {i}, {which}", {file: bytes, "tokenizer_config.json": {
                    "tokenizer_class": name + ("Fast" if i % 2 else ""), **configuration}}
        files = {file: models["with tokens"], "tokenizer_config.json": {"tokenizer_class": name, **configurations[0]}}
        yield f"{name}, maps", {**files, "added_tokens.json": {"<z>": 400, "x": 401, "<w>": 399},
                                "special_tokens_map.json": {"unk_token": "<unk>", "additional_special_tokens": ["<q>"],
                                                            "eos_token": {"content": "</s>", "lstrip": True}}}
        yield f"{name}, both", {**files, "config.json": {"model_type": kind}}
        if name != "PegasusTokenizer":
            yield f"type {kind}", {file: models["plain"], "config.json": {"model_type": kind}}
    for count in 1, 2:
        yield f"T5Tokenizer, one extra id of its own, wanted {count}", {
            "spiece.model": model(**T5, user_defined_symbols=["<extra_id_0>"]),
            "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "extra_ids": count}}
    yield "type mt5", {"spiece.model": model(**T5), "config.json": {"model_type": "mt5"}}
