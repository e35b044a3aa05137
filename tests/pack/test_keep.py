#!/usr/bin/env python3
"""test_keep.py: --keep against a twin in plain Python: random records and conditions, with and, or, not, brackets,
sums, products and quotes; numbers as decimal.Decimal, strings by their UTF-8; the documents are those of the records
that are kept, whether a record is a line, an element of an array, longer than a unit, a line of CSV, or a row of
Parquet. Records that are left out are counted, and those that are no JSON stay rejects. Wrong conditions are refused
(packing/pack_conditions.t), and so is resuming with others; a joined dataset says which part had which; a field
that no record has is named, with the nearest that they have.

Once `lang == en` looked for "= en" and `lang = 'en'` for the quotes, and a run that kept nothing said nothing, but with
--force replaced a good dataset by an empty one; later, it still did so with the datasets of --split, and was a success
with a warning. Then all that came after a sign was one string: "meta.lang != en and meta.lang != de" kept all of 200
records, "Id >= 3 && Id < 9" 26 of 50, and a misspelt field left "no document".
"""
import csv
import decimal
import glob
import json
import os
import shutil
import subprocess
import tempfile

from condition_twin import Maker, Untyped
from programs import LEAT, SMALL, rng

TYPED = os.path.abspath("tests/parquet/files/typed")

folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)
NUMBERS = ["0", "-0", "0.0", "1", "1.0", "1e0", "1000", "1e3", "10E2", "0.001", "1e-3", "-1", "-1.5", "-15e-1",
           "9007199254740993", "9007199254740992", "9007199254740993.0", "1" + "0" * 30, "1e30", "1e400", "1.0e-400",
           "123456789012345678901234567890.5", "0.1", "0.10000000000000000001", "9" * 600, "1e-600"]
STRINGS = ["", "en", "EN", "e", "eng", "é", "e\u0301", "😀", "3", "true", "a\"b\\", "\u0001\n", "=", "x y", "\x7f",
           "it's", "'", "and", "not", "(x)", "a && b", "-", "2024-01-31", "pt-BR", "c++"]
FIELDS = ["lang", "score", "meta.lang", "meta.deep.n", "none", "first name", "and", "3", "a-b"]


def leat(*words, program=LEAT, code=0):
    done = subprocess.run([program, "pack", "-t", "bytes", "--max-rejects", "100%", *words], capture_output=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def string(text):
    if rng.random() < 0.5:
        return json.dumps(text, ensure_ascii=rng.random() < 0.5)
    return '"' + "".join(f"\\u{ord(c):04X}" if c.isascii() else c for c in text) + '"'


def value():
    kind = rng.randrange(6)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 5:
        return string(rng.choice(STRINGS))
    return rng.choice(["null", "true", "[3]", "{}", '{"a":"en"}'])


def record(number):
    """Its JSON, with members at random places, some of them twice."""
    members = [f'"lang":{value()}', f'"score" : {value()}',
               f'"meta":{{"x":1,"lang":{value()},"deep":{{"n":{value()}}}}}', f'"score":{value()}']
    members += [f'"first name":{value()}', f'"and":{value()}', f'"3":{value()}', f'"a-b":{value()}']
    members = rng.sample(members, rng.randrange(9)) + [f'"text":"{number}{"." * rng.choice([1, 1, 1, 9000])}"']
    rng.shuffle(members)
    return "{" + ",".join(members) + "}"


def read(text):
    return json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


def of_json(r):
    def get(field):
        value = r
        for name in field.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value
    return get


def chosen_of(maker, most):
    """Conditions for --keep, and whether all hold."""
    while True:
        made = [maker.condition(rng.choice([0, 0, 1, 2, 3, 4])) for _ in range(rng.choice([1, 1, 2, 3, 5][:most]))]
        if sum(len(text.encode()) + 1 for text, _, _ in made) <= 4000:
            return [w for text, _, _ in made for w in ("--keep", text)], lambda get: all(h(get) for _, _, h in made)


def packed(*words, program=LEAT):
    """The texts that are kept, and the summary."""
    for name in glob.glob("out.*"):
        os.remove(name)
    summary = json.loads(leat("-o", "out", "--json", "--allow-empty", *words, program=program))
    tokens = open("out.tokens", "rb").read()  # a byte is two, and a document ends with 256
    ends = [-2, *(i for i in range(0, len(tokens), 2) if tokens[i + 1])]
    return [tokens[a + 2:b:2].decode() for a, b in zip(ends, ends[1:])], summary


def check_random():
    for round in range(25):
        records = [record(i) for i in range(60)]
        program = rng.choice([LEAT, SMALL])
        if round % 2:
            data, bad = "[" + ",\n".join(records) + "]", 0
        else:
            data, bad = "\n".join(records) + '\n{"lang":"en","text":\n', 1
        open("in.json", "w").write(data)
        words, hold = chosen_of(Maker(rng, FIELDS, NUMBERS, STRINGS), 5)
        kept = [r["text"] for r in map(read, records) if hold(of_json(r))]
        texts, summary = packed(*words, "in.json", program=program)
        assert texts == kept, (words, len(kept), summary)
        assert summary["kept_out"] == len(records) - len(kept) and summary["rejected"] == bad, summary
        assert summary["documents"] == len(kept), summary


def check_tables():
    """The same of CSV, whose fields have no types, and of the columns of a Parquet file."""
    names = ["text", *FIELDS]
    for round in range(15):
        rows = [[f"{i}", *(rng.choice(["", rng.choice(NUMBERS), rng.choice(STRINGS), "+1", " 1"]) for _ in FIELDS)]
                for i in range(60)]
        with open("in.csv", "w", newline="") as f:
            csv.writer(f).writerows([names, *rows])
        words, hold = chosen_of(Maker(rng, FIELDS, NUMBERS, STRINGS), 5)
        kept = [row[0] for row in rows if hold(lambda field: Untyped(row[names.index(field)]))]
        texts, _ = packed(*words, "in.csv", program=rng.choice([LEAT, SMALL]))
        assert texts == kept, (words, len(kept))
    records = [read(line) for line in open(TYPED + ".jsonl")]
    fields = ["score", "ratio", "small", "big", "number", "lang", "text"]
    for round in range(15):
        maker = Maker(rng, [*fields, "flag"], ["0.1", "0.75", "7", "-128", "3", "1e-324", "9223372036854775808"],
                      ["de", "7", "", "é", "text 3"], compared=fields)
        words, hold = chosen_of(maker, 5)
        kept = [r["text"] for r in records if hold(of_json(r))]
        for suffix in "jsonl", "parquet":
            texts, _ = packed(*words, f"{TYPED}.{suffix}", program=rng.choice([LEAT, SMALL]))
            assert texts == kept, (suffix, words, len(kept))


def check_refused():
    open("a.jsonl", "w").write('{"text":"a","lang":"en"}\n{"text":"b","lang":"de"}\n' * 50)
    for wrong, why in (("x" * 5000 + "=1", "longer than 4000 bytes"), ("a." * 40 + "b = 1", "more than 32 names"),
                       ("(" * 3999, "too many brackets"), ("not " * 999, "too many brackets or not within each other"),
                       ("lang = en and", "wrong at character 14 (its end)")):
        said = leat("-o", "no", "--keep", wrong, "a.jsonl", code=2)
        assert why in said, (wrong, said)
    open("t.txt", "w").write("text")
    assert "t.txt has no fields" in leat("-o", "no", "--keep", "lang = en", "a.jsonl", "t.txt", code=2)
    assert not os.path.exists("no.leat")
    leat("-o", "p1", "--keep", "lang = en", "--part", "1/2", "a.jsonl")
    leat("-o", "p2", "--keep", "lang = de", "--part", "2/2", "a.jsonl")
    # as with other options in which parts differ, the dataset says which part had which
    subprocess.run([LEAT, "merge", "-o", "m", "p1", "p2"], check=True, capture_output=True)
    info = subprocess.run([LEAT, "info", "m"], check=True, capture_output=True).stdout
    assert b"leat.keep.1 = lang = en" in info and b"leat.keep.2 = lang = de" in info, info
    leat("-o", "p2", "--force", "--keep", "lang = en", "--part", "2/2", "a.jsonl")
    subprocess.run([LEAT, "merge", "--force", "-o", "m", "p1", "p2"], check=True, capture_output=True)
    leat("-o", "whole", "--keep", "lang = en", "a.jsonl")
    assert open("m.leat", "rb").read() == open("whole.leat", "rb").read()
    leat("-o", "whole", "--keep", "lang = en", "--resume", "a.jsonl")
    said = leat("-o", "whole", "--keep", "lang != en", "--resume", "a.jsonl", code=1)
    assert "whole.leat already exists" in said, said


def check_lacking():
    """A field that no record has is named, with a near one; of a run that succeeds, by a warning."""
    open("c.jsonl", "w").write('{"text":"a","meta":{"lang":"en"},"nothing":null}\n' * 3)

    def run(*words):
        done = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "lacks", "--force", *words, "c.jsonl"],
                              capture_output=True, text=True)
        return done.returncode, done.stderr

    for wrong, field in (("meta.lag = en", '"meta.lag" that is not null (did you mean "meta.lang"?)'),
                         ("meta.lang = en and zebra > 3", '"zebra" that is not null'),
                         ("nothing exists", '"nothing" that is not null')):
        said = f"no record has a field {field}"
        for more in [], ["--shuffle", "1"], ["--by", "text"], ["--resume"]:
            failed = leat("-o", "fails", *more, "--keep", wrong, "c.jsonl", code=1)
            assert failed.startswith(f"leat: {said}: of the 3 records read, \"{wrong}\" left out 3;"), failed
        for more in ["--dry-run"], ["--allow-empty"], ["--allow-empty", "--keep", "text = a"]:
            code, warned = run(*more, "--keep", wrong)
            assert code == ("--dry-run" in more) and f"leat: warning: {said}\n" in warned, (code, warned)
        assert run("--keep", f"not ({wrong})") == (0, f"leat: warning: {said}\n")
    said = leat("-o", "fails", "--keep", "meta.lang = e", "c.jsonl", code=1)
    assert said.startswith("leat: no document is left: of the 3 records read"), said


def files(name):
    return {file: open(file, "rb").read() for file in glob.glob(name + ".*")}


def check_nothing():
    """Conditions that leave no document: code 1 and how many records were read, by --dry-run too; nothing is made or
    replaced, and nothing is left for the next run, which then needs no --force. With --allow-empty the dataset is made.
    An input without records has a warning."""
    words = ["--keep", "lang = xx", "--keep", "lang exists", "a.jsonl"]
    ways = ([], ["--shuffle", "1"], ["--dedup"], ["--split", "valid=.1"], ["--split", "a=0.5,b=0.5"], ["--by", "lang"],
            ["--resume"])
    for more in ways:
        said = leat("-o", "empty", *more, *words, code=1)
        assert 'of the 100 records read, "lang = xx" and "lang exists" left out 100;' in said, said
        assert "in quotes" in said and said.endswith("(--allow-empty makes it all the same)\n"), said
        assert not glob.glob("empty*"), (more, glob.glob("empty*"))
        done = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "empty", "--dry-run", *more, *words],
                              capture_output=True, text=True)
        assert done.returncode == 1 and "--allow-empty" in done.stderr and "100 records" in done.stderr, done
    for more in ways:
        leat("-o", "empty", "--allow-empty", *more, *words)
        leat("-o", "empty", "--allow-empty", "--dry-run", "--force", *more, *words)
        datasets = sorted(glob.glob("empty*.leat"))
        want = ["empty.valid.leat"] if "valid=.1" in more else ["empty.a.leat", "empty.b.leat"] if len(more) > 1 and \
            more[1].startswith("a=") else []
        assert datasets == ([] if "--by" in more else sorted(["empty.leat", *want])), (more, datasets)
        for name in glob.glob("empty*"):
            os.remove(name)
    splits = ["--split", "train=0.9,valid=0.1"]  # which leave nothing to `good` itself
    leat("-o", "good", *splits, "a.jsonl")
    before = files("good")
    assert len(before) == 6, before.keys()
    for more in ways[:-1] + (splits, ["--dry-run"]):
        leat("-o", "good", "--force", *more, *words, code=1)
        assert before == files("good"), (more, os.listdir("."))
    leat("-o", "good", "--force", "--allow-empty", *words)
    assert not os.path.getsize("good.tokens")
    check_parts(words)
    check_rejected()
    open("none.jsonl", "w").close()
    none = [subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "none", "--keep", "lang = xx", *more, "none.jsonl"],
                           capture_output=True, text=True) for more in (["--dry-run"], [])]
    assert [n.returncode for n in none] == [0, 0] and all("no document was found" in n.stderr for n in none), none


def merge(*words):
    return subprocess.run([LEAT, "merge", *words], capture_output=True, text=True)


def check_parts(words):
    """Parts that keep nothing are parts; all of them together are no success, but some may be joined first. What a run
    in a folder makes is judged when it is joined. (The sentence had \\x0a between conditions.)"""
    for i in (1, 2, 3):
        part = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", f"share.{i}", "--part", f"{i}/3", *words],
                              capture_output=True)
        assert part.returncode == 0 and not part.stderr, part
    assert merge("-o", "some", "share.1", "share.2").returncode == 0
    subprocess.run([LEAT, "pack", "-t", "bytes", "--run", "run", "--parts", "2", *words], check=True,
                   capture_output=True)
    for i in (1, 2):
        subprocess.run([LEAT, "pack", "--run", "run", "--part", str(i)], check=True, capture_output=True)
    for parts in (["share.1", "share.2", "share.3"], ["some", "share.3"], ["run"]):
        for more in ([], ["--split", "valid=0.5"], ["--dedup"], ["--force"]):
            done = merge("-o", "all", *more, *parts)
            assert done.returncode == 1 and "no document is left in any part of the run" in done.stderr, done
            assert 'kept the records with "lang = xx" and "lang exists"; ' in done.stderr, done
            assert "(--allow-empty makes it" in done.stderr, done
            assert not glob.glob("all.*"), glob.glob("all.*")
        done = merge("-o", "all", "--allow-empty", *parts)
        assert done.returncode == 0, done
        os.remove("all.leat"), os.remove("all.tokens")
    # a value and a split may be empty, and one part with a document is enough
    subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "share.2", "--force", "--part", "2/3", "--keep", "lang = en",
                    "a.jsonl"], check=True, capture_output=True)
    done = merge("-o", "all", "--split", "valid=0.0000001", "share.1", "share.2", "share.3")
    assert done.returncode == 0 and os.path.getsize("all.tokens") and not os.path.getsize("all.valid.tokens"), done


def check_rejected():
    """The record that holds the condition is rejected: the list says why."""
    open("b.jsonl", "w").write('{"lang":"en","text":5}\n{"lang":"de","text":"x"}\n')
    command = [LEAT, "pack", "-t", "bytes", "-o", "rejected", "--force"]
    words = ["--keep", "lang = en", "--max-rejects", "5", "b.jsonl"]
    for there in (False, True):
        if there:
            leat("-o", "rejected", "--force", "a.jsonl")
        for more in ([], ["--split", "valid=.1"]):
            done = subprocess.run([*command, *more, *words], capture_output=True, text=True)
            assert done.returncode == 1, done
            assert ('of the 2 records read, "lang = en" left out 1 and the other 1 was rejected, see '
                    "rejected.rejects.jsonl;") in done.stderr, done
            lines = [json.loads(line) for line in open("rejected.rejects.jsonl")]
            assert len(lines) == 1 and lines[0]["offset"] == 0, lines
            os.remove("rejected.rejects.jsonl")
            assert sorted(glob.glob("rejected.*")) == ["rejected.leat", "rejected.tokens"] * there, glob.glob("rej*")
    done = subprocess.run([*command, "--dry-run", *words], capture_output=True, text=True)
    assert done.returncode == 1 and "--keep left out 1 record, and 1 rejected" in done.stderr, done
    done = subprocess.run([*command, "--allow-empty", *words], capture_output=True, text=True)
    assert done.returncode == 0 and "--keep left out 1 record, and 1 rejected" in done.stderr, done


try:
    check_random()
    check_tables()
    check_refused()
    check_lacking()
    check_nothing()
finally:
    shutil.rmtree(folder)
