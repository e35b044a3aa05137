"""What the package writes is a file of the caller's: links that somebody has put in its place are refused, and what
they lead to stays as it was. Logs of leat.Mixture, checkpoints and tokenizers were written through them. A pipe or
device is written to as it is."""
import os

import pytest

import leat
from leat._own_file import own_file, write_to


@pytest.fixture(params=["symbolic", "hard"])
def planted(request, tmp_path):
    """(a link, the file that it leads to)"""
    mine, link = tmp_path / "mine", tmp_path / "link"
    mine.write_bytes(b"mine")
    if request.param == "symbolic":
        link.symlink_to(mine)
    else:
        link.hardlink_to(mine)
    return link, mine


def refused(planted, call):
    with pytest.raises(FileExistsError, match=r"link is a symbolic link|link has a second name"):
        call(planted[0])
    assert planted[1].read_bytes() == b"mine"


def test_logs_of_a_mixture(planted, corpus):
    mixture = leat.Mixture(leat.Plan([(leat.open(corpus), 1)], 16), planted[0].with_name("new"))
    mixture._write()
    mixture._log = planted[0]
    refused(planted, lambda path: mixture._write())


def test_tokenizers(planted, tmp_path):
    tokenizer = leat.Tokenizer("gpt2")
    refused(planted, tokenizer.save)
    tokenizer.save(tmp_path / "new.json")
    tokenizer.save(tmp_path / "new.json")  # again
    assert leat.Tokenizer(tmp_path / "new.json").encode("a b").ids == tokenizer.encode("a b").ids


@pytest.mark.parametrize("mode", ["w", "wb", "a", "r+", "x"])
def test_all_modes(planted, mode):
    if mode != "x":  # which refuses whatever is there
        refused(planted, lambda path: open(path, mode, opener=own_file))
    planted[0].unlink()
    if mode == "r+":
        planted[0].touch()
    with open(planted[0], mode, opener=own_file) as file:
        file.write(b"new" if mode == "wb" else "new")
    assert planted[0].read_bytes() == b"new"


def test_file_systems(planted, tmp_path):
    class Local:
        protocol = ("file", "local")

    class Far:
        protocol = "memory"

        def pipe_file(self, path, data):
            assert (path, data) == ("far", b"new")

    refused(planted, lambda path: write_to(Local, os.fspath(path), b"new"))
    write_to(Local, tmp_path / "new", b"new")
    assert (tmp_path / "new").read_bytes() == b"new"
    write_to(Far(), "far", b"new")


def test_no_file(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    for path in ("/dev/null", tmp_path / "null"):
        with open(path, "w", opener=own_file) as file:
            file.write("new")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    with pytest.raises(FileExistsError, match="is a symbolic link"):
        open(tmp_path / "nowhere", "w", opener=own_file)
    assert not (tmp_path / "missing").exists()
