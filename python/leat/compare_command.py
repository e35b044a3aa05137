"""compare_command.py: the work of `leat-bench compare`. The command becomes `python -m leat.compare_command SPEC
PATTERN WITH FIELD BYTES RUNS JSON INPUT...`: the tokenizer, its pattern or "", the libraries or "", the field with the
text, how much text at most, how many runs, "json" or "", and the inputs, as for leat.pack()."""
from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import leat
from leat import _encoders
from leat._lazy import need
from leat._own_file import own_file
from leat.import_command import DONE, FAILED, WRONG, Interrupted, catch_interrupts, counted

MOST_INPUT = 4 << 30  # bytes: the inputs are read whole
ALONE = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
# A new process gets this one's sys.path, so that no file of the current folder is taken for a module.
RUN = "import sys\nsys.path[:] = sys.argv[1].split('\\n')\nfrom leat import _encoders\n_encoders.main(*sys.argv[2:])"


class Wrong(Exception):
    """Says why a command line cannot be carried out."""


def say(text):
    print(f"leat-bench: {text}", file=sys.stderr, flush=True)


def programs_of(chosen):
    """Returns the libraries to measure, leat first, and the libraries that are not installed."""
    known = list(_encoders.ENCODERS)
    names = chosen.split(",") if chosen else known
    for name in names:
        if name not in known:
            raise Wrong(f"--with {chosen}: unknown library {leat._leat.show(name)}; there are {', '.join(known[1:])}")
        if chosen and _encoders.version_of(name) is None:
            raise Wrong(f"--with {chosen}: {name} is not installed (pip install {name})")
    there = [name for name in known if name == "leat" or name in names and _encoders.version_of(name)]
    return there, [name for name in names if name not in there]


def _stop_if_large(progress):
    if max(progress.total_bytes, progress.text_bytes) > MOST_INPUT:
        raise Wrong("the inputs have more than 4 GiB, and would all be read: name some of the files, or a part of one")


def write_texts(folder, inputs, field, most, special):
    """Writes the first documents of the inputs, up to `most` bytes, into the folder. Returns how many documents they
    are, their bytes, and how many have been left out because they hold the text of a special token: gigatoken always
    makes that token of it, the others do not."""
    numpy = need("numpy", "leat-bench compare")
    found = re.compile(b"|".join(re.escape(name.encode()) for name in special) or b"(?!)")
    name, ends, left_out = os.path.join(folder, "packed"), [0], 0
    leat.pack(inputs, name, "bytes", text=field, id=None, end=None, progress=_stop_if_large)
    with leat.open(name) as dataset, open(os.path.join(folder, "texts.bin"), "xb", opener=own_file) as file:
        for tokens in dataset.documents:
            text = tokens.astype(numpy.uint8).tobytes()
            if ends[-1] + len(text) > most and len(ends) > 1:
                break
            text = text[:most].decode(errors="ignore").encode()  # If the first document is too long, it is cut.
            if found.search(text):
                left_out += 1
            else:
                file.write(text)
                ends.append(ends[-1] + len(text))
    numpy.save(os.path.join(folder, "ends.npy"), numpy.array(ends[1:], dtype=numpy.int64))
    return len(ends) - 1, ends[-1], left_out


def measure(program, folder, spec, pattern):
    done = subprocess.run([sys.executable, "-c", RUN, "\n".join(sys.path), program, folder, spec, pattern],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **ALONE})
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().split("\n")
        return {"not_measured": leat._leat.show((lines[-1] or f"it ended with {done.returncode}")[:300])}
    return json.loads(done.stdout.splitlines()[-1])


def first_difference(folder, program):
    """Returns the number of the first document whose ids differ from leat's, or None."""
    import numpy
    (ids, ends), (others, other_ends) = ([numpy.load(os.path.join(folder, f"{name}.{what}.npy"))
                                          for what in ("ids", "ends")] for name in ("leat", program))
    if len(ids) == len(others) and (ids == others).all() and (ends == other_ends).all():
        return None
    begin = other_begin = 0
    for i, (end, other_end) in enumerate(zip(ends.tolist(), other_ends.tolist())):
        if ids[begin:end].tolist() != others[other_begin:other_end].tolist():
            return i
        begin, other_begin = end, other_end
    return len(ends)


def compare(programs, folder, spec, pattern, runs, size):
    """Returns a row for each library, leat's first. The libraries take turns."""
    rows = {name: {"name": name, "version": _encoders.version_of(name)} for name in programs}
    rates = {name: [] for name in programs}
    for run in range(runs):
        for name in programs[run % len(programs):] + programs[:run % len(programs)]:
            if "not_measured" not in rows[name]:
                got = measure(name, folder, spec, pattern)
                rows[name].update({key: got[key] for key in got if key == "not_measured"})
                rates[name] += [size / got["seconds"] / 1e6] if "seconds" in got else []
    if "not_measured" in rows["leat"]:
        raise RuntimeError(f"leat cannot encode the text: {rows['leat']['not_measured']}")
    import numpy
    for name in programs:
        if "not_measured" not in rows[name]:
            ids = numpy.load(os.path.join(folder, f"{name}.ids.npy"), mmap_mode="r")
            other = first_difference(folder, name)
            rows[name].update(mb_per_s={"median": statistics.median(rates[name]), "least": min(rates[name]),
                                        "most": max(rates[name])},
                              tokens=len(ids), equal=other is None, **({} if other is None else {"document": other}))
    return list(rows.values())


def print_table(result, missing):
    print(f"{result['bytes'] / 1e6:.1f} MB of text in {counted(result['documents'], 'document')}, "
          f"{result['tokenizer']}; one thread, first pass, {counted(result['runs'], 'run')}")
    if result["left_out"]:
        print(f"left out: {counted(result['left_out'], 'document')} with the text of a special token")
    print(f"{'':22}{'MB/s per thread':>24}{'tokens':>16}")
    first = result["programs"][0]
    for row in result["programs"]:
        name = f"{row['name']} {row['version']}"
        if "not_measured" in row:
            print(f"{name:22}  not measured: {row['not_measured']}")
            continue
        rate = row["mb_per_s"]
        spread = f"{rate['median']:.1f}"
        if result["runs"] > 1:
            spread += f" ({rate['least']:.1f} to {rate['most']:.1f})"
        beside = "" if row is first else f"   leat is {first['mb_per_s']['median'] / rate['median']:.2f} times as fast"
        print(f"{name:22}{spread:>24}{row['tokens']:>16,}{beside}")
    if missing:
        print(f"not installed: {', '.join(missing)}")
    measured = [row for row in result["programs"][1:] if "not_measured" not in row]
    for row in measured:
        if not row["equal"]:
            print(f"{row['name']} has other ids than leat, first in document {row['document']} (from 0).")
    if not measured:
        print("No other library was measured, so no ids were compared.")
    elif all(row["equal"] for row in measured):
        print(f"all {first['tokens']:,} ids are equal.")


def run(spec, pattern, chosen, field, size, runs, as_json, *inputs):
    programs, missing = programs_of(chosen)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = leat.Tokenizer(spec, pattern=pattern or None)
        try:
            tokenizer.save(os.path.join(folder, "tokenizer.json"))
        except (ValueError, NotImplementedError):
            pass  # The libraries that need a tokenizer.json say so.
        documents, count, left_out = write_texts(folder, list(inputs), field, int(size), tokenizer.special_tokens)
        if count == 0:
            raise Wrong("the inputs have no text to encode")
        rows = compare(programs, folder, spec, pattern, int(runs), count)
    result = {"tokenizer": spec, "documents": documents, "bytes": count, "left_out": left_out, "runs": int(runs),
              "programs": rows}
    if as_json:
        print(json.dumps(result))
    else:
        print_table(result, missing)
    return DONE if all(row.get("equal", True) for row in rows) else FAILED


def main():
    catch_interrupts()
    try:
        return run(*sys.argv[1:])
    except Interrupted as stopped:
        return stopped.args[0]
    except (Wrong, ImportError, ValueError) as error:
        say(error)
        return WRONG
    except leat.Error as error:
        say(error._plain)
        return FAILED
    except (OSError, MemoryError, RuntimeError) as error:
        say(error or "out of memory")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
