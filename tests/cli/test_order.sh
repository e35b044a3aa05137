#!/bin/sh
# test_order.sh: leat order: what it prints of a small plan, as lines and as JSON, of all ranks and of one; the plan's
# text, which reads back; skips and ends; and what is refused.
. tests/cli/cli.sh

write_numbered numbers
write_three
mkdir folder
copy_dataset a folder/a
copy_dataset b folder/b

# ---- Lines ----------------------------------------------------------------------------------------------------------

try 0 '' leat order --source numbers --seq-len 100 --order sequential --count 3 <<'END'
      sample source       window     document          token
           0      0            0            0              0
           1      0            1            5            100
           2      0            2           10            200
END
# the number of the dataset, if some source has several
try 0 '' leat order --source numbers --source folder:1 --seq-len 4 --order sequential --count 4 <<'END'
      sample source       window     document          token    part
           0      1            0            0              0       0
           1      0            0            0              0       0
           2      1            1            0              4       0
           3      0            1            0              4       0
END
try 0 '' leat order --source numbers:1 --source folder:3:1 --seq-len 4 --seed 3 --from 7 --count 1 --json <<'END'
{"n": 7, "source": 1, "window": 8, "document": 1, "offset": 32, "part": 0, "epoch": 0, "length": 4, @
"pieces": [{"source": 1, "part": 0, "token": 32, "count": 5, "at": 0, "document": 1}]}
END
try 0 '' rows leat order --source numbers --seq-len 2Ki --epochs 1 --order sequential <<'END'
0 0 0 0 0
1 0 1 98 2048
2 0 2 191 4096
3 0 3 284 6144
4 0 4 377 8192
END
# tokens per row: 2K packed rows of 2000 without a word
refuse 0 '2000 2Ki 2048' leat order --source numbers --seq-len 2K --count 0
refuse 0 '3Ki 1.5Ki' leat order --source numbers --seq-len 1.5K --base-len 3K --at 32:1:len=1K --count 0
refuse 2 '4096 3Mi' leat fit --report numbers --seq-len 64,4K,2Ki,3M --seq-len 0
refuse 0 '5' leat order --source numbers --seq-len 2Ki --epochs 1 --from 5
refuse 0 '1,000' leat order --source numbers --seq-len 2Ki --epochs 1 --from 1000
try 0 '' leat order --source numbers --seq-len 2Ki --epochs 1 --from 5 --count 0 </dev/null
# it printed nothing
refuse 0 '--count' leat order --source numbers --seq-len 2Ki --epochs 1 --skip 1:100 --from 2
refuse 0 '--count' leat order --source numbers --seq-len 2Ki --epochs 1 --count 1 --batch 4 --rank 1 --world 2
try 0 '' rows leat order --source numbers --seq-len 100 --order sequential --count 4 --skip 1:3 <<'END'
0 0 0 0 0
3 0 3 14 300
END

# The rows of two ranks are those of one, and a skip shifts them.
all='--source numbers --seq-len 50 --seed 9 --skip 3:4 --count 41'
# words
# shellcheck disable=SC2086
{
    rows leat order $all >together
    rows leat order $all --batch 4 --rank 0 --world 2 >rank0
    rows leat order $all --batch 4 --rank 1 --world 2 >rank1
}
awk 'int((NR - 1) % 4 / 2) == 0' together | diff - rank0 || fail "rank 0 has other rows"
awk 'int((NR - 1) % 4 / 2) == 1' together | diff - rank1 || fail "rank 1 has other rows"
[ "$(wc -l <together)" -eq 40 ] || fail "41 samples but a skipped one are not 40"

# ---- Which length for rows of whole documents -----------------------------------------------------------------------

try 0 '' leat order --source numbers --source folder --fit-report 16,1Ki <<'END'
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
END
try 0 '' leat order --source folder --fit-report 4 --json <<'END'
{"documents": 5, "predictions": 54, "empty": 0, "left_out": 0, "unused": 0, @
"lengths": [{"length": 4, "rows": 14, "full_rows": 12, "pieces": 15, @
"max_pieces": 2, "patterns": 2, "padding": 2, "context": 0, "documents_cut": 3, "lost_context": 34, @
"windows": {"rows": 14, "documents_cut": 4, "lost_context": 38}}]}
END
try 0 '' leat fit --report folder --seq-len 4 --json <<'END'
{"documents": 5, "predictions": 54, "empty": 0, "left_out": 0, "unused": 0, @
"lengths": [{"length": 4, "rows": 14, "full_rows": 12, "pieces": 15, @
"max_pieces": 2, "patterns": 2, "padding": 2, "context": 0, "documents_cut": 3, "lost_context": 34, @
"windows": {"rows": 14, "documents_cut": 4, "lost_context": 38}}]}
END
refuse 2 '--report --seq-len fit' leat fit --report folder
refuse 1 'none.leat' leat fit none
refuse 2 '--fit-report 4,0 2^24' leat order --source a --fit-report 4,0
refuse 2 '--fit-report 12 1.5K 64Ki' leat order --source a --fit-report 4,

lengths=$(seq -s , 17)
refuse 2 "--fit-report $lengths 16" leat order --source a --fit-report "$lengths"
try 0 '' leat order --source folder --fit-report 4 --overlap 1 --cut-length 9 <<'END'
5 documents, 29 predictions (tokens with a next one in their document)
not used: 0 documents, 25 predictions of these and cut off

              rows of whole documents (--order fit)                           windows
     length         rows pieces/row patterns     padding docs cut no context         rows docs cut no context
          4            9       1.11        2    5.5556 %   60.0 %     31.0 %           14   80.0 %     70.4 %
          4  shown again, as context: 13.9 % of all places

no context: predictions whose row does not have the beginning of their document
          4  fit      31.0 % ############
             windows  70.4 % ############################
END
run leat order --source folder --fit-report "${lengths%,*}"
[ "$(grep -c ' windows .* %' "$printed")" -eq 16 ] || fail "$ran: $(cat "$printed" "$said")"

# ---- The plan as text -----------------------------------------------------------------------------------------------

try 0 '' leat order --source numbers:.50 --source a:1:2 --source folder:0 --seq-len 2 --base-len 8 --seed 1K \
    --at 1Ki:0.5,0,1e-1:len=4 --at 1088:1 --skip 1K:1.5K --skip 7:9 --epochs 3 --print-plan <<'END'
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
END
cp "$printed" run.plan
run leat order --plan run.plan --print-plan
diff run.plan "$printed" || fail "the plan's text does not read back"
leat order --source numbers:.50 --source a:1:2 --source folder:0 --seq-len 2 --base-len 8 --seed 1K \
    --at 1Ki:0.5,0,1e-1:len=4 --at 1088:1 --skip 1K:1.5K --skip 7:9 --epochs 3 --count 2000 >by_options
leat order --plan run.plan --count 2000 | diff by_options - || fail "text and options are other plans"
# Skips may be added to a plan's text, whether its last line ends or not; printed, it is one plan.
printf '%s' "$(cat run.plan)" >cut.plan
for plan in run cut; do
    run leat order --plan $plan.plan --skip 20:30 --skip 4K:5K --print-plan
    ended 0 ''
    sort "$printed" >sorted
    (cat run.plan && echo 'skip 20:30' && echo 'skip 4000:5000') | sort | diff - sorted ||
        fail "skips beside $plan.plan are not in the plan that is printed"
done
leat order --plan run.plan --skip 100:1000 --count 150 >skipped
awk 'NR == 1 || $1 < 100' by_options | diff skipped - || fail "--skip beside --plan leaves out other samples"
# So may an end, to a plan that has none.
for plan in run cut; do
    grep -v '^epochs' $plan.plan >endless.plan
    [ $plan = run ] || printf '%s' "$(cat endless.plan)" >endless.plan
    run leat order --plan endless.plan --epochs 3 --print-plan
    ended 0 ''
    diff run.plan "$printed" || fail "--epochs beside a plan is another plan than with it"
done
# A file of changes, such as a mixture's log: the plan is the one that has them from the start.
printf 'leat changes 1\nat 512:1,,3\nsource a:2:none\nat 1024::len=8\nat 2048:,0\n' >run.changes
(grep -v '^at' run.plan | sed 's/^source folder:0$/&\nsource a:0/' | grep -v '^skip'
 printf 'at 512:1,1,3\nat 1024:1,1,3,2:len=8\nat 2048:1,0,3,2\n'
 grep '^skip' run.plan) >changed.plan
run leat order --plan run.plan --change run.changes --print-plan
ended 0 ''
diff changed.plan "$printed" || fail "the changes made another plan"
leat order --plan changed.plan --from 400 --count 2000 >by_plan
leat order --plan run.plan --change run.changes --from 400 --count 2000 | diff by_plan - ||
    fail "changes and phases are other samples"
printf 'leat changes 1\nat 500:1\n' >wrong.changes
refuse 2 'a phase cannot begin at sample 500' leat order --plan run.plan --change wrong.changes
printf 'leat changes 1\nat 512:1,2,3,4\n' >wrong.changes
refuse 2 'wrong.changes, line 2: the change at sample 512 has more weights' leat order --plan run.plan \
    --change wrong.changes
refuse 1 'no.changes' leat order --plan run.plan --change no.changes

try 0 '' leat order --source numbers --seq-len 8 --split train=0.99,valid=0.01 --use valid --print-plan <<'END'
leat plan 1
seed 0
seq-len 8
base-len 8
order shuffled
split train=0.99,valid=0.01
use valid
source numbers:1
END

# a document's start that lies: no sample is told with a document that may be another
copy_dataset numbers damaged
spoil_section damaged.leat 1 80
refuse 3 'damaged.leat 10 9114861777597660798' leat order --source damaged --seq-len 100 --order sequential

# ---- Refused --------------------------------------------------------------------------------------------------------

refuse 2 '--source --seq-len --plan' leat order
refuse 2 '--seq-len --plan' leat order --source a
refuse 2 '--seed --plan' leat order --plan run.plan --seed 3
refuse 2 'run.plan 15 --epochs' leat order --plan run.plan --epochs 2
refuse 2 '--skip 5:' leat order --plan run.plan --skip 5:
(cd folder && refuse 1 'numbers.leat ../run.plan' leat order --plan ../run.plan && finish) || failures=1
refuse 1 'numbers:x.leat 0.25' leat order --source numbers:x --seq-len 2
refuse 2 '--rank --batch' leat order --plan run.plan --rank 0 --world 2
refuse 2 '--batch --world --source --seq-len --plan' leat order --rank 0
refuse 2 '--rank 5 2 4' leat order --plan run.plan --batch 5 --rank 0 --world 2
refuse 2 '--balance --rank --world' leat order --plan run.plan --balance attention
refuse 2 'shuffled dealt fit' leat order --plan run.plan --batch 4 --rank 0 --world 2 --balance attention
refuse 2 '--skip 5:' leat order --source a --seq-len 2 --skip 5:
refuse 2 '--at x:1' leat order --source a --seq-len 2 --at x:1
refuse 2 '--at 0.25 1e-9' leat order --source a --seq-len 2 --at 5:y
refuse 2 '--source' leat order --seq-len 2 --source 'a
seed 4'
refuse 2 '100 16 32 96' leat order --source a --seq-len 2 --base-len 4 --at 100:1
refuse 1 'nothing.leat' leat order --source nothing --seq-len 2
refuse 1 'nothing.plan' leat order --plan nothing.plan
: >empty.plan
refuse 2 'empty.plan' leat order --plan empty.plan
refuse 2 '6 2' leat order --source a --seq-len 2 --at 96:1:len=6
refuse 2 '3 2' leat order --source a --seq-len 2 --at 96:1:len=3
refuse 2 'train train=0.99,valid=0.01' leat order --source a --seq-len 2 --split valid=0.01 --use train
printf 'leat plan 1\nseq-len 2\nsoruce a\n' >wrong.plan
missing='the number of samples is missing: with weights, Megatron builds for a given number of samples'
refuse 2 "$missing --samples" leat order --source a:1 --source b:2 --seq-len 2 --order megatron
# a name that ends as if with a weight: what is read does not depend on what exists, but the advice does
for given in x:2 x:2:1; do
    refuse 1 'x.leat' leat order --source "$given" --seq-len 2
done
mkdir colon && cd colon || exit 1
copy_dataset ../a a:2
for given in a:2 a:2:7 ./a:2; do
    name=${given%:7}
    [ "$given" = ./a:2 ] && there=./ || there='this folder'
    refuse 1 "${name%:2}.leat $there :2 $name" leat order --source "$given" --seq-len 2
    leat order --source "$name:1:none" --seq-len 2 --count 5 >"$printed" || fail "$name:1:none does not open"
    leat order --source ../a --seq-len 2 --count 5 | cmp - "$printed" || fail "$name:1:none is another dataset"
done
cd ..
refuse 2 'wrong.plan' leat order --plan wrong.plan
refuse 2 '100 49' leat order --source a --seq-len 100
refuse 2 '40 0.1' leat order --source a --seq-len 40 --split t=.9,v=.1 --use v
refuse 2 'folder 40 0.1' leat order --source folder --seq-len 40 --split t=.9,v=.1 --use v

# Values that do not fit into a line of a plan, numbers longer than any, a plan that is larger than one can be.
told() { # WORDS COMMAND...: it is refused with these among its words
    words=$1
    shift
    run "$@"
    [ "$code" -eq 2 ] || fail "$ran: exit code $code, not 2"
    grep -qF -- "$words" "$said" || fail "$ran: said $(cat "$said"), without $words"
}
two_lines='x=1
y=2'
digits=$(printf '%070d' 5)
told 'newline' leat order --source a --seq-len 4 --split "$two_lines" --use x
told 'newline' leat order --source a --seq-len 4 --at "$two_lines"
told "$digits" leat order --source a --seq-len 4 --at "$digits:1"
told "$digits" leat cat a --tokens "$digits:6"
truncate -s 67108865 large.plan
told 'large.plan is not a plan: it is larger than 64 MiB' leat order --plan large.plan

run leat order --source a --seq-len 4 --print-plan --json
says 2 'leat: --print-plan and --json cannot be combined' # --json was ignored
finish
