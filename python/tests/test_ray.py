"""leat.ray without a cluster: which failures of a part or a merge may pass. `make
check-cluster` runs it on a real Ray."""
import gzip
import pathlib
import sys
import types

import pytest

import leat
import leat.ray
from processes import locked


@pytest.fixture
def slept(monkeypatch):
    """Nothing waits; for how long it would have."""
    times = []
    monkeypatch.setattr(leat.ray.time, "sleep", times.append)
    return times


def plan(folder, *inputs, parts=2):
    run = str(folder / "run")
    leat.Run.create(run, inputs, "bytes", parts=parts, max_rejects=1)
    return run


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join('{"text":"line %d"}\n' % i for i in range(100)))
    return path


def test_join_of_what_another_process_writes(tmp_path, texts, slept):
    run, output = plan(tmp_path, texts), str(tmp_path / "all")
    for part in (1, 2):
        leat.ray._part(run, part, {"threads": 1})
    with locked(output + ".partial.lock"):
        with pytest.raises(leat.ray._MayPass, match="another process is writing"):
            leat.ray._join(run, output, {})
    assert slept == [20]
    assert leat.ray._join(run, output, {})["documents"] == 100


def test_join_that_deduplicates_and_shuffles(tmp_path, texts):
    texts.write_text(texts.read_text() * 2)
    arrange = {"dedup": True, "shuffle": 3, "split": "a=0.2,b=0.1"}
    run, output, one = plan(tmp_path, texts), str(tmp_path / "all"), str(tmp_path / "one")
    for part in (1, 2):
        leat.ray._part(run, part, {"threads": 1})
    made = leat.ray._join(run, output, arrange)
    assert made["deduplicated"] == 100
    assert [split["output"] for split in made["splits"]] == [output + ".a", output + ".b"]
    leat.pack(texts, one, "bytes", **arrange)
    for name in ("", ".a", ".b"):
        for suffix in (".tokens", ".leat"):
            assert pathlib.Path(one + name + suffix).read_bytes() == pathlib.Path(output + name + suffix).read_bytes()


def test_arranging_without_a_merge(monkeypatch, tmp_path, texts):
    """No task is begun for what no part can do."""
    stand_in = types.SimpleNamespace(is_initialized=lambda: True)
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    for options in ({"dedup": True}, {"shuffle": 0}):
        with pytest.raises(ValueError, match="dedup and shuffle need the merge"):
            leat.ray.pack(texts, tmp_path / "all", "bytes", parts=2, merge=False, **options)
    assert not (tmp_path / "all.run").exists()


def test_part_whose_input_breaks_off(tmp_path, texts, slept):
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(texts.read_bytes())[:-100])
    run = plan(tmp_path, cut, parts=1)
    for _ in range(2):  # also when the part has its dataset
        with pytest.raises(RuntimeError, match="cut.jsonl.gz, at byte .*: it ends in the middle") as raised:
            leat.ray._part(run, 1, {})
        assert not isinstance(raised.value, leat.ray._MayPass) and slept == []


def test_progress_that_cannot_be_shown(tmp_path, capsys):
    class Ray:
        """Two parts, which end one after the other."""

        def wait(self, waiting, **_):
            return waiting[:1], waiting[1:]

        def get(self, task):
            assert task in (7, 8)

    leat.ray._wait(Ray(), {7: 1, 8: 2}, str(tmp_path / "nothing"), True)
    assert capsys.readouterr().err == "\n"
