"""page.py: a document whose blocks of code are run, one after another, in a folder of their own.

A block is one between fences: ```python, or ```sh or ``` alone with lines of a shell. A comment of HTML in the line
before it, which readers do not see, says what is different here:

    <!-- test: python -->                  a block that has another language's name, or none
    <!-- test: skip, WHY -->               not run
    <!-- test: 'A' is 'B', 'C' is 'D' -->  run with other words: for what is not to be had in a test, as a GPU

Who runs a page takes its blocks one after another; one that is left over is a failure."""
import ast
import os
import pathlib
import re
import subprocess

BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- test: (.*?) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def clone(folder):
    """A folder in which a page's first commands find what a clone of leat has."""
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    return folder


class Page:
    """The blocks of a document, and the names that its Python has."""

    def __init__(self, name, folder, **names):
        page = (ROOT / name).read_text(encoding="utf-8")
        found = list(BLOCK.finditer(page))
        self.blocks = [(block[1] or "", block[2], block[3]) for block in found]
        self.before = [page.count("\n", 0, block.start(3)) for block in found]  # lines of the page, for tracebacks
        assert self.blocks, f"{name} has no blocks"
        self.folder, self.name, self.names = folder, name, {"__name__": name, **names}
        self.at = 0

    def take(self):
        """The kind and the text of the next block that is run, with the words that the test has instead."""
        while self.at < len(self.blocks):
            note, kind, text = self.blocks[self.at]
            self.at += 1
            if not note.startswith("skip, "):
                break
        else:
            raise AssertionError(f"{self.name} has no block more")
        if note == "python":
            kind = note
        elif note:
            for old, new in re.findall(r"'(.*?)' is '(.*?)'(?:, |$)", note):
                assert old in text, f"{self.name}: {old} is not in the block that it is to be replaced in"
                text = text.replace(old, new)
        return kind, text

    def shell(self, before_each=None):
        """Runs the next block, all at once, or line by line where lines are ways to choose from. Returns the folder in
        which it ends."""
        kind, text = self.take()
        assert kind in ("", "sh"), f"{self.name}: a block of a shell is expected here, not of {kind}: {text}"
        where = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
        lines = [text] if before_each is None else text.splitlines()
        for line in lines:
            if before_each is not None:
                before_each(line)
            done = subprocess.run(["bash", "-e", "-c", f"{line}\npwd"], cwd=self.folder, env=where,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 0, f"{self.name}: {line}: {done.stdout}"
        return pathlib.Path(done.stdout.splitlines()[-1])

    def python(self):
        kind, text = self.take()
        assert kind == "python", f"{self.name}: a block of Python is expected here, not of {kind or 'a shell'}: {text}"
        code = ast.increment_lineno(ast.parse(text), self.before[self.at - 1])
        exec(compile(code, ROOT / self.name, "exec"), self.names)
        return self.names

    def done(self):
        left = [text for note, kind, text in self.blocks[self.at:] if not note.startswith("skip, ")]
        assert not left, f"{self.name}: these blocks are not run: {left}"
