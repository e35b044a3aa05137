#!/bin/sh
# test_run_alive.sh: leat status tells parts that run, hang, are dead and were stopped, and a part that another process
# packs is refused with who that is.
. tests/cli/cli.sh
unset SLURM_ARRAY_TASK_ID

# a run that waits for a list that says nothing, planned when there was a file in its place
echo '{"text":"a"}' >in1.jsonl
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
finish
