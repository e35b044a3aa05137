"""alone.py: what the measurements of engines compare with: a Parquet file of English, and `leat pack` alone on it."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def make_parquet(path, size):
    """Texts of examples/corpus, numbered and repeated up to about `size` bytes; a column n counts them."""
    import pyarrow
    import pyarrow.parquet
    lines = (ROOT / "examples/corpus/english.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"][:4000] for line in lines]
    texts = [f"{n} {text}" for n in range(size // sum(map(len, texts))) for text in texts]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "n": range(len(texts))}), path, row_group_size=4096)


def pack_seconds(path, output):
    """CPU time of `leat pack --threads 1`."""
    before = os.times()
    leat = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build")) / "leat"
    subprocess.run([leat, "pack", "-o", output, "-t", "gpt2", "--threads", "1", "--force", "--progress", "never", path],
                   check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
