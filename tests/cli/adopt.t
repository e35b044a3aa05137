adopt.t: leat adopt writes an index beside tokens of other tools, which are not touched. Then they have what leat's own
datasets have: documents, page hashes, a tokenizer.

  $ seq -f '{"text":"document %g, and some words more"}' 0 899 >a.jsonl
  $ leat pack -t bytes -o own a.jsonl >/dev/null
  $ leat cat own --document 0:900 --ids >documents
  $ same() { # NAME: whether it has the documents
  >     leat cat "$1" --document 0:900 --ids | cmp - documents
  > }
  $ for format in megatron raw llmc datatrove; do
  >     leat export --to $format -o $format own >/dev/null
  >     leat export --to $format --dtype u32 -o $format.4 own >/dev/null
  > done
  $ cksum megatron.* raw* llmc* datatrove.* >before

Documents are found by the token that ends them, or checked to end with it.

  $ for name in megatron datatrove.ds 'raw:raw?dtype=u16' llmc; do
  >     leat adopt "$name" --end 256 -o by.end --force && same by.end && leat verify by.end
  >     leat info by.end | grep -E '^  (end|tokens in)'
  >     leat adopt "$name" --end 0x -o by.end --force || echo "[$?]"
  > done
  by.end.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  by.end: nothing is wrong; 84.8 KiB checked in *. (glob)
    tokens in   megatron.bin
    end         256 after each document
  leat: --end 0x is not an id; to give it as text, name the tokenizer (--tokenizer) (leat adopt --help shows how)
  [2]
  by.end.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  by.end: nothing is wrong; 84.8 KiB checked in *. (glob)
    tokens in   datatrove.ds
    end         256 after each document
  leat: --end 0x is not an id; to give it as text, name the tokenizer (--tokenizer) (leat adopt --help shows how)
  [2]
  by.end.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  by.end: nothing is wrong; 84.8 KiB checked in *. (glob)
    tokens in   raw
    end         256 after each document
  leat: --end 0x is not an id; to give it as text, name the tokenizer (--tokenizer) (leat adopt --help shows how)
  [2]
  by.end.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  by.end: nothing is wrong; 84.8 KiB checked in *. (glob)
    tokens in   llmc
    end         256 after each document
  leat: --end 0x is not an id; to give it as text, name the tokenizer (--tokenizer) (leat adopt --help shows how)
  [2]
  $ leat info --json by.end | grep -o '"token_path": "[^"]*"'
  "token_path": "llmc"
  $ leat adopt --end off megatron -o by.end --force
  leat: --end off looks like a keyword: --end none means no such token; give one of this text by its id (leat adopt --help shows how)
  [2]
  $ leat adopt -t bytes --end '<|end|>' megatron -o by.end --force
  leat: --end: bytes has no token <|end|> (leat adopt --help shows how)
  [2]
  $ leat adopt megatron --end 32 -o by.end --force
  leat: document 0 of megatron does not end with token 32: give the end token that its tokenizer has, or none
  [1]
  $ leat adopt 'raw:raw?dtype=u16&end=256' --end 32 -o by.end --force
  leat: raw:raw?dtype=u16&end=256 says that its documents end with token 256, and the end token given is 32
  [2]
  $ rm by.end.leat *.documents

Each format may have ids of 2 and of 4 bytes. All indexes are leat's.

  $ adopt() { # NAME INDEX [OPTION...]
  >     source=$1 index=$2
  >     shift 2
  >     leat adopt "$source" "$@" && leat verify "$index" && same "$index"
  >     leat info --json "$index" | grep -o '"kind": "[^"]*"'
  > }
  $ adopt megatron megatron
  megatron.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  megatron: nothing is wrong; 84.8 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt megatron.4 megatron.4 -t bytes
  megatron.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  megatron.4: nothing is wrong; 144.5 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt 'raw:raw?dtype=u16&end=256' raw -t bytes
  raw.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  raw: nothing is wrong; 84.9 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt 'raw:raw.4?dtype=u32&end=256' raw.4
  raw.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  raw.4: nothing is wrong; 144.4 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt 'llmc:llmc?end=256' llmc -t bytes
  llmc.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  llmc: nothing is wrong; 84.9 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt 'llmc:llmc.4?end=256' llmc.4
  llmc.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  llmc.4: nothing is wrong; 144.4 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt datatrove.ds datatrove.ds
  datatrove.ds.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  datatrove.ds: nothing is wrong; 84.8 KiB checked in *. (glob)
  "kind": "leat"
  $ adopt datatrove.4.ds datatrove.4.ds -t bytes
  datatrove.4.ds.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  datatrove.4.ds: nothing is wrong; 144.5 KiB checked in *. (glob)
  "kind": "leat"
  $ cksum $(awk '{ print $3 }' before) | cmp - before
  $ leat cat raw --document 3
  document 3, and some words more (no-eol)
  $ leat cat megatron --document 3
  leat: megatron stores no tokenizer, so its text cannot be shown; use --ids or --tokenizer
  [1]
  $ leat trace --source raw:1 --seq-len 8 --samples 0:1
        sample source     document              tokens input:byte id
             0      0          754               10:18 -
  $ for name in own raw; do leat info $name | grep identity; done
    identity    f42653c51959eedc3f32803d969eb104
    identity    f42653c51959eedc3f32803d969eb104

An index may be in another folder, and move with its tokens; tokens that are missing, cut or changed are named.

  $ mkdir sub moved
  $ leat adopt 'raw:raw?dtype=u16&end=256' -o sub/name && leat verify sub/name
  sub/name.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  sub/name: nothing is wrong; * checked in *. (glob)
  $ mv megatron.bin megatron.leat moved
  $ leat verify moved/megatron
  moved/megatron: nothing is wrong; 84.8 KiB checked in *. (glob)
  $ mv moved/megatron.bin there
  $ leat verify moved/megatron
  leat: moved/megatron.leat holds no tokens itself: cannot open moved/megatron.bin: No such file or directory
  [1]
  $ head -c 1000 there >moved/megatron.bin
  $ leat verify moved/megatron
  leat: moved/megatron.bin has 1000 bytes, but moved/megatron.leat says that its tokens are 60980 from byte 0: it is cut, or another file; restore it from its source, or adopt it again
  [3]
  $ sed 's/o/p/' raw >torn && mv torn raw
  $ leat verify raw
  leat: the first or last page of raw does not match raw.leat: the token file is damaged, or the two files do not belong together; restore both from their source
  [3]

An index that exists is replaced by --force, also if the name opens it, and even if it does not open.

  $ leat adopt datatrove.ds
  leat: datatrove.ds already has an index, datatrove.ds.leat: replace it (--force)
  [1]
  $ for name in datatrove.ds megatron.4 megatron.4.leat; do
  >     leat adopt "$name" --force -t bytes && same "${name%.leat}"
  > done
  datatrove.ds.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  megatron.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  megatron.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  $ leat adopt datatrove:datatrove.ds
  leat: datatrove.ds.leat already exists: choose another name or replace it (--force)
  [1]
  $ leat adopt datatrove:datatrove.ds --force
  datatrove.ds.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  $ head -c 100 megatron.4.leat >part && mv part megatron.4.leat
  $ leat adopt megatron.4 --force --end 256 && leat verify megatron.4
  megatron.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  megatron.4: nothing is wrong; 144.4 KiB checked in *. (glob)
  $ leat adopt llmc.4 --force
  leat: llmc.4 does not record where its documents start: name the token that ends each (end=ID in the name), use it without documents, or pack its texts with leat
  [1]
  $ leat adopt llmc.4 --force --end 256
  llmc.4.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  $ leat adopt llmc.4 --force --end 256 -o sub/llm
  sub/llm.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  $ leat adopt sub/llm --force
  leat: sub/llm already has an index, sub/llm.leat, which does not say which tool wrote */llmc.4: give the name of that file instead (glob)
  [2]
  $ leat adopt own --force
  leat: own already has an index of leat
  [2]
  $ leat adopt own
  leat: own already has an index of leat
  [2]
  $ leat adopt llmc:llmc.4 -o x
  leat: llmc:llmc.4 does not record where its documents start: name the token that ends each (end=ID in the name), use it without documents, or pack its texts with leat
  [1]
  $ leat adopt 'raw:there?dtype=u16&end=256' -o own
  leat: own.tokens is the name of a dataset of leat's own, finished or not: choose another name for the index
  [1]
  $ SOURCE_DATE_EPOCH=tomorrow leat adopt 'raw:there?dtype=u16&end=256' -o new
  leat: the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, not "tomorrow"
  [2]

A tokenizer must fit: these are the ids 1 and 70000.

  $ printf '\001\000\000\000\160\021\001\000' >wide
  $ leat adopt -t bytes 'raw:wide?dtype=u32&end=1'
  leat: token 1 of wide (document 1) is 70000, not below the vocabulary size 257: the file is damaged, or was made with another tokenizer
  [1]
  $ ls wide*
  wide
  wide.documents
  $ leat export --to raw --dtype u16 -o narrow.bin own >/dev/null
  $ leat adopt -t bytes 'raw:narrow.bin?dtype=u16&end=256'
  narrow.bin.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  $ leat adopt -t o200k_base --force 'raw:narrow.bin?dtype=u16&end=256'
  leat: ids in narrow.bin have 2 bytes, but the given vocabulary has 200019 entries, for which an index needs ids of 4 bytes: give the tokenizer that made these ids
  [2]
  $ leat verify narrow.bin
  narrow.bin: nothing is wrong; 84.9 KiB checked in *. (glob)

Tokens of two sizes are not merged, nor are those of a file whose last document is cut.

  $ leat export --to raw --dtype u32 -o broad.bin own >/dev/null
  $ leat adopt -t bytes 'raw:broad.bin?dtype=u32&end=256'
  broad.bin.leat: 30,490 tokens in 900 documents adopted in *. (glob)
  $ leat merge -o joined narrow.bin broad.bin
  leat: narrow.bin and broad.bin cannot be merged: they differ in their size of a token
  [1]
  $ { head -c 1000 narrow.bin; printf 'a\000'; } >short.bin
  $ leat adopt -t bytes 'raw:short.bin?dtype=u16' --end 256
  short.bin.leat: 501 tokens in 16 documents adopted in *. (glob)
  $ leat merge -o joined narrow.bin short.bin
  leat: short.bin: the document at token 485 lacks its begin or end token, and only whole documents are merged. If the dataset was adopted from a file that was cut, use it in a list (@FILE); else verify it
  [1]
  $ echo *.partial* new* x* joined* own.*
  *.partial* new* x* joined* own.leat own.tokens
