merge.t: leat merge makes the bytes of one run over all inputs, and says what cannot be merged.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ same_dataset() { # A B
  >     cmp "$1.tokens" "$2.tokens" && cmp "$1.leat" "$2.leat"
  > }
  $ write_three
  $ mkdir folder
  $ copy_dataset a folder/1
  $ copy_dataset b folder/2
  $ printf 'folder/2\nc\n' >list.txt

Parts are names of datasets, folders and lists.

  $ leat merge -o out a b c
  out: 62 tokens in 6 documents from 3 parts, 4.9 KiB in *. (glob)
  $ same_dataset out all
  $ leat merge --json --output=out2.leat a.leat b.tokens c --progress never
  {"output": "out2.leat", "parts": 3, "datasets": 3, "share": null, "documents": 6, "tokens": 62, "token_bytes": 124, "index_bytes": 4901, "identity": "1e1d56c89e3d49d76eae421d32c6056e", "deduplicated": 0, "splits": [], "seconds": *} (glob)
  $ same_dataset out2 all
  $ leat merge -oout3 folder c --json
  {"output": "out3", "parts": 2, "datasets": 3, "share": null, "documents": 6, "tokens": 62, "token_bytes": 124, "index_bytes": 4901, "identity": "1e1d56c89e3d49d76eae421d32c6056e", "deduplicated": 0, "splits": [], "seconds": *} (glob)
  $ same_dataset out3 all
  $ leat merge -o out4 a @list.txt
  out4: 62 tokens in 6 documents from 3 parts, 4.9 KiB in *. (glob)
  $ same_dataset out4 all
  $ leat merge -o alone b
  alone: 10 tokens in 2 documents from 1 part, 4.6 KiB in *. (glob)
  $ same_dataset alone b

These are larger than what is copied at once, by documents, tokens and bytes.

  $ leat-bench-dev counting -o big1 --tokens 2500000 --document-length 3 >/dev/null
  $ leat-bench-dev counting -o big2 --tokens 1500000 --document-length 100000 >/dev/null
  $ leat merge -o big big1 big2 big1
  big: 6,500,000 tokens in 1,668,652 documents from 3 parts, 50.6 MiB in *. (glob)
  $ cat big1.tokens big2.tokens big1.tokens | cmp - big.tokens
  $ leat verify big
  big: nothing is wrong; 50.6 MiB checked in *. (glob)
  $ leat info big --json | grep -o '"tokens": [0-9]*' | head -n 1
  "tokens": 6500000

Metadata of all parts are kept; those of one name that differ get the number of their part.

  $ make_dataset m1 metadata=same=1 metadata=other=x metadata=only=here document=1
  $ make_dataset m2 metadata=same=1 metadata=other=y document=2
  $ leat merge -o m m1 m2 >/dev/null
  $ leat info m --json | grep -o '"metadata": [^}]*'
  "metadata": [["only.1", "here"], ["other.1", "x"], ["other.2", "y"], ["same", "1"]]

Documents can be deduplicated, split and shuffled. Hashes are given by hand here: those of a text that is there twice.

  $ make_dataset h1 vocabulary=300 hashes hash=1 document=1 hash=2 document=2,2 hash=1 document=1
  $ make_dataset h2 vocabulary=300 hashes hash=2 document=2,2 hash=3 document=3,3,3
  $ leat merge -o d --dedup h1 h2
  2 of 5 documents left out: their text came before.
  d: 6 tokens in 3 documents from 2 parts, 4.4 KiB in *. (glob)
  $ leat cat d --tokens 0:6 --ids
  1 2 2 3 3 3
  $ leat info d --json | grep -o '"metadata": [^}]*'
  "metadata": [["leat.dedup", "1"]]
  $ leat merge -o s.leat --split low=0.5,high=0.50 --json h1 h2
  {"output": "s.leat", "parts": 2, "datasets": 2, "share": null, "documents": 0, "tokens": 0, "token_bytes": 0, "index_bytes": 4224, "identity": "cef5078c852c651743c52b28ffe3ffd0", "deduplicated": 0, "splits": [{"output": "s.low", "documents": 5, "tokens": 9, "identity": "f5f126872e0b9c02c46dc0a37e864a13"}, {"output": "s.high", "documents": 0, "tokens": 0, "identity": "cef5078c852c651743c52b28ffe3ffd0"}], "seconds": *} (glob)
  $ leat info s.low --json | grep -o '"metadata": [^}]*'
  "metadata": [["leat.split", "low"], ["leat.splits", "low=0.5,high=0.5"]]
  $ leat merge -o s.tokens --split low=0.5,high=0.5 --force --json h1 h2 | grep -o '"output": "[^"]*"'
  "output": "s.tokens"
  "output": "s.low"
  "output": "s.high"
  $ leat merge -o x1 --shuffle 7 big1 big2 --memory 1M
  x1: 4,000,000 tokens in 834,334 documents from 2 parts, 26.7 MiB in *. (glob)
  $ leat merge -o x2 --shuffle 7 big1 big2 --memory 1GiB
  x2: 4,000,000 tokens in 834,334 documents from 2 parts, 26.7 MiB in *. (glob)
  $ same_dataset x1 x2
  $ leat verify x1
  x1: nothing is wrong; 26.7 MiB checked in *. (glob)
  $ leat merge -o x2 --force --shuffle 8 big1 big2 >/dev/null
  $ cmp -s x1.tokens x2.tokens
  [1]
  $ make_dataset masked vocabulary=300 mask hashes document=1
  $ leat merge -o joined-mask h1 masked
  joined-mask: 5 tokens in 4 documents from 2 parts, 4.5 KiB in *. (glob)
  $ leat info joined-mask | grep stores
    stores      text hashes, mask

What it would need is named if it is not there, as are splits that are none.

  $ leat merge -o new --dedup big1
  leat: big1 has no text hashes, which deduplication needs; pack its inputs again (leat pack)
  [1]
  $ leat merge -o new --split a=1 big1
  leat: big1 has no text hashes, which splitting needs; pack its inputs again (leat pack)
  [1]
  $ for split in a leat=0.1 a/b=0.1 a=0 a=1.1 a=0.5,b=0.6 a=x a=0.1,a=0.2 a= a=0.0000000000000000001 packed=1; do
  >     leat merge -o new --split $split h1 || echo "[$?]"
  > done
  leat: --split: "a" is not NAME=FRACTION,NAME=FRACTION,... (leat merge --help lists the options)
  [2]
  leat: invalid split name "leat": use letters, digits, '-' and '_', but not leat, tokens, partial or packed
  [2]
  leat: invalid split name "a/b": use letters, digits, '-' and '_', but not leat, tokens, partial or packed
  [2]
  leat: the fraction of split a is "0"; it must be a decimal number above 0 and up to 1, with at most 18 digits after the point
  [2]
  leat: the fraction of split a is "1.1"; it must be a decimal number above 0 and up to 1, with at most 18 digits after the point
  [2]
  leat: the fractions up to that of split b add up to more than 1
  [2]
  leat: the fraction of split a is "x"; it must be a decimal number above 0 and up to 1, with at most 18 digits after the point
  [2]
  leat: two splits are called a
  [2]
  leat: the fraction of split a is ""; it must be a decimal number above 0 and up to 1, with at most 18 digits after the point
  [2]
  leat: the fraction of split a is "0.0000000000000000001"; it must be a decimal number above 0 and up to 1, with at most 18 digits after the point
  [2]
  leat: invalid split name "packed": use letters, digits, '-' and '_', but not leat, tokens, partial or packed
  [2]
  $ leat merge -o new --split "$(seq -f 'n%g=0.001' -s , 65)" h1
  leat: --split: "n1=0.001,n2=0.001,n3=0.001,n4=0.001,n5=0.001,n6=0.001,n7=0.001,n8=0.001,n9=0.001,n10=0.001,n11=0.001" has more than 64 splits (leat merge --help lists the options)
  [2]
  $ echo new*
  new*

An output that exists stops all of them.

  $ make_dataset there.b vocabulary=300 document=5
  $ leat merge -o there --split a=0.1,b=0.1 h1
  leat: there.b.leat already exists; choose another name or replace it (--force)
  [1]
  $ echo there*
  there.b.leat there.b.tokens
  $ leat merge -o there --split a=0.1,b=0.1 --force h1
  there.a: 4 tokens in 3 documents.
  there.b: 0 tokens in 0 documents.
  there: 0 tokens in 0 documents from 1 part, 4.1 KiB in *. (glob)
  $ for name in there there.a there.b; do leat verify $name; done
  there: nothing is wrong; 4.1 KiB checked in *. (glob)
  there.a: nothing is wrong; 4.4 KiB checked in *. (glob)
  there.b: nothing is wrong; 4.2 KiB checked in *. (glob)

A run of leat pack that stopped has the name of the output; --force leaves nothing of it. One was killed before it could
list the rejects.

  $ printf '{"text":"a"}\n{"text":"b"}\n1\n2\n' >stopped.jsonl
  $ for name in over over.a; do
  >     leat pack -o $name -t bytes --max-rejects 1 stopped.jsonl 2>/dev/null || echo "[$?]"
  >     mv $name.rejects.jsonl $name.partial.rejects
  > done
  [4]
  [4]
  $ leat merge -o over.leat --split a=0.5 h1
  leat: an earlier run of over.a.leat stopped at a checkpoint; resume it or start over (--force)
  [1]
  $ echo over*.run
  over.a.partial.run over.partial.run
  $ leat merge -o over.leat --split a=0.5 --force h1
  over.a: 4 tokens in 3 documents.
  over.leat: 0 tokens in 0 documents from 1 part, 4.1 KiB in *. (glob)
  $ echo over*
  over.a.leat over.a.tokens over.leat over.tokens

What a run that was killed has left is named with the command that removes it, also if its name has letters of a
pattern; what another run has is not.

  $ touch 'a *.partial.tokens' 'a *.b.partial.tokens' 'a *.c.partial.tokens' ab.partial.tokens
  $ leat merge -o 'a *' --split b=0.5 h1 nowhere 2>said
  [1]
  $ cat said
  leat: cannot open nowhere.leat: No such file or directory; no dataset in this folder has a similar name
  leat: the same command starts over; to give it up, remove what is left: rm -r 'a *'.partial.* 'a *'.b.partial.*
  $ eval "$(sed -n 's/.*what is left: //p' said)"
  $ ls a*partial*
  a *.c.partial.tokens
  ab.partial.tokens
  $ leat merge -o 'a *' --split b=0.5 h1 nowhere
  leat: cannot open nowhere.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ rm a*partial*

Of shares of a run, those that are missing are named, at an end, too.

  $ seq -f '{"text":"document %g"}' 4 >shares.jsonl
  $ leat pack -o whole -t bytes shares.jsonl >/dev/null
  $ for i in 1 2 3 4; do leat pack -o share.$i --part $i/4 -t bytes shares.jsonl >/dev/null; done
  $ for shares in '1 3' '1 2' '2 3' '2 4' '2 2'; do
  >     leat merge -o some --force --json $(seq -f share.%g $shares) | grep -o '"share": "[^"]*"'
  > done
  leat: warning: some has shares 1-3 of 4, and is not whole until share 4 is merged
  "share": "1-3/4"
  leat: warning: some has shares 1-2 of 4, and is not whole until shares 3-4 are merged
  "share": "1-2/4"
  leat: warning: some has shares 2-3 of 4, and is not whole until shares 1 and 4 are merged
  "share": "2-3/4"
  leat: warning: some has shares 2-4 of 4, and is not whole until share 1 is merged
  "share": "2-4/4"
  leat: warning: some has share 2 of 4, and is not whole until shares 1 and 3-4 are merged
  "share": "2/4"
  $ leat merge -o some --force share.1 share.2
  leat: warning: some has shares 1-2 of 4, and is not whole until shares 3-4 are merged
  some: 22 tokens in 2 documents from 2 parts, 4.8 KiB in *. (glob)
  $ leat merge -o rest share.3 share.4
  leat: warning: rest has shares 3-4 of 4, and is not whole until shares 1-2 are merged
  rest: 22 tokens in 2 documents from 2 parts, 4.8 KiB in *. (glob)
  $ leat merge -o stages some rest
  stages: 44 tokens in 4 documents from 2 parts, 4.8 KiB in *. (glob)
  $ same_dataset stages whole

A pattern of a shell has the twelve parts of a run as c.1.leat c.1.tokens c.10.leat c.10.tokens ... c.2.leat, and beside
them rejects, a file for --order fit, an unfinished part, what an arranging run has left, and an older result.

  $ mkdir glob
  $ cd glob
  $ awk 'BEGIN { for (i = 1; i <= 60; i++) { if (i % 9 == 0) print "broken"; printf "{\"text\":\"document %d\"}\n", i } }' >in
  $ pack() {
  >     leat pack -t bytes --format jsonl --max-rejects 99 "$@" in >/dev/null
  > }
  $ pack -o whole
  $ for i in $(seq 12); do pack -o c.$i --part $i/12; done
  $ leat fit c.3 --seq-len 64 >/dev/null
  $ leat pack -o c.4 -t bytes --dedup --force --max-rejects 1 ../stopped.jsonl 2>/dev/null
  [4]
  $ leat pack -o c.13 -t bytes --max-rejects 1 ../stopped.jsonl 2>/dev/null
  [4]
  $ leat pack -o c -t bytes --max-rejects 9 ../stopped.jsonl >/dev/null
  $ ls -d c.*.rejects.jsonl c.*.fit c.*.packed c.*.checkpoint
  c.11.rejects.jsonl
  c.13.partial.checkpoint
  c.13.rejects.jsonl
  c.2.rejects.jsonl
  c.3.fit
  c.4.partial.packed
  c.4.rejects.jsonl
  c.6.rejects.jsonl
  c.7.rejects.jsonl
  c.9.rejects.jsonl
  $ leat merge -o all --json c.*
  leat: warning: c.13 is left out: files of it are named, but no finished dataset
  leat: warning: c is left out: it is no part of the run, as c.* are
  {"output": "all", "parts": 12, "datasets": 12, "share": null, "documents": 60, "tokens": 711, "token_bytes": 1422, "index_bytes": 8000, "identity": "269df36aa9561dfb9b964aa79f7dee61", "deduplicated": 0, "splits": [], "seconds": *} (glob)
  $ same_dataset all whole
  $ leat merge -o all --force c.1?.* c.?.*
  leat: warning: c.13 is left out: files of it are named, but no finished dataset
  all: 711 tokens in 60 documents from 12 parts, 9.2 KiB in *. (glob)
  $ same_dataset all whole
  $ leat merge -o all --force c.*.leat
  all: 711 tokens in 60 documents from 12 parts, 9.2 KiB in *. (glob)
  $ same_dataset all whole
  $ leat merge -o all --force c.*.tokens
  leat: warning: c.13 is left out: files of it are named, but no finished dataset
  all: 711 tokens in 60 documents from 12 parts, 9.2 KiB in *. (glob)
  $ same_dataset all whole
  $ leat merge -o c --force c.*
  leat: warning: c.13 is left out: files of it are named, but no finished dataset
  leat: warning: c is left out: it is no part of the run, as c.* are
  c: 711 tokens in 60 documents from 12 parts, 9.2 KiB in *. (glob)
  $ same_dataset c whole

If a pattern has the output itself, that is refused, also with --force.

  $ for i in 1 2 3; do pack -o un.$i; done
  $ leat merge -o un un.1 un.2 un.3
  un: 2,133 tokens in 180 documents from 3 parts, 18.7 KiB in *. (glob)
  $ leat merge -o un un*
  leat: un.leat is among the parts, and a file of un, the dataset to write: choose another name for that, or a narrower pattern for the parts
  [1]
  $ leat merge --force -o un un*
  leat: un.leat is among the parts, and a file of un, the dataset to write: choose another name for that, or a narrower pattern for the parts
  [1]
  $ leat merge -o un --force un un.1
  un: 2,844 tokens in 240 documents from 2 parts, 23.4 KiB in *. (glob)

Some words are none of all this.

  $ leat merge -o new un*.rejects.jsonl
  leat: warning: un.1 is left out: files of it are named, but no finished dataset
  leat: warning: un.2 is left out: files of it are named, but no finished dataset
  leat: warning: un.3 is left out: files of it are named, but no finished dataset
  leat: no part is a finished dataset: un.1.rejects.jsonl only lies beside one
  [1]
  $ echo '{"text":"x"}' >un.jsonl
  $ leat merge -o new un.*
  leat: cannot open un.jsonl.leat: No such file or directory; un.jsonl itself exists, but is not a dataset: pack it into one (leat pack)
  [1]
  $ leat pack --run r --parts 2 -t bytes --format jsonl --max-rejects 99 in >/dev/null
  $ leat pack --run r --part 1 >/dev/null
  $ leat pack --run r --part 2 >/dev/null
  $ leat merge -o new r/*
  leat: r/leat-run is a file of a run in parts: give the folder of the run, r/, as the part
  [1]
  $ leat merge -o new r/part*
  new: 711 tokens in 60 documents from 2 parts, 9.2 KiB in *. (glob)
  $ same_dataset new whole
  $ cd ..

An output that exists is replaced by --force alone, even if it is one of the parts; a failure leaves it as it was.

  $ leat merge -o out a
  leat: out.leat already exists; choose another name or replace it (--force)
  [1]
  $ same_dataset out all
  $ leat merge -o out a --force
  out: 49 tokens in 3 documents from 1 part, 4.7 KiB in *. (glob)
  $ same_dataset out a
  $ leat merge -o out --force out b c
  out: 62 tokens in 6 documents from 3 parts, 4.9 KiB in *. (glob)
  $ same_dataset out all
  $ leat merge -o out --force a none
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ same_dataset out all
  $ leat merge -o new a none
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ echo new*
  new*

Some names are none of an output.

  $ for name in . .. folder/ folder/. folder/.. x.partial x.partial.leat x.partial.tokens ''; do
  >     leat merge --force -o "$name" a || echo "[$?]"
  > done
  leat: invalid dataset name ".": it must end in a file name that does not end in a dot
  [2]
  leat: invalid dataset name "..": it must end in a file name that does not end in a dot
  [2]
  leat: invalid dataset name "folder/": it must end in a file name that does not end in a dot
  [2]
  leat: invalid dataset name "folder/.": it must end in a file name that does not end in a dot
  [2]
  leat: invalid dataset name "folder/..": it must end in a file name that does not end in a dot
  [2]
  leat: invalid dataset name "x.partial": names that end in .partial are for unfinished datasets
  [2]
  leat: invalid dataset name "x.partial.leat": names that end in .partial are for unfinished datasets
  [2]
  leat: invalid dataset name "x.partial.tokens": names that end in .partial are for unfinished datasets
  [2]
  leat: invalid dataset name "": it must end in a file name that does not end in a dot
  [2]
  $ echo x.*
  x.*
  $ leat merge -o none/new a
  leat: the folder for none/new.leat does not exist
  [1]
  $ leat merge -o s3://b/x a
  leat: s3://b/x is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]

What does not fit together is not merged.

  $ make_dataset vocabulary vocabulary=300 tokenizer=mine.json file=x document=1
  $ make_dataset no-end vocabulary=257 document=1
  $ make_dataset other-end vocabulary=257 end=255 document=1
  $ make_dataset begin vocabulary=257 begin=1 end=256 document=2
  $ make_dataset no-tokenizer vocabulary=257 end=256 document=2
  $ leat merge -o new a vocabulary
  leat: a and vocabulary cannot be merged: they differ in their vocabulary size; pack both with one tokenizer: a has bytes, vocabulary has mine.json
  [1]
  $ leat merge -o new a b no-end
  leat: a and no-end cannot be merged: they differ in their end-of-document token
  [1]
  $ leat merge -o new a other-end
  leat: a and other-end cannot be merged: they differ in their end-of-document token
  [1]
  $ leat merge -o new a begin
  leat: a and begin cannot be merged: they differ in their begin token
  [1]
  $ leat merge -o new a no-tokenizer
  leat: a and no-tokenizer cannot be merged: they differ in their tokenizer's fingerprint; pack both with one tokenizer, or write one with the fingerprint of the other
  [1]

A damaged part is not taken over in silence.

  $ write_numbered n
  $ copy_dataset n p
  $ overwrite p.tokens 10000 '~~'
  $ leat merge -o new p
  leat: page 2 of p.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  [3]
  $ echo new*
  new*

The time of creation is that of SOURCE_DATE_EPOCH.

  $ SOURCE_DATE_EPOCH=86400 leat merge -o dated a b >/dev/null
  $ leat info dated | grep created
    created     1970-01-02T00:00:00Z
  $ SOURCE_DATE_EPOCH='' leat merge -o undated a b >/dev/null
  $ leat info undated | grep created
    created     not recorded
  $ SOURCE_DATE_EPOCH=tomorrow leat merge -o new a b
  leat: the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, not "tomorrow"
  [2]
  $ echo new*
  new*

Wrong options are refused.

  $ leat merge a b
  leat: --output OUT is missing: the dataset to write: OUT.tokens and OUT.leat (leat merge --help lists the options)
  [2]
  $ leat merge -o new
  leat: PART... is missing: leat merge PART... (leat merge --help shows how)
  [2]
  $ leat merge a -o
  leat: --output needs a value: --output OUT (leat merge --help lists the options)
  [2]

Datasets of values of a field are merged value by value, and what is printed to go on with can be copied, whatever the
output is called. Several datasets have no identity of all.

  $ printf '{"text":"a","k":"x"}\n{"text":"b","k":"y"}\n' >by.jsonl
  $ for part in 1 2; do
  >     leat pack -t bytes -o "by-$part" --by k --part $part/2 by.jsonl >/dev/null
  > done
  $ leat merge --json -o by by-1 by-2
  {"output": "by", "parts": 2, "datasets": 2, "share": null, "documents": 2, "tokens": 4, "token_bytes": 8, "index_bytes": 9888, "identity": null, "deduplicated": 0, "splits": [], "outputs": [{"name": "by.x", "value": "x", "documents": 1, "tokens": 2, "identity": "5ff1f88fc9e7516fe07b2ebb0d60ba6d"}, {"name": "by.y", "value": "y", "documents": 1, "tokens": 2, "identity": "4b9186925c04b5a56a97594b846265c2"}], "seconds": *} (glob)
  $ leat merge -o "it's by" by-1 by-2
  it's by.*: 4 tokens in 2 documents from 2 parts, 9.7 KiB in *. (glob)
  it's by.x: 2 tokens in 1 document.
  it's by.y: 2 tokens in 1 document.
  leat order --seq-len 2048 \
    --source 'it'\''s by.x:2' \
    --source 'it'\''s by.y:2'
