"""bench/peers/packers.py: other ids, other documents and outputs that are missing are found out; what is measured of a
program is that of all its processes; one that hangs is ended. The whole program needs corpora and packages:
`make bench-packers`."""
import array
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/peers"))
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
