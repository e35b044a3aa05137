#!/usr/bin/env python3
"""test_odd_answers.py: the sentences about servers that compress their answers unasked, and about those that answer
with what is not HTTP: certificates are mentioned only where there are some.

Once these were "the connection ended in the middle of the answer" and advice about certificates over http://."""
import gzip
import os
import pathlib
import re
import socketserver
import subprocess
import tempfile
import threading

leat = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve() / "leat"
os.chdir(tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP")))
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
        asked = re.search(rb"range: bytes=(\d+)-(\d+)", head, re.I)
        first, last = (min(int(n), 12999) for n in asked.groups()) if asked else (0, 12999)
        body = b"" if head.startswith(b"HEAD") else TEXT
        coding = b"aws-chunked" if b"chunked" in head else b"gzip"  # which some buckets keep, and changes nothing
        self.request.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Encoding: %s\r\nETag: \"e\"\r\n"
                             b"Content-Range: bytes %d-%d/13000\r\nConnection: close\r\n"
                             b"Content-Length: %d\r\n\r\n" % (coding, first, last, len(TEXT)) + body)


with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Odd) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    for url, part, absent in ((f"{base}/zipped.jsonl", "compresses its answers (Content-Encoding)", "certificates"),
                              (f"{base}/chunked.jsonl", "chunked.jsonl: ", "compresses"),
                              (f"{base}/garbage.jsonl", "garbage.jsonl: ", "certificates"),
                              ("s3://bucket/garbage.jsonl", "garbage.jsonl: ", "certificates")):
        env = {"PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": base, "AWS_ACCESS_KEY_ID": "a", "HOME": os.getcwd(),
               "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "here", "AWS_MAX_ATTEMPTS": "2"}
        done = subprocess.run([leat, "pack", "-t", "bytes", "-o", "out", "--force", url], capture_output=True,
                              text=True, env=env)
        assert done.returncode == 1 and part in done.stderr and absent not in done.stderr, (url, done.stderr)
    server.shutdown()
