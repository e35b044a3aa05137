part_auto.t: leat pack --part auto/N takes the part's number from the environment of each system of the table, from the
number that the system counts from. It refuses what is out of range, what disagrees and what is not there, with the
variables and their values. A part that is finished is a success when its job runs again.

  $ unset SLURM_ARRAY_TASK_ID SLURM_PROCID SLURM_STEP_NUM_TASKS JOB_COMPLETION_INDEX AWS_BATCH_JOB_ARRAY_INDEX
  $ unset BATCH_TASK_INDEX BATCH_TASK_COUNT CLOUD_RUN_TASK_INDEX CLOUD_RUN_TASK_COUNT PBS_ARRAY_INDEX PBS_ARRAYID
  $ unset SGE_TASK_ID LSB_JOBINDEX OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE
  $ for i in 1 2 3 4; do echo "{\"text\":\"$i\"}"; done >a.jsonl
  $ pack() { # OPTION VARIABLE=VALUE...
  >     option=$1
  >     shift
  >     rm -f out.*
  >     env "$@" leat pack -o out -t bytes --part "$option" a.jsonl >/dev/null && leat info out --json |
  >         sed 's/.*"leat.part", "\([^"]*\)".*/part \1/'
  > }

Of each system stand here its variable, what it is in parts 1 and 4, what is beyond them, and what else is set.

  $ while read -r variable first last beyond count; do
  >     printf '%s, %s: ' "$variable=$first${count:+ and $count}" "$variable=$last"
  >     echo $(pack auto/4 "$variable=$first" $count) $(pack auto/4 "$variable=$last" $count)
  >     for value in $beyond x -1 1.5 18446744073709551616; do
  >         pack auto/4 "$variable=$value" $count || [ $? -eq 2 ] || echo another code
  >     done
  > done <<'TABLE' 2>&1 | sed 's/; or use --part.*//; s/=\(x\|-1\|1.5\|1844.*6\) is not/=WRONG is not/' | uniq -c
  > SLURM_ARRAY_TASK_ID 1 4 0
  > SLURM_PROCID 0 3 4 SLURM_STEP_NUM_TASKS=4
  > JOB_COMPLETION_INDEX 0 3 4
  > AWS_BATCH_JOB_ARRAY_INDEX 0 3 4
  > BATCH_TASK_INDEX 0 3 4 BATCH_TASK_COUNT=4
  > CLOUD_RUN_TASK_INDEX 0 3 4 CLOUD_RUN_TASK_COUNT=4
  > PBS_ARRAY_INDEX 1 4 0
  > PBS_ARRAYID 1 4 0
  > SGE_TASK_ID 1 4 0
  > LSB_JOBINDEX 1 4 5
  > OMPI_COMM_WORLD_RANK 0 3 4 OMPI_COMM_WORLD_SIZE=4
  > PMI_RANK 0 3 4 PMI_SIZE=4
  > TABLE
        1 SLURM_ARRAY_TASK_ID=1, SLURM_ARRAY_TASK_ID=4: part 1/4 part 4/4
        1 leat: --part auto: SLURM_ARRAY_TASK_ID=0 is part 0, and there are 1 to 4 (auto+1 for an array that counts from 0)
        4 leat: --part auto: SLURM_ARRAY_TASK_ID=WRONG is not the number of one of 4 parts
        1 SLURM_PROCID=0 and SLURM_STEP_NUM_TASKS=4, SLURM_PROCID=3: part 1/4 part 4/4
        1 leat: --part auto: SLURM_PROCID=4 is part 5, and there are 1 to 4
        4 leat: --part auto: SLURM_PROCID=WRONG is not the number of one of 4 parts
        1 JOB_COMPLETION_INDEX=0, JOB_COMPLETION_INDEX=3: part 1/4 part 4/4
        1 leat: --part auto: JOB_COMPLETION_INDEX=4 is part 5, and there are 1 to 4
        4 leat: --part auto: JOB_COMPLETION_INDEX=WRONG is not the number of one of 4 parts
        1 AWS_BATCH_JOB_ARRAY_INDEX=0, AWS_BATCH_JOB_ARRAY_INDEX=3: part 1/4 part 4/4
        1 leat: --part auto: AWS_BATCH_JOB_ARRAY_INDEX=4 is part 5, and there are 1 to 4
        4 leat: --part auto: AWS_BATCH_JOB_ARRAY_INDEX=WRONG is not the number of one of 4 parts
        1 BATCH_TASK_INDEX=0 and BATCH_TASK_COUNT=4, BATCH_TASK_INDEX=3: part 1/4 part 4/4
        1 leat: --part auto: BATCH_TASK_INDEX=4 is part 5, and there are 1 to 4
        4 leat: --part auto: BATCH_TASK_INDEX=WRONG is not the number of one of 4 parts
        1 CLOUD_RUN_TASK_INDEX=0 and CLOUD_RUN_TASK_COUNT=4, CLOUD_RUN_TASK_INDEX=3: part 1/4 part 4/4
        1 leat: --part auto: CLOUD_RUN_TASK_INDEX=4 is part 5, and there are 1 to 4
        4 leat: --part auto: CLOUD_RUN_TASK_INDEX=WRONG is not the number of one of 4 parts
        1 PBS_ARRAY_INDEX=1, PBS_ARRAY_INDEX=4: part 1/4 part 4/4
        1 leat: --part auto: PBS_ARRAY_INDEX=0 is part 0, and there are 1 to 4 (auto+1 for an array that counts from 0)
        4 leat: --part auto: PBS_ARRAY_INDEX=WRONG is not the number of one of 4 parts
        1 PBS_ARRAYID=1, PBS_ARRAYID=4: part 1/4 part 4/4
        1 leat: --part auto: PBS_ARRAYID=0 is part 0, and there are 1 to 4 (auto+1 for an array that counts from 0)
        4 leat: --part auto: PBS_ARRAYID=WRONG is not the number of one of 4 parts
        1 SGE_TASK_ID=1, SGE_TASK_ID=4: part 1/4 part 4/4
        1 leat: --part auto: SGE_TASK_ID=0 is part 0, and there are 1 to 4 (auto+1 for an array that counts from 0)
        4 leat: --part auto: SGE_TASK_ID=WRONG is not the number of one of 4 parts
        1 LSB_JOBINDEX=1, LSB_JOBINDEX=4: part 1/4 part 4/4
        1 leat: --part auto: LSB_JOBINDEX=5 is part 5, and there are 1 to 4
        4 leat: --part auto: LSB_JOBINDEX=WRONG is not the number of one of 4 parts
        1 OMPI_COMM_WORLD_RANK=0 and OMPI_COMM_WORLD_SIZE=4, OMPI_COMM_WORLD_RANK=3: part 1/4 part 4/4
        1 leat: --part auto: OMPI_COMM_WORLD_RANK=4 is part 5, and there are 1 to 4
        4 leat: --part auto: OMPI_COMM_WORLD_RANK=WRONG is not the number of one of 4 parts
        1 PMI_RANK=0 and PMI_SIZE=4, PMI_RANK=3: part 1/4 part 4/4
        1 leat: --part auto: PMI_RANK=4 is part 5, and there are 1 to 4
        4 leat: --part auto: PMI_RANK=WRONG is not the number of one of 4 parts

Several arrays may make one run, or one that counts from 0.

  $ pack auto+1/4 SLURM_ARRAY_TASK_ID=0
  part 1/4
  $ pack auto+1000/2000 SLURM_ARRAY_TASK_ID=1
  part 1001/2000
  $ pack auto+3/4 SLURM_ARRAY_TASK_ID=2
  leat: --part auto: SLURM_ARRAY_TASK_ID=2 is part 5, and there are 1 to 4; or use --part I/4 (leat pack --help shows how)
  [2]

The script of an array's element is process 0, and so is its only step, which has a count of 1.

  $ pack auto/4 SLURM_ARRAY_TASK_ID=3 SLURM_PROCID=0
  part 3/4
  $ pack auto/4 SLURM_ARRAY_TASK_ID=3 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMI_RANK=0 PMI_SIZE=1
  part 3/4
  $ pack auto/4 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 PMI_RANK=2 PMI_SIZE=4
  part 3/4
  $ pack auto/1 PMI_RANK=0 PMI_SIZE=1
  part 1/1
  $ pack auto/4 SLURM_ARRAY_TASK_ID=3 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2
  leat: --part auto: SLURM_ARRAY_TASK_ID=3 is part 3, but OMPI_COMM_WORLD_RANK=0 is part 1; or use --part I/4 (leat pack --help shows how)
  [2]

What is set and does not count is named, all of it.

  $ pack auto/4
  leat: --part auto: no system says which of 4 parts this is, as one of these variables: SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, LSB_JOBINDEX, OMPI_COMM_WORLD_RANK, PMI_RANK; or use --part I/4 (leat pack --help shows how)
  [2]
  $ pack auto/4 SGE_TASK_ID=undefined LSB_JOBINDEX=0 SLURM_ARRAY_TASK_ID=
  leat: --part auto: no system says which of 4 parts this is, as one of these variables: SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, LSB_JOBINDEX, OMPI_COMM_WORLD_RANK, PMI_RANK; SGE_TASK_ID=undefined means that this job is no part of an array; LSB_JOBINDEX=0 means that this job is no part of an array; or use --part I/4 (leat pack --help shows how)
  [2]
  $ pack auto/4 SLURM_PROCID=0 PMI_RANK=0 PMI_SIZE=1
  leat: --part auto: no system says which of 4 parts this is, as one of these variables: SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, LSB_JOBINDEX, OMPI_COMM_WORLD_RANK, PMI_RANK; SLURM_PROCID=0 does not count without SLURM_STEP_NUM_TASKS; PMI_RANK=0 does not count, since PMI_SIZE=1: a single process is no part; or use --part I/4 (leat pack --help shows how)
  [2]
  $ many=$(printf '%050d' 1)
  $ pack auto/2 SLURM_PROCID="$many" SLURM_STEP_NUM_TASKS=1 BATCH_TASK_INDEX="$many" BATCH_TASK_COUNT=1 \
  >     CLOUD_RUN_TASK_INDEX="$many" CLOUD_RUN_TASK_COUNT=1 SGE_TASK_ID=undefined LSB_JOBINDEX=0 \
  >     OMPI_COMM_WORLD_RANK="$many" OMPI_COMM_WORLD_SIZE=1 PMI_RANK="$many" PMI_SIZE=1
  leat: --part auto: no system says which of 2 parts this is, as one of these variables: SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, LSB_JOBINDEX, OMPI_COMM_WORLD_RANK, PMI_RANK; SLURM_PROCID=0000000000000000000000000000000000000000 does not count, since SLURM_STEP_NUM_TASKS=1: a single process is no part; BATCH_TASK_INDEX=0000000000000000000000000000000000000000 does not count, since BATCH_TASK_COUNT=1: a single process is no part; CLOUD_RUN_TASK_INDEX=0000000000000000000000000000000000000000 does not count, since CLOUD_RUN_TASK_COUNT=1: a single process is no part; SGE_TASK_ID=undefined means that this job is no part of an array; LSB_JOBINDEX=0 means that this job is no part of an array; OMPI_COMM_WORLD_RANK=0000000000000000000000000000000000000000 does not count, since OMPI_COMM_WORLD_SIZE=1: a single process is no part; PMI_RANK=0000000000000000000000000000000000000000 does not count, since PMI_SIZE=1: a single process is no part; or use --part I/2 (leat pack --help shows how)
  [2]
  $ for wrong in auto/ auto/0 auto+/4 auto-1/4 auto/4x auto/1000001 0/4 5/4 +1/4 1/ /2 1/2x ''; do
  >     pack "$wrong" || [ $? -eq 2 ] || break
  > done
  leat: --part: "auto/" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "auto/0" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "auto+/4" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "auto-1/4" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "auto/4x" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "auto/1000001" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "0/4" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "5/4" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "+1/4" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "1/" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "/2" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "1/2x" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  leat: --part: "" is not I/N, the I-th of N parts (1/8), nor auto/N (leat pack --help lists the options)
  $ pack 0
  leat: --part needs the number of parts, as I/N or auto/N; it is known only of a run in a folder (--run DIR) (leat pack --help shows how)
  [2]
  $ ls
  a.jsonl

A job may run again.

  $ export SLURM_ARRAY_TASK_ID=2
  $ leat pack -o again -t bytes --resume --part auto/4 a.jsonl >/dev/null
  $ leat pack -o again -t bytes --resume --part auto/4 a.jsonl
  again is finished already: 2 tokens in 1 document.
  $ leat pack -o again -t bytes --resume --part auto/4 --json a.jsonl | grep -o '"was_finished": true'
  "was_finished": true
  $ leat pack -o again -t bytes --resume --part auto/3 a.jsonl
  leat: again.leat already exists; choose another name or replace it (--force)
  [1]
  $ leat pack -o by -t bytes --resume --by text --part auto/4 a.jsonl >/dev/null
  $ leat pack -o by -t bytes --resume --by text --part auto/4 a.jsonl
  by is finished already: 2 tokens in 1 document.
