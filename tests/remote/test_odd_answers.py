#!/usr/bin/env python3
"""test_odd_answers.py: the sentences about servers that compress their answers unasked, and about those that answer
with what is not HTTP: certificates are mentioned only where there are some. And answers without an end, which are not
waited for: the body of a refusal, the lines of a head, the lines after a body, of which all bytes have come. A redirect
is followed, however long its page is: with 2 KiB of it, it once was not. An object without bytes is an empty one, also
where the server answers with 200 and not with 416: the run once failed. An object that grows while it is looked up is
read whole.

Once these were "the connection ended in the middle of the answer" and advice about certificates over http://; and what
has no end was read as long as it came, its lines into memory."""
import gzip
import os
import pathlib
import re
import socketserver
import subprocess
import tempfile
import threading

from s3_server import COUNTS

leat = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve() / "leat"
os.chdir(tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP")))
ENDLESS = {  # how the answer begins, and what then comes for ever
    b"moved": (b"302 Found\r\nLocation: /one.jsonl\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nAAAAA\r\n"),
    b"refused": (b"403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nAAAAA\r\n"),
    b"head": (b"206 Partial Content\r\n", b"X-A: b\r\n"),
    b"hints": (b"103 Early Hints\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"),
    b"after": (b"206 Partial Content\r\nContent-Range: bytes 0-12/13\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"d\r\n{\"text\":\"a\"}\n\r\n0\r\n", b"X-A: b\r\n")}
ONE = (b"206 Partial Content\r\nContent-Range: bytes 0-12/13\r\nContent-Length: 13\r\nConnection: close\r\n\r\n"
       b"{\"text\":\"a\"}\n")
MOVED = b"302 Found\r\nLocation: /one.jsonl\r\nConnection: close\r\n\r\n"
MOST = 16 << 20  # that may be on its way when nobody listens any more
TEXT = gzip.compress(b'{"text":"a"}\n' * 1000)


class Odd(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            got = self.request.recv(4096)
            if not got:
                return
            head += got
        if b"garbage" in head:
            self.request.sendall(b"what is this?\r\n" * 9)
            return
        endless = re.search(rb"endless_(\w+)", head)
        if endless:
            self.talk(*ENDLESS[endless[1]])
            return
        if b"/empty.jsonl" in head:
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        if b"/nothing.jsonl" in head:  # where a range was asked for
            self.request.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        if b"/grows" in head:
            self.grow(*map(int, re.search(rb"range: bytes=(\d+)-(\d+)", head, re.I).groups()))
            return
        moved = re.search(rb"/moved_(\d+)", head)
        if moved or b"/one.jsonl" in head:
            self.request.sendall(b"HTTP/1.1 " + (MOVED + b"A" * int(moved[1]) if moved else ONE))
            return
        asked = re.search(rb"range: bytes=(\d+)-(\d+)", head, re.I)
        first, last = (min(int(n), 12999) for n in asked.groups()) if asked else (0, 12999)
        coding = b"aws-chunked" if b"chunked" in head else b"gzip"  # which some buckets keep, and changes nothing
        self.request.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Encoding: %s\r\nETag: \"e\"\r\n"
                             b"Content-Range: bytes %d-%d/13000\r\nConnection: close\r\n"
                             b"Content-Length: %d\r\n\r\n" % (coding, first, last, len(TEXT)) + TEXT)

    def grow(self, first, last):
        """One line, of which half comes; then there are four, and what comes are parts of these."""
        text = b"{\"text\":\"a\"}\n" * (4 if grown else 1)
        part = text[first:last + 1]
        most = len(part) if grown else 6
        grown.append(first)  # before the answer: the next request comes as soon as that is there
        self.request.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes %d-%d/%d\r\n"
                             b"Content-Length: %d\r\nConnection: close\r\n\r\n"
                             % (first, first + len(part) - 1, len(text), len(part)) + part[:most])

    def talk(self, start, more):
        sent = 0
        try:
            self.request.sendall(b"HTTP/1.1 " + start)
            while sent <= 4 * MOST:
                self.request.sendall(more * 1000)
                sent += len(more) * 1000
        except OSError:  # nobody listens
            pass
        if sent > MOST:
            heard.append((start, sent))


heard, grown = [], []
with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Odd) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    for url, part, absent in ((f"{base}/zipped.jsonl", "compresses its answers (Content-Encoding)", "certificates"),
                              (f"{base}/chunked.jsonl", "chunked.jsonl: ", "compresses"),
                              (f"{base}/garbage.jsonl", "garbage.jsonl: ", "certificates"),
                              (f"{base}/nothing.jsonl", "nothing.jsonl: the server's answer is empty", "times"),
                              ("s3://bucket/garbage.jsonl", "garbage.jsonl: ", "certificates")):
        env = {"PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": base, "AWS_ACCESS_KEY_ID": "a", "HOME": os.getcwd(),
               "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "here", "AWS_MAX_ATTEMPTS": "2",
               **COUNTS}
        done = subprocess.run([leat, "pack", "-t", "bytes", "-o", "out", "--force", url], capture_output=True,
                              text=True, env=env)
        assert done.returncode == 1 and part in done.stderr and absent not in done.stderr, (url, done.stderr)
    for size in 0, 2047, 2048, 50000:
        done = subprocess.run([leat, "pack", "-t", "bytes", "--end", "none", "-o", "moved", "--force",
                               f"{base}/moved_{size}.jsonl"], capture_output=True, text=True, env=env)
        assert done.returncode == 0 and "1 token in 1 document" in done.stdout + done.stderr, (size, done)
    done = subprocess.run([leat, "pack", "-t", "bytes", "--end", "none", "-o", "empty", f"{base}/empty.jsonl",
                           f"{base}/one.jsonl"], capture_output=True, text=True, env=env)
    assert done.returncode == 0 and "1 token in 1 document from 2 inputs" in done.stdout, done
    done = subprocess.run([leat, "pack", "-t", "bytes", "--end", "none", "-o", "grown", f"{base}/grows.jsonl"],
                          capture_output=True, text=True, env=env)
    assert done.returncode == 0 and "4 tokens in 4 documents" in done.stdout and grown[:3] == [0, 6, 0], (grown, done)
    for name, part in (("moved", "the server redirects to another address (302)"),
                       ("refused", "the server denies access (403)"), ("head", "the server's answer is too long"),
                       ("hints", "the server's answer is too long, 2 times"), ("after", "1 token in 1 document")):
        done = subprocess.run([leat, "pack", "-t", "bytes", "--end", "none", "-o", name,
                               f"{base}/endless_{name}.jsonl"], capture_output=True, text=True, env=env)
        assert done.returncode == (name != "after") and part in done.stderr + done.stdout, (name, done)
    assert not heard, heard
    server.shutdown()
