"""measured.py: what the scripts here share: corpora and vocabularies, datasets to load, CPU time and memory of a
process with all its children, the facts of the machine, tables, and what is kept as JSON for `leat-bench report`."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPORA = os.environ.get("LEAT_CORPORA", os.path.join(ROOT, "..", "shared", "corpora"))
VOCAB = os.environ.get("LEAT_VOCAB", os.path.join(ROOT, "..", "shared", "vocab"))
TEXTS = ("english", "multi", "code")  # of the corpora
TICK = os.sysconf("SC_CLK_TCK")
# packages are compiled once, as usual, not at each start that is measured
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def unpacked(folder, path):
    """The file without zstd; None where it is not there."""
    if not shutil.which("zstd"):
        skip("no command zstd")
    if not os.path.exists(path):
        return None
    to = os.path.join(folder, os.path.basename(path).removesuffix(".zst"))
    if not os.path.exists(to):
        subprocess.run(["zstd", "-dqf", path, "-o", to], check=True)
    return to


def corpus(name):
    return os.path.join(CORPORA, f"large_{name}.jsonl.zst")


def texts_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def head(path, out, limit, wanted=lambda text: True):
    """The first lines of a corpus that hold wanted texts, `limit` bytes of text and a little more; returns how much."""
    size = 0
    with open(path, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as to:
        for line in lines:
            if size >= limit:
                break
            text = json.loads(line)["text"]
            if wanted(text):
                size += len(text.encode())
                to.write(line)
    return size


def number(text):
    """10, 5K, 100M or 1G."""
    return int(float(text[:-1]) * {"K": 1e3, "M": 1e6, "G": 1e9}[text[-1]]) if text[-1] in "KMG" else int(text)


def counting(leat_bench, folder, tokens):
    """A dataset of counting tokens."""
    name = os.path.join(folder, "counting")
    subprocess.run([leat_bench + "-dev", "counting", "-o", name, "--tokens", str(tokens)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return name


def spread(values, digits=0):
    return "%.*f (%.*f to %.*f)" % (digits, statistics.median(values), digits, min(values), digits, max(values))


def processes(pid):
    """A process and all below it."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split():
                found += processes(int(child))
    except OSError:  # it ended meanwhile
        pass
    return found


def cpu_seconds(pid):
    """Of the process and all below it, those included that have ended and were waited for."""
    total = 0
    for one in processes(pid):
        try:
            fields = pathlib.Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15]))
        except OSError:
            pass
    return total / TICK


def memory_mib(pid):
    """Of the process and all below it, what they share counted once, without mapped files."""
    total = 0
    for one in processes(pid):
        try:
            lines = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
        except OSError:
            pass
    return total / 1024


def machine(leat_bench, name):
    """As leat-bench prints it, of a dataset that is there."""
    done = subprocess.run([leat_bench, "load", "--source", name, "--seq-len", "16", "--batch", "1", "--steps", "1",
                           "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["machine"]


def medians(rounds, keys, instead=()):
    """Of each figure over the rounds, or what `instead` names for it; words (why something is missing) as they are."""
    of = dict(instead)
    row = {key: of.get(key, statistics.median)([x[key] for x in rounds if key in x])
           for key in keys if any(key in x for x in rounds)}
    return {**row, **{key: value for x in rounds for key, value in x.items() if key in ("not_measured", "no_resume")}}


def table(rows, columns):
    """Rows with a name, and columns of (title, key, format)."""
    wide = [max(len(title) + 2, 9) for title, _, _ in columns]
    print(f"{'':34}" + "".join(f"{title:>{w}}" for (title, _, _), w in zip(columns, wide)))
    for row in rows:
        if "not_measured" in row:
            print(f"{row['name']:34}  cannot run: {row['not_measured']}")
            continue
        cells = "".join(f"{row[key]:{w}{form}}" if key in row else f"{'-':>{w}}"
                        for (_, key, form), w in zip(columns, wide))
        print(f"{row['name']:34}{cells}" + (f"  no resume: {row['no_resume']}" if "no_resume" in row else ""))


def say(o, result, columns):
    """As a table or JSON; --keep: as JSON in a file, too."""
    text = json.dumps(result)
    if o.keep:
        pathlib.Path(o.keep).write_text(text + "\n", encoding="utf-8")
    if o.json:
        print(text)
    else:
        table(result["peers"], columns)


def names(known, only):
    return [name for name in known if not only or any(name.startswith(word) for word in only)]


def add_options(parser):
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", metavar="FILE", help="the figures as JSON, for leat-bench report")
    parser.add_argument("--only", action="append", help="those whose name begins so; several times for several")
