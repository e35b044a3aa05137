#!/bin/sh
# test_run.sh: a run in a folder: planned once, packed part by part from any folder, each part compared with the plan;
# leat status tells parts that are done, running, dead, stopped, failed and missing; merging and opening are refused
# until all are there, and then give the bytes of one run.
sbatch=$PWD/examples/cluster/pack.sbatch
. tests/cli/cli.sh

for i in 1 2 3 4 5 6; do
    awk -v i=$i 'BEGIN { for (n = 0; n < 50; n++) printf "{\"text\":\"part %d, line %d\"}\n", i, n }' >in$i.jsonl
done
mkdir elsewhere
unset SLURM_ARRAY_TASK_ID
leat pack -o one -t gpt2 --text text in*.jsonl >"$printed" || fail "cannot pack"

state() { # PART: its line in the table
    leat status run --all | sed -n "s/^ *$1  //p"
}
left() { # NUMBERS
    [ "$(leat status run --left)" = "$1" ] || fail "left are $(leat status run --left), not $1"
}

# ---- The plan -------------------------------------------------------------------------------------------------------

try 0 '' leat pack --run run --parts 12 -t gpt2 --text text in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl \
    in6.jsonl <<END_OF_PLAN
run: a run of 12 parts, 7.9 KiB in 6 inputs.
Each part, on any machine that has these files: leat pack --run run --part I (or --part auto)
END_OF_PLAN
cp run/leat-run plan
run leat pack --run run --parts 12 -t gpt2 --text text in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl in6.jsonl
ended 0 '' # the same again is the same
cmp plan run/leat-run
run leat pack --run run --parts 11 -t gpt2 --text text in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl in6.jsonl
says 1 "the run in $tmp/run has 12 parts, not 11; to plan it anew, remove the folder $tmp/run"
run leat pack --run run --parts 12 -t gpt2 --text text in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl
other="the inputs are not those with which the run in $tmp/run was planned"
says 1 "$other: missing now: in6.jsonl; restore them, or remove the folder $tmp/run and plan the run anew"
run leat pack --run run --parts 12 -t gpt2 --text text in2.jsonl in1.jsonl in3.jsonl in4.jsonl in5.jsonl in6.jsonl
says 1 "the run in $tmp/run was planned with the input in1.jsonl, where in2.jsonl is here; to plan it anew, remove"
run leat pack --run run --parts 12 -t gpt2 --threads 1 --text text in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl \
    in6.jsonl
says 1 'run is the folder of another run'
left 1-12
run leat pack --run run --part 13 --parts 12 # which is the run's own
says 2 'part 13: the run in run has the parts 1 to 12'
run leat pack --run nothing --part 1
says 1 'nothing is not the folder of a run: leat pack --run nothing --parts N ... INPUT... makes one'

while IFS='|' read -r words message; do
    # shellcheck disable=SC2086 # several words
    run leat pack $words
    says 2 "$message"
done <<'TABLE'
-t bytes in1.jsonl|--output NAME is missing
-o x|INPUT... is missing: leat pack INPUT...
--run run -o x --part 1|--output and --run contradict each other
--run run -t bytes in1.jsonl|--run needs --parts N, to plan a run, or --part I
-o x --parts 3 in1.jsonl|--parts N is for a run in a folder
-o x --part 3 in1.jsonl|--part needs the number of parts, as I/N or auto/N
--run run --part 3/8|--part I/N has another N than the run was planned with
--run run --part 3 in1.jsonl|a part takes the inputs of the plan: leave "in1.jsonl" out
--run run --part 13|part 13: the run in run has the parts 1 to 12
--run run --part 0|part 0: the run in run has the parts 1 to 12
--run run --part 3 --parts 8|--parts 8, but the run in run has 12 parts: leave --parts out
--run run|--run run: add --part I or --part auto, to pack a part of that run; or --parts N and INPUT..., to plan it
--run new --parts 3|INPUT... is missing: leat pack INPUT...
--run run --part auto|--part auto: no system says which of 12 parts this is
--run new --parts 2 -|standard input comes only once
--run new --parts 2 --force in1.jsonl|--force is for one part, as it is packed
--run new --parts 2 --dry-run in1.jsonl|--dry-run looks at a run of one process
TABLE

run leat pack --run new --parts 2 -t bytes in1.jsonl missing.jsonl
says 1 'missing.jsonl'
[ ! -e new ] || fail "what is refused made a folder"
run leat pack --run s3://b/run --parts 2 -t bytes in1.jsonl # "cannot make the folder" said nothing of URLs
says 1 's3://b/run is a URL: write to a local name first'
run leat pack --run no/such/run --parts 2 -t bytes in1.jsonl
ended 1 'leat: cannot make the folder no/such/run: No such file or directory'
ln -s nowhere to-nothing
run leat pack --run to-nothing --parts 2 -t bytes in1.jsonl
ended 1 'leat: cannot find the folder to-nothing: No such file or directory'
[ ! -e nowhere ] || fail "$ran: followed the link"
mkdir mine
run leat pack --run mine --parts 2 -t bytes missing.jsonl
[ -d mine ] || fail "a plan that failed removed a folder that it had not made"

# Each input that differs is named, up to ten of a kind, where the first alone once was, or only their number.
mkdir many
for i in 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
    echo '{"text":"a"}' >many/$i.jsonl
done
run leat pack --run of-many --parts 2 -t bytes many
ended 0 ''
rm many/1*
echo >>many/22.jsonl
touch -d '2001-02-03' many/24.jsonl
for i in 00.jsonl 20x.jsonl 24.json; do
    echo '{"text":"a"}' >many/$i
done
run leat pack --run of-many --part 1
many="the inputs are not those with which the run in $tmp/of-many was planned"
gone=$(seq -s ', ' -f 'many/%g.jsonl' 11 19)
says 1 "$many: missing now: $gone; new: many/00.jsonl, many/20x.jsonl, many/24.json; changed (size, time or etag): \
many/22.jsonl, many/24.jsonl; restore them, or remove the folder $tmp/of-many and plan the run anew"
rm many/20.jsonl many/21.jsonl
run leat pack --run of-many --part 2
says 1 "$many: missing now: $gone, many/20.jsonl and 1 more; new: many/00"

# So is each input that cannot be opened, by the plan, by a part, and by a run of one process. Root can open all, unless
# it gives that up.
plainly=
[ "$(id -u)" != 0 ] || plainly='setpriv --bounding-set=-dac_override,-dac_read_search'
mkdir closed
for i in 1 2 3; do
    echo '{"text":"a"}' >closed/$i.jsonl
done
printf '\211PNG\r\n\032\n' >closed/picture.png
run leat pack --run of-closed --parts 2 -t bytes closed
says 0 'leat: skipped 1 file in folders: closed/picture.png'
chmod 0 closed/2.jsonl closed/3.jsonl
if [ -n "$plainly" ] && ! $plainly true 2>/dev/null; then
    echo "not tried: inputs that cannot be opened, for want of setpriv" >&2
else
    # shellcheck disable=SC2086 # several words
    {
        run $plainly "$build/leat" pack --run of-closed --part 2
        says 1 "leat: cannot open $tmp/closed/2.jsonl: Permission denied"
        says 1 "leat:   cannot open $tmp/closed/3.jsonl: Permission denied"
        says 1 'leat: when that is mended, pack the part again: leat pack --run of-closed --part 2'
        ! grep -q 'picture' "$said" || fail "$ran: names again what the plan skipped: $(cat "$said")"
        for words in '-o no' '--run no --parts 2'; do
            run $plainly "$build/leat" pack $words -t bytes closed
            says 1 "leat: cannot open closed/2.jsonl: Permission denied"
            says 1 "leat:   cannot open closed/3.jsonl: Permission denied"
            says 1 "to leave out those of folders: leat pack --exclude /2.jsonl --exclude /3.jsonl $words -t bytes"
        done
        for i in 10 11 12 13 14 15 16 17 18 19; do
            echo '{"text":"a"}' >closed/$i.jsonl
            chmod 0 closed/$i.jsonl
        done
        mkfifo pipe # a list that is read once: looking for others that fail waited for ever
        seq -f 'closed/%g.jsonl' 1 3 >pipe &
        run $plainly "$build/leat" pack -o no -t bytes @pipe
        says 1 "leat: cannot open closed/2.jsonl: Permission denied"
        run $plainly "$build/leat" pack -o no -t bytes closed
        says 1 "leat:   and 1 more (--dry-run lists all)"
        run $plainly "$build/leat" pack --dry-run -t bytes closed
        [ "$(grep -c 'cannot open' "$said")" = 12 ] || fail "$ran: $(cat "$said")"
    }
fi
chmod 600 closed/*

# Two plans at one moment: one of them is written, whole. Both once wrote the same unfinished file.
mkdir two
for file in two/leat-run.inputs two/leat-run; do
    run flock "$file.partial" leat pack --run two --parts 2 -t bytes in1.jsonl
    says 1 "another process is writing $tmp/$file.partial"
done
run leat pack --run two --parts 2 -t bytes in1.jsonl
ended 0 ''
ls -A two >"$printed"
printf 'leat-run\nleat-run.inputs\n' | cmp - "$printed"
# What is no plan of this version, or not whole.
mkdir changed
while IFS='|' read -r change message; do
    sed "$change" plan >changed/leat-run
    for words in 'status changed' 'pack --run changed --part 1' 'merge -o all changed'; do
        # shellcheck disable=SC2086 # several words
        run leat $words
        ended 1 "leat: changed/leat-run$message"
    done
done <<'TABLE'
1s/2$/3/| is not the plan of a run that this version can read
/^parts/d|, the plan of the run, is damaged: restore it, or plan the run again in another folder
s/^parts .*/parts 0/|, the plan of the run, is damaged: restore it, or plan the run again in another folder
$d|, the plan of the run, is damaged: restore it, or plan the run again in another folder
TABLE
truncate -s 65M changed/leat-run # holes
run leat status changed
ended 1 'leat: changed/leat-run is too large: a list or plan has at most 64 MiB; restore it from its source'
# Files of lines took as much memory as whoever wrote them liked: 8 GiB.
cp plan changed/leat-run
for file in leat-run.inputs leat-run.list list; do
    truncate -s 8G changed/$file
done
for words in 'pack --run changed --part 1' 'info changed' 'info changed/leat-run.list' 'info @changed/list'; do
    # shellcheck disable=SC2086 # several words
    run leat $words
    says 1 'is too large: a list or plan has at most '
done
rm changed/leat-run.* changed/list
# What an older run left would count as done.
mv two/leat-run plan.two
: >two/part-2.leat
run leat pack --run two --parts 2 -t bytes in1.jsonl # the plan alone was lost
ended 0 ''
cmp two/leat-run plan.two
rm two/leat-run two/leat-run.inputs
run leat pack --run two --parts 2 -t bytes in1.jsonl
says 1 "two/part-2.leat is of another run: choose an empty folder, or remove all files of this one"

# ---- The parts ------------------------------------------------------------------------------------------------------

cd elsewhere || exit 1
for part in 3 1; do # not in order, and from another folder
    run leat pack --run ../run --part $part/12
    ended 0 ''
done
run env SLURM_ARRAY_TASK_ID=3 leat pack --run ../run --part auto --threads 1
ended 0 ''
grep -q 'part-03 is finished already' "$printed" || fail "$ran: printed $(cat "$printed")"
cd ..
left 2,4-12
for words in '--text text' '--text=text' '-t gpt2' '--end 0' --special '--keep text'; do # also what the plan has
    # shellcheck disable=SC2086 # several words
    run leat pack --run run --part 2 $words
    says 2 ' belongs to the plan of a run: all parts share it'
done
plan() { # OPTION...: again, with others
    run leat pack --run run --parts 12 -t gpt2 --text text "$@" in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl \
        in6.jsonl
}
plan --special
says 1 "the run in $tmp/run was planned with \"special 0\", not with \"special 1\": give the same options"
plan -t bytes
says 1 "the run in $tmp/run was planned with another tokenizer; to plan it anew, remove the folder $tmp/run"
echo >>in6.jsonl
# what is refused of a part that is done is no news of it: it once left a sign of life there
for part in 3 2; do
    run leat pack --run run --part $part
    says 1 "$other: changed (size, time or etag): in6.jsonl; restore them, or remove the folder $tmp/run and plan"
done
[ ! -e run/part-03.beat ] || fail "$ran: left $(ls run)"
case $(state 2) in
'failed '*'changed (size, time or etag): in6.jsonl'*) ;;
*) fail "a part that failed is: $(state 2)" ;;
esac
mv run/leat-run.inputs kept.inputs
for damage in 's/^inputs 6/inputs 7/' "\$d"; do
    sed "$damage" kept.inputs >run/leat-run.inputs
    run leat pack --run run --part 2
    says 1 "$tmp/run/leat-run.inputs is damaged: remove it and plan the run again in this folder, with the same "
done
rm run/leat-run.inputs
run leat pack --run run --part 2
says 1 "$tmp/run/leat-run.inputs is missing: plan the run again in the folder $tmp/run, with the same arguments"
mv kept.inputs run/leat-run.inputs
awk 'BEGIN { for (n = 0; n < 50; n++) printf "{\"text\":\"part 6, line %d\"}\n", n }' >in6.jsonl
touch -d "@$(sed -n 's/.*changed at \([0-9.]*\).*in6.jsonl$/\1/p' run/leat-run.inputs)" in6.jsonl
run leat pack --run run --part 2
ended 0 ''

# ---- Refused until all are there ------------------------------------------------------------------------------------

run leat merge -o all run
says 1 'leat: the run in run is not finished: of its 12 parts, 4-12 are not done (leat status run)'
run leat info run
says 1 'the run in the folder run is not finished: 3 of its 12 parts are there; pack the others'

# ---- Alive and dead -------------------------------------------------------------------------------------------------

# a run that waits for a list that says nothing, planned when there was a file in its place
mkdir waits
echo in1.jsonl >list
leat pack --run waits --parts 2 -t bytes @list >"$printed" || fail "cannot plan"
rm list
mkfifo list
exec 8<>list
leat pack --run waits --part 1 >"$printed" 2>"$said" &
pid=$!
while ! grep -q '^state running' waits/part-1.beat 2>/dev/null && kill -0 $pid; do :; done
leat status waits --json >"$printed"
grep -qF '"running": 1, "dead": 0, "stopped": 0, "failed": 0, "missing": 1, "complete": f' "$printed" ||
    fail "a part that runs: $(cat "$printed")"
grep -qF "\"host\": \"$(uname -n)\", \"pid\": $pid," "$printed" || fail "a part that runs: $(cat "$printed")"
[ "$(leat status waits --left)" = 2 ] || fail "left beside a part that runs: $(leat status waits --left)"
run leat pack --run waits --part 1 # which says nothing of itself where the other one does
says 1 "leat: another process is writing part 1 of the run in $tmp/waits: process $pid on $(uname -n), silent for "
grep -q ': end it there' "$said" && fail "a part that runs: $(cat "$said")"
kill -STOP $pid # it hangs
touch -d '45 seconds ago' waits/part-1.beat
run leat pack --run waits --part 1
since='(4[5-9][.0-9]*|5[0-9][.0-9]*|[1-4] min [0-9]+) s' # and what passes until it is looked at
says 1 ' s: end it there, then its lock is free'
grep -qE "the run in $tmp/waits: process $pid on $(uname -n), silent for $since:" "$said" || fail "$(cat "$said")"
leat status waits | grep -qE "^      1  dead .*$(uname -n), process $pid, silent for $since" ||
    fail "$(leat status waits)"
grep -q "^pid $pid\$" waits/part-1.beat || fail "a refused process says that it packs: $(cat waits/part-1.beat)"
kill -KILL $pid
wait $pid 2>/dev/null
touch -d '35 seconds ago' waits/part-1.beat # it would take as long until then
leat status waits --json | grep -qF '"running": 0, "dead": 1,' || fail "a dead part: $(leat status waits)"
[ "$(leat status waits --left)" = 1-2 ] || fail "left with a part that is dead: $(leat status waits --left)"
leat pack --run waits --part 1 >"$printed" 2>"$said" &
pid=$!
while ! [ "$(leat status waits --left)" = 2 ] && kill -0 $pid; do :; done
kill -TERM $pid
wait $pid
[ $? -eq 5 ] || fail "a part that was stopped ends with another code: $(cat "$said")"
leat status waits | grep -q '^      1  stopped ' || fail "a stopped part: $(leat status waits)"

mkfifo waits/part-2.beat # nobody writes to it or reads it
run leat pack --run waits --part 2
says 1 'waits/part-2.beat is not a regular file, where leat writes a file'
leat status waits | grep -q '^      2  ' && fail "a pipe is a sign of life: $(leat status waits)"

# ---- An input that breaks off ---------------------------------------------------------------------------------------

cat in*.jsonl | gzip -c >whole.gz
head -c $(($(wc -c <whole.gz) - 200)) whole.gz >cut.jsonl.gz
leat pack --run broken --parts 2 -t bytes --max-rejects 1 in1.jsonl cut.jsonl.gz >"$printed" || fail "cannot plan"
leat pack --run broken --part 1 >"$printed" 2>"$said"
for again in 1 2; do # it is no dataset of another run the second time
    leat pack --run broken --part 2 >"$printed" 2>"$said"
    code=$? ran="part 2, time $again"
    says 1 'cut.jsonl.gz, at byte '
    says 1 ': it ends in the middle of a gzip member'
    says 1 '; --allow-truncated counts that as success'
    [ "$(leat status broken --left)" = 2 ] || fail "$ran: left are $(leat status broken --left)"
    leat status broken | grep -q '2  failed .*cut.jsonl.gz, at byte .* it ends' || fail "$ran: $(leat status broken)"
done
for command in info verify 'cat --tokens 0:1'; do # the folder once opened, since all files are there
    # shellcheck disable=SC2086 # several words
    run leat $command broken
    says 1 'the run in the folder broken is not finished: part-2 has failed: 1 input was cut off or broken'
done
run leat merge -o all broken
says 1 'the run in broken is not finished: of its 2 parts, 2 is not done'
run leat pack --run broken --part 2 --allow-truncated
ended 0 ''
run leat info broken
ended 0 ''
[ -z "$(leat status broken --left)" ] || fail "what is allowed is left: $(leat status broken)"
run leat pack --run broken --part 2
ended 0 ''
[ -z "$(leat status broken --left)" ] || fail "what was allowed is left again: $(leat status broken)"

# ---- What is kept ---------------------------------------------------------------------------------------------------

# what a link leads to is not the folder of a split: a step wrote there
mkdir elsewhere
run leat pack --run linked --parts 1 --split valid=0.5 -t bytes in1.jsonl
ended 0 ''
rm -r linked/valid && ln -s ../elsewhere linked/valid
run leat pack --run linked --part 1
says 1 'linked/valid is not a folder, but leat needs a folder of that name'
run leat info linked/valid
says 1 'linked/valid is a symbolic link in the folder of a run'
[ -z "$(ls elsewhere)" ] || fail "written through a link: $(ls elsewhere)"
rm -r linked elsewhere
# a part that fails before its first checkpoint keeps nothing: its tokens counted once
awk 'BEGIN { for (n = 0; n < 200000; n++) printf "{\"text\":\"text of the document %d, which is longer\"}\n", n }' \
    >long.jsonl
leat pack --run full --parts 1 -t gpt2 long.jsonl >"$printed" || fail "cannot plan"
(trap '' XFSZ && ulimit -f 3000 && exec "$build/leat" pack --run full --part 1 --threads 1) >"$printed" 2>"$said"
[ $? -eq 1 ] || fail "a part without room for its tokens: $(cat "$said")"
leat status full --json | grep -qF '"tokens": 0, "documents": 0, "share": 0.0,' || fail "$(leat status full --json)"
# of a process that was killed, what was at its checkpoint counts
# printed commands can be copied, whatever the folder is called
run leat pack --run "it's a run" --parts 1 -t bytes in1.jsonl
grep -qF "leat pack --run 'it'\\''s a run' --part I" "$printed" || fail "$ran: $(cat "$printed")"
run leat merge -o all "it's a run"
says 1 "of its 1 parts, 1 is not done (leat status 'it'\\''s a run')"
deep=$(printf "%0220d it's/" 1 2 3 4 5 6) # more than 1,099 bytes were once printed without quotes
mkdir -p "$deep"
run leat pack --run "$deep" --parts 1 -t bytes in1.jsonl
grep -qF "leat pack --run '$(echo "$deep" | sed "s/'/'\\\\''/g")' --part I" "$printed" || fail "$ran: $(cat "$printed")"
odd=$(printf "a\\nrun's\\377")
run leat pack --run "$odd" --parts 1 -t bytes in1.jsonl
grep -qF "leat pack --run \$'a\\x0arun\\'s\\xff' --part I" "$printed" || fail "$ran: $(cat "$printed")"
rm -rf "$odd"
printf 'leat part 1\nstate failed\nreason it broke\n' >full/part-1.beat
run leat status full # a reason without a host began with a colon
grep -q 'failed .* it broke$' "$printed" || fail "$ran: $(cat "$printed")"
if grep -q ' : ' "$printed"; then fail "$ran: $(cat "$printed")"; fi
printf 'leat part 1\nstate failed\nhost h\nbytes 900\n' >full/part-1.beat
run leat status full --json
grep -q '"bytes": 900, "total_bytes": null' "$printed" || fail "$ran: $(cat "$printed")" # it was 0
run leat status full --left --json
says 2 'leat: --left and --json cannot be combined: the object has them as "left"' # --json was ignored
printf 'leat part 1\nstate running\nbytes 900\ntotal_bytes 1000\ntokens 90\ndocuments 9\n' >full/part-1.beat
printf 'kept_bytes 500\nkept_tokens 50\nkept_documents 5\n' >>full/part-1.beat
leat status full --json | grep -qF '"tokens": 90, "documents": 9, "share": 0.9,' || fail "$(leat status full --json)"
touch -d '35 seconds ago' full/part-1.beat
leat status full --json | grep -qF '"tokens": 50, "documents": 5, "share": 0.5,' || fail "$(leat status full --json)"
# all is packed, and the part is not done
printf 'leat part 1\nstate running\nbytes 1000\ntotal_bytes 1000\n' >full/part-1.beat
leat status full --json | grep -qF '"share": 0.999,' || fail "$(leat status full --json)"
leat status full | grep -qF 'about 99 % of the run' || fail "$(leat status full)"
leat status full | grep -q '^      1  running .* 99\.9 %' || fail "$(leat status full)"
# half of the input is left, and a second has room for all of it
printf 'leat part 1\nstate running\nbytes 50\ntotal_bytes 100\ntokens_per_s 7\n' >full/part-1.beat
echo "bytes_per_s $(wc -c <long.jsonl)" >>full/part-1.beat
leat status full --json | grep -qF '"tokens_per_s": 7.0, "seconds_left": 0.5,' || fail "$(leat status full --json)"
leat status full | grep -qF '; 7.00 tokens/s, 500 ms left at this rate.' || fail "$(leat status full)"
# a process that has just begun has the lock, and says nothing of itself yet
: >full/part-1.beat
run flock full/part-1.beat leat pack --run full --part 1
says 1 "another process is writing part 1 of the run in $tmp/full"
grep -qF "$tmp/full:" "$said" && fail "$ran: says who without knowing: $(cat "$said")"

# ---- Half of a part -------------------------------------------------------------------------------------------------

# a part cannot choose another name, as was advised
leat pack --run half --parts 1 -t bytes in1.jsonl >"$printed" || fail "cannot plan"
leat pack --run half --part 1 >"$printed" || fail "cannot pack"
cp half/part-1.leat half/part-1.tokens .
rm half/part-1.leat
run leat pack --run half --part 1
says 1 'half/part-1.leat and its .tokens are not those of this part: one is missing or damaged, or they are from '
says 1 'pack the part again and replace them (--force)'
run leat pack --run half --part 1 --force
ended 0 ''
{ cmp half/part-1.leat part-1.leat && cmp half/part-1.tokens part-1.tokens; } || fail "$ran: other bytes"
echo damaged >half/part-1.leat
run leat status half
ended 0 ''
grep -q '^      1  failed .*/half/part-1.leat is not a leat index' "$printed" || fail "$ran: $(cat "$printed")"
[ "$(leat status half --left)" = 1 ] || fail "left of a run with a damaged part: $(leat status half --left)"
run leat pack --run half --part 1
says 1 'pack the part again and replace them (--force)'
run leat pack --run half --part 1 --force
ended 0 ''
cmp half/part-1.leat part-1.leat || fail "$ran: other bytes"

# ---- Parts without inputs -------------------------------------------------------------------------------------------

for i in 1 2 3; do gzip -c in$i.jsonl >in$i.jsonl.gz; done
run leat pack --run whole --parts 6 -t bytes in1.jsonl.gz in2.jsonl.gz in3.jsonl.gz
words='Inputs that are given whole to one part, such as compressed ones: 3. Parts that get no input: 3 of 6.'
grep -qxF "$words" "$printed" ||
    fail "$ran: printed $(cat "$printed")"
empty=0
for part in 1 2 3 4 5 6; do
    run leat pack --run whole --part $part
    ended 0 ''
    empty=$((empty + $(grep -c '^This part got no input: some inputs are given whole' "$printed")))
done
[ $empty -eq 3 ] || fail "$empty parts said that they have no input, not 3"
run leat info whole
ended 0 ''
printf 'x' >tiny.txt
while IFS='|' read -r parts words whole empty; do # and that is how many there are
    rm -rf counted
    # shellcheck disable=SC2086 # several words
    run leat pack --run counted --parts $parts -t bytes --json $words
    grep -qF "\"whole_inputs\": $whole, \"empty_parts\": $empty}" "$printed" || fail "$ran: $(cat "$printed")"
    for part in $(seq "$parts"); do
        # shellcheck disable=SC2086 # several words
        leat pack -o counted/share --force --part "$part/$parts" -t bytes --json $words >"$printed"
        grep -qF '"inputs": 0,' "$printed" && empty=$((empty - 1))
    done
    [ "$empty" -eq 0 ] || fail "$ran: $empty more parts than counted are empty"
done <<'TABLE'
3|in1.jsonl in2.jsonl|0|0
7|in1.jsonl in2.jsonl.gz in3.jsonl|1|0
9|in1.jsonl.gz in2.jsonl in3.jsonl.gz|2|0
20|in1.jsonl.gz in2.jsonl in3.jsonl.gz|2|3
5|tiny.txt|1|4
3|tiny.txt in1.jsonl in2.jsonl.gz|2|0
TABLE

# ---- What to do then ------------------------------------------------------------------------------------------------

# a part takes no --resume from its user: it once was advised
{ cat in1.jsonl && echo '{"text":'; } >bad.jsonl
leat pack --run rejects --parts 1 -t bytes --max-rejects 0 bad.jsonl >"$printed" || fail "cannot plan"
run leat pack --run rejects --part 1
says 4 'leat: nothing is lost: pack the part again, with a larger --max-rejects: it goes on from there'
run leat pack --run rejects --part 1 --force
says 4 'leat: nothing is lost: pack the part again, without --force and with a larger --max-rejects: it goes on from'
run leat pack --run rejects --part 1 --max-rejects 1
ended 0 ''
run sh "$sbatch"
says "$code" 'the folder of a run: sbatch --array=1-N pack.sbatch RUN'
[ "$code" -ne 0 ] || fail "$ran: exit code 0"

# ---- All ------------------------------------------------------------------------------------------------------------

for part in 4 5 6 7 8 9 10 11 12; do
    run leat pack --run run --part $part
    ended 0 ''
done
left ''
leat status run --json | grep -qF '"complete": true' || fail "$(leat status run --json)"
leat status run | grep -q 'opens as one dataset, and leat merge -o NAME ' || fail "$(leat status run)"
[ "$(find run -name '*.beat' | wc -l)" -eq 0 ] || fail "signs of life are left: $(ls run)"
run leat merge -o all run
ended 0 ''
{ cmp all.tokens one.tokens && cmp all.leat one.leat; } || fail "other bytes than those of one run"
leat cat run --tokens : --ids >listed
leat cat one --tokens : --ids | cmp - listed || fail "the folder has other tokens"
leat merge -o run/all run >"$printed" || fail "cannot merge into the folder"
run leat info run # with all tokens twice
says 1 'run/all.leat is not a part of the run in its folder: move it elsewhere, so that the folder opens'
finish
