"""_own_file.py: how every file is opened that the package writes: open(path, "w", opener=own_file); and how it reads
a file of lines."""
from __future__ import annotations

import os
import stat

from leat._leat import failure
from leat._values import shown, shown_name

MOST_TEXT = 64 << 20


def own_file(path, flags):
    """Opens a file to write, as the opener of open(). The file must belong to the caller or to the owner of its folder,
    who could replace it, and must have one name: another user's link in its place could lead to another file. Pipes and
    devices are opened directly, also through a link such as /dev/stdout."""
    try:
        special = not (stat.S_ISREG(mode := os.stat(path).st_mode) or stat.S_ISDIR(mode))
    except FileNotFoundError:
        special = False
    if os.path.islink(path) and not special:
        raise FileExistsError(f"{path} is a symbolic link, where leat writes a file: remove it, or choose another name")
    # The file is checked before it is emptied. A pipe waits for its reader.
    fd = os.open(path, (flags & ~(os.O_TRUNC | os.O_CREAT)) if special else flags & ~os.O_TRUNC | os.O_NOFOLLOW, 0o666)
    try:
        about = os.fstat(fd)
        if stat.S_ISREG(about.st_mode):
            _check(path, about, special)
            if flags & os.O_TRUNC:
                os.ftruncate(fd, 0)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _check(path, about, special):
    if special or about.st_nlink > 1:
        raise FileExistsError(f"{path} has a second name (a hard link), under which it would change too: put a copy in "
                              "its place, or choose another name")
    folder = os.path.dirname(os.path.abspath(path))
    if about.st_uid not in (os.geteuid(), os.stat(folder).st_uid):
        raise PermissionError(f"{path} belongs to user {about.st_uid}, who can change it at any time: remove it, or "
                              "choose another name")


def own_file_regular(path, flags):
    """Opens as own_file() does, but refuses pipes and devices without waiting: the file is read again later."""
    return _regular(path, own_file(path, flags | os.O_NONBLOCK))


def regular_file(path, flags):
    """Opens a regular file to read, as an opener. It refuses pipes and devices without waiting for them."""
    return _regular(path, os.open(path, flags | os.O_NONBLOCK))


def _regular(path, fd):
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise failure("io", path, f"{shown_name(path)} is not a regular file")


def read_text(path, what):
    """Returns the text of a regular file of at most 64 MiB, like leat_plan_load(). `what` names its kind in errors."""
    try:
        with open(path, "rb", opener=regular_file) as file:
            text = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror}: {shown(os.fsdecode(path))}") from None
    if len(text) > MOST_TEXT:
        raise failure("argument", path, f"{shown_name(path)} is not {what}: it is larger than 64 MiB")
    return text.decode("utf-8", "surrogateescape")


def write_to(files, path, data):
    """Writes a file by fsspec. A file of this machine is opened by own_file()."""
    if "file" in files.protocol:
        with open(path, "wb", opener=own_file) as file:
            file.write(data)
    else:
        files.pipe_file(path, data)
