"""hostile_program.py NAME...: does with each dataset, or tokenizer's file, all that leat can do with it, and prints
what happened how often. Whatever the files say, there are answers and exceptions of the kinds below: no crash, and no
exception that speaks of the program. A file beside, in $LEAT_HOSTILE_AT, names what is being opened."""
import collections
import itertools
import os
import sys

import leat

KINDS = (leat.Error, ValueError, IndexError, KeyError, OverflowError, MemoryError, NotImplementedError)
MANY = 40  # documents, batches and the like that are looked at
happened = collections.Counter()


def call(function, *args, **options):
    """Its result, or None if it refuses."""
    try:
        result = function(*args, **options)
        repr(result)
        happened["answered"] += 1
        return result
    except UnicodeError:
        raise
    except KINDS as error:
        str(error), repr(error)
        happened[type(error).__name__] += 1
        return None


def some(iterable):
    return list(itertools.islice(iterable, MANY))


def use_tokenizer(t):
    for what in (t.name, t.n_vocab, t.end_token, t.end_candidates, t.special_tokens, t.fingerprint, t.stored):
        repr(what)
    ids = call(t.encode, "a text, 12 \u20ac\n", disallowed_special=())
    for given in (ids or [], [0, 1, t.n_vocab - 1], [t.n_vocab], [2**32 - 1]):
        call(t.decode, given)
        call(t.decode_bytes, given)
        call(t.decode_tokens_bytes, given)
    call(t.token_byte_values)
    call(t.encode_batch, ["one", "two"], disallowed_special=())
    for name in ("eot_token", "_mergeable_ranks", "_special_tokens", "special_tokens_set"):
        call(getattr, t, name, None)
    if hasattr(t, "_pat_str"):
        call(t.encode_with_unstable, "hello", disallowed_special=())
    call(t.get_vocab)
    call(t.id_to_token, 0)
    call(t.token_to_id, "a")
    call(t.encode_flat, ["one", "two"])


def use_documents(d):
    count = len(d)
    call(d.mask)
    for n in [*range(min(count, MANY)), count // 2, count - 1, count, 2**63]:
        for what in (lambda: d[n], lambda: d.place(n), lambda: d.text(n), lambda: d.text_hash(n),
                     lambda: d.decode(n, 3)):
            call(what)
        place = call(d.place, n)
        if place is not None and place.id is not None:
            call(d.find, id=place.id)
        if place is not None and place.input is not None and place.offset is not None:
            call(d.find, origin=(place.input, place.offset))
    call(some, d)
    call(lambda: some(d.documents))


def use_order(d):
    for order, length in (("shuffled", 3), ("sequential", 16), ("documents", 8)):
        plan = call(leat.Plan, d, length, 7, epochs=2, order=order)
        if plan is None:
            continue
        call(lambda: plan.text)
        for n in range(3):
            call(plan.order, n)
            call(plan.pieces, n)
            call(plan.number, n)
            call(plan.position, n)
            call(plan.trace, document=(0, n), until=1000)
        call(plan.samples, 0, 3)
        call(plan.trace, step=0, batch=2)
        call(lambda: leat.Plan.parse(plan.text))
        for damage, threads in (("error", 0), ("mask", 1)):
            loader = call(leat.Loader, plan, 2, framework="numpy", on_damage=damage, threads=threads,
                          outputs=leat.batch.PLAIN)
            if loader is not None:
                for batch in call(some, loader) or []:
                    call(getattr, batch, "samples")
                    repr((batch, batch.flags))
                call(loader.state_dict)
                loader.close()


def use_dataset(name):
    for access in "leased", "read":
        d = call(leat.open, name, access=access)
        if d is None:
            continue
        for attribute in ("info", "parts", "inputs", "metadata", "stored_tokenizer", "tokens", "name"):
            call(getattr, d, attribute)
        tokens = d.info.tokens
        for first, many in ((0, min(tokens, 5000)), (tokens, 1), (tokens // 2, 3), (2**63, 2**63)):
            call(d.read, first, many)
            call(d.view, first, many)
            call(d.verify_range, first, many)
        call(d.starts)
        use_documents(d)
        for token in 0, tokens // 2, tokens:
            call(d.find, token=token)
        for source in 0, 1, 2**32, "a", "mill.jsonl":
            call(d.find, origin=(source, 3))
        call(d.find, id="a")
        call(d.verify, threads=1)
        if access == "leased":
            use_order(d)
        stored = call(lambda: d.stored_tokenizer)
        t = call(lambda: leat.Tokenizer.from_stored(*stored)) if stored else None
        if t is not None:
            use_tokenizer(t)
        d.close()


def use_file(path, pattern):
    t = call(leat.Tokenizer, path, pattern=pattern)
    if t is not None:
        use_tokenizer(t)
    t = call(leat.Tokenizer, path, pattern=pattern, like="tokenizers")
    if t is not None:
        encoded = call(t.encode, "a text")
        for name in "ids", "tokens", "special_tokens_mask":
            call(getattr, encoded, name, None)


at = os.environ["LEAT_HOSTILE_AT"]
for given in sys.argv[1:]:
    with open(at, "w", encoding="utf-8") as file:
        file.write(given)
    if given.endswith(".leat"):
        use_dataset(given[:-5])
    else:
        use_file(given, "gpt2" if given.endswith(".tiktoken") else None)
print(dict(happened))
