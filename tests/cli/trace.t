trace.t: leat trace names the documents of samples and the samples of a document, and bans documents.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_numbered numbers
  $ write_three
  $ leat trace --source all --seq-len 8 --order sequential --samples 0:3
        sample source     document              tokens input:byte id
             0      0            0                 0:8 a.txt:0 a.txt#0
             1      0            0                8:12 a.txt:0 a.txt#0
             1      0            1                 0:4 a.txt:12 a.txt#1
             2      0            1                4:12 a.txt:12 a.txt#1
  $ leat trace --source all --seq-len 8 --order sequential --step 1 --batch 2 --json
  {"n": 2, "source": 0, "document": 1, "first": 4, "tokens": 8, "input": "a.txt", "offset": 12, "line": 3, "id": "a.txt#1", "banned": false}
  {"n": 3, "source": 0, "document": 1, "first": 12, "tokens": 8, "input": "a.txt", "offset": 12, "line": 3, "id": "a.txt#1", "banned": false}

A step counts samples that are shown.

  $ leat trace --source all --seq-len 8 --order sequential --step 1 --batch 1 --skip 0:2
        sample source     document              tokens input:byte id
             3      0            1               12:20 a.txt:12 a.txt#1

Not all documents have an origin, a line and an id; one without tokens is not shown.

  $ make_dataset bare document=1,2,3 document= document=4,5,6
  $ leat trace --source bare --seq-len 5 --order sequential --samples 0:1
        sample source     document              tokens input:byte id
             0      0            0                 0:3 -
             0      0            2                 0:2 -
  $ leat trace --source bare --seq-len 5 --order sequential --samples 0:1 --json
  {"n": 0, "source": 0, "document": 0, "first": 0, "tokens": 3, "input": null, "offset": null, "line": null, "id": null, "banned": false}
  {"n": 0, "source": 0, "document": 2, "first": 0, "tokens": 2, "input": null, "offset": null, "line": null, "id": null, "banned": false}

Steps 0 and 1 have one row, those from step 2 on two: step 3 is positions 4 and 5. A change after the step counts not.

  $ leat trace --source numbers --seq-len 8 --samples 4:6 >by_samples
  $ leat trace --source numbers --seq-len 8 --step 3 --batch 1,2@2 | diff by_samples -
  $ leat trace --source numbers --seq-len 8 --samples 1:2 >by_samples
  $ leat trace --source numbers --seq-len 8 --step 1 --batch 1,2@2,9@7 | diff by_samples -

The ranks' rows are the step's.

  $ step='--source numbers --seq-len 8 --step 3 --batch 6,9@3'
  $ leat trace $step | sed 1d >by_step
  $ for rank in 0 1 2; do leat trace $step --rank $rank --world 3 | sed 1d; done | diff by_step -
  $ leat trace --source numbers --seq-len 8 --samples 21:24 >by_samples
  $ leat trace $step --rank 1 --world 3 | diff by_samples -

The rows that ranks are dealt are the step's, and those of a loader; unasked, none are dealt.

  $ step='--source numbers --seq-len 64 --order fit --step 2 --batch 12'
  $ leat trace $step | sed 1d | sort >by_step
  $ for rank in 0 1 2; do
  >     leat trace $step --rank $rank --world 3 --balance attention | sed 1d >dealt.$rank
  >     awk '{ print $1 }' dealt.$rank | uniq >traced
  >     leat show $step --rank $rank --world 3 --balance attention --json | sed 's/{"n": \([0-9]*\),.*/\1/' >shown
  >     diff traced shown && wc -l <shown
  > done
  4
  4
  4
  $ sort dealt.* | diff by_step -
  $ leat trace $step --rank 1 --world 3 >by_chance
  $ leat trace $step --rank 1 --world 3 --balance none | diff by_chance -
  $ sed 1d by_chance | cmp -s - dealt.1
  [1]

With a file of changes, such as a mixture's log, the samples from there on are those of the changed plan.

  $ plan='--source numbers:3 --source all:1 --seq-len 8 --seed 5'
  $ printf 'leat changes 1\nsource all:1\nat 8:0,1\n' >run.changes
  $ leat order $plan --change run.changes --print-plan >changed.plan
  $ for asked in '--samples 0:30' '--step 3 --batch 4'; do
  >     leat trace --plan changed.plan $asked >by_plan && leat trace $plan --change run.changes $asked | diff by_plan -
  >     leat trace $plan $asked >without && cmp -s by_plan without || echo "$asked differs from that of the plan"
  > done
  --samples 0:30 differs from that of the plan
  --step 3 --batch 4 differs from that of the plan

Bans are those of a step's documents, from its first sample on; then those of one row of it, after what is there. What
is shown stays as it is.

  $ bans='--source all --seq-len 8 --order sequential'
  $ leat trace $bans --step 1 --batch 2 --ban bad.bans
        sample source     document              tokens input:byte id
             2      0            1                4:12 a.txt:12 a.txt#1
             3      0            1               12:20 a.txt:12 a.txt#1
  $ leat trace $bans --step 1 --batch 2
        sample source     document              tokens input:byte id
             2      0            1                4:12 a.txt:12 a.txt#1
             3      0            1               12:20 a.txt:12 a.txt#1
  $ cat bad.bans
  ban 2:all:1
  $ printf '# found by hand\nban 7:all:2' >>bad.bans
  $ leat trace $bans --step 0 --batch 2 --row 1 --rank 0 --world 1 --ban bad.bans --ban-start 30 >/dev/null
  $ leat trace $bans --samples 4:9 --ban bad.bans >/dev/null
  $ cat bad.bans
  ban 2:all:1
  # found by hand
  ban 7:all:2
  ban 30:all:0-1
  ban 4:all:0-4

They are part of the plan, and each document has its least start; the bans of a plan once more are the plan's.

  $ leat order $bans --bans bad.bans --print-plan >banned.plan
  $ grep ban banned.plan
  ban 2:all:1
  ban 4:all:0,2-4
  $ leat order --plan banned.plan --bans bad.bans --print-plan | diff banned.plan -
  $ leat trace --plan banned.plan --samples 1:3
        sample source     document              tokens input:byte id
             1      0            0                8:12 a.txt:0 a.txt#0
             1      0            1                 0:4 a.txt:12 a.txt#1
             2      0            1                4:12 a.txt:12 a.txt#1 (banned)

A file that holds something else stays as it was.

  $ echo 'seq-len 9' >other
  $ leat order $bans --bans other --print-plan
  leat: other is not a file of bans: a line of it is "seq-len 9"
  [2]
  $ leat trace $bans --step 0 --batch 1 --ban other
  leat: other is not a file of bans: a line of it is "seq-len 9"
  [2]
  $ cat other
  seq-len 9
  $ echo 'ban 0:no:1' >none.bans
  $ leat order $bans --bans none.bans --print-plan
  leat: documents of "no" are banned, but the plan has no source of this name
  [2]
  $ leat trace $bans --document all:1 --until 3 --ban bad.bans
  leat: --ban needs --step or --samples (leat trace --help lists the options)
  [2]
  $ leat trace $bans --samples 0:1 --ban-start 3
  leat: --ban-start needs --ban (leat trace --help lists the options)
  [2]
  $ leat trace $bans --samples 0:1 --row 0
  leat: --row needs --step (leat trace --help lists the options)
  [2]
  $ leat trace $bans --step 0 --batch 2 --row 2
  leat: --row: there are 2 rows, numbered from 0 (leat trace --help shows how)
  [2]

An index may lie about where a document came from.

  $ copy_dataset all damaged
  $ spoil_section damaged.leat 4
  $ leat trace --source damaged --seq-len 8 --order sequential --samples 0:1
  leat: damaged.leat: record 0 of its inputs section is invalid: its path is outside the input paths; verify the dataset, or write it again
  [3]

This start lies between those of the first and the last document of a sample, which are found without it: the documents
before it are shown.

  $ awk 'BEGIN { for (i = 0; i < 2000; i++) print "x\n" }' >many.txt
  $ write_bytes many many.txt >/dev/null
  $ leat trace --source many --seq-len 3999 --order sequential --samples 0:1 | head -n 800 >before
  $ spoil_section many.leat 1 $((8 * 800))
  $ leat trace --source many --seq-len 3999 --order sequential --samples 0:1 >got
  leat: many.leat: document 800 starts at token 9114861777597660798, beyond the last token; verify the dataset, or write it again
  [3]
  $ diff before got && wc -l <got
  800

Document 123 of numbers has tokens 2596 to 2617: windows 324 to 327. It is found in the samples that leat order has of
these, by the name and by the number of its source.

  $ for more in '' '--skip 100:900' '--at 1024:1,1:len=4' '--order sequential'; do
  >     leat order $plan $more --base-len 8 --count 6000 | sed 1d |
  >         awk '$1 < 1024 || more !~ /len/ { size = 8 } $1 >= 1024 && more ~ /len/ { size = 4 }
  >         $2 == 0 && $3 * size < 2618 && $3 * size + size > 2596 { print $1, $2, $3 }' more="$more" >expected
  >     for name in numbers 0; do
  >         leat trace $plan $more --base-len 8 --document $name:123 --until 6000 | sed 1d |
  >             awk '{ print $1, $2, $3 }' | diff expected -
  >     done
  >     wc -l <expected
  > done
  13
  12
  11
  16
  $ leat trace --source numbers --seq-len 8 --order sequential --document numbers:123 --epochs 2 --skip 325:327
        sample source       window  epoch     position
           324      0          324      0          324
           327      0          327      0          325
          1685      0          324      1         1683
          1686      0          325      1         1684
          1687      0          326      1         1685
          1688      0          327      1         1686
  $ leat trace --source all --seq-len 32 --order sequential --document all:0 --epochs 1 --json
  {"n": 0, "source": 0, "window": 0, "epoch": 0, "position": 0}

Every sample shows the only document of "one" and of its namesake: they are more than memory holds, 80 bytes each. A
sanitizer maps much more.

  $ make_dataset one document=1,2,3,4,5,6,7,8
  $ many='--source one:1 --source one:1 --seq-len 1 --document one:0 --until 700k'
  $ limit=50000
  $ ! nm "$LEAT_BUILD/leat" 2>/dev/null | grep -qE ' __(a|t)san_init$' || limit=unlimited
  $ (ulimit -v $limit && leat trace $many) |
  >     awk 'NR > 1 { if ($1 != n || $5 != n || NF != 5) exit; n++ } END { print n }'
  700000
  $ leat trace $many --skip 300k:500k |
  >     awk 'NR > 1 { if ($1 - $5 != ($1 < 300000 ? 0 : 200000)) exit; n++ } END { print n }'
  500000

Stretches grow while nothing is found, and shrink when more is found than there is room for.

  $ make_dataset two document=1,2,3,4,5,6,7,8
  $ leat trace --source one:0 --source two:1 --seq-len 1 --at 300k:1,0 --document one:0 --until 700k |
  >     awk 'NR > 1 { if ($1 != n + 300000 || $5 != $1 || NF != 5) exit; n++ } END { print n }'
  400000

Wrong options are refused.

  $ one='--source all --seq-len 8'
  $ leat trace $one
  leat: missing: --step N, --samples A:B or --document NAME:N (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --samples 1:2
  leat: --step needs --batch (leat trace --help lists the options)
  [2]
  $ leat trace $one --step 1
  leat: --step needs --batch (leat trace --help lists the options)
  [2]
  $ leat trace --step 1 --rank 0
  leat: --step needs --batch (leat trace --help lists the options)
  [2]
  $ leat trace
  leat: missing: --step N, --samples A:B or --document NAME:N; --source NAME and --seq-len L, or --plan FILE (leat trace --help shows how)
  [2]
  $ leat trace $one --samples 5:4
  leat: --samples: "5:4" ends before it begins (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --batch 4,5@0
  leat: --batch: "4,5@0" is not a schedule B,B@STEP,... with increasing steps (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --batch 0
  leat: --batch: "0" is not a schedule B,B@STEP,... with increasing steps (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --batch 4,5@x
  leat: --batch: "4,5@x" is not a schedule B,B@STEP,... with increasing steps (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --batch "$(printf '%064d' 4)"
  leat: --batch: "0000000000000000000000000000000000000000000000000000000000000004" is not a schedule B,B@STEP,... with increasing steps (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1P --batch 1P
  leat: --step: samples are numbered below 2^60 (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --batch 4 --rank 0 --world 3
  leat: --rank: a global batch of 4 rows does not divide equally among 3 ranks; the nearest size that does is 3 (leat trace --help shows how)
  [2]
  $ leat trace $one --step 1 --batch 4 --rank 1
  leat: --rank needs --world (leat trace --help lists the options)
  [2]
  $ leat trace $one --samples 0:4 --rank 1 --world 2
  leat: --rank needs --step (leat trace --help lists the options)
  [2]
  $ leat trace $one --step 1 --batch 4 --balance attention
  leat: --balance needs --rank (leat trace --help lists the options)
  [2]
  $ leat trace $one --step 1 --batch 4 --rank 1 --world 2 --balance attention
  leat: rows of order shuffled cannot be dealt by what attention costs: only those of order fit can
  [2]
  $ leat trace $one --order documents --max-tokens 99 --step 1 --batch 4
  leat: --step counts rows, but the plan has batches by tokens (max-tokens): name samples by their numbers (leat trace --help shows how)
  [2]
  $ leat trace $one --samples 0:1 --until 3
  leat: --until needs --document (leat trace --help lists the options)
  [2]
  $ leat trace $one --document all:1
  leat: the plan has no end: --document needs --epochs or --until (leat trace --help shows how)
  [2]
  $ leat trace $one --document b:1 --until 9
  leat: --document: the plan has no source called "b"
  [2]
  $ leat trace $one --document lal:1 --until 9
  leat: --document: the plan has no source called "lal"; did you mean all?
  [2]
  $ leat trace $one --document all --until 9
  leat: --document: "all" is not NAME:N (leat trace --help shows how)
  [2]
  $ leat trace $one --document all:99 --until 9
  leat: no document 99: the dataset has 6, numbered from 0
  [1]

Megatron's order needs the number of samples, which is in a plan: --samples is another option here.

  $ leat trace --source all:1 --seq-len 8 --order megatron --samples 0:1
  leat: the number of samples is missing: with weights, Megatron builds for a given number of samples; write a plan with leat order --samples N --print-plan, and read it with --plan
  [2]
  $ leat order --source all:1 --seq-len 8 --order megatron --samples 5 --print-plan >samples.plan
  $ leat trace --plan samples.plan --samples 0:0
  $ grep -v samples samples.plan >without.plan
  $ leat trace --plan without.plan --samples 0:1
  leat: the number of samples is missing: with weights, Megatron builds for a given number of samples; add a line "samples N" to without.plan
  [2]
