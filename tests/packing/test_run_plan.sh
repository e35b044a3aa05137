#!/bin/sh
# test_run_plan.sh: the plan of a run keeps each word as it is, whatever it is made of. A plan that is not one, or that
# another version wrote, is refused by all who read it; so is a folder that cannot be made.
. tests/cli/cli.sh

unset SLURM_ARRAY_TASK_ID
printf '{"text":"of\\nlines"}\n' >in.jsonl

# ---- Any word -------------------------------------------------------------------------------------------------------

name=$(printf 'back\\slash \\n, and\nlines \\ ')
cp in.jsonl "$name.jsonl"
run leat pack -o one -t bytes "$name.jsonl"
ended 0 ''
run leat pack --run run --parts 1 -t bytes "$name.jsonl"
ended 0 ''
run leat pack --run run --part 1
ended 0 ''
run leat merge -o all run
ended 0 ''
{ cmp one.tokens all.tokens && cmp one.leat all.leat; } || fail "other bytes than those of one run"

# ---- Other plans ----------------------------------------------------------------------------------------------------

leat pack --run whole --parts 2 -t bytes --keep 'text exists' --id '' in.jsonl >"$printed" || fail "cannot plan"
cp -r whole other
tried=0
while IFS= read -r line; do # each line lost, and each with another character at its end
    for change in "/^$line\$/d" "s/^$line\$/&0/"; do
        sed "$change" whole/leat-run >other/leat-run
        cmp -s whole/leat-run other/leat-run && fail "$change changes nothing"
        run leat pack --run other --part 1
        grep -qE 'other/leat-run(, the plan of the run, is damaged: restore it| is not the plan)' "$said" ||
            fail "$change: code $code, $(cat "$said")"
        tried=$((tried + 1))
    done
done <<END_OF_PLAN
$(sed 's/[.*/]/\\&/g' whole/leat-run)
END_OF_PLAN
[ "$tried" -gt 50 ] || fail "only $tried changes were tried"
[ ! -e other/part-1.leat ] || fail "a damaged plan was followed"

# ---- No folder ------------------------------------------------------------------------------------------------------

ln -s nowhere dangling
while IFS='|' read -r folder message; do
    run leat pack --run "$folder" --parts 2 -t bytes in.jsonl
    ended 1 "leat: $message"
done <<'TABLE'
none/run|cannot make the folder none/run: No such file or directory
dangling|cannot find the folder dangling: No such file or directory
TABLE
mkdir gone
(cd gone && rmdir ../gone && leat pack --run "$tmp/new" --parts 2 -t bytes "$tmp/in.jsonl") >"$printed" 2>"$said"
code=$? ran='leat pack --run (in a folder that is gone)'
ended 1 'leat: cannot find out the current folder: No such file or directory'
[ ! -e new ] || fail "$ran: made new"
finish
