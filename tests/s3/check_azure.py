#!/usr/bin/env python3
"""check_azure.py: clients of Azure that others wrote, unchanged, against the tests' own server (Azurite, Microsoft's
emulator, is only on npm): azure-storage-blob, which is Microsoft's, and obstore, Rust's object_store. The server takes
their signatures and SAS tokens, also of a container or a blob, and gives them lists, ranges and conditions as they
expect, so it is right; what they have uploaded leat reads, and what leat has pushed they read. The server of keys
(key_server.py) gives its token of Entra ID to azure-identity and obstore, and to leat for the same variables."""
import datetime
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "remote"))
from azure_server import ACCOUNT, KEY, AzureServer  # noqa: E402
from key_server import BEARER, CLIENT_SECRET, GRANT, IDENTITY, STORAGE, Provider  # noqa: E402

try:
    import azure.identity
    import azure.storage.blob as blob
    import obstore
    from azure.core import MatchConditions
    from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
except ImportError as missing:
    sys.exit(print(f"skipped: {missing} (pip install -r tests/s3/requirements.txt)", file=sys.stderr) or 77)

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
leat, probe = build / "leat", build / "remote_probe"
ODD = ["one", "odd name+&=%#'~ü/x", "three <4>"]
BYTES = random.Random(1).randbytes(1 << 20)
failures = 0


def check(what, fine, *seen):
    global failures
    if not fine:
        failures += 1
        print(f"{what}:", *(str(s)[:500] for s in seen), file=sys.stderr)


def run(server, *words, **more):
    r = subprocess.run(words, cwd=folder, capture_output=True, env={
        "PATH": os.environ["PATH"], **server.environment(LEAT_CACHE=str(folder / "cache"), **more)})
    return r.returncode, r.stdout, r.stderr.decode()


def refused(call, error):
    try:
        call()
    except error:
        return True
    return False


def test_microsoft(server):
    string = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={server.url};"
    service = blob.BlobServiceClient.from_connection_string(string, max_single_put_size=1 << 16,
                                                            max_block_size=1 << 16, max_chunk_get_size=1 << 18)
    container = service.get_container_client("made")
    container.create_container()
    for name in ODD:
        container.upload_blob(f"below/{name}", name.encode())
    container.upload_blob("large", BYTES)  # by blocks
    listed = {b.name: (b.size, b.etag) for b in container.list_blobs(name_starts_with="below/")}
    check("its list", listed.keys() == {f"below/{name}" for name in ODD}, listed)
    check("its download", container.download_blob("large").readall() == BYTES)
    check("what exists", refused(lambda: container.upload_blob("large", b""), ResourceExistsError))
    check("what does not", refused(lambda: container.download_blob("none"), ResourceNotFoundError))
    check("a condition", refused(lambda: container.download_blob(
        "large", etag="\"0x8D\"", match_condition=MatchConditions.IfNotModified), ResourceModifiedError))
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    sas = blob.generate_account_sas(ACCOUNT, KEY, blob.ResourceTypes(container=True, object=True),
                                    blob.AccountSasPermissions(read=True, list=True), until)
    own = blob.generate_container_sas(ACCOUNT, "made", account_key=KEY, expiry=until,
                                      permission=blob.ContainerSasPermissions(read=True, list=True))
    for more in {}, {"AZURE_STORAGE_CONNECTION_STRING": string}, *(
            {"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": token} for token in (sas, own)):
        code, out, said = run(server, probe, "list", "az://made/below/", **more)
        lines = "".join(f"{name} {size} \"{etag}\"\n" for name, (size, etag) in sorted(listed.items()))
        check("leat's list", code == 0 and out.decode() == lines, out, said)
        code, out, said = run(server, probe, "read", "az://made/large", **more)
        check("leat's bytes", code == 0 and out == BYTES, said)
        code, out, said = run(server, probe, "read", f"az://made/below/{ODD[1]}", **more)
        check("leat's odd name", code == 0 and out == ODD[1].encode(), said)
    other = blob.BlobServiceClient(server.url, credential=server.sas("rl")).get_container_client("made")
    check("its SAS", [b.name for b in other.list_blobs()] == sorted(name.partition("/")[2] for name in server.objects))
    one = blob.generate_blob_sas(ACCOUNT, "made", "large", account_key=KEY, expiry=until,
                                 permission=blob.BlobSasPermissions(read=True))
    for name, right in ("made/large", True), (f"made/below/{ODD[0]}", False):
        code, out, said = run(server, probe, "read", f"az://{name}", AZURE_STORAGE_KEY="", AZURE_STORAGE_SAS_TOKEN=one)
        check(("a token of one blob", name), code == 0 if right else "does not accept the signature" in said, said)
    return container


def test_entra(server):
    """Microsoft's library asks for a token as leat does, and so does obstore, which then reads with it."""
    provider, server.bearer = Provider(), BEARER
    (folder / "identity").write_text(IDENTITY)
    client = {"tenant_id": "tenant-1", "client_id": "client-1", "authority_host": provider.url}
    for more in ({**client, "client_secret": CLIENT_SECRET},
                 {**client, "federated_token_file": str(folder / "identity")},
                 {"msi_endpoint": provider.url + "/metadata/identity/oauth2/token"}):
        store = obstore.store.AzureStore("made", account_name=ACCOUNT, endpoint=server.url,
                                         client_options={"allow_http": True}, **more)
        check(("obstore", more), bytes(store.get("large").bytes()) == BYTES)
    service = {"IDENTITY_ENDPOINT": provider.url + "/msi", "IDENTITY_HEADER": GRANT}
    for more, names in (({"AZURE_POD_IDENTITY_AUTHORITY_HOST": provider.url}, [None, "client-1"]), (service, [None])):
        for name in names:
            provider.asked.clear()
            os.environ.update(more)
            token = azure.identity.ManagedIdentityCredential(client_id=name).get_token(f"{STORAGE}/.default").token
            for variable in more:
                del os.environ[variable]
            code, out, said = run(server, probe, "read", "az://made/large", AZURE_STORAGE_KEY="",
                                  AZURE_CLIENT_ID=name or "", **more)
            asked = [urllib.parse.unquote(line) for line in provider.asked]
            check(("Microsoft's", more, name), token == BEARER and code == 0 and out == BYTES and len(asked) == 2 and
                  asked[0] == asked[1], asked, said)


def test_pushed(server, container):
    (folder / "texts.jsonl").write_text("".join(f'{{"text": "{"word " * (n % 70)}{n}"}}\n' for n in range(2000)))
    code, _, said = run(server, leat, "pack", "-t", "bytes", "--end", "0", "-o", "set", "texts.jsonl")
    check("pack", code == 0, said)
    code, _, said = run(server, build / "tiny" / "leat", "push", "set", "az://made/set")  # by many blocks
    check("push", code == 0, said)
    store = obstore.store.AzureStore("made", account_name=ACCOUNT, account_key=KEY, endpoint=server.url,
                                     client_options={"allow_http": True})
    for suffix in "leat", "tokens":
        wanted = (folder / f"set.{suffix}").read_bytes()
        check(("read by Microsoft's", suffix), container.download_blob(f"set.{suffix}").readall() == wanted)
        check(("read by obstore", suffix), bytes(store.get(f"set.{suffix}").bytes()) == wanted)
    store.put("by-rust/a.jsonl", b'{"text": "abc"}\n')
    listed = {meta["path"]: meta["size"] for page in store.list() for meta in page}
    check("obstore's list", listed == {n.partition("/")[2]: len(b) for n, b in server.objects.items()}, listed)
    code, out, said = run(server, leat, "pack", "-t", "bytes", "--end", "none", "-o", "rust", "az://made/by-rust/")
    check("packed", code == 0 and (folder / "rust.tokens").read_bytes() == b"a\0b\0c\0", said)


folder = pathlib.Path(tempfile.mkdtemp(prefix="leat-azure-"))
with AzureServer() as server:
    made = test_microsoft(server)
    test_entra(server)
    test_pushed(server, made)
shutil.rmtree(folder)
sys.exit(1 if failures else 0)
