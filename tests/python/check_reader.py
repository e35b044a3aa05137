"""check_reader.py DUMP FOLDER: compares examples/leat_reader.py, a reader of FORMAT.md alone, with the library.

DUMP is the program dataset_dump; random datasets are made in FOLDER. With the package xxhash, all hashes are checked
too.
"""
import glob
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
from leat_reader import Dataset  # noqa: E402

try:
    import xxhash
except ImportError:
    xxhash = None


def hash128(data):
    h = xxhash.xxh3_128_intdigest(bytes(data))
    return h.to_bytes(16, "little")


def page_sum(data):
    data, total = bytes(data), 0
    for i in range(0, len(data), 4096):
        total += int.from_bytes(hash128(hash128(data[i:i + 4096]) + (i // 4096).to_bytes(8, "little")), "little")
    return (total % 2**128).to_bytes(16, "little")


def check_hashes(d, name):
    index, tokens = bytes(d.index), bytes(d.tokens)
    assert hash128(index[:4080]) == index[4080:4096], "header checksum"
    assert page_sum(tokens) == d.token_sum, "token sum"
    assert hash128(index[64:104] + d.width.to_bytes(8, "little") + d.fingerprint + d.token_sum +
                   d.sums["documents"] + d.sums.get("mask", b"")) == d.identity, "identity"
    for section in d.sections:
        assert page_sum(d.sections[section]) == d.sums[section], section
    pages = b"".join(hash128(tokens[i:i + 4096])[:4] for i in range(0, len(tokens), 4096))
    assert pages == bytes(d.sections["pages"]), "page hashes"
    mask = bytes(d.sections.get("mask", b""))
    pages = b"".join(hash128(mask[i:i + 4096])[:4] for i in range(0, len(mask), 4096))
    assert pages == bytes(d.sections.get("mask pages", b"")), "page hashes of the mask"


def lines(name):
    """What dataset_dump prints, from the second reader."""
    d = Dataset(name)
    total = d.token_count
    yield "identity " + d.identity.hex()
    yield "fingerprint " + d.fingerprint.hex()
    yield f"counts {total} {d.document_count} {d.entries['inputs']}"
    yield f"header {d.vocabulary} {d.end_token} {d.begin_token} {d.width} {d.created}"
    yield f"sizes {d.tokens.nbytes} {os.path.getsize(name + '.leat')}"
    yield f"stores {int('lines' in d.sections)} {int('ids' in d.sections)} {int('text hashes' in d.sections)}"
    yield " ".join(["tokens", *map(str, d.tokens.tolist())])
    if d.mask() is not None:
        yield "mask " + bytes(d.mask()).hex()
    yield " ".join(["starts", *map(str, d.starts.tolist())])
    for i in range(300 if total else 0):
        first = i * 104729 % total
        count = 1 + i * i * 31 % (total - first)
        yield "window %d %d %d %d" % ((first, count) + d.documents_in(first, count))
    for path, size, documents, tokens, rejects, digest in d.inputs():
        yield f"input {path.hex()} {size} {documents} {tokens} {rejects} {digest.hex()}"
    for i in range(d.document_count):
        number, offset, line, text = d.origin(i)
        yield f"origin {number} {offset} {line} {text.hex()} {(d.text_hash(i) or b'').hex()}"
    t = d.tokenizer()
    if t:
        yield f"tokenizer {t[0].hex()} {t[1].hex()} {'none' if t[2] is None else t[2].hex()}"
    for key, value in d.metadata():
        yield f"pair {key.hex()} {value.hex()}"
    if xxhash:
        check_hashes(d, name)


def compare(dump, name):
    shown = subprocess.run([dump, "show", name], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    read = list(lines(name))
    for a, b in zip(shown, read):
        if a != b:
            sys.exit(f"{name}: the library says\n  {a[:200]}\nand FORMAT.md's reader\n  {b[:200]}")
    if len(shown) != len(read):
        sys.exit(f"{name}: the library gives {len(shown)} lines and FORMAT.md's reader {len(read)}")


def adopt(dump, folder):
    """Indexes beside files of another tool, whose tokens begin at byte 1024: their names."""
    for seed in range(1, 4):
        tokens = Dataset(os.path.join(folder, str(seed))).tokens.astype("<u2")
        name = os.path.join(folder, f"adopted{seed}.bin")
        header = np.zeros(256, "<i4")
        header[:3] = 20240520, 1, len(tokens)
        with open(name, "wb") as f:
            f.write(header.tobytes() + tokens.tobytes())
        subprocess.run([os.path.join(os.path.dirname(dump), "leat"), "adopt", f"llmc:{name}?end={tokens[-1]}"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield name


def check_memmap(dump, folder):
    """NAME.tokens is read as it is: no header, no padding."""
    name = os.path.join(folder, "plain")
    subprocess.run([dump, "make", name, "1"], check=True)
    tokens = np.memmap(name + ".tokens", dtype="<u2", mode="r")
    d = Dataset(name)
    assert d.width == 2 and len(tokens) == d.token_count > 0 and int(tokens.max()) < d.vocabulary
    ends = d.starts[1:][np.diff(d.starts) > 0] - np.uint64(1)
    assert d.end_token == 50256 and (tokens[ends] == 50256).all()


def main():
    dump, folder = sys.argv[1:]
    names = [n[:-5] for n in sorted(glob.glob("tests/golden/valid/*.leat"))]
    assert len(names) >= 10
    for seed in range(1, 31):
        names.append(os.path.join(folder, str(seed)))
        subprocess.run([dump, "make", names[-1], str(seed)], check=True)
    names += adopt(dump, folder)
    for name in names:
        compare(dump, name)
    check_memmap(dump, folder)
    print(f"{len(names)} datasets read alike" + ("" if xxhash else "; hashes not checked: no python package xxhash"))


main()
