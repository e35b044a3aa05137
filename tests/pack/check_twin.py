"""check_twin.py LEAT TMP [SEED [CASES [FIRST]]]: leat pack against reference.py over random corpora: tokens, document
offsets, origins, input records, text hashes, rejects, exit codes and the summary; the same bytes whatever the threads,
the memory bound and the output's name; and parts that make up the whole.

What has been found: README of a failing case is its printed number; run it alone by SEED 1 FIRST.
"""
import json
import os
import random
import shutil
import subprocess
import sys

from corpora import Corpus, line_file
from comparing import Wrong, check, check_rejects, compare, contents, read_rejects, same
from dataset import Dataset, xxh3
from reference import Options, Packed, compress, inflate, is_text

leat, tmp = os.path.abspath(sys.argv[1]), sys.argv[2]
seed, cases, first = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((3, 1), (4, 40), (5, 0)))


def run(folder, args, stdin=None, command="pack"):
    p = subprocess.run([leat, command, *args], cwd=folder, input=stdin if stdin is not None else b"",
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def min_memory(folder, args):
    code, _, said = run(folder, [*args, "--memory", "1Mi"])
    check(code == 2 and "allow at least " in said, "memory refused: %s" % said)
    # what the process holds varies by a MiB or two from run to run, with what of its files is in memory
    return int(said.split("allow at least ")[1].split()[0]) + 3


def repeats_of(folder, paths):
    """The warning of inputs that are named again; an input is a file, whatever its name."""
    seen, again = set(), []
    for path in paths:
        file = path if path == "-" else (lambda s: (s.st_dev, s.st_ino))(os.stat(os.path.join(folder, path)))
        if file in seen:
            again.append(path)
        seen.add(file)
    if len(again) == 1:
        return ["leat: warning: %s repeats an earlier input: its documents are packed twice" % again[0]]
    return ["leat: warning: %d inputs repeat earlier ones, the first is %s: their documents are packed once for "
            "each" % (len(again), again[0])] if again else []


def refused(packed, corpus, options, said):
    """Whether the run was refused because no record of JSON has the field of the text, or of the id."""
    of_lines = [d for d in packed.documents if corpus.items[d[1]][2] == "jsonl"]
    if ': no member "%s" ' % options.id in said:
        return not any(d[4] for d in of_lines)
    of_text = [words % options.text for words in (': no member "%s" ', ': the member "%s" is ')]
    return any(words in said for words in of_text) and not of_lines


def one(r, folder, forms):
    options = Options(text=r.choice(["text", "text", "meta.body", "a.b.c"]), id=r.choice(["id", "id", "meta.id", ""]),
                      reject_invalid=r.random() < 0.3, end=r.choice([256, 256, None, 10]),
                      begin=r.choice([None, None, 256, 0]))
    corpus = Corpus(r, folder, options, r.choice([300, 3000, 30000]), forms, True)
    packed = Packed(options)
    named = [raw for path, raw, _ in corpus.items if path in corpus.words and not path.endswith((".gz", ".zst"))]
    options.allow_binary = r.random() < 0.5 or not all(is_text(raw) or inflate(raw) is not raw for raw in named)
    for path, raw, kind in corpus.items:
        packed.add(path, raw, kind)
    args = ["-t", "bytes", "--text", options.text, "--id", options.id, "--format", corpus.format,
            "--invalid-utf8", "reject" if options.reject_invalid else "replace",
            "--end", "none" if options.end is None else str(options.end),
            "--begin", "none" if options.begin is None else str(options.begin),
            *(["--allow-binary"] if options.allow_binary else []), *corpus.words]
    code, out, said = run(folder, ["-o", "out", "--json", "--max-rejects", "100%", *args], corpus.stdin)
    if code == 1 and refused(packed, corpus, options, said):
        return
    summary = json.loads(out) if code == 0 else {}
    rest = [line for line in said.splitlines() if not line.startswith("leat: skipped ")]
    warned = repeats_of(folder, [path for path, _, _ in corpus.items])
    warned += [] if packed.documents or packed.rejects else ["leat: warning: no document was found in %d input%s" %
                                          (len(packed.inputs), "" if len(packed.inputs) == 1 else "s")]
    rejected = [(i[0], i[4]) for i in packed.inputs if i[2] == 0 and i[4] > 0]
    begin = next((n for n, line in enumerate(rest) if line.endswith("records was rejected:")), None)
    check((begin is not None) == (rejected != []), "inputs that gave no document: %s" % said)
    if rejected: # a line before them and one after them
        shown = min(len(rejected), 20) + (len(rejected) > 20)
        check(" start over with --force" in rest[begin + 1 + shown], said)
        del rest[begin:begin + 2 + shown]
    check(code == 0 and rest == warned, "exit code %d: %s" % (code, said))
    same("inputs that gave no document", [(os.fsencode(i["input"]), i["records"]) for i in summary["rejected_inputs"]],
         rejected)
    same("what is skipped", summary["skipped_files"], sorted(corpus.skipped, key=os.fsencode))
    d = compare(os.path.join(folder, "out"), packed, read_rejects(os.path.join(folder, "out.rejects.jsonl")))
    same("the summary", [summary[k] for k in ("documents", "tokens", "text_bytes", "rejected", "inputs")],
         [len(packed.documents), d.token_count, packed.text_bytes, len(packed.rejects), len(packed.inputs)])
    check(not [n for n in os.listdir(folder) if ".partial" in n], "left behind: %s" % os.listdir(folder))
    check_bound(folder, args, packed, corpus, r)
    check_runs(folder, args, corpus, r)
    if forms:
        check_cut(r, folder, forms)
    if corpus.stdin is None:
        check_parts(folder, args, packed, r)


def check_bound(folder, args, packed, corpus, r):
    """--max-rejects: as many as there are pass, one less does not."""
    count = len(packed.rejects)
    if count == 0 or r.random() < 0.5:
        return
    code, _, said = run(folder, ["-o", "few", "--max-rejects", str(count - 1), *args], corpus.stdin)
    check(code == 4 and "rejected" in said, "too many rejects: exit code %d: %s" % (code, said))
    check(os.path.exists(os.path.join(folder, "few.rejects.jsonl")), "no rejects beside a run that failed")
    check(not os.path.exists(os.path.join(folder, "few.leat")), "a dataset in spite of too many rejects")
    if corpus.stdin is None:
        code, _, said = run(folder, ["-o", "few", "--resume", "--max-rejects", str(count), *args])
        check(code == 0, "resumed after too many rejects: exit code %d: %s" % (code, said))
        same("bytes after too many rejects", contents(os.path.join(folder, "few")),
             contents(os.path.join(folder, "out")))


def check_runs(folder, args, corpus, r):
    """The same bytes, whatever cannot matter."""
    least = min_memory(folder, [*args, "-o", "never"])
    for threads, memory in ((1, least), (r.randrange(2, 6), least + r.randrange(4)), (3, least + 12), (5, 4096)):
        name = r.choice(["other", "another.name", "a longer name, with blanks"])
        code, _, said = run(folder, ["-o", name, "--force", "--threads", str(threads), "--memory", "%dMi" % memory,
                                     "--max-rejects", "100%", *args], corpus.stdin)
        check(code == 0, "%d threads, %d MiB: exit code %d: %s" % (threads, memory, code, said))
        same("bytes with %d threads, %d MiB" % (threads, memory), contents(os.path.join(folder, name)),
             contents(os.path.join(folder, "out")))


def check_parts(folder, args, packed, r):
    """Parts, one after the other, are the whole."""
    parts = r.randrange(1, 8)
    documents, rejects, inputs = [], [], {}
    for i in range(1, parts + 1):
        name = os.path.join(folder, "part%d" % i)
        code, _, said = run(folder, ["-o", "part%d" % i, "--part", "%d/%d" % (i, parts), "--max-rejects", "100%",
                                     "--threads", str(r.randrange(1, 4)), *args])
        check(code == 0, "part %d of %d: exit code %d: %s" % (i, parts, code, said))
        d = Dataset(name)
        names = d.inputs()
        documents += [(g[0], names[g[1]][0]) + g[2:4] + g[5:] for g in d.documents()]
        for path, size, count, tokens, refused, total in names:
            old = inputs.get(path, (size, 0, 0, 0, 0))
            check(old[0] == size, "size of an input in a part")
            inputs[path] = (size, old[1] + count, old[2] + tokens, old[3] + refused, (old[4] + total) % 2**128)
        rejects += read_rejects(name + ".rejects.jsonl")
    wanted, whole = {}, Dataset(os.path.join(folder, "out"))
    for path, size, count, tokens, refused, total in whole.inputs():
        old = wanted.get(path, (size, 0, 0, 0, 0))
        wanted[path] = (size, old[1] + count, old[2] + tokens, old[3] + refused, (old[4] + total) % 2**128)
    paths = whole.inputs()
    lines = any(n[3] is not None for n in whole.documents())
    same("documents of %d parts" % parts, [d if lines else d[:3] + (None,) + d[4:] for d in documents],
         [(g[0], paths[g[1]][0]) + g[2:4] + g[5:] for g in whole.documents()])
    same("inputs of %d parts" % parts, sorted(inputs.items()), sorted(wanted.items()))
    same("rejects of %d parts" % parts, [r["offset"] for r in rejects], [w[1] for w in packed.rejects])
    check_rejects(rejects, packed.rejects)
    check_merged(folder, args, parts, r)


def arrangement(r):
    out = []
    if r.random() < 0.5:
        out += ["--shuffle", str(r.randrange(100))]
    if r.random() < 0.5:
        out += ["--dedup"]
    if r.random() < 0.3:
        out += ["--split", "valid=0.25,test=0.5"]
    return out


def check_merged(folder, args, parts, r):
    """leat merge makes the whole of the parts, byte by byte; also where it arranges the documents anew."""
    names = ["part%d" % i for i in range(1, parts + 1)]
    paths = [i[:3] for i in Dataset(os.path.join(folder, "out")).inputs()]
    if any(a == b and a[2] == 0 for a, b in zip(paths, paths[1:])):
        return # one that is named twice in a row, without documents: leat merge takes both for halves of one
    for options in ([], arrangement(r)):
        splits = ["", ".valid", ".test"] if "--split" in options else [""]
        code, _, said = run(folder, ["-o", "merged", "--force", *options, *names], command="merge")
        check(code == 0, "merge %s: exit code %d: %s" % (options, code, said))
        if options:
            code, _, said = run(folder, ["-o", "arranged", "--max-rejects", "100%", "--threads", "2", *options, *args])
            check(code == 0, "pack %s: exit code %d: %s" % (options, code, said))
        for split in splits:
            same("bytes of parts merged %s%s" % (options, split), contents(os.path.join(folder, "merged" + split))[:2],
                 contents(os.path.join(folder, ("arranged" if options else "out") + split))[:2])
        if options:
            same("rejects beside %s" % options, contents(os.path.join(folder, "arranged"))[2],
                 contents(os.path.join(folder, "out"))[2])
            check(not [n for n in os.listdir(folder) if ".pa" in n and not n.endswith(".jsonl")],
                  "left behind: %s" % os.listdir(folder))


def check_cut(r, folder, forms):
    """A compressed input that is cut off or broken gives what was readable, the same in every run, and exit code 1."""
    options, form = Options(), r.choice(forms)
    data = line_file(r, options, r.choice([300, 3000, 30000]))
    whole, packed = compress(data, form, r), Packed(options)
    if not data or len(whole) < 20:
        return
    packed.add("cut.jsonl." + form, whole, "jsonl")
    at = r.randrange(1, len(whole))
    broken = whole[:at]
    if r.random() < 0.4:
        broken += bytes([whole[at] ^ 1 << r.randrange(8)]) + whole[at + 1:]
    with open(os.path.join(folder, "cut.jsonl." + form), "wb") as f:
        f.write(broken)
    args, seen = ["-t", "bytes", "--max-rejects", "100%", "--force", "cut.jsonl." + form], None
    for threads, more in ((2, []), (1, ["--memory", "4Gi"]), (3, ["--allow-truncated"])):
        code, _, said = run(folder, ["-o", "cut", "--threads", str(threads), *args, *more])
        if "does not start like" in said: # not even that
            return
        if "in the first record" in said: # nothing is left but records that have no text: a wrong bit, or cut early
            check(len(broken) == len(whole) or packed.rejects and packed.rejects[0][1] == 0,
                  "a first record that is good is refused: " + said)
            return
        told = "cut off or broken" in said
        check(code == (1 if told and "--allow-truncated" not in more else 0), "a broken input: exit code %d: %s" %
              (code, said))
        got = contents(os.path.join(folder, "cut"))
        check(seen in (None, got), "a broken input gives other bytes in another run")
        seen = got
    documents = Dataset(os.path.join(folder, "cut")).documents()
    if told and len(broken) < len(whole): # a wrong bit may give wrong text before a checksum tells
        if documents and documents[-1][2] in [x[1] for x in packed.rejects]:
            documents.pop() # what was cut off a refused record, as {"text": ""} x, may leave a good one
        same("documents of a broken input", [d[:5] for d in documents],
             [d[:5] for d in packed.documents[:len(documents)]])
        rejects = read_rejects(os.path.join(folder, "cut.rejects.jsonl"))
        same("rejects of a broken input, but for the last line", [x["offset"] for x in rejects[:-1]],
             [x[1] for x in packed.rejects[:len(rejects) - 1]] if rejects else [])


def forms_of_build(folder):
    forms = []
    if shutil.which("zstd"):
        forms.append("zst")
    with open(os.path.join(folder, "probe.jsonl.gz"), "wb") as f:
        import gzip
        f.write(gzip.compress(b'{"text": "x"}\n'))
    code, _, said = run(folder, ["-t", "bytes", "-o", "probe", "probe.jsonl.gz"])
    if code == 0:
        forms.append("gz")
    else:
        check("this build cannot read" in said, said)
    return forms


def main():
    os.makedirs(tmp, exist_ok=True)
    forms, failures = forms_of_build(tmp), 0
    print("LEAT_TEST_SEED=%d, %d cases; compressed: %s; hashes %s" %
          (seed, cases, " ".join(forms), "compared" if xxh3 else "not compared: no libxxhash"))
    for case in range(first, first + cases):
        folder = os.path.join(tmp, "case%d" % case)
        os.makedirs(folder)
        try:
            one(random.Random("%d %d" % (seed, case)), folder, forms)
        except Wrong as wrong:
            print("case %d: %s" % (case, wrong))
            failures += 1
            if failures > 5:
                break
            if len(sys.argv) > 5:
                continue
        shutil.rmtree(folder)
    return failures > 0


sys.exit(main())
