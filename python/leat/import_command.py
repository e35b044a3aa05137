"""import_command.py: the work of `leat import`. The command, which has read and checked its options, becomes
`python -m leat.import_command NAME=VALUE... -- SOURCE...`. What people and programs see of it is the command's: lines,
JSON, progress, signals, exit codes."""
from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
import warnings

DONE, FAILED, WRONG, STOPPED, INTERRUPTED = 0, 1, 2, 5, 130  # enum cli_exit of the command
HINTS = {1: " (--force)", 2: " (--resume)", 3: " (--resume or --force)"}  # enum leat_hint, as the command spells it
REDRAW_SECONDS, LOG_SECONDS = 0.1, 30


class Interrupted(BaseException):
    """A signal that asks for a clean end."""


def say(text):
    print(f"leat: {text}", file=sys.stderr, flush=True)


def catch_interrupts():
    """Handles SIGINT and SIGTERM. A SIGINT two seconds or more after the first one kills."""
    first = []

    def handle(number, _):
        if first and number == signal.SIGINT and time.monotonic() - first[0] > 2:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not first:
            first.append(time.monotonic())
            raise Interrupted(INTERRUPTED if number == signal.SIGINT else STOPPED)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, handle)


def size_of(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def duration(seconds):
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def counted(count, noun):
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class Progress:
    """A line with a bar on a terminal, which is cleared at the end; elsewhere a line every 30 seconds. `amount` says a
    number of what is counted, such as bytes."""

    def __init__(self, mode, what="import", amount=size_of):
        self.what, self.amount = what, amount
        self.silent = mode == "never"
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.began, self.first, self.drawn = time.monotonic(), None, False
        self.next = self.began + (REDRAW_SECONDS if self.terminal else LOG_SECONDS)

    def __call__(self, done, total):
        now = time.monotonic()
        if self.first is None:
            self.first = done
        if self.silent or now < self.next:
            return
        self.next = now + (REDRAW_SECONDS if self.terminal else LOG_SECONDS)
        share = done / total if total else 1
        rate = (done - self.first) / (now - self.began)
        text = f"{100 * share:3.0f} %  {self.amount(done)} of {self.amount(total)}"
        if rate > 0 and self.amount is size_of:
            text += f"  {rate / 1e6:.0f} MB/s"
        if rate > 0:
            text += f"  {duration((total - done) / rate)} left"
        if not self.terminal:
            print(f"{self.what}  {text}", file=sys.stderr, flush=True)
            return
        columns = shutil.get_terminal_size().columns - 1
        width = min(40, columns - len(text) - 12)
        full = int(share * width)
        bar = f"[{'#' * full}{'-' * (width - full)}]  " if width >= 10 else ""
        print(f"\r{f'{self.what}  {bar}{text}'[:columns]}\x1b[K", end="", file=sys.stderr, flush=True)
        self.drawn = True

    def end(self):
        if self.drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def summary(made, seconds, as_json):
    """Returns the lines to print."""
    import leat
    if as_json:
        import json
        with leat.open(made.output) as dataset:
            info = dataset.info
        facts = made._asdict()
        facts = {name: facts[name] for name in ("output", "was_finished", "files", "bytes", "documents", "tokens",
                                                "ends_added", "mask")}
        return json.dumps({**facts, "vocabulary": info.vocabulary, "width": info.token_width,
                           "identity": info.identity.hex(), "seconds": seconds})
    name, tokens, documents = (leat._leat.show(made.output), counted(made.tokens, "token"),
                               counted(made.documents, "document"))
    if made.was_finished:
        return f"{name} is finished already: {tokens} in {documents}."
    lines = f"{name}: {tokens} in {documents} from {counted(made.files, 'file')} in {duration(seconds)}."
    if made.ends_added:
        lines += f"\nThe end token was added to {counted(made.ends_added, 'document')}."
    return lines


def put(text):
    """Prints to stdout; returns the exit code."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape") + b"\n")
        sys.stdout.flush()
        return DONE
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # keeps Python from writing buffered text again at exit
        if not isinstance(error, BrokenPipeError):
            say(f"cannot write everything to standard output: {error.strerror}")
        return FAILED


def say_left(output):
    """Says what an unfinished run has on the disk, and the two ways to continue."""
    name = output.removesuffix(".leat").removesuffix(".tokens")
    if os.path.lexists(name + ".partial.checkpoint"):
        say("nothing is lost: the same command with --resume goes on from there")
        say(f"to give it up, remove what it left: rm -r {shlex.quote(name)}.partial.*")


def run(options, sources):
    import leat
    progress, began = Progress(options.pop("progress", "auto")), time.monotonic()
    as_json = options.pop("json", None) is not None
    arguments = {name: options.get(name) for name in ("output", "tokenizer", "column", "dtype")}
    numbers = {name: int(options[name]) for name in ("vocabulary", "end") if name in options}
    try:
        if options.get("tokenizer") is not None and options.get("pattern") is not None:
            arguments["tokenizer"] = leat.Tokenizer(options["tokenizer"], pattern=options["pattern"])
        made = leat.import_dataset(sources, **arguments, **numbers, force="force" in options,
                                   resume="resume" in options, progress=progress)
    except leat.Error as error:
        progress.end()
        say(error._plain + HINTS.get(error._hint, ""))
        if error.status not in ("busy", "exists"):
            say_left(options["output"])
        return WRONG if error.status == "argument" else FAILED
    except ImportError as error:
        progress.end()
        say(error)
        return WRONG
    except Interrupted as stopped:
        progress.end()
        say("interrupted")
        say_left(options["output"])
        return stopped.args[0]
    progress.end()
    if made.mask is not None:
        say(f"warning: the column \"{made.mask}\" was not taken, so all tokens are learned; in Python, "
            "leat.Packer.extend(..., mask=...) stores a mask")
    return put(summary(made, time.monotonic() - began, as_json))


def main():
    words = sys.argv[1:]
    at = words.index("--")
    warnings.filterwarnings("ignore", "the column .* was not taken", RuntimeWarning)
    catch_interrupts()
    try:
        return run(dict(word.split("=", 1) for word in words[:at]), words[at + 1:])
    except Interrupted as stopped:
        return stopped.args[0]
    except MemoryError as error:
        say(error or "out of memory")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
