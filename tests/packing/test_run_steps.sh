#!/bin/sh
# test_run_steps.sh: a run in a folder that is deduplicated, split and shuffled: its parts come about in steps, each
# when all parts have done the one before, and merged they have the bytes of one run. What a killed process left is no
# obstacle; leat status says who waits, and when nobody has to any more.
. tests/cli/cli.sh

awk 'BEGIN { srand(7); for (n = 0; n < 900; n++) printf "{\"text\":\"text %d\"}\n", rand() * 600 }' >in.jsonl
unset SLURM_ARRAY_TASK_ID
options='-t bytes --dedup --split valid=0.2,test=0.1'
# shellcheck disable=SC2086 # several words
leat pack -o one $options in.jsonl >"$printed" || fail "cannot pack"
# shellcheck disable=SC2086 # several words
leat pack --run run --parts 3 $options in.jsonl >"$printed" || fail "cannot plan"

left() { # NUMBERS
    [ "$(leat status run --left)" = "$1" ] || fail "left are $(leat status run --left), not $1"
}
joined() { # FOLDER SPLITS...: they have the bytes of the one run
    folder=$1
    shift
    for name in '' "$@"; do
        leat merge --force -o "all${name:+.$name}" "$folder/$name" >"$printed" || fail "cannot merge $folder/$name"
        { cmp "one${name:+.$name}.tokens" "all${name:+.$name}.tokens" &&
            cmp "one${name:+.$name}.leat" "all${name:+.$name}.leat"; } || fail "$folder/$name has other bytes"
    done
}

# ---- Packed, and waiting --------------------------------------------------------------------------------------------

run leat pack --run run --part 1
ended 0 ''
grep -q '^Part 1 is packed\. When all parts are (leat status ' "$printed" || fail "$ran: printed $(cat "$printed")"
left 2-3 # nothing is to be done for part 1 now
run leat pack --run run --part 1 --force # once it was ignored
says 1 'part 1 of the run in '
says 1 'is packed, and others may have read it: leave --force out'
leat status run | grep -q '^      1  waiting ' || fail "$(leat status run)"
leat status run | grep -q '^      1  waiting .*  until all parts are as far$' || fail "$(leat status run)"
run leat pack --run run --part 1 # again, as of a job that is queued again
ended 0 ''
left 2-3
run leat merge -o all run
says 1 'of its 3 parts, 1-3 are not done'
run leat info run/valid
says 1 'the run in the folder run/valid is not finished: 0 of its 3 parts are there'
for part in 2 3; do
    leat pack --run run --part $part --json >"$printed" 2>"$said"
    code=$? ran="part $part"
    ended 0 ''
    [ "$(grep -c '"was_finished": false' "$printed")" -eq 1 ] || fail "$ran: printed $(cat "$printed")"
done
left 1-3
leat status run --json | grep -qF '"running": 0, "waiting": 3,' || fail "$(leat status run --json)"
leat status run | grep -qF 'about 99 % of the run' || fail "all is packed, and steps are left: $(leat status run)"
leat status run | grep -q '^      1  waiting .* 100\.0 %' || fail "a part that is packed: $(leat status run)"

# ---- Compared -------------------------------------------------------------------------------------------------------

: >run/packed/part-2.same.partial # of a process that was killed
for part in 1 2; do
    run leat pack --run run --part $part
    ended 0 ''
    grep -q "^Part $part is compared\. When all" "$printed" || fail "$ran: printed $(cat "$printed")"
done
left 3
mkdir run/packed/part-3.same.partial # in the way: no damage, of which to say what to remove
run leat pack --run run --part 3
says 1 'run/packed/part-3.same.partial'
if grep -q 'pack .* again' "$said"; then fail "$ran: said $(cat "$said")"; fi
rmdir run/packed/part-3.same.partial
run leat pack --run run --part 3 --json
ended 0 ''
grep -q '"part": 3, "step": "compared"}$' "$printed" || fail "$ran: printed $(cat "$printed")"
left 1-3

# ---- Written --------------------------------------------------------------------------------------------------------

for part in 1 2; do
    run leat pack --run run --part $part
    ended 0 ''
done
left 3
# as if part 3 was killed when only its splits had their names
mkdir kept && cp -r run kept/run
run leat pack --run run --part 3 --json
ended 0 ''
grep -qF '"splits": [{"name": "valid", "output": "' "$printed" || fail "$ran: printed $(cat "$printed")"
joined run valid test
[ ! -e run/packed ] || fail "needed no more: $(ls run/packed)"
cp run/valid/part-3.* kept/run/valid
leat pack --run kept/run --part 3 >"$printed" || fail "part 3 cannot be written again"
joined kept/run valid test
run leat pack --run run --part 3
ended 0 ''
grep -q 'part-3 is finished already: ' "$printed" || fail "$ran: printed $(cat "$printed")"
run leat pack --run run --part 3 --json
tokens=$(leat info run/part-3 --json | sed 's/.*"documents": \([0-9]*\), "tokens": \([0-9]*\).*/\1, "tokens": \2/')
echo "{\"output\": \"$(pwd -P)/run/part-3\", \"was_finished\": true, \"documents\": $tokens}" | diff - "$printed" ||
    fail "$ran: printed $(cat "$printed")"

# ---- Lost when it was finished --------------------------------------------------------------------------------------

# it once could not be packed again, for want of run/packed, and waited for ever after that was made
rm run/part-2.leat run/part-2.tokens
run leat pack --run run --part 2
says 1 'part 2 of the run in '
says 1 'remove all part-* of the run, and pack all parts again'
leat status run | grep -q '^      2  failed .*finished once and is lost' || fail "$(leat status run)"
rm run/part-*
for step in packed compared written; do
    for part in 1 2 3; do
        run leat pack --run run --part $part
        ended 0 ''
        [ $step = written ] || grep -q "^Part $part is $step\. " "$printed" || fail "$ran: $(cat "$printed")"
    done
done
joined run valid test
[ ! -e run/packed ] || fail "needed no more: $(ls run/packed)"

# ---- Without --dedup no part waits for another ----------------------------------------------------------------------

leat pack -o one --force -t bytes --split valid=0.2 in.jsonl >"$printed" || fail "cannot pack"
leat pack --run split --parts 2 -t bytes --split valid=0.2 in.jsonl >"$printed" || fail "cannot plan"
for part in 2 1; do
    run leat pack --run split --part $part
    ended 0 ''
done
joined split valid
run leat pack --run split --part 2 --force
says 1 'is packed, and others may have read it'
rm split/part-2.leat split/part-2.tokens # no part needs another: it is made again
run leat pack --run split --part 2
ended 0 ''
joined split valid

# ---- Deduplicated in parts, shuffled when they are merged -----------------------------------------------------------

leat pack -o one --force -t bytes --dedup --shuffle 5 in.jsonl >"$printed" || fail "cannot pack"
leat pack --run order --parts 2 -t bytes --dedup in.jsonl >"$printed" || fail "cannot plan"
for part in 1 2 1 2 1 2; do
    leat pack --run order --part $part >"$printed" || fail "cannot pack part $part"
done
leat merge --force --shuffle 5 -o all order >"$printed" || fail "cannot merge"
{ cmp one.tokens all.tokens && cmp one.leat all.leat; } || fail "shuffled when merging: other bytes"

# ---- Shuffled in parts ----------------------------------------------------------------------------------------------

sort -R --random-source=one.tokens in.jsonl >in2.jsonl
printf '{"text":"no text\n' >>in2.jsonl # a reject, which only one part counts
leat pack -o one --force -t bytes --shuffle 5 --max-rejects 1 in.jsonl in2.jsonl >"$printed" || fail "cannot pack"
leat pack --run mixed --parts 4 -t bytes --shuffle 5 --max-rejects 1 in.jsonl in2.jsonl >"$printed" ||
    fail "cannot plan"
for part in 1 2 3; do
    run leat pack --run mixed --part $part
    ended 0 ''
    grep -q "^Part $part is packed\. When all parts are .* sends each document to the part" "$printed" ||
        fail "$ran: printed $(cat "$printed")"
done
leat status mixed | grep -q '^      1  waiting .*  until all parts are as far$' || fail "$(leat status mixed)"
[ "$(leat status mixed --left)" = 4 ] || fail "left are $(leat status mixed --left), not 4"
for part in 4 1 2 3; do
    leat pack --run mixed --part $part --json >"$printed" 2>"$said"
    code=$? ran="part $part"
    ended 0 ''
done
grep -q '"part": 3, "step": "scattered"}$' "$printed" || fail "$ran: printed $(cat "$printed")"
run leat pack --run mixed --part 1
ended 0 '' # waits for part 4, which was packed alone in the first round
[ ! -e mixed/packed/part-1.tokens ] || fail "tokens are kept that are not needed: $(ls mixed/packed)"
for part in 4 1; do
    run leat pack --run mixed --part $part
    ended 0 ''
done
# a part that is lost can be made again, as long as others are not finished
rm mixed/part-1.leat
for part in 1 2 3 4; do
    leat pack --run mixed --part $part --json >"$printed" 2>"$said"
    code=$? ran="part $part"
    ended 0 ''
    grep -qF '"output": "' "$printed" || fail "$ran: printed $(cat "$printed")"
done
joined mixed
[ "$(ls mixed/packed)" = part-4.rejects.jsonl ] || fail "needed no more: $(ls mixed/packed)"
leat info mixed --json >listed # a reject is counted once, not in each part
[ "$(grep -o '"rejects": [1-9][0-9]*' listed)" = '"rejects": 1' ] || fail "$(cat listed)"
leat merge -o half mixed/part-1 mixed/part-2 >"$printed" || fail "cannot merge two of the parts"
leat merge --force -o all half mixed/part-3 mixed/part-4 >"$printed" || fail "cannot merge in two steps"
{ cmp one.tokens all.tokens && cmp one.leat all.leat; } || fail "merged in two steps: other bytes"
run leat merge --force -o all mixed/part-1 mixed/part-3
says 1 'share 2/4 is missing between'

# with all that there is: five rounds, in small pieces
small=$build/tiny/leat
[ -x "$small" ] || small=leat
options="$options --shuffle 9"
# shellcheck disable=SC2086 # several words
leat pack -o one --force $options --memory 256MiB in.jsonl in.jsonl >"$printed" || fail "cannot pack"
# shellcheck disable=SC2086 # several words
leat pack --run five --parts 3 $options in.jsonl in.jsonl >"$printed" || fail "cannot plan"
for step in packed compared counted scattered written; do
    for part in 3 1 2; do
        run "$small" pack --run five --part $part
        ended 0 ''
        [ $step = written ] || grep -q "^Part $part is $step\. " "$printed" || fail "$ran: $(cat "$printed")"
    done
done
joined five valid test
[ ! -e five/packed ] || fail "needed no more: $(ls five/packed)"
rm five/part-2.*
run leat pack --run five --part 2
says 1 'part 2 of the run in '
says 1 'remove all part-* of the run, and pack all parts again'

# ---- More parts than documents --------------------------------------------------------------------------------------

head -n 5 in.jsonl >few.jsonl
leat pack -o one --force -t bytes --shuffle 5 few.jsonl >"$printed" || fail "cannot pack"
leat pack --run few --parts 12 -t bytes --shuffle 5 --threads 1 few.jsonl >"$printed" || fail "cannot plan"
for round in 1 2 3; do
    for part in 1 2 3 4 5 6 7 8 9 10 11 12; do
        leat pack --run few --part $part >"$printed" || fail "round $round: cannot pack part $part"
    done
done
joined few
leat merge --in-place -o placed few >"$printed" || fail "cannot join in place what was shuffled in parts"
{ cmp one.tokens placed.tokens && cmp one.leat placed.leat; } || fail "shuffled, and joined in place: other bytes"

# ---- What cannot be -------------------------------------------------------------------------------------------------

while IFS='|' read -r words message; do
    # shellcheck disable=SC2086 # several words
    run leat pack $words in.jsonl
    says 2 "$message"
done <<'TABLE'
--run order --part 1 --split a=0.1|--dedup, --split and --shuffle are for the plan of a run
--run new --parts 2 -t bytes --by id --shuffle 1|values are shuffled, deduplicated and split each alone
--run new --parts 2 -t bytes --by id --dedup|values are shuffled, deduplicated and split each alone
--run new --parts 2 -t bytes --split packed=0.1|invalid split name "packed"
--run new --parts 2 -t bytes --split leat-run=0.1|no split of a run is called leat-run or part-...
--run new --parts 2 -t bytes --split a=0.1,part-1=0.1|no split of a run is called leat-run or part-...
TABLE

# What has the name of a plan, and is no file.
mkdir -p odd/leat-run pipe
mkfifo pipe/leat-run
for folder in odd pipe; do
    run leat status $folder
    says 1 "$folder is not the folder of a run"
    run leat pack --run $folder --part 1
    says 1 "$folder is not the folder of a run"
    run leat pack --run $folder --parts 2 -t bytes in.jsonl
    says 1 "$folder/leat-run"
done
finish
