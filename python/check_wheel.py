"""check_wheel.py CORPUS: what check_wheel.sh runs in a clean virtual environment: imports, packs, looks, loads."""
import base64
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig

import leat

assert os.path.dirname(leat.__file__).startswith(sysconfig.get_path("platlib")), leat.__file__
corpus = sys.argv[1]

# all that is installed is as RECORD has it, and what is in it of others is said where PEP 770 wants it
files = importlib.metadata.files("libleat")
recorded = {str(f): (f.hash.value, base64.urlsafe_b64encode(hashlib.sha256(f.read_binary()).digest()).decode())
            for f in files if f.hash}
assert all(a == b.rstrip("=") for a, b in recorded.values()), recorded
bill = json.loads(next(f for f in files if str(f).endswith(".dist-info/sboms/libleat.cdx.json")).read_text())
packages = [component["purl"].partition("@")[0] for component in bill["components"]]
assert len(packages) == len(set(packages)), packages  # not those of other machines

# its page on PyPI has nothing beside it
links = re.findall(r"\]\((?!https://|#)[^)]*\)", importlib.metadata.distribution("libleat").read_text("METADATA"))
assert not links, links

summary = leat.pack(corpus, "packed", progress=None)
assert summary.documents > 0 and summary.tokens > 100000, summary
with leat.Packer("made", "o200k_base") as packer:
    packer.extend(["a text", "another one"] * 100)
assert packer.summary.documents == 200
tokenizer = leat.Tokenizer("cl100k_base")
assert tokenizer.decode(tokenizer.encode("hello, wörld")) == "hello, wörld"
dataset = leat.open("packed")
assert len(dataset) == summary.documents and dataset.text(0)


def run(*words):
    """A command, as the console script that lies beside Python."""
    return subprocess.run([os.path.join(os.path.dirname(sys.executable), words[0]), *words[1:]], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


assert leat.__version__ in run("leat", "--version")
assert "nothing is wrong" in run("leat", "verify", "packed")
run("leat", "encode", "-t", "gpt2", "--text-file", corpus + "/thoreau.md")
assert "tokens_per_s" in run("leat-bench", "load", "--source", "packed", "--seq-len", "128", "--batch", "8", "--steps",
                             "20", "--json")
assert subprocess.run([sys.executable, "-m", "leat", "--version"], check=True, stdout=subprocess.PIPE).stdout

try:
    import numpy
except ImportError:
    print("numpy is not there: no batches are looked at")
else:
    plan = leat.Plan("packed", seq_len=128, seed=1)
    batch = next(iter(leat.Loader(plan, 4, rank=0, world=1, framework="numpy")))
    assert batch.inputs.shape == (4, 128) and numpy.all(batch.inputs < 50257)
print(f"Python {sys.version.split()[0]}: imports, packs, loads")
