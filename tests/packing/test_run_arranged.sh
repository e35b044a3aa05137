#!/bin/sh
# test_run_arranged.sh: a run in a folder whose parts are split as they are packed, and deduplicated and shuffled when
# they are merged: each part goes once and waits for no other, and merged they have the bytes of one run. --dedup and
# --shuffle with --run are refused with the line that does it, which is tried here word by word.
. tests/cli/cli.sh

awk 'BEGIN { srand(7); for (n = 0; n < 900; n++)
    printf "{\"text\":\"text %d\",\"k\":\"%d\"}\n", rand() * 600, n % 3 }' >in.jsonl
unset SLURM_ARRAY_TASK_ID

same() { # DATASET REFERENCE
    { cmp "$1.tokens" "$2.tokens" && cmp "$1.leat" "$2.leat"; } || fail "$1 has other bytes than $2"
}
joined() { # FOLDER SPLITS...: they have the bytes of the one run
    folder=$1
    shift
    rm -f all.*
    for name in '' "$@"; do
        leat merge -o "all${name:+.$name}" "$folder/$name" >"$printed" || fail "cannot merge $folder/$name"
        same "all${name:+.$name}" "one${name:+.$name}"
    done
}
pack_one() { # OPTIONS... INPUT
    rm -f one.*
    leat pack -o one -t bytes "$@" >"$printed" || fail "cannot pack with $*"
}
pack_parts() { # RUN PARTS...
    folder=$1
    shift
    for part in "$@"; do
        run leat pack --run "$folder" --part "$part"
        ended 0 ''
    done
}

# ---- Split by its parts ---------------------------------------------------------------------------------------------

pack_one --split valid=0.2,test=0.1 in.jsonl
leat pack --run split --parts 3 -t bytes --split valid=0.2,test=0.1 in.jsonl >"$printed" || fail "cannot plan"
pack_parts split 1
grep -q "^$(pwd -P)/split/valid/part-1: .* tokens in .* documents\.$" "$printed" || fail "$ran: $(cat "$printed")"
[ "$(leat status split --left)" = 2-3 ] || fail "left are $(leat status split --left), not 2-3"
leat status split | grep -q ' 1 done, 2 missing\.$' || fail "$(leat status split)"
if leat status split --json | grep -q waiting; then fail "a part waits: $(leat status split --json)"; fi
run leat merge -o all split
says 1 'of its 3 parts, 2-3 are not done'
run leat info split/valid
says 1 'the run in the folder split/valid is not finished: 1 of its 3 parts are there'
leat pack --run split --part 3 --json >"$printed" 2>"$said"
code=$? ran="part 3"
ended 0 ''
grep -qF "\"splits\": [{\"output\": \"$(pwd -P)/split/valid/part-3\", \"documents\": " "$printed" ||
    fail "$ran: printed $(cat "$printed")"
pack_parts split 2
joined split valid test
run leat pack --run split --part 2
ended 0 ''
grep -q 'part-2 is finished already: ' "$printed" || fail "$ran: printed $(cat "$printed")"
[ "$(find split -name '*partial*')" = '' ] || fail "left: $(find split)"

# one part alone, whose second step found another dataset than its own once
leat pack --run alone --parts 1 -t bytes --split valid=0.2,test=0.1 in.jsonl >"$printed" || fail "cannot plan"
pack_parts alone 1 1
grep -q 'part-1 is finished already: ' "$printed" || fail "$ran: printed $(cat "$printed")"
joined alone valid test

# as if part 3 was killed when only its splits had their names; a part that is lost; one that is packed anew
rm split/part-3.* split/test/part-1.* split/part-1.*
pack_parts split 3 1
joined split valid test
run leat pack --run split --part 1 --force
ended 0 ''
joined split valid test
run leat pack --run split --part 2 --split other=0.1
says 2 '--split belongs to the plan of a run: all parts share it'

# ---- A reject is counted once, and listed beside its part -----------------------------------------------------------

cp in.jsonl in2.jsonl
printf '{"text":"no text\n' >>in2.jsonl
pack_one --split valid=0.2 --max-rejects 1 in2.jsonl
leat pack --run bad --parts 2 -t bytes --split valid=0.2 --max-rejects 1 in2.jsonl >"$printed" || fail "cannot plan"
pack_parts bad 1 2
joined bad valid
[ "$(find bad -name '*.rejects.jsonl')" = bad/part-2.rejects.jsonl ] || fail "rejects are in $(find bad)"
leat info bad --json >listed
[ "$(grep -o '"rejects": [1-9][0-9]*' listed)" = '"rejects": 1' ] || fail "$(cat listed)"
leat pack --run bad --part 2 --json >"$printed" || fail "a part that is finished"
grep -q '"was_finished": true, .*"rejected": 1,' "$printed" || fail "of part 2 that is finished: $(cat "$printed")"

# ---- Deduplicated and shuffled by the merge: the line that is said ---------------------------------------------------

refused() { # OPTIONS...: with --run; the line is tried on parts that are packed without them
    pack_one "$@" in.jsonl
    run leat pack --run 'my run' --parts 3 -t bytes "$@" in.jsonl
    says 2 'when all parts are packed, this does it: leat merge -o OUT '
    [ ! -e 'my run' ] || fail "$ran: made a folder"
    sed -n 's/.*this does it: //p' "$said" >line
    leat pack --run 'my run' --parts 3 -t bytes in.jsonl >"$printed" || fail "cannot plan"
    pack_parts 'my run' 3 1 2
    rm -f OUT.*
    sh -e line >"$printed" || fail "cannot run $(cat line)"
    rm -r 'my run'
}
refused --dedup
[ "$(cat line)" = "leat merge -o OUT 'my run' --dedup" ] || fail "said $(cat line)"
same OUT one
refused --shuffle 5
same OUT one
refused --dedup --shuffle 12345678901234567890 --split valid=0.2,test=0.1
for name in '' .valid .test; do same "OUT$name" "one$name"; done

# of parts that are split, each split is merged; with small pieces, in little memory
small=$build/tiny/leat
[ -x "$small" ] || small=leat
leat pack --run later --parts 4 -t bytes --split valid=0.2,test=0.1 in.jsonl >"$printed" || fail "cannot plan"
pack_parts later 2 4 1 3
rm -f all.*
for name in '' .valid .test; do
    "$small" merge -o "all$name" "later/${name#.}" --dedup --shuffle 12345678901234567890 --memory 64KiB \
        >"$printed" || fail "cannot merge later/${name#.}"
    same "all$name" "one$name"
done

# of parts that are divided by values
leat pack -o by -t bytes --by k --dedup --shuffle 3 in.jsonl >"$printed" || fail "cannot pack"
run leat pack --run values --parts 2 -t bytes --by k --dedup in.jsonl
says 2 'this does it: leat merge -o OUT values --dedup'
leat pack --run values --parts 2 -t bytes --by k in.jsonl >"$printed" || fail "cannot plan"
pack_parts values 1 2
leat merge -o byall values --dedup --shuffle 3 >"$printed" || fail "cannot merge"
for value in 0 1 2; do same "byall.$value" "by.$value"; done

# ---- What cannot be -------------------------------------------------------------------------------------------------

while IFS='|' read -r words message; do
    # shellcheck disable=SC2086 # several words
    run leat pack $words in.jsonl
    says 2 "$message"
done <<'TABLE'
--run split --part 1 --dedup|this does it: leat merge -o OUT split --dedup
--run new --parts 2 -t bytes --by k --split a=0.1|the documents of each value are split alone
--run new --parts 2 -t bytes --split packed/x=0.1|invalid split name "packed/x"
--run new --parts 2 -t bytes --split leat-run=0.1|no split of a run is called leat-run or part-...
--run new --parts 2 -t bytes --split a=0.1,part-1=0.1|no split of a run is called leat-run or part-...
--part 1/2 -o part -t bytes --dedup|shuffling, deduplicating and splitting need the whole run
--part 1/2 -o part -t bytes --split a=0.1|shuffling, deduplicating and splitting need the whole run
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
