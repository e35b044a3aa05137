#!/bin/sh
# test_bench.sh: what leat-bench says of a loader and of packing follows from its numbers; and what takes several tries,
# a signal or a terminal. bench.t has the rest. Nothing is said about how fast they are.
. tests/cli/cli.sh

leat-bench-dev counting -o w4 --tokens 100K --width 4 --document-length 20 >/dev/null

# ---- load -----------------------------------------------------------------------------------------------------------

# is it the loader? A step without work is all loader, unless the steps without one are interrupted, as on a busy
# machine; one of some milliseconds hardly has any. The sums are in JSON.
run leat-bench load --source w4 --seq-len 1000 --batch 64 --steps 40 --threads 0 --compare synthetic
ended 0 ''
of='[0-9.]+ % of a step \(.* with real batches, .* without\)'
grep -Eq "^  (The loader takes $of; most of its own time went into |It is not the loader: it takes $of\.\$)" \
    "$printed" || fail "$ran: $(cat "$printed")"
run leat-bench load --source w4 --seq-len 10 --batch 1 --steps 10 --work 20 --compare synthetic --json
ended 0 ''
! command -v python3 >/dev/null || python3 - "$printed" <<'END' || fail "$ran: the share is not that of its seconds"
import json, sys
x = json.load(open(sys.argv[1]))
y = x["synthetic"]
share = max(0, 1 - y["seconds"] / y["steps"] / (x["seconds"] / x["steps"]))
assert abs(share - y["share"]) < 1e-9, x
assert x["answer"].startswith("It is not the loader" if share < 0.01 else "The loader takes"), x
assert f"{100 * share:.1f} %" in x["answer"], x
END
# 1,000 steps of 250 ms took nine minutes without a word
! python3 -c 'import pty' 2>/dev/null || python3 - >"$printed" 2>&1 <<'END' || fail "a terminal: $(cat "$printed")"
import os, pty
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 4096)
    seen += data
    return data
plan = "--source w4 --seq-len 10 --batch 1 --rounds 2 --slots 2".split()
code = pty.spawn(["leat-bench", "load", *plan, "--steps", "5", "--work", "30", "--compare", "synthetic"], read)
assert code == 0 and b"\rload  [" in seen and b" of 12  " in seen, (code, seen)
END
# stopped before there was anything to compare with, it said that the plan had ended
if [ -r /proc/self/status ]; then
    ran='leat-bench load --compare synthetic (SIGTERM)'
    leat-bench load --source w4 --seq-len 10 --batch 1 --steps 100000 --work 200 --compare synthetic --json \
        >"$printed" 2>"$said" &
    pid=$!
    caught=0 tries=0
    while [ $((0x${caught:-0} >> 14 & 1)) -eq 0 ] && [ $tries -lt 1000 ]; do # one that has ended never has it
        sleep 0.05
        tries=$((tries + 1))
        [ "$(cat /proc/$pid/comm)" = leat-bench ] && caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$pid/status)
    done
    kill -TERM $pid
    wait $pid
    code=$?
    [ "$code" = 5 ] || fail "$ran: code $code"
    grep -qF '"answer": "Nothing to compare with: the run was stopped before any step with the batch in' "$printed" ||
        fail "$ran: $(cat "$printed")"
fi
# The ring is emptied before each further round, so that batches made meanwhile do not hide a slow loader: with 2 rounds
# and 4 slots, 4 batches go unused and 4 more are taken than measured; a plan that has no room for them ends earlier
# (250 batches, of which 8 are these, and one is the batch in memory).
if command -v python3 >/dev/null; then
    for beside in '--compare synthetic' --bare; do
        ring="--source w4 --seq-len 100 --batch 4 --rounds 2 --slots 4 $beside"
        # words
        # shellcheck disable=SC2086
        run leat-bench load $ring --steps 246 --epochs 1 --json
        python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["steps"] in (241, 242)' "$printed" ||
            fail "$ran: no batches go unused"
    done
fi

# ---- pack -----------------------------------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"text\":\"%0900d\"}\n", i }' >much.jsonl
run leat-bench pack -t bytes -o packed --force --threads 2,1 --json much.jsonl
ended 0 ''
! command -v python3 >/dev/null || python3 - "$printed" <<'END' || fail "$ran: $(cat "$printed")"
import json, sys
whole = json.load(open(sys.argv[1]))
runs = whole["runs"]
assert [r["threads"] for r in runs] == [2, 1] and runs[1]["seconds"] == whole["seconds"]
for r in runs:
    serial = r["serial_seconds"]
    assert sorted(serial) == ["all", "begin", "cut", "finish", "place", "store"]
    parts = [serial[k] for k in serial if k != "all"]
    assert all(p >= 0 for p in parts) and abs(sum(parts) - serial["all"]) < 1e-9 < serial["place"]
    cpu = sum(r["cpu_seconds"].values()) + serial["begin"] + serial["finish"]
    longest = max(serial["cut"], serial["place"], serial["store"])
    assert r["units"] > 0 and 0 <= r["lock_wait_ns"] < 1e9 * r["seconds"] * r["threads"]
    assert abs(r["cores_of_use"] * (longest + serial["begin"] + serial["finish"]) / cpu - 1) < 1e-6
END
# one stream that only one thread at a time can decompress: the others wait, and that is said. On a busy machine they
# may get no time for waiting; then it is tried again.
if command -v python3 >/dev/null; then
    python3 - <<'END'
import bz2, json, random
r = random.Random(1)
text = "".join(json.dumps({"text": "%x" % r.getrandbits(3200)}) + "\n" for _ in range(1500)).encode()
open("one.jsonl.bz2", "wb").write(bz2.compress(text))
open("plain.jsonl", "wb").write(text)
END
    says() {
        wanted=$1
        shift
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            run "$@"
            if [ "$code" -ne 0 ] || grep -q "$wanted" "$printed"; then
                return
            fi
        done
        fail "$ran: $(cat "$printed")"
    }
    says '^one.jsonl.bz2: decompression bounds the run: one thread at a time does it, ' \
        leat pack -t bytes -o packed --force --threads 4 one.jsonl.bz2
    says '^one.jsonl.bz2: several threads can decompress 0 % of it; threads waited for it [1-9]' \
        leat-bench pack -t bytes -o packed --force --threads 4 one.jsonl.bz2
    run leat pack -t bytes -o packed --force --threads 1 one.jsonl.bz2
    ! grep -q 'bounds the run' "$printed" || fail "$ran: $(cat "$printed")"
    run leat pack -t bytes -o packed --force --threads 4 plain.jsonl
    ! grep -q 'bounds the run' "$printed" || fail "$ran: $(cat "$printed")"
fi
finish
