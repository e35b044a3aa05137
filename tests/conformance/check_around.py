#!/usr/bin/env python3
"""check_around.py LEAT: what leat pack puts around documents without --begin and --end, for tokenizer.json files with
each kind of post-processor, against what tokenizers puts around a text: the same tokens if there is at most one
before and one after it; exit code 2 with no known end. A tokenizer_config.json beside the file has the last word on the
end; if that is another one than the post-processor's, there is no begin token. LEAT is the command, built. Ends with
"N passed, N failed, N skipped". 77: tokenizers is not installed.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

WORDS = ["[UNK]", "[CLS]", "[SEP]", "<s>", "</s>", "a", "b", "\u00e9\u2581"]
IDS = {word: i for i, word in enumerate(WORDS)}
TEXTS = ["a b", "", "b [SEP] a", "c"]


def template(single, **others):
    used = {word: IDS[word] for word in WORDS if word in single.split()}
    return processors.TemplateProcessing(single=single, pair="$A $B:1", special_tokens=list({**used, **others}.items()))


PROCESSORS = {
    "none": None,
    "ByteLevel": processors.ByteLevel(trim_offsets=False),
    "Bert": processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
    "Roberta": processors.RobertaProcessing(("</s>", 4), ("<s>", 3)),
    "template of both": template("<s> $A </s>"),
    "template of an end": template("$A </s>"),
    "template of a begin": template("<s> $A"),
    "template of nothing": template("$A"),
    "template of two ends": template("$A [SEP] </s>"),
    "template of two begins": template("[CLS] <s> $A </s>"),
    "template of an odd name": template("\u00e9\u2581 $A </s>"),
    "sequence": processors.Sequence([processors.ByteLevel(), template("<s> $A </s>")]),
    "sequence of two": processors.Sequence([template("<s> $A"), template("$A </s>")]),
    "sequence of two frames": processors.Sequence([template("<s> $A </s>"), template("[CLS] $A [SEP]")]),
    "sequence of nothing": processors.Sequence([]),
}


def chained(t):
    """Whether a second processor takes what a first one has made: the reference then takes tokens for texts."""
    processor = json.loads(t.to_str())["post_processor"] or {}
    return len([p for p in processor.get("processors", ()) if p["type"] != "ByteLevel"]) > 1


CONFIGS = [None, {"eos_token": "</s>"}, {"eos_token": "[SEP]"}, {"bos_token": "<s>"}, {"eos_token": "missing"}]


def reference(processor):
    t = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if processor is not None:
        t.post_processor = processor
    return t


def expected(t, config):
    """(begin, end) with None for neither, or None if no end is known."""
    plain = t.encode("a b", add_special_tokens=False).ids
    try:
        around = t.encode("a b").ids
        at = next(i for i in range(len(around)) if around[i:i + len(plain)] == plain)
        before, after = around[:at], around[at + len(plain):]
        good = len(before) <= 1 and len(after) <= 1 and not chained(t)
    except BaseException as e:  # Rust's panic
        if type(e).__name__ != "PanicException":
            raise
        before = after = []
        good = False
    if config and "eos_token" in config:
        end = IDS.get(config["eos_token"])
    else:
        end = after[0] if good and after else None
    if end is None:
        return None
    return (before[0] if good and before and after in ([], [end]) else None), end


def packed(leat, folder, extra=()):
    """(exit code, documents' ids, what it said)"""
    p = subprocess.run([leat, "pack", "-t", ".", "-o", "out", "--force", *extra, "texts.jsonl"], cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = p.stdout.decode() + p.stderr.decode()
    if p.returncode:
        return p.returncode, None, said
    with open(os.path.join(folder, "out.tokens"), "rb") as f:
        data = f.read()
    return 0, list(struct.unpack("<%dH" % (len(data) // 2), data)), said


def check(leat, folder, t, config):
    for name, data in (("tokenizer.json", t.to_str()), ("tokenizer_config.json", config and json.dumps(config)),
                       ("texts.jsonl", "".join(json.dumps({"text": x}) + "\n" for x in TEXTS))):
        if data:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(data)
        elif os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
    want = expected(t, config)
    code, ids, said = packed(leat, folder)
    if want is None:
        return None if code == 2 and "does not say which token ends" in said else "exit code %d: %s" % (code, said)
    wanted = []
    for text in TEXTS:
        plain = t.encode(text, add_special_tokens=False).ids
        wanted += [i for i in (want[0], *plain, want[1]) if i is not None]
    if ids != wanted:
        return "exit code %d, %s and not %s: %s" % (code, ids, wanted, said)
    # whoever gives an end decides both
    code, ids, said = packed(leat, folder, ["--end", "5"])
    wanted = [i for text in TEXTS for i in (*t.encode(text, add_special_tokens=False).ids, 5)]
    return None if ids == wanted else "--end 5: exit code %d, %s and not %s: %s" % (code, ids, wanted, said)


def main():
    leat, counts = os.path.abspath(sys.argv[1]), [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for name, processor in PROCESSORS.items():
            for config in CONFIGS:
                wrong = check(leat, folder, reference(processor), config)
                counts[wrong is not None] += 1
                if wrong:
                    print("FAILED around texts, %s, %s: %s" % (name, config, wrong))
    print("%d passed, %d failed, 0 skipped" % tuple(counts))
    sys.exit(1 if counts[1] else 0)


main()
