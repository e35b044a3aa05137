#!/bin/sh
# test_trace.sh: leat trace: the documents of a step and of a stretch of samples; the samples of a document, against all
# of leat order, and more of them than memory holds (of a plan without an end they took 18.9 GB); a dataset of 10^9
# documents; and what is refused.
. tests/cli/cli.sh

write_numbered numbers
write_three

plan='--source numbers:3 --source all:1 --seq-len 8 --seed 5'

# ---- From samples to documents --------------------------------------------------------------------------------------

try 0 '' leat trace --source all --seq-len 8 --order sequential --samples 0:3 <<'END'
      sample source     document              tokens input:byte id
           0      0            0                 0:8 a.txt:0 a.txt#0
           1      0            0                8:12 a.txt:0 a.txt#0
           1      0            1                 0:4 a.txt:12 a.txt#1
           2      0            1                4:12 a.txt:12 a.txt#1
END
try 0 '' leat trace --source all --seq-len 8 --order sequential --step 1 --batch 2 --json <<'END'
{"n": 2, "source": 0, "document": 1, "first": 4, "tokens": 8, "input": "a.txt", "offset": 12, "line": 3, @
"id": "a.txt#1", "banned": false}
{"n": 3, "source": 0, "document": 1, "first": 12, "tokens": 8, "input": "a.txt", "offset": 12, "line": 3, @
"id": "a.txt#1", "banned": false}
END
# a step counts samples that are shown
try 0 '' rows leat trace --source all --seq-len 8 --order sequential --step 1 --batch 1 --skip 0:2 <<'END'
3 0 1 12:20 a.txt:12 a.txt#1
END
# steps 0 and 1 of one row, from step 2 on of two: step 3 is positions 4 and 5
leat trace --source numbers --seq-len 8 --step 3 --batch 1,2@2 >by_step
leat trace --source numbers --seq-len 8 --samples 4:6 | diff - by_step || fail "a schedule is counted wrongly"
leat trace --source numbers --seq-len 8 --step 1 --batch 1,2@2,9@7 >by_step
leat trace --source numbers --seq-len 8 --samples 1:2 | diff - by_step || fail "a change after the step counts"
# the ranks' rows are the step's
step='--source numbers --seq-len 8 --step 3 --batch 6,9@3'
# words
# shellcheck disable=SC2086
{
    rows leat trace $step >by_step
    for rank in 0 1 2; do rows leat trace $step --rank $rank --world 3; done | diff by_step - ||
        fail "the ranks' rows are not the step's"
    leat trace $step --rank 1 --world 3 >by_rank
}
leat trace --source numbers --seq-len 8 --samples 21:24 | diff - by_rank || fail "rank 1 of 3 has other rows"
# the rows that ranks are dealt are the step's, and those of a loader; by chance, no rank would have them
step='--source numbers --seq-len 64 --order fit --step 2 --batch 12'
# words
# shellcheck disable=SC2086
{
    rows leat trace $step >by_step
    leat trace $step --rank 1 --world 3 >by_chance
    : >dealt
    for rank in 0 1 2; do
        rows leat trace $step --rank $rank --world 3 --balance attention >by_rank
        cut -d' ' -f1 by_rank | uniq >numbers_traced
        leat show $step --rank $rank --world 3 --balance attention --json |
            sed 's/{"n": \([0-9]*\),.*/\1/' >numbers_shown
        diff numbers_traced numbers_shown || fail "rank $rank was dealt other rows by a loader"
        cat by_rank >>dealt
    done
    sort by_step >sorted
    sort dealt | diff sorted - || fail "the rows that ranks are dealt are not the step's"
    leat trace $step --rank 1 --world 3 --balance none | diff by_chance - || fail "rows are dealt without being asked"
    leat trace $step --rank 1 --world 3 --balance attention | diff -q by_chance - >/dev/null && fail "no row was dealt"
}
# a file of changes, such as a mixture's log: the samples from there on are those of the changed plan
printf 'leat changes 1\nsource all:1\nat 8:0,1\n' >run.changes
make_dataset bare document=1,2,3 document= document=4,5,6
try 0 '' rows leat trace --source bare --seq-len 5 --order sequential --samples 0:1 <<'END'
0 0 0 0:3 -
0 0 2 0:2 -
END
try 0 '' leat trace --source bare --seq-len 5 --order sequential --samples 0:1 --json <<'END'
{"n": 0, "source": 0, "document": 0, "first": 0, "tokens": 3, "input": null, "offset": null, "line": null, "id": null, @
"banned": false}
{"n": 0, "source": 0, "document": 2, "first": 0, "tokens": 2, "input": null, "offset": null, "line": null, "id": null, @
"banned": false}
END
# words
# shellcheck disable=SC2086
for asked in '--samples 0:30' '--step 3 --batch 4'; do
    change='--change run.changes'
    leat order $plan $change --print-plan >changed.plan || fail "no changed plan"
    leat trace --plan changed.plan $asked >by_plan || fail "no documents of $asked in the changed plan"
    leat trace $plan $asked >without || fail "no documents of $asked"
    leat trace $plan $change $asked | diff by_plan - || fail "$asked: --change is another plan"
    diff -q by_plan without >/dev/null && fail "$asked: nothing changed"
done

# ---- Bans -----------------------------------------------------------------------------------------------------------

# a step's documents, from its first sample on; one row of it; then more, after what is there
bans='--source all --seq-len 8 --order sequential'
# words
# shellcheck disable=SC2086
{
    leat trace $bans --step 1 --batch 2 --ban bad.bans >shown || fail "no bans"
    leat trace $bans --step 1 --batch 2 | diff - shown || fail "--ban changes what is shown"
    diff bad.bans - <<'END' || fail "other bans"
ban 2:all:1
END
    printf '# found by hand\nban 7:all:2' >>bad.bans
    leat trace $bans --step 0 --batch 2 --row 1 --rank 0 --world 1 --ban bad.bans --ban-start 30 >/dev/null
    leat trace $bans --samples 4:9 --ban bad.bans >/dev/null
    diff bad.bans - <<'END' || fail "other bans after more"
ban 2:all:1
# found by hand
ban 7:all:2
ban 30:all:0-1
ban 4:all:0-4
END
    # they are part of the plan, and each document has its least start
    leat order $bans --bans bad.bans --print-plan | grep ban | diff - /dev/fd/3 3<<'END' || fail "other lines of bans"
ban 2:all:1
ban 4:all:0,2-4
END
    leat order $bans --bans bad.bans --print-plan >banned.plan
    leat order --plan banned.plan --bans bad.bans --print-plan | diff banned.plan - || fail "bans twice are others"
    try 0 '' rows leat trace --plan banned.plan --samples 1:3 <<'END'
1 0 0 8:12 a.txt:0 a.txt#0
1 0 1 0:4 a.txt:12 a.txt#1
2 0 1 4:12 a.txt:12 a.txt#1 (banned)
END
    echo 'seq-len 9' >other
    refuse 2 "other is not a file of bans: a line of it is \"seq-len 9\"" leat order $bans --bans other --print-plan
    refuse 2 "other is not a file of bans" leat trace $bans --step 0 --batch 1 --ban other
    echo 'seq-len 9' | diff - other || fail "a file that holds something else was changed"
    echo 'ban 0:no:1' >none.bans
    refuse 2 'no source of this name' leat order $bans --bans none.bans --print-plan
    refuse 2 '--ban --step --samples' leat trace $bans --document all:1 --until 3 --ban bad.bans
    refuse 2 '--ban-start --ban' leat trace $bans --samples 0:1 --ban-start 3
    refuse 2 '--row --step' leat trace $bans --samples 0:1 --row 0
    refuse 2 '--row 2' leat trace $bans --step 0 --batch 2 --row 2
}
# an index that lies about where a document came from
copy_dataset all damaged
spoil_section damaged.leat 4
refuse 3 'damaged.leat' leat trace --source damaged --seq-len 8 --order sequential --samples 0:1

# a start that lies between those of the first and the last document of a sample, which are found without it
awk 'BEGIN { for (i = 0; i < 2000; i++) print "x\n" }' >many.txt
write_bytes many many.txt >/dev/null || fail "cannot write the dataset many"
leat trace --source many --seq-len 3999 --order sequential --samples 0:1 | head -n 800 >before
spoil_section many.leat 1 $((8 * 800))
run leat trace --source many --seq-len 3999 --order sequential --samples 0:1
ended 3 'leat: many.leat: document 800 starts at token 9114861777597660798, beyond the last token; verify the '\
'dataset, or write it again'
diff before "$printed" >/dev/null || fail "not the documents before the damaged one are shown"

# ---- From a document to samples -------------------------------------------------------------------------------------

# document 123 of numbers has tokens 2596 to 2617: windows 324 to 327; all of them, by every sample
# words
# shellcheck disable=SC2086
for more in '' '--skip 100:900' '--at 1024:1,1:len=4' '--order sequential'; do
    rows leat order $plan $more --base-len 8 --count 6000 >order.txt
    awk '$1 < 1024 || more !~ /len/ { size = 8 } $1 >= 1024 && more ~ /len/ { size = 4 }
        $2 == 0 && $3 * size < 2618 && $3 * size + size > 2596 { print $1, $2, $3 }' more="$more" order.txt >expect
    rows leat trace $plan $more --base-len 8 --document numbers:123 --until 6000 | cut -d' ' -f1-3 >got
    [ -s got ] || fail "$more: nothing shows document 123"
    diff expect got || fail "$more: document 123 is shown elsewhere"
    rows leat trace $plan $more --base-len 8 --document 0:123 --until 6000 | cut -d' ' -f1-3 | diff got - ||
        fail "$more: source 0 is not numbers"
done
try 0 '' leat trace --source numbers --seq-len 8 --order sequential --document numbers:123 --epochs 2 \
    --skip 325:327 <<'END'
      sample source       window  epoch     position
         324      0          324      0          324
         327      0          327      0          325
        1685      0          324      1         1683
        1686      0          325      1         1684
        1687      0          326      1         1685
        1688      0          327      1         1686
END
try 0 '' leat trace --source all --seq-len 32 --order sequential --document all:0 --epochs 1 --json <<'END'
{"n": 0, "source": 0, "window": 0, "epoch": 0, "position": 0}
END

# ---- More samples than memory holds ---------------------------------------------------------------------------------

# every sample shows the only document of "one" and of its namesake: all were kept in memory, 80 bytes each
make_dataset one document=1,2,3,4,5,6,7,8
many='--source one:1 --source one:1 --seq-len 1 --document one:0 --until 700k'
limit=50000
! nm "$build/leat" 2>/dev/null | grep -qE ' __(a|t)san_init$' || limit=unlimited # which maps much more
# words; not of POSIX, but of all shells
# shellcheck disable=SC2086,SC3045
(ulimit -v $limit && leat trace $many) |
    awk 'NR == 1 { next } $1 != n || $5 != n || NF != 5 { exit } { n++ } END { print n }' >counted
[ "$(cat counted)" = 700000 ] || fail "of 700,000 samples only $(cat counted) are shown, in order"
# words
# shellcheck disable=SC2086
leat trace $many --skip 300k:500k | awk 'NR == 1 { next } $1 - $5 != ($1 < 300000 ? 0 : 200000) { exit } { n++ }
    END { print n }' >counted
[ "$(cat counted)" = 500000 ] || fail "skipped samples are not left out: $(cat counted)"
# stretches grow while nothing is found, and shrink when more is found than there is room for
make_dataset two document=1,2,3,4,5,6,7,8
leat trace --source one:0 --source two:1 --seq-len 1 --at 300k:1,0 --document one:0 --until 700k |
    awk 'NR == 1 { next } $1 != n + 300000 || $5 != $1 || NF != 5 { exit } { n++ } END { print n }' >counted
[ "$(cat counted)" = 400000 ] || fail "of 400,000 samples from 300,000 on only $(cat counted) are shown"

# ---- 10^9 documents -------------------------------------------------------------------------------------------------

if leat-bench-dev sparse -o huge --documents 1G >/dev/null 2>&1; then
    try 0 '' rows leat trace --source huge --seq-len 2048 --order sequential --samples 3:4 <<'END'
3 0 999999999 6144:8192 sparse:0
END
    try 0 '' rows leat trace --source huge --seq-len 2048 --order sequential --document huge:999999999 --until 2 <<'END'
0 0 0 0 0
1 0 1 0 1
END
    try 0 '' leat trace --source huge --seq-len 2048 --document huge:5 --until 2 </dev/null
fi

# ---- Refused --------------------------------------------------------------------------------------------------------

one='--source all --seq-len 8'
# words
# shellcheck disable=SC2086
{
    refuse 2 '--step --samples --document' leat trace $one
    refuse 2 '--step --samples --document' leat trace $one --step 1 --samples 1:2
    refuse 2 '--step --batch' leat trace $one --step 1
    refuse 2 '--batch --world --source --seq-len --plan' leat trace --step 1 --rank 0
    refuse 2 '--step --samples --document --source --seq-len --plan' leat trace
    refuse 2 '--samples 5:4' leat trace $one --samples 5:4
    refuse 2 '--batch 4,5@0' leat trace $one --step 1 --batch 4,5@0
    refuse 2 '--batch' leat trace $one --step 1 --batch 0
    refuse 2 '--batch 4,5@x' leat trace $one --step 1 --batch 4,5@x
    long=$(printf '%064d' 4)
    refuse 2 "--batch $long" leat trace $one --step 1 --batch "$long"
    refuse 2 '--step 2^60' leat trace $one --step 1P --batch 1P
    refuse 2 '--rank' leat trace $one --step 1 --batch 4 --rank 0 --world 3
    refuse 2 '--rank --world' leat trace $one --step 1 --batch 4 --rank 1
    refuse 2 '--rank --world --step' leat trace $one --samples 0:4 --rank 1 --world 2
    refuse 2 '--balance --rank --world' leat trace $one --step 1 --batch 4 --balance attention
    refuse 2 'order shuffled' leat trace $one --step 1 --batch 4 --rank 1 --world 2 --balance attention
    refuse 2 '--step max-tokens' leat trace $one --order documents --max-tokens 99 --step 1 --batch 4
    # --samples is another one here
    missing='the number of samples is missing: with weights, Megatron builds for a given number of samples'
    refuse 2 "$missing --samples --print-plan --plan" \
        leat trace --source all:1 --seq-len 8 --order megatron --samples 0:1
    leat order --source all:1 --seq-len 8 --order megatron --samples 5 --print-plan >samples.plan
    try 0 '' leat trace --plan samples.plan --samples 0:0 </dev/null
    grep -v samples samples.plan >without.plan
    refuse 2 "$missing without.plan" leat trace --plan without.plan --samples 0:1
    refuse 2 '--until --document' leat trace $one --samples 0:1 --until 3
    refuse 2 '--document --epochs --until' leat trace $one --document all:1
    refuse 2 '--document' leat trace $one --document b:1 --until 9
    refuse 2 'did you mean all?' leat trace $one --document lal:1 --until 9
    refuse 2 '--document all' leat trace $one --document all --until 9
    refuse 1 '99' leat trace $one --document all:99 --until 9
}
finish
