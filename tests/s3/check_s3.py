#!/usr/bin/env python3
"""check_s3.py SERVER: leat against a server of S3's protocol that others wrote, unchanged: moto (from PyPI, by the
Python that runs this) or radosgw (Ceph's). Lists of more than 1,000 objects, odd keys, packing, push in parts, push
again, over what is there, and after a kill, pull, and batches by URL: each gives the bytes that files give. Uploads
that nobody completes are swept."""
import datetime
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "remote"))
from s3_server import signature  # noqa: E402

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
leat, list_probe, batch_probe = build / "leat", build / "remote_probe", build / "cache_probe"
ID, SECRET, BUCKET = "TESTKEY", "testsecret", "texts"
ODD = "odd/name+&=%?#'~ü x"
failures = 0


def check(what, fine, *seen):
    global failures
    if not fine:
        failures += 1
        print(f"{what}:", *(str(s)[:500] for s in seen), file=sys.stderr)


def free_port():
    """With the one after it."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            try:
                second.bind(("127.0.0.1", first.getsockname()[1] + 1))
                return first.getsockname()[1]
            except (OSError, OverflowError):
                pass


def start(server, port):
    """The server's process, and the pipe that ends it; or nothing, where it is not installed."""
    if server == "radosgw":
        if not all(shutil.which(p) for p in ("radosgw", "ceph-mon", "ceph-osd", "curl")):
            sys.exit(print("skipped: no radosgw (apt-get install --no-install-recommends radosgw ceph-mon ceph-osd)",
                           file=sys.stderr) or 77)
        process = subprocess.Popen([here / "radosgw.sh", folder / "ceph", str(port), ID, SECRET],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if process.stdout.readline() != b"ready\n":
            sys.exit((folder / "ceph" / "log").read_text()[-2000:])
        return process
    program = pathlib.Path(sys.executable).parent / "moto_server"
    if not program.exists():
        sys.exit(print("skipped: no moto in this Python (pip install \"moto[server]\")", file=sys.stderr) or 77)
    process = subprocess.Popen([program, "-p", str(port)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process
        except OSError:
            time.sleep(0.05)
    sys.exit("moto_server ended")


def put(name, body=b"", method="PUT", query=""):
    """An object, or a bucket, by a signature of the tests' own; or another request, by its encoded query."""
    path, now = "/" + urllib.parse.quote(name, safe="/-._~"), datetime.datetime.now(datetime.timezone.utc)
    headers = {"host": f"127.0.0.1:{port}", "x-amz-date": now.strftime("%Y%m%dT%H%M%SZ"),
               "x-amz-content-sha256": hashlib.sha256(body).hexdigest()}
    scope = now.strftime("%Y%m%d") + "/us-east-1/s3/aws4_request"
    signed = signature(SECRET, method, path, query, headers, sorted(headers), headers["x-amz-content-sha256"], scope)
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={ID}/{scope},SignedHeaders={';'.join(sorted(headers))},"
                                f"Signature={signed}")
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, f"{path}?{query}" if query else path, body, headers)
    answer = connection.getresponse()
    check(f"{method} {name}", answer.status == 200, answer.status, answer.read())
    connection.close()


def begin(*words, **more):
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={
        "PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": ID,
        "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
        "NO_PROXY": "*", "LEAT_CACHE": str(folder / "cache"), **more})


def run(*words, **more):
    process = begin(*words, **more)
    out, said = process.communicate(timeout=600)
    check("no key is in a message", SECRET not in said.decode(), said)
    return process.returncode, out, said.decode()


def test_lists():
    names = [f"many/{i:04d}" for i in range(1100)] + [f"many/{ODD}"]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: put(f"{BUCKET}/{n}", n.encode()), names))
    code, out, said = run(list_probe, "list", f"s3://{BUCKET}/many/")
    got = [line.rsplit(" ", 2)[:2] for line in out.decode().splitlines()]
    wanted = sorted([n, str(len(n.encode()))] for n in names)
    check("a list of 1,101", code == 0 and got == wanted, code, said, got[:3])
    code, out, said = run(list_probe, "read", f"s3://{BUCKET}/many/{ODD}")
    check("an odd key", code == 0 and out == f"many/{ODD}".encode(), code, said)
    code, _, said = run(list_probe, "read", f"s3://{BUCKET}/none")
    check("what is not there", code == 1 and "does not exist" in said, code, said)


def test_sweep():
    swept = sorted([f"swept/{i:04d}" for i in range(1100)] + [f"swept/{ODD}"] * 2)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: put(f"{BUCKET}/{n}", b"", "POST", "uploads="), ["stays", *swept]))
    code, out, said = run(list_probe, "sweep", f"s3://{BUCKET}/swept/")
    got = sorted(out.decode().splitlines())
    check("uploads that are swept", code == 0 and got == swept, code, said, len(got), got[:3])
    code, out, said = run(list_probe, "sweep", f"s3://{BUCKET}/")
    check("uploads that are left", code == 0 and out == b"stays\n", code, said, out)


def test_pack():
    chance, files = random.Random(1), folder / "files"
    files.mkdir()
    for i, suffix in enumerate((".jsonl", ".jsonl.gz", ".jsonl", ".txt")):
        text = "".join(json.dumps({"text": "".join(chance.choices("abcdefgh ", k=20000))}) + "\n" for _ in range(300))
        body = gzip.compress(text.encode(), 1) if suffix.endswith("gz") else text.encode()
        (files / f"part-{i}{suffix}").write_bytes(body)
        put(f"{BUCKET}/corpus/part-{i}{suffix}", body)
    for name, source in (("local", "files/"), ("remote", f"s3://{BUCKET}/corpus/")):
        code, _, said = run(leat, "pack", "-o", name, "-t", "bytes", "--end", "0", source)
        check(("pack", name), code == 0, code, said)
    check("the same tokens", (folder / "remote.tokens").read_bytes() == (folder / "local.tokens").read_bytes())


def same(name):
    pairs = [(folder / f"{name}.{s}", folder / f"local.{s}") for s in ("tokens", "leat")]
    return all(one.read_bytes() == other.read_bytes() for one, other in pairs)


def test_push(server):
    url = f"s3://{BUCKET}/sets/one"
    process = begin(leat, "push", "local", url)
    time.sleep(0.2)  # in the middle, most often
    process.send_signal(signal.SIGKILL)
    process.communicate()
    code, _, said = run(leat, "push", "local", url, "--force")
    check("push, after a kill", code == 0, code, said)
    code, _, said = run(leat, "push", "local", url)
    check("over what is there", code != 0 and "--force" in said, code, said)
    code, _, said = run(leat, "pull", url, "pulled")
    check("pull", code == 0 and same("pulled"), code, said)
    code, out, said = run(leat, "verify", url)
    check("verify", code == 0 and b"nothing is wrong" in out, code, out, said)
    wanted = run(batch_probe, "local", "2", "2", "50")[1].splitlines()[:50]
    code, out, said = run(batch_probe, url, "0", "0", "50", LEAT_CACHE=str(folder / "other"))
    check("batches by URL", code == 0 and out.splitlines()[:50] == wanted, code, said)
    code, out, said = run(batch_probe, url, "0", "0", "50", "1", "wait", LEAT_CACHE=str(folder / "other"))
    copies = [p.read_bytes() for p in (folder / "other").glob("*/tokens")]
    check("when all is here", code == 0 and out.splitlines()[:50] == wanted and
          copies == [(folder / "local.tokens").read_bytes()], code, said)
    if server == "radosgw":  # moto looks at no signature
        code, _, said = run(leat, "info", url, AWS_SECRET_ACCESS_KEY="wrong", LEAT_CACHE=str(folder / "third"))
        check("a wrong key", code == 1 and "does not accept the signature" in said, code, said)


if not leat.exists():
    sys.exit(print(f"skipped: no {leat}", file=sys.stderr) or 77)
folder = pathlib.Path(tempfile.mkdtemp(prefix="leat-s3-"))
port = free_port()
process = start(sys.argv[1], port)
try:
    put(BUCKET)
    test_lists()
    test_sweep()
    test_pack()
    test_push(sys.argv[1])
finally:
    process.stdin.close()
    if sys.argv[1] == "moto":
        process.terminate()
    process.wait()
    shutil.rmtree(folder)
sys.exit(1 if failures else 0)
