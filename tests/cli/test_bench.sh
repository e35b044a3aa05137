#!/bin/sh
# test_bench.sh: leat-bench: its commands run, end with the right code, and print JSON with all the keys that are
# promised. Nothing is said about how fast they are.
. tests/cli/cli.sh

# Whether what was printed is one line of JSON and nothing else, with these keys.
json_has() { # KEY...
    ended 0 ''
    [ "$(wc -l <"$printed")" -eq 1 ] || fail "$ran: prints not one line"
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$printed" || fail "$ran: prints no JSON"
    fi
    for key in "$@"; do
        grep -q "\"$key\": " "$printed" || fail "$ran: has no key $key"
    done
}

# ---- counting -------------------------------------------------------------------------------------------------------

try 0 '' leat-bench-dev counting -o w2 --tokens 10000 --json <<'END'
{"output": "w2", "tokens": 10000, "documents": 22, "width": 2, "token_bytes": 20000, "index_bytes": 4896, @
"seconds": T}
END
# the first tokens by the definition in bench/data/counting.h
try 0 '' leat cat w2 --tokens 0:3 --ids <<'END'
0 46122 28098
END
run leat-bench-dev counting -o w4 --tokens 100K --width 4 --document-length 20
ended 0 ''
grep -q '^w4: 100,000 tokens of 4 bytes in [0-9,]* documents, ' "$printed" || fail "$ran: $(cat "$printed")"
for name in w2 w4; do
    run leat verify $name
    ended 0 ''
done
refuse 1 'w2.leat --force' leat-bench-dev counting -o w2 --tokens 5
try 0 '' leat-bench-dev counting -o w2 --tokens 0 --force --json <<'END'
{"output": "w2", "tokens": 0, "documents": 0, "width": 2, "token_bytes": 0, "index_bytes": 4288, "seconds": T}
END
refuse 2 '--document-length counting' leat-bench-dev counting -o x --tokens 5 --document-length 0

# ---- sparse ---------------------------------------------------------------------------------------------------------

try 0 '' leat-bench-dev sparse -o sparse --documents 1M --tokens 3M <<'END'
sparse: 2,998,272 tokens in 1,000,000 documents
END
run leat verify sparse
ended 0 ''
[ "$(du -k sparse.tokens | cut -f1)" -lt 1000 ] || echo "sparse.tokens takes disk: no holes on this file system" >&2
run leat-bench-dev sparse -o sparse
[ "$code" -eq 1 ] || fail "$ran: exit code $code, though sparse is there"
run leat verify sparse
ended 0 ''

# what it had made stayed, under names of a finished dataset
(ulimit -f 8 && trap '' XFSZ && exec leat-bench-dev sparse -o large --documents 1M --tokens 2K) \
    >"$printed" 2>&1
code=$? ran='leat-bench-dev sparse (under ulimit -f)'
[ "$code" -eq 1 ] || fail "$ran: exit code $code; $(cat "$printed")"
for file in large.*; do
    [ ! -e "$file" ] || fail "$ran: left $file"
done

# ---- scanners -------------------------------------------------------------------------------------------------------

printf 'some text\n' >some.txt
for family in gpt2 utf8; do
    run leat-bench-dev scanners --runs 1 --row plain --family $family some.txt
    ended 0 ''
    # an empty table, and code 0
    run leat-bench-dev scanners --runs 1 --row foo --family $family some.txt
    says 2 'no row "foo" that this CPU can run'
done
run leat-bench-dev scanners --runs 1 --row foo some.txt
says 2 'no row "foo" that this CPU can run'
run leat-bench-dev scanners --runs 1 --family foo some.txt
says 2 'unknown family of scanners "foo"'

# ---- load -----------------------------------------------------------------------------------------------------------

for output in tokens i32 i64 packed; do
    run leat-bench load --source w4 --seq-len 100 --batch 4 --steps 20 --output $output --bare --synthetic --checksum \
        --json
    json_has steps tokens seconds tokens_per_s gb_per_s cpu_s_per_mtok next_us mean p50 p99 p999 max first_batch_ms \
        memory_mib waits_s order storage gather slot copy waiting_share engine device bare ratio synthetic loss share \
        checksum sources
done
cp w4.leat other.leat
cp w4.tokens other.tokens
run leat-bench load --source w4:3 --source other:1 --seq-len 100 --batch 4 --steps 20 --json
ended 0 ''
for given in '"name": "w4", "share": 0.75, "rows": 60, "tokens": 6000, "loss_tokens": 6000' \
    '"name": "other", "share": 0.25, "rows": 20, "tokens": 2000, "loss_tokens": 2000'; do
    grep -q "$given" "$printed" || fail "$ran: does not say $given"
done
# each slice of a row: an eighth of the bytes, and a few more; the same inputs in each form
copied=$(leat-bench load --source w4 --seq-len 1600 --batch 4 --epochs 1 --json | grep -o '"copied_bytes": [0-9]*')
for output in tokens i32 packed; do
    run leat-bench load --source w4 --seq-len 1600 --batch 4 --epochs 1 --slice 3/8 --layout zigzag --ahead 2 \
        --output $output --checksum --json
    json_has copied_bytes checksum
    [ "$(($(grep -o '"copied_bytes": [0-9]*' "$printed" | cut -d ' ' -f 2) * 8))" -lt \
        "$((${copied#* } * 21 / 20))" ] || fail "$ran: copies too many bytes"
    grep -o '"checksum": "[0-9a-f]*"' "$printed" >>sums
done
[ "$(sort -u sums | wc -l)" -eq 1 ] || fail 'leat-bench load --slice: checksums differ between outputs'
refuse 2 'is not R/N load' leat-bench load --source w4 --seq-len 100 --batch 4 --slice 8
refuse 2 'whole rows load' leat-bench load --source w4 --seq-len 100 --batch 4 --slice 0/2 --bare
refuse 2 '99 or 102' leat-bench load --source w4 --seq-len 100 --batch 4 --slice 0/3
refuse 2 'mask-repeats needs labels' leat-bench load --source w4 --seq-len 100 --batch 4 --mask-repeats
# --dump and --trace emptied the very dataset that was measured, then read it
cp w4.tokens w4.bin
ln w4.bin link.bin
leat order --source w4 --seq-len 100 --print-plan >w4.plan || fail 'no plan'
echo w4 >w4.list
cksum w2.* w4.* >before
for option in --dump --trace; do
    for file in w4.tokens w4.leat w2.tokens; do
        run leat-bench load --source w4 --seq-len 100 --batch 4 --steps 2 $option $file
        says 2 "$file is a file of a dataset: choose another name"
    done
    run leat-bench load --source 'raw:w4.bin?dtype=u32' --seq-len 100 --batch 4 --steps 2 $option link.bin
    says 2 'link.bin is in use by this run: choose another name'
    run leat-bench load --plan w4.plan --batch 4 --steps 2 $option w4.plan
    says 2 'w4.plan is in use by this run: choose another name'
    run leat-bench load --source @w4.list --seq-len 100 --batch 4 --steps 2 $option w4.list
    says 2 'w4.list is in use by this run: choose another name'
    run leat-bench load --source w4 --seq-len 100 --batch 4 --steps 2 $option again
    ended 0 ''
    run leat-bench load --source w4 --seq-len 100 --batch 4 --steps 2 $option again
    ended 0 ''
done
cksum w2.* w4.* | cmp -s - before || fail 'a file that was read is changed'
rm w4.bin link.bin w4.plan w4.list again
run leat-bench load --source w4 --seq-len 100 --batch 4 --steps 20 --trace trace.json --work 1
ended 0 ''
for words in '20 batches, 80 rows, 8,000 tokens in ' '  tokens ' '  next ' '  engine '; do
    grep -q "$words" "$printed" || fail "$ran: does not print '$words'"
done
if command -v python3 >/dev/null; then
    python3 -c 'import json; assert len(json.load(open("trace.json"))["traceEvents"]) == 60' || fail "$ran: no trace"
fi
overwrite w4.tokens 5000 '~~~~'
run leat-bench load --source w4 --seq-len 100 --batch 4 --epochs 1 --order sequential --on-damage mask
ended 0 ''
grep -q '^  damaged  1[0-9] rows masked$' "$printed" || fail "$ran: $(cat "$printed")"
run leat-bench load --source w4 --seq-len 100 --batch 4 --epochs 1 --order sequential
says 3 'is damaged: its hash does not match'
leat-bench-dev counting -o w4 --tokens 100K --width 4 --document-length 20 --force >/dev/null
refuse 1 'abacus' leat-bench load --source w4 --seq-len 100 --batch 4 --device abacus
# ranks that are dealt their rows
run leat-bench load --source w4 --seq-len 100 --order fit --batch 64 --world 4 --rank 3 --steps 5 --balance attention
grep -q 'sums of squared lengths of ranks are .* apart, by chance' "$printed" || fail "$ran: printed $(cat "$printed")"
run leat-bench load --source w4 --seq-len 100 --order fit --batch 64 --world 4 --steps 5 --balance attention --json
python3 - "$printed" <<'END' || fail "$ran: printed $(cat "$printed")"
import json, sys
x = json.load(open(sys.argv[1]))["balance"]
assert x["batches"] >= 5 and 0 <= x["spread_mean"] <= 0.02 < x["spread_by_chance"] < 1 and x["spread"] <= 0.02, x
END
# batches by tokens
run leat-bench load --source w4 --seq-len 900 --order documents --max-tokens 5000 --epochs 1 --output i64 --json
python3 - "$printed" <<'END' || fail "$ran: printed $(cat "$printed")"
import json, sys
x = json.load(open(sys.argv[1]))
assert 0 < x["padding_share"] < 0.5 and x["steps"] > 1, x
END
# is it the loader? A step without work is all loader, unless the steps without one are interrupted, as on a busy
# machine; one of some milliseconds hardly has any. The sums are in JSON.
run leat-bench load --source w4 --seq-len 1000 --batch 64 --steps 40 --threads 0 --compare synthetic
ended 0 ''
of='[0-9.]+ % of a step \(.* with real batches, .* without\)'
grep -Eq "^  (The loader takes $of; most of its own time went into |It is not the loader: it takes $of\.\$)" \
    "$printed" || fail "$ran: $(cat "$printed")"
run leat-bench load --source w4 --seq-len 10 --batch 1 --steps 10 --work 20 --compare synthetic --json
json_has answer synthetic share loss
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
        run leat-bench load $ring --steps 20 --trace trace.json
        ended 0 ''
        python3 -c 'import json; e = json.load(open("trace.json"))["traceEvents"]
assert sum(x["name"] == "next" for x in e) == 24' || fail "$ran: not 4 steps that are not measured"
        # shellcheck disable=SC2086
        run leat-bench load $ring --steps 246 --epochs 1 --json
        python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["steps"] in (241, 242)' "$printed" ||
            fail "$ran: no batches go unused"
    done
fi
needs='--synthetic and --compare need batches from a loader, which --output views does not use'
refuse 2 "$needs load" leat-bench load --source w4 --seq-len 100 --batch 4 --compare synthetic --output views
refuse 2 '--balance --bare --output views' \
    leat-bench load --source w4 --seq-len 100 --batch 4 --balance attention --bare
refuse 2 '--batch' leat-bench load --source w4 --seq-len 100
refuse 2 '--batch --max-tokens' leat-bench load --source w4 --seq-len 9 --order documents --batch 4 --max-tokens 99
refuse 2 '--max-tokens --bare' leat-bench load --source w4 --seq-len 9 --order documents --max-tokens 99 --bare
refuse 2 '--work load' leat-bench load --source w4 --seq-len 100 --batch 4 --work x

# ---- limits: test_json.py runs it -----------------------------------------------------------------------------------

mkdir disk
refuse 2 '--size 1MiB 16777216 limits' leat-bench limits disk --size 1MiB
run leat-bench limits none --json
[ "$code" -eq 1 ] || fail "$ran: exit code $code, not 1"
[ ! -s "$printed" ] || fail "$ran: prints $(cat "$printed")"

# ---- pack -----------------------------------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"text\":\"%0900d\"}\n", i }' >much.jsonl
head -n 100 much.jsonl >little.jsonl
run leat-bench pack -t bytes -o packed little.jsonl
ended 0 ''
for words in '^read  ' '^encode  ' 'With so little text, most of that is start and end'; do
    grep -q "$words" "$printed" || fail "$ran: does not print '$words'"
done
grep -q 'of what they allow' "$printed" && fail "$ran: compares what cannot be: $(cat "$printed")"
run leat-bench pack -t bytes -o packed --force much.jsonl
ended 0 ''
grep -q ' % of what they allow\. [a-z]* takes the most\.$' "$printed" || fail "$ran: $(cat "$printed")"
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
run leat pack -t bytes -o packed --force --threads 2,1 little.jsonl
[ "$code" -eq 2 ] || fail "$ran: exit code $code"
for threads in 0 ',' '1,' 2,x 4097 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1; do
    run leat-bench pack -t bytes -o packed --force --threads $threads little.jsonl
    [ "$code" -eq 2 ] || fail "$ran: exit code $code"
done
# of a resumed run it counts what that did itself, not the text before over these seconds
(cat much.jsonl && echo '{}') >more.jsonl
run leat-bench pack -t bytes -o resumed --max-rejects 0 more.jsonl
[ "$code" -ne 0 ] || fail "$ran: takes a record without a text"
run leat-bench pack -t bytes -o resumed --max-rejects 1 --resume more.jsonl
ended 0 ''
grep -q 'With so little text' "$printed" || fail "$ran: $(cat "$printed")"

# ---- Texts that are made to be slow ---------------------------------------------------------------------------------

run leat-bench-dev hostile -t bytes --size 1000 --runs 1 --json
ended 0 ''
# a byte a token; units come whole; what is no UTF-8 becomes U+FFFD, three bytes
[ "$(grep -o '"bytes": [0-9]*, "tokens": [0-9]*' "$printed" | tr -dc '0-9,\n' | sort | uniq -c | tr -s ' \n' ' ')" = \
    " 9 1000,1000 1 1000,1835 1 988,988 1 999,999 " ] || fail "hostile --json: $(cat "$printed")"
run leat-bench-dev hostile -t bytes --size 1000 --runs 1
[ "$(sed -n '/^text /,$p' "$printed" | wc -l)" -eq 13 ] || fail "hostile prints other than a head and 12 texts"
refuse 2 '--tokenizer hostile' leat-bench-dev hostile

# ---- encode, paced --------------------------------------------------------------------------------------------------

# an empty line before each pass, and a pass for each line that came
echo '{"text": "on and on"}' >paced.jsonl
printf '\n\n' | "$build/leat-bench" encode -t bytes --paced --passes 2 --json paced.jsonl >paced.out ||
    fail "encode --paced: does not pass twice"
[ "$(sed 's/^{.*/{/' paced.out | tr '\n' ' ')" = '  { ' ] || fail "encode --paced: $(cat paced.out)"
printf '\n' | "$build/leat-bench" encode -t bytes --paced --passes 2 paced.jsonl >paced.out 2>paced.err &&
    fail "encode --paced: passes without a line"
grep -q 'pass 2' paced.err || fail "encode --paced: $(cat paced.err)"

finish
