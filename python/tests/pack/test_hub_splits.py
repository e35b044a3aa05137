"""Splits and configurations of folders from the Hugging Face Hub: for a table of trees and for trees made at random,
`leat pack` refuses, or packs exactly the files that the package datasets finds for a split. Once it packed all files of
a folder, those of the test among them, without a word."""
import json
import os
import random
import subprocess

import pytest

import leat
from leat.command import program

data_files = pytest.importorskip("datasets.data_files")
LEAT = program("leat")


def configs(text):
    return f"---\nlicense: mit\nconfigs:\n{text}---\n# A dataset\n"


# names of files, and README.md
TREES = {
    "no split": ["a.jsonl", "b.jsonl", "in/c.jsonl"],
    "words in other words": ["training_set.jsonl", "trainer.jsonl", "contest.jsonl", "devil.jsonl", "latest.jsonl"],
    "whole words": ["train.jsonl", "test.jsonl", "validation.jsonl"],
    "other words": ["training.jsonl", "testing.jsonl", "valid.jsonl"],
    "words of evaluation": ["train.jsonl", "eval.jsonl", "dev.jsonl"],
    "evaluation and val": ["train.jsonl", "evaluation.jsonl", "val.jsonl"],
    "numbers": ["train0.jsonl", "train1.jsonl", "test0.jsonl", "1test.jsonl", "2dev3.jsonl"],
    "delimiters": ["a-train.jsonl", "a_train_b.jsonl", "a.train.b.jsonl", "a train b.jsonl", "a+train.jsonl",
                   "test~.jsonl"],
    "capitals": ["Train.jsonl", "TEST.jsonl", "train.jsonl"],
    "only capitals": ["Train.jsonl", "TEST.jsonl"],
    "a corpus beside a test": ["corpus.jsonl", "test.jsonl"],
    "one split": ["train-1.jsonl", "train-2.jsonl"],
    "one split, and it is test": ["test-1.jsonl", "test-2.jsonl"],
    "shards": ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl", "data/test-00000-of-00001.jsonl"],
    "shards of other splits": ["data/train_sft-00000-of-00001.jsonl", "data/test_sft-00000-of-00001.jsonl",
                               "data/random-00000-of-00001.jsonl"],
    "shards of one other split": ["data/raw-00000-of-00001.jsonl", "data/raw-00001-of-00002.jsonl"],
    "shards with a hash": ["data/train-00000-of-00001-0a1b2c3d.jsonl", "data/a.b-00000-of-00001.jsonl"],
    "shards, and others": ["data/train-00000-of-00001.jsonl", "data/test.jsonl", "test/a.jsonl", "more.jsonl"],
    "shards above": ["random-00000-of-00001.jsonl", "other-00000-of-00001.jsonl"],
    "shards below": ["en/data/random-00000-of-00001.jsonl", "data/in/other-00000-of-00001.jsonl"],
    "short numbers": ["data/random-0000-of-0001.jsonl", "data/train-0000-of-0001.jsonl"],
    "folders": ["train/a.jsonl", "train/b.jsonl", "test/a.jsonl"],
    "folders with more in their names": ["train-1/a.jsonl", "my_test/a.jsonl", "x.dev.2/a.jsonl", "contest/a.jsonl"],
    "folders before files": ["train/test.jsonl", "train/x.jsonl", "test.jsonl"],
    "folders in folders": ["data/train/en/a.jsonl", "data/train/fr/b.jsonl", "data/val/en/a.jsonl"],
    "a split in another": ["train/test/a.jsonl", "train/b.jsonl"],
    "a file of two splits": ["train-test.jsonl", "train.jsonl"],
    "only files of two splits": ["train-test-1.jsonl", "train-test-2.jsonl"],
    "folders of languages": ["en/train.jsonl", "en/test.jsonl", "fr/train.jsonl", "fr/test.jsonl"],
    "folders of languages, no split": ["en/a.jsonl", "fr/a.jsonl"],
    "folders that end in digits": ["train2/a.jsonl", "2test/a.jsonl"],
    "a task": ["one/instruction.md", "two/instruction.md", "train.jsonl"],
    "deep": ["a/b/c/train.jsonl", "a/b/test-1.jsonl"],
    "other characters": ["Überblick-train.jsonl", "训练_test.jsonl", "train-数据.jsonl"],
}
CARDS = {
    "no configurations": (["train.jsonl", "test.jsonl"], "---\nlicense: mit\ntags: [configs]\n---\n"),
    "no YAML": (["train.jsonl", "a.jsonl"], "# configs:\n"),
    "no line before YAML": (["a.jsonl", "b.jsonl"], "x\n" + configs("- config_name: d\n  data_files: a.jsonl\n")),
    "a path": (["a.jsonl", "b.jsonl"], configs("- config_name: default\n  data_files: a.jsonl\n")),
    "all of it": (["a.jsonl", "test.jsonl"], configs("- config_name: default\n  data_files: '*.jsonl'\n")),
    "a pattern": (["in/a.jsonl", "b.jsonl"], configs("- config_name: default\n  data_files: in/*\n")),
    "a list": (["a.jsonl", "b.jsonl", "c.jsonl"],
               configs("- config_name: default\n  data_files:\n  - a.jsonl\n  - b*\n")),
    "a list in brackets": (["a.jsonl", "b.jsonl", "c.jsonl"],
                           configs("- config_name: default\n  data_files: [\"a.jsonl\", 'b.*']\n")),
    "splits": (["a/1.jsonl", "a/2.jsonl", "b/1.jsonl"], configs("""- config_name: default
  data_files:
  - split: train
    path: a/*
  - split: test
    path: b/*
""")),
    "splits against their names": (["train.jsonl", "test.jsonl"], configs("""- config_name: default
  data_files:
  - split: test
    path: train.jsonl
  - split: train
    path: test.jsonl
""")),
    "splits of lists": (["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"], configs("""- config_name: default
  data_files:
  - split: train
    path:
    - a.jsonl
    - b.jsonl
  - {split: "held_out", path: "[cd].jsonl"}
""")),
    "some files of no split": (["a.jsonl", "b.jsonl", "train.jsonl"], configs("""- config_name: default
  data_files:
  - split: train
    path: a.jsonl
""")),
    "one configuration, by names": (["train.jsonl", "test.jsonl"], configs("- config_name: default\n")),
    "one configuration without a split": (["a.jsonl", "b.jsonl"], configs("- config_name: default\n  default: true\n")),
    "null": (["train.jsonl", "test.jsonl"], configs("- config_name: default\n  data_dir: ~\n")),
    "a null in the second": (["en/a.jsonl", "train.jsonl", "test.jsonl"], configs("""- config_name: en
  data_files: en/*
- config_name: more
  data_files:
""")),
    "a folder with a slash": (["en/train.jsonl", "en/test.jsonl", "c.jsonl"],
                              configs("- config_name: default\n  data_dir: en/\n")),
    "names that are no texts elsewhere": (["a.jsonl", "b.jsonl"], configs("""- config_name: "2024"
  version: 1.0.0
  data_files:
  - split: on_the_record
    path: a.jsonl
""")),
    "text over lines": (["a.jsonl", "b.jsonl"], configs("""- config_name: >-
    default
  description: |
    configs:
    - config_name: none
  data_files: "a\\
    .jsonl"
""")),
    "a folder": (["en/train.jsonl", "en/test.jsonl", "fr/train.jsonl"],
                 configs("- config_name: english\n  data_dir: en\n")),
    "a folder without splits": (["en/a.jsonl", "fr/a.jsonl"], configs("- config_name: english\n  data_dir: en\n")),
    "a folder with shards": (["en/data/x-00000-of-00001.jsonl", "en/data/y-00000-of-00001.jsonl"],
                             configs("- config_name: english\n  data_dir: en\n")),
    "a folder and patterns": (["en/a.jsonl", "en/b.jsonl", "a.jsonl"],
                              configs("- config_name: english\n  data_dir: en\n  data_files: a*\n")),
    "several": (["en/a.jsonl", "fr/a.jsonl"], configs("""- config_name: en
  data_files: en/*
- config_name: fr
  data_files: fr/*
""")),
    "several, with splits": (["en/a.jsonl", "en/b.jsonl", "fr/a.jsonl"], configs("""- config_name: en
  default: true
  data_files:
  - split: train
    path: en/a*
  - split: test
    path: en/b*
- config_name: fr
  data_files: fr/*
""")),
    "several folders": (["en/train.jsonl", "fr/train.jsonl"], configs("""- config_name: en
  data_dir: en
- config_name: fr
  data_dir: fr
""")),
    "several of the same files": (["a.jsonl", "b.jsonl"], configs("""- config_name: all
  data_files: '*'
- config_name: some
  data_files: a*
""")),
    "patterns": (["2020/en/part-01.jsonl", "2020/en/part-12.jsonl", "2021/fr/part-01.jsonl"],
                 configs("""- config_name: default
  data_files:
  - split: train
    path: "**/en/part-[0-9][!2].jsonl"
  - split: test
    path: "2021/**"
""")),
    "more patterns": (["a.jsonl", "x/a.jsonl", "x/y/a.jsonl", "x/y/b.jsonl", "[a].jsonl"],
                      configs("""- config_name: default
  data_files:
  - split: one
    path: "**/a.jsonl"
  - split: two
    path: "*/*/?.jsonl"
  - split: three
    path: "[[]a].jsonl"
""")),
    "aliases": (["a.jsonl", "b.jsonl"], configs("""- config_name: default
  data_files:
  - split: train
    path: &files ["a.jsonl"]
  - split: test
    path: ["b.jsonl"]
  more: *files
""")),
    "lines that end as Windows writes them": (["a.jsonl", "b.jsonl"],
                                              configs("- config_name: x\n  data_files: a*\n").replace("\n", "\r\n")),
}


def make(folder, names, card=None):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name if name.endswith(".md") else json.dumps({"text": name}) + "\n")
    if card is not None:
        (folder / "README.md").write_bytes(card.encode())


def by_datasets(folder, cache):
    """{configuration: {split: files}}, as datasets finds them."""
    from datasets import get_dataset_config_names, load_dataset_builder
    found = {}
    for config in get_dataset_config_names(str(folder)):
        files = load_dataset_builder(str(folder), config, cache_dir=str(cache)).config.data_files
        found[config] = {str(split): {os.path.relpath(file, folder) for file in of} for split, of in files.items()}
    return found


def by_patterns(folder):
    """The same for a folder without README.md, much faster, whatever its files are."""
    patterns = data_files.get_data_patterns(str(folder))
    found = data_files.DataFilesDict.from_patterns(patterns, base_path=str(folder))
    return {"default": {str(split): {os.path.relpath(file, folder) for file in of} for split, of in found.items()}}


def look(*words):
    done = subprocess.run([LEAT, "pack", "-t", "bytes", "-o", "nothing", "--dry-run", "--json", *map(str, words)],
                          capture_output=True, text=True)
    return done.returncode, done.stderr, json.loads(done.stdout) if done.returncode == 0 else None


def packed(folder, output, split):
    """The files that are packed: each text is the name of its file."""
    summary = leat.pack(leat.Files(folder, split_of=split), output, "bytes", force=True, end=None)
    assert summary.documents == summary.inputs, summary
    with leat.open(output) as data:
        return {data.text(i) for i in range(len(data))}, summary


def compare(folder, names, splits, tmp_path):
    """That leat has these splits of a folder with these files."""
    by_name = splits.keys() == {"train"} and splits["train"] == set(names)  # also where nothing says a split
    same = all(of == set(names) for of in splits.values())
    code, said, found = look(folder)
    assert code == (0 if same else 2), (splits, said)
    for split, files in splits.items():
        if same:
            continue
        assert f"{split} ({len(files)} file" in said or "more splits" in said, said
    if not same:
        assert "--split-of train" in said and "--split-of all" in said and "narrower folder" in said
    for split, files in splits.items():
        assert packed(folder, tmp_path / "out", split)[0] == files, split
        code, _, found = look(folder, "--split-of", split)
        if not by_name:
            assert {one["split"]: one["inputs"] for one in found["hub_splits"] if one["split"]} == \
                {name: len(of) for name, of in splits.items()}
            assert [one["split"] for one in found["hub_splits"] if one["packed"]] == [split]
        assert found["inputs"] == len(files)
    assert packed(folder, tmp_path / "out", "all")[0] == set(names)
    for missing in {"train", "validation", "test", "nothing"} - splits.keys():
        code, said, _ = look(folder, "--split-of", missing)
        assert code == 2 and f'have no split "{missing}"' in said, said
        with pytest.raises(leat.Error, match=f'have no split "{missing}"'):
            leat.pack(leat.Files(folder, split_of=missing), tmp_path / "out", "bytes")


@pytest.mark.parametrize("tree", TREES)
def test_names(tmp_path, tree):
    folder = tmp_path / "test-train"  # its own name says nothing
    make(folder, TREES[tree])
    splits = by_patterns(folder)["default"]
    compare(folder, TREES[tree], splits, tmp_path)
    # what a shell makes of folder/*, and a list: each folder in it is then looked at alone, which here differs
    if len(list(folder.iterdir())) > 1 and tree not in ("shards below", "folders before files"):
        (tmp_path / "list").write_text("".join(f"{path}\n" for path in sorted(folder.iterdir())))
        for words in (sorted(folder.iterdir()), [f"@{tmp_path / 'list'}"]):
            same = all(of == set(TREES[tree]) for of in splits.values())
            assert look(*words)[0] == (0 if same else 2)
            for split, of in splits.items():
                assert look("--split-of", split, *words)[2]["inputs"] == len(of)


@pytest.mark.parametrize("tree", ["no split", "numbers", "shards of other splits", "folders in folders"])
def test_names_as_a_whole(tmp_path, tree):
    """The short way to ask datasets is as good as the long one."""
    make(tmp_path / "in", TREES[tree])
    assert by_datasets(tmp_path / "in", tmp_path / "cache") == by_patterns(tmp_path / "in")


@pytest.mark.parametrize("tree", CARDS)
def test_cards(tmp_path, tree):
    names, card = CARDS[tree]
    folder = tmp_path / "in"
    make(folder, names, card)
    found = by_datasets(folder, tmp_path / "cache")
    if len(found) == 1:
        compare(folder, names, *found.values(), tmp_path)
        return
    for more in ((), ("--split-of", "train")):
        code, said, _ = look(folder, *more)
        assert code == 2 and "several configurations" in said and "(--split-of all)" in said, said
        for config, splits in found.items():
            assert f"{config} ({len(set().union(*splits.values()))} file" in said, said
    assert packed(folder, tmp_path / "out", "all")[0] == set(names)


def test_names_at_random(tmp_path):
    """Trees of words, delimiters and folders that come together by chance."""
    seed = int(os.environ.get("LEAT_TEST_SEED", random.randrange(1000)))
    print(f"LEAT_TEST_SEED={seed}")
    chance = random.Random(seed)
    words = ["train", "training", "validation", "valid", "dev", "val", "test", "testing", "eval", "evaluation", "data",
             "en", "Test", "x", "00000-of-00001", "trainx"]

    def part():
        some = [chance.choice(words) for _ in range(chance.choice((1, 1, 2, 3)))]
        name = "".join(word + chance.choice(["-", ".", "_", " ", "0", "7", "", "+"]) for word in some)
        return name.strip(". ") or "y"

    for number in range(150):
        names = sorted({"/".join([part() for _ in range(chance.choice((0, 0, 1, 2)))] + [part() + ".jsonl"])
                        for _ in range(chance.randrange(1, 5))})
        files = {name for name in names if not any(other.startswith(name + "/") for other in names)}
        folder = tmp_path / f"t{number}"
        make(folder, files)
        splits = by_patterns(folder)["default"]
        same = all(of == files for of in splits.values())
        code, said, _ = look(folder)
        assert code == (0 if same else 2), (names, splits, said)
        for split, of in splits.items():
            assert packed(folder, tmp_path / "out", split)[0] == of, (names, split)


def test_summary(tmp_path):
    make(tmp_path / "in", ["train.jsonl", "test.jsonl", "a.jsonl"])
    names, summary = packed(tmp_path / "in", tmp_path / "out", "train")
    assert names == {"train.jsonl"}
    assert summary.hub_splits == [{"split": "train", "inputs": 1, "packed": True},
                                  {"split": "test", "inputs": 1, "packed": False},
                                  {"split": None, "inputs": 1, "packed": False}]
    assert sorted(summary.skipped_files) == [str(tmp_path / "in" / name) for name in ("a.jsonl", "test.jsonl")]
    with pytest.raises(leat.Error, match=r'leat.Files\(..., split_of="train"\), for example, or "all"'):
        leat.pack(tmp_path / "in", tmp_path / "no", "bytes")
    with pytest.raises(TypeError, match="split_of of leat.Files must be the name of a split"):
        leat.pack(leat.Files(tmp_path / "in", split_of=1), tmp_path / "no", "bytes")
    assert leat.pack(tmp_path / "in" / "test.jsonl", tmp_path / "one", "bytes").inputs == 1
