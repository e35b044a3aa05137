"""bench/peers/packers.py: other ids, other documents and outputs that are missing are found out; what is measured of a
program is that of all its processes; one that hangs is ended. bench/peers/chats.py: the same conversations each time;
rows and what is learned of them are counted in the files that programs leave. The whole programs need corpora and
packages: `make bench-packers bench-chat`."""
import array
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/peers"))
import chats  # noqa: E402
import packers  # noqa: E402


def test_documents(tmp_path):
    for name, ids in ("a", [1, 2, packers.END, 3]), ("b", [packers.END, 4, packers.END]):
        (tmp_path / name).write_bytes(array.array("H", ids).tobytes())
    assert packers.documents(tmp_path, ["a", "b"]) == [(1, 2), (3,), (4,)]


@pytest.mark.parametrize("found, shuffled, says", [
    ([(1, 2), (3,)], False, None), ([(1,), (2, 3)], False, None), ([(3,), (1, 2)], False, "other ids than leat's"),
    ([(3,), (1, 2)], True, None), ([(1,), (2, 3)], True, "other documents than leat's"),
    ([(1, 2)], False, "other ids than leat's")])
def test_wrong(found, shuffled, says):
    assert packers.wrong(found, [(1, 2), (3,)], shuffled) == says


def test_run(tmp_path):
    out = tmp_path / "out"
    busy = "import time; until = time.process_time() + 0.3\nwhile time.process_time() < until: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}]); open({str(out / 'ids')!r}, 'w')"
    seconds, cpu, memory = packers.run([sys.executable, "-c", code], str(out), str(tmp_path), ["ids"])
    assert seconds > 0 and cpu >= 0.3 and memory > 4
    with pytest.raises(RuntimeError, match="^nothing made$"):
        packers.run([sys.executable, "-c", "print('nothing made')"], str(out), str(tmp_path), ["other"])
    with pytest.raises(RuntimeError, match="^it did not end within 1 s$"):
        packers.run([sys.executable, "-c", "import time; time.sleep(999)"], str(out), str(tmp_path), [], 1)


def test_conversations(tmp_path):
    texts = tmp_path / "texts.jsonl"
    words = ["word " * 9, "<|im_end|>" * 20, "e\u0301" * 20, "other " * 20000]
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in words))
    for name in "one", "again":
        chats.make_conversations([texts], 16, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "again").read_bytes()
    text = (tmp_path / "one").read_text(encoding="utf-8")
    assert "<|" not in text and "\\u0301" not in text
    made = [json.loads(line)["messages"] for line in text.splitlines()]
    assert len(made) == 16 and all([one["role"] for one in messages] == ["user", "assistant"] * (len(messages) // 2)
                                   and 2 <= len(messages) <= 40 for messages in made)
    assert [sum(len(one["content"]) for one in messages) > 380_000 for messages in made] == [k == 2 for k in range(16)]


def test_counted(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    for name, column, rows in ("rows", "labels", [[-100, 5, 6], [-100]]), ("order", "indices", [[3]]):
        table = pyarrow.table({column: rows})
        with pyarrow.ipc.new_stream(str(tmp_path / name), table.schema) as file:
            file.write_table(table)
    files = [str(tmp_path / "rows"), str(tmp_path / "order")]
    assert chats.counted({"files": files, "version": "1"}) == {"rows": 2, "learned": 2}
    assert chats.counted({"files": files, "rows": 1}) == {"rows": 1, "learned": 2}
    assert chats.counted({"rows": 3, "learned": 4, "version": ""}) == {"rows": 3, "learned": 4}
    peers = [{"name": "leat", "whole_learned": 1000}, {"name": "A", "whole_learned": 1000},
             {"name": "B", "whole_learned": 10}, {"name": "C", "not_measured": "no"}]
    assert list(chats.differences(peers)) == ["B learns -990 tokens beside leat"]
