#!/usr/bin/env python3
"""test_azure.py: az:// is what s3:// is: inputs of leat pack, also below a prefix, and datasets by URL through the
cache, also when the server has gone, give what files give, through a server that is busy, cuts answers and damages what
it is sent. Test_remote.py has keys and ranges, test_push.py pushing, test_run_pushed.py runs. No key is in a message
or a file."""
import json
import random
import shutil
import subprocess

import checks
from azure_server import ACCOUNT, KEY, AzureServer
from checks import build, check

tiny, leat, probe = build / "tiny" / "leat", build / "leat", build / "cache_probe"
folder = checks.own_folder("azure", tiny, leat, probe, room=True)
PACK = ["pack", "-t", "bytes", "--end", "0", "--progress", "never", "-o"]


def run(server, *words, **more):
    process = checks.begin(server, folder, words, 6, **{"LEAT_CACHE": str(folder / "cache"), **more})
    out, said = process.communicate(timeout=250)
    server.settle()
    said = said.decode()
    check("no key is said", KEY not in said and "sig=" not in said, said)
    return process.returncode, out, said


def same(name, other):
    return (folder / f"{name}.tokens").read_bytes() == (folder / f"{other}.tokens").read_bytes()


def test_pack(server):
    whole = f"az://b@{ACCOUNT}.blob.core.windows.net/c/"
    for number, (url, faults) in enumerate((
        ("az://b/c/", []), (whole, []), ("abfss://b/c/", ["", "503", "reset", "short"]), ("az://b/c/", ["", "much"]),
        ("az://b/c/a.jsonl", ["500", "later"]),
    )):
        server.faults = list(faults)
        words = [url] if url.endswith("/") else [url, "az://b/c/d/b.jsonl"]
        code, _, said = run(server, tiny, *PACK, f"r{number}", *words)
        check(("pack", url, faults), code == 0 and same(f"r{number}", "local"), code, said)
        names = json.loads(run(server, leat, "info", "--json", f"r{number}")[1])["inputs"]
        check("its inputs", [n["path"] for n in names] == [words[0].removesuffix("a.jsonl") + n for n in (
            "a.jsonl", "d/b.jsonl")] or len(words) == 2, names)
    server.faults, server.fault_suffix = ["", "changed"], "c/a.jsonl"
    code, _, said = run(server, tiny, *PACK, "no", "az://b/c/")
    check("a change", code == 1 and "az://b/c/a.jsonl has changed while it was read" in said, code, said)
    server.faults, server.fault_suffix = [], ""
    server.objects["b/c/a.jsonl"] = (folder / "c" / "a.jsonl").read_bytes()
    code, _, said = run(server, tiny, *PACK, "no", "az://none/c/")
    check("no container", code == 1 and "the container does not exist" in said, code, said)
    code, _, said = run(server, tiny, *PACK, "sas", "az://b/c/", AZURE_STORAGE_KEY="",
                        AZURE_STORAGE_SAS_TOKEN=server.sas("rl"))
    check("with a SAS token", code == 0 and same("sas", "local"), code, said)
    check("nothing of it is kept", not any(b"sig=" in p.read_bytes() for p in folder.glob("sas.*")))


def test_push(server):
    server.put_faults = ["", "damaged"]
    code, _, said = run(server, tiny, "push", "local", "az://b/set")
    check("damaged on its way", code == 0 and "b/set.leat" in server.objects and not server.put_faults, code, said)
    check("what it is made of", server.metadata["b/set.tokens"].keys() == {"x-ms-meta-leat_md5"}, server.metadata)
    server.uploads["b/other.tokens"] = {"name": "b/other.tokens", "parts": {"AAAA": b"x"}}
    code, _, said = run(server, tiny, "push", "local", "az://b/other")
    check("blocks of another program", code == 1 and "blocks of another program's upload are in the way" in said, code,
          said)
    code, _, said = run(server, tiny, "push", "local", "az://b/read", AZURE_STORAGE_KEY="",
                        AZURE_STORAGE_SAS_TOKEN=server.sas("rl"))
    check("a token for reading", code == 1 and "the SAS token does not permit this" in said, code, said)
    code, _, said = run(server, tiny, "push", "local", "az://b/read", AZURE_STORAGE_KEY="",
                        AZURE_STORAGE_SAS_TOKEN=server.sas("rlwcd"))
    check("a token for writing", code == 0 and server.objects["b/read.tokens"] == server.objects["b/set.tokens"], said)


def test_cache(server):
    wanted = run(server, probe, "local", "0", "0", "40")[1].splitlines()[:40]
    for faults in ([], ["", "", "503", "short", "reset"]):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        server.faults = list(faults)
        code, out, said = run(server, probe, "az://b/set", "0", "0", "40")
        check(("batches", faults), code == 0 and out.splitlines()[:40] == wanted, code, said)
        code, out, said = run(server, leat, "verify", "az://b/set")
        check("verify", code == 0 and b"nothing is wrong" in out, code, out, said)
    code, out, said = run(server, probe, "az://b/set", "0", "0", "50", "1", "wait")
    copies = [p.read_bytes() for p in (folder / "cache").glob("*/tokens")]
    check("when all is here", code == 0 and copies == [server.objects["b/set.tokens"]], code, said)
    code, out, said = run(server, leat, "info", "az://b/set", AZURE_STORAGE_ENDPOINT=f"http://127.0.0.1:1/{ACCOUNT}")
    check("another server", code == 1, code, out, said)
    code, out, said = run(server, leat, "info", "az://b/", "--json")
    check("a folder of datasets", code == 0 and json.loads(out)["documents"] == 2 * 400, code, out, said)
    server.away = None
    server.go_away()
    words = [leat, "cat", "--document", "7", "az://b/set"]
    process = checks.begin(server, folder, words, 3, LEAT_CACHE=str(folder / "cache"))
    out, said = process.communicate(timeout=250)
    wanted = subprocess.run([leat, "cat", "--document", "7", "local"], cwd=folder, capture_output=True).stdout
    check("without the server", process.returncode == 0 and out == wanted, said)
    server.come_back()
    check("no key is kept", not any(KEY.encode() in p.read_bytes() for p in folder.rglob("*") if p.is_file()))


(folder / "c" / "d").mkdir(parents=True)
chance = random.Random(3)
for name in "a.jsonl", "d/b.jsonl":
    (folder / "c" / name).write_text("".join(json.dumps({"text": text}) + "\n"
                                             for text in checks.texts(chance, 200, 900)))
subprocess.run([tiny, *PACK, "local", "c/a.jsonl", "c/d/b.jsonl"], cwd=folder, check=True, capture_output=True)
objects = {f"b/c/{name}": (folder / "c" / name).read_bytes() for name in ("a.jsonl", "d/b.jsonl")}
with AzureServer({**objects, "b/c/README.md": b"#"}) as server:
    checks.need_libcurl(run(server, leat, "info", "az://b/none")[2])
    checks.run_tests((test_pack, test_push, test_cache), server)
checks.finish(folder)
