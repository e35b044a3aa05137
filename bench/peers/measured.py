"""measured.py: what loaders.py and packers.py share: CPU time and memory of a process with all its children, the facts
of the machine, tables, and what is kept as JSON for `leat-bench report`."""
import json
import os
import pathlib
import statistics
import subprocess

TICK = os.sysconf("SC_CLK_TCK")


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
    """Of the process and all below it, also of those that have ended and were waited for."""
    total = 0
    for one in processes(pid):
        try:
            fields = pathlib.Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15]))
        except OSError:
            pass
    return total / TICK


def memory_mib(pid):
    """Of the process and all below it, what they share counted once; without mapped files, which are the page cache's.
    """
    total = 0
    for one in processes(pid):
        try:
            lines = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
        except OSError:
            pass
    return total / 1024


def machine(leat_bench):
    """As leat-bench prints it."""
    done = subprocess.run([leat_bench, "order", "--runs", "1", "--draws", "512", "--json"], check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)["machine"]


def medians(rounds, keys):
    """Of each figure over the rounds; words (why something is missing) as they are."""
    row = {key: statistics.median(x[key] for x in rounds if key in x) for key in keys if any(key in x for x in rounds)}
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


def add_options(parser):
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", metavar="FILE", help="the figures as JSON, for leat-bench report")
    parser.add_argument("--only", action="append", help="those whose name begins so; several times for several")
