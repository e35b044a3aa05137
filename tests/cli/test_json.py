#!/usr/bin/env python3
"""test_json.py: what commands print with --json is as schemas.json has it (JSON Schema, read here as far as it goes
there; by the package jsonschema, too, where it is): no key is missing, renamed or new, each value has its type; and
sums add up: documents by source are those of the dataset, tokens of pieces those of rows, and so on. push and pull meet
a server of the tests, leat-bench gpu its stand-in for the driver."""
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "remote"))
from own import build, check, finish  # noqa: E402
from s3_server import S3Server  # noqa: E402

schemas = json.loads((pathlib.Path(__file__).parent / "schemas.json").read_text(encoding="utf-8"))
Validator = jsonschema and jsonschema.validators.validator_for(schemas)
if Validator:
    Validator.check_schema(schemas)  # once: validate() would do it for each line
seen, printed = set(), []
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float),
         "integer": int}


# ---- The part of JSON Schema that schemas.json uses

def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def wrong(value, schema, where):
    """What is wrong with a value, a line each."""
    if "$ref" in schema:
        yield from wrong(value, schemas["definitions"][schema["$ref"].rsplit("/", 1)[1]], where)
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_of(value, kind) for kind in kinds):
        yield f"{where} is {json.dumps(value)[:80]}, not of {kinds}"
    elif isinstance(value, dict) and "properties" in schema:
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where} has no {key}"
        for key, member in value.items():
            if key not in schema["properties"]:
                yield f"{where} has a new key, {key}"
            else:
                yield from wrong(member, schema["properties"][key], f"{where}.{key}")
    elif isinstance(value, dict) and "additionalProperties" in schema:
        for key, member in value.items():
            yield from wrong(member, schema["additionalProperties"], f"{where}.{key}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from wrong(one, schema["items"], f"{where}[{at}]")


def run(line, *, code=0, lines=False, form="", more=None):
    """Runs a command with --json; returns what it prints, or a list of lines. `form`: words that give another object;
    `more`: variables of its environment."""
    program, command, *words = line.split()
    done = subprocess.run([build / program, command, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False, env={**os.environ, **(more or {})})
    check(done.returncode == code, f"{line} ended with {done.returncode}: {done.stderr.decode()}")
    text = done.stdout.decode()
    check(lines or text.count("\n") == 1, f"{line} prints {text.count(chr(10))} lines")
    found, name = [json.loads(one) for one in text.splitlines()], f"{program} {command}{form}"
    seen.add(name)
    for one in found:
        printed.append((name, one))
        if os.environ.get("LEAT_TEST_JSON_KEPT"):  # to write a schema by
            continue
        for what in wrong(one, schemas["definitions"][name], line):
            check(False, what)
        if Validator:
            for why in Validator({"$ref": f"#/definitions/{name.replace(' ', '%20')}", **schemas}).iter_errors(one):
                check(False, f"{line}: {why.message} at {list(why.path)}")
    return found if lines else found[0] if found else {}


# ---- Commands

texts = [{"id": f"<b>{n}", "text": "Zażółć gęślą jaźń. " * (1 + n % 7) + str(n)} for n in range(60)]
for number in 0, 1:
    pathlib.Path(f"{number}.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts[number::2]) +
                                               ("not JSON\n" if number else ""), encoding="utf-8")
packed = run("leat pack -t gpt2 --max-rejects 5 -o corpus 0.jsonl 1.jsonl")
check((packed["documents"], packed["rejected"], packed["inputs"]) == (60, 1, 2), f"packed: {packed}")
check(packed["text_bytes"] == sum(len(text["text"].encode()) for text in texts), "text_bytes")
split = run("leat pack -t gpt2 --dedup --split train=0.5,rest=0.5 -o parts 0.jsonl 0.jsonl")
check(split["documents"] + split["deduplicated"] + sum(x["documents"] for x in split["splits"]) == 60,
      f"documents of splits: {split}")
run("leat pack -t gpt2 -o never 0.jsonl --dry-run", form=" --dry-run")
pathlib.Path("hub").mkdir()
for name in "train-0", "test-0", "corpus":
    pathlib.Path(f"hub/{name}.jsonl").write_text('{"text": "x"}\n', encoding="utf-8")
chosen = run("leat pack -t gpt2 -o chosen --split-of train hub")
check([x["split"] for x in chosen["hub_splits"]] == ["train", "test", None], f"splits: {chosen}")
run("leat pack -t gpt2 -o never --split-of train hub --dry-run", form=" --dry-run")
pathlib.Path("few.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n', encoding="utf-8")
by = run("leat pack -t gpt2 --by id -o by few.jsonl", form=" --by")
check(sum(x["documents"] for x in by["outputs"]) == by["documents"] == 2, f"documents by id: {by}")

info = run("leat info corpus")
check(info["documents"] == packed["documents"] and info["tokens"] == packed["tokens"], "leat info counts otherwise")
check(sum(x["documents"] for x in info["inputs"]) == info["documents"], f"documents by source: {info['inputs']}")
check(sum(x["documents"] for x in info["parts"]) == info["documents"], "documents of parts")
check(sum(x["documents"] for x in info["document_lengths"]["buckets"]) == info["documents"], "documents by length")
run("leat verify corpus")
for place in "--id <b>1", "--document 0", "--token 9", "--origin 0.jsonl:10":
    run(f"leat find corpus {place}")
run("leat fit corpus")
for line, form in (("leat fit --report corpus --seq-len 32,64", " --report"),
                   ("leat order --source corpus --fit-report 32,64", " --fit-report")):
    report = run(line, form=form)
    check([x["length"] for x in report["lengths"]] == [32, 64] and report["documents"] == 60, f"lengths: {report}")
    for x in report["lengths"]:
        check(x["rows"] * x["length"] == report["predictions"] + x["padding"] + x["context"], f"places of rows: {x}")

PLAN = "--source corpus --seq-len 64"
samples = run(f"leat order {PLAN} --count 6", lines=True)
check(all(sum(piece["count"] for piece in x["pieces"]) == 65 for x in samples), "tokens of pieces")
run(f"leat order {PLAN} --order fit --count 6", lines=True)
run(f"leat trace {PLAN} --samples 0:6", lines=True)
run(f"leat trace {PLAN} --epochs 1 --document corpus:3", lines=True, form=" --document")
for words in "--step 0 --batch 2", "--sample 3 --order fit":
    for row in run(f"leat show {PLAN} {words}", lines=True):
        counts = [sum(part["tokens"] for part in row["documents"]) + row["padding"],
                  *(len(row[key]) for key in ("ids", "tokens", "labels", "loss_mask", "position_ids"))]
        check(set(counts) == {row["length"]}, f"tokens of a row: {counts} in {row}")
run("leat show corpus --document 5", form=" --document")
run("leat show -t gpt2 -t bytes few.jsonl", lines=True, form=" --tokenizer")

run("leat pack -t gpt2 -o other 0.jsonl")
merged = run("leat merge -o both corpus other")
check(merged["documents"] == 90, f"merged: {merged}")
exported = run("leat export --to megatron -o foreign corpus")
run("leat adopt -t gpt2 foreign")
run("leat pack --run folder --parts 2 -t gpt2 0.jsonl 1.jsonl --max-rejects 5", form=" --run")
run("leat pack --run folder --part 1/2")
status = run("leat status folder")

# Python does these: python/tests/pack/test_import_command.py, python/tests/test_compare.py, test_row_files.py
seen.update({"leat import", "leat-bench compare", "leat export --plan"})
with open("other.tokens", "r+b") as file:
    file.write(b"\0" * 8)
run("leat verify other", code=3)

parts = run("leat --version")["with"]
check(len(parts) > 8 and all(type(one) is bool for one in parts.values()), f"parts of the build: {parts}")
run("leat-bench-dev counting -o c --tokens 20000")
os.mkdir("disk")
run("leat-bench limits --size 16MiB --runs 1 disk")
check(not os.listdir("disk"), f"limits left {os.listdir('disk')}")
run("leat-bench encode -t gpt2 0.jsonl")
passes = run("leat-bench encode -t gpt2 --warm 0.jsonl --passes 3 0.jsonl")
check(len(passes["passes"]) == len(passes["passes_cpu"]) == 3, "a rate for each pass")
check(passes["slices"] is passes["longest_gap_ms"] is None, "no thread has 5 MB")
with open("long.jsonl", "w", encoding="utf-8") as file:
    file.writelines(json.dumps({"text": f"word {n} " * 1000}) + "\n" for n in range(1100))
for threads in 1, 2:
    sliced = run(f"leat-bench encode -t bytes --threads {threads} --passes 2 --warm 0.jsonl long.jsonl")
    check((sliced["slices"] is not None) == (threads == 1), f"slices: {sliced}")
sliced = run("leat-bench encode -t bytes --threads 2 long.jsonl long.jsonl")
check(0 < sliced["slices"]["min"] <= sliced["slices"]["median"] and sliced["longest_gap_ms"] >= 0, f"slices: {sliced}")
bench = run("leat-bench pack --force --threads 1,2 -t gpt2 -o benched 0.jsonl", form=" --threads 1,2")
check(all(x["tokens"] == bench["tokens"] for x in bench["runs"]), "tokens of runs")
run("leat-bench pack --force -t gpt2 -o benched 0.jsonl")
run("leat-bench load --source c --seq-len 32 --batch 4 --steps 9")
load = run("leat-bench load --source c --seq-len 32 --batch 4 --steps 9 --output i64 --bare "
           "--compare synthetic --checksum", form=" --compare")
check(load["tokens"] == 9 * 4 * 32, f"tokens loaded: {load}")
check(sum(load["next_us"]["counts"]) == load["steps"] == 9, f"calls by time: {load['next_us']}")

run(f"leat-bench gpu c --driver {build}/fake_cuda/libfake_cuda.so --runs 1 --steps 2 --work 1 --smallest 16KiB")

with S3Server() as server:
    there = server.environment()
    tried = subprocess.run([build / "leat", "pull", "s3://b/none", "x"], stderr=subprocess.PIPE, check=False,
                           env={**os.environ, **there})
    if b"need libcurl" in tried.stderr:
        seen |= {"leat push", "leat pull"}
    else:
        for line in "leat push corpus s3://b/corpus", "leat pull s3://b/corpus back":
            sent = run(line, more=there)
            check(all(sent[key] == info[key] for key in ("documents", "tokens")), f"sent: {sent}")
            check(sent["bytes"] + sent["kept"] == sum(os.path.getsize(f"corpus.{x}") for x in ("leat", "tokens")),
                  f"bytes sent: {sent}")

kept = os.environ.get("LEAT_TEST_JSON_KEPT")
if kept:
    pathlib.Path(kept).write_text(json.dumps(printed), encoding="utf-8")
else:
    check(seen == {name for name in schemas["definitions"] if " " in name},
          f"commands and schemas differ: {seen ^ {name for name in schemas['definitions'] if ' ' in name}}")
finish()
