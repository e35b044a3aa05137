"""key_server.py: a server that gives keys, in the place of those that machines ask: EC2's metadata, a container's, STS,
Google's metadata, and Entra ID of Azure with the identities of its machines and services. It can also be told to fail.

    provider = Provider()
    ... provider.url, provider.asked, provider.fault = 500 (or "silent", "drip") ...
"""
import datetime
import http.server
import json
import threading
import time
import urllib.parse

from s3_server import ACCESS, SECRET, TOKEN

IDENTITY, GRANT, SESSION, BEARER = "web+identity/token==", "container-grant", "metadata-session", "ya29.bearer"
CLIENT_SECRET = "8Q~client+secret&"
STORAGE = "https://storage.azure.com"
# what is posted for a token of Entra ID, by what shows who asks
ENTRA = {
    "secret": {"grant_type": "client_credentials", "scope": STORAGE + "/.default", "client_id": "client-1",
               "client_secret": CLIENT_SECRET},
    "federation": {"grant_type": "client_credentials", "scope": STORAGE + "/.default", "client_id": "client-1",
                   "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                   "client_assertion": IDENTITY}}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, code, body=""):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def keys(self):
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self.server.lasts)
        return self.some({"AccessKeyId": ACCESS, "SecretAccessKey": SECRET, "Token": TOKEN,
                          "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")})

    def some(self, members):
        """The members but one; before them, if the server is odd, their names where they are not members."""
        there = {name: value for name, value in members.items() if name != self.server.without}
        decoys = {f"Name{i}": name for i, name in enumerate(members)}
        return {**decoys, "Past": dict.fromkeys(members, "past"), **there} if self.server.odd else there

    def answer_json(self, members, **spelling):
        text = json.dumps(members, **spelling)
        self.answer(200, text.replace("/", "\\u002f") if self.server.odd else text.replace("/", "\\/"))

    def drip(self):
        """An answer without an end, fast enough to be none that stalls."""
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b" " * 2048)
                time.sleep(0.2)
        except OSError:  # nobody listens any more
            self.close_connection = True

    def run(self):
        server, h = self.server, self.headers
        body = self.rfile.read(int(h.get("Content-Length") or 0)).decode()
        server.asked.append(f"{self.command} {self.path}")
        if len(server.asked) > server.there:
            self.answer(404)
        elif len(server.asked) > server.answers:
            server.released.wait()
            self.close_connection = True
        elif server.fault == "silent":
            time.sleep(3)
            self.close_connection = True
        elif server.fault == "drip":
            self.drip()
        elif server.fault:
            self.answer(server.fault, f"{SECRET} {TOKEN}")
        elif self.path == "/latest/api/token" and self.command == "PUT" and h["X-aws-ec2-metadata-token-ttl-seconds"]:
            self.answer(200, SESSION)
        elif self.path.startswith("/latest/") and h["X-aws-ec2-metadata-token"] != SESSION:
            self.answer(401)
        elif self.path == "/latest/meta-data/iam/security-credentials/":
            self.answer(200, "my-role\n")
        elif self.path == "/latest/meta-data/iam/security-credentials/my-role":
            self.answer_json({"Code": "Success", **self.keys()}, indent=2)
        elif self.path == "/container" and h.get("Authorization", "") == server.grant:
            self.answer_json(self.keys(), separators=(",", ":"))
        elif self.path == "/sts/" and self.command == "POST" and dict(urllib.parse.parse_qsl(body)) == {
                "Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": "arn:aws:iam::1:role/x",
                "RoleSessionName": "leat", "WebIdentityToken": IDENTITY} and "form" in h["Content-Type"]:
            keys = self.keys()
            keys = {"SessionToken" if name == "Token" else name: value for name, value in keys.items()}
            inner = "".join(f"<{n}>{v}</{n}>" for n, v in keys.items())
            self.answer(200, "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
                             f"<AssumeRoleWithWebIdentityResult><Credentials>{inner}</Credentials>"
                             "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>")
        elif self.path.endswith("/service-accounts/default/token") and h["Metadata-Flavor"] == "Google":
            self.answer_json(self.some({"access_token": BEARER, "expires_in": server.lasts, "token_type": "Bearer"}))
        elif self.path == "/tenant-1/oauth2/v2.0/token" and "form" in h["Content-Type"] and dict(
                urllib.parse.parse_qsl(body)) in ENTRA.values():
            self.answer_json(self.some({"token_type": "Bearer", "expires_in": server.lasts,
                                        "ext_expires_in": server.lasts, "access_token": BEARER}))
        elif self.path.startswith(("/metadata/identity/oauth2/token?", "/msi?")):
            self.identity(dict(urllib.parse.parse_qsl(self.path.partition("?")[2])))
        else:
            self.answer(404)

    def identity(self, members):
        """As the machine's metadata answer, and as a service does: in strings, and this one without expires_in."""
        machine = self.path.startswith("/metadata")
        versions = ("2018-02-01", "2019-08-01") if machine else ("2019-08-01",)
        named = members.pop("client_id", None)
        shown = self.headers["Metadata"] == "true" if machine else self.headers["X-IDENTITY-HEADER"] == GRANT
        fits = members.pop("api-version", None) in versions and members == {"resource": STORAGE}
        if not fits or not shown or named not in (None, "client-1"):
            self.answer(400, '{"error":"invalid_request","error_description":"Identity not found"}')
            return
        lasts = {"expires_in": str(self.server.lasts)} if machine else {}
        self.answer_json(self.some({"access_token": BEARER, "client_id": "client-1", **lasts,
                                    "expires_on": str(int(time.time()) + self.server.lasts),
                                    "resource": STORAGE, "token_type": "Bearer"}))

    do_GET = do_PUT = do_POST = do_CONNECT = run


class Provider(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host="127.0.0.1", port=0):
        super().__init__((host, port), Handler)
        self.host = f"{host}:{self.server_address[1]}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.reset()

    def reset(self):
        self.asked, self.fault, self.lasts, self.grant = [], None, 3600, ""
        self.without = None  # a member that the answers do not have
        self.odd = False  # the names of members stand elsewhere in the answers, too
        self.answers, self.released = 1 << 30, threading.Event()  # what is asked after these gets no answer
        self.there = 1 << 30  # what is asked after these is not found
