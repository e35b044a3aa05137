pack_parquet.t: leat pack on Parquet files gives what it gives for the same texts as JSON lines: tokens and rejects; in
folders beside JSON lines, without a suffix, in shares that are merged, stopped and resumed, by 1, 2 and 7 threads that
read row groups side by side, and by a build with tiny units; documents are found by row and row group, and what cannot
be packed is refused before any work.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ files=$SOURCES/tests/parquet/files
  $ pack() { # NAME ...
  >     name=$1
  >     shift
  >     "$LEAT_BUILD"/tiny/leat pack -t bytes -o "$name" "$@"
  > }
  $ for name in plain_2 dictionary_2_snappy delta zstd lz4 required split empty duckdb_v2 polars fastparquet long many; do
  >     cp "$files/$name.jsonl" "$files/$name.parquet" .
  >     echo "$name, nulls: $(grep -c '"null"' $name.jsonl)"
  >     for suffix in jsonl parquet; do
  >         members documents,rejected,row_groups pack $name-$suffix --max-rejects 1000 --json $name.$suffix 2>&1
  >     done
  >     identity $name-jsonl $name-parquet | uniq -c
  > done
  plain_2, nulls: 4
  "documents": 26 "rejected": 4 "row_groups": 0
  "documents": 26 "rejected": 4 "row_groups": 2
        2 71bbad2e18a31b4b78a5d4bbe8780f5e
  dictionary_2_snappy, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 1
        2 2efc80dab473c4a1a1d179235cf2d294
  delta, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 1
        2 98c425bb58d9d8f87a1b7d1a1d3fa626
  zstd, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 1
        2 321de731eae79cac094dff8a8ac8c2c4
  lz4, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 1
        2 205fe624d47a5e9df4cd0aad861b4eb2
  required, nulls: 0
  "documents": 40 "rejected": 0 "row_groups": 0
  "documents": 40 "rejected": 0 "row_groups": 1
        2 76bb6c127a49ea96b035eedfa7671593
  split, nulls: 6
  "documents": 34 "rejected": 6 "row_groups": 0
  "documents": 34 "rejected": 6 "row_groups": 1
        2 f673b6f4fca1e7c26f66ab0df264cc06
  empty, nulls: 0
  leat: warning: no document was found in 1 input
  "documents": 0 "rejected": 0 "row_groups": 0
  leat: warning: no document was found in 1 input
  "documents": 0 "rejected": 0 "row_groups": 0
        2 c1d73f0cb5f07ba237a9b5c6df145742
  duckdb_v2, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 1
        2 88e1ff7f7849dcca62e98146a84d2fa3
  polars, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 1
        2 c72834999040f1d8b426adcdb5417693
  fastparquet, nulls: 9
  "documents": 51 "rejected": 9 "row_groups": 0
  "documents": 51 "rejected": 9 "row_groups": 3
        2 a4e25d05959062ea64ff7f6943425c28
  long, nulls: 1
  "documents": 4 "rejected": 1 "row_groups": 0
  "documents": 4 "rejected": 1 "row_groups": 1
        2 a0ad003c69a1fc4bcbbf9c853f3ad075
  many, nulls: 214
  "documents": 1286 "rejected": 214 "row_groups": 0
  "documents": 1286 "rejected": 214 "row_groups": 41
        2 5fd3b4f42fbb4ab4fec5d741b7cf453d

A document is found by its row: doc-0100 stands in rows 300 to 302, of groups of 37 rows.

  $ leat find many-parquet --id doc-0100
  document  257
  input     many.parquet (#0)
  row       300
  group     8
  id        doc-0100
  tokens    6459:6553 (94)
  $ leat find many-parquet --origin many.parquet:302 --json
  {"document": 259, "input": "many.parquet", "input_number": 0, "offset": 302, "line": 9, "row": 302, "row_group": 8, "id": "doc-0100", "first_token": 6572, "tokens": 2, "part": null}
  $ leat trace --source many-parquet --seq-len 64 --order sequential --samples 100:101 --json | sed -n 2p
  {"n": 100, "source": 0, "document": 254, "first": 0, "tokens": 42, "input": "many.parquet", "offset": 296, "line": 9, "row": 296, "row_group": 8, "id": "doc-0098", "banned": false}
  $ head -n 1 many-parquet.rejects.jsonl
  {"input":"many.parquet","offset":3,"line":1,"reason":"\"text\" is null, not a string","record":"doc-0001"}

Rejects have the order of their rows, also where texts lie in a dictionary; one row in five is no reject.

  $ for leat in leat "$LEAT_BUILD/tiny/leat"; do
  >     $leat pack -t bytes -o malformed --force --invalid-utf8 reject --max-rejects 100 "$files/malformed.parquet" >/dev/null
  >     sed -n 's/.*"offset":\([0-9]*\),.*/\1/p' malformed.rejects.jsonl | paste -sd ' ' -
  > done | uniq -c
        2 0 1 2 4 5 6 7 9 10 11 12 14 15 16 17 19 20 21 22 24 25 26 27 29 30 31 32 34 35 36 37 39 40 41 42 44 45 46 47 49

Units, threads, shares and stops are no part of the result.

  $ leat pack -t bytes -o large --max-rejects 1000 many.parquet >/dev/null
  $ same many-parquet large
  $ for threads in 1 2 7; do
  >     pack threads --force --threads $threads --max-rejects 1000 many.parquet >/dev/null
  >     same many-parquet threads && cmp many-parquet.rejects.jsonl threads.rejects.jsonl
  > done
  $ for parts in 2 23; do
  >     for part in $(seq $parts); do
  >         pack part-$part --force --part $part/$parts --max-rejects 1000 many.parquet >/dev/null
  >     done
  >     leat merge -o merged --force $(seq -f part-%g $parts) >/dev/null
  >     same many-parquet merged
  > done
  $ for threads in 1 7; do
  >     for most in 10 50 90; do
  >         pack resumed --force --threads $threads --max-rejects $most many.parquet
  >         pack resumed --threads $threads --max-rejects $((most + 70)) --resume many.parquet
  >         pack resumed --threads $threads --max-rejects 1000 --resume many.parquet >/dev/null
  >         same many-parquet resumed && cmp many-parquet.rejects.jsonl resumed.rejects.jsonl
  >         rm resumed.*
  >     done
  > done 2>&1 | grep -o 'more than allowed' | uniq -c
       12 more than allowed

A later input whose pages, or row groups, need more than their share waits for its turn.

  $ cp "$files/outgrows.parquet" "$files/groups.parquet" .
  $ awk 'BEGIN { for (i = 0; i < 60000; i++) print "{\"text\": \"a record of a long input, number " i "\"}" }' >first.jsonl
  $ awk 'BEGIN { for (i = 0; i < 30; i++) {
  >                  printf "{\"text\": \"text %d ", i
  >                  for (times = i == 13 || i == 25 ? 60000 : i; times > 0; times--) printf "ab "
  >                  print "\"}" }
  >              for (i = 0; i < 700; i++) print "{\"text\": \"text " i "\"}" }' >later.jsonl
  $ leat pack -t bytes -o lines first.jsonl later.jsonl >/dev/null
  $ pack two --threads 2 first.jsonl outgrows.parquet groups.parquet >/dev/null
  $ pack five --threads 5 first.jsonl outgrows.parquet groups.parquet >/dev/null
  $ identity lines two five | uniq -c
        3 3d078c2ccf3b89d4098c9be2561da9bb

A folder may have several formats, and a file without a suffix is known by its first bytes.

  $ mkdir mixed
  $ cp lz4.parquet mixed/a.parquet
  $ cp plain_2.jsonl mixed/b.jsonl
  $ cp zstd.parquet mixed/c
  $ cat lz4.jsonl plain_2.jsonl zstd.jsonl >mixed.jsonl
  $ members inputs leat pack -t bytes -o mixed-folder --max-rejects 100 --json mixed
  "inputs": 3
  $ leat pack -t bytes -o mixed-lines --max-rejects 100 mixed.jsonl >/dev/null
  $ leat pack -t bytes -o by-bytes --max-rejects 100 mixed/c >/dev/null
  $ identity mixed-folder mixed-lines by-bytes zstd-parquet | uniq -c
        2 61fafa7cd22fedeafafc14eeed77c5e3
        2 321de731eae79cac094dff8a8ac8c2c4

What is not there, or cannot be, is refused before any work.

  $ sed 's/"text"/"body"/' mixed.jsonl >body.jsonl
  $ leat pack -t bytes -o no --text body body.jsonl mixed/a.parquet
  leat: mixed/a.parquet has no column body; its columns are text, n, id (--text NAME)
  [1]
  $ leat pack -t bytes -o no --id url mixed/a.parquet
  leat: mixed/a.parquet has no column url; its columns are text, n, id (leat pack --id FIELD)
  [1]
  $ leat pack -t bytes -o no --text n mixed/a.parquet
  leat: mixed/a.parquet: the column n does not hold texts: its type is not BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY, or means something else
  [1]
  $ leat pack -t bytes -o no --format parquet mixed.jsonl
  leat: mixed.jsonl is no Parquet file: it does not begin with PAR1
  [1]
  $ gzip -c mixed/a.parquet >a.parquet.gz
  $ leat pack -t bytes -o no a.parquet.gz
  leat: a.parquet.gz is compressed with gzip, and no Parquet file: decompress it first
  [1]
  $ leat pack -t bytes -o no --format jsonl mixed/a.parquet
  leat: mixed/a.parquet is a Parquet file: pack it as Parquet (--allow-binary packs it all the same)
  [1]
  $ leat pack -t bytes -o no --format parquet - </dev/null
  leat: Parquet cannot be read from standard input: name the file
  [2]
  $ leat pack -t bytes -o no - <mixed/a.parquet
  leat: standard input is a Parquet file, which is read from its end: save it, and name the file
  [1]
  $ printf 'PAR1 x' | leat encode -t bytes
  80 65 82 49 32 120

A column may be only in the name of a folder.

  $ mkdir -p hive/lang=en/n=1
  $ cp mixed/a.parquet hive/lang=en/n=1
  $ for folder in hive hive/lang=en "$PWD/hive/lang=en/n=1"; do
  >     leat pack -t bytes -o no --by lang $folder || echo "[$?]"
  >     leat pack -t bytes -o no --keep "lang == 'en'" $folder || echo "[$?]"
  > done
  leat: hive/lang=en/n=1/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which leat does not read: write it into the files, or pack each folder by itself (--by NAME)
  [1]
  leat: hive/lang=en/n=1/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which leat does not read: write it into the files, or pack each folder by itself
  [1]
  leat: hive/lang=en/n=1/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which leat does not read: write it into the files, or pack each folder by itself (--by NAME)
  [1]
  leat: hive/lang=en/n=1/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which leat does not read: write it into the files, or pack each folder by itself
  [1]
  leat: */hive/lang=en/n=1/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which leat does not read: write it into the files, or pack each folder by itself (--by NAME) (glob)
  [1]
  leat: */hive/lang=en/n=1/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which leat does not read: write it into the files, or pack each folder by itself (glob)
  [1]
  $ leat pack -t bytes -o no --keep "lan == 'en'" hive
  leat: hive/lang=en/n=1/a.parquet has no column lan; its columns are text, n, id
  [1]
  $ ls | grep ^no
  [1]

The help and the manual page name Parquet.

  $ leat pack --help | tr -s ' \n' ' ' | grep -oF .parquet
  .parquet
  $ leat --manual pack | grep -oF 'Parquet (.parquet, .pq)'
  Parquet (.parquet, .pq)
