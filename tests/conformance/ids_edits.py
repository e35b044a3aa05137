"""ids_edits.py: changes to a tokenizer.json that tokenizers has trained, for what no trainer makes: an edit takes the
file, as JSON gives it, and changes its model."""
import random
import struct

BYTES = [f"<0x{b:02X}>" for b in range(256)]


def add_entry(file, text):
    vocab = file["model"]["vocab"]
    taken = set(vocab.values()) | {a["id"] for a in file["added_tokens"]}
    vocab.setdefault(text, max(taken) + 1)


def duplicate_merges(file):
    r, merges = random.Random(1), file["model"]["merges"]
    for _ in range(80):
        merges.insert(r.randrange(len(merges) + 1), r.choice(merges))


def shuffle_merges(file):
    random.Random(2).shuffle(file["model"]["merges"])


def strings_as_merges(file):
    merges = file["model"]["merges"]
    if all(" " not in a + b for a, b in merges):
        file["model"]["merges"] = ["#version: 0.2"] + [a + " " + b for a, b in merges]


def other_merges(file):
    """Other ways to the same tokens, and tokens whose only merge is gone."""
    r, model = random.Random(3), file["model"]
    prefix = model.get("continuing_subword_prefix") or ""
    for text in sorted(model["vocab"]):
        for i in range(1, len(text)):
            left, right = text[:i], prefix + text[i:]
            if left in model["vocab"] and right in model["vocab"] and r.random() < 0.3:
                model["merges"].insert(r.randrange(len(model["merges"]) + 1), [left, right])
    model["merges"] = [m for m in model["merges"] if r.random() < 0.95]


def unreachable_entries(file):
    for text in ("the", "\u0120the\u0120", "\u2581word\u2581", "abc def", "word", "zzzz", "'s", "12345", "the"[::-1]):
        add_entry(file, text)


def byte_tokens(file, keep=lambda b: True, merges=()):
    for b, text in enumerate(BYTES):
        if keep(b):
            add_entry(file, text)
    for left, right in merges:
        add_entry(file, left + right)
        file["model"]["merges"].insert(0, [left, right])


def all_bytes(file):
    byte_tokens(file)


def half_the_bytes(file):
    byte_tokens(file, lambda b: b % 3 != 1)


def bytes_that_merge(file):
    byte_tokens(file,
                merges=[("<0xE4>", "<0xB8>"), ("<0xE4><0xB8>", "<0xAD>"), ("<0xD0>", "<0x9F>"), ("<0xF0>", "<0x9F>")])


def drop_single_characters(file):
    """Characters that no merge needs go, so that they are unknown."""
    model = file["model"]
    needed = {part for merge in model["merges"] for part in merge}
    gone = [t for i, t in enumerate(sorted(t for t in model["vocab"] if len(t) == 1 and t not in needed)) if i % 2]
    for text in gone:
        del model["vocab"][text]


def holes_in_ids(file):
    shift = {i: i + 100 * (i // 50) for i in file["model"]["vocab"].values()}
    file["model"]["vocab"] = {t: shift[i] for t, i in file["model"]["vocab"].items()}


def without_unknown(file):
    file["model"]["vocab"].pop(file["model"].get("unk_token"), None)
    file["added_tokens"] = [a for a in file["added_tokens"] if a["content"] != file["model"].get("unk_token")]


def option(name, value):
    def edit(file):
        file["model"][name] = value
    return edit


EDITS = (duplicate_merges, shuffle_merges, strings_as_merges, other_merges, unreachable_entries, all_bytes,
         half_the_bytes, bytes_that_merge, drop_single_characters, holes_in_ids)


# ---- Unigram --------------------------------------------------------------------------------------------------------

def pieces(change):
    """An edit of each pair of text and score; None leaves it out."""
    def edit(file):
        model = file["model"]
        kept = [change(i, *pair) for i, pair in enumerate(model["vocab"])]
        model["vocab"] = [pair for pair in kept if pair]
    edit.__name__ = change.__name__
    return edit


def float_scores(i, text, score):
    return [text, struct.unpack("<f", struct.pack("<f", score))[0]]


def equal_sums(i, text, score):
    return [text, float(-len(text) if i % 3 else round(score))]


def high_pieces(i, text, score):
    return [text, 30 + score / 3]


def zero_pieces(i, text, score):
    return [text, 0]


def few_characters(i, text, score):
    return None if len(text) == 1 and i % 3 == 0 else [text, score]


def long_numbers(i, text, score):
    return [text, score / 3 * 10.0 ** (i % 5 * 60 - 120)]


def pieces_twice(file):
    vocab = file["model"]["vocab"]
    vocab += [[text, score * 0.9] for text, score in vocab[1::11]]
    vocab += [["", -1.0], ["<unk>", -3.0], ["\u4e2d\u4e2d", -99.5]]


def pieces_of_bytes(keep):
    def edit(file):
        file["model"]["vocab"] += [[text, -12.5] for b, text in enumerate(BYTES) if keep(b)]
        file["model"]["byte_fallback"] = True
    return edit


def without_unk_id(file):
    file["model"]["unk_id"] = None


def unk_id_of_a_word(file):
    file["model"]["unk_id"] = 40


# ---- WordPiece, WordLevel -------------------------------------------------------------------------------------------

def short_words(file):
    file["model"]["max_input_chars_per_word"] = 5


def other_prefix(file):
    vocab = file["model"]["vocab"]
    file["model"].update(continuing_subword_prefix="", vocab={t: i for t, i in vocab.items() if i % 5 or i < 9})


def no_unknown(file):
    file["model"]["unk_token"] = "[none]"
