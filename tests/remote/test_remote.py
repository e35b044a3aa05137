#!/usr/bin/env python3
"""test_remote.py: objects on servers are read exactly, or the program says why not: against servers of ours, S3's and
Azure's, that check signatures, say "later", stall, cut answers short, change objects in the middle, move buckets, and
whose clock is wrong. No key is in any message."""
import os
import subprocess
import sys

import checks
from azure_server import ACCOUNT, KEY, AzureServer
from checks import check, failures, temporary
from s3_server import ACCESS, COUNTS, SECRET, TOKEN, S3Server

probe = checks.build / "remote_probe"
BIG = bytes(i * 7919 >> 8 & 255 for i in range(1 << 16)) * 300  # 19 MB: three ranges


def ask(server, *words, environment=None, **more):
    variables = server.environment(**more) if environment is None else environment
    words = [word.replace("s3://", f"{server.scheme}://") for word in words]
    r = subprocess.run([probe, *words], capture_output=True, env={"PATH": os.environ["PATH"], **COUNTS, **variables})
    said = r.stderr.decode().replace(f"{server.scheme}://", "s3://")
    check("no key is in a message", not any(secret in said for secret in server.secrets), said)
    return r.returncode, r.stdout, said


def test_reading(server):
    for name in ("b/big", "b/empty", "b/odd name+&=%?#'~ü/x", "b/dots/../y"):
        code, out, said = ask(server, "read", "s3://" + name)
        check(name, code == 0 and out == server.objects[name], code, len(out), said)
    code, out, said = ask(server, "stat", "s3://b/big")
    check("size and etag", out.decode() == f"{len(BIG)} {server.etag('b/big')}\n", code, out, said)
    user = {"s3": "not the name", "az": "the host of an account is like"}[server.scheme]
    for name, why in (("s3://b/none", "does not exist"), ("s3://", "no bucket"), ("s3://user@b/c", user),
                      ("s3://b:1/c", "not the name")):
        code, _, said = ask(server, "read", name)
        check(name, code == 1 and why in said, code, said)


def test_faults(server):
    """The first request is for the size, the next ones are for ranges."""
    for faults in (["later"], ["500", "500"], ["", "reset"], ["", "short", "short"], ["", "503", "reset", "500"]):
        server.faults = list(faults)
        code, out, said = ask(server, "read", "s3://b/big", "20", "6")
        retries = len([f for f in faults if f])
        check(faults, code == 0 and out == BIG and f" {retries} retries" in said, code, len(out), said)
        if faults == ["later"]:
            (before, *_), (after, *_) = server.requests[-5:-3]
            check("a server that says when to come back is obeyed", after - before >= 1, after - before)
    for faults in (["", "stall"], ["silent"]):
        server.faults = list(faults)
        code, out, said = ask(server, "read", "s3://b/object", "1")
        # one of them, and what else takes a second on a busy machine
        check(faults, code == 0 and out == BIG[:1000] and not server.faults and " 0 retries" not in said, code,
              len(out), said)
    for faults, status, why in (
        (["", "changed"], "mismatch", "s3://b/object has changed while it was read; start again"),
        (["", "whole"], "", ""),
        (["whole"], "unsupported", "does not serve parts"),
        (["expired"], "permission", "expired"),
        (["denied"], "permission", "the server denies access (403) (A"),
        (["500"] * 3, "io", "s3://b/object: the server answered 500 InternalError, 3 times in "),
    ):
        server.faults = list(faults)
        code, out, said = ask(server, "read", "s3://b/object", "20", "3")
        check(faults, code == (status != "") and status in said and why in said, code, said)
        check("nothing of an object that is not whole", not code or out == b"", out)
    server.faults = []


def test_away(server):
    """A short outage ended training after 0.3 s: a server that refused connections was tried four times, whatever
    AWS_MAX_ATTEMPTS said. That is so only as long as no server has answered."""
    endpoint = {"s3": "AWS_ENDPOINT_URL", "az": "AZURE_STORAGE_ENDPOINT"}[server.scheme]
    code, _, said = ask(server, "read", "s3://b/object", **{endpoint: "http://127.0.0.1:1"})
    check("one that was never there", code == 1 and "4 times in " in said, code, said)
    server.faults, server.away = ["", "away"], 2
    code, out, said = ask(server, "read", "s3://b/object")
    check("one that comes back", code == 0 and out == server.objects["b/object"], code, said)
    server.faults, server.away = ["", "away"], None
    code, _, said = ask(server, "read", "s3://b/object", "20", "5")
    check("one that comes back too late", code == 1 and "b/object: " in said and "5 times in " in said, code, said)
    code, _, said = ask(server, "read", "s3://b/object", "20", "1")
    check("one try", code == 1 and ", once\n" in said, code, said)
    server.come_back()


def test_keys(server):
    """The server takes only requests that are signed by its key, for its region and time."""
    for more, why in (
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "does not accept the signature"),
        ({"AWS_ACCESS_KEY_ID": "OTHER"}, "does not know this access key"),
        ({"AWS_SECRET_ACCESS_KEY": ""}, "set AWS_SECRET_ACCESS_KEY"),
        ({"AWS_ACCESS_KEY_ID": ""}, "the server requires credentials, and none were found"),
        ({"AWS_ENDPOINT_URL": "127.0.0.1:1"}, "AWS_ENDPOINT_URL"),
        ({"AWS_ACCESS_KEY_ID": "", "AWS_PROFILE": "none"}, "AWS_PROFILE is none"),
        ({"AWS_REGION": "a.b/c"}, "AWS_REGION is not the name of a region"),
        ({"AWS_ACCESS_KEY_ID": "A" * 600}, "AWS_ACCESS_KEY_ID or AWS_REGION is too long"),
        ({"AWS_SHARED_CREDENTIALS_FILE": str(temporary)}, f"cannot read {temporary}: Is a directory"),
        ({"AWS_CONFIG_FILE": "x" * 300}, f"cannot open {'x' * 300}: File name too long"),
        ({"AWS_MAX_ATTEMPTS": "many"}, "AWS_MAX_ATTEMPTS must be a number"),
    ):
        code, _, said = ask(server, "read", "s3://b/object", **more)
        check(more, code == 1 and why in said, code, said)
    server.open_buckets = {"b"}
    code, out, said = ask(server, "read", "s3://b/object", AWS_ACCESS_KEY_ID="")
    check("a public bucket needs no key", code == 0 and out == server.objects["b/object"], code, said)
    server.open_buckets = set()
    server.token = TOKEN
    code, out, said = ask(server, "read", "s3://b/object", AWS_SESSION_TOKEN=TOKEN)
    check("a session token", code == 0, code, said)
    server.token = None
    code, out, said = ask(server, "read", "gs://b/object", AWS_SESSION_TOKEN=TOKEN)
    check("which Google does not get", code == 0 and "x-amz-security-token" not in
          {name.lower() for name in server.requests[-1][3]}, code, said, server.requests[-1][3].keys())
    server.skew = 7200
    code, out, said = ask(server, "read", "s3://b/object")
    check("a clock that is wrong", code == 0 and " 1 retries" in said, code, said)
    server.skew, server.region = 0, "eu-test-1"
    code, out, said = ask(server, "read", "s3://b/object")
    check("another region", code == 0 and " 1 retries" in said, code, said)
    code, out, said = ask(server, "read", "s3://b/object", AWS_REGION="eu-test-1")
    check("its region", code == 0 and " 0 retries" in said, code, said)
    server.region = "elsewhere.test/x?"
    code, out, said = ask(server, "read", "s3://b/object")
    check("a region that is none", code == 1 and " 0 retries" in said, code, said)
    server.region = "us-east-1"


def test_azure_keys(server):
    """Keys and SAS tokens count for the account that they are set for, which a URL may name."""
    none = {"AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_KEY": "", "AZURE_STORAGE_ENDPOINT": ""}
    string = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={server.url}/;"
    sas, url = server.sas("rl"), "s3://b/object"
    for more, url in (
        ({}, f"abfss://b@{ACCOUNT}.dfs.core.windows.net/object"),
        ({}, f"abfs://b@{ACCOUNT}.blob.core.windows.net/object"),
        ({}, f"azure://{ACCOUNT}.blob.core.windows.net/b/object"),
        ({"AZURE_STORAGE_ACCOUNT": ""}, f"az://b@{ACCOUNT}.dfs.core.windows.net/object"),
        ({**none, "AZURE_STORAGE_CONNECTION_STRING": string}, url),
        ({"AZURE_STORAGE_KEY": "AAAA", "AZURE_STORAGE_CONNECTION_STRING": string}, url),
        ({**none, "AZURE_STORAGE_CONNECTION_STRING": f"SharedAccessSignature={sas};BlobEndpoint={server.url}"}, url),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "?" + sas}, url),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_SAS_TOKEN": sas}, url),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.service_sas("r", "b")}, url),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.service_sas("r", "b", "object")}, url),
        ({"AZURE_STORAGE_SAS_TOKEN": "no", "AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
          "AZURE_STORAGE_KEY": "", "AZURE_STORAGE_ACCOUNT_KEY": KEY}, url),
    ):
        code, out, said = ask(server, "read", url, **more)
        check((more, url), code == 0 and out == server.objects["b/object"], code, said)
    for more, why in (
        ({"AZURE_STORAGE_KEY": "AAAA"}, "does not accept the signature"),
        ({"AZURE_STORAGE_KEY": "A"}, "AZURE_STORAGE_KEY is not a key"),
        ({"AZURE_STORAGE_KEY": "A" * 400}, "AZURE_STORAGE_KEY is not a key"),
        ({"AZURE_STORAGE_ACCOUNT": "other"}, "does not accept the signature"),
        ({"AZURE_STORAGE_ACCOUNT": ""}, "set AZURE_STORAGE_ACCOUNT, too"),
        ({"AZURE_STORAGE_KEY": ""}, "requires credentials, and none were found: set AZURE_STORAGE_ACCOUNT and"),
        (none, "of which account? Set AZURE_STORAGE_ACCOUNT, or write "),
        ({"AZURE_STORAGE_ENDPOINT": "127.0.0.1"}, "must be https://HOST or http://HOST"),
        ({"AZURE_STORAGE_CONNECTION_STRING": "AccountKey=AAAA"}, "AZURE_STORAGE_CONNECTION_STRING names no account"),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "a b"}, "is not a token like sv=...&sig=..."),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.sas("rl", -1)}, "whether the token has expired"),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.sas("l")}, "the SAS token does not permit this"),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.service_sas("r", "b", "big")},
         "does not accept the signature"),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.service_sas("l", "b")},
         "the SAS token does not permit this"),
        ({"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": server.sas("rl", kinds="c")},
         "it needs the resource types container and object"),
    ):
        code, _, said = ask(server, "read", "s3://b/object", **more)
        check(more, code == 1 and why in said and "sig=" not in said.replace("sv=...&sig=...", ""), code, said)
    server.open_buckets = {ACCOUNT}
    code, out, said = ask(server, "read", "s3://b/object", AZURE_STORAGE_KEY="")
    check("a public container needs no key", code == 0 and out == server.objects["b/object"], code, said)
    server.open_buckets, server.skew = set(), 7200
    code, out, said = ask(server, "read", "s3://b/object")
    check("a clock that is wrong", code == 0 and " 1 retries" in said, code, said)
    server.skew = 0
    code, _, said = ask(server, "read", "s3://c/object")
    check("no container", code == 1 and "the container does not exist" in said, code, said)
    check("every request names its version", server.unversioned == 0, server.unversioned)
    server.folders = {"b/list/d/e"}  # as if it were one
    code, out, said = ask(server, "list", "s3://b/list/")
    check("folders of a Data Lake are no objects", code == 0 and b"d/e" not in out and out.count(b"\n") == 4, out, said)
    server.folders = set()


def test_profiles(server):
    folder = temporary / "aws"
    folder.mkdir(exist_ok=True)
    (folder / "credentials").write_text(
        f"# keys\n[default]\naws_access_key_id = OTHER\naws_secret_access_key=x\n\n[mine]\n"
        f"aws_access_key_id={ACCESS}\naws_secret_access_key = {SECRET}\n"
        f"[both]\naws_access_key_id={ACCESS}\naws_secret_access_key = {SECRET}\n")
    (folder / "config").write_text(
        f"[default]\nregion = us-east-1\n[profile mine]\nendpoint_url = {server.url}\ns3 =\n  region = xx\n"
        "[profile sso]\nsso_session = s\n[profile both]\nrole_arn = r\n[profile process]\ncredential_process = p\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"), "AWS_CONFIG_FILE": str(folder / "config"),
             "NO_PROXY": "*"}
    code, out, said = ask(server, "read", "s3://b/object", environment={**files, "AWS_PROFILE": "mine"})
    check("a profile", code == 0 and out == server.objects["b/object"], code, said)
    code, out, said = ask(server, "read", "s3://b/object", environment={**files, "AWS_ENDPOINT_URL": server.url})
    check("the default profile", code == 1 and "does not know this access key" in said, code, said)
    for profile in "sso", "both", "process":
        code, out, said = ask(server, "read", "s3://b/object", environment={**files, "AWS_PROFILE": profile})
        check("a profile of keys by others", code == 1 and "aws configure export-credentials" in said, code, said)
    for profile in "default", "both":
        code, out, said = ask(server, "read", "s3://b/object", environment={
            **files, "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_PROFILE": profile})
        check("variables before files", code == 0, code, said)
    code, out, said = ask(server, "read", "s3://b/object", environment={
        "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "NO_PROXY": "*"})
    check("no home, and no files", code == 0 and out == server.objects["b/object"], code, said)


def test_lists(server):
    names = sorted(n[2:] for n in server.objects if n.startswith("b/list/"))
    code, out, said = ask(server, "list", "s3://b/list/")
    wanted = "".join(f"{n} {len(server.objects['b/' + n])} {server.etag('b/' + n)}\n" for n in names)
    check("a list of several pages", code == 0 and out.decode() == wanted, code, out, said)
    for server.repeats in "again", "new":
        code, out, said = ask(server, "list", "s3://b/list/")
        check("a list without an end", code == 1 and "list has no end: it names an object twice" in said, code, said)
    server.repeats = False
    for most, lines, why in (("5", 5, ""), ("4", 4, "more than 4 objects; "), ("0", 0, "must be a number above 0"),
                             ("1e3", 0, "must be a number above 0")):
        code, out, said = ask(server, "list", "s3://b/list/", LEAT_MAX_LISTED=most)
        fine = (code == 0) == (not why) and why in said
        check(("at most", most), fine and out.count(b"\n") == lines, code, out, said)


def test_web(server):
    server.open_buckets = {"web"}
    server.objects["web/file"] = BIG
    server.moved = {"/old": "/web/file?signature=SECRETWORD", "/round": "/round"}
    for path in ("/web/file", "/old"):
        code, out, said = ask(server, "read", server.url + path)
        check(path, code == 0 and out == BIG and "SECRETWORD" not in said, code, said)
    code, out, said = ask(server, "read", server.url + "/round?signature=SECRETWORD")
    check("a circle", code == 1 and "too many redirects" in said and "SECRETWORD" not in said, said)
    code, out, said = ask(server, "read", server.url.replace("//", "//user:word@") + "/web/file")
    check("a password in a URL", code == 1 and "word@" not in said, code, said)
    check("no signature for other servers", all("Authorization" not in h for _, _, p, h in server.requests
                                                if p.startswith(("/web", "/old", "/round"))))


if not probe.exists():
    checks.skip(f"no {probe}")
objects = {"b/big": BIG, "b/empty": b"", "b/object": BIG[:1000], "b/odd name+&=%?#'~ü/x": b"odd",
           "b/dots/../y": b"dots"}
objects.update({f"b/list/{n}": n.encode() for n in ("a", "b & <c>", "d/e", "ü", "z")})
with S3Server(objects) as server, AzureServer(objects) as azure:
    checks.need_libcurl(ask(server, "stat", "s3://b/object")[2])
    checks.run_tests((test_reading, test_faults, test_away, test_keys, test_profiles, test_lists, test_web), server)
    checks.run_tests((test_reading, test_faults, test_away, test_azure_keys, test_lists), azure)
sys.exit(1 if failures else 0)
