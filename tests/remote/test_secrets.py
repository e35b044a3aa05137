#!/usr/bin/env python3
"""test_secrets.py: which host may get which secret: each row of the table in SECURITY.md, on hosts that it has and on
those that only look like them, as a proxy sees that stands for all servers: through names on a command line, lists,
plans and folders, after redirects, and where a list of the Hub goes on. A host that gets none is asked without, and the
error says so. Before, a host ACCOUNT.blob.ANYTHING of an az:// name got the token of Entra ID, the SAS token or a
signature by the account's key, and the server of AWS_ENDPOINT_URL got Google's token."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

import checks
from azure_server import KEY
from checks import build, check
from http_requests import Handler as HttpHandler
from http_requests import Server
from key_server import BEARER, Provider
from s3_server import ACCESS, COUNTS, SECRET, TOKEN, S3Server
from secure import make_context, through

root = pathlib.Path(__file__).resolve().parents[2]
probe, leat = build / "remote_probe", build / "leat"
if not shutil.which("openssl"):
    checks.skip("no openssl")
folder = checks.own_folder("secrets", probe, leat)
CLOUDS = ("x.blob.core.windows.net", "x.blob.core.chinacloudapi.cn", "x.blob.core.usgovcloudapi.net",
          "x.z01.blob.storage.azure.net", "x.blob.fabric.microsoft.com")
LIKE = ("x.blob.evil.test", "x.blob.core.windows.net.evil.test", "x.blob.evilcore.windows.net",
        "x.blob.core.windows.evil")
HOSTS = (*CLOUDS, *LIKE, "y.blob.core.windows.net", "own.test", "evil.test", "storage.googleapis.com", "huggingface.co",
         "evilgoogleapis.com", "b.s3.us-east-1.amazonaws.com", "b.s3.cn-north-1.amazonaws.com.cn")


class Handler(HttpHandler):
    """A request through the proxy, to a host that exists only here."""

    def run(self):
        self.server.seen.append((self.host, self.path, self.sent))
        moved, link = self.server.moved.get(self.host), self.server.links.get(self.host)
        if moved:
            self.send(302, {"Location": moved}, 0, b"")
        elif link and "/tree/" in self.path:
            self.send(200, {"Link": f'<{link}>; rel="next"'} if "cursor" not in self.path else {}, 2, b"[]")
        elif "/revision/" in self.path:
            body = json.dumps({"id": "o/n", "sha": "a" * 40}).encode()
            self.send(200, {}, len(body), body)
        else:
            self.send(self.server.code, {}, 0, b"")


class Proxy(Server):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), through(Handler, make_context(folder, HOSTS)))
        self.seen, self.moved, self.links, self.code = [], {}, {}, 403
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def now(self):
        return 1800000000

    def handle_error(self, request, client_address):
        pass  # a client that went away


def has_secret(path, headers):
    named = {name.lower(): value for name, value in headers.items()}
    own = not named.get("authorization", "Basic").startswith("Basic")  # libcurl's own, of a redirect with a user
    return own or "x-amz-security-token" in named or "sig=" in path


def ask(words, more):
    """The hosts that were asked, each with whether it got a secret; and what was said."""
    proxy.seen.clear()
    r = subprocess.run(words, capture_output=True, text=True, cwd=folder, env={
        "PATH": os.environ["PATH"], "HOME": str(folder), "SSL_CERT_FILE": str(folder / "certificate"),
        "AWS_MAX_ATTEMPTS": "1",
        "https_proxy": f"http://127.0.0.1:{proxy.server_address[1]}", "AWS_EC2_METADATA_DISABLED": "true",
        "GCE_METADATA_HOST": "127.0.0.1:9", "AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:9",
        "LEAT_CACHE": str(folder / "cache"), **COUNTS, **more})
    for secret in (SECRET, TOKEN, KEY, BEARER, "hf_word", "sig="):
        check("no secret is in a message", secret not in r.stdout + r.stderr, r.stderr)
    got = {}
    for host, path, headers in proxy.seen:
        got[host] = got.get(host, False) or has_secret(path, headers)
    return got, r.stderr


def ask_for(url, more, wanted, *why):
    got, said = ask([probe, "stat", url], more)
    check((url, sorted(more)), got == wanted and all(word in said for word in why), got, said)


def test_buckets():
    ask_for("s3://b/o", AWS, {"b.s3.us-east-1.amazonaws.com": True})
    ask_for("s3://b/o", {**AWS, "AWS_REGION": "cn-north-1"}, {"b.s3.cn-north-1.amazonaws.com.cn": True})
    ask_for("gs://b/o", AWS, {"storage.googleapis.com": True})
    ask_for("gs://b/o", GOOGLE, {"storage.googleapis.com": True})
    for name in ("s3://b/o", "gs://b/o"):
        ask_for(name, {**AWS, "AWS_ENDPOINT_URL": "https://own.test"}, {"own.test": True})
    for host in ("own.test", "evilgoogleapis.com"):
        ask_for("gs://b/o", {**GOOGLE, "AWS_ENDPOINT_URL": f"https://{host}"}, {host: False},
                "leat sends none to this host; ", "set AWS_ACCESS_KEY_ID")
    ask_for("s3://b/o", {**GOOGLE, "AWS_ENDPOINT_URL": "https://own.test"}, {"own.test": False}, "none were found")
    for host, name in (("b.s3.us-east-1.amazonaws.com", "s3://b/o"), ("storage.googleapis.com", "gs://b/o")):
        proxy.moved = {host: "https://evil.test/o"}
        ask_for(name, AWS, {host: True}, "redirects")
    proxy.moved = {}


def test_azure():
    for more in (ENTRA, SHARED, SAS):
        for host in CLOUDS:
            ask_for(f"az://c@{host}/n", more, {host: True})
            ask_for(f"abfss://c@{host.replace('.blob.', '.dfs.')}/n", more, {host: True})
        for host in LIKE:
            ask_for(f"az://{host}/c/n", more, {host: False}, "leat sends none to this host; ",
                    "let AZURE_STORAGE_ENDPOINT")
            ask_for(f"az://{host}/c/n", {**more, "AZURE_STORAGE_ENDPOINT": f"https://{host}"}, {host: True})
        ask_for("az://c/n", {**more, "AZURE_STORAGE_ENDPOINT": "https://own.test/x"}, {"own.test": True})
        ask_for("az://y.blob.core.windows.net/c/n", {**more, "AZURE_STORAGE_ACCOUNT": "x"},
                {"y.blob.core.windows.net": more is ENTRA})
        other = {**more, "AZURE_STORAGE_ACCOUNT": "y", "AZURE_STORAGE_ENDPOINT": "https://own.test"}
        ask_for("az://x.blob.evil.test/c/n", other, {"x.blob.evil.test": False})
        proxy.moved = {CLOUDS[0]: "https://evil.test/o"}
        ask_for(f"az://{CLOUDS[0]}/c/n", more, {CLOUDS[0]: True}, "redirects")
        proxy.moved = {}


def test_hub():
    name = "hf://datasets/o/n/a"
    ask_for(name, HUB, {"huggingface.co": True})
    ask_for(name, {**HUB, "HF_ENDPOINT": "https://own.test"}, {"own.test": True})
    for to in ("https://evil.test/o", "https://huggingface.co@evil.test/o", "https://huggingface.co.evil.test:443/o"):
        proxy.moved = {"huggingface.co": to}
        got, said = ask([probe, "stat", name], HUB)
        check(to, got.pop("huggingface.co") and not any(got.values()), got, said)
    proxy.moved = {"own.test": "https://huggingface.co/o"}
    ask_for(name, {**HUB, "HF_ENDPOINT": "https://own.test"}, {"own.test": True, "huggingface.co": False})
    proxy.moved = {}
    proxy.links = {"huggingface.co": "https://evil.test/tree?cursor=2"}
    got, said = ask([leat, "pack", "-t", "bytes", "-o", "none", "hf://datasets/o/n/"], HUB)
    went_on = any("cursor=2" in path for _, path, _ in proxy.seen)
    check("where a list goes on", got == {"huggingface.co": True} and went_on, got, said)
    proxy.links = {}


def test_web():
    """Nobody's keys, and what stands in the name only where it stands."""
    all_keys = {**AWS, **GOOGLE, **SHARED, **ENTRA, **HUB}
    for host in ("own.test", "x.blob.core.windows.net", "huggingface.co", "b.s3.us-east-1.amazonaws.com"):
        ask_for(f"https://{host}/o", all_keys, {host: False})
    proxy.moved = {"own.test": "https://evil.test/o"}
    ask_for("https://own.test/o?sig=word", all_keys, {"own.test": True, "evil.test": False})
    proxy.moved = {}


def test_others():
    """What somebody else's list, plan or folder names."""
    name = "az://x.blob.evil.test/c/n"
    (folder / "list").write_text(f"{name}\n")
    (folder / "plan").write_text(f"leat plan 1\nseq-len 8\nseed 1\nsource {name}:1\n")
    for words in (["info", "@list"], ["order", "--plan", "plan"], ["info", f"{name}/"], ["verify", name],
                  ["pack", "-t", "bytes", "-o", "none", f"{name}/"], ["pack", "-t", "bytes", "-o", "none", "@list"]):
        for more in (ENTRA, SHARED, SAS):
            got, said = ask([leat, *words], more)
            check(words, got == {"x.blob.evil.test": False}, got, said)


def test_names():
    """A presigned URL, or one with a password, in outputs, pages, errors and files. Before, info, verify, show and
    errors of misuse printed it."""
    (folder / "x.jsonl").write_text('{"text":"hello"}\n' * 9)
    subprocess.run([leat, "pack", "-t", "bytes", "--end", "0", "-o", "set", "x.jsonl"], cwd=folder, check=True,
                   capture_output=True)
    with S3Server({f"web/set.{end}": (folder / f"set.{end}").read_bytes() for end in ("leat", "tokens")}) as server:
        server.open_buckets = {"web"}
        clean = f"{server.url}/web/set"
        outputs = [["info"], ["info", "--json"], ["verify"], ["verify", "--json"],
                   ["show", "--document", "0"], ["show", "--document", "0", "--json"],
                   ["show", "--document", "0", "--html", "show.html"], ["pull", "pulled"]]
        mistakes = [["info", "x"], ["cat", "--document", "99"], ["encode", "-t", "bytes"], ["decode", "-t", "bytes"],
                    ["encode", "x.jsonl", "-t"], ["pack", "x.jsonl", "-t", "bytes", "-o"], ["pack", "-o", "p", "-t"],
                    ["order", "--seq-len", "8", "--source"], ["fit"], ["merge", "-o", "m"], ["status"], ["push", "set"],
                    ["order", "--plan"], ["pack", "-t", "bytes", "-o", "p", "--chat"], ["adopt", "-t", "bytes"]]
        for url in (clean + "?sig=SIGNED", clean.replace("//", "//user:PASSED@"), f"{clean}x?sig=SIGNED"):
            for words in outputs + mistakes:
                r = subprocess.run([leat, words[0], url, *words[1:]] if words in outputs else [leat, *words, url],
                                   cwd=folder, capture_output=True, text=True, env={
                    "PATH": os.environ["PATH"], "LEAT_CACHE": str(folder / "cache"), "NO_PROXY": "*", **COUNTS})
                said, works = r.stdout + r.stderr, words in outputs and url == clean + "?sig=SIGNED"
                check(words, works == (r.returncode == 0) and "SIGNED" not in said and "PASSED" not in said, said)
                check("its name", not works or "--html" in words or words[0] == "pull" or clean in said, said)
    written = {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    check("pages", "show.html" in written and clean.encode() in written["show.html"])
    check("files", not [n for n, b in written.items() if b"SIGNED" in b or b"PASSED" in b])


def test_table():
    """The table in the code, the one in SECURITY.md and this test have the same hosts."""
    code = (root / "src/remote/keys.c").read_text()
    rows = code[code.index("} secrets[] = {"):]
    hosts = re.findall(r'"([a-z.]+)"', rows[:rows.index("};")])
    text = (root / "SECURITY.md").read_text()
    check("hosts of the table", len(hosts) == 10, hosts)
    for host in hosts:
        shown = f"*{host}" if host[0] == "." else host
        check(host, f"{shown}," in text or f"{shown} |" in text)
        check("is asked here", any(asked.endswith(host) for asked in HOSTS), host)


AWS = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN}
SHARED = {"AZURE_STORAGE_ACCOUNT": "x", "AZURE_STORAGE_KEY": KEY}
SAS = {"AZURE_STORAGE_ACCOUNT": "x", "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=word"}
HUB = {"HF_TOKEN": "hf_word"}
proxy, provider = Proxy(), Provider()
GOOGLE = {"GCE_METADATA_HOST": provider.host}
ENTRA = {"AZURE_POD_IDENTITY_AUTHORITY_HOST": provider.url}
checks.need_libcurl(ask([probe, "stat", "https://own.test/o"], {})[1])
checks.run_tests((test_table, test_names, test_buckets, test_azure, test_hub, test_web, test_others))
checks.finish(folder)
