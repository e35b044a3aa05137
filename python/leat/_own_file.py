"""_own_file.py: how every file is opened that the package writes: open(path, "w", opener=own_file)."""
from __future__ import annotations

import os
import stat


def own_file(path, flags):
    """The opener of open() for a file to write. What it opens is the caller's, or of the owner of its folder, who could
    replace it, and has one name: somebody else may have put a link in its place, which would lead to another file. A
    pipe or device is opened as it is, also through a link such as /dev/stdout."""
    try:
        special = not (stat.S_ISREG(mode := os.stat(path).st_mode) or stat.S_ISDIR(mode))
    except FileNotFoundError:
        special = False
    if os.path.islink(path) and not special:
        raise FileExistsError(f"{path} is a symbolic link, where leat writes a file: remove it, or choose another name")
    # nothing is emptied before it is known what it is; a pipe's reader is waited for
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


def write_to(files, path, data):
    """Writes a file of one of fsspec's file systems; one of this machine as above."""
    if "file" in files.protocol:
        with open(path, "wb", opener=own_file) as file:
            file.write(data)
    else:
        files.pipe_file(path, data)
