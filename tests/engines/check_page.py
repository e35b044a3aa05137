#!/usr/bin/env python3
"""check_page.py SECTION: the blocks of Python of this section of docs/engines.md are a program: from Parquet files in
texts/ to a dataset. It runs as it stands there."""
import os
import pathlib
import re
import subprocess
import sys

import common
import leat

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "engines.md"


# which texts of texts/ the program of a section packs
PACKED = {
    "Ray Data": lambda rows: {row["text"] for row in rows if row["score"] > 0.25},
    "Spark": lambda rows: {row["text"] for row in rows},
    "datatrove": lambda rows: {row["text"] for row in rows},
    "NeMo Curator": lambda rows: [row["text"] for row in rows],  # with duplicates
    "Daft": lambda rows: {row["text"] for row in rows},
}


def program(section):
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    text = parts[parts.index(section) + 1]
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{PAGE} has no program for {section}"
    return "\n".join(blocks)


def main(section):
    wanted = common.rows(600)
    with common.own_folder():
        common.write_parquet("texts", wanted)
        pathlib.Path("page.py").write_text(program(section), encoding="utf-8")
        subprocess.run([sys.executable, "page.py"], check=True, env={**os.environ, "PYSPARK_PYTHON": sys.executable})
        found = sorted(text for _, text in common.documents("corpus"))
        assert found == sorted(PACKED[section](wanted)), "other documents than the page says"
        leat.open("corpus").verify()
        common.check_nothing_left("corpus")


main(sys.argv[1])
