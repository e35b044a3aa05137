"""dataset.py: reads datasets with nothing but Python's standard library, by the text of FORMAT.md. Hashes are those of
libxxhash, if it can be loaded; all else is asserted only as far as the tests of packing need it.
"""
import ctypes
import ctypes.util
import struct

NONE = 2**64 - 1
KINDS = {1: "documents", 2: "directory", 3: "pages", 4: "inputs", 5: "input paths", 6: "origins", 7: "lines",
         8: "id ends", 9: "ids", 10: "tokenizer", 11: "metadata", 13: "text hashes", 15: "mask", 16: "mask pages"}


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def load_xxhash():
    for name in ("libxxhash.so.0", "libxxhash.so", ctypes.util.find_library("xxhash") or ""):
        try:
            function = ctypes.CDLL(name).XXH3_128bits if name else None
        except OSError:
            continue
        if function:
            function.restype = Hash128
            function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
            return function
    return None


xxh3 = load_xxhash()


def hash128(data):
    """XXH3-128 as a number; None without libxxhash."""
    if not xxh3:
        return None
    h = xxh3(data, len(data))
    return h.high << 64 | h.low


def page_sum(data):
    """FORMAT.md, "Hashes"."""
    if not xxh3:
        return None
    total = 0
    for i in range(0, len(data), 4096):
        h = hash128(data[i:i + 4096])
        total += hash128(h.to_bytes(16, "little") + (i // 4096).to_bytes(8, "little"))
    return total % 2**128


class Dataset:
    def __init__(self, name):
        with open(name + ".leat", "rb") as f:
            index = f.read()
        with open(name + ".tokens", "rb") as f:
            self.token_bytes = f.read()
        assert index[:8] == b"leat\r\n\x1a\n" and struct.unpack_from("<II", index, 8) == (1, 4096)
        size, token_size, self.token_count, self.document_count, self.vocabulary, self.end_token, self.begin_token = \
            struct.unpack_from("<7Q", index, 48)
        self.width, count = struct.unpack_from("<II", index, 104)
        assert size == len(index) and token_size == len(self.token_bytes) == self.token_count * self.width
        self.sections = {}
        for at in range(512, 512 + 64 * count, 64):
            kind, _, offset, length, _ = struct.unpack_from("<IIQQQ", index, at)
            self.sections[KINDS[kind]] = index[offset:offset + length]
        self.tokens = struct.unpack("<%d%s" % (self.token_count, "H" if self.width == 2 else "I"), self.token_bytes)
        self.starts = self.numbers("documents")

    def numbers(self, section):
        data = self.sections.get(section, b"")
        return struct.unpack("<%dQ" % (len(data) // 8), data)

    def documents(self):
        """[(tokens, input, offset, line or None, id, text hash or None)]"""
        origins, lines, ends = self.numbers("origins"), self.numbers("lines"), self.numbers("id ends")
        hashes, ids = self.sections.get("text hashes"), self.sections.get("ids")
        out, begin = [], 0
        for d in range(self.document_count):
            end = ends[d] if ends else 0
            out.append((self.tokens[self.starts[d]:self.starts[d + 1]], origins[2 * d + 1], origins[2 * d],
                        lines[d] if lines and lines[d] != NONE else None, ids[begin:end] if ends else b"",
                        int.from_bytes(hashes[16 * d:16 * d + 16], "little") if hashes else None))
            begin = end
        return out

    def inputs(self):
        """[(path, size, documents, tokens, rejects, page sum)]"""
        records, paths, out = self.sections["inputs"], self.sections["input paths"], []
        for at in range(0, len(records), 64):
            offset, length, size, documents, tokens, rejects = struct.unpack_from("<6Q", records, at)
            out.append((paths[offset:offset + length], size, documents, tokens, rejects,
                        int.from_bytes(records[at + 48:at + 64], "little")))
        return out

    def metadata(self):
        data, at, pairs = self.sections.get("metadata", b""), 0, {}
        while at < len(data):
            k, v = struct.unpack_from("<QQ", data, at)
            pairs[data[at + 16:at + 16 + k]] = data[at + 16 + k:at + 16 + k + v]
            at += 16 + k + v
        return pairs
