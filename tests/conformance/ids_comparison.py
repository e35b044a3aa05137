"""ids_comparison.py: the comparison of one vocabulary: leat's answers and a reference's to the same questions, and the
first difference, cut down. For check_ids.py, in the process of a vocabulary's own."""
import random
import re
import struct
import subprocess
import sys
import threading
import traceback

import ids_references as references

CHUNK = 20000
KINDS = b"e", b"p"  # of encoding: whole, in parts

# A text that leat rejects because the reference fails on it, or gives ids of other bytes
NO_PLACE = object()
NO_PLACE_SENTENCE = b"puts something before this text without replacing anything"

# Panics of a reference: bugs of its own, since it should answer. What leat does there is its own decision.
KNOWN_PANICS = (
    # Tokens "a" (rstrip) and "\n" (lstrip), both added; the text "a\n\n". After "a" has taken both line ends, the
    # second token, found at the first of them, begins behind its own end. leat gives them to "a" alone, as tokenizers
    # does where the second token comes out empty rather than shorter: for the text "a\n".
    (r"AddedVocabulary bad split", "tokenizers: an added token within the white space that the one before has taken"),
    # The decoder Strip("a", 0, 2) and the token "a" (or an empty one): it looks for a second character from the end.
    # leat strips the characters that are there.
    (r"index out of bounds: the len is \d+ but the index is 18446744073709551615",
     "tokenizers: decoder Strip with a token of fewer characters than it strips at the end"),
    # The normalizers Prepend("") and Replace(Regex("(?=1)"), "#"), where another changes the text "1" afterwards. leat
    # does what each does alone.
    (r"index out of bounds: the len is \d+ but the index is \d+$",
     "tokenizers: a normalizer after one that put text before the first character, and replaced nothing"),
    (NO_PLACE_SENTENCE.decode(), "tokenizers: Replace before ByteLevel that replaces nothing at a text's beginning"),
    # The decoder Strip("a", 1, 1) and the token "a": both ends take the same character. leat takes it once.
    (r"slice index starts at \d+ but ends at \d+", "tokenizers: decoder Strip with a token that both ends strip"),
)

# ---- leat -----------------------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


class Leat:
    def __init__(self, program, reference):
        self.program, self.reference = program, reference

    def ask(self, requests, special):
        """The answers: bytes, or None or NO_PLACE for what is refused. `requests`: pairs of a letter and bytes."""
        data = b"".join(kind + struct.pack("<I", len(payload)) + payload for kind, payload in requests)
        command = [self.program, self.reference.spec, str(special)]
        command += [self.reference.pattern] if self.reference.pattern else []
        run = subprocess.run(command, input=data, capture_output=True)
        if run.returncode == 3:
            raise Refused(run.stdout.decode(errors="replace").strip())
        if run.returncode != 0:
            why = run.stderr.decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)}: exit code {run.returncode}: {why}")
        answers, at = [], 0
        while at + 8 <= len(run.stdout):
            status, size = struct.unpack_from("<II", run.stdout, at)
            answer = run.stdout[at + 8:at + 8 + size]
            answers.append(answer if not status else NO_PLACE if NO_PLACE_SENTENCE in answer else None)
            at += 8 + size
        if len(answers) != len(requests) or at != len(run.stdout):
            raise RuntimeError(f"{' '.join(command)}: {len(answers)} answers to {len(requests)} requests")
        return answers

    def encode(self, some, special, kind=b"e"):
        answers = self.ask([(kind, t.encode()) for t in some], special)
        return [list(struct.unpack(f"<{len(a) // 4}I", a)) if isinstance(a, bytes) else a for a in answers]

    def decode(self, lists):
        return self.ask([(b"d", struct.pack(f"<{len(ids)}I", *ids)) for ids in lists], 0)


# ---- Comparing ------------------------------------------------------------------------------------------------------

def same_text(mine, theirs):
    """leat gives the bytes as they are; a reference may give text, with U+FFFD for bytes that are not."""
    if mine is None or not isinstance(theirs, str):
        return mine == theirs
    return mine.decode("utf-8", "replace") == theirs


def shrunk(item, differs):
    """A shorter text or list that still differs; parts are left out, large ones first."""
    size = len(item)
    for _ in range(200):
        size = max(1, size // 2)
        shorter = next((c for c in (item[:i] + item[i + size:] for i in range(0, len(item), size))
                        if len(c) < len(item) and differs(c)), None) if len(item) < 64 * size else None
        if shorter is not None:
            item, size = shorter, 2 * size
        elif size == 1:
            break
    return item


class Comparison:
    """One vocabulary."""

    def __init__(self, name, reference, program):
        self.name, self.reference, self.leat = name, reference, Leat(program, reference)
        self.texts = self.lists = self.different = 0
        self.panics = {}

    def beside(self, mine, theirs, count):
        """Both at once: leat in a process of its own. Each gives `count` answers, or has failed."""
        result = {}

        def run():
            try:
                result["mine"] = mine()
            except BaseException as e:
                result["error"] = e

        thread = threading.Thread(target=run)
        thread.start()
        try:
            expected = theirs()
        finally:
            thread.join()
        if "error" in result:
            raise result["error"]
        if len(expected) != count:
            raise RuntimeError(f"{len(expected)} answers to {count} questions")
        return result["mine"], expected

    def differs(self, what, item, mine, expected, again):
        self.different += 1
        if self.different == 1:
            item = shrunk(item, lambda x: again(x)[2])
            mine, expected, _ = again(item)
            print(f"  {self.name}: {what} {item!r}\n    leat      {mine!r}\n    reference {expected!r}")

    def known_panic(self, answer, mine=None):
        """Whether it is one; then it is counted."""
        if mine is NO_PLACE:
            answer = references.Panic(NO_PLACE_SENTENCE.decode())
        if not isinstance(answer, references.Panic):
            return False
        name = next((name for pattern, name in KNOWN_PANICS if re.match(pattern, answer.sentence)), None)
        if name:
            self.panics[name] = self.panics.get(name, 0) + 1
        return name is not None

    def encode(self, some, special):
        r = self.reference
        for at in range(0, len(some), CHUNK):
            part = some[at:at + CHUNK]
            (mine, parts), expected = self.beside(lambda: [self.leat.encode(part, special, kind) for kind in KINDS],
                                                  lambda: r.encode(part, special), len(part))
            self.texts += len(part)
            for text, a, b, c in zip(part, mine, expected, parts):
                if a != c:
                    def apart(x):
                        m, e = (self.leat.encode([x], special, kind)[0] for kind in KINDS)
                        return e, m, m != e
                    self.differs("encode in parts, beside leat's own", text, c, a, apart)
                if not self.known_panic(b, a) and a != b:
                    def again(x):
                        m, e = self.leat.encode([x], special)[0], r.encode([x], special)[0]
                        return m, e, m != e
                    self.differs(f"encode{' special' if special else ''}", text, a, b, again)
            if special == r.modes[0]:
                self.decode([ids for ids in expected if isinstance(ids, list)])

    def decode(self, lists):
        r = self.reference
        mine, expected = self.beside(lambda: self.leat.decode(lists), lambda: r.decode(lists), len(lists))
        self.lists += len(lists)
        for ids, a, b in zip(lists, mine, expected):
            if not self.known_panic(b) and not same_text(a, b):
                def again(x):
                    m, e = self.leat.decode([x])[0], r.decode([x])[0]
                    return m, e, not same_text(m, e)
                self.differs("decode", ids, a, b, again)

    def random_ids(self, count, seed):
        if not self.reference.ids:
            return [[]]
        r = random.Random(seed)
        few = [r.choice(self.reference.ids) for _ in range(20)]
        return [[r.choice(few if r.random() < 0.2 else self.reference.ids) for _ in range(r.randrange(12))]
                for _ in range(count)]


class Outcome:
    """Of one vocabulary, as it comes out of its process. `kind`: compared, refused, untrained, no reference, failed."""

    def __init__(self, kind, text="", comparison=None):
        self.kind, self.text = kind, text
        self.texts, self.lists, self.different, self.panics = (
            (comparison.texts, comparison.lists, comparison.different, comparison.panics) if comparison
            else (0, 0, 0, {}))


def compare(options, name, open_reference, mixed, seed, count):
    """In the process of its own. The reference is None where the vocabulary could not be made."""
    try:
        reference = open_reference()
    except Exception as e:
        return Outcome("no reference", str(e)[:60])
    if not reference:
        return Outcome("untrained")
    c = Comparison(name, reference, options.program)
    try:
        c.decode(c.random_ids(200 + count // 10, seed))
        for i, special in enumerate(reference.modes):
            c.encode(mixed if i == 0 else mixed[::3], special)
    except Refused as e:
        return Outcome("refused", str(e))
    except Exception as e:
        traceback.print_exc(file=sys.stdout)
        return Outcome("failed", f"{type(e).__name__}: {e}")
    return Outcome("compared", comparison=c)
