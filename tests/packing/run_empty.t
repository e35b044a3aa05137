run_empty.t: compressed inputs go whole to one part, and small ones too: the plan says how many parts get no input, which
is what happens.

  $ unset SLURM_ARRAY_TASK_ID
  $ for i in 1 2 3; do
  >     awk -v i=$i 'BEGIN { for (n = 0; n < 50; n++) printf "{\"text\":\"part %d, line %d\"}\n", i, n }' >in$i.jsonl
  >     gzip -c in$i.jsonl >in$i.jsonl.gz
  > done
  $ printf 'x' >tiny.txt
  $ leat pack --run whole --parts 6 -t bytes in1.jsonl.gz in2.jsonl.gz in3.jsonl.gz | grep Parts
  Inputs that are given whole to one part, such as compressed ones: 3. Parts that get no input: 3 of 6.
  $ for part in 1 2 3 4 5 6; do leat pack --run whole --part $part; done | grep -c '^This part got no input: some inputs are'
  3
  $ leat info whole >/dev/null
  $ while read -r parts words; do
  >     rm -rf counted
  >     leat pack --run counted --parts $parts -t bytes --json $words | grep -o '"whole_inputs": .*, "empty_parts": [0-9]*'
  >     for part in $(seq $parts); do
  >         leat pack -o counted/share --force --part $part/$parts -t bytes --json $words
  >     done | grep -c '"inputs": 0,'
  > done <<'TABLE'
  > 3 in1.jsonl in2.jsonl
  > 7 in1.jsonl in2.jsonl.gz in3.jsonl
  > 9 in1.jsonl.gz in2.jsonl in3.jsonl.gz
  > 20 in1.jsonl.gz in2.jsonl in3.jsonl.gz
  > 5 tiny.txt
  > 3 tiny.txt in1.jsonl in2.jsonl.gz
  > TABLE
  "whole_inputs": 0, "empty_parts": 0
  0
  "whole_inputs": 1, "empty_parts": 0
  0
  "whole_inputs": 2, "empty_parts": 0
  0
  "whole_inputs": 2, "empty_parts": 3
  3
  "whole_inputs": 1, "empty_parts": 4
  4
  "whole_inputs": 2, "empty_parts": 0
  0
  [1]
