#!/usr/bin/env python3
"""test_keys.py: keys that machines get: from EC2's metadata, of a container, by a web identity, and tokens of Google
and of Azure's Entra ID, each from a server of ours in their place. They are asked for in the order that other tools
have, again before they expire and when the server says that they have, and what fails is a sentence. None of them is in
any message, nor left in memory: libcurl kept copies of what it had sent and received. An answer is read as JSON: a name
that was another member's value, or in an inner object, was taken for the member. Who gives keys is asked past a
proxy, unlike storage; and a container's relative address, in a network of our own, means 169.254.170.2."""
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import checks
from azure_server import ACCOUNT, AzureServer
from checks import build, check, failures, temporary
from key_server import BEARER, CLIENT_SECRET, GRANT, IDENTITY, SESSION, Provider
from s3_server import ACCESS, SECRET, TOKEN, S3Server
from s3_server import Handler as S3Handler
from secure import make_context, through

probe, leat = build / "remote_probe", build / "leat"
SECRETS = SECRET, TOKEN, IDENTITY, GRANT, SESSION, BEARER, CLIENT_SECRET


def begin(words, more):
    variables = {**server.environment(), "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
                 "REMOTE_PROBE_SECRETS": "\n".join(SECRETS), **more}
    return subprocess.Popen(words, cwd=temporary, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={"PATH": os.environ["PATH"], **variables})


def end(process):
    out, said = process.communicate()
    said = said.decode()
    for secret in ACCESS, *SECRETS:
        check("no key is in a message", secret not in said, said)
    return process.returncode == 0 and out == server.objects["b/object"], said


def ask(name, more):
    """An object through keys that only `more` says where to get."""
    provider.asked = []
    return end(begin([probe, "read", name], more))


def test_places():
    for place, more in PLACES.items():
        fine, said = ask("s3://b/object", more)
        check(place, fine and len(provider.asked) == (3 if place == "instance" else 1), said, provider.asked)
    provider.grant = GRANT
    (temporary / "grant").write_text(GRANT + "\n")
    for grant in ({"AWS_CONTAINER_AUTHORIZATION_TOKEN": GRANT},
                  {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(temporary / "grant"),
                   "AWS_CONTAINER_AUTHORIZATION_TOKEN": "other"}):
        fine, said = ask("s3://b/object", {**PLACES["container"], **grant})
        check(grant, fine, said)
    fine, said = ask("s3://b/object", PLACES["container"])
    check("a container without its token", not fine and "keys of this container" in said, said)
    provider.reset()
    for place, more in PLACES.items():
        provider.odd = True
        fine, said = ask("s3://b/object", more)
        check((place, "names that are no members"), fine, said)
    provider.reset()


def test_order():
    """Each is asked only if those before it are not there."""
    (temporary / "credentials").write_text(f"[default]\naws_access_key_id={ACCESS}\naws_secret_access_key={SECRET}\n"
                                           f"aws_session_token={TOKEN}\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(temporary / "credentials")}
    named = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN}
    steps = [("", named), ("/sts/", PLACES["web identity"]), ("", files), ("/container", PLACES["container"]),
             ("/latest", PLACES["instance"])]
    for i, (path, _) in enumerate(steps):
        more = {k: v for _, variables in steps[i:] for k, v in variables.items()}
        fine, said = ask("s3://b/object", more)
        check(("order", i), fine and (path in provider.asked[0] if path else not provider.asked), said, provider.asked)
    fine, said = ask("s3://b/object", {**PLACES["instance"], "AWS_EC2_METADATA_DISABLED": "true"})
    check("metadata that are not wanted", not fine and not provider.asked and "none were found" in said, said)


def test_renewal():
    for place, more in PLACES.items():
        server.faults, once = ["", "expired"], 3 if place == "instance" else 1
        fine, said = ask("s3://b/object", more)
        check((place, "keys that have expired"), fine and len(provider.asked) == 2 * once, said, provider.asked)
        server.faults, provider.lasts = ["", "later", "later"], 301
        fine, said = ask("s3://b/object", more)
        check((place, "keys that soon expire"), fine and len(provider.asked) >= 2 * once, said, provider.asked)
        provider.lasts = 3600
        server.faults = ["expired"] * 3
        fine, said = ask("s3://b/object", more)
        check((place, "keys that stay expired"), not fine and "have expired" in said, said)
    server.faults, provider.there = ["", "expired"], 3
    fine, said = ask("s3://b/object", PLACES["instance"])
    check("keys that are not given any more", not fine and "no new ones are available" in said, said)
    server.faults, provider.there = [], 1
    fine, said = ask("s3://b/object", PLACES["instance"])
    check("an instance without a role", not fine and len(provider.asked) == 2 and "none were found" in said, said)
    provider.reset()


def test_stop():
    """A run that is asked to stop while its thread asks for new keys stops, though nobody answers: it waited until that
    had failed three times. So does a pull that asks for its first ones."""
    server.faults, provider.lasts, provider.answers, provider.asked = ["slow"], 301, 1, []
    with tempfile.TemporaryDirectory(dir=temporary) as folder:
        process = begin([leat, "pack", "-t", "bytes", "-o", f"{folder}/stopped", "s3://b/text.jsonl"],
                        PLACES["web identity"])
        while process.poll() is None and len(provider.asked) < 2:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    check("a stop while keys are asked for", process.returncode == 5 and len(provider.asked) < 4, process.returncode,
          said, provider.asked)
    provider.released.set()
    provider.reset()
    provider.answers = 0
    process = begin([leat, "pull", "s3://b/object", temporary / "pulled"], PLACES["web identity"])
    while process.poll() is None and not provider.asked:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    check("a pull that asks for keys", process.returncode == 5 and len(provider.asked) == 1, process.returncode, said,
          provider.asked)
    provider.released.set()
    provider.reset()


def test_failures():
    for place, more in PLACES.items():
        for fault in (404, 403, 500, "silent"):
            provider.fault = fault
            fine, said = ask("s3://b/object", more)
            why = "none were found" if place == "instance" and fault == 404 else "keys of"
            check((place, fault), not fine and why in said, said)
            if place == "instance" and fault != 404:  # nobody has set it: it was not said what to do
                check((place, "what to do"), "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or, for public "
                      "buckets, AWS_EC2_METADATA_DISABLED=true" in said, said)
        provider.fault, provider.lasts = None, 3600
        for provider.without in "AccessKeyId", "SecretAccessKey", "Token", "Expiration":
            fine, said = ask("s3://b/object", more)
            check((place, "without", provider.without), not fine and "the answer has no keys" in said, said)
        provider.without = None
    for url in "http://example.invalid/x", "http://127.0.0.1.example.invalid/x", "ftp://127.0.0.1/x", \
            "http://127.0.0.1:80@example.invalid/x":
        fine, said = ask("s3://b/object", {"AWS_CONTAINER_CREDENTIALS_FULL_URI": url})
        check(url, not fine and "must be https://" in said, said)
    fine, said = ask("s3://b/object", {**PLACES["web identity"], "AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere/token"})
    check("no token file", not fine and "/nowhere/token" in said, said)
    (temporary / "long").write_bytes(b"x" * 65537)
    long = {"AWS_WEB_IDENTITY_TOKEN_FILE": str(temporary / "long")}
    fine, said = ask("s3://b/object", {**PLACES["web identity"], **long})
    check("a long token file", not fine and f"{temporary}/long is too long for a token" in said, said)
    server.open_buckets = {"b"}
    provider.fault = 404
    fine, said = ask("s3://b/object", PLACES["instance"])
    check("a public bucket, on an instance without a role", fine, said)
    provider.fault, server.open_buckets = None, set()


def test_google():
    """Its token goes to its own hosts alone: the server stands in their place."""
    if not shutil.which("openssl"):
        return
    handler = through(S3Handler, make_context(temporary, ["storage.googleapis.com"]))
    with S3Server(dict(server.objects), handler) as google:
        google.token, google.bearer = TOKEN, BEARER
        ask_google(google, {"GCE_METADATA_HOST": provider.host, "AWS_ENDPOINT_URL": "", "https_proxy": google.url,
                            "NO_PROXY": "", "SSL_CERT_FILE": str(temporary / "certificate")})


def ask_google(server, more):
    fine, said = ask("gs://b/object", more)
    check("Google's token", fine and len(provider.asked) == 1, said, provider.asked)
    provider.odd = True
    fine, said = ask("gs://b/object", more)
    check("Google's token behind names that are no members", fine, said)
    provider.odd = False
    check("and no signature", all("x-amz-date" not in {n.lower() for n in h} for *_, h in server.requests[-1:]))
    provider.lasts, server.faults = 301, ["", "later", "later"]
    fine, said = ask("gs://b/object", more)
    check("which is asked for again", fine and len(provider.asked) >= 2, said, provider.asked)
    provider.reset()
    server.token = None
    fine, said = ask("gs://b/object", {**more, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET})
    check("HMAC keys before it", fine and not provider.asked, said, provider.asked)
    server.token = TOKEN
    fine, said = ask("s3://b/object", {"GCE_METADATA_HOST": provider.host})
    check("it is not for others", not fine and not provider.asked and "none were found" in said, said)
    for fault in (404, 500):
        provider.fault = fault
        fine, said = ask("gs://b/object", more)
        check(("Google", fault), not fine and ("none were found" if fault == 404 else "service account") in said, said)
    provider.fault = None
    for provider.without in "access_token", "expires_in":
        fine, said = ask("gs://b/object", more)
        check(("Google", "without", provider.without), not fine and "the answer has no keys" in said, said)
    provider.reset()


def test_azure():
    client = {"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1", "AZURE_AUTHORITY_HOST": provider.url + "/"}
    secret = {**client, "AZURE_CLIENT_SECRET": CLIENT_SECRET}
    federated = {**client, "AZURE_FEDERATED_TOKEN_FILE": str(temporary / "identity")}
    machine = {"AZURE_POD_IDENTITY_AUTHORITY_HOST": provider.url}
    service = {"IDENTITY_ENDPOINT": provider.url + "/msi", "IDENTITY_HEADER": GRANT}
    places = {"secret": secret, "federation": federated, "service": service, "machine": machine,
              "identity by name": {**machine, "AZURE_CLIENT_ID": "client-1"}}
    with AzureServer({"b/object": server.objects["b/object"]}) as azure:
        azure.bearer = BEARER
        here = {"AZURE_STORAGE_ENDPOINT": azure.url, "AZURE_STORAGE_ACCOUNT": ACCOUNT}

        def get(more, name="az://b/object"):
            return ask(name, {**here, **more})
        for place, more in places.items():
            fine, said = get(more)
            check(("Azure", place), fine and len(provider.asked) == 1, said, provider.asked)
            provider.odd = True
            fine, said = get(more)
            check(("Azure", place, "names that are no members"), fine, said)
            provider.odd = False
            azure.faults = ["", "expired"]
            fine, said = get(more)
            check(("Azure", place, "a token that has expired"), fine and len(provider.asked) == 2, said, provider.asked)
            azure.faults, provider.lasts = ["", "later", "later"], 301
            fine, said = get(more)
            check(("Azure", place, "one that soon expires"), fine and len(provider.asked) >= 2, said, provider.asked)
            azure.faults, provider.lasts = ["expired"] * 3, 3600
            fine, said = get(more)
            check(("Azure", place, "it stays expired"), not fine and "does not accept the token of Entra ID" in said,
                  said)
            azure.faults = []
            for fault in (404, 403, 500, "silent"):
                provider.fault = fault
                fine, said = get(more)
                none = fault == 404 and place not in ("secret", "federation")
                check(("Azure", place, fault), not fine and ("none were found" if none else "the token of ") in said,
                      said)
            provider.fault = None
            for provider.without in ["access_token", "expires_on" if place == "service" else "expires_in"]:
                fine, said = get(more)
                again = provider.without == "expires_in" and "identity" in provider.asked[0]  # expires_on is enough
                check(("Azure", place, "without", provider.without), fine if again else
                      not fine and "the answer has no keys" in said, said)
            provider.without = None
        order = [("", azure.environment()), ("", {"AZURE_STORAGE_SAS_TOKEN": azure.sas("r")}),
                 ("POST /tenant-1", secret), ("POST /tenant-1", federated), ("GET /msi", service),
                 ("GET /metadata", machine)]
        for i, (path, _) in enumerate(order):
            fine, said = get({k: v for _, more in reversed(order[i:]) for k, v in more.items()})
            check(("Azure, order", i), fine and (provider.asked[0].startswith(path) if path else not provider.asked),
                  said, provider.asked)
        fine, said = get({**machine, "AZURE_CLIENT_ID": "other"})
        check("no such identity", not fine and "none were found" in said and "AZURE_TENANT_ID" in said, said)
        fine, said = get({**federated, "AZURE_FEDERATED_TOKEN_FILE": "/nowhere/token"})
        check("no file of a token", not fine and "/nowhere/token" in said, said)
        fine, said = get({**secret, "AZURE_AUTHORITY_HOST": "http://example.invalid"})
        check("secrets are not sent in the open", not fine and "AZURE_AUTHORITY_HOST must be https://" in said, said)
        fine, said = get({**secret, "AZURE_STORAGE_ENDPOINT": "http://example.invalid/x"})
        check("nor are tokens", not fine and "AZURE_STORAGE_ENDPOINT must be https://" in said, said)
        azure.open_buckets = {ACCOUNT}
        fine, said = get({**machine, "AZURE_CLIENT_ID": "other"})
        check("a public container, on a machine without an identity", fine, said)


def test_proxy():
    """Storage goes through the proxy, unless its host is in NO_PROXY; who gives keys is asked directly."""
    provider.reset()
    proxy, here = Provider(), server.url.replace("127.0.0.1", "localhost")
    through = {"http_proxy": proxy.url, "all_proxy": proxy.url, "AWS_ENDPOINT_URL": here}
    for place in ("container", "instance"):
        more = PLACES[place]
        fine, said = ask("s3://b/object", {**through, **more, "NO_PROXY": "localhost"})
        check((place, "past the proxy"), fine and provider.asked and not proxy.asked, said, proxy.asked)
        fine, said = ask("s3://b/object", {**through, **more, "NO_PROXY": "", "AWS_MAX_ATTEMPTS": "1"})
        provided = [line for line in proxy.asked if here not in line]
        check((place, "storage through it"), not fine and proxy.asked and not provided, said, proxy.asked)
        proxy.reset()
    for region, host in ("us-west-2", "sts.us-west-2.amazonaws.com"), ("cn-north-1", "sts.cn-north-1.amazonaws.com.cn"):
        proxy.reset()  # it does not connect
        fine, said = ask("s3://b/object", {**PLACES["web identity"], "https_proxy": proxy.url, "NO_PROXY": "",
                                          "AWS_ENDPOINT_URL_STS": "", "AWS_ENDPOINT_URL": "", "AWS_REGION": region})
        check((region, "who gives keys"), not fine and "AWS_WEB_IDENTITY_TOKEN_FILE" in said and
              set(proxy.asked) == {f"CONNECT {host}:443"}, said, proxy.asked)
    proxy.shutdown()


def begin_network(host):
    """Of this process's own: 127.0.0.1 is there, and another address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for name, request, value in ((b"lo", 0x8914, struct.pack("h", 1)),  # SIOCSIFFLAGS, up; then SIOCSIFADDR
                                     (b"lo:1", 0x8916, struct.pack("hH4s", socket.AF_INET, 0, socket.inet_aton(host)))):
            fcntl.ioctl(s, request, struct.pack("16s24s", name, value))


def test_relative():
    """In a network of its own, where 169.254.170.2 is this machine; and past a proxy that nobody answers for."""
    there = Provider("169.254.170.2", 80)
    more = {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/container", "http_proxy": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1", "AWS_CONTAINER_AUTHORIZATION_TOKEN": GRANT}
    there.grant = GRANT
    fine, said = ask("s3://b/object", more)
    check("a relative address", fine and there.asked == ["GET /container"], said, there.asked)
    there.reset()
    fine, said = ask("s3://b/object", {**more, "AWS_CONTAINER_CREDENTIALS_FULL_URI": provider.url + "/other"})
    check("before a full one", not provider.asked and there.asked == ["GET /container"] * len(there.asked), said)


def in_own_network():
    """test_relative() in a process with a network of its own."""
    r = subprocess.run(["unshare", "-rn", sys.executable, "-B", __file__, "relative"], capture_output=True, text=True)
    if "unshare failed" in r.stderr or "Operation not permitted" in r.stderr:
        print("no network of its own here:", r.stderr.strip().split("\n")[-1], file=sys.stderr)
    else:
        check("in a network of its own", r.returncode == 0, r.stderr)


if not probe.exists():
    checks.skip(f"no {probe}")
(temporary / "identity").write_text(IDENTITY + "\n")
if sys.argv[1:] == ["relative"]:
    begin_network("169.254.170.2")
provider = Provider()
PLACES = {
    "web identity": {"AWS_WEB_IDENTITY_TOKEN_FILE": str(temporary / "identity"),
                     "AWS_ROLE_ARN": "arn:aws:iam::1:role/x", "AWS_ENDPOINT_URL_STS": provider.url + "/sts/"},
    "container": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": provider.url + "/container"},
    "instance": {"AWS_EC2_METADATA_SERVICE_ENDPOINT": provider.url, "AWS_EC2_METADATA_DISABLED": "false"},
}
with S3Server({"b/object": bytes(range(200)) * 5, "b/text.jsonl": b"{\"text\":\"a\"}\n" * 1000}) as server:
    server.token = TOKEN
    if sys.argv[1:] == ["relative"]:
        test_relative()
        sys.exit(1 if failures else 0)
    fine, said = ask("s3://b/object", PLACES["container"])
    checks.need_libcurl(said)
    slow = Provider()
    slow.fault = "drip"
    dripping = begin([probe, "read", "s3://b/object"],
                     {**PLACES["instance"], "AWS_EC2_METADATA_SERVICE_ENDPOINT": slow.url})
    checks.run_tests((test_places, test_order, test_renewal, test_stop, test_failures, test_google, test_azure,
                      test_proxy, in_own_network))
    fine, said = end(dripping)
    check("an answer without an end", not fine and "keys of this instance (EC2's metadata): no answer" in said, said)
    check("is asked for three times", slow.asked == ["PUT /latest/api/token"] * 3, slow.asked)
sys.exit(1 if failures else 0)
