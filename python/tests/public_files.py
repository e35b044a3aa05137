"""public_files.py: files of programs that others publish, for tests of what leat's documents say of them. They are
not kept here: they come from a folder that an environment variable names, or from GitHub, and published vocabularies
from LEAT_VOCAB or ../shared/vocab. A test is skipped without them."""
import hashlib
import os
import pathlib
import urllib.error
import urllib.request

import pytest

from conftest import ROOT


def published_vocabulary(name, folder):
    """Writes the tokenizer.json of a published vocabulary into the folder."""
    pyarrow = pytest.importorskip("pyarrow")
    path = os.path.join(os.environ.get("LEAT_VOCAB", ROOT.parent / "shared" / "vocab"), name + ".tokenizer.json.zst")
    if not os.path.isfile(path):
        pytest.skip(f"{path} is not at hand")
    with pyarrow.input_stream(path, compression="zstd") as f:
        (folder / "tokenizer.json").write_bytes(f.read())


def public_files(variable, repository, commit, hashes):
    """The contents of these files, by their paths; `hashes` are the SHA-256 of what GitHub must send."""
    folder = os.environ.get(variable)
    if folder:
        return {path: (pathlib.Path(folder) / path).read_bytes() for path in hashes}
    files = {}
    for path, want in hashes.items():
        try:
            with urllib.request.urlopen(f"https://raw.githubusercontent.com/{repository}/{commit}/{path}",
                                        timeout=20) as answer:
                files[path] = answer.read()
        except (urllib.error.URLError, OSError) as why:
            pytest.skip(f"no {path} of {repository} ({why}); {variable}=FOLDER says where it is")
        assert hashlib.sha256(files[path]).hexdigest() == want, f"{repository}/{path} is not the file of {commit}"
    return files
