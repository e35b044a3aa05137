#!/usr/bin/env python3
"""test_interface.py: interface.txt is what the public headers and the exit codes are (make interface); and nothing is
taken away that a release had (kept/*.tar.xz, make keep-headers): what compiled programs rely on, exported names with
their versions, exit codes, keys of --json with their types. What is taken away, and what is added, is tried with
changed lists."""
import difflib
import json
import pathlib
import re
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
    archives = sorted((HERE / "kept").glob("*.tar.xz"))
    check(archives, "no release is kept")
    for archive in archives:
        subprocess.run([ROOT / "tests/archive.sh", "open", archive, f"{folder}/kept"], check=True)
        kept = pathlib.Path(folder, "kept")
        taken = list(broken(listed(kept / "include", kept / "cli.h"), now))
        for name, path in MAPS.items():
            taken += [f"{name} had {one}" for one in sorted({*exports(kept / name)} - {*exports(path)})]
        taken += keys_taken(json.loads((kept / "schemas.json").read_text(encoding="utf-8")), schemas, "schemas.json")
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

    path = pathlib.Path(folder, "leat.map")
    path.write_text(MAPS["leat.map"].read_text(encoding="utf-8").replace("    leat_version;\n", "") +
                    "LEAT_1.1 {\n    leat_version;\n};\n", encoding="utf-8")
    check({*exports(MAPS["leat.map"])} - {*exports(path)} == {"leat_version; LEAT_1.0"}, "a name of another version")

for old, new, said in (('"rows": {"type": "integer"}', '"row": {"type": "integer"}', "properties has no rows"),
                       ('"rows": {"type": "integer"}', '"rows": {"type": ["null", "integer"]}', "type may be null"),
                       ('"share", "rows"', '"rows"', "may be without share"),
                       ('"rows": {"type": "integer"}', '"rows": {"type": "integer"}, "more": {"type": "null"}', "")):
    text = json.dumps(schemas["definitions"]["given"])
    check(text.count(old) == 1, f"{old} is not in {text}, or more than once")
    found = "; ".join(keys_taken(json.loads(text), json.loads(text.replace(old, new)), "given"))
    check(found.endswith(said) and bool(found) == bool(said), f"{old} to {new}: {found}")
sys.exit(failures > 0)
