#!/bin/sh
# test_part_auto.sh: leat pack --part auto/N takes the part's number from the environment of each system of the table,
# from the base that the system counts from; refuses what is out of range, what disagrees, and what is not there, with
# the variables and their values; and a part that is finished is a success when its job runs again.
. tests/cli/cli.sh

unset SLURM_ARRAY_TASK_ID SLURM_PROCID SLURM_STEP_NUM_TASKS JOB_COMPLETION_INDEX AWS_BATCH_JOB_ARRAY_INDEX \
    BATCH_TASK_INDEX BATCH_TASK_COUNT CLOUD_RUN_TASK_INDEX CLOUD_RUN_TASK_COUNT PBS_ARRAY_INDEX PBS_ARRAYID \
    SGE_TASK_ID LSB_JOBINDEX OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE
for i in 1 2 3 4; do echo "{\"text\":\"$i\"}"; done >a.jsonl

# Whether this environment is that part, as the dataset says.
is_part() { # PART PARTS OPTION VARIABLE=VALUE...
    part=$1/$2 option=$3
    shift 3
    run env "$@" leat pack -o out --force -t bytes --part "$option" a.jsonl
    ended 0 ''
    leat info out --json | grep -qF "[\"leat.part\", \"$part\"]" || fail "$*: not part $part"
}
refuses() { # REASON OPTION VARIABLE=VALUE...
    reason=$1 option=$2
    shift 2
    run env "$@" leat pack -o none -t bytes --part "$option" a.jsonl
    says 2 "leat: --part auto: $reason"
}

# ---- The systems: a variable, what it is for parts 1 and 4, beyond them, and what else is set -----------------------

# $count is one word or none
# shellcheck disable=SC2086
while read -r variable first last beyond count; do
    is_part 1 4 auto/4 "$variable=$first" $count
    is_part 4 4 auto/4 "$variable=$last" $count
    refuses "$variable=$beyond is part $((beyond + 1 - first)), and there are 1 to 4" auto/4 "$variable=$beyond" $count
    for wrong in x -1 1.5 18446744073709551616; do
        refuses "$variable=$wrong is not the number of one of 4 parts" auto/4 "$variable=$wrong" $count
    done
done <<'TABLE'
SLURM_ARRAY_TASK_ID 1 4 0
SLURM_PROCID 0 3 4 SLURM_STEP_NUM_TASKS=4
JOB_COMPLETION_INDEX 0 3 4
AWS_BATCH_JOB_ARRAY_INDEX 0 3 4
BATCH_TASK_INDEX 0 3 4 BATCH_TASK_COUNT=4
CLOUD_RUN_TASK_INDEX 0 3 4 CLOUD_RUN_TASK_COUNT=4
PBS_ARRAY_INDEX 1 4 0
PBS_ARRAYID 1 4 0
SGE_TASK_ID 1 4 0
LSB_JOBINDEX 1 4 5
OMPI_COMM_WORLD_RANK 0 3 4 OMPI_COMM_WORLD_SIZE=4
PMI_RANK 0 3 4 PMI_SIZE=4
TABLE

# ---- Several arrays, or one that counts from 0 ----------------------------------------------------------------------

is_part 1 4 auto+1/4 SLURM_ARRAY_TASK_ID=0
is_part 1001 2000 auto+1000/2000 SLURM_ARRAY_TASK_ID=1
refuses 'SLURM_ARRAY_TASK_ID=2 is part 5, and there are 1 to 4' auto+3/4 SLURM_ARRAY_TASK_ID=2

# ---- Several systems ------------------------------------------------------------------------------------------------

# the script of an array's element is process 0; so is its only step, which has a count of 1
is_part 3 4 auto/4 SLURM_ARRAY_TASK_ID=3 SLURM_PROCID=0
is_part 3 4 auto/4 SLURM_ARRAY_TASK_ID=3 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMI_RANK=0 PMI_SIZE=1
is_part 3 4 auto/4 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 PMI_RANK=2 PMI_SIZE=4
is_part 1 1 auto/1 PMI_RANK=0 PMI_SIZE=1
refuses 'SLURM_ARRAY_TASK_ID=3 is part 3, but OMPI_COMM_WORLD_RANK=0 is part 1' auto/4 SLURM_ARRAY_TASK_ID=3 \
    OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2

# ---- None -----------------------------------------------------------------------------------------------------------

refuses 'no system says which of 4 parts this is, as one of these variables: SLURM_ARRAY_TASK_ID, SLURM_PROCID,' auto/4
says 2 'PMI_RANK; or use --part I/4 (leat pack --help shows how)'
refuses 'no system says' auto/4 SGE_TASK_ID=undefined LSB_JOBINDEX=0 SLURM_ARRAY_TASK_ID=
says 2 'PMI_RANK; SGE_TASK_ID=undefined means that this job is no part of an array; LSB_JOBINDEX=0 means that this'
refuses 'no system says' auto/4 SLURM_PROCID=0 PMI_RANK=0 PMI_SIZE=1 # it named them as if they were not set
says 2 'PMI_RANK; SLURM_PROCID=0 does not count without SLURM_STEP_NUM_TASKS; PMI_RANK=0 does not count, since'
says 2 'PMI_SIZE=1: a single process is no part; or use'
many=$(printf '%050d' 1) # the end of the sentence was missing
refuses 'no system says' auto/2 SLURM_PROCID="$many" SLURM_STEP_NUM_TASKS=1 BATCH_TASK_INDEX="$many" \
    BATCH_TASK_COUNT=1 CLOUD_RUN_TASK_INDEX="$many" CLOUD_RUN_TASK_COUNT=1 SGE_TASK_ID=undefined LSB_JOBINDEX=0 \
    OMPI_COMM_WORLD_RANK="$many" OMPI_COMM_WORLD_SIZE=1 PMI_RANK="$many" PMI_SIZE=1
says 2 'since PMI_SIZE=1: a single process is no part; or use --part I/2 (leat pack --help shows how)'
for wrong in auto/ auto/0 auto+/4 auto-1/4 auto/4x auto/1000001 0/4 5/4 +1/4 1/ ''; do
    run leat pack -o none -t bytes --part "$wrong" a.jsonl
    says 2 'is not I/N, the I-th of N parts (1/8), nor auto/N'
done
run leat pack -o none -t bytes --part 0 a.jsonl
says 2 '--part needs the number of parts, as I/N or auto/N'
for file in none*; do
    [ ! -e "$file" ] || fail "refused runs left $file"
done

# ---- A job that runs again ------------------------------------------------------------------------------------------

export SLURM_ARRAY_TASK_ID=2
run leat pack -o again -t bytes --resume --part auto/4 a.jsonl
run leat pack -o again -t bytes --resume --part auto/4 a.jsonl
ended 0 ''
grep -q '^again is finished already: ' "$printed" || fail "$ran: printed $(cat "$printed")"
run leat pack -o again -t bytes --resume --part auto/4 --json a.jsonl
ended 0 ''
grep -q '"was_finished": true' "$printed" || fail "$ran: printed $(cat "$printed")"
run leat pack -o again -t bytes --resume --part auto/3 a.jsonl
says 1 'again.leat already exists'
run leat pack -o by -t bytes --resume --by text --part auto/4 a.jsonl
ended 0 ''
run leat pack -o by -t bytes --resume --by text --part auto/4 a.jsonl
ended 0 ''
[ "$(cat "$printed")" = 'by is finished already: 2 tokens in 1 document.' ] || fail "$ran: printed $(cat "$printed")"
finish
