#!/usr/bin/env python3
"""test_hub.py: leat pack reads hf:// as it reads files: folders, patterns and names on branches, commits and
refs/convert/parquet, from a server that speaks the Hub's protocol and keeps large files on another one, which must
never see the token; whatever either server does at any request. A run reads the commit that it began with, also when it
is resumed or goes in parts while the branch moves on. python/tests/pack/test_hub.py has the Hub's own client read from
the same server."""
import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import ssl
import subprocess
import time

import azure_server
import checks
from checks import build, check
from hub_server import TOKEN, HubServer, git_oid

here = pathlib.Path(__file__).resolve().parent.parent
leat, dump = build / "tiny" / "leat", build / "dataset_dump"  # ranges of at most 2 KiB
folder = checks.own_folder("hub", leat, dump)
PACK = ["-t", "bytes", "--end", "none", "--max-rejects", "100%"]
ALL = "hf://datasets/org/name/c/"
AGAIN = ["429", "503", "500", "reset", "short", "silent"]  # what is asked for again


def start(hub, *words, program=leat, **more):
    env = {"PATH": os.environ["PATH"], **hub.environment(**{"AWS_MAX_ATTEMPTS": "6", **more})}
    return subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def finish(process):
    out, said = process.communicate(timeout=250)
    said = said.decode() + out.decode()
    check("no token is said", TOKEN not in said and "UNSPEAKABLE" not in said, said)
    return process.returncode, said


def run(hub, *words, **more):
    return finish(start(hub, *words, **more))


def pack(hub, name, *words, **more):
    return run(hub, "pack", *PACK, "--progress", "never", "--force", "-o", name, *words, **more)


def summary(said):
    return json.loads(said[said.index("{"):])


def shown(name, *before):
    """All of a dataset but which commits it is of, and the places of its inputs, of which the last part of the name
    stays."""
    lines = subprocess.run([dump, "show", name], cwd=folder, check=True, capture_output=True).stdout.decode()
    for words in before:
        lines = lines.replace(" " + words.encode().hex(), " ")
    hub_key = "pair " + b"leat.hub".hex()
    return [line for line in lines.split("\n") if not line.startswith(("sizes ", hub_key))]


def tokens(name):
    return (folder / f"{name}.tokens").read_bytes()


def check_same(what, name, result, commit=None):
    code, said = result
    check(what, code == 0 and shown(name, f"hf://datasets/org/name@{commit or first}/c/") == shown("local", "c/"), code,
          said)


def check_refused(what, result, why, code=1):
    check(what, result[0] == code and why in result[1], *result)


# ---- What is read ----

def test_names(hub):
    for words in ([ALL], ["hf://datasets/org/name@main/c/"], [f"hf://datasets/org/name@{first}/c/"],
                  ["hf://datasets/org/name/c/**"], ["hf://datasets/org/name/[a-c]/"], ["hf://datasets/org/name/?/*"],
                  [f"hf://datasets/org/name/c/{n}" for n in names]):
        check_same(f"{words}", "named", pack(hub, "named", *words))
    with open(folder / "list", "w") as f:
        f.write("\n".join(f"hf://datasets/org/name/c/{n}" for n in names))
    check_same("a list", "named", pack(hub, "named", "@list"))
    for hub.moved in (301, 302, 308, 307):
        check_same(f"a repository that has another name now, by {hub.moved}", "named",
                   pack(hub, "named", "hf://datasets/old/name/c/"))
    hub.says_etag, hub.base = False, "/behind/hub"
    check_same("small files without an etag of the Hub, below a path of the endpoint", "named", pack(hub, "named", ALL))
    hub.says_etag, hub.base = True, ""
    for words, count in (("hf://datasets/org/name@refs/convert/parquet/some/train/", 1),
                         ("hf://datasets/org/name@refs%2Fconvert%2Fparquet/some/train/0.jsonl", 1),
                         ("hf://datasets/org/name@a%2Fb/", 1), ("hf://datasets/alone", 2), ("hf://datasets/alone/", 2),
                         ("hf://datasets/alone/x/", 1), ("hf://datasets/alone@main/x/y.jsonl", 1),
                         ("hf://datasets/alone/x/y.jsonl", 1), ("hf://models/org/model/", 1), ("hf://org/model/", 1),
                         ("hf://datasets/org/odd/*/", 1), ("hf://datasets/org/odd/**/*.jsonl", 1)):
        code, said = pack(hub, "named", words, "--json")
        check(words, code == 0 and summary(said)["inputs"] == count, code, said)
    code, said = run(hub, "info", "named", "--json")
    odd = hub.repositories["datasets/org/odd"]["refs"]["main"]
    check("what is recorded", [i["path"] for i in summary(said)["inputs"]] ==
          [f"hf://datasets/org/odd@{odd}/a b/ü%2F?#.jsonl"], said)
    code, said = pack(hub, "named", "hf://datasets/org/odder/", "--json")
    check("odd names", code == 0 and summary(said)["inputs"] == len(ODD), code, said)
    for name in ODD:
        code, said = pack(hub, "named", f"hf://datasets/org/odder/{name}")
        check(f"named {name}", code == 0 and tokens("named") == b"a\0", code, said)
    for words, why in (
            ("hf://datasets/org/name/c", "c does not exist in that revision; if it is a folder, let it end in /"),
            ("hf://datasets/org/name/d/", "d/ does not exist in that revision"),
            ("hf://datasets/org/name/c/a.jsonl/", "a.jsonl/ does not exist in that revision"),
            ("hf://datasets/org/bare", "has no file with a known suffix"),
            ("hf://datasets/org/pointers/x.parquet", "is a pointer of Git LFS in place of the file, and no Parquet"),
            ("hf://datasets/org/pointers/x.jsonl", "is a pointer of Git LFS in place of the file: fetch the file"),
            ("hf://org/name/c/", "; a dataset is hf://datasets/org/name"),
            ("hf://datasets/org/name/c/*.nix", "no file matches hf://datasets/org/name@"),
            ("hf://datasets/org/name@v9/c/", "unknown revision v9 of datasets/org/name; it has main, a/b, "
             "refs/convert/parquet"),
            ("hf://datasets/no/name/c/", "there is no repository datasets/no/name, or it is not public"),
            ("hf://datasets/org/gated/", f"is gated: accept its terms at {hub.url}/datasets/org/gated, then set "
             "HF_TOKEN"),
            ("@hf://datasets/org/name/list", "a list is a file of this machine")):
        check_refused(words, pack(hub, "none", words), why)
    for words in ("https://huggingface.co/datasets/org/name", "https://huggingface.co/datasets/org/name/tree/main/c/",
                  "https://hf.co/datasets/org/name/blob/main/a.txt"):
        check_refused(words, pack(hub, "none", words), "is a page of the Hugging Face Hub, not a file; write hf://", 2)
    for words in ("hf://", "hf://datasets/", "hf://datasets/o?/n", "hf://spaces/o/n/", "hf://datasets/o/n@/x"):
        check_refused(words, pack(hub, "none", words), "hf://", 2)
    check_refused("gated, with a token", pack(hub, "none", "hf://datasets/org/gated/", HF_TOKEN="hf_other"),
                  "must be of that account")
    check_refused("missing, with a token", pack(hub, "none", "hf://datasets/no/name/c/", HF_TOKEN="hf_other"),
                  "or the token (HF_TOKEN, or of `hf auth login`) may not read it")
    check_refused("a wrong token", pack(hub, "none", ALL, HF_TOKEN="hf_wrong"), "the Hub does not accept the token")
    check_refused("offline", pack(hub, "none", ALL, HF_HUB_OFFLINE="1"), "(HF_HUB_OFFLINE)")
    check_refused("a wrong endpoint", pack(hub, "none", ALL, HF_ENDPOINT="hub"), "HF_ENDPOINT must be https://", 2)


def test_splits(hub):
    check_refused("configurations", pack(hub, "none", "hf://datasets/org/card"), "has several configurations, as its "
                  "README.md lists them: en (2 files: ", 2)
    check_refused("a configuration without files", pack(hub, "none", "hf://datasets/org/card/none/"), "does not exist")
    hub.commit("datasets/org/less", {"README.md": CARD.replace(b"en/*", b"none/*"), "fr/a.jsonl": small})
    code, said = pack(hub, "split", "hf://datasets/org/less", "--json")
    check("one configuration has files", code == 0 and summary(said)["inputs"] == 1, code, said)
    code, said = pack(hub, "split", "hf://datasets/org/card/fr/", "--json")
    check("one of them", code == 0 and summary(said)["inputs"] == 1, code, said)
    check_refused("splits", pack(hub, "none", "hf://datasets/org/card/en/"), "do not all belong to one split: train", 2)
    code, said = pack(hub, "split", "hf://datasets/org/card/en/", "--split-of", "test", "--json")
    check("a split", code == 0 and summary(said)["inputs"] == 1, code, said)


def test_token(hub):
    """It goes to the Hub alone, from where the Hub's own client has it."""
    wanted = pack(hub, "public", "hf://datasets/org/name/c/")
    check("public", wanted[0] == 0, *wanted)
    for place in ("token", "home/.cache/huggingface/token", "xdg/huggingface/token"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(f" {TOKEN}\r\n")
    (folder / "empty-token").write_text("\n")
    check_refused("private", pack(hub, "none", "hf://datasets/org/private/c/"), "or it is not public")
    for more in ({"HF_TOKEN_PATH": str(folder / "empty-token")}, {"HF_TOKEN": " \n"}):
        check("white space is no token", pack(hub, "public", "hf://datasets/org/name/c/", **more)[0] == 0)
    for more in ({"HF_TOKEN": TOKEN}, {"HF_TOKEN": f" {TOKEN}\r\n"}, {"HUGGING_FACE_HUB_TOKEN": TOKEN},
                 {"HF_TOKEN_PATH": str(folder / "token")}, {"HF_HOME": str(folder)},
                 {"HF_HOME": "", "XDG_CACHE_HOME": str(folder / "xdg")}, {"HF_HOME": "", "HOME": str(folder / "home")},
                 {"HF_TOKEN_PATH": "~/.cache/huggingface/token", "HOME": str(folder / "home")}):
        hub.requests.clear()
        code, said = pack(hub, "private", "hf://datasets/org/private/c/", **more)
        check(f"private, with {list(more)}", code == 0 and tokens("private") == tokens("local"), code, said)
        check("the token is in each request of the Hub", len(hub.requests) > 9 and
              all(sent.get("Authorization") == f"Bearer {TOKEN}" for _, _, sent in hub.requests))
    check("it is in no other", not hub.storage.tokens_seen and len(hub.storage.requests) > 9)
    string = (f"DefaultEndpointsProtocol=http;AccountName={azure_server.ACCOUNT};AccountKey={azure_server.KEY};"
              "BlobEndpoint=")
    with azure_server.AzureServer({"b/x.jsonl": small}) as azure:
        code, said = pack(hub, "both", "az://b/x.jsonl", "hf://datasets/org/private/c/", HF_TOKEN=TOKEN,
                          AZURE_STORAGE_CONNECTION_STRING=string + azure.url)
    check("beside a connection string of Azure", code == 0 and tokens("both") == b"a\0" + tokens("local"), code, said)
    check("private, renamed", pack(hub, "private", "hf://datasets/old/private/c/", HF_TOKEN=TOKEN)[0] == 0)


def test_dataset(hub):
    """A dataset on the Hub, by its URL; where it lies, the Hub's servers have etags of their own."""
    files = {f"d/one.{suffix}": (folder / f"one.{suffix}").read_bytes() for suffix in ("leat", "tokens")}
    hub.commit("datasets/org/made", files)
    there = [run(hub, "cat", "--tokens", "9:500", name, LEAT_CACHE=str(folder / "cache"))
             for name in ("one", "hf://datasets/org/made/d/one")]
    check("a dataset on the Hub", there[0][0] == 0 and there[0] == there[1], *there)
    for revision in ("a/b", "refs/pr/1"):
        hub.commit("datasets/org/made", {f"e/{revision}/{n[2:]}": b for n, b in files.items()}, revision)
        name = f"hf://datasets/org/made@{revision.replace('a/', 'a%2F')}/e/{revision}/one"
        other = run(hub, "cat", "--tokens", "9:500", name, LEAT_CACHE=str(folder / "cache"))
        check(f"one at {revision}", other == there[0], *other)
    code, said = run(hub, "pull", "hf://datasets/org/made/d/one", "pulled")
    check("a copy of it", code == 0 and tokens("pulled") == tokens("one"), code, said)
    check_refused("pushing without Python", run(hub, "push", "one", "hf://datasets/org/made/x", LEAT_PYTHON="/none"),
                  "is done by leat's Python package", 2)


def test_requests(hub):
    """The address that the Hub gives for a file is kept for all its ranges, until it is refused: then each of the 8
    that are under way asks anew once, and what begins in its place before there is an answer: at most 17 with the
    first."""
    hub.requests.clear(), hub.storage.requests.clear()
    code, said = pack(hub, "few", "hf://datasets/org/name/c/a.jsonl", "--threads", "1")
    asked = [path for _, path, _ in hub.requests if "/resolve/" in path]
    check("requests of one file", code == 0 and len(asked) == 1 and len(hub.storage.requests) > 30, len(asked),
          len(hub.storage.requests))

    def expire():
        hub.storage.now_serving += 1
    for at in (1, 9, 25):
        hub.requests.clear()
        hub.storage.events = [("", at, expire)]
        code, said = pack(hub, "few", "hf://datasets/org/name/c/a.jsonl", "--threads", "1")
        asked = [path for _, path, _ in hub.requests if "/resolve/" in path]
        check("an address that expires", code == 0 and not hub.storage.events and 2 <= len(asked) < 20 and
              tokens("few") == tokens("one"), code, said, len(asked))


# ---- A branch that moves on ----

def test_moving(hub):
    for part in ("/tree/", "/resolve/"):
        hub.events = [(part, 1, lambda: hub.commit("datasets/org/name", {"c/a.jsonl": small}))]
        check_same(f"a branch moves at {part}", "moving", pack(hub, "moving", ALL))
        check("it has moved", not hub.events)
        hub.repositories["datasets/org/name"]["refs"]["main"] = first


def test_resume(hub):
    """Storage falls silent in the middle; all before is packed. The branch moves on before the run does."""
    for more in ([], ["--shuffle", "7"]):
        whole, out = f"whole{len(more)}", f"resumed{len(more)}"
        code, said = pack(hub, whole, *more, "hf://datasets/org/name/c/a.jsonl")
        hub.storage.events = [("", 40, lambda: hub.storage.faults.extend(["silent"] * 10000))]
        words = ["pack", *PACK, "-o", out, "hf://datasets/org/name/c/a.jsonl", "--threads", "2", *more]
        process = start(hub, *words, AWS_MAX_ATTEMPTS="1000")
        while process.poll() is None and not hub.storage.faults:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT if more else signal.SIGTERM)
        code, said = finish(process)
        hub.storage.faults.clear()
        check("stopped", code == (130 if more else 5) and not (folder / f"{out}.leat").exists(), code, said)
        hub.commit("datasets/org/name", {"c/a.jsonl": small})
        described = next(folder.glob(f"{out}.partial*/*.run" if more else f"{out}.partial.run"))
        right = described.read_text()
        for wrong in ("nonsense", "https://x/y", ALL):  # as if somebody had written into it
            described.write_text(right.replace(f"hf://datasets/org/name@{first}\n", wrong + "\n"))
            code, said = run(hub, *words, "--resume")
            check(f"pinned to {wrong}", code == 1 and ("other inputs or options" in said or "differs" in said), code,
                  said)
        described.write_text(right)
        hub.requests.clear()
        code, said = run(hub, *words, "--resume")
        check(f"it goes on with its commit {more}", code == 0 and tokens(out) == tokens(whole), code, said)
        check("and asks for no other", not any("/revision/" in path for _, path, _ in hub.requests))
        hub.repositories["datasets/org/name"]["refs"]["main"] = first


def test_parts(hub):
    code, said = run(hub, "pack", *PACK, "--run", "run", "--parts", "3", ALL)
    check("a run's plan", code == 0, code, said)
    hub.commit("datasets/org/name", {"c/a.jsonl": small})
    hub.events = [("/resolve/", 3, lambda: hub.commit("datasets/org/name", {"c/d.jsonl": small}))]
    for part, process in [(part, start(hub, "pack", "--run", "run", "--part", part)) for part in "213"]:  # at once
        code, said = finish(process)
        check(f"part {part} of a run", code == 0, code, said)
    check("the branch has moved again", not hub.events)
    hub.repositories["datasets/org/name"]["refs"]["main"] = first
    check_same("a run's parts", "merged", run(hub, "merge", "run", "-o", "merged"))
    # a table is divided by its row groups, of which each part fetches its own, beside the footer and the first bytes
    table, fetched = below["c/many.parquet"], []
    footer = len(table) - 8 - int.from_bytes(table[-8:-4], "little")
    for part in ("1/3", "2/3", "3/3", "1/1"):
        hub.storage.requests.clear()
        code, said = pack(hub, f"table.{part.replace('/', '-')}", "--part", part,
                          f"hf://datasets/org/name@{first}/c/many.parquet")
        ranges = [[int(n) for n in sent["Range"][6:].split("-")] for _, _, sent in hub.storage.requests]
        fetched.append({n for begin, last in ranges if begin > 0 and last < footer for n in range(begin, last + 1)})
        check(f"part {part} of a table", code == 0, code, said)
    *parts, whole = fetched
    check("row groups by parts", all(parts) and whole == set.union(*parts) and
          sum(map(len, parts)) < 1.05 * len(whole), [len(p) for p in fetched])
    check("the whole table", len(whole) < 0.9 * footer, len(whole), footer)  # of other columns nothing
    code, said = run(hub, "merge", "table.1-3", "table.2-3", "table.3-3", "-o", "table")
    check("parts of a table", code == 0 and tokens("table") == tokens("many"), code, said)


def test_parts_alone(hub):
    """Without a folder each part asks for the branch itself; parts of different commits are not merged."""
    def part(n, words, **more):
        code, said = pack(hub, f"alone.{n}", "--part", f"{n}/3", words, **more)
        check(f"part {n} alone", code == 0, code, said)
    part(1, ALL), part(2, ALL)
    second = hub.commit("datasets/org/name", {**below, "c/d.jsonl": small * 2})
    part(3, ALL)
    parts = ["alone.3", "alone.1", "alone.2"]  # in any order
    code, said = run(hub, "merge", *parts, "-o", "none")
    check("parts of two commits", code == 1 and f"alone.2 was packed from hf://datasets/org/name@{first}, and alone.3 "
          f"from hf://datasets/org/name@{second}" in said and not (folder / "none.leat").exists(), code, said)
    check("two of them", run(hub, "merge", "alone.1", "alone.2", "-o", "two")[0] == 0)
    check_refused("the third after them", run(hub, "merge", "two", "alone.3", "-o", "none"), "must read one commit")
    part(3, f"hf://datasets/org/name@{first}/c/")
    check_same("again, of the commit of the others", "merged", run(hub, "merge", *parts, "-o", "merged", "--force"))
    check_same("again, with two that were merged", "merged", run(hub, "merge", "two", "alone.3", "-o", "merged",
                                                                 "--force"))
    for n in (1, 2, 3):
        part(n, ALL)
    whole = pack(hub, "whole", ALL)
    code, said = run(hub, "merge", *parts, "-o", "merged", "--force")
    check("parts are the whole run, byte by byte", whole[0] == 0 and code == 0 and
          (folder / "merged.leat").read_bytes() == (folder / "whole.leat").read_bytes(), *whole, code, said)
    words = [f"hf://datasets/org/name@{first}/c/", ALL]  # two commits, on purpose
    for n in (1, 2):
        code, said = pack(hub, f"both.{n}", "--part", f"{n}/2", *words)
        check(f"part {n} of two commits", code == 0, code, said)
    check("the same two in all parts", run(hub, "merge", "both.1", "both.2", "-o", "on-purpose")[0] == 0)
    hub.repositories["datasets/org/name"]["refs"]["main"] = first


def test_finished(hub):
    """A run that has come to its end stays finished when the branch moves on; --force packs anew."""
    for name, more in (("plain", []), ("mixed", ["--shuffle", "7"]), ("some", ["--split", "few=0.1"]),
                       ("ids", ["--by", "id", "--keep", 'id < "11"']), ("third", ["--part", "1/3"])):
        words = [*more, "hf://datasets/org/name/c/a.jsonl"]
        code, said = pack(hub, name, *words)
        made = {p.name: p.read_bytes() for p in folder.glob(f"{name}.*")}
        check(f"made: {name}", code == 0 and made, code, said)
        hub.commit("datasets/org/name", {"c/a.jsonl": lines + small})
        hub.requests.clear()
        code, said = run(hub, "pack", *PACK, "-o", name, *words, "--resume", "--json")
        check(f"finished: {name}", code == 0 and summary(said)["was_finished"] and
              made == {p.name: p.read_bytes() for p in folder.glob(f"{name}.*")}, code, said)
        check("it asks for no other commit", not any("/revision/" in path for _, path, _ in hub.requests))
        code, said = run(hub, "pack", *PACK, "-o", name, *words)
        check(f"without --resume: {name}", code == 1 and "--force" in said, code, said)
        code, said = run(hub, "pack", *PACK, "-o", name, *words, "--resume", "--force", "--json")
        check(f"with --force: {name}", code == 0 and not summary(said)["was_finished"] and
              made != {p.name: p.read_bytes() for p in folder.glob(f"{name}.*")}, code, said)
        hub.repositories["datasets/org/name"]["refs"]["main"] = first
    # killed after it had packed, and before it had shuffled
    (folder / "killed.partial.packed").mkdir()
    pack(hub, "killed.partial.packed/all", "hf://datasets/org/name/c/a.jsonl")
    pack(hub, "mixed", "--shuffle", "7", "hf://datasets/org/name/c/a.jsonl")
    hub.commit("datasets/org/name", {"c/a.jsonl": small})
    code, said = run(hub, "pack", *PACK, "-o", "killed", "--shuffle", "7", "hf://datasets/org/name/c/a.jsonl",
                     "--resume")
    check("what was packed is shuffled", code == 0 and tokens("killed") == tokens("mixed"), code, said)
    hub.repositories["datasets/org/name"]["refs"]["main"] = first


# ---- Servers that misbehave ----

def test_faults(hub):
    """Each request of a run once, with each fault; few would do to see whether any is asked for again."""
    words = ["hf://datasets/org/few/", "--threads", "1"]
    hub.requests.clear(), hub.storage.requests.clear()
    pack(hub, "few", *words)
    wanted = tokens("few")
    for server, counted in ((hub, len(hub.requests)), (hub.storage, len(hub.storage.requests))):
        for at in range(counted):
            for fault in AGAIN:
                if fault == "silent" and at % 5 != 0:
                    continue  # each takes a second
                server.faults = [""] * at + [fault]
                code, said = pack(hub, "fault", *words)
                check(f"{fault} at request {at}", code == 0 and tokens("fault") == wanted and not server.faults, code,
                      said)
            for fault, why in (("denied", "denies access"), ("loop", "too many redirects")):
                server.faults = [""] * at + [fault] * 300  # for all that is under way
                code, said = pack(hub, "none", *words)
                check(f"{fault} at request {at}", code == 1 and why in said, code, said)
            server.faults = []
    for said in ("later", "429"):  # by Retry-After, and by RateLimit
        hub.faults, began = [said], time.monotonic()
        check(said, pack(hub, "fault", *words)[0] == 0 and time.monotonic() - began >= 1)
    hub.faults, hub.fault_part = ["other"], "/resolve/"
    check_refused("another file", pack(hub, "none", *words), "has changed while it was read")
    hub.fault_part = ""
    one = "hf://datasets/org/name/c/a.jsonl"
    for part, *waits in (("", "pack", *PACK, "-o", "none", ALL), ("", "encode", "-t", "org/tok", "c/d.jsonl"),
                         ("", "pack", "-o", "none", "-t", "org/tok", "c/d.jsonl"),
                         ("", "pack", "--run", "limited", "--parts", "2", "-t", "org/tok", "c/d.jsonl"),
                         ("/resolve/", "pack", *PACK, "-o", "none", one)):
        hub.fault_part, hub.faults = part, ["much later"]  # it is said, and Ctrl-C need not wait for it
        process = start(hub, *waits, program=build / "leat")
        line = process.stderr.readline().decode()
        check(f"says that the Hub says to wait: {waits[0]}", "429, too many requests; waiting 29" in line, line)
        process.send_signal(signal.SIGINT)
        code, said = finish(process)
        check(f"stopped while the Hub says to wait: {waits[0]}", code in (130, -signal.SIGINT), code, said)
    hub.fault_part = ""
    hub.faults = ["429"] * 99
    check_refused("no end of 429", pack(hub, "none", *words, AWS_MAX_ATTEMPTS="2"), "the server answered 429, 2 times")
    hub.faults, hub.fault_part = [], ""


def test_answers(hub):
    """Answers that the Hub's API does not have."""
    entry = {"type": "file", "oid": "0" * 40, "size": 3, "path": "c/x.jsonl"}
    for what in (b"", b"{}", b"[", b"[1]", b"[{}]", b'"', b"\xff", [{**entry, "size": -1}], [{**entry, "size": "3"}],
                 [{**entry, "size": 10**19}], [{**entry, "path": "d/x"}], [{**entry, "path": "c"}],
                 [{**entry, "path": "c/\0.jsonl"}], [{**entry, "path": "c/" + "x" * 5000}], [{**entry, "path": None}]):
        hub.broken = what if isinstance(what, bytes) else json.dumps(what).encode()
        hub.faults, hub.fault_part = ["broken"] * 9, "/tree/"
        check_refused(f"a tree {what!r:.60}", pack(hub, "none", ALL), "is not what its API says")
    for what in (b"", b"[]", b"{}", {"sha": first}, {"id": "org/name", "sha": "main"}, {"id": "o?/n", "sha": first}):
        hub.broken = what if isinstance(what, bytes) else json.dumps(what).encode()
        hub.faults, hub.fault_part = ["broken"] * 9, "/revision/"
        code, said = pack(hub, "none", ALL)
        check(f"a revision {what!r:.60}", code in (1, 2) and "hf://" in said, code, said)
    hub.faults, hub.fault_part, hub.repeats = [], "", True
    check_refused("a tree without an end", pack(hub, "none", ALL), "list has no end: it names an object twice")
    hub.repeats = False
    check_refused("a large tree", pack(hub, "none", ALL, LEAT_MAX_LISTED="3"), "the server lists more than 3 objects; ")


# ---- Tokenizers ----

def test_tokenizer(hub):
    """-t ORG/NAME, at a revision or not: once from the Hub, then from the cache; python/tests/pack/test_hub.py has the
    Hub's own client use that cache."""
    home = folder / "hf"
    more = {"HF_HOME": str(home)}
    files = {"tokenizer.json": TOKENIZER, "tokenizer_config.json": b'{"eos_token":"</s>"}', "vocab.json": b"{}",
             "merges.txt": b"", "model.safetensors": bytes(9999), "in/tokenizer.json": b"no"}
    first = hub.commit("models/org/tok", files)
    hub.commit("models/org/tok", {**files, "tokenizer.json": b"broken"}, "dev")

    def opened(spec, **changed):
        return run(hub, "encode", "-t", spec, "c/d.jsonl", **{**more, **changed})
    hub.says_etag = False
    code, said = opened("org/tok")
    check("fetched", code == 0, code, said)
    hub.says_etag = True
    asked = [path.rpartition("/")[2] for _, path, _ in hub.requests if "/models/org/tok" in path or "/org/tok/" in path]
    snapshot = home / "hub/models--org--tok/snapshots" / first
    check("what is fetched", sorted(p.name for p in snapshot.iterdir()) ==
          ["merges.txt", "tokenizer.json", "tokenizer_config.json"] and "model.safetensors" not in asked, asked)
    check("as the client keeps it", os.readlink(snapshot / "tokenizer_config.json") ==
          "../../blobs/" + git_oid(files["tokenizer_config.json"]) and
          (snapshot / "tokenizer.json").read_bytes() == TOKENIZER and
          (home / "hub/models--org--tok/refs/main").read_text() == first)
    check("nothing else is left", all(len(p.name) in (40, 64) for p in (home / "hub/models--org--tok/blobs").iterdir()))
    hub.requests.clear()
    check("from the cache", opened("org/tok")[0] == 0 and opened("org/tok@" + first)[0] == 0 and not hub.requests)
    code, said = opened("org/tok@dev")
    check("another revision", code == 1 and "broken" not in said and "tokenizer.json" in said and
          any("/revision/dev" in path for _, path, _ in hub.requests), code, said)
    (snapshot / "tokenizer.json").unlink()
    check("what is missing in the cache is fetched", opened("org/tok")[0] == 0 and len(hub.requests) > 2)
    hub.commit("models/org/none", {"README.md": b"", "in/tokenizer.json": TOKENIZER})
    hub.commit("models/org/shut", files)
    hub.gated.add("models/org/shut")
    hub.commit("models/org/secret", files)
    hub.private.add("models/org/secret")
    hub.renamed["old/tok"] = "org/tok"
    check_refused("private", opened("org/secret"), "set HF_TOKEN to a token that may read it")
    check("private, with a token", opened("org/secret", HF_TOKEN=TOKEN)[0] == 0)
    check("of another name now", opened("old/tok")[0] == 0 and (home / "hub/models--old--tok/refs/main").exists())
    for spec, why in (("org/none", "has no file that says what its tokenizer is"),
                      ("org/shut", f"accept its terms at {hub.url}/org/shut"),
                      ("no/tok", "not a file or folder; and the "),
                      ("no/tok", "there is no repository models/no/tok"),
                      ("org/tok@v9", "unknown revision v9 of models/org/tok")):
        check_refused(spec, opened(spec), why)
    check_refused("offline", opened("org/other", HF_HUB_OFFLINE="1"), "(HF_HUB_OFFLINE)")
    check("offline, from the cache", opened("org/tok", HF_HUB_OFFLINE="1")[0] == 0)
    hub.requests.clear()
    check_refused("no model's name", opened("org/tok/x"), "not a file or folder")
    check_refused("the name of a file", opened("org/tok.json"), "no such file")
    check("nobody is asked for these", not hub.requests, hub.requests)
    for at in range(9):
        shutil.rmtree(home)
        hub.faults = [""] * at + [AGAIN[at % 5]]
        check(f"{AGAIN[at % 5]} at request {at}", opened("org/tok")[0] == 0)
    shutil.rmtree(home)
    hub.faults, hub.fault_part = ["denied"] * 99, "/resolve/"
    check_refused("denied", opened("org/tok"), "denies access")
    hub.faults, hub.fault_part = [], ""
    check("then", opened("org/tok")[0] == 0)
    shutil.rmtree(home)
    hub.storage.faults = ["", "damaged"]
    check_refused("other bytes than the sum", opened("org/tok"), "the bytes are not those that the Hub has a sum of")
    check("nothing of them is kept", opened("org/tok")[0] == 0)
    home.chmod(0o777)
    shutil.rmtree(home)
    home.write_bytes(b"")
    check_refused("no room for a cache", opened("org/tok"), "of the Hugging Face cache")


def test_certificates(hub):
    """Authorities that the system does not know, as of a company's proxy, are in the files of other tools' variables;
    AWS's own count for s3:// alone."""
    key, certificate = folder / "key", folder / "certificate"
    if not shutil.which("openssl"):
        return
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                    certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure = HubServer()
    secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
    secure.url = secure.url.replace("http:", "https:")
    with secure:
        secure.commit("datasets/org/name", {"a.jsonl": small})
        for names, right, bucket in (((), False, False), (("SSL_CERT_FILE",), True, True),
                                     (("REQUESTS_CA_BUNDLE",), True, True), (("CURL_CA_BUNDLE",), True, True),
                                     (("AWS_CA_BUNDLE",), False, True)):
            more = {name: str(certificate) for name in names}
            code, said = pack(secure, "secure", "hf://datasets/org/name/", **more)
            check(f"by {names}", code == 0 if right else code == 1 and "let SSL_CERT_FILE name a file of them" in said,
                  code, said)
            code, said = pack(secure, "secure", "s3://org/name.jsonl", AWS_ENDPOINT_URL=secure.url,
                              AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", **more)
            check(f"s3:// by {names}", code == 1 and ("does not exist" in said) == bucket, code, said)
    key.unlink()


(folder / "c").mkdir()
words = random.Random(1)
text = ["t" + "".join(words.choices("abcdefgh ü\n", k=words.randrange(1500))) for _ in range(120)]
lines = "".join(json.dumps({"text": t, "id": str(i)}) + "\n" for i, t in enumerate(text)).encode()
small = b'{"text":"a"}\n'
(folder / "c/a.jsonl").write_bytes(lines)
(folder / "c/b.jsonl.gz").write_bytes(gzip.compress(lines, 1))
(folder / "c/c.txt").write_text(text[0] * 9)
(folder / "c/d.jsonl").write_bytes(small)
(folder / "c/empty.jsonl").write_bytes(b"")
(folder / "c/array.json").write_text(json.dumps([{"text": t} for t in text[:20]], indent=1))
shutil.copy(here / "parquet/files/many.parquet", folder / "c/many.parquet")
names = sorted(p.name for p in (folder / "c").iterdir())
below = {f"c/{n}": (folder / "c" / n).read_bytes() for n in names}
VOCABULARY = {**{chr(c): c - 33 for c in range(33, 127)}, **{chr(c): c - 67 for c in range(161, 673)}, "</s>": 9999}
TOKENIZER = json.dumps({
    "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
    "added_tokens": [{"id": 9999, "content": "</s>", "single_word": False, "lstrip": False, "rstrip": False,
                      "normalized": False, "special": True}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "model": {"type": "BPE", "vocab": VOCABULARY, "merges": []}}).encode()
ODD = ["a+b.jsonl", "c d.jsonl", "e%41.jsonl", "f#g.jsonl", "h&i=j'.jsonl", "ü/é.jsonl", "k;l,m@n$.jsonl",
       "o~(p)!.jsonl"]
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
CARD = (b"---\nconfigs:\n- config_name: en\n  data_files: en/*\n- config_name: fr\n  data_files: fr/*\n---\n")
with HubServer() as hub:
    first = hub.commit("datasets/org/name", {**below, ".gitattributes": b"x", "c/.hidden/x.jsonl": small})
    hub.commit("datasets/org/name", {"a.jsonl": small}, "a/b")
    hub.commit("datasets/org/name", {"some/train/0.jsonl": small, "some/test/0.jsonl": small}, "refs/convert/parquet")
    hub.commit("datasets/org/private", below)
    hub.commit("datasets/alone", {"x/y.jsonl": small, "z.jsonl": small})
    hub.commit("models/org/model", {"x.jsonl": small})
    hub.commit("datasets/org/odd", {"a b/ü%2F?#.jsonl": small})
    hub.commit("datasets/org/odder", {name: small for name in ODD})
    hub.commit("datasets/org/bare", {"README.md": b"# Nothing", ".gitattributes": b""})
    hub.commit("datasets/org/pointers", {"x.parquet": POINTER, "x.jsonl": POINTER})
    hub.commit("datasets/org/gated", {"x.jsonl": small})
    hub.commit("datasets/org/few", {"a.jsonl": lines[:lines.index(b"\n", 3000) + 1], "b.jsonl": small})
    hub.commit("datasets/org/card", {"README.md": CARD, "fr/a.jsonl": small, "en/train.jsonl": small,
                                     "en/test.jsonl": small})
    hub.private, hub.gated = {"datasets/org/private"}, {"datasets/org/gated"}
    hub.renamed = {"datasets/old/name": "datasets/org/name", "datasets/old/private": "datasets/org/private"}
    code, said = pack(hub, "local", "c")
    pack(hub, "one", "c/a.jsonl")
    pack(hub, "many", "c/many.parquet")
    check("files", code == 0, code, said)
    checks.need_libcurl(pack(hub, "none", "hf://datasets/no/thing/")[1])
    checks.run_tests((test_names, test_splits, test_token, test_dataset, test_requests, test_moving, test_resume,
                      test_parts, test_parts_alone, test_finished, test_faults, test_answers, test_tokenizer,
                      test_certificates), hub)
    check("no token went astray", not hub.storage.tokens_seen, hub.storage.tokens_seen)
for path in folder.rglob("*"):
    written = path.read_bytes() if path.is_file() and path.name != "token" else b""
    check(f"no token in {path.name}", TOKEN.encode() not in written and b"UNSPEAKABLE" not in written)
checks.finish(folder)
