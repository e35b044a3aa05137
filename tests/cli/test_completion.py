#!/usr/bin/env python3
"""test_completion.py: what leat --completion prints completes real command lines in bash and zsh: commands and their
options, values that are known, leat-bench's behind `leat bench`, paths with blanks in them, and nothing where nothing
can be known. There was none for zsh.

A shell runs at a terminal, and gets keys: one that inserts all that it would offer, one that prints the line. Keys are
taken in order, so there is nothing to wait for but the answer."""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios

from own import build, failures, finish, started

SECONDS = 120  # without a word from a shell: it hangs
folder = pathlib.Path.cwd()

BASHRC = r"""
bind 'set bell-style none' 'set enable-bracketed-paste off' 2>/dev/null
bind '"\C-xa": insert-completions'
bind -x '"\C-xp": printf "@@[%s]@@" "$READLINE_LINE"'
PS1=
eval "$(leat --completion bash)"
"""
ZSHRC = r"""
unsetopt beep prompt_cr prompt_sp zle_bracketed_paste 2>/dev/null
zle_bracketed_paste=()
autoload -Uz compinit && compinit -u -D
bindkey -e
zstyle ':completion:all:*' completer _all_matches _complete
zstyle ':completion:all:*' insert yes
zle -C all complete-word _generic
bindkey '^Xa' all
print_line() { print -rn -- "@@[$BUFFER]@@" }
zle -N print_line
bindkey '^Xp' print_line
PS1=
eval "$(leat --completion zsh)"
"""
SHELLS = {"bash": ["--noprofile", "--rcfile", "{}/bashrc", "-i"], "zsh": ["-i"]}

class Terminal:
    """A shell that reads keys."""
    def __init__(self, *command):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(folder / "here")
            os.environ.update(PATH=f"{build}:{os.environ['PATH']}", TERM="vt100", LC_ALL="C",
                              HOME=str(folder), ZDOTDIR=str(folder), HISTFILE="/dev/null", INPUTRC="/dev/null")
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 4000, 0, 0))

    def line_after(self, line, key):
        os.write(self.fd, line.encode() + key.encode() + b"\x18p\x01\x0b")
        seen = b""
        while not (found := re.search(rb"@@\[(.*?)\]@@", seen, re.S)):
            if not select.select([self.fd], [], [], SECONDS)[0]:
                raise SystemExit(f"no answer to {line}: {seen!r}")
            try:
                seen += os.read(self.fd, 65536)
            except OSError:
                raise SystemExit(f"the shell ended: {seen!r}") from None
        self.seen = seen.decode()
        return found[1].decode()

    def tab(self, line):
        return self.line_after(line, "\t")

    def offers(self, line):
        """The words that it would offer in place of the last one."""
        after = self.line_after(line, "\x18a")
        if after == line:
            return []
        return re.findall(r"(?:\\.|\S)+", after[line.rindex(" ") + 1:])


def fail(line, what):
    failures.append(line)
    print(f"{line}: {what}", file=sys.stderr)


def names(program):
    """The commands of a program, as its help lists them."""
    lines = subprocess.run([build / program, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^  ([a-z]+) ", lines[lines.index("commands:"):lines.index("example:")], re.M)


def options(*command):
    words = [build / command[0], *command[1:], "--help", "all"]
    lines = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^  (?:-., |    )?(--[a-z0-9-]+)", lines, re.M)


def told(pattern, *arguments):
    """A list in what leat encode says of such a wrong argument."""
    said = subprocess.run([build / "leat", "encode", *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return re.search(pattern, said.stderr.decode())[1].split(", ")


FILES = ["a.leat", "a.tiktoken", "gpt2.json", "my data.jsonl"]


def cases():
    """A line, and what is offered for its last word: of names of files those of FILES that are paths of that word."""
    tokenizers = told(r"not a built-in \((.*?)\)", "-t", "nonsense")
    patterns = told(r"choose one of (.*) \(", "-t", folder / "here/a.tiktoken", "--pattern", "nonsense")
    paths = [name.replace(" ", "\\ ") for name in FILES] + ["texts"]
    yield "leat ", [*names("leat"), "help", "--help", "--version", "--manual", "--completion"]
    yield "leat ver", ["verify"]
    yield "leat xy", []
    yield "leat help ", names("leat")
    yield "leat help me", ["merge"]
    yield "leat --completion ", ["bash", "zsh"]
    yield "leat --manual me", ["merge"]
    yield "leat pack --help ", ["all"]
    yield "leat bench ", [*names("leat-bench"), "help", "--help", "--version", "--manual", "--completion"]
    yield "leat bench li", ["limits"]
    yield "leat bench pack --format ", ["auto", "csv", "jsonl", "parquet", "text", "tsv"]
    yield "leat bench load --on-d", ["--on-damage"]
    yield "leat bench load --on-damage ", ["error", "mask"]
    yield "leat info ", paths
    yield "leat info my", ["my\\ data.jsonl"]
    yield "leat order ", options("leat", "order")
    yield "leat order --plan ", paths
    yield "leat pack -t ", tokenizers + paths
    yield "leat pack --tokenizer gp", ["gpt2", "gpt2.json"]
    yield "leat pack --tokenizer my", ["my\\ data.jsonl"]
    yield "leat encode --pattern ", patterns
    yield "leat pack --pattern ll", ["llama3", "llama4"]
    yield "leat pack -o a.l", ["a.leat"]
    yield "leat pack --threads ", []
    yield "leat pack --invalid-utf8 rep", ["replace"]
    yield "leat pack x --format j", ["jsonl"]
    yield "leat decode --ra", ["--raw"]
    yield "leat decode --jso", []  # an option of encode
    for command in (("leat", "pack"), ("leat", "trace"), ("leat", "encode"), ("leat", "bench", "load")):
        yield " ".join(command) + " --", options(*command)


def start(name):
    return Terminal(name, *(word.format(folder) for word in SHELLS[name]))


def try_lines(name):
    shell = start(name)
    for line, wanted in cases():
        offered = [offer.rstrip("=/") for offer in shell.offers(line) if offer != "-h"]
        if sorted(offered) != sorted(wanted):
            fail(f"{name}: {line}", f"offers {' '.join(offered)}, not {' '.join(wanted)}")
    for line, after in (("leat pa", "leat pack "), ("leat info my", "leat info my\\ data.jsonl "),
                        ("leat info 'my d", "leat info 'my data.jsonl' "),
                        ("leat info my\\ d", "leat info my\\ data.jsonl "),
                        ("leat pack -t my\\ d", "leat pack -t my\\ data.jsonl "),
                        ("leat pack --format=js", "leat pack --format=jsonl "),
                        ("leat pack --output=a.l", "leat pack --output=a.leat "),
                        ("leat pack -t cl", "leat pack -t cl100k_base "),
                        ("leat pack -t tex", "leat pack -t texts/")):
        became = shell.tab(line)
        if became != after:
            fail(f"{name}: {line}", f"becomes '{became}', not '{after}'")


def try_without_bench(name):
    """leat-bench is asked by way of the leat that stands in the line; where that has none beside it, nothing is said"""
    shell = start(name)
    shell.offers("~/alone/leat bench li")
    if (offered := start(name).offers("~/both/leat bench li")) != ["limits"]:
        fail(f"{name}: ~/both/leat bench li", f"offers {' '.join(offered)}, not limits")
    if "not found" in shell.seen:
        fail(f"{name}: leat bench li without leat-bench", f"says {shell.seen!r}")


def try_installed():
    """Where make install puts the scripts, zsh finds them by itself, that of leat-bench too"""
    subprocess.run(["scripts/install_manuals.sh", build, folder / "share"], check=True, cwd=started)
    rc = ZSHRC[:ZSHRC.index("eval")].replace("autoload", f"fpath+=({folder}/share/zsh/site-functions)\nautoload", 1)
    (folder / ".zshrc").write_text(rc)
    shell = start("zsh")
    for line, wanted in (("leat ver", ["verify"]), ("leat bench li", ["limits"]), ("leat-bench li", ["limits"])):
        if (offered := shell.offers(line)) != wanted:
            fail(f"zsh, installed: {line}", f"offers {' '.join(offered)}, not {wanted}")


there = [name for name in SHELLS if shutil.which(name)]
if not there:
    print("skipped: no bash and no zsh")
    sys.exit(77)
(folder / "here/texts").mkdir(parents=True)
for file in FILES:
    (folder / "here" / file).write_text("IQ== 0\n")
(folder / "bashrc").write_text(BASHRC)
(folder / ".zshrc").write_text(ZSHRC)
(folder / "alone").mkdir()
shutil.copy(build / "leat", folder / "alone/leat")
(folder / "both").mkdir()
(folder / "both/leat").symlink_to(build / "leat")
for found in there:
    try_lines(found)
    try_without_bench(found)
if "zsh" in there:
    try_installed()
finish()
