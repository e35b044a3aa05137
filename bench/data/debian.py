#!/usr/bin/env python3
"""debian.py [--folder FOLDER] [--bytes 1.5e9] OUT.jsonl

A text that does not repeat, of Debian's own source packages: program sources, documentation, and translations. One JSON
line per file, with `text`, `kind`, `name`. The packages are of Debian 12, pinned by version; apt gives their addresses
and sums and checks both. What is fetched stays in --folder (default: OUT.jsonl.packages), and another run goes on from
there. It needs apt, Debian's keyring, 6 GB of disk, and five minutes of a core after it has fetched 1 GB.

Left out: files that are no UTF-8, of fewer than 500 bytes or more than 500 kB, with a line of more than 2,000 bytes, or
of digits for more than a tenth; files that are the same; and files of which more than a fifth lies in blocks of lines
that an earlier file has. Of a catalogue of translations only what is translated is taken, not the English. The
documents stand in the order of their hashes, so that each part of the text is a sample of all.

At the end it prints how much of each kind there is, how often the text repeats, and its SHA-256, which the same
packages always give: it exits with 1 if that is not EXPECTED. Exits with 77 where apt or Debian's key is missing.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zlib

RELEASE = "bookworm"
KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"
# --bytes, and the sum of what it makes
EXPECTED = (1.5e9, "c2c94865bc7190e7bd6904259564f300aaab41ac23abecbd35fac0f515510144")

# package, version; the file of it, if it is not PACKAGE_*.orig.tar.*
PACKAGES = """
installation-guide 20230508+deb12u1 installation-guide_
apt 2.6.1 apt_
dpkg 1.21.23 dpkg_
aptitude 0.8.13-5
manpages 6.03-2
libreoffice 4:7.4.7-1+deb12u14 orig-translations
gnucash 1:4.13-1
kicad 6.0.11+dfsg-1 orig-doc
calligra 1:3.2.1+dfsg-6
gimp 2.10.34-1+deb12u10
iso-codes 4.15.0-1
emacs 1:28.2+1-15+deb12u4
postgresql-15 15.18-0+deb12u1
openjdk-17 17.0.19+10-1~deb12u2 17.0.19+10.orig.tar
golang-1.19 1.19.8-2
rustc 1.63.0+dfsg1-2
ghc 9.0.2-4
erlang 1:25.2.3+dfsg-1+deb12u4
fpc 3.2.2+dfsg-20
python3.11 3.11.2-6+deb12u8
python-django 3:3.2.25-0+deb12u3
sympy 1.11.1-1
sagemath 9.5-6
r-base 4.2.2.20221110-2
octave 7.3.0-2
perl 5.36.0-7+deb12u3
ruby3.1 3.1.2-7+deb12u1
rails 2:6.1.7.10+dfsg-1~deb12u2
php8.2 8.2.32-1~deb12u1
racket 8.7+dfsg1-1
elixir-lang 1.14.0.dfsg-2
ocaml 4.13.1-4
coq 8.16.1+dfsg-1
git 1:2.39.5-0+deb12u3
vim 2:9.0.1378-2+deb12u2
kubernetes 1.20.5+really1.20.2-1.1+deb12u1
systemd 252.39-1~deb12u2
samba 2:4.17.12+dfsg-0+deb12u4
qemu 1:7.2+dfsg-7+deb12u18
"""

KINDS = {
    "sources": "c cc cpp cxx el erl ex f f90 go h hpp hs java js jl lisp lua m ml mli pas php pl pm pp py pyx r rb rkt "
               "rs s scm scss sh sql ss t tcl ts v vim",
    "documentation": "1 2 3 4 5 6 7 8 adoc dbk docbook html lyx man md org page pod rd rst sgml tex texi txt xml",
    "translations": "po"}
KIND_OF = {suffix: kind for kind, suffixes in KINDS.items() for suffix in suffixes.split()}


# ---- Fetching --------------------------------------------------------------------------------------------------------

def answer(command, folder=None):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} says: {done.stderr.strip()}")
    return done.stdout


def private_apt(folder):
    """The options of an apt that knows Debian's source packages, at the address that this machine's apt has."""
    rows = [line.split("|") for line in answer(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(REPO_URI)", "Created-By: Packages"]).splitlines()]
    addresses = [uri for origin, uri in rows if origin == "Debian" and "security" not in uri]
    if not addresses:
        skip("apt knows no address of Debian")
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        os.makedirs(os.path.join(folder, "apt", name), exist_ok=True)
    at = os.path.join(os.path.abspath(folder), "apt")
    with open(os.path.join(at, "list"), "w", encoding="ascii") as file:
        file.write(f"deb-src [signed-by={KEY}] {addresses[0]} {RELEASE} main\n")
    options = [f"-oDir::Etc::sourcelist={at}/list", f"-oDir::Etc::sourceparts={at}/parts",
               f"-oDir::State::lists={at}/lists", f"-oDir::Cache={at}/cache", "-oAPT::Sandbox::User=root"]
    answer(["apt-get", *options, "update"])
    return options


def fetch(options, folder, package, version, wanted):
    """The path of a package's file; apt has checked its sum, now or before. It would not name files that it sees."""
    for line in answer(["apt-get", *options, "source", "--print-uris", "--download-only", "--only-source",
                        f"{package}={version}"], os.path.join(folder, "apt")).splitlines():
        found = re.fullmatch(r"'([^']+)' (\S+) (\d+) SHA256:(\w+)", line)
        if found and wanted in found[2] and ".tar." in found[2] and not found[2].endswith(".asc"):
            uri, name, _, sha = found.groups()
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                answer(["/usr/lib/apt/apt-helper", *options, "download-file", uri, path + ".part", f"SHA256:{sha}"])
                os.replace(path + ".part", path)
            return path
    sys.exit(f"{package} {version} has no file {wanted}: it is no longer there in this version")


# ---- Choosing --------------------------------------------------------------------------------------------------------

STRING = re.compile(r'^(msgid|msgstr|msgid_plural|msgctxt)?(?:\[\d+\])? ?"(.*)"$')
ESCAPES = {"n": "\n", "t": "\t"}


def translated(text):
    """The translated strings of a catalogue, a paragraph each; none of its head, whose msgid is empty."""
    out, now, of, value = [], "", {"msgid": "", "msgstr": ""}, None
    for line in [*text.split("\n"), 'msgid ""']:
        found = STRING.match(line)
        if not found:
            continue
        now = found[1] or now
        if found[1] in ("msgid", "msgctxt") and value is not None:
            if of["msgid"] and of["msgstr"] and of["msgstr"] != of["msgid"]:
                out.append(re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), of["msgstr"]))
            of, value = {"msgid": "", "msgstr": ""}, None
        if now in of:
            of[now] += found[2] if found[1] is None or not of[now] else "\n" + found[2]
        if now == "msgstr":
            value = True
    return "\n\n".join(out)


def text_of(name, data):
    """The kind and the text of a file; nothing of files that are not wanted."""
    kind = KIND_OF.get(name.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower())
    if not kind or b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if kind == "translations":
        text = translated(text)
        data = text.encode()
    if not 500 <= len(data) <= 500_000 or len(data.translate(None, b"0123456789")) < 0.9 * len(data) or \
            max(map(len, data.split(b"\n"))) > 2000:
        return None
    return kind, text, data


def hashed(data):
    return hashlib.blake2b(data, digest_size=8).digest()


def blocks_of(data):
    """Blocks of whole lines, about 1 KiB: they end where a line's own sum says so, so a shifted copy has the same."""
    block = []
    for line in data.split(b"\n"):
        block.append(line)
        if zlib.crc32(line) % 24 == 0:
            yield b"\n".join(block)
            block = []
    if block:
        yield b"\n".join(block)


class Kept:
    """What earlier documents had."""

    def __init__(self):
        self.texts, self.blocks, self.left_out = set(), set(), {"same": 0, "alike": 0}

    def wants(self, data):
        if (text := hashed(data)) in self.texts:
            self.left_out["same"] += len(data)
            return None
        self.texts.add(text)
        blocks = [(hashed(block), len(block)) for block in blocks_of(data)]
        if sum(size for block, size in blocks if block in self.blocks) > 0.2 * len(data):
            self.left_out["alike"] += len(data)
            return None
        self.blocks.update(block for block, _ in blocks)
        return text


def choose(paths, scratch):
    """Writes the lines of all wanted files; a list of (hash, start, length, bytes of text)."""
    kept, rows, at = Kept(), [], 0
    with open(scratch, "wb") as out:
        for path in paths:
            before = sum(row[3] for row in rows)
            with tarfile.open(path, "r|*") as archive:
                for member in archive:
                    if not member.isfile() or not 500 <= member.size <= 5_000_000:
                        continue
                    found = text_of(member.name, archive.extractfile(member).read())
                    if found and (key := kept.wants(found[2])):
                        line = json.dumps({"text": found[1], "kind": found[0], "name": member.name},
                                          ensure_ascii=False).encode() + b"\n"
                        out.write(line)
                        rows.append((key, at, len(line), len(found[2]), found[0]))
                        at += len(line)
            print(f"{os.path.basename(path):60} {(sum(row[3] for row in rows) - before) / 1e6:7.1f} MB", flush=True)
    return kept, rows


# ---- Writing and measuring -------------------------------------------------------------------------------------------

def write(rows, scratch, out, limit):
    """The documents in the order of their hashes, up to `limit` bytes of text; sums and how often it repeats."""
    size, kinds, sha = 0, {}, hashlib.sha256()
    blocks, repeated = {"1 KiB": set(), "lines": set()}, {"1 KiB": 0, "lines": 0}
    with open(scratch, "rb") as lines, open(out + ".part", "wb") as to:
        for key, at, length, text_bytes, kind in sorted(rows):
            if size >= limit:
                break
            lines.seek(at)
            line = lines.read(length)
            to.write(line)
            sha.update(line)
            size += text_bytes
            documents, of_kind = kinds.get(kind, (0, 0))
            kinds[kind] = documents + 1, of_kind + text_bytes
            data = json.loads(line)["text"].encode()
            for name, pieces in (("1 KiB", (data[i:i + 1024] for i in range(0, len(data) - 1023, 1024))),
                                 ("lines", blocks_of(data))):
                for piece in pieces:
                    block = hashed(piece)
                    if block in blocks[name]:
                        repeated[name] += len(piece)
                    blocks[name].add(block)
    os.replace(out + ".part", out)
    for kind, (documents, of_kind) in sorted(kinds.items()):
        print(f"{kind:14} {documents:8} documents {of_kind / 1e6:8.1f} MB")
    print(f"repeated: documents 0 %, blocks of 1 KiB {repeated['1 KiB'] / size:.2%} of the bytes, "
          f"blocks of whole lines {repeated['lines'] / size:.2%}")
    print(f"{out}: {size} bytes of text, {os.path.getsize(out)} bytes, SHA-256 {sha.hexdigest()}")
    return sha.hexdigest()


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--folder")
    parser.add_argument("--bytes", type=float, default=1.5e9)
    o = parser.parse_args()
    if not shutil.which("apt-get") or not os.path.exists(KEY):
        skip("no apt with Debian's key")
    folder = o.folder or o.out + ".packages"
    os.makedirs(folder, exist_ok=True)
    options = private_apt(folder)
    paths = []
    for line in PACKAGES.strip().splitlines():
        package, version, *wanted = line.split()
        paths.append(fetch(options, folder, package, version, wanted[0] if wanted else ".orig.tar"))
    scratch = o.out + ".scratch"
    kept, rows = choose(paths, scratch)
    print("left out: {same} bytes of the same files, {alike} of files that are alike".format(**kept.left_out))
    sha = write(rows, scratch, o.out, o.bytes)
    os.remove(scratch)
    if o.bytes == EXPECTED[0] and sha != EXPECTED[1]:
        sys.exit(f"expected SHA-256 {EXPECTED[1]}")


if __name__ == "__main__":
    main()
