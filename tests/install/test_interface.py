#!/usr/bin/env python3
"""test_interface.py: interface.txt is what the public headers and the exit codes are (make interface); and from 1.0 on,
nothing is taken away that a program which was compiled with the headers of a release (kept/*.tar.xz) relies on. What
interface.py takes for taking away, and what for adding, is tried with changed headers."""
import difflib
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from interface import broken, listed  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
if struct.calcsize("P") != 8:
    print("skipped: the list is of 64-bit machines")
    sys.exit(77)
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print(what, file=sys.stderr)


now = listed(ROOT / "include", ROOT / "tokenize_tools/cli/cli.h")
kept = (HERE / "interface.txt").read_text(encoding="utf-8").splitlines()
check(now == kept, "\n".join(["make interface changes interface.txt:", *difflib.unified_diff(kept, now, n=0)]))
check(len([line for line in now if line.startswith("struct ")]) > 80 and len(now) > 400, "much of the list is missing")

with tempfile.TemporaryDirectory(prefix="leat-interface-") as folder:
    for archive in sorted((HERE / "kept").glob("*.tar.xz")):
        subprocess.run([ROOT / "tests/archive.sh", "open", archive, f"{folder}/kept"], check=True)
        taken = list(broken(listed(f"{folder}/kept"), now))
        check(not taken, f"{archive.name}: " + "; ".join(taken))

    def changed(file, old, new):
        """What is broken by headers in which a text of a file is another."""
        include = pathlib.Path(folder, "changed")
        shutil.rmtree(include, ignore_errors=True)
        shutil.copytree(ROOT / "include", include)
        text = (include / "leat" / file).read_text(encoding="utf-8")
        check(text.count(old) == 1, f"{file} has no {old!r}, or more than one")
        (include / "leat" / file).write_text(text.replace(old, new), encoding="utf-8")
        return "; ".join(broken(now[:-7], listed(include)))

    for file, old, new, said in (
            ("loader.h", "    uint64_t cursor;  ", "    uint32_t more, cursor; ", "cursor was at 16+8, and is at 20+4"),
            ("loader.h", "    uint64_t cursor;  ", "    uint64_t place; ", "cursor was at 16+8, and is at None"),
            ("error.h", "LEAT_E_BUSY = 25", "LEAT_E_BUSY = 26", "LEAT_E_BUSY was 25, and is 26"),
            ("error.h", "LEAT_E_BUSY = 25", "LEAT_E_ALONE = 25", "LEAT_E_BUSY is gone"),
            ("run.h", "#define LEAT_RUN_PIECE_BYTES 512", "#define LEAT_RUN_PIECE_BYTES 513", "was 512, and is 513"),
            ("error.h", "leat_status_name(enum leat_status", "leat_status_name(uint64_t", "leat_status_name was")):
        found = changed(file, old, new)
        check(said in found, f"{file}, {old} to {new}: {found}")
    for file, old, new in (("loader.h", "    uint64_t cursor;  ", "    uint64_t cursor; /* another comment */ "),
                           ("error.h", "    LEAT_E_BUSY = 25", "    LEAT_E_MORE = 99, LEAT_E_BUSY = 25")):
        check(not changed(file, old, new), f"{file}, {old} to {new}: {changed(file, old, new)}")
sys.exit(failures > 0)
