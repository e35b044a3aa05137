"""azure_server.py: the server of the tests as Azure's Blob service: an account below the first part of the path, as
emulators have it; blobs, blocks and lists of them, conditions, Shared Key and SAS signatures (of the account, of a
container or a blob) that are checked with code of its own, and tokens of Entra ID, of which server.bearer is right. It
misbehaves as s3_server.py's does, whose objects, faults and connections it has.

    with AzureServer({"container/blob": b"bytes"}) as server:
        ... server.url, server.environment(), server.sas("rl") ...

tests/s3/check_azure.py runs clients of others against it, Microsoft's among them.
"""
import base64
import datetime
import email.utils
import hashlib
import hmac
import html
import re
import urllib.parse

import s3_server
from http_requests import date_of
from s3_server import COUNTS, PAGE, Refused, S3Server

ACCOUNT = "testaccount"
KEY = base64.b64encode(b"a key of the tests, some 64 bytes long as those of real accounts").decode()


def sign(text):
    return base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), "sha256")).decode()


def shared_key(method, path, query, headers):
    """What a request is signed as, as "Authorize with Shared Key" of Microsoft's documentation writes it down."""
    length = headers.get("content-length", "")
    plain = [headers.get(name, "") for name in ("content-encoding", "content-language")]
    plain += ["" if length == "0" else length]
    plain += [headers.get(name, "") for name in ("content-md5", "content-type", "date", "if-modified-since", "if-match",
                                                 "if-none-match", "if-unmodified-since", "range")]
    lines = [method, *plain, *(f"{n}:{headers[n].strip()}" for n in sorted(headers) if n.startswith("x-ms-"))]
    members = {}
    for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True):
        members.setdefault(name.lower(), []).append(value)
    resource = "".join(f"\n{name}:{','.join(sorted(members[name]))}" for name in sorted(members))
    return sign("\n".join(lines) + f"\n/{ACCOUNT}{path}{resource}")


def sas_signature(members):
    """Of an account SAS, as "Create an account SAS" has it from version 2020-12-06 on."""
    return sign("".join(f"{text}\n" for text in (ACCOUNT, *(members.get(n, "") for n in (
        "sp", "ss", "srt", "st", "se", "sip", "spr", "sv", "ses")))))


def service_sas_signature(members, path):
    """Of a service SAS, as "Create a service SAS" has it from version 2020-12-06 on; sr is c, a container, or b, a
    blob."""
    container, _, name = path.strip("/").partition("/")[2].partition("/")
    resource = f"/blob/{ACCOUNT}/{container}" + (f"/{name}" if members["sr"] == "b" else "")
    lines = [members.get(n, "") for n in ("sp", "st", "se")] + [resource]
    lines += [members.get(n, "") for n in ("si", "sip", "spr", "sv", "sr", "snapshot", "ses", "rscc", "rscd", "rsce",
                                           "rscl", "rsct")]
    return sign("\n".join(lines))


CODES = {"NoSuchKey": "BlobNotFound", "PreconditionFailed": "ConditionNotMet", "SlowDown": "ServerBusy",
         "AccessDenied": "AuthorizationFailure", "ExpiredToken": "AuthenticationFailed"}


class Handler(s3_server.Handler):
    NEEDED = {"GET": "r", "PUT": "w", "DELETE": "d"}  # permissions of a SAS; lists need l

    def refuse(self, refused):
        if refused.code == "ExpiredToken" and self.headers.get("authorization", "").startswith("Bearer "):
            refused.status, refused.code = 401, "InvalidAuthenticationInfo"
        refused.code = CODES.get(refused.code, refused.code)
        refused.headers["x-ms-error-code"] = refused.code
        super().refuse(refused)

    def check_signature(self, path, query, body):
        server, headers = self.server, self.headers
        members = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if "sig" in members:
            self.check_sas(members, urllib.parse.unquote(path))
            return
        if headers.get("authorization", "").startswith("Bearer "):
            if headers["authorization"] != f"Bearer {server.bearer}":
                raise Refused(401, "InvalidAuthenticationInfo")
            return
        found = re.fullmatch(r"SharedKey ([^:]+):(\S+)", headers.get("authorization", ""))
        if not found:
            raise Refused(401, "NoAuthenticationInformation")
        if found[1] != ACCOUNT or found[2] != shared_key(self.command, path, query, headers):
            raise Refused(403, "AuthenticationFailed")
        sent = email.utils.parsedate_to_datetime(headers.get("x-ms-date") or headers["date"]).timestamp()
        if abs(sent - server.now()) > 900:
            raise Refused(403, "AuthenticationFailed")

    def check_sas(self, members, path):
        if members["sig"] != (service_sas_signature(members, path) if "sr" in members else sas_signature(members)):
            raise Refused(403, "AuthenticationFailed")
        until = datetime.datetime.strptime(members["se"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
        if until.timestamp() < self.server.now():
            raise Refused(403, "AuthenticationFailed")
        container = members.get("restype") == "container"
        if "sr" not in members and ("c" if container else "o") not in members["srt"]:
            raise Refused(403, "AuthorizationResourceTypeMismatch")
        if ("l" if container and self.command == "GET" else self.NEEDED[self.command]) not in members["sp"]:
            raise Refused(403, "AuthorizationPermissionMismatch")

    def run(self):
        if not self.headers.get("x-ms-version") and "sig=" not in self.path:
            self.server.unversioned += 1
        super().run()

    def name_of(self, bucket, key):
        """The path of an emulator begins with the account."""
        container, _, blob = key.partition("/")
        if bucket != ACCOUNT or container not in self.server.containers:
            raise Refused(404, "ContainerNotFound")
        return container, blob

    # ---- Reading ----

    def on_get(self, bucket, key, members, _):
        if bucket == ACCOUNT and members.get("restype") == "container" and members.get("comp") == "list":
            self.list_blobs(*self.name_of(bucket, key), members)
            return
        name = "/".join(self.name_of(bucket, key))
        if members.get("comp") == "blocklist":
            self.list_blocks(name)
        else:
            if "x-ms-range" in self.headers:
                self.headers["range"] = self.headers["x-ms-range"]
            self.get_object(name)

    def on_head(self, bucket, key, _members, _body):
        name = "/".join(self.name_of(bucket, key))
        if name not in self.server.objects:
            raise Refused(404, "BlobNotFound")
        headers = {"ETag": self.server.etag(name), **self.more_headers(name)}
        self.send(200, headers, len(self.server.objects[name]), b"")

    def more_headers(self, name):
        return {"x-ms-blob-type": "BlockBlob", "Accept-Ranges": "bytes",
                "Last-Modified": date_of(int(self.server.now())),
                **self.server.metadata.get(name, {})}

    def list_blobs(self, container, _, members):
        server, prefix, after = self.server, members.get("prefix", ""), members.get("marker", "")
        names = sorted(n.partition("/")[2] for n in server.objects if n.startswith(container + "/"))
        names = [n for n in names if n.startswith(prefix) and (n > after or server.repeats)]
        page = names[:0 if server.repeats == "empty" else PAGE]
        text = ("\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"x\" "
                f"ContainerName=\"{container}\"><Prefix>{html.escape(prefix)}</Prefix><MaxResults>{PAGE}</MaxResults>"
                "<Blobs>")
        for name in page:
            full = f"{container}/{name}"
            kind = "directory" if full in server.folders else "file"
            text += (f"<Blob><Name>{html.escape(name)}</Name><Properties>"
                     f"<Last-Modified>{date_of(int(server.now()))}</Last-Modified>"
                     "<Content-Type>application/octet-stream</Content-Type>"
                     f"<Content-Length>{len(server.objects[full])}</Content-Length>"
                     f"<Etag>{server.etag(full).strip(chr(34))}</Etag><BlobType>BlockBlob</BlobType>"
                     f"<ResourceType>{kind}</ResourceType></Properties></Blob>")
        token = ""
        if len(names) > PAGE:
            token = {False: names[PAGE - 1], "again": "again"}.get(server.repeats, f"token {len(server.requests)}")
        text += f"</Blobs><NextMarker>{html.escape(token)}</NextMarker></EnumerationResults>"
        self.answer(200, text.encode(), {"Content-Type": "application/xml"})

    def list_blocks(self, name):
        blocks = self.server.uploads.get(name, {"parts": {}})["parts"]
        if not blocks and name not in self.server.objects:
            raise Refused(404, "BlobNotFound")
        found = "".join(f"<Block><Name>{n}</Name><Size>{len(b)}</Size></Block>" for n, b in blocks.items())
        self.answer(200, f"\ufeff<BlockList><UncommittedBlocks>{found}</UncommittedBlocks></BlockList>".encode(),
                    {"Content-Type": "application/xml"})

    # ---- Writing ----

    def check_body(self, body):
        """Content-MD5, which the service compares."""
        md5 = self.headers.get("content-md5")
        if md5 and md5 != base64.b64encode(hashlib.md5(body).digest()).decode():
            raise Refused(400, "Md5Mismatch")

    def on_put(self, bucket, key, members, body):
        server = self.server
        if members.get("restype") == "container":
            server.containers.add(key)
            self.answer(201)
            return
        name = "/".join(self.name_of(bucket, key))
        with server.lock:
            fault = server.put_faults.pop(0) if server.put_faults else ""
        if fault == "appear":
            server.objects.update(server.appearing)
        if fault == "damaged":
            body = body[:-1] + bytes([body[-1] ^ 1])
        if fault in ("503", "denied"):
            raise Refused(*{"503": (503, "ServerBusy"), "denied": (403, "AuthorizationFailure")}[fault])
        block = base64.b64decode(members.get("blockid", ""))
        if server.silent and server.silent[0] == name and block.startswith(b"%06d-" % (server.silent[1] - 1)):
            self.stay_silent()
            return
        self.check_body(body)
        if members.get("comp") == "block":
            self.put_block(name, members["blockid"], body)
        elif members.get("comp") == "blocklist":
            self.put_list(name, body)
            if server.losses:
                server.losses -= 1
                fault = "lost"
        elif self.headers.get("x-ms-blob-type") != "BlockBlob":
            raise Refused(400, "MissingRequiredHeader")
        else:
            self.make(name, body)
        if fault == "lost":  # it is done, and nobody hears of it
            self.close_connection = True
            return
        self.answer(201, headers={"ETag": server.etag(name)} if name in server.objects else {})

    def make(self, name, body):
        """S3 and Azure refuse what exists with different codes."""
        try:
            self.store(name, body)
        except Refused:
            if self.headers.get("if-none-match"):
                raise Refused(409, "BlobAlreadyExists") from None
            raise Refused(412, "ConditionNotMet") from None
        server = self.server
        server.writes[name] = server.writes.get(name, 0) + 1
        server.uploads.pop(name, None)
        server.metadata[name] = {n: v for n, v in self.headers.items() if n.startswith("x-ms-meta-")}

    def put_block(self, name, number, body):
        blocks = self.server.uploads.setdefault(name, {"name": name, "parts": {}})["parts"]
        if len(base64.b64decode(number, validate=True)) > 64 or any(len(number) != len(other) for other in blocks):
            raise Refused(400, "InvalidBlobOrBlock")
        blocks[number] = body

    def put_list(self, name, body):
        blocks = self.server.uploads.get(name, {"parts": {}})["parts"]
        names = re.findall(r"<Latest>(\S+?)</Latest>", body.decode())
        blocks = {**self.server.committed.get(name, {}), **blocks}
        if not all(number in blocks for number in names):
            raise Refused(400, "InvalidBlockList")
        self.make(name, b"".join(blocks[number] for number in names))
        self.server.committed[name] = {number: blocks[number] for number in names}

    def on_delete(self, bucket, key, _members, _body):
        name, server = "/".join(self.name_of(bucket, key)), self.server
        if server.delete_faults:
            raise Refused(*{"denied": (403, "AuthorizationFailure"), "none": (404, "BlobNotFound")}[
                server.delete_faults.pop(0)])
        if name not in server.objects:
            raise Refused(404, "BlobNotFound")
        del server.objects[name]
        self.answer(202)


class AzureServer(S3Server):
    scheme, secrets = "az", (KEY,)

    def __init__(self, objects=None):
        super().__init__(objects, Handler)
        self.containers = {name.partition("/")[0] for name in self.objects} | {"b"}
        self.committed, self.metadata, self.folders = {}, {}, set()  # blocks that a list has not named: uploads
        self.writes, self.unversioned, self.bearer = {}, 0, None
        self.url += f"/{ACCOUNT}"

    def etag(self, name):
        """Another one with each write, and where a test changes the bytes."""
        digest = hashlib.md5(bytes(self.objects[name])).hexdigest()[:10].upper()
        return f"\"0x8D{digest}{self.writes.get(name, 0):02X}\""

    def sas(self, permissions, seconds=3600, kinds="sco"):
        until = datetime.datetime.fromtimestamp(self.now() + seconds, datetime.timezone.utc)
        members = {"sv": "2021-12-02", "ss": "b", "srt": kinds, "sp": permissions,
                   "se": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
        return urllib.parse.urlencode({**members, "sig": sas_signature(members)})

    def service_sas(self, permissions, container, name="", seconds=3600):
        until = datetime.datetime.fromtimestamp(self.now() + seconds, datetime.timezone.utc)
        members = {"sv": "2021-12-02", "sr": "b" if name else "c", "sp": permissions,
                   "se": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
        signature = service_sas_signature(members, f"/{ACCOUNT}/{container}/{name}")
        return urllib.parse.urlencode({**members, "sig": signature})

    def environment(self, **more):
        """What a client needs, and nothing else of this machine's."""
        return {"AZURE_STORAGE_ENDPOINT": self.url, "AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_KEY": KEY,
                "AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:9",  # nobody: this is no machine of Azure
                "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "AWS_CONFIG_FILE": "/nowhere", "NO_PROXY": "*", **COUNTS,
                **more}
