"""leat_reader.py: reads leat datasets with numpy and no line of leat's own code, made from the text of FORMAT.md alone.

    dataset = Dataset("corpus")
    first, end = dataset.starts[7:9]
    ids = dataset.tokens[first:end]

It believes its files: what FORMAT.md tells a reader to check at open is asserted, but for the hashes, which
tests/python/check_reader.py compares.
"""
import os

import numpy as np

NONE = 2**64 - 1
KINDS = {1: "documents", 2: "directory", 3: "pages", 4: "inputs", 5: "input paths", 6: "origins", 7: "lines",
         8: "id ends", 9: "ids", 10: "tokenizer", 11: "metadata", 13: "text hashes", 14: "token file", 15: "mask",
         16: "mask pages"}


class Dataset:
    def __init__(self, name):
        self.index = np.memmap(name + ".leat", np.uint8, "r")
        assert bytes(self.index[:8]) == b"leat\r\n\x1a\n" and self.u32(8) == 1 and self.u32(12) == 4096
        assert self.u64(16) <= 1, "a feature that must be understood"
        self.identity, self.fingerprint, self.token_sum = (bytes(self.index[at:at + 16]) for at in (32, 112, 128))
        index_size, token_file_size, self.token_count, self.document_count, self.vocabulary = self.u64(48, 5)
        self.end_token, self.begin_token = self.u64(88, 2)
        self.width, count = self.u32(104), self.u32(108)
        self.created = self.u64(144)
        assert index_size == len(self.index) and token_file_size == self.token_count * self.width
        self.sections, self.entries, self.flags, self.sums = {}, {}, {}, {}
        for at in range(512, 512 + 64 * count, 64):
            kind, (offset, size, entries) = self.u32(at), self.u64(at + 8, 3)
            assert kind in KINDS or not self.u32(at + 4) & 1, "a section that must be understood"
            name_of = KINDS.get(kind, at)
            self.sections[name_of] = self.index[offset:offset + size]
            self.entries[name_of], self.flags[name_of] = entries, self.u32(at + 4)
            self.sums[name_of] = bytes(self.index[at + 32:at + 48])
        self.token_path, begin = name + ".tokens", 0
        if self.u64(16) & 1:
            place = bytes(self.sections["token file"])
            begin = int.from_bytes(place[:8], "little")
            self.token_path = os.path.join(os.path.dirname(name), os.fsdecode(place[8:]))
        kind_of_token = np.dtype("<u2" if self.width == 2 else "<u4")
        file = np.memmap(self.token_path, np.uint8, "r") if token_file_size else np.zeros(0, np.uint8)
        self.tokens = file[begin:begin + token_file_size].view(kind_of_token)
        assert len(self.tokens) == self.token_count and (begin or len(file) == token_file_size)
        self.starts, self.directory = self.numbers("documents"), self.numbers("directory")

    def u32(self, at):
        return int(self.index[at:at + 4].view("<u4")[0])

    def u64(self, at, count=None):
        numbers = [int(n) for n in self.index[at:at + 8 * (count or 1)].view("<u8")]
        return numbers if count else numbers[0]

    def numbers(self, section):
        return self.sections.get(section, np.zeros(0, np.uint8)).view("<u8")

    def documents_in(self, first, count):
        """The first and the last document that have a token in [first, first + count)."""
        return self.document_at(first), self.document_at(first + count - 1)

    def document_at(self, token):
        cell = token * self.width // 65536
        low = max(int(self.directory[cell]) - 1, 0)
        high = int(self.directory[cell + 1]) if cell + 1 < len(self.directory) else self.document_count
        return low + int(np.searchsorted(self.starts[low:high], token, "right")) - 1

    def inputs(self):
        paths = self.sections["input paths"]
        for r in self.sections["inputs"].reshape(-1, 64):
            offset, size, length, documents, tokens, rejects = (int(n) for n in r[:48].view("<u8"))
            yield bytes(paths[offset:offset + size]), length, documents, tokens, rejects, bytes(r[48:])

    def origin(self, document):
        """(input, offset, line, id); NONE and b"" where there is none."""
        offset, number = (int(n) for n in self.numbers("origins")[2 * document:2 * document + 2])
        lines, ends = self.numbers("lines"), self.numbers("id ends")
        line = int(lines[document]) if len(lines) else NONE
        begin = int(ends[document - 1]) if len(ends) and document else 0
        text = bytes(self.sections["ids"][begin:int(ends[document])]) if len(ends) else b""
        return number, offset, line, text

    def text_hash(self, document):
        """16 bytes, or None where none are stored."""
        hashes = self.sections.get("text hashes")
        return None if hashes is None else bytes(hashes[16 * document:16 * document + 16])

    def mask(self):
        """A byte for each token, or None where none are stored."""
        return self.sections.get("mask")

    def tokenizer(self):
        """(name, pattern, file or None), or None."""
        t = bytes(self.sections.get("tokenizer", b""))
        if not t:
            return None
        n, p, f, form = (int.from_bytes(t[at:at + 8], "little") for at in (0, 8, 16, 24))
        return t[32:32 + n], t[32 + n:32 + n + p], t[32 + n + p:32 + n + p + f] if form == 2 else None

    def metadata(self):
        m, at, pairs = bytes(self.sections.get("metadata", b"")), 0, []
        while at < len(m):
            k, v = int.from_bytes(m[at:at + 8], "little"), int.from_bytes(m[at + 8:at + 16], "little")
            pairs.append((m[at + 16:at + 16 + k], m[at + 16 + k:at + 16 + k + v]))
            at += 16 + k + v
        return pairs
