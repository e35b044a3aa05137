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

leat pack --run whole --parts 2 -t bytes in.jsonl >"$printed" || fail "cannot plan"
cp -r whole other
{ cat whole/leat-run && echo 'word --nosuch'; } >other/leat-run
run leat pack --run other --part 1
says 2 'unknown option --nosuch'

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
