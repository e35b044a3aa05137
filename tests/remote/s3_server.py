"""s3_server.py: a small server of S3's protocol for tests, on this machine: ranges, lists in pages of two, uploads in
parts, conditions, and signatures that are checked with code of its own. It can also be told to misbehave.

    with S3Server({"bucket/key": b"bytes"}) as server:
        server.faults = ["503", "reset"]        # what the next requests for bytes get, one each; "" for nothing
        ... server.url, server.requests ...

Faults: late (by 50 ms, and right), slow (by 2 s), 503 (SlowDown), later and much later (with Retry-After: 1 and 100),
500, stall (half of the bytes, then silence), silent (no answer), reset (half of the bytes), short (half of the bytes
and an orderly end), wrong (one byte is another), whole (no ranges), expired, denied, changed (the object is another one
from now on), away (nobody listens for server.away seconds).
"""
import datetime
import functools
import hashlib
import hmac
import html
import os
import re
import socket
import struct
import threading
import time
import urllib.parse

from http_requests import Handler as HttpHandler
from http_requests import Server

ACCESS, SECRET, TOKEN = "TESTKEY", "test/secret+key", "a/token=="
PAGE = 2
COUNTS = {name: value for name, value in os.environ.items() if name.startswith("GCOV_")}  # where `make coverage` counts


def signature(secret, method, path, query, headers, names, payload, scope):
    """AWS Signature Version 4, as its documentation writes it down."""
    canonical = "\n".join(
        [method, path, query] + [f"{n}:{headers[n].strip()}" for n in names] + ["", ";".join(names), payload]
    )
    text = "\n".join(
        ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()]
    )
    return hmac.digest(key_of(secret, scope), text.encode(), "sha256").hex()


@functools.lru_cache(maxsize=16)
def key_of(secret, scope):
    key = ("AWS4" + secret).encode()
    for piece in scope.split("/"):
        key = hmac.digest(key, piece.encode(), "sha256")
    return key


@functools.lru_cache(maxsize=256)
def canonical(path, query):
    members = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
    return (urllib.parse.quote(urllib.parse.unquote(path), safe="/-._~"),
            "&".join(f"{urllib.parse.quote(n, safe='-._~')}={urllib.parse.quote(v, safe='-._~')}"
                     for n, v in members))


@functools.lru_cache(maxsize=16)
def seconds_of(date):
    """Of a date like 20261124T235900Z; strptime() would load much of the library."""
    day, clock = ([int(text[i:i + 2]) for i in range(0, len(text), 2)] for text in (date[:8], date[9:15]))
    return datetime.datetime(100 * day[0] + day[1], *day[2:], *clock, tzinfo=datetime.timezone.utc).timestamp()


@functools.lru_cache(maxsize=256)
def etag_of(held):
    return f"\"{hashlib.md5(held).hexdigest()}\""


class Refused(Exception):
    def __init__(self, status, code, headers=()):
        super().__init__(code)
        self.status, self.code, self.headers = status, code, dict(headers)


class Handler(HttpHandler):

    # ---- What all requests have in common ----

    def answer(self, status, body=b"", headers=()):
        self.send(status, dict(headers), len(body), body)

    def check_signature(self, path, query, body):
        server, headers, header = self.server, self.headers, self.headers.get("authorization")
        if not header:
            raise Refused(403, "AccessDenied")
        if server.bearer and header == f"Bearer {server.bearer}":
            return
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8}/([^/]+)/s3/aws4_request),SignedHeaders=([^,]+),"
            r"Signature=([0-9a-f]{64})", header)
        if not found or headers.get("x-amz-content-sha256") != hashlib.sha256(body).hexdigest():
            raise Refused(403, "SignatureDoesNotMatch")
        access, scope, region, names, given = found.groups()
        if access != ACCESS:
            raise Refused(403, "InvalidAccessKeyId")
        if region != server.region:
            raise Refused(400, "AuthorizationHeaderMalformed", {"x-amz-bucket-region": server.region})
        wanted = signature(SECRET, self.command, *canonical(path, query), headers, names.split(";"),
                           headers["x-amz-content-sha256"], scope)
        if given != wanted or "host" not in names.split(";"):
            raise Refused(403, "SignatureDoesNotMatch")
        if abs(seconds_of(headers["x-amz-date"]) - server.now()) > 900:
            raise Refused(403, "RequestTimeTooSkewed")
        if server.token and headers.get("x-amz-security-token") != server.token:
            raise Refused(403, "InvalidToken")

    def run(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.server.lock:
            self.server.requests.append((time.monotonic(), self.command, self.path, self.sent))
        try:
            if path in self.server.moved:
                self.answer(302, headers={"Location": self.server.moved[path]})
                return
            bucket, _, key = urllib.parse.unquote(path)[1:].partition("/")
            members = dict(urllib.parse.parse_qsl(query, keep_blank_values=True)) if query else {}
            if bucket not in self.server.open_buckets:
                self.check_signature(path, query, body)
            getattr(self, "on_" + self.command.lower())(bucket, key, members, body)
        except Refused as refused:
            self.refuse(refused)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def refuse(self, refused):
        text = f"<Error><Code>{refused.code}</Code><Message>{' '.join(self.server.secrets)}</Message></Error>"
        self.answer(refused.status, f"<?xml version=\"1.0\"?>\n{text}".encode(), refused.headers)

    # ---- Reading ----

    def on_get(self, bucket, key, members, _):
        if "list-type" in members:
            self.list_objects(bucket, members)
        elif "uploadId" in members:
            self.list_parts(bucket, key, members)
        elif "uploads" in members:
            self.list_uploads(bucket, members)
        else:
            self.get_object(f"{bucket}/{key}")

    def stay_silent(self):
        server = self.server
        self.connection.settimeout(0.05)
        while not server.spoken:  # until the client gives up, or the test ends that
            try:
                self.connection.recv(1, socket.MSG_PEEK)
                break
            except TimeoutError:
                pass
        self.close_connection = True

    def asked(self):
        """The places of the bytes that are asked for."""
        first, _, last = self.headers.get("range", "").removeprefix("bytes=").partition("-")
        return range(int(first), int(last) + 1) if last else range(0)

    def is_meant(self, name):
        """Whether the next fault is for what is asked for."""
        server, asked = self.server, self.asked()
        return (name.endswith(server.fault_suffix) and server.fault_bytes in (0, len(asked)) and
                not any(place in asked for place in server.fault_spares))

    def get_object(self, name):
        server = self.server
        with server.lock:
            fault = server.faults.pop(0) if server.faults and self.is_meant(name) else ""
            if fault == "changed":
                server.objects[name] = bytes(255 - b for b in server.objects[name])
                server.etags.pop(name, None)
            held = server.objects.get(name)
        if fault == "late":
            time.sleep(0.05)
        if fault == "away":
            server.go_away()
            self.close_connection = True
            return
        if fault in ("503", "later", "much later"):
            seconds = {"later": "1", "much later": "100"}.get(fault)
            raise Refused(503, "SlowDown", {"Retry-After": seconds} if seconds else {})
        if fault == "slow":
            time.sleep(2)
        if fault == "500":
            raise Refused(500, "InternalError")
        if fault in ("expired", "denied"):
            raise Refused(403, {"expired": "ExpiredToken", "denied": "AccessDenied"}[fault])
        if held is None:
            raise Refused(404, "NoSuchKey")
        if fault == "silent" or server.silent and name == server.silent[0] and server.silent[1] in self.asked():
            self.stay_silent()
            return
        etag = server.etag(name)
        if self.headers.get("if-match", etag) != etag and not server.ignores_conditions:
            raise Refused(412, "PreconditionFailed")
        self.send_object(held, {"ETag": etag, **self.more_headers(name)}, fault)

    def more_headers(self, name):
        return {}

    def send_object(self, held, headers, fault):
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        first, last = (int(found[1]), min(int(found[2]), len(held) - 1)) if found else (0, len(held) - 1)
        if found and first >= len(held):
            raise Refused(416, "InvalidRange")
        if found and fault != "whole":
            headers["Content-Range"] = f"bytes {first}-{last}/{len(held)}"
        else:
            first, last = 0, len(held) - 1
        body, status = held[first:last + 1], 206 if "Content-Range" in headers else 200
        if fault == "wrong":
            body = bytearray(body)
            body[len(body) // 2] ^= 1
        if fault not in ("stall", "reset", "short"):
            self.send(status, headers, len(body), body)
            return
        self.send(status, headers, len(body), body[:len(body) // 2])
        self.close_connection = True
        if fault == "stall":
            self.rfile.read(1)
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def list_objects(self, bucket, members):
        names = sorted(n.partition("/")[2] for n in self.server.objects if n.startswith(bucket + "/"))
        after, repeats = members.get("continuation-token", ""), self.server.repeats
        if repeats == "more":
            self.list_more(bucket, members["prefix"], int(after or 0))
            return
        names = [n for n in names if n.startswith(members["prefix"]) and (n > after or repeats)]
        text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        text += f"<Name>{bucket}</Name><IsTruncated>{str(len(names) > PAGE).lower()}</IsTruncated>"
        for name in names[:0 if repeats == "empty" else PAGE]:
            size = len(self.server.objects[f"{bucket}/{name}"])
            text += (f"<Contents><Key>{html.escape(name).replace(chr(13), '&#13;')}</Key><Size>{size}</Size>"
                     f"<ETag>{html.escape(self.server.etag(bucket + '/' + name))}</ETag></Contents>")
        if len(names) > PAGE:
            token = {False: names[PAGE - 1], "again": "again"}.get(repeats, f"token {len(self.server.requests)}")
            text += f"<NextContinuationToken>{html.escape(token)}</NextContinuationToken>"
        self.answer(200, (text + "</ListBucketResult>").encode())

    def list_more(self, bucket, prefix, first):
        """A page of objects that are not there, and the name of the next one."""
        found = "".join(f"<Contents><Key>{prefix}{n:09}.jsonl</Key><Size>5</Size></Contents>"
                        for n in range(first, first + 1000))
        after = f"<NextContinuationToken>{first + 1000}</NextContinuationToken>"
        self.answer(200, f"<ListBucketResult><IsTruncated>true</IsTruncated>{found}{after}</ListBucketResult>".encode())

    # ---- Writing ----

    def store(self, name, body):
        """A condition decides when the object appears."""
        server = self.server
        with server.lock:
            if self.headers.get("if-none-match") == "*" and name in server.objects and not server.ignores_conditions:
                raise Refused(412, "PreconditionFailed")
            match = self.headers.get("if-match")
            if match and not server.ignores_conditions and (name not in server.objects or server.etag(name) != match):
                raise Refused(412, "PreconditionFailed")
            server.objects[name] = body
            server.etags.pop(name, None)
        return server.etag(name)

    def on_put(self, bucket, key, members, body):
        name, server = f"{bucket}/{key}", self.server
        with server.lock:
            fault = server.put_faults.pop(0) if server.put_faults else ""
        if fault == "appear":
            server.objects.update(server.appearing)
        if fault in ("503", "denied"):
            raise Refused({"503": 503, "denied": 403}[fault], {"503": "SlowDown", "denied": "AccessDenied"}[fault])
        if (name, int(members.get("partNumber", 0))) == server.silent:
            self.stay_silent()
            return
        if "uploadId" in members:
            upload = server.uploads.get(members["uploadId"])
            if not upload or upload["name"] != name:
                raise Refused(404, "NoSuchUpload")
            upload["parts"][int(members["partNumber"])] = body
            etag = f"\"{hashlib.md5(body).hexdigest()}\""
        else:
            etag = self.store(name, body)
        if fault == "lost":  # it is done, and nobody hears of it
            self.close_connection = True
            return
        self.answer(200, headers={"ETag": etag})

    def on_post(self, bucket, key, members, body):
        name, server = f"{bucket}/{key}", self.server
        if "uploads" in members:
            number = f"up+load/{len(server.requests)}"
            server.uploads[number] = {"name": name, "parts": {}}
            self.answer(200, f"<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><UploadId>{number}</UploadId>"
                             "</InitiateMultipartUploadResult>".encode())
            return
        upload = server.uploads.get(members["uploadId"])
        if not upload:
            raise Refused(404, "NoSuchUpload")
        listed = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>(\S+?)</ETag>", body.decode())
        parts = [upload["parts"].get(int(n), b"") for n, _ in listed]
        hashes = [hashlib.md5(p) for p in parts]
        if [f"\"{h.hexdigest()}\"" for h in hashes] != [e for _, e in listed]:
            raise Refused(400, "InvalidPart")
        self.store(name, b"".join(parts))
        of_all = hashlib.md5(b"".join(h.digest() for h in hashes)).hexdigest()
        server.etags[name] = f"\"{of_all}-{len(parts)}\""
        del server.uploads[members["uploadId"]]
        if server.losses:
            server.losses -= 1
            self.close_connection = True
            return
        self.answer(200, b" <CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")

    def on_delete(self, bucket, key, members, _body):
        if "uploadId" in members:
            self.server.uploads.pop(members["uploadId"], None)
        elif self.server.delete_faults:
            raise Refused(*{"denied": (403, "AccessDenied"), "none": (404, "NoSuchKey")}[
                self.server.delete_faults.pop(0)])
        else:
            self.server.objects.pop(f"{bucket}/{key}", None)
        self.answer(204)

    def list_uploads(self, bucket, members):
        if self.server.no_lists:
            raise Refused(self.server.no_lists, "MethodNotAllowed")
        after = members.get("key-marker", ""), members.get("upload-id-marker", "")
        uploads = [(u["name"].partition("/")[2], i) for i, u in self.server.uploads.items()
                   if u["name"].startswith(bucket + "/" + members["prefix"])]
        uploads.sort(key=lambda upload: upload[0])  # those of a key by their beginnings
        uploads = uploads[uploads.index(after) + 1 if after in uploads else 0:]
        found = "".join(f"<Upload><Key>{html.escape(key)}</Key><UploadId>{i}</UploadId></Upload>"
                        for key, i in uploads[:PAGE])
        if len(uploads) > PAGE:
            found += (f"<IsTruncated>true</IsTruncated><NextKeyMarker>{html.escape(uploads[PAGE - 1][0])}"
                      f"</NextKeyMarker><NextUploadIdMarker>{uploads[PAGE - 1][1]}</NextUploadIdMarker>")
        self.answer(200, f"<ListMultipartUploadsResult>{found}</ListMultipartUploadsResult>".encode())

    def list_parts(self, bucket, key, members):
        upload, after = self.server.uploads[members["uploadId"]], int(members["part-number-marker"])
        numbers = sorted(n for n in upload["parts"] if n > after)
        found = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>&quot;"
                        f"{hashlib.md5(upload['parts'][n]).hexdigest()}&quot;</ETag></Part>" for n in numbers[:PAGE])
        if len(numbers) > PAGE:
            found += (f"<IsTruncated>true</IsTruncated><NextPartNumberMarker>{numbers[PAGE - 1]}"
                      "</NextPartNumberMarker>")
        self.answer(200, f"<ListPartsResult>{found}</ListPartsResult>".encode())


class S3Server(Server):
    scheme = "s3"  # of URLs
    secrets = ACCESS, SECRET, TOKEN

    def __init__(self, objects=None, handler=Handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.objects = dict(objects or {})
        self.faults, self.requests, self.uploads, self.moved, self.etags = [], [], {}, {}, {}
        # lost: done, without an answer; appear: another makes `appearing` meanwhile; and how many completed
        # uploads nobody hears of
        self.put_faults, self.appearing, self.losses = [], {}, 0
        self.delete_faults = []  # denied; none: as Google's answers where nothing is there; Amazon's finds that right
        self.ignores_conditions, self.connections = False, 0
        self.clients = set()  # the addresses of those that were accepted since all was settled
        # what never gets an answer, however often it is tried: an object, and a place that ranges have, or the number
        # of a part of an upload
        self.silent, self.spoken = None, False
        self.away = 0  # seconds, for the fault of this name; None: until come_back()
        # lists that never end: with the token "again", or "new" ones, or new ones and "empty", or with "more" objects
        self.repeats = False
        self.no_lists = 0  # the code of answers to questions for uploads
        self.fault_suffix = ""  # of the objects that faults are for
        self.fault_bytes = 0  # the length of the ranges that faults are for; 0: any
        self.fault_spares = ()  # places of bytes: faults are not for ranges that have one of them
        self.open_buckets, self.region, self.token, self.skew = set(), "us-east-1", None, 0
        self.bearer = None  # a token that counts in place of a signature, as Google has it
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def break_silence(self):
        """Those who wait for what never comes lose their connections."""
        self.silent, self.spoken = None, True

    def listen(self):
        threading.Thread(target=self.serve_forever, daemon=True, kwargs={"poll_interval": 0.05}).start()

    def go_away(self):
        """New connections are refused for a while, as if the server was started anew."""
        self.shutdown()
        self.server_close()
        if self.away is not None:
            threading.Timer(self.away, self.come_back).start()

    def come_back(self):
        bound = False
        while not bound:  # a client of somebody else's may have been given the port, for a moment
            self.socket = socket.socket(self.address_family, self.socket_type)
            try:
                self.server_bind()
                bound = True
            except OSError:
                self.socket.close()
                time.sleep(0.1)
        self.server_activate()
        self.listen()

    def now(self):
        return time.time() + self.skew

    def etag(self, name):
        return self.etags.get(name) or etag_of(bytes(self.objects[name]))

    def environment(self, **more):
        """What a client needs, and nothing else of this machine's."""
        return {"AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "AWS_CONFIG_FILE": "/nowhere", "NO_PROXY": "*",
                "AWS_EC2_METADATA_DISABLED": "true", **COUNTS, **more}

    def handle_error(self, request, client_address):
        pass  # a client that went away

    # ---- Connections ----

    def process_request(self, request, client_address):
        with self.lock:
            self.connections += 1
            self.clients.add(client_address)
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.connections -= 1

    def settle(self):
        """Waits until all that clients asked for is done, those that have gone, too: it would get the next faults."""
        with socket.create_connection(self.server_address) as last:  # behind theirs, and accepted after them
            address = last.getsockname()
        while address not in self.clients:
            time.sleep(0.01)
        self.clients.clear()
        seen = 0
        while seen < 3:
            seen = seen + 1 if self.connections == 0 else 0
            time.sleep(0.01)

    def __enter__(self):
        self.listen()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
