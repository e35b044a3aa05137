#!/usr/bin/env python3
"""test_chat_options.py: --chat with the other options of `leat pack`: each combination gives what Jinja, set up as
transformers sets it up, and an encoding in plain Python give: inputs that are compressed, behind URLs, in Parquet;
--keep, --by, --split, --dedup, --shuffle, parts of a run, shares, --resume, --tools, the tokenizer's own template,
rejects with their reasons, --memory, --threads, --json."""
import collections
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

from chat_reference import (LEAT, SMALL, TOKENS, Dataset, folder, jinja2, leat, make_tokenizer, packed,
                            rejects, render, rng, tokens_of, vocabulary, write)

TEMPLATE = ("{% if tools %}<|system|>{% for t in tools %}{{ t | tojson }}\n{% endfor %}{% endif %}"
            "{% for m in messages %}{% if m.role == 'fails' %}{{ raise_exception('no ' + m.role) }}{% endif %}"
            "<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ m.content | trim }}<|im_end|>"
            "{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}")
WORDS = "what is the answer to this question é 水 \" \\ now".split(" ")


def record(number):
    messages = [{"role": "system", "content": "be good"}] * (rng.random() < 0.3)
    for _ in range(rng.randrange(1, 4)):
        messages += [{"role": "user", "content": " ".join(rng.choices(WORDS, k=rng.randrange(1, 12)))},
                     {"role": "assistant", "content": " ".join(rng.choices(WORDS, k=rng.randrange(1, 30))) + "\n"}]
    if number % 50 == 9:
        messages.append({"role": "fails", "content": ""})
    made = {"id": f"c{number}", "lang": rng.choice(["de", "en", "fr"]), "n": number, "messages": messages}
    if rng.random() < 0.3:
        made["tools"] = [{"name": rng.choice(WORDS), "more": {"a": [1, None]}}]
    return made


records = [record(number) for number in range(240)]
records += [dict(records[number], id=f"again{number}") for number in range(0, 240, 20)]  # for --dedup
lines = [json.dumps(r, ensure_ascii=rng.random() < 0.5) + "\n" for r in records]


def want_of(some, tools=True):
    """[(id, ids, mask)] of what is packed."""
    done = [(r["id"], render(TEMPLATE, r["messages"], r.get("tools") if tools else None)) for r in some]
    return [(name, *tokens_of(*made)) for name, made in done if made]


def have_of(name="out"):
    ids = [d[4].decode() for d in Dataset(os.path.join(folder, name)).documents()]
    return [(i, *tokens) for i, tokens in zip(ids, packed(name))]


WANT = want_of(records)
FAILS = ["the chat template refuses it: no fails"] * (len(records) - len(WANT))
assert len(FAILS) > 3
write("t.jinja", TEMPLATE)
write("all.jsonl", "".join(lines))
write("all.json", json.dumps(records, indent=1))
with gzip.open(os.path.join(folder, "all.jsonl.gz"), "wt") as f:
    f.writelines(lines)
CHAT = ("--chat", "t.jinja")

# ---- Inputs, threads, memory -----------------------------------------------------------------------------------------

# each thread starts a Python, if there is work for it: as there is with small pieces, of which there are many
for program, *words in ((LEAT, "all.jsonl"), (LEAT, "all.json"), (LEAT, "all.jsonl.gz"), (SMALL, "all.jsonl.gz"),
                        (SMALL, "--threads", "3", "all.json"),
                        (SMALL, "--threads", "2", "--memory", "300MiB", "all.jsonl")):
    report = json.loads(leat("-o", "out", *CHAT, "--json", *words, program=program))
    assert have_of() == WANT and rejects() == FAILS, (program, words)
    assert report["documents"] == len(WANT) and report["rejected"] == len(FAILS), report
assert Dataset(os.path.join(folder, "out")).metadata()[b"leat.jinja2"]


class Files(http.server.SimpleHTTPRequestHandler):
    """Files of the folder, whole or a part."""

    def send_head(self):
        path = os.path.join(folder, self.path.lstrip("/"))
        with open(path, "rb") as f:
            body = f.read()
        begin, end = 0, len(body)
        if "Range" in self.headers:
            a, b = self.headers["Range"].removeprefix("bytes=").split("-")
            begin, end = int(a), min(int(b) + 1 if b else end, end)
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("ETag", '"one"')
        self.send_header("Accept-Ranges", "bytes")
        if "Range" in self.headers:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(body)}")
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        import io
        return io.BytesIO(body[begin:end])

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
threading.Thread(target=server.serve_forever, daemon=True).start()
done = subprocess.run([LEAT, "pack", "-t", vocabulary, "--max-rejects", "100%", "-o", "web", *CHAT,
                       f"http://127.0.0.1:{server.server_port}/all.jsonl"], cwd=folder, capture_output=True, text=True)
if "libcurl" in done.stderr:
    print("without URLs:", done.stderr.strip())
else:
    assert done.returncode == 0 and have_of("web") == WANT, done.stderr
server.shutdown()

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    print("without Parquet: pyarrow is not installed")
else:
    rows = [dict(r, tools=json.dumps(r["tools"]) if "tools" in r else None) for r in records]
    pq.write_table(pa.Table.from_pylist(rows), os.path.join(folder, "all.parquet"), row_group_size=70)
    leat("-o", "out", *CHAT, "--threads", "3", "all.parquet")
    assert have_of() == WANT and rejects() == FAILS

# ---- What is packed, and how it is arranged --------------------------------------------------------------------------

leat("-o", "out", *CHAT, "--keep", "lang = en", "--keep", "n < 180", "all.jsonl")
assert have_of() == want_of([r for r in records if r["lang"] == "en" and r["n"] < 180])
leat("-o", "out", *CHAT, "--tools", "", "all.jsonl")
assert have_of() == want_of(records, tools=False) != WANT
leat("-o", "by", *CHAT, "--by", "lang", "all.jsonl")
for lang in "de", "en", "fr":
    assert have_of(f"by.{lang}") == want_of([r for r in records if r["lang"] == lang])
first = {}
for document in WANT:
    first.setdefault(tuple(document[1]), document)
first = list(first.values())
leat("-o", "out", *CHAT, "--dedup", "--split", "valid=0.2", "--shuffle", "7", "all.jsonl")
both = have_of() + have_of("out.valid")
assert sorted(both) == sorted(first) and len(first) < len(WANT)
assert both != first and 20 < len(have_of("out.valid")) < 200
leat("-o", "out", *CHAT, "--dedup", "--by", "lang", "all.jsonl")
for lang in "de", "en", "fr":
    ids = {r["id"] for r in records if r["lang"] == lang}
    assert have_of(f"out.{lang}") == [document for document in first if document[0] in ids]

# ---- Shares, parts of a run, --resume --------------------------------------------------------------------------------


def run(*words, code=0):
    done = subprocess.run([LEAT, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stderr


for part in "1/2", "2/2":
    leat("-o", "p" + part[0], *CHAT, "--part", part, "all.jsonl")
run("merge", "-o", "joined", "p1", "p2")
assert have_of("joined") == WANT
run("pack", "--run", "r", "--parts", "2", "-t", vocabulary, "--end", "none", "--max-rejects", "100%", *CHAT,
    "all.jsonl")
for part in "1", "2":
    run("pack", "--run", "r", "--part", part)
run("merge", "-o", "rjoined", "r")
assert have_of("rjoined") == WANT
# stopped by rejects at a checkpoint, and resumed
few = ["pack", "-t", vocabulary, "--end", "none", "-o", "again", *CHAT]
said = run(*few, "--max-rejects", "2", "all.jsonl", code=4)
run(*few, "--max-rejects", "100%", "--resume", "all.jsonl")
assert have_of("again") == WANT and rejects("again") == FAILS
done = subprocess.run([LEAT, *few, "--max-rejects", "100%", "--resume", "all.jsonl"], cwd=folder, capture_output=True,
                      text=True)
assert "is finished already" in done.stdout, done

# ---- The tokenizer's own template ------------------------------------------------------------------------------------

own = os.path.join(folder, "own")
make_tokenizer(own, dict(TOKENS, chat_template=TEMPLATE))
leat("-o", "out", "--chat", "tokenizer", "all.jsonl", tokenizer=own)
assert have_of() == WANT

# ---- What is asked wrongly -------------------------------------------------------------------------------------------

for words, said in ((("--chat-date", "2026-01-31"), "add --chat FILE"), (("--skip-slow-chats",), "add --chat FILE"),
                    (("--chat-seconds", "5"), "add --chat FILE"), ((*CHAT, "--chat-seconds", "0"), "--chat-seconds")):
    assert said in leat("-o", "no", *words, "all.jsonl", code=2), words
# and without Python, or its packages
SOURCES = os.environ["PYTHONPATH"]


def with_python(python, path):
    words = [LEAT, "pack", "-t", "bytes", "-o", "no", "--max-rejects", "8", *CHAT, "all.jsonl"]
    return subprocess.run(words, cwd=folder, env=dict(os.environ, LEAT_PYTHON=python, PYTHONPATH=path),
                          capture_output=True, text=True)


def installed(name, version, **files):
    """A folder of packages in which a distribution leat says that it has this version."""
    where = os.path.join(folder, name)
    files = {"leat.dist-info/METADATA": f"Metadata-Version: 2.1\nName: leat\nVersion: {version}\n",
             **{f"leat/{file}.py": text for file, text in files.items()}}
    for file, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(where, file)), exist_ok=True)
        write(os.path.join(name, file), text)
    return where


VERSION = re.search(r"\d+\.\d+\.\d+", subprocess.run([LEAT, "--version"], capture_output=True, text=True).stdout)[0]
with open(os.path.join(SOURCES, "leat", "render.py")) as f:
    renderer = f.read()
other = installed("other", VERSION, __init__=f"__version__ = '{VERSION}'", render="print('hello')")
older = installed("older", VERSION, __init__="", render=renderer.replace(f'\nVERSION = "{VERSION}"',
                                                                          '\nVERSION = "0.0.9"'))
for python, path, said in (("/nonexistent/python3", SOURCES, "pip install '.[chat]'"),
                           (os.environ["LEAT_PYTHON"], folder, "this Python has none: install it ("),
                           (os.environ["LEAT_PYTHON"], other, "this Python has none: install it ("),
                           (os.environ["LEAT_PYTHON"], older, "this Python has version 0.0.9: install it (")):
    done = with_python(python, path)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, (python, done.stderr)
# nor with a jinja2 from whose sandbox a template escapes, as before 3.1.6 (it formerly read the whole environment so)
shutil.copytree(os.path.dirname(jinja2.__file__), os.path.join(folder, "escapes", "jinja2"))
with open(os.path.join(folder, "escapes", "jinja2", "filters.py"), "a") as f:
    f.write("\n\nFILTERS['attr'] = getattr\n")
done = with_python(os.environ["LEAT_PYTHON"], os.path.join(folder, "escapes") + os.pathsep + SOURCES)
assert done.returncode == 2 and "lets a template leave its sandbox" in done.stderr, done
assert "jinja2>=3.1.6" in done.stderr, done
# what a distribution of that name says of itself does not count
done = with_python(os.environ["LEAT_PYTHON"], installed("misleading", "9.9.9") + os.pathsep + SOURCES)
assert done.returncode == 0, done.stderr

# ---- An end of turns that is no token --------------------------------------------------------------------------------

# It is said before the work, as training learns no end then. (Formerly ChatML with gpt2 was packed without a word.)
write("hi.jsonl", json.dumps({"messages": [{"role": "user", "content": "q"},
                                           {"role": "assistant", "content": "b"}]}))
ENDS = "{{% for m in messages %}}{{{{ m.content }}}}{}{{% endfor %}}"
NO_END = "leat: warning: nothing that ends a turn is learned: "
NO_TOKEN = (" no token of gpt2; take a chat template that ends answers with one, or a tokenizer that has it "
            "(--chat FILE, or -t SPEC)")
for template, tokenizer, said in (
        (ENDS.format("<|im_end|>\n"), "gpt2", "<|im_end|> is" + NO_TOKEN),
        (ENDS.format("\n"), "gpt2", "after an answer the chat template writes" + NO_TOKEN),
        (ENDS.format(" <|endoftext|>"), "gpt2", None), (ENDS.format("\n<|im_end|>\n"), vocabulary, None),
        (ENDS.format("<|im_end|></s>"), vocabulary, None), ("{{ raise_exception('no') }}", "gpt2", None),
        ("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}", "gpt2", None),
        ("{% for m in messages %}{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}{% endfor %}", "gpt2",
         None)):
    write("ends.jinja", template)
    for more in ("-o", "out", "--force"), ("--dry-run",):
        done = subprocess.run([LEAT, "pack", "-t", tokenizer, "--max-rejects", "100%", "--chat", "ends.jinja", *more,
                               "hi.jsonl"], cwd=folder, capture_output=True, text=True)
        lines_said = [line for line in done.stderr.splitlines() if "ends a turn" in line]
        assert lines_said == ([NO_END + said] if said else []), (template, more, done.stderr)
# An end token of the document that follows the answer at once is learned: this was warned about, too.
for between, ends in ("", True), ("\n", False):
    write("ends.jinja", ENDS.format(between + "{% if not loop.last %} {% endif %}"))
    done = subprocess.run([LEAT, "pack", "-t", "gpt2", "--end", "50256", "--chat", "ends.jinja", "-o", "out", "--force",
                           "hi.jsonl"], cwd=folder, capture_output=True, text=True)
    assert ("ends a turn" in done.stderr) != ends and f"(assistant {1 + ends})" in done.stdout, (between, done)

# ---- A folder with files named like modules --------------------------------------------------------------------------

# No command that starts Python runs files of the current folder, also where PYTHONPATH has an empty part; PYTHONPATH
# counts, as `leat` is found by it. A renderer gets no credentials. (Formerly a struct.py of the folder in which
# `leat pack --chat` was called ran with all that its user may do, and a template that left jinja2's sandbox saw them.)
planted = os.path.join(folder, "planted")
os.mkdir(planted)
for name in *sys.stdlib_module_names, "leat", "jinja2", "markupsafe", "pyarrow", "sitecustomize", "usercustomize":
    write(f"planted/{name}.py", f"open({os.path.join(folder, 'ran')!r}, 'a').write({name + ' '!r})")
os.mkdir(os.path.join(folder, "mine"))
write("mine/sitecustomize.py", f"import os; print(dict(os.environ), file=open({folder!r} + '/variables', 'w'))")
variables = dict(os.environ, PYTHONPATH=f":{folder}/mine::{SOURCES}::", HF_TOKEN="secret", MY_PASSWORD="secret")
for words in (("pack", "-t", vocabulary, "--max-rejects", "100%", "--force", "-o", "../out", "--chat", "../t.jinja",
               "../all.jsonl"), ("import", "-o", "../imported", "x"),
              ("export", "--to", "packed-parquet", "-o", "../rows", "--plan", "../p")):
    if os.path.exists(os.path.join(folder, "variables")):
        os.remove(os.path.join(folder, "variables"))
    done = subprocess.run([LEAT, *words], cwd=planted, env=variables, capture_output=True, text=True)
    assert not os.path.exists(os.path.join(folder, "ran")), (words, done.stderr)
    assert "Traceback" not in done.stderr and (words[0] != "pack" or have_of() == WANT), (words, done.stderr)
    with open(os.path.join(folder, "variables")) as f:
        said = f.read()
    assert ("secret" in said) == (words[0] != "pack") and "HOME" in said, (words, said)
print(collections.Counter(r["lang"] for r in records), len(WANT), "packed")
