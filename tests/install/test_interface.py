#!/usr/bin/env python3
"""test_interface.py: interface.txt is what the public headers and the exit codes are (make interface); and nothing is
taken away that a release had, each of which make keep-headers keeps in kept/*.tar.xz: what compiled programs rely on,
exported names with their versions, exit codes, keys of --json with their types."""
import difflib
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from interface import broken, listed

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


def exports(path):
    """A map's names, each with its version."""
    version = None
    for line in path.read_text(encoding="utf-8").splitlines():
        version = line.split()[0] if re.match("[A-Z]", line) else version
        if re.match(" +leat_", line):
            yield f"{line.strip()} {version}"


def keys_taken(old, new, where):
    """What readers of an older schema's values no longer find, or do not expect, in those of the new one."""
    if not isinstance(old, dict):
        old, new = ({kind} if isinstance(kind, str) else {*kind} for kind in (old, new))
        if new - old:
            yield f"{where} may be {', '.join(sorted(new - old))}"
        return
    for key, value in old.items():
        if key == "required" and isinstance(value, list):
            yield from (f"{where} may be without {one}" for one in value if one not in new.get(key, []))
        elif key not in new:
            yield f"{where} has no {key}"
        elif not isinstance(value, bool):
            yield from keys_taken(value, new[key], f"{where}.{key}")


MAPS = {"leat.map": ROOT / "src/leat.map", "leat_pack.map": ROOT / "tokenize_tools/leat_pack.map"}
schemas = json.loads((ROOT / "tests/cli/schemas.json").read_text(encoding="utf-8"))
now = listed(ROOT / "include", ROOT / "tokenize_tools/cli/cli.h")
kept = (HERE / "interface.txt").read_text(encoding="utf-8").splitlines()
check(now == kept, "\n".join(["make interface changes interface.txt:", *difflib.unified_diff(kept, now, n=0)]))
check(len([line for line in now if line.startswith("struct ")]) > 80 and len(now) > 400, "much of the list is missing")

with tempfile.TemporaryDirectory(prefix="leat-interface-") as folder:
    for archive in sorted((HERE / "kept").glob("*.tar.xz")):
        subprocess.run([ROOT / "tests/archive.sh", "open", archive, f"{folder}/kept"], check=True)
        kept = pathlib.Path(folder, "kept")
        taken = list(broken(listed(kept / "include", kept / "cli.h"), now))
        for name, path in MAPS.items():
            taken += [f"{name} had {one}" for one in sorted({*exports(kept / name)} - {*exports(path)})]
        taken += keys_taken(json.loads((kept / "schemas.json").read_text(encoding="utf-8")), schemas, "schemas.json")
        check(not taken, f"{archive.name}: " + "; ".join(taken))
sys.exit(failures > 0)
