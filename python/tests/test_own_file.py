"""What the package writes is a file of the caller's: links that somebody has put in its place are refused, and what
they lead to stays as it was. Logs of leat.Mixture, checkpoints and tokenizers were written through them. A pipe or
device is written to as it is. What the package reads whole is a regular file: Plan.load(), bans and the log of a
leat.Mixture waited for ever at a pipe, and read /dev/zero until there was no memory."""
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


def test_what_is_read(corpus, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    large = tmp_path / "large"
    large.touch()
    os.truncate(large, (64 << 20) + 1)
    plan = leat.Plan(corpus, 16)
    for call in (leat.Plan.load, plan.ban, lambda path: leat.Plan(corpus, 16, bans=path),
                 lambda path: leat.Mixture(plan, path, replay=True),
                 lambda path: leat.import_dataset(path, tmp_path / "made")):
        for path in (tmp_path / "pipe", "/dev/zero"):
            with pytest.raises(leat.Error, match="is not a regular file") as error:
                call(path)
            assert error.value.status == "io"
        with pytest.raises((OSError, leat.Error), match="No such file"):
            call(tmp_path / "missing")
        with pytest.raises(leat.Error, match="larger than 64 MiB|is not a folder of MosaicML"):
            call(large)


def test_log_that_becomes_a_pipe(corpus, tmp_path):
    mixture = leat.Mixture(leat.Plan([(leat.open(corpus), 1)], 16), tmp_path / "log")
    os.mkfifo(tmp_path / "log")
    with pytest.raises(leat.Error, match="log is not a regular file"):
        mixture._write()


def test_no_file(tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    for path in ("/dev/null", tmp_path / "null"):
        with open(path, "w", opener=own_file) as file:
            file.write("new")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    with pytest.raises(FileExistsError, match="is a symbolic link"):
        open(tmp_path / "nowhere", "w", opener=own_file)
    assert not (tmp_path / "missing").exists()
