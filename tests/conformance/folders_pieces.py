"""folders_pieces.py: folders for check_folders.py with a sentencepiece model that a class of transformers converts to
Unigram or to BPE: each class, its options, and what files say of added tokens; and folders drawn by lot.
"""
import io
import random

import sentencepiece

PARTS = ["<extra_id_0>", "<extra_id_1>", "<extra_id_99>", "<unk>", "<pad>", "[CLS]", "<unk_2>", "<unk_102>", "<mask_1>",
         "<mask_2>", "<s>NOTUSED", "<c>", "<u>", "en_XX", " ro_RO ", "sl_SI", "<b>", " <m>", " hello the",
         "\u2581he", "``", "''", "\u00a0", " .", ",", "HELLO",
         "Caf\u00e9\u0301", "\uff21\u2460", "\u65e5\u672c", "  x", "aba", "bab"]
WORDS = ("hello the then other there here he she said that this caf\u00e9 water waters 12 123 1,000 word words, . ! A. "
         "The Hello \u65e5\u672c \u4f60\u597d and end sand hand \uff21").split()


def model(words=WORDS, **options):
    r = random.Random(5)
    lines = [" ".join(r.choices(words, k=8)) for _ in range(2000)]
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
BARTHEZ = dict(bos_id=0, pad_id=1, eos_id=2, unk_id=3)
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
        {"add_prefix_space": None}, {"add_prefix_space": 0},
        {"additional_special_tokens": ["<x>"]}, {"bos_token": "<b>", "cls_token": "<b>"}, {"mask_token": None}]),
    ("CamembertTokenizer", "camembert", "sentencepiece.bpe.model", {}, [
        {}, {"additional_special_tokens": ["<s>NOTUSED", "</s>NOTUSED"]}, {"mask_token": "<m>"},
        {"mask_token": listed("<mask>", __type="AddedToken")}, {"unk_token": "<foo>"},
        {"add_prefix_space": None}]),
    ("MBartTokenizer", "mbart", "sentencepiece.bpe.model", {}, [
        {}, {"src_lang": None, "tgt_lang": None, "add_prefix_space": "x"}, {"src_lang": "xx_YY"}, {"src_lang": "ro_RO"},
        {"additional_special_tokens": ["<x>"]}, {"bos_token": "<b>", "cls_token": "<c>"},
        {"mask_token": "<m>"}, {"mask_token": listed("<mask>", __type="AddedToken")}, {"unk_token": "<foo>"},
        {"extra_special_tokens": ["<x>", "fr_XX"]}]),
    ("MBart50Tokenizer", "mbart", "sentencepiece.bpe.model", {}, [
        {}, {"src_lang": None, "tgt_lang": None}, {"src_lang": "xx_YY"}, {"src_lang": "hello"}, {"src_lang": "sl_SI"},
        {"additional_special_tokens": ["<x>"]}, {"bos_token": "<b>", "cls_token": "<c>"},
        {"mask_token": "<m>"}, {"unk_token": "<foo>"}, {"extra_special_tokens": ["<x>", "fr_XX"]}]),
    ("BarthezTokenizer", "mbart", "sentencepiece.bpe.model", BARTHEZ, [
        {}, {"add_prefix_space": False}, {"add_prefix_space": None}, {"additional_special_tokens": ["<x>"]},
        {"mask_token": "<m>"},
        {"unk_token": "<foo>"}]),
    ("PegasusTokenizer", "pegasus", "spiece.model", T5, [
        {}, {"mask_token_sent": None}, {"mask_token_sent": "<mask_1>"}, {"mask_token": None, "mask_token_sent": None},
        {"mask_token": "<m>"}, {"mask_token": None}, {**MASKS, "mask_token_sent": None}, MASKS, {**MASKS, "offset": 5},
        {**MASKS, "additional_special_tokens": ["<mask_1>", "<unk_2>"]},
        {"mask_token": "<mask_1>", "mask_token_sent": "<mask_1>"}]),
    ("AlbertTokenizer", "albert", "spiece.model", ALBERT, [
        {}, {"do_lower_case": False}, {"do_lower_case": None}, {"keep_accents": True}, {"add_prefix_space": None},
        {"keep_accents": "x"}, {"mask_token": listed("[MASK]", __type="AddedToken",
                                                                                    lstrip=True, normalized=True)}]),
    ("DebertaV2Tokenizer", "deberta-v2", "spm.model", DEBERTA, [
        {}, {"do_lower_case": True}, {"split_by_punct": True}, {"add_prefix_space": False}, {"unk_token": "<u>"},
        {"add_prefix_space": None}, {"do_lower_case": None, "split_by_punct": None}]),
)


# Likewise those that convert to BPE; a model's type beside which the class has to be named
GEMMA = dict(pad_id=0, eos_id=1, bos_id=2, unk_id=3, pad_piece="<pad>", eos_piece="<eos>", bos_piece="<bos>")
MERGED = (
    ("LlamaTokenizer", "llama", "tokenizer.model", {}, [
        {}, {"legacy": True}, {"legacy": None, "add_prefix_space": None}, {"add_prefix_space": False}, {"legacy": "x"},
        {"legacy": True, "add_prefix_space": False, "add_bos_token": True, "add_eos_token": True},
        {"legacy": True, "add_bos_token": None, "bos_token": None, "eos_token": "<e>"}, {"unk_token": None},
        {"bos_token": listed("<s>", __type="AddedToken", lstrip=True), "additional_special_tokens": ["<x>", "the"]},
        {"legacy": True, "extra_special_tokens": ["<x>", " the"], "added_tokens_decoder": {
            "1": listed("<s>", rstrip=True), "300": listed("<z>", single_word=True), "2": listed("</s>"),
            "301": listed("hello", normalized=True, special=False), "0": listed("<unk>")}}]),
    ("GemmaTokenizer", "gemma", "tokenizer.model", GEMMA, [
        {}, {"add_bos_token": True, "legacy": True}, {"mask_token": None, "pad_token": "<foo>"}, {"unk_token": None},
        {"unk_token": "<foo>"}, {"add_prefix_space": True, "eos_token": listed("<e>", __type="AddedToken")},
        {"additional_special_tokens": ["<start_of_turn>", "he"]},
        {"added_tokens_decoder": {"300": listed(" x", normalized=True, special=False), "1": listed("<eos>")}}]),
    ("NllbTokenizer", "nllb-moe", "sentencepiece.bpe.model", {}, [
        {}, {"src_lang": "fra_Latn", "legacy_behaviour": True}, {"additional_special_tokens": ["eng_Latn", "sl_SI"]},
        {"extra_special_tokens": ["ace_Arab", "eng_Latn"], "src_lang": "ace_Arab"}, {"mask_token": "<m>"},
        {"mask_token": listed("<mask>", __type="AddedToken")}, {"mask_token": None, "cls_token": None},
        {"bos_token": "<b>"}, {"pad_token": "<s>"}, {"unk_token": "<foo>"}, {"eos_token": None},
        {"added_tokens_decoder": {"300": listed("eng_Latn"), "3": listed("<unk>", lstrip=True)}}]),
)


def drawn(r, configurations):
    """A configuration and other files of random members of these, and random tokens: none of white space only, for with
    one that a normalizer empties tokenizers 0.23.3 takes memory without end."""
    files, config = {}, {}
    for chosen in r.sample(configurations, 2):
        config.update(item for item in chosen.items() if r.random() < 0.7)
    some = r.sample([part for part in PARTS if part.strip()], 3)
    if r.random() < 0.3:
        config["added_tokens_decoder"] = {str(r.randrange(600)): listed(part, **{
            flag: r.random() < 0.3 for flag in ("lstrip", "rstrip", "single_word", "normalized", "special")})
            for part in some}
    elif r.random() < 0.5:
        files["added_tokens.json"] = {part: 600 + i for i, part in enumerate(some)}
    if r.random() < 0.3:
        files["special_tokens_map.json"] = {"eos_token": r.choice(["</s>", listed("<z>", lstrip=True)]),
                                            r.choice(["additional_special_tokens", "extra_special_tokens"]): some[:2]}
    return {**files, "tokenizer_config.json": config}


def merged():
    r = random.Random(6)
    for name, kind, file, options, configurations in MERGED:
        models = [model(**{"model_type": "bpe", **options, **more}) for more in (
            {}, {"byte_fallback": True, "vocab_size": 500}, {**PLAIN, **IDENTITY, "byte_fallback": True},
            {"user_defined_symbols": ["<u>", "th", " x", "\u2581\u2581", "\n", "hello"], "split_digits": True},
            {"model_type": "unigram", "byte_fallback": True}, {"model_type": "word"},
            {"add_dummy_prefix": False, **IDENTITY},
            {"treat_whitespace_as_suffix": True}, {"remove_extra_whitespaces": False, "split_by_whitespace": False})]
        for i, configuration in enumerate(configurations):
            for k in range(2):
                yield f"{name} {i}, {k}", {file: models[k], "tokenizer_config.json": {
                    "tokenizer_class": name + ("Fast" if i % 2 else ""), **configuration}}
        for i in range(60):
            files = drawn(r, configurations)
            files["tokenizer_config.json"]["tokenizer_class"] = name
            if r.random() < 0.3:
                files["config.json"] = {"model_type": "m2m_100" if kind == "nllb-moe" and i % 2 else kind}
            yield f"{name}, drawn {i}", {file: models[i % len(models)], **files}
        # each token is many pairs of others, and which one comes first matters where they overlap
        for i in range(5):
            words = ["".join(r.choices("ab", k=r.randrange(2, 9))) for _ in range(60)]
            yield f"{name}, two letters {i}", {
                file: model(words, **{**options, "model_type": "bpe", "vocab_size": 60 + 40 * i}),
                "tokenizer_config.json": {"tokenizer_class": name}}
        if kind != "llama":
            yield f"type {kind}", {file: models[0], "config.json": {"model_type": kind}}


def folders():
    """(name, files)"""
    yield from merged()
    r = random.Random(7)
    for name, kind, file, options, configurations in CLASSES:
        models = {"plain": model(**options), "with tokens": model(**{**PLAIN, **options, **dict(
            user_defined_symbols=["<u>", "th", " x", "<extra_id_7>"] if name != "T5Tokenizer" else ["<u>", "th"])}),
                  "identity": model(**{**options, **IDENTITY, "byte_fallback": True}),
                  "bpe": model(**options, model_type="bpe"), "char": model(**options, model_type="char")}
        for which, bytes in models.items():
            for i, configuration in enumerate(configurations):
                yield f"{name} {i}, {which}", {file: bytes, "tokenizer_config.json": {
                    "tokenizer_class": name + ("Fast" if i % 2 else ""), **configuration}}
        files = {file: models["with tokens"], "tokenizer_config.json": {"tokenizer_class": name, **configurations[0]}}
        yield f"{name}, maps", {**files, "added_tokens.json": {"<z>": 400, "x": 401, "<w>": 399},
                                "special_tokens_map.json": {"unk_token": "<unk>", "additional_special_tokens": ["<q>"],
                                                            "eos_token": {"content": "</s>", "lstrip": True}}}
        for i in range(20):
            draw = drawn(r, configurations)
            draw["tokenizer_config.json"]["tokenizer_class"] = name
            yield f"{name}, drawn {i}", {file: models[r.choice(list(models))], **draw}
        yield f"{name}, both", {**files, "config.json": {"model_type": kind}}
        if name not in ("MBart50Tokenizer", "BarthezTokenizer"):
            yield f"type {kind}", {file: models["plain"], "config.json": {"model_type": kind}}
    for count in 1, 2:
        yield f"T5Tokenizer, one extra id of its own, wanted {count}", {
            "spiece.model": model(**T5, user_defined_symbols=["<extra_id_0>"]),
            "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "extra_ids": count}}
    yield "type mt5", {"spiece.model": model(**T5), "config.json": {"model_type": "mt5"}}
