#!/usr/bin/env python3
"""test_push.py: leat push makes the same two objects in a bucket, of S3 or of Azure, or says why not: through servers
that are busy, answers that are lost, kills, and somebody else who writes the same name. What comes back by leat pull is
the dataset. Damage is not sent, and nothing is replaced unasked."""
import random
import signal
import time

import checks
from azure_server import AzureServer
from checks import Commands, check
from s3_server import S3Server

leat = checks.build / "tiny" / "leat"  # parts of 8 KiB
folder = checks.own_folder("push", leat)
commands = Commands(leat, folder)


def push(server, *words):
    return commands.end(server, commands.begin(server, "push", *words))


def local(name):
    return [(folder / f"{name}.{suffix}").read_bytes() for suffix in ("leat", "tokens")]


def there(server, name):
    return [server.objects.get(f"b/{name}.{suffix}") for suffix in ("leat", "tokens")]


def swept(server):
    """Nothing is left of uploads that came to nothing; Azure sweeps by itself."""
    left, azure = len(server.uploads), server.scheme == "az"
    server.uploads.clear()
    return left == 0 or azure


def check_pushed(what, server, name, result, source="corpus"):
    code, summary, said = result
    check(what, code == 0 and there(server, name) == local(source) and not server.uploads, code, said)
    return summary


def test_folder(server):
    """What ends in / is no name of a dataset: it became the objects dir/.leat and dir/.tokens."""
    for url in ("s3://b/dir/", "s3://b/dir//"):
        code, _, said = push(server, "corpus", url)
        check(url, code == 2 and f"{url} is a folder; choose the name of a dataset in it" in said, code, said)
    check("nothing is there", not [name for name in server.objects if "dir" in name], list(server.objects))


def test_foreign(server):
    """The error about tokens of another tool named a file that nobody would look for, and no way."""
    code, _, said = push(server, "raw:corpus.tokens?dtype=u16", "s3://b/raw")
    check("tokens of another tool", code == 1 and "only leat's own datasets can be pushed" in said, code, said)
    for name, why in (("misspelled", "misspelled.leat"), ("", "the name of the dataset is empty"),
                      ("s3://b/x", "copy it with `leat pull` first")):
        code, _, said = push(server, name, "s3://b/raw")
        check(name, code in (1, 2) and why in said and "only leat's own" not in said, code, said)


def test_whole(server):
    summary = check_pushed("a push", server, "a &+ü/one", push(server, "corpus", "s3://b/a &+ü/one"))
    check("its summary", summary["bytes"] == sum(map(len, local("corpus"))) and summary["kept"] == 0, summary)
    check("index last", [p for _, m, p, _ in server.requests if m in ("PUT", "POST")][-1].find("one.leat") > 0)
    code, _, said = push(server, "corpus", "s3://b/a &+ü/one")
    check("it is there", code == 1 and "one.leat already exists" in said and "--force" in said, code, said)
    check_pushed("replacing it", server, "a &+ü/one", push(server, "other", "s3://b/a &+ü/one", "--force"), "other")
    check_pushed("an empty one", server, "none", push(server, "empty", "s3://b/none"), "empty")
    code, _, said = commands.end(server, commands.begin(server, "pull", "s3://b/a &+ü/one", "back"))
    check("there and back", code == 0 and local("back") == local("other"), code, said)
    for words, why in ((("corpus", "s3://b"), "s3://BUCKET/NAME"), (("corpus", "https://h/x"), "s3://BUCKET/NAME"),
                       (("nowhere", "s3://b/n"), "nowhere.leat")):
        code, _, said = push(server, *words)
        check(words, code in (1, 2) and why in said, code, said)


def test_faults(server):
    for number, faults in enumerate((["503", "", "503"], ["lost", "lost"], ["", "", "", "lost"])):
        server.put_faults = list(faults)
        check_pushed(faults, server, f"f{number}", push(server, "corpus", f"s3://b/f{number}"))
        server.put_faults = list(faults)
        check_pushed(("small", faults), server, f"s{number}", push(server, "small", f"s3://b/s{number}"), "small")
    server.put_faults, server.losses = [], 2
    check_pushed("a completion that nobody heard of", server, "l", push(server, "corpus", "s3://b/l"))
    server.delete_faults = ["denied"]
    code, _, said = push(server, "other", "s3://b/l", "--force")
    check("the old index must stay", code == 1 and "denies access" in said and there(server, "l") == local("corpus"),
          code, said)
    server.delete_faults = ["none"]
    check_pushed("replacing what is not there", server, "g", push(server, "corpus", "s3://b/g", "--force"))
    server.put_faults = ["denied"]
    code, _, said = push(server, "corpus", "s3://b/d")
    check("denied", code == 1 and "denies access" in said and there(server, "d") == [None, None], code, said)
    server.put_faults = []
    for server.fault_suffix in ".leat", ".tokens":
        server.faults = ["denied"]
        code, _, said = push(server, "corpus", "s3://b/d")
        why = f"d{server.fault_suffix}: the server denies access"
        check("what is there is denied", code == 1 and why in said and there(server, "d") == [None, None], code, said)
    server.faults, server.fault_suffix = [], ""
    data = bytearray(local("corpus")[1])
    data[5 * 4096] ^= 1
    (folder / "bad.leat").write_bytes(local("corpus")[0])
    (folder / "bad.tokens").write_bytes(data)
    code, _, said = push(server, "bad", "s3://b/bad")
    check("damage", code == 3 and "page 5 is damaged" in said and there(server, "bad") == [None, None], code, said)
    server.objects["b/bad.tokens"] = local("corpus")[1]  # an interrupted push's
    code, _, said = push(server, "bad", "s3://b/bad")
    check("damage since then", code == 3 and "page 5 is damaged" in said and "b/bad.leat" not in server.objects, said)
    del server.objects["b/bad.tokens"]
    (folder / "bad.leat").write_bytes(local("small")[0])
    (folder / "bad.tokens").write_bytes(b"\0" * len(local("small")[1]))
    code, _, said = push(server, "bad", "s3://b/bad")
    check("damage of a small one", code == 3 and "page 0 is damaged" in said and there(server, "bad") == [None, None])
    for name in "corpus", "small":
        index = bytearray(local(name)[0])
        index[4096 + 70] ^= 1
        (folder / "bad.leat").write_bytes(index)
        (folder / "bad.tokens").write_bytes(local(name)[1])
        code, _, said = push(server, "bad", "s3://b/bad")
        check("damage of the index", code == 3 and "is not sent" in said and there(server, "bad") == [None, None], said)
    server.no_lists = 405
    server.uploads.clear()  # of what was damaged
    check_pushed("no lists of uploads", server, "nl", push(server, "corpus", "s3://b/nl"))
    server.no_lists = 0


def test_going_on(server):
    """A part never arrives; the others do."""
    def parts_of(name):
        return sum(len(u["parts"]) for u in list(server.uploads.values()) if u["name"] == name)

    server.put_faults, server.silent = [], ("b/t.tokens", 2)
    process = commands.begin(server, "push", "corpus", "s3://b/t")
    while process.poll() is None and not parts_of("b/t.tokens"):
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    code, _, said = commands.end(server, process)
    check("stopped", code == 5 and there(server, "t") == [None, None], code, said)
    server.uploads.clear()
    server.silent = "b/k.tokens", 2
    process = commands.begin(server, "push", "corpus", "s3://b/k")
    parts = len(local("corpus")[1]) // 8192
    while process.poll() is None and parts_of("b/k.tokens") < parts * 2 // 3:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    code, _, said = commands.end(server, process)
    check("killed", code == -9 and there(server, "k") == [None, None], code, said)
    before, server.silent = len(server.requests), None
    summary = check_pushed("going on", server, "k", push(server, "corpus", "s3://b/k"))
    sent = sum(m == "PUT" and "k.tokens" in p for _, m, p, _ in server.requests[before:])
    check("parts that are there are kept", summary["kept"] > len(local("corpus")[1]) // 2 and sent < parts // 2,
          summary, sent)
    del server.objects["b/k.leat"]
    summary = check_pushed("only the index was missing", server, "k", push(server, "corpus", "s3://b/k"))
    check("tokens are kept", summary["kept"] == len(local("corpus")[1]), summary)
    del server.objects["b/k.leat"]
    code, _, said = push(server, "other", "s3://b/k")
    check("other tokens", code == 1 and "k.tokens already exists" in said, code, said)


def test_two_at_once(server):
    """The index appears after this push has looked for it: the server's condition keeps it."""
    for source in ("corpus", "small"):
        server.put_faults, server.appearing = ["appear"], {"b/two.leat": b"another's"}
        code, _, said = push(server, source, "s3://b/two")
        check("another's index", code == 1 and "two.leat already exists" in said, code, said)
        check("not replaced", server.objects.pop("b/two.leat", None) == b"another's" and swept(server))
        server.objects.pop("b/two.tokens", None)
        # after the last look, while its first part is sent
        parts = -(-len(local(source)[1]) // 8192)
        server.put_faults = [""] * (parts + (parts > 1 and server.scheme == "az")) + ["appear"]
        code, _, said = push(server, source, "s3://b/two")
        check("another's index, later", code == 1 and "two.leat already exists" in said, code, said)
        check("not replaced either", server.objects.pop("b/two.leat", None) == b"another's" and swept(server))
        server.objects.pop("b/two.tokens", None)
    server.put_faults, server.appearing = ["", "appear"], {"b/two.tokens": b"another's"}
    code, _, said = push(server, "small", "s3://b/two")
    check("another's tokens", code == 1 and "two.tokens has 9 bytes there and " in said, code, said)


words = random.Random(1)
for name, count in (("corpus", 100), ("other", 60), ("small", 3), ("empty", 0)):
    checks.pack(leat, folder, name, checks.texts(words, count), ids=True)
for make in S3Server, AzureServer:
    with make() as server:
        push(server, "nothing", "s3://b/none")
        checks.need_libcurl(commands.end(server, commands.begin(server, "pull", "s3://b/none", "x"))[2])
        checks.run_tests((test_folder, test_foreign, test_whole, test_faults, test_going_on, test_two_at_once), server)
    for file in folder.glob("back.*"):
        file.unlink()
checks.finish(folder)
