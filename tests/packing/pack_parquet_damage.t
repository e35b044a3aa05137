pack_parquet_damage.t: where a Parquet file is damaged, the rest of the row group is a line of the rejects, which says
which rows are lost, and all of them count as rejected; all other rows are packed, as from JSON lines without these, and
the run ends with code 1, or 0 with --allow-truncated. A file that is cut off has no footer: it is one reject, and the
next input is packed. With more threads, in shares and after a stop the bytes are the same.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ cp "$SOURCES"/tests/parquet/files/many.* "$SOURCES"/tests/parquet/files/lz4.* .
  $ pack() { # NAME ...
  >     name=$1
  >     shift
  >     "$LEAT_BUILD"/tiny/leat pack -t bytes -o "$name" --max-rejects 1000 "$@"
  > }

Row groups have 37 rows. Three places are damaged, and the rows that are lost are left out of the JSON lines.

  $ for at in 3000 9001 15003; do
  >     printf '\377\000\377' | dd of=many.parquet bs=1 seek=$at conv=notrunc 2>/dev/null
  > done
  $ pack damaged many.parquet
  leat: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte 2,720: row group 4 is broken: rows 148 to 184 are lost; 1,617 bytes were not read
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o damaged --max-rejects 1000 many.parquet
  damaged: 27,562 tokens in 1,190 documents from 1 input, 25.8 KiB of text in *. (glob)
  * of text, * tokens/s; memory at most *. (glob)
  310 records were rejected: see damaged.rejects.jsonl.
  [1]
  $ grep lost damaged.rejects.jsonl
  {"input":"many.parquet","offset":148,"line":5,"reason":"many.parquet: the page at byte 2720, in the column text of row group 4, does not match its checksum: the file is damaged; rows 148 to 184 are lost","record":""}
  {"input":"many.parquet","offset":407,"line":12,"reason":"many.parquet: the column id of row group 11 is broken at byte 9003: a size or count is negative; rows 407 to 443 are lost","record":""}
  {"input":"many.parquet","offset":740,"line":21,"reason":"many.parquet: the page at byte 14918, in the column text of row group 20, does not match its checksum: the file is damaged; rows 740 to 776 are lost","record":""}
  $ grep lost damaged.rejects.jsonl | sed 's/.*rows \([0-9]*\) to \([0-9]*\) are lost.*/\1 \2/' |
  >     while read -r first last; do echo "$((first + 1)),$((last + 1))d"; done >deletes
  $ sed -f deletes many.jsonl >rest.jsonl
  $ wc -l many.jsonl rest.jsonl
    1500 many.jsonl
    1389 rest.jsonl
    2889 total
  $ pack rest rest.jsonl | grep rejected
  199 records were rejected: see rest.rejects.jsonl.
  $ identity rest damaged | uniq -c
        2 b65db10d18f1d675721826888951b195
  $ pack few --max-rejects 309 --allow-truncated many.parquet
  leat: 310 of 1500 records were rejected, more than allowed; few.rejects.jsonl lists them with the reasons, for example: "text" is null, not a string
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte 2,720: row group 4 is broken: rows 148 to 184 are lost; 1,617 bytes were not read
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 620 -t bytes -o few --allow-truncated many.parquet
  leat: to give it up, remove what it left: rm -r few.partial.* few.rejects.jsonl
  [4]

More threads, shares and a run that stopped give the same bytes.

  $ pack allowed --allow-truncated --threads 7 many.parquet >/dev/null
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte 2,720: row group 4 is broken: rows 148 to 184 are lost; 1,617 bytes were not read
  $ same damaged allowed && cmp damaged.rejects.jsonl allowed.rejects.jsonl
  $ for part in 1 2 3 4 5; do pack part-$part --part $part/5 --allow-truncated many.parquet >/dev/null; done
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte 2,720: row group 4 is broken: rows 148 to 184 are lost; 883 bytes were not read
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte 14,918: row group 20 is broken: rows 740 to 776 are lost; 734 bytes were not read
  $ leat merge -o merged part-1 part-2 part-3 part-4 part-5 >/dev/null
  $ cmp damaged.tokens merged.tokens
  $ pack resumed --max-rejects 50 many.parquet 2>&1 | grep -o 'more than allowed'
  more than allowed
  $ pack resumed --resume many.parquet >/dev/null
  leat: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte 2,720: row group 4 is broken: rows 148 to 184 are lost; 1,617 bytes were not read
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o resumed --max-rejects 1000 many.parquet
  [1]
  $ same damaged resumed && cmp damaged.rejects.jsonl resumed.rejects.jsonl

A file without a footer, or with a broken one, is a reject; what follows it is packed, and it is of one share.

  $ head -c 900 many.parquet >cut.parquet
  $ : >empty.parquet
  $ cp lz4.parquet broken.parquet
  $ printf '\377\377\377\377' | dd of=broken.parquet bs=1 seek=$(($(wc -c <broken.parquet) - 100)) conv=notrunc 2>/dev/null
  $ pack lines lz4.jsonl >/dev/null
  $ for file in cut empty broken; do
  >     pack after --force $file.parquet lz4.parquet >/dev/null
  >     grep "\"$file" after.rejects.jsonl
  >     identity lines after | uniq -c
  > done
  leat: 1 input was cut off or broken, and nothing of it could be read: cut.parquet, at byte 0: it is cut off or its footer is broken: no row was found; 900 bytes were not read
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o after --max-rejects 1000 cut.parquet lz4.parquet
  {"input":"cut.parquet","offset":0,"line":1,"reason":"cut.parquet is cut off: it does not end with PAR1","record":""}
        2 205fe624d47a5e9df4cd0aad861b4eb2
  leat: 1 input was cut off or broken, and nothing of it could be read: empty.parquet, at byte 0: it is cut off or its footer is broken: no row was found; what should follow is missing
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o after --max-rejects 1000 empty.parquet lz4.parquet
  {"input":"empty.parquet","offset":0,"line":1,"reason":"empty.parquet has 0 bytes: it is no Parquet file, or cut off","record":""}
        2 205fe624d47a5e9df4cd0aad861b4eb2
  leat: 1 input was cut off or broken, and nothing of it could be read: broken.parquet, at byte 0: it is cut off or its footer is broken: no row was found; 1,933 bytes were not read
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o after --max-rejects 1000 broken.parquet lz4.parquet
  {"input":"broken.parquet","offset":0,"line":1,"reason":"broken.parquet: the footer is broken at byte 1834: a field has an unknown type or number","record":""}
        2 205fe624d47a5e9df4cd0aad861b4eb2
  $ for part in 1 2 3; do
  >     pack cut-$part --part $part/3 cut.parquet lz4.parquet >/dev/null 2>&1
  > done
  $ cat cut-?.rejects.jsonl | grep -c '"cut.parquet"'
  1
