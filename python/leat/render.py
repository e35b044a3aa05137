"""render.py: a process that renders conversations for leat.pack(chat=...) and `leat pack --chat`, which start it with
a socket as its standard input. tokenize_tools/render/render.h has the protocol. It needs jinja2, and imports nothing
else of leat than what renders.
"""
import datetime
import os
import re
import signal
import socket
import struct
import sys
import time

# Stands in for the package leat, which would load the library.
if __name__ == "__main__" and "leat" not in sys.modules:
    import types
    sys.modules["leat"] = types.ModuleType("leat")
    sys.modules["leat"].__path__ = [os.path.dirname(os.path.abspath(__file__))]

VERSION = "1.0.0"  # the package's version, which `leat pack --chat` reads without importing it
PROTOCOL = b"3"
TEXT, REJECTED, TOO_BIG, FAILED = range(4)  # kinds of answers
MAX_FRAME = 64 << 20
FLUSH_BYTES, FLUSH_SECONDS = 1 << 16, 0.1
READ_BYTES = 64 << 20  # memory for reading the templates, in bytes
LEFT_SECONDS = 60  # seconds after its conversation's limit until a process ends itself
DIGITS = 4300  # most digits of a number; Python's own limit since 3.11
KINDS = {dict: "an object", list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean",
         type(None): "null"}
_LONE = re.compile("[\ud800-\udfff]")
ROLES = ("assistant", "user", "system", "developer", "tool", "function")  # as learned.c has them
TURN, WITHIN = 1, 2  # of a stretch


class Rejected(Exception):
    """Says why a conversation cannot be rendered."""


# ---- Frames ----------------------------------------------------------------------------------------------------------

def read_frame(stream):
    """Returns the fields of the next frame as bytes, or None if the other side has closed the connection."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    size, = struct.unpack("<I", head)
    body = stream.read(size) if size <= MAX_FRAME else b""
    if len(body) < size or size < 4:
        return None
    count, = struct.unpack_from("<I", body)
    fields, at = [], 4
    for _ in range(count):
        length, = struct.unpack_from("<I", body, at)
        fields.append(body[at + 4:at + 4 + length])
        at += 4 + length
    return fields


def frame_of(fields):
    parts = [struct.pack("<I", len(fields))]
    for field in fields:
        parts += struct.pack("<I", len(field)), field
    body = b"".join(parts)
    return struct.pack("<I", len(body)) + body


# ---- Conversations ---------------------------------------------------------------------------------------------------

def _refuse(word):
    raise Rejected(f"the conversation has {word}, which is not JSON")


def _integer(text):
    if len(text.lstrip("-")) > DIGITS:
        raise Rejected(f"the conversation has a number of more than {DIGITS} digits")
    return int(text)


class Renderer:
    def __init__(self, fields):
        import json

        import jinja2

        from leat import _learning, _marked, chat
        memory, self.most, date, learning, usual, with_tools, *names = fields
        self.variables = {name.decode(): value.decode() for name, value in zip(names[::2], names[1::2])}
        self.decoder = json.JSONDecoder(parse_constant=_refuse, parse_int=_integer)
        self.refused, self.varies = jinja2.exceptions.TemplateError, _marked.Varies
        self.wrong = _learning.Wrong
        self.learning = _learning.Learning.of_lines(learning.decode())
        templates = [self._template(chat, text.decode(), date.decode())
                     for text in [usual] + [with_tools] * bool(with_tools)]
        self.templates = [(template, _learning.Turns(template, self.variables)) for template in templates]
        self.most, self.memory = int(self.most), int(memory)

    def _template(self, chat, text, date):
        try:
            day = datetime.datetime.fromisoformat(date) if date else None
        except ValueError:
            raise Rejected(f"{date!r} is not a date: write it like 2026-01-31") from None
        template = chat.Template(text, day)
        for name in "bos_token", "eos_token":
            if name in template.names and name not in self.variables:
                raise Rejected(f"the chat template uses {name}: neither tokenizer_config.json nor "
                               "special_tokens_map.json beside the tokenizer says which token that is")
        return template

    def _value(self, text, what):
        try:
            return self.decoder.raw_decode(text.decode())[0]
        except ValueError as why:
            raise Rejected(f"Python cannot read {what}: {why}") from None

    def render(self, messages, tools, turns=b""):
        """Returns the fields of the answer."""
        messages, tools = self._value(messages, "the messages"), self._value(tools, "the tools") if tools else None
        completion = 0
        if self.learning.pairs:
            prompt, answer = messages
            completion, messages = len(prompt), prompt + answer
            if not answer:
                raise Rejected("the completion has no messages")
        check(messages, tools)
        if turns:
            messages = turns_of(messages, *map(int, turns.split()))
        try:
            return self._answer(messages, tools, completion)
        except UnicodeEncodeError:  # an unpaired surrogate becomes U+FFFD, as in texts
            return self._answer(repaired(messages), repaired(tools), completion)

    def _answer(self, messages, tools, completion):
        from leat import _marked, chat
        template, turns = self.templates[-1 if tools is not None else 0]
        text = template.render(messages, tools, **self.variables)
        out = text.encode()
        if len(out) > self.most:
            return [b"%d" % TOO_BIG, b"text"]
        messages, runs = list(map(chat.as_role_and_content, messages)), _marked.runs(text)
        stretches = stretches_in_bytes(self.learning.choose(turns, messages, text, runs, completion), messages, text)
        if len(stretches) > self.most:
            return [b"%d" % TOO_BIG, b"text"]
        return [b"%d" % TEXT, out, data_in_bytes(text, runs), stretches]

    def answer(self, messages, tools, turns=b""):
        """Returns the frame of the answer."""
        try:
            return frame_of(self.render(messages, tools, turns))
        except MemoryError:
            return frame_of([b"%d" % TOO_BIG, b"memory"])
        except (Rejected, self.wrong) as why:
            reason = str(why)
        except self.varies as why:
            reason = f"the chat template fails: {why}"
        except self.refused as why:
            reason = f"the chat template refuses it: {short(why)}"
        except Exception as why:
            reason = f"the chat template fails: {type(why).__name__}: {short(why)}"
        return frame_of([b"%d" % REJECTED, reason.encode(errors="replace")])


def short(why):
    return " ".join(str(why).split())[:400]


def check(messages, tools):
    from leat import _learning, chat
    if not isinstance(messages, list) or not messages:
        raise Rejected("the conversation has no messages")
    if len(messages) > _learning.MAX_MESSAGES:
        raise Rejected(f"the conversation has more than {_learning.MAX_MESSAGES} messages")
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            raise Rejected(f"message {number} of the conversation is {KINDS[type(message)]}, not an object")
        if not isinstance(chat.as_role_and_content(message).get("role"), str):
            raise Rejected(f"message {number} of the conversation has no role")
    if tools is None:
        return
    if not isinstance(tools, list):
        raise Rejected(f"the tools are {KINDS[type(tools)]}, not a list")
    for number, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise Rejected(f"tool {number} is {KINDS[type(tool)]}, not an object")


def turns_of(messages, first, count):
    """The messages of so many turns, after those of the system that begin the conversation."""
    from leat import chat
    roles = [chat.as_role_and_content(message)["role"] for message in messages]
    head = next((n for n, role in enumerate(roles) if role not in ("system", "developer")), len(roles))
    users = [n for n in range(head, len(roles)) if roles[n] == "user" and (n == head or roles[n - 1] != "user")]
    begins = [head, *users[1:], len(roles)]
    if first + count >= len(begins):
        raise Rejected("")
    return messages[:head] + messages[begins[first]:begins[first + count]]


def repaired(value):
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {repaired(key): repaired(item) for key, item in value.items()}
    return list(map(repaired, value)) if isinstance(value, list) else value


def bytes_in(text):
    """Returns a function that counts the bytes of text[begin:end]."""
    plain = str.__str__(text)[:]
    return (lambda begin, end: end - begin) if plain.isascii() else lambda begin, end: len(plain[begin:end].encode())


def data_in_bytes(text, runs):
    """Returns a byte for each byte of the text: 1 if it stood in the conversation, else 0."""
    from leat import _marked
    count = bytes_in(text)
    return b"".join([(b"\1" if mark & _marked.DATA else b"\0") * count(begin, end) for begin, end, mark in runs])


def stretches_in_bytes(stretches, messages, text):
    """Returns the stretches in the form of render.h, with their ends counted in bytes."""
    count, out, at, byte = bytes_in(text), [], 0, 0
    for start, end, weight, message, turn, within in stretches:
        begin = byte + count(at, start)
        at, byte = end, begin + count(start, end)
        role, flags = messages[message].get("role"), (turn is not None) * TURN + within * WITHIN
        out.append(struct.pack("<IIIIdd", begin, byte, ROLES.index(role) if role in ROLES else len(ROLES), flags,
                               weight, turn or 0))
    return b"".join(out)


# ---- The process -----------------------------------------------------------------------------------------------------

def limit(what, most=None):
    """Sets a limit of the process; None raises it as far as allowed."""
    import resource
    hard = resource.getrlimit(what)[1]
    if most is None or (hard != resource.RLIM_INFINITY and most > hard):
        most = hard
    resource.setrlimit(what, (most, hard))


def bound(seconds, memory):
    """Limits reading a template or rendering to seconds of CPU time and to bytes of data and stack."""
    import resource
    limit(resource.RLIMIT_CPU, int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + seconds + LEFT_SECONDS)
    with open("/proc/self/statm") as f:
        limit(resource.RLIMIT_DATA, int(f.read().split()[5]) * resource.getpagesize() + memory)


def end_with(parent):
    """Ends this process when the process that started it ends."""
    def look(*_):
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)


def main():
    import resource
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides
    end_with(os.getppid())
    connection = socket.socket(fileno=os.dup(0))
    stream, answers = connection.makefile("rb"), connection.makefile("wb")

    def send(fields):
        answers.write(frame_of(fields))
        answers.flush()

    try:
        import jinja2

        from leat import _learning, _marked, chat  # noqa: F401
    except ImportError as why:
        return send([PROTOCOL, b"%d" % FAILED, b"jinja2", str(why).encode()])
    fields = read_frame(stream)
    if fields is None or fields[0] != PROTOCOL:
        return send([PROTOCOL, b"%d" % FAILED, b"protocol", b""])
    seconds, wrong, what = int(fields[1]), None, b"template"
    bound(seconds, READ_BYTES)
    try:
        renderer = Renderer(fields[2:])
    except jinja2.exceptions.TemplateSyntaxError as why:
        wrong = f"line {why.lineno}: {short(why)}"
    except (Rejected, _marked.Varies) as why:
        wrong = str(why)
    except _learning.Wrong as why:
        wrong, what = str(why), b"learn"
    except MemoryError:
        wrong = f"to read it takes more than {READ_BYTES >> 20} MiB"
    except Exception as why:
        wrong = f"{type(why).__name__}: {short(why)}"
    limit(resource.RLIMIT_DATA)
    if wrong:
        return send([PROTOCOL, b"%d" % FAILED, what, wrong.encode()])
    needs_date = any(template.needs_date for template, _ in renderer.templates)
    send([PROTOCOL, b"%d" % (FAILED if needs_date else TEXT), b"date" if needs_date else b"",
          jinja2.__version__.encode()])
    while not needs_date and (fields := read_frame(stream)) is not None:
        serve(renderer, fields, answers, seconds)


def serve(renderer, fields, answers, seconds):
    """Answers the conversations of a batch one by one, so that the other side sees which one takes long."""
    import resource
    waiting, flushed = 0, time.monotonic()
    bound(seconds * len(fields) // 3, renderer.memory)
    for messages, tools, turns in zip(fields[::3], fields[1::3], fields[2::3]):
        frame = renderer.answer(messages, tools, turns)
        answers.write(frame)
        waiting, now = waiting + len(frame), time.monotonic()
        if waiting >= FLUSH_BYTES or now >= flushed + FLUSH_SECONDS:
            answers.flush()
            waiting, flushed = 0, now
    limit(resource.RLIMIT_DATA)
    answers.flush()


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, ConnectionResetError):
        pass
