order.t: leat order prints the samples of a plan, and its text, which reads back.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_numbered numbers
  $ write_three
  $ mkdir folder
  $ copy_dataset a folder/a
  $ copy_dataset b folder/b
  $ leat order --source numbers --seq-len 100 --order sequential --count 3
        sample source       window     document          token
             0      0            0            0              0
             1      0            1            5            100
             2      0            2           10            200

The number of the dataset is shown if some source has several.

  $ leat order --source numbers --source folder:1 --seq-len 4 --order sequential --count 4
        sample source       window     document          token    part
             0      1            0            0              0       0
             1      0            0            0              0       0
             2      1            1            0              4       0
             3      0            1            0              4       0
  $ leat order --source numbers:1 --source folder:3:1 --seq-len 4 --seed 3 --from 7 --count 1 --json
  {"n": 7, "source": 1, "window": 8, "document": 1, "offset": 32, "part": 0, "epoch": 0, "length": 4, "pieces": [{"source": 1, "part": 0, "token": 32, "count": 5, "at": 0, "document": 1}]}
  $ leat order --source numbers --seq-len 2Ki --epochs 1 --order sequential
        sample source       window     document          token
             0      0            0            0              0
             1      0            1           98           2048
             2      0            2          191           4096
             3      0            3          284           6144
             4      0            4          377           8192
  $ leat order --source numbers --seq-len 100 --order sequential --count 4 --skip 1:3
        sample source       window     document          token
             0      0            0            0              0
             3      0            3           14            300

That tokens per row are most often a power of two is said, as is why no sample is printed.

  $ leat order --source numbers --seq-len 2K --count 0
  leat: --seq-len: 2K is 2000 tokens; 2Ki is 2048
  $ leat order --source numbers --seq-len 1.5K --base-len 3K --at 32:1:len=1K --count 0
  leat: --seq-len: 1.5K is 1500 tokens; 1.5Ki is 1536
  leat: --base-len: 3K is 3000 tokens; 3Ki is 3072
  leat: --at: 1K is 1000 tokens; 1Ki is 1024
  $ leat fit --report numbers --seq-len 64,4K,2Ki,3M --seq-len 0
  leat: --seq-len: 4K is 4000 tokens; 4Ki is 4096
  leat: --seq-len: 3M is 3000000 tokens; 3Mi is 3145728
  leat: --seq-len: "0" has a length that is not between 1 and 2^24 (leat fit --help lists the options)
  [2]
  $ leat order --source numbers --seq-len 2Ki --epochs 1 --from 5
  leat: the plan has 5 samples, numbered from 0: no sample from 5 on
  $ leat order --source numbers --seq-len 2Ki --epochs 1 --from 1000
  leat: the plan has 5 samples, numbered from 0: no sample from 1,000 on
  $ leat order --source numbers --seq-len 2Ki --epochs 1 --from 5 --count 0
  $ leat order --source numbers --seq-len 2Ki --epochs 1 --skip 1:100 --from 2
  leat: no sample to print from sample 2 on: all within --count are skipped
  $ leat order --source numbers --seq-len 2Ki --epochs 1 --count 1 --batch 4 --rank 1 --world 2
  leat: no sample to print from sample 0 on: all within --count are skipped or in rows of other ranks

The rows of two ranks are those of one, and a skip shifts them.

  $ all='--source numbers --seq-len 50 --seed 9 --skip 3:4 --count 41'
  $ leat order $all | sed 1d >together
  $ wc -l <together
  40
  $ leat order $all --batch 4 --rank 0 --world 2 | sed 1d >rank0
  $ awk 'int((NR - 1) % 4 / 2) == 0' together | diff - rank0
  $ leat order $all --batch 4 --rank 1 --world 2 | sed 1d >rank1
  $ awk 'int((NR - 1) % 4 / 2) == 1' together | diff - rank1

A report says which length fits rows of whole documents.

  $ leat order --source numbers --source folder --fit-report 16,1Ki
  505 documents, 10,444 predictions (tokens with a next one in their document)
  
                rows of whole documents (--order fit)                           windows
       length         rows pieces/row patterns     padding docs cut no context         rows docs cut no context
           16          662       1.52        8    1.3973 %   99.2 %     23.0 %          683   99.2 %     56.8 %
        1,024           12      42.08        5   15.0065 %    0.0 %      0.0 %           10    1.8 %      0.8 %
  
  no context: predictions whose row does not have the beginning of their document
           16  fit      23.0 % #########
               windows  56.8 % #######################
        1,024  fit       0.0 %
               windows   0.8 %
  $ leat order --source folder --fit-report 4 --json
  {"documents": 5, "predictions": 54, "empty": 0, "left_out": 0, "unused": 0, "lengths": [{"length": 4, "documents": 5, "predictions": 54, "empty": 0, "left_out": 0, "unused": 0, "rows": 14, "full_rows": 12, "pieces": 15, "max_pieces": 2, "patterns": 2, "padding": 2, "context": 0, "documents_cut": 3, "lost_context": 34, "windows": {"rows": 14, "documents_cut": 4, "lost_context": 38}, "sources": [{"name": "folder", "documents": 5, "left_out": 0, "cut": 3}]}]}
  $ leat fit --report folder --seq-len 4 --json
  {"documents": 5, "predictions": 54, "empty": 0, "left_out": 0, "unused": 0, "lengths": [{"length": 4, "documents": 5, "predictions": 54, "empty": 0, "left_out": 0, "unused": 0, "rows": 14, "full_rows": 12, "pieces": 15, "max_pieces": 2, "patterns": 2, "padding": 2, "context": 0, "documents_cut": 3, "lost_context": 34, "windows": {"rows": 14, "documents_cut": 4, "lost_context": 38}, "sources": [{"name": "folder", "documents": 5, "left_out": 0, "cut": 3}]}]}
  $ leat order --source folder --fit-report 4 --overlap 1 --cut-length 9
  5 documents, 29 predictions (tokens with a next one in their document)
  not used: 0 documents, 25 predictions of these and cut off
  
                rows of whole documents (--order fit)                           windows
       length         rows pieces/row patterns     padding docs cut no context         rows docs cut no context
            4            9       1.11        2    5.5556 %   60.0 %     31.0 %           14   80.0 %     70.4 %
            4  shown again, as context: 13.9 % of all places
  
  no context: predictions whose row does not have the beginning of their document
            4  fit      31.0 % ############
               windows  70.4 % ############################
  $ leat fit numbers folder --report --seq-len 8,16 --fit 1:whole,max-length=16 --fit 0:max-per-row=1
  in rows of 8: 503 documents, 10,403 predictions (tokens with a next one in their document)
  not used: 2 documents, 41 predictions of these and cut off
  in rows of 16: 504 documents, 10,414 predictions (tokens with a next one in their document)
  not used: 1 document, 30 predictions of these and cut off
  
                rows of whole documents (--order fit)                           windows
       length         rows pieces/row patterns     padding docs cut no context         rows docs cut no context
            8        1,502       1.00        5   13.4238 %   99.4 %     61.4 %        1,368   99.6 %     76.1 %
           16        1,002       1.00        5   35.0424 %   99.2 %     22.9 %          683   99.2 %     56.8 %
            8  numbers: 500 documents, 0 left out, 500 cut
            8  folder: 3 documents, 2 left out, 0 cut
           16  numbers: 500 documents, 0 left out, 500 cut
           16  folder: 4 documents, 1 left out, 0 cut
  
  no context: predictions whose row does not have the beginning of their document
            8  fit      61.4 % #########################
               windows  76.1 % ##############################
           16  fit      22.9 % #########
               windows  56.8 % #######################
  $ leat fit numbers folder --report --seq-len 16,8 --fit 1:whole,max-length=16 --json | grep -o '"sources.*'
  "sources": [{"name": "numbers", "documents": 500, "left_out": 0, "cut": 500}, {"name": "folder", "documents": 4, "left_out": 1, "cut": 0}]}, {"length": 8, "documents": 503, "predictions": 10403, "empty": 0, "left_out": 2, "unused": 41, "rows": 1447, "full_rows": 1000, "pieces": 1503, "max_pieces": 2, "patterns": 5, "padding": 1173, "context": 0, "documents_cut": 500, "lost_context": 6390, "windows": {"rows": 1368, "documents_cut": 503, "lost_context": 7953}, "sources": [{"name": "numbers", "documents": 500, "left_out": 0, "cut": 500}, {"name": "folder", "documents": 3, "left_out": 2, "cut": 0}]}]}
  $ for m in 16 9; do leat fit numbers folder --report --seq-len 8 --fit 1:whole,max-length=$m | cksum; done | uniq | wc -l
  1
  $ leat fit numbers --fit 0:whole
  leat: --fit needs --report (leat fit --help lists the options)
  [2]
  $ leat order --source folder --fit-report "$(seq -s , 16)" | grep -c ' windows .* %'
  16
  $ leat order --source a --fit-report "$(seq -s , 17)"
  leat: --fit-report: "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17" has more than 16 lengths (leat order --help lists the options)
  [2]
  $ leat order --source a --fit-report 4,0
  leat: --fit-report: "4,0" has a length that is not between 1 and 2^24 (leat order --help lists the options)
  [2]
  $ leat order --source a --fit-report 4,
  leat: --fit-report: "4," is not a number; write it like 12, 1.5K or 64Ki (leat order --help lists the options)
  [2]
  $ leat fit --report folder
  leat: --report needs --seq-len (leat fit --help lists the options)
  [2]
  $ leat fit none
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]

The text of a plan reads back, as what the options were.

  $ plan='--source numbers:.50 --source a:1:2 --source folder:0 --seq-len 2 --base-len 8 --seed 1K
  >     --at 1Ki:0.5,0,1e-1:len=4 --at 1088:1 --skip 1K:1.5K --skip 7:9 --epochs 3'
  $ leat order $plan --print-plan | tee run.plan
  leat plan 1
  seed 1000
  seq-len 2
  base-len 8
  order shuffled
  epochs 3
  source numbers:0.5
  source a:1:2
  source folder:0
  at 1024:0.5,0,0.1:len=4
  at 1088:1
  skip 7:9
  skip 1000:1500
  $ leat order --plan run.plan --print-plan | diff run.plan -
  $ leat order $plan --count 2000 >by_options
  $ leat order --plan run.plan --count 2000 | diff by_options -

Skips may be added to the text of a plan, whether its last line ends or not; printed, it is one plan.

  $ printf '%s' "$(cat run.plan)" >cut.plan
  $ sort run.plan >sorted
  $ for plan in run cut; do
  >     leat order --plan $plan.plan --skip 20:30 --skip 4K:5K --print-plan | sort | comm -3 sorted - | tr -d '\t'
  > done
  skip 20:30
  skip 4000:5000
  skip 20:30
  skip 4000:5000
  $ leat order --plan run.plan --skip 100:1000 --count 150 >skipped
  $ awk 'NR == 1 || $1 < 100' by_options | diff skipped -

An end may be added to a plan that has none.

  $ grep -v '^epochs' run.plan >endless.plan
  $ printf '%s' "$(cat endless.plan)" >cut.plan
  $ for plan in endless cut; do
  >     leat order --plan $plan.plan --epochs 3 --print-plan | diff run.plan -
  > done

With a file of changes, such as a mixture's log, the plan is the one that has them from the start.

  $ printf 'leat changes 1\nat 512:1,,3\nsource a:2:none\nat 1024::len=8\nat 2048:,0\n' >run.changes
  $ leat order --plan run.plan --change run.changes --print-plan | tee changed.plan
  leat plan 1
  seed 1000
  seq-len 2
  base-len 8
  order shuffled
  epochs 3
  source numbers:0.5
  source a:1:2
  source folder:0
  source a:0
  at 512:1,1,3
  at 1024:1,1,3,2:len=8
  at 2048:1,0,3,2
  skip 7:9
  skip 1000:1500
  $ leat order --plan changed.plan --from 400 --count 2000 >by_plan
  $ leat order --plan run.plan --change run.changes --from 400 --count 2000 | diff by_plan -
  $ printf 'leat changes 1\nat 500:1\n' >wrong.changes
  $ leat order --plan run.plan --change wrong.changes
  leat: a phase cannot begin at sample 500: the one before it begins at 0 and shows blocks in 4 slices, 16 blocks at a time, so a change must come a multiple of 64 samples later; the nearest is sample 512
  [2]
  $ printf 'leat changes 1\nat 512:1,2,3,4\n' >wrong.changes
  $ leat order --plan run.plan --change wrong.changes
  leat: wrong.changes, line 2: the change at sample 512 has more weights than the 3 sources
  [2]
  $ leat order --plan run.plan --change no.changes
  leat: cannot open no.changes: No such file or directory
  [1]

A plan may be that of one part of a split.

  $ leat order --source numbers --seq-len 8 --split train=0.99,valid=0.01 --use valid --print-plan
  leat plan 1
  seed 0
  seq-len 8
  base-len 8
  order shuffled
  split train=0.99,valid=0.01
  use valid
  source numbers:1

If the start of a document lies, no sample is told with a document that may be another.

  $ copy_dataset numbers damaged
  $ spoil_section damaged.leat 1 80
  $ leat order --source damaged --seq-len 100 --order sequential
  leat: damaged.leat: document 10 starts at token 9114861777597660798, beyond the last token; verify the dataset, or write it again
  [3]

Wrong options and plans are refused.

  $ leat order
  leat: missing: --source NAME and --seq-len L, or --plan FILE (leat order --help shows how)
  [2]
  $ leat order --source a
  leat: missing: --seq-len L, or --plan FILE (leat order --help shows how)
  [2]
  $ leat order --plan run.plan --seed 3
  leat: --seed and --plan cannot both be given: write it in the plan, or give options only (leat order --help shows how)
  [2]
  $ leat order --plan run.plan --epochs 2
  leat: run.plan, line 15: epochs is given twice; --epochs counts as a line of it
  [2]
  $ leat order --plan run.plan --skip 5:
  leat: --skip: "5:" is not A:B, the samples A to B - 1 (leat order --help shows how)
  [2]
  $ (cd folder && leat order --plan ../run.plan)
  leat: cannot open numbers.leat: No such file or directory; no dataset in this folder has a similar name; ../run.plan names it, and names in a plan count from the folder that the command runs in
  [1]
  $ leat order --source numbers:x --seq-len 2
  leat: cannot open numbers:x.leat: No such file or directory; did you mean numbers?; "x" after its last colon is not a weight, which is a decimal number such as 0.25
  [1]
  $ leat order --plan run.plan --rank 0 --world 2
  leat: --rank needs --batch (leat order --help lists the options)
  [2]
  $ leat order --rank 0
  leat: --rank needs --batch (leat order --help lists the options)
  [2]
  $ leat order --plan run.plan --batch 5 --rank 0 --world 2
  leat: --rank: a global batch of 5 rows does not divide equally among 2 ranks; the nearest size that does is 4 (leat order --help shows how)
  [2]
  $ leat order --plan run.plan --balance attention
  leat: --balance needs --rank (leat order --help lists the options)
  [2]
  $ leat order --plan run.plan --batch 4 --rank 0 --world 2 --balance attention
  leat: rows of order shuffled cannot be dealt by what attention costs: only those of order fit can
  [2]
  $ leat order --source a --seq-len 2 --skip 5:
  leat: --skip: "5:" is not A:B, the samples A to B - 1 (leat order --help shows how)
  [2]
  $ leat order --source a --seq-len 2 --at x:1
  leat: --at: "x:1" is not N:WEIGHTS or N:WEIGHTS:len=L, where N is the first sample of the change (leat order --help shows how)
  [2]
  $ leat order --source a --seq-len 2 --at 5:y
  leat: --at: the weight "y" is not a decimal number; write it like 3, 0.25 or 1e-9
  [2]
  $ leat order --seq-len 2 --source 'a
  > seed 4'
  leat: --source: a plan's text cannot hold a value with a newline in it (leat order --help shows how)
  [2]
  $ leat order --source a --seq-len 2 --base-len 4 --at 100:1
  leat: a phase cannot begin at sample 100: the one before it begins at 0 and shows blocks in 2 slices, 16 blocks at a time, so a change must come a multiple of 32 samples later; the nearest is sample 96
  [2]
  $ leat order --source nothing --seq-len 2
  leat: cannot open nothing.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ leat order --plan nothing.plan
  leat: cannot open nothing.plan: No such file or directory
  [1]
  $ : >empty.plan
  $ leat order --plan empty.plan
  leat: empty.plan, line 1: not a plan: it is empty; the program that wrote it may have failed
  [2]
  $ leat order --source a --seq-len 2 --at 96:1:len=6
  leat: the sequence length 6 does not divide the base length 2; set the base length to a common multiple of all lengths, as 6
  [2]
  $ leat order --source a --seq-len 2 --at 96:1:len=3
  leat: the sequence length 3 does not divide the base length 2; set the base length to a common multiple of all lengths
  [2]
  $ leat order --source a --seq-len 2 --split valid=0.01 --use train
  leat: unknown range "train" of the split, whose first is "valid"; name each range, as in train=0.99,valid=0.01
  [2]
  $ leat order --source a:1 --source b:2 --seq-len 2 --order megatron
  leat: the number of samples is missing: with weights, Megatron builds for a given number of samples (--samples N)
  [2]
  $ printf 'leat plan 1\nseq-len 2\nsoruce a\n' >wrong.plan
  $ leat order --plan wrong.plan
  leat: wrong.plan, line 3: unknown key "soruce"; a line of a plan starts with source, seq-len, base-len, seed, order, epochs, stop, split, use, at, skip, ban, samples, mid-level-dataset-surplus, max-per-row, min-length, max-length, cut-length, align, overlap, begin, whole, fit, where, repeat, chosen, max-tokens, max-rows, pool, stretch, mix, lanes or fim
  [2]
  $ leat order --source a --seq-len 100
  leat: a has a weight, but no block of 100 tokens and one more: it has 49 tokens in 1 dataset; use a shorter length, leave it out, or merge its datasets (leat merge)
  [2]
  $ leat order --source a --seq-len 40 --split t=.9,v=.1 --use v
  leat: a has a weight, but its range "v" of the split has no block of 40 tokens and one more: it has 0 tokens in 1 dataset; give the range a larger fraction than 0.1, or use a shorter length
  [2]
  $ leat order --source folder --seq-len 40 --split t=.9,v=.1 --use v
  leat: folder has a weight, but its range "v" of the split has no block of 40 tokens and one more: it has 0 tokens in 2 datasets; give the range a larger fraction than 0.1, use a shorter length, or merge its datasets (leat merge)
  [2]
  $ leat order --source a --seq-len 4 --print-plan --json
  leat: --json and --print-plan cannot be combined (leat order --help lists the options)
  [2]

A name may end as if with a weight: what is read does not depend on what exists, but the advice does.

  $ leat order --source x:2 --seq-len 2
  leat: cannot open x.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ leat order --source x:2:1 --seq-len 2
  leat: cannot open x.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ copy_dataset a colon:2
  $ leat order --source colon:2 --seq-len 2
  leat: cannot open colon.leat: No such file or directory; did you mean colon:2?; ":2" was read as a weight: the dataset colon:2 is written with a weight and a limit of epochs, such as colon:2:1:none
  [1]
  $ leat order --source colon:2:7 --seq-len 2
  leat: cannot open colon.leat: No such file or directory; did you mean colon:2?; ":2" was read as a weight: the dataset colon:2 is written with a weight and a limit of epochs, such as colon:2:1:none
  [1]
  $ leat order --source ./colon:2 --seq-len 2
  leat: cannot open ./colon.leat: No such file or directory; did you mean ./colon:2?; ":2" was read as a weight: the dataset ./colon:2 is written with a weight and a limit of epochs, such as ./colon:2:1:none
  [1]
  $ leat order --source a --seq-len 2 --count 5 >wanted
  $ leat order --source colon:2:1:none --seq-len 2 --count 5 | diff wanted -
  $ leat order --source ./colon:2:1:none --seq-len 2 --count 5 | diff wanted -

Values that do not fit into a line of a plan, numbers longer than any, and a plan that is larger than one can be:

  $ two_lines='x=1
  > y=2'
  $ leat order --source a --seq-len 4 --split "$two_lines" --use x
  leat: --split: a plan's text cannot hold a value with a newline in it (leat order --help shows how)
  [2]
  $ leat order --source a --seq-len 4 --at "$two_lines"
  leat: --at: a plan's text cannot hold a value with a newline in it (leat order --help shows how)
  [2]
  $ digits=$(printf '%070d' 5)
  $ leat order --source a --seq-len 4 --at "$digits:1"
  leat: --at: "0000000000000000000000000000000000000000000000000000000000000000000005:1" is not N:WEIGHTS or N:WEIGHTS:len=L, where N is the first sample of the change (leat order --help shows how)
  [2]
  $ leat cat a --tokens "$digits:6"
  leat: --tokens: "0000000000000000000000000000000000000000000000000000000000000000000005:6" is neither a number N nor a range A:B (leat cat --help lists the options)
  [2]
  $ truncate -s 67108865 large.plan
  $ leat order --plan large.plan
  leat: large.plan is not a plan: it is larger than 64 MiB
  [2]

Rules of order fit for one source take the place of the plan's. In a plan's text they are a line with its number.

  $ leat order --source numbers:3 --source folder --seq-len 20 --order fit --max-per-row 4 --fit 1:whole,max-per-row=1 --epochs 1 --print-plan | tee fit.plan
  leat plan 1
  seed 0
  seq-len 20
  base-len 20
  order fit
  epochs 1
  max-per-row 4
  source numbers:3
  source folder:1
  fit 1:max-per-row=1,whole=1
  $ leat order --plan fit.plan --count 5
        sample source       window     document          token    part
             0      0          153          163           3476       0
             1      0          144          154           3278       0
             2      1            3            4              5       1
             3      0          111          121           2552       0
             4      0          185          195           4180       0
  $ leat order --plan fit.plan --count 5 >one; leat order --source numbers:3 --source folder --seq-len 20 --order fit --max-per-row 4 --fit 1:max-per-row=1,whole=1 --epochs 1 --count 5 | diff one -
  $ leat trace --plan fit.plan --samples 0:2
        sample source     document              tokens input:byte id
             0      0          163                0:20 numbers.txt:3476 numbers.txt#163
             1      0          154                0:20 numbers.txt:3278 numbers.txt#154
  $ leat trace --plan fit.plan --document 1:3
        sample source       window  epoch     position
            14      1            2      0           14
  $ leat order --source numbers --seq-len 20 --order fit --fit 0:longest=3
  leat: --fit: unknown rule "longest"; the rules of a source are max-per-row, min-length, max-length, cut-length and whole
  [2]
  $ leat order --source numbers --seq-len 20 --order fit --fit 1:whole
  leat: --fit: no source 1: the plan has 1 up to here, numbered from 0
  [2]
  $ leat order --source numbers --seq-len 20 --fit 0:whole
  leat: whole is for rows of whole documents, but the plan's order is shuffled
  [2]
  $ leat order --plan fit.plan --fit 0:whole
  leat: --fit and --plan cannot both be given: write it in the plan, or give options only (leat order --help shows how)
  [2]

Stretches of a source are read one after another: 400 bytes are 4 rows of 50 tokens of 2 bytes, and the rows of 3
stretches are shuffled together.

  $ near='--source numbers --seq-len 50 --seed 9 --stretch 400 --mix 3'
  $ leat order $near --lanes 2 --print-plan
  leat plan 1
  seed 9
  seq-len 50
  base-len 50
  order shuffled
  stretch 400
  mix 3
  lanes 2
  source numbers:1
  $ leat order $near --count 24 | awk 'NR > 1 { print int($3 / 4) }' | sort -n | uniq -c
        4 0
        4 34
        4 48
        4 49
        4 51
        4 53
  $ leat order $near --lanes 2 --count 24 | awk 'NR > 1 && NR % 2 { print int($3 / 4) }' | sort -n | uniq -c
        4 34
        4 51
        4 53
  $ leat order $near --count 1 >one; leat order $near --print-plan >near.plan; leat order --plan near.plan --count 1 | diff one -
  $ leat order --source numbers --seq-len 50 --stretch 99
  leat: a stretch of 99 bytes is smaller than a row: 50 tokens of 2 bytes are 100 bytes
  [2]
  $ leat order --source numbers --seq-len 50 --stretch 1MiB
  leat: a stretch of 1048576 bytes is more than the largest source has: numbers has 217 rows of 100 bytes
  [2]
  $ leat order --source numbers --seq-len 50 --stretch 400
  leat: a mix of 64 stretches in each of 1 lane is more than the largest source has: numbers has 55 stretches; take a smaller mix, or smaller stretches
  [2]
  $ leat order --source numbers --seq-len 50 --stretch 4000 --mix 2 --lanes 20
  leat: a mix of 2 stretches in each of 20 lanes is more than the largest source has: numbers has 6 stretches; take a smaller mix, or smaller stretches
  [2]
  $ leat order --source numbers --seq-len 50 --stretch 400 --mix 0
  leat: --mix: "0" is too small; the minimum is 1 (leat order --help lists the options)
  [2]
  $ sed 's/mix 3/mix 0/' near.plan >zero.plan; leat order --plan zero.plan
  leat: zero.plan, line 7: mix must be at least 1
  [2]
  $ leat order --source numbers --seq-len 50 --mix 3
  leat: mix needs stretch
  [2]
  $ leat order --source numbers --seq-len 50 --stretch 400 --order sequential
  leat: stretch is for the order shuffled, but the plan's order is sequential
  [2]
  $ leat order --plan near.plan --stretch 400
  leat: --stretch and --plan cannot both be given: write it in the plan, or give options only (leat order --help shows how)
  [2]

How random batches are, beside those of a full shuffle; and rows that are dealt by lanes.

  $ leat order $near --locality-report
  leat: the plan has less than one batch of 256 rows
  [2]
  $ leat order --source numbers --seq-len 8 --seed 9 --stretch 400 --mix 3 --locality-report
  Batches of 256 rows                                       this plan     shuffled
    thousandths of the sources that one shows                  197.40       245.60
    unevenness over 64 parts (chi-square; 1: by chance)         11.57         0.75
    rows whose document another row of it shows, %              91.41        28.83
    what the batch says of a row's part, bits                    1.74         0.14
  Batches of 1,024 rows                                     this plan     shuffled
    thousandths of the sources that one shows                  759.00       815.00
    unevenness over 64 parts (chi-square; 1: by chance)          3.74         0.29
    rows whose document another row of it shows, %              98.54        89.36
    what the batch says of a row's part, bits                    0.00         0.00
  $ leat order --source numbers --seq-len 50 --order fit --locality-report
  leat: a report on locality is of windows, not of order fit
  [2]
  $ leat order $near --lanes 2 --batch 8 --rank 1 --world 2 --balance lanes --count 16
        sample source       window     document          token
             1      0          207          475          10350
             3      0          205          470          10250
             5      0          213          489          10650
             7      0          136          314           6800
             9      0          206          473          10300
            11      0          214          491          10700
            13      0          212          486          10600
            15      0          139          320           6950
  $ leat order $near --lanes 2 --batch 9 --rank 1 --world 3 --balance lanes --count 16
  leat: the plan's 2 lanes cannot be dealt to 3 ranks: give the plan as many lanes as ranks, or a multiple
  [2]
