huge.t: datasets of 10^8 and 10^9 documents are read in little time and memory; some file systems cannot hold them.

  $ leat-bench-dev sparse -o huge --documents 1G >/dev/null 2>&1 || exit 80
  $ leat trace --source huge --seq-len 2048 --order sequential --samples 3:4
        sample source     document              tokens input:byte id
             3      0    999999999           6144:8192 sparse:0
  $ leat trace --source huge --seq-len 2048 --order sequential --document huge:999999999 --until 2
        sample source       window  epoch     position
             0      0            0      0            0
             1      0            1      0            1
  $ leat trace --source huge --seq-len 2048 --document huge:5 --until 2

Lengths of very many documents are those of a sample, and that is said.

  $ leat-bench-dev sparse -o many --documents 100M >/dev/null
  $ leat info many | grep sample
    from a sample of 1,048,576 documents, taken at equal distances
  $ leat info many --json | grep -o '"document_lengths": {"sampled": true, "documents": [0-9]*'
  "document_lengths": {"sampled": true, "documents": 1048576
