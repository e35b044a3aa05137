"""hub_server.py: a small server of the Hugging Face Hub's protocol for tests, on this machine: repositories with
commits and branches, trees in pages that a Link header joins, files by resolve: small ones, of public repositories
by a redirect on the same host, and large ones, kept by Xet on a second server (storage, with its own etags, and
addresses that are signed and expire), gated, private, renamed and missing repositories with the Hub's X-Error-Code, and
limits of rates. It takes commits, too, as huggingface_hub sends them without Xet. It can also be told to misbehave.

    with HubServer() as hub:
        hub.commit("datasets/org/name", {"data/a.jsonl": b"..."})         # on the branch main
        hub.faults = ["429", ""]        # what the next requests get, one each, of those whose path has hub.fault_part
        ... hub.url, hub.requests, hub.storage.requests ...

Faults: 429 (with RateLimit), later, much later (Retry-After), 503, 500, reset, short (half of the bytes), damaged,
silent, loop (redirects to itself), denied, expired (an address of storage that counts no longer), broken (other JSON:
hub.broken), other (the etag of another file).
"""
import base64
import hashlib
import json
import os
import re
import socket
import struct
import threading
import time
import urllib.parse

from http_requests import Handler as HttpHandler
from http_requests import Server

TOKEN = "hf_UNSPEAKABLE"
LARGE = 500  # bytes: such files are on the other server
PAGE = 3  # entries of a tree
COUNTS = {name: value for name, value in os.environ.items() if name.startswith("GCOV_")}  # where `make coverage` counts


def git_oid(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Refused(Exception):
    def __init__(self, status, word="", message="", headers=()):
        super().__init__(word)
        self.status = status
        self.headers = {**({"X-Error-Code": word} if word else {}),
                        **({"X-Error-Message": message} if message else {}), **dict(headers)}


class Handler(HttpHandler):
    def answer(self, status, body=b"", headers=()):
        self.send(status, dict(headers), len(body), b"" if self.command == "HEAD" else body)

    def run(self):
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.server.lock:
            self.server.requests.append((self.command, self.path, self.sent))
            fault = self.server.next_fault(self.path)
            self.server.happen(self.path)
        try:
            if self.fail(fault):
                return
            path, _, query = self.path.partition("?")
            self.serve(path, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), fault)
        except Refused as refused:
            self.answer(refused.status, b'{"error":"' + TOKEN.encode() + b'"}', refused.headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def fail(self, fault):
        """Whether that is all there is to do."""
        if fault == "429":
            raise Refused(429, headers={"RateLimit": '"resolvers";r=0;t=0'})
        if fault == "later":
            raise Refused(429, headers={"Retry-After": "1"})
        if fault == "much later":
            raise Refused(429, headers={"Retry-After": "299"})
        if fault in ("503", "500"):
            raise Refused(int(fault))
        if fault == "denied":
            raise Refused(403, message="Forbidden")
        if fault == "loop":
            self.answer(307, headers={"Location": self.path})
            return True
        if fault == "silent":
            self.close_connection = True
            self.rfile.read(1)
            return True
        if fault == "reset":
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return True
        return False

    def send_range(self, content, headers, fault):
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        first, last = (int(found[1]), min(int(found[2]), len(content) - 1)) if found else (0, len(content) - 1)
        if found and first >= len(content):
            raise Refused(416, headers=headers)
        if found:
            headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        body = content[first:last + 1]
        if fault == "damaged":
            body = body[:-1] + b"?"
        short = fault == "short"
        self.send(206 if found else 200, {**headers, "Accept-Ranges": "bytes"}, len(body),
                  b"" if self.command == "HEAD" else body[:len(body) // 2] if short else body)
        self.close_connection = self.close_connection or short


class HubHandler(Handler):
    def send(self, status, headers, *rest):
        """Each answer says what is left of a rate."""
        super().send(status, {"RateLimit": '"resolvers";r=2999;t=172', **headers}, *rest)

    def serve(self, path, members, fault):
        moved = next((old for old in self.server.renamed if f"/{old}/" in path + "/"), None)
        if moved:  # of another name: a redirect on the same host, which wants the token again
            self.answer(self.server.moved, headers={"Location": self.path.replace(moved, self.server.renamed[moved],
                                                                                  1)})
            return
        if not path.startswith(self.server.base + "/"):
            raise Refused(404)
        path = path.removeprefix(self.server.base)
        if self.command == "POST" and self.write(path):
            return
        found = re.fullmatch(r"/api/resolve-cache/((?:datasets|models)/[^/]+/[^/]+)/([^/]+)/(.+)", path)
        if found:
            content = self.find(found[1])["commits"][found[2]][urllib.parse.unquote(found[3])]
            self.send_range(content, {"X-Repo-Commit": found[2], "ETag": f'"{git_oid(content)}"'}, fault)
            return
        if path.startswith("/api/"):
            self.serve_api(path[5:], members, fault)
            return
        found = re.fullmatch(r"/((?:datasets/)?[^/]+(?:/[^/]+)?)/resolve/([^/]+)/(.+)", path)
        if not found:
            raise Refused(404)
        name = found[1] if found[1].startswith("datasets/") else "models/" + found[1]
        self.resolve(self.find(name), urllib.parse.unquote(found[2]), urllib.parse.unquote(found[3]), fault)

    def find(self, name):
        """The repository, if it is there for who asks."""
        server, token = self.server, self.headers.get("authorization")
        if token is not None and token not in (f"Bearer {TOKEN}", "Bearer hf_other"):
            raise Refused(401, message="Invalid credentials in Authorization header")
        repository = server.repositories.get(name)
        if repository is None or (name in server.private and token != f"Bearer {TOKEN}"):
            if token is None:
                raise Refused(401, "RepoNotFound" if repository is None else "", "Invalid username or password.")
            raise Refused(404, "RepoNotFound", "Repository not found")
        self.gated = name in server.gated and token != f"Bearer {TOKEN}"
        self.name = name
        return repository

    def commit_of(self, repository, revision):
        commit = repository["refs"].get(revision, revision)
        if commit not in repository["commits"]:
            raise Refused(404, "RevisionNotFound", "Invalid rev id: " + revision)
        return commit

    def serve_api(self, path, members, fault):
        found = re.fullmatch(r"((?:datasets|models)/[^/]+(?:/[^/]+)?)/(revision|tree|refs|paths-info)(?:/(.*))?", path)
        if not found:  # repo_info() without a revision
            repository = self.find(path)
            self.say(self.info(repository, repository["refs"]["main"]), fault)
            return
        repository = self.find(found[1])
        if found[2] == "refs":
            self.say(self.refs(repository), fault)
            return
        revision, _, folder = found[3].partition("/")
        commit = self.commit_of(repository, urllib.parse.unquote(revision))
        if found[2] == "revision":
            info = self.info(repository, commit)
            if "expand" in members:
                info = {name: info[name] for name in ("id", members["expand"])}
            self.say(info, fault)
        elif found[2] == "paths-info":
            wanted = urllib.parse.parse_qs(self.body.decode())["paths"]
            self.say([e for e in self.entries(repository, commit, "", True) if e["path"] in wanted], fault)
        else:
            self.tree(repository, commit, urllib.parse.unquote(folder), members, fault)

    def write(self, path):
        """Answers what huggingface_hub asks to make a repository and a commit; returns False for other paths."""
        given = [json.loads(line) for line in self.body.splitlines()] if b"paths=" not in self.body else []
        found = re.fullmatch(r"/(?:api/)?(datasets/[^/]+/[^/]+?)(?:\.git/info/lfs/objects/(batch)|/(preupload|commit)/"
                             r"([^/]+))", path)
        if path not in ("/api/repos/create", "/api/validate-yaml") and not found:
            return False
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refused(401, message="Invalid username or password.")
        if path == "/api/validate-yaml":
            self.say({"errors": [], "warnings": []}, "")
        elif not found:
            name = f"{given[0]['type']}s/{given[0]['organization']}/{given[0]['name']}"
            there = name in self.server.repositories
            if not there:
                self.server.commit(name, {})
            self.answer(409 if there else 200, json.dumps({"url": f"{self.server.url}/{name}"}).encode())
        elif found[2]:
            self.say({"transfer": "basic", "objects": [
                {**one, "actions": {"upload": {"href": f"{self.server.storage.url}/{one['oid']}?Expires=9"}}}
                for one in given[0]["objects"]]}, "")
        elif found[3] == "preupload":
            self.say({"files": [{"path": one["path"], "shouldIgnore": False, "oid": None,
                                 "uploadMode": "lfs" if one["size"] > LARGE else "regular"}
                                for one in given[0]["files"]]}, "")
        else:
            repository = self.find(found[1])
            files = dict(repository["commits"][self.commit_of(repository, found[4])])
            for one in (line["value"] for line in given if line["key"] != "header"):
                files[one["path"]] = (base64.b64decode(one["content"]) if "content" in one else
                                      self.server.storage.files[one["oid"]])
            commit = self.server.commit(found[1], files, found[4])
            self.say({"commitUrl": f"{self.server.url}/{found[1]}/commit/{commit}", "commitOid": commit}, "")
        return True

    def say(self, what, fault, headers=()):
        text = json.dumps(what).encode()
        if fault == "broken":
            text = self.server.broken
        self.send_range(text, {"Content-Type": "application/json", **dict(headers)}, fault)

    def info(self, repository, commit):
        files = [{"rfilename": n} for n in sorted(repository["commits"][commit])]
        return {"id": self.name.partition("/")[2], "sha": commit, "private": False, "gated": self.gated,
                "siblings": files, "tags": [], "downloads": 0, "likes": 0, "lastModified": "2026-01-01T00:00:00.000Z"}

    def refs(self, repository):
        def listed(begin, short):
            return [{"name": n[len(short):], "ref": n if n.startswith("refs/") else "refs/heads/" + n,
                     "targetCommit": c} for n, c in repository["refs"].items() if n.startswith(begin)]
        return {"branches": [e for e in listed("", "") if not e["name"].startswith("refs/")],
                "converts": listed("refs/convert/", "refs/convert/"), "tags": []}

    def entries(self, repository, commit, folder, recursive):
        """Directories before what is in them, as the Hub has it."""
        found = {}
        for path, content in sorted(repository["commits"][commit].items()):
            if folder and not path.startswith(folder + "/"):
                continue
            parts = path.split("/")
            for depth in range(1, len(parts)):
                name = "/".join(parts[:depth])
                if len(name) > len(folder):
                    found[name] = {"type": "directory", "oid": git_oid(name.encode()), "size": 0, "path": name}
            entry = {"type": "file", "oid": git_oid(content), "size": len(content), "path": path}
            if len(content) > LARGE:
                entry["lfs"] = {"oid": sha256(content), "size": len(content), "pointerSize": 130}
                entry["xetHash"] = sha256(content[::-1])
            found[path] = entry
        depth = folder.count("/") + 1 if folder else 0
        return [e for n, e in sorted(found.items()) if recursive or n.count("/") == depth]

    def tree(self, repository, commit, folder, members, fault):
        entries = self.entries(repository, commit, folder, members.get("recursive", "").lower() == "true")
        if folder and not entries:
            raise Refused(404, "EntryNotFound", "does not exist on ...")
        at = int(members.get("cursor") or 0)
        headers = {}
        if at + PAGE < len(entries) or self.server.repeats:
            after = 0 if self.server.repeats else at + PAGE
            query = urllib.parse.urlencode({**members, "cursor": after})
            headers["Link"] = f'<{self.server.url}{self.path.partition("?")[0]}?{query}>; rel="next"'
        self.say(entries[at:at + PAGE], fault, headers)

    def resolve(self, repository, revision, path, fault):
        commit = self.commit_of(repository, revision)
        if self.gated:
            raise Refused(403 if "authorization" in self.headers else 401, "GatedRepo", "Access is restricted")
        content = repository["commits"][commit].get(path)
        if content is None:
            raise Refused(404, "EntryNotFound", "Entry not found")
        oid, base = git_oid(content), self.server.base
        headers = {"X-Repo-Commit": commit, "ETag": f'"{oid}"'}
        if len(content) <= LARGE and (not content or self.name in self.server.private | self.server.gated or
                                      self.name.count("/") < 2):
            self.send_range(content, headers, fault)
            return
        if len(content) <= LARGE:
            query = urllib.parse.urlencode({self.path: "", "etag": f'"{oid}"'})
            headers = {"X-Repo-Commit": commit, "Location": f"{base}/api/resolve-cache/{self.name}/{commit}/"
                       f"{urllib.parse.quote(path)}?{query}"}
            if self.server.says_etag:
                headers.update({"X-Linked-Etag": f'"{oid}"', "X-Linked-Size": str(len(content))})
            self.answer(307, b"Temporary Redirect", headers)
            return
        etag = sha256(b"another" if fault == "other" else content)
        xet = sha256(content[::-1])
        headers = {"X-Repo-Commit": commit, "X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(len(content)),
                   "X-Xet-Hash": xet, "Link": f'<{self.server.url}{base}/api/{self.name}/xet-read-token/{commit}>; '
                   f'rel="xet-auth", <{self.server.storage.url}/v1/reconstructions/{xet}>; '
                   'rel="xet-reconstruction-info"', "Location": self.server.storage.address(content)}
        self.answer(302, b"Found. Redirecting", headers)


class StorageHandler(Handler):
    """Keeps files by their sums. It refuses whoever sends it the Hub's token."""

    def serve(self, path, members, fault):
        if "authorization" in self.headers:
            self.server.tokens_seen.append(self.path)
            raise Refused(400)
        if fault == "expired" or int(members["Expires"]) < self.server.now_serving:
            raise Refused(403)
        if self.command == "PUT":
            assert sha256(self.body) == path[1:]
            self.server.files[path[1:]] = self.body
            self.answer(200)
            return
        content = self.server.files[path[1:]]
        self.send_range(content, {"ETag": f'"of-storage-{path[1:9]}"'}, fault)


class Faulty(Server):
    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.requests, self.faults, self.fault_part = [], [], ""
        self.events = []  # (a part of a path, how often it is still to come, what happens then, before the answer)
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def next_fault(self, path):
        return self.faults.pop(0) if self.faults and self.fault_part in path else ""

    def happen(self, path):
        for event in [e for e in self.events if e[0] in path]:
            self.events.remove(event)
            part, left, what = event
            if left > 1:
                self.events.append((part, left - 1, what))
            else:
                what()

    def now(self):
        return time.time()

    def handle_error(self, request, client_address):
        pass  # a client that went away

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True, kwargs={"poll_interval": 0.05}).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Storage(Faulty):
    def __init__(self):
        super().__init__(StorageHandler)
        self.files, self.tokens_seen, self.now_serving = {}, [], 0

    def address(self, content):
        self.files[sha256(content)] = content
        return f"{self.url}/{sha256(content)}?Expires={self.now_serving}&X-Signature=UNSPEAKABLE"


class HubServer(Faulty):
    def __init__(self):
        super().__init__(HubHandler)
        self.storage = Storage()
        self.repositories, self.gated, self.private, self.renamed = {}, set(), set(), {}
        self.repeats, self.broken = False, b"[{"
        self.base = ""  # the path of the endpoint
        self.moved, self.says_etag = 307, True  # how a renamed one redirects, and whether that of a small file has it

    def commit(self, name, files, revision="main"):
        """A commit with these files, and no others; the revision is then it."""
        repository = self.repositories.setdefault(name, {"refs": {}, "commits": {}})
        text = json.dumps([len(repository["commits"])] + sorted((n, sha256(c)) for n, c in files.items()))
        commit = hashlib.sha1(name.encode() + text.encode()).hexdigest()
        repository["commits"][commit] = dict(files)
        repository["refs"][revision] = commit
        return commit

    def environment(self, **more):
        """What a client needs, and nothing else of this machine's."""
        return {"HF_ENDPOINT": self.url + self.base, "HF_HOME": "/nowhere", "HOME": "/nowhere", "NO_PROXY": "*",
                **COUNTS, **more}

    def __enter__(self):
        self.storage.__enter__()
        return super().__enter__()

    def __exit__(self, *what):
        super().__exit__(*what)
        self.storage.__exit__(*what)
