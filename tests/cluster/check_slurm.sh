#!/bin/sh
# check_slurm.sh: a run in parts by a real Slurm of two nodes on this machine, with examples/cluster/pack.sbatch: parts
# that fail, one that is requeued, one that is stopped by SIGUSR1, a node that dies under its part, two arrays because
# one is too short, and submitting what is left. Each time the merged dataset has the bytes of one run.
build=${LEAT_BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
for program in slurmctld slurmd sbatch setpriv; do
    command -v $program >/dev/null || {
        echo "skipped: no $program (scripts/deps.sh cluster)" >&2
        exit 77
    }
done
. tests/cluster/slurm.sh
script=$PWD/examples/cluster/pack.sbatch
corpus=$PWD/examples/corpus/english.jsonl
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-slurm-XXXXXX") || exit 1
trap 'slurm_stop; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
chmod 755 "$tmp"
mkdir "$tmp/work" "$tmp/bin"
chmod 777 "$tmp/work"
cd "$tmp/work" || exit 1
failures=0
fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# ---- What is packed -------------------------------------------------------------------------------------------------

cp "$build/leat" "$tmp/bin/leat.real"
# leat, but a part with a file failing.I fails once, and one with holding.I stops in its middle once, until it is killed
# or continued: packing is over too soon for a signal that comes by Slurm. held.I has its process.
cat >"$tmp/bin/leat" <<END
#!/bin/sh
if [ "\$1" = pack ] && [ -e "failing.\$SLURM_ARRAY_TASK_ID" ]; then
    rm "failing.\$SLURM_ARRAY_TASK_ID"
    exit 1
fi
if [ "\$1" = pack ] && [ -e "holding.\$SLURM_ARRAY_TASK_ID" ]; then
    rm "holding.\$SLURM_ARRAY_TASK_ID"
    (
        while ! ls a/part-"\$SLURM_ARRAY_TASK_ID".partial.tokens b/part-"\$SLURM_ARRAY_TASK_ID".partial.tokens \
            2>/dev/null | grep -q .; do kill -0 \$\$ || exit; done
        kill -STOP \$\$ && echo \$\$ >"held.\$SLURM_ARRAY_TASK_ID"
    ) >/dev/null 2>&1 &
fi
exec "$tmp/bin/leat.real" "\$@"
END
chmod 755 "$tmp/bin/leat"
PATH=$tmp/bin:$PATH
seq 1600 | while read -r _; do cat "$corpus"; done >text.jsonl
leat pack -o one -t gpt2 --progress never text.jsonl >/dev/null || exit 1
slurm_start "$tmp/slurm" || exit 1

plan() { # RUN PARTS
    as_user leat pack --run "$1" --parts "$2" -t gpt2 --threads 1 text.jsonl >/dev/null || fail "cannot plan $1"
}
submit() { # RUN ARRAY [K]: prints the job's number
    as_user sbatch --parsable --output="$1.%a.log" --array="$2" "$script" "$1" "${3:-0}"
}
merge_after() { # RUN JOBS [OPTIONS...]
    merged=$1 after=$2
    shift 2
    as_user sbatch --parsable --output="$merged.merge.log" --dependency="afterok:$after" --kill-on-invalid-dep=yes \
        --wrap "leat merge -o $merged.merged $merged $*"
}
wait_for_jobs() {
    while [ -n "$(squeue --noheader --array)" ]; do
        for job in $(squeue --noheader --array --format='%i %r' | sed -n 's/ BeginTime$//p'); do
            scontrol update "jobid=$job" starttime=now 2>/dev/null # what was requeued would wait for two minutes
        done
        sleep 1
    done
}
# Until this part is held in its middle.
wait_for_part() { # PART
    while [ ! -s "held.$1" ]; do sleep 0.05; done
}
hold() { # PARTS...
    for held in "$@"; do rm -f "held.$held" && touch "holding.$held" && chmod 666 "holding.$held"; done
}
go_on() { # PARTS...
    for held in "$@"; do kill -CONT "$(cat "held.$held")" 2>/dev/null; done
}
same() { # RUN
    { cmp "$1.merged.tokens" one.tokens && cmp "$1.merged.leat" one.leat; } || fail "$1: other bytes: $(cat "$1".*.log)"
}
while ! sinfo --noheader | grep -q 'idle n\[1-2\]'; do sleep 0.5; done

# ---- Failing, requeued and stopped parts, and what is left ----------------------------------------------------------

plan a 8
touch failing.3 failing.6
chmod 666 failing.*
hold 2 7
job=$(submit a 1-8)
merge_after a "$job" >/dev/null
wait_for_part 2
scancel --batch --signal=USR1 "${job}_2" # it may say that the job cannot be altered now, and send it
sleep 1 # the batch script passes it on
go_on 2
wait_for_part 7
scontrol requeue "${job}_7" || fail "cannot requeue"
go_on 7
wait_for_jobs
[ "$(leat status a --left)" = 3,6 ] || fail "left are $(leat status a --left), not 3,6: $(leat status a; cat a.*.log)"
[ ! -e a.merged.leat ] || fail "merged although parts are missing"
grep -q 'nothing is lost' a.2.log || fail "part 2 was not stopped: $(cat a.2.log)"
merge_after a "$(submit a "$(leat status a --left)")" >/dev/null
wait_for_jobs
same a

# ---- A node that dies -----------------------------------------------------------------------------------------------

plan b 4
hold 1 2 3 4
job=$(submit b 1-4)
merge_after b "$job" >/dev/null
while ! squeue --noheader --array --format=%N,%T | grep -q '^n2,RUNNING'; do sleep 0.2; done
part=$(squeue --noheader --array --nodelist=n2 --states=running --format=%K | head -1)
wait_for_part 1 && wait_for_part 2 && wait_for_part 3 && wait_for_part 4
slurm_kill n2
go_on 1 2 3 4
scontrol update nodename=n2 state=down reason=gone
slurm_node n2
scontrol update nodename=n2 state=resume 2>/dev/null # it may be back already
wait_for_jobs
scontrol show job "${job}_$part" | grep -q 'Restarts=1' || fail "part $part did not run again on another node"
same b

# ---- More parts than an array may have ------------------------------------------------------------------------------

plan c 12
if submit c 1-12 2>/dev/null; then fail "an array of 12 was taken"; fi
job=$(submit c 1-8)
merge_after c "$job:$(submit c 1-4 8)" >/dev/null
wait_for_jobs
same c

# ---- Deduplicated and shuffled by the merge --------------------------------------------------------------------------

head -n 4000 text.jsonl >less.jsonl
leat pack -o one --force -t gpt2 --progress never --dedup --shuffle 7 less.jsonl >/dev/null || exit 1
as_user leat pack --run d --parts 4 -t gpt2 --threads 1 less.jsonl >/dev/null || fail "cannot plan d"
merge_after d "$(submit d 1-4)" --dedup --shuffle 7 >/dev/null
wait_for_jobs
same d
[ "$failures" -eq 0 ]
