export.t: leat export writes files of other tools, which leat opens in place again: with the same tokens, and the same
documents where the format records them.

  $ for part in a b; do
  >     printf '{"text":"%s one"}\n{"text":""}\n{"text":"%s two and three"}\n' $part $part >$part.jsonl
  >     leat pack -t bytes -o $part $part.jsonl >/dev/null
  > done
  $ printf 'a\nb\n' >both
  $ leat cat @both --document 0:6 --ids | tee documents | head -n 3
  97 32 111 110 101 256
  256
  97 32 116 119 111 32 97 110 100 32 116 104 114 101 101 256
  $ leat cat @both --tokens : --ids >tokens
  $ for bits in 16 32; do
  >     for format in megatron raw llmc datatrove; do
  >         leat export --to $format --dtype u$bits -o $format.$bits a b
  >     done
  >     for name in megatron.$bits "raw:raw.$bits?dtype=u$bits&end=256" "llmc:llmc.$bits" datatrove.$bits.ds; do
  >         leat verify "$name" >/dev/null 2>&1 || echo "$name: $?"
  >         leat cat "$name" --tokens : --ids | cmp - tokens
  >     done
  >     for name in megatron.$bits "raw:raw.$bits?dtype=u$bits&end=256" datatrove.$bits.ds; do
  >         leat cat "$name" --document 0:6 --ids | cmp - documents
  >     done
  > done
  megatron.16: 46 tokens in 254 bytes in *. (glob)
  raw.16: 46 tokens in 92 bytes in *. (glob)
  llmc.16: 46 tokens in 1.1 KiB in *. (glob)
  datatrove.16: 46 tokens in 168 bytes in *. (glob)
  megatron.32: 46 tokens in 346 bytes in *. (glob)
  raw.32: 46 tokens in 184 bytes in *. (glob)
  llmc.32: 46 tokens in 1.2 KiB in *. (glob)
  datatrove.32: 46 tokens in 260 bytes in *. (glob)
  $ wc -w <tokens
  46
  $ wc -c megatron.*.bin raw.16 raw.32 datatrove.*.ds
   92 megatron.16.bin
  184 megatron.32.bin
   92 raw.16
  184 raw.32
   92 datatrove.16.ds
  184 datatrove.32.ds
  828 total
  $ ls megatron.* datatrove.*
  datatrove.16.ds
  datatrove.16.ds.index
  datatrove.16.ds.metadata
  datatrove.32.ds
  datatrove.32.ds.index
  datatrove.32.ds.metadata
  megatron.16.bin
  megatron.16.idx
  megatron.32.bin
  megatron.32.idx

nanoGPT's files are raw ids of 2 bytes, whatever those of the dataset have.

  $ leat export --to nanogpt -o nanogpt a b && cmp nanogpt raw.16
  nanogpt: 46 tokens in 92 bytes in *. (glob)
  $ leat export --to nanogpt -o nanogpt.32 'raw:raw.32?dtype=u32' && cmp nanogpt.32 raw.16
  nanogpt.32: 46 tokens in 92 bytes in *. (glob)
  $ leat export --to raw --dtype u16 -o narrow 'raw:raw.32?dtype=u32' && cmp narrow raw.16
  narrow: 46 tokens in 92 bytes in *. (glob)
  $ leat export --to nanogpt --dtype u32 -o wide a
  leat: wide: files of nanogpt have ids of 2 bytes, not 4
  [2]

The output may be named by one of its files.

  $ leat export --to megatron --json -o there.idx @both
  {"output": "there.idx", "to": "megatron", "documents": 6, "tokens": 46, "bytes": 254, "number_bytes": 2, "end_token": 256, "seconds": *} (glob)
  $ cmp there.bin megatron.16.bin

What does not fit is refused: these are the ids 1 and 70000, and a mask.

  $ printf '\001\000\000\000\160\021\001\000' >wide
  $ leat export --to llmc --dtype u16 -o wide.16 'raw:wide?dtype=u32'
  leat: token 1 is 70000, but ids of 2 bytes in files of llmc are at most 65535; use more bytes per id, or another format
  [1]
  $ leat export --to megatron -o wide.32 'raw:wide?dtype=u32'
  leat: wide.32: files of megatron record documents, and where those of the dataset start is not known: give its end token, or use another format
  [1]
  $ make_dataset masked vocabulary=300 mask document=1
  $ leat export --to raw -o new masked
  leat: masked stores a mask, which files of raw do not hold; export to datatrove
  [1]
  $ leat export --to jsonl -o x a
  leat: --to cannot be "jsonl", only one of: megatron, raw, nanogpt, llmc, datatrove, packed-parquet, arrow-dataset (leat export --help lists the options)
  [2]
  $ leat export --to raw -o sub/ a
  leat: invalid output "sub/": it must end in a file name
  [2]
  $ leat export --to raw -o sub/x a
  leat: cannot create sub/x.partial: No such file or directory
  [1]
  $ leat export --to raw -o s3://b/x a
  leat: s3://b/x is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]

An output that exists is replaced by --force alone, and never if it is a file of a dataset.

  $ leat export --to megatron -o there a
  leat: there.bin already exists: choose another name or replace it (--force)
  [1]
  $ leat export --to megatron -o there --force a
  there: 23 tokens in 148 bytes in *. (glob)
  $ leat cat there --document 0:3 --ids
  97 32 111 110 101 256
  256
  97 32 116 119 111 32 97 110 100 32 116 104 114 101 101 256
  $ for file in a.tokens a.leat; do
  >     leat export --to raw --force -o $file a || echo "[$?]"
  > done
  leat: a.tokens is a file of a dataset: choose another name for what is exported
  [2]
  leat: a.leat is a file of a dataset: choose another name for what is exported
  [2]
  $ leat verify a
  a: nothing is wrong; 4.8 KiB checked in *. (glob)

Damage is found.

  $ cp a.leat torn.leat
  $ sed 's/o/p/' a.tokens >torn.tokens
  $ leat export --to raw -o torn.raw torn
  leat: the first or last page of torn.tokens does not match torn.leat: the token file is damaged, or the two files do not belong together; restore both from their source
  [3]

What a run that was killed has left is named, and not taken over; this is longer than the file will be.

  $ echo 'what a killed run has left, which is longer than the file will be' >again.bin.partial
  $ echo left >again.idx.partial
  $ leat export --to megatron -o again nowhere
  leat: cannot open nowhere.leat: No such file or directory; no dataset in this folder has a similar name
  leat: the same command starts over; to give it up, remove what is left: rm -r again.bin.partial again.idx.partial
  [1]
  $ leat export --to megatron -o again a
  again: 23 tokens in 148 bytes in *. (glob)
  $ cmp again.bin there.bin && cmp again.idx there.idx
  $ echo *.partial wide.* torn.raw* x* new*
  *.partial wide.* torn.raw* x* new*

Two runs at once do not write one file.

  $ echo left >again.idx.partial
  $ flock again.idx.partial leat export --to megatron -o again --force a
  leat: another process is writing again.idx.partial: wait for it, or choose another name
  [1]

Rows of a plan are another kind of file, which leat's Python package writes.

  $ leat order --source a --seq-len 4 --order fit --epochs 1 --print-plan >rows.plan
  $ leat export --to packed-parquet -o rows.parquet a
  leat: --to packed-parquet writes rows of a plan: give --plan FILE, which names its datasets, and no NAME (leat export --help shows how)
  [2]
  $ leat export --to arrow-dataset -o rows --plan rows.plan a
  leat: --to arrow-dataset writes rows of a plan: give --plan FILE, which names its datasets, and no NAME (leat export --help shows how)
  [2]
  $ leat export --to raw -o rows --plan rows.plan
  leat: --plan is for packed-parquet and arrow-dataset: raw has no rows (leat export --help shows how)
  [2]
  $ leat export --to raw -o rows --count 3 a
  leat: --count needs --plan (leat export --help lists the options)
  [2]
  $ leat export --to packed-parquet -o rows.parquet --plan rows.plan --dtype u16
  leat: --dtype and --plan cannot be combined (leat export --help lists the options)
  [2]
  $ leat export --to raw -o rows
  leat: NAME... is missing: leat export NAME... (leat export --help shows how)
  [2]
