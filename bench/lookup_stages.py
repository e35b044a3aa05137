#!/usr/bin/env python3
"""lookup_stages.py LEAT_BENCH [--models FOLDER] [--only WORD] [--repeat 5] [--ghz 3.2]

Where the time of models that look tokens up goes: Unigram and WordPiece, in one pass over each corpus (LEAT_CORPORA).

`perf record` of one thread, with a sample per 0.5 ms of CPU time; each function belongs to a stage. It prints each
stage's cycles per id (of a CPU of --ghz), the least of all runs, and how many times as fast the whole would be if the
stage took nothing. The rest is the whole, as leat-bench prints it, less all stages: clearing memory, copies by the C
library, documents. Exits with 77 without perf or a corpus.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
import encode
import measured

STAGES = {
    "normalize": "images_run charsmap_copy charsmap_longest place utf8_valid_prefix_avx2 utf8_valid_prefix "
                 "next_by_grapheme grapheme_length append_graphemes blanks matcher_next buffer_append",
    "cut": "cut split_words split_spaces masks pretoken_fill",
    "find": "find lookup_batch_find line_long note_missed pretoken_place_text",
    "search": "search encode_word encode_after_space char_tests find_words pretoken_cache_add pretoken_cache_find "
              "line_of set_value take_missed take_some pretoken_cache_copy id_list_append lookup_batch_encode",
    "apart": "find_path take_stretch unigram_encode_whole",
    "write": "write_ids take_known write_to add_scores fuse",
}
STAGE_OF = {name: stage for stage, names in STAGES.items() for name in names.split()}


def run(leat_bench, model, texts, folder, ghz):
    """Cycles per id of each stage and of the whole."""
    data = os.path.join(folder, "perf.data")
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-c", "500000", "-o", data, leat_bench, "encode", "--json",
               "-t", model, texts]
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    samples = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    cycles = collections.Counter()
    each = 0.0005 * ghz * 1e9 / said["tokens"]
    for line in samples.splitlines():
        name = line.split(maxsplit=1)[-1].split(".")[0] if line.strip() else ""
        cycles[STAGE_OF.get(name)] += each
    cycles["whole"] = said["cpu_seconds"] * ghz * 1e9 / said["tokens"]
    return cycles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench", type=os.path.abspath)
    parser.add_argument("--models", help="where models are kept")
    parser.add_argument("--only", default="", help="lines whose text and model hold this: \"multi wordpiece\"")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--ghz", type=float, default=3.2)
    o = parser.parse_args()
    if not shutil.which("perf"):
        measured.skip("no command perf")
    print("cycles per id (times as fast if it took none)")
    print(f"{'':24}" + "".join(f"{stage:>14}" for stage in (*STAGES, "rest")) + f"{'whole':>8}")
    with tempfile.TemporaryDirectory() as folder:
        encode.make_models(o.models or folder, folder)
        for text in measured.TEXTS:
            texts = measured.unpacked(folder, measured.corpus(text)) or measured.skip(f"no {measured.corpus(text)}")
            for name, file, _ in encode.MODELS:
                if o.only not in f"{text} {name}":
                    continue
                runs = [run(o.leat_bench, os.path.join(o.models or folder, file), texts, folder, o.ghz)
                        for _ in range(o.repeat)]
                best = {stage: min(cycles[stage] for cycles in runs) for stage in (*STAGES, "whole")}
                best["rest"] = best["whole"] - sum(best[stage] for stage in STAGES)
                print(f"{text + ' ' + name:24}" + "".join(
                    f"{best[stage]:7.1f} ({best['whole'] / (best['whole'] - best[stage]):.2f})"
                    for stage in (*STAGES, "rest")) + f"{best['whole']:8.1f}", flush=True)


if __name__ == "__main__":
    main()
