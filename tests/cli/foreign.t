foreign.t: the commands take files of other tools, in place. What such files do not record is said where it is asked
for. Nothing is written but FILE.documents, and that only where the name says which token ends documents.

These are "AB|", "C|", "DE" and an end that is cut, as ids of 2 bytes; | is 7. Megatron's index makes of them documents
of 2, 1 and 2 sequences: "AB|" "" "C|" "D" "E".

  $ printf 'A\0B\0\7\0C\0\7\0D\0E\0' >train.bin
  $ raw='raw:train.bin?dtype=u16'
  $ cp train.bin web.bin
  $ {
  >     printf 'MMIDIDX\0\0\1\0\0\0\0\0\0\0\10\5\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0'
  >     printf '\3\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\1\0\0\0'
  >     printf '\0\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\14\0\0\0\0\0\0\0'
  >     printf '\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0'
  > } >web.idx
  $ leat cat web --document 0:3 --ids | tee wanted
  65 66 7
  67 7
  68 69
  $ for name in web.bin web.idx megatron:web "$raw&end=7"; do
  >     leat cat "$name" --document 0:3 --ids | diff wanted -
  > done
  $ ls
  train.bin
  train.bin.documents
  wanted
  web.bin
  web.idx

A file of that name that is somebody else's is not replaced.

  $ cp train.bin mine && echo mine >mine.documents && echo 'raw:mine?dtype=u16&end=7' >list
  $ leat info @list | grep '^  tokens '
    tokens      7
  $ cat mine.documents
  mine

What is not recorded is shown as such.

  $ leat info web
  web
    tokens      7
    documents   3
    width       2 bytes per token
    vocabulary  65,536 at most; the real size is not recorded
    end         not recorded
    tokenizer   not recorded
    fingerprint none
    identity    3c480c473ccce7e67b835af5de77c687
    created     not recorded
    size        14 bytes of tokens, 0 bytes of index
    format      Megatron (web.bin, web.idx); leat adopt adds hashes and a tokenizer
  
  document lengths in tokens: shortest 2, longest 3, mean 2.3
    2 - 3                                   3 100.0 % ########################################
  $ leat info --json web | grep -o '"kind": "[^"]*"'
  "kind": "megatron"
  $ leat info "$raw" | grep '^  documents'
    documents   not recorded

A tokenizer can be named in the name of the file, or by an option.

  $ leat cat web --document 0
  leat: web stores no tokenizer, so its text cannot be shown; use --ids or --tokenizer
  [1]
  $ leat cat "$raw&end=7&tokenizer=bytes" --document 0:3
  AB
  C
  DE
  $ leat info --json "$raw&tokenizer=bytes" | grep -o '"tokenizer": {"name": "[^"]*"'
  "tokenizer": {"name": "bytes"
  $ echo '{"added_tokens":[],"model":{"type":"WordLevel","vocab":{"a":65,"b":66,"c":67,"?":7},"unk_token":"?"}}' >t.json
  $ leat cat "$raw&end=7&tokenizer=t.json" --document 1
  c (no-eol)
  $ leat cat "$raw&end=7&tokenizer=none.json" --document 1
  leat: the tokenizer none.json, stored in raw:train.bin?dtype=u16&end=7&tokenizer=none.json, cannot be opened, so its text cannot be shown; use --ids: unknown built-in tokenizer "none.json" in the dataset: this version of leat lacks it
  [1]
  $ leat cat "$raw&end=7&tokenizer=nowhere/gpt2" --document 1
  leat: cannot open nowhere/gpt2: No such file or directory
  [1]
  $ printf '%s\n' "$raw&tokenizer=gpt2" "$raw&tokenizer=bytes" >kinds.txt
  $ leat info @kinds.txt
  leat: raw:train.bin?dtype=u16&tokenizer=gpt2 and raw:train.bin?dtype=u16&tokenizer=bytes cannot be joined: their names say different tokenizers
  [1]
  $ leat cat "$raw&tokenizer=" --document 1
  leat: raw:train.bin?dtype=u16&tokenizer=: unknown key "tokenizer"; it may have dtype=u16|u32, end=ID or begin=ID, tokenizer=SPEC, and mask=FILE
  [2]
  $ leat adopt "$raw&end=7&tokenizer=bytes"
  leat: raw:train.bin?dtype=u16&end=7&tokenizer=bytes names a tokenizer, which an index stores whole: give it as tokenizer, too
  [2]
  $ leat cat "$raw&end=7" --document 0:3 -t bytes
  AB
  C
  DE
  $ leat cat "$raw&end=7" --tokens 6:7 --tokenizer bytes
  E (no-eol)
  $ leat cat web --document 0 --ids -t bytes
  leat: --tokenizer and --ids cannot be combined (leat cat --help lists the options)
  [2]

Here the first document is cut, and its A is text; the second has its begin token, 7.

  $ printf 'A\0B\0\7\0C\0' >begins.bin
  $ leat cat 'raw:begins.bin?dtype=u16&begin=7' --document 0:2 -t bytes
  AB
  C
  $ leat cat "$raw" --tokens 1:6 --ids
  66 7 67 7 68
  $ leat cat "$raw" --document 0 --ids
  leat: raw:train.bin?dtype=u16 does not record where its documents start: name the token that ends each (end=ID in the name), use it without documents, or pack its texts with leat
  [1]

Names may be those of leat's own datasets, too: these come first.

  $ printf '{"text":"own"}\n' >own.jsonl
  $ for name in both.pbin both.ds both; do leat pack -t bytes -o $name own.jsonl >/dev/null; done
  $ cp web.bin both.bin
  $ cp web.idx both.idx
  $ head -c 100 /dev/zero | tee both.pbin both.ds >both.ds.index
  $ for name in both.pbin both.ds both both.leat both.tokens both.bin both.idx megatron:both; do
  >     echo "$name $(leat info $name --json | grep -o '"kind": "[^"]*"')"
  > done
  both.pbin "kind": "leat"
  both.ds "kind": "leat"
  both "kind": "leat"
  both.leat "kind": "leat"
  both.tokens "kind": "leat"
  both.bin "kind": "megatron"
  both.idx "kind": "megatron"
  megatron:both "kind": "megatron"

Other commands take them.

  $ leat find web --token 3
  document  1
  input     not recorded
  tokens    3:5 (2)
  $ leat find web --id x
  leat: this dataset has no document ids stored
  [1]
  $ leat verify web
  leat: web: 1 dataset stores no hashes of its tokens: only invalid ids and documents show damage there
  web: nothing is wrong; 14 bytes checked in *. (glob)
  $ leat order --source web:1 --source "$raw&end=7:2" --seq-len 2 --epochs 1
        sample source       window     document          token
             0      1            2            1              4
             1      0            0            0              0
             2      1            0            0              0
             3      1            1            0              2
             4      0            1            0              2
             5      0            2            1              4
  $ leat order --source "$raw" --seq-len 2 --order sequential --count 2
        sample source       window     document          token
             0      0            0            -              0
             1      0            1            -              2
  $ leat trace --source web:1 --seq-len 3 --samples 0:2
        sample source     document              tokens input:byte id
             0      0            1                 0:2 -
             0      0            2                 0:1 -
             1      0            0                 0:3 -
  $ read_dataset web
  7 tokens of 2 bytes in 3 documents; ids below 65536
  first tokens: 65 66 7 67 7 68 69
  document 0: tokens 0 to 3, from no recorded input

What they do not have in common is named; a scheme is not taken for a name, nor a path behind a colon for a weight.

  $ leat order --source web:1 --source "$raw&begin=7:1" --source "raw:train.bin?dtype=u16&begin=8:1" --seq-len 2
  leat: raw:train.bin?dtype=u16&begin=7 and raw:train.bin?dtype=u16&begin=8 cannot be in one plan: they differ in their begin token
  [1]
  $ leat order --source 'raw:none?dtype=u16' --seq-len 2
  leat: cannot open none: No such file or directory
  [1]
  $ leat order --source c:none/at/all --seq-len 2
  leat: cannot open c:none/at/all.leat: No such file or directory; no folder c:none/at/
  [1]

Files may not be whole, or in a folder, or not enough for what is asked.

  $ mkdir half folder
  $ cp web.bin half/d.bin
  $ cp web.idx half/e.idx
  $ cp web.bin half/k.bin
  $ echo 'something else' >half/k.idx
  $ cp web.bin web.idx folder
  $ leat info half/d
  leat: cannot open half/d.leat: No such file or directory; half/d.bin is there, but its index half/d.idx is missing
  [1]
  $ leat info half/d.bin
  leat: cannot open half/d.bin.leat: No such file or directory; half/d.bin is text in UTF-16: convert it to UTF-8 first, with iconv for example; if it is Megatron's, its index is missing: half/d.idx (leat pack)
  [1]
  $ leat info half/e
  leat: cannot open half/e.bin: No such file or directory; half/e.idx needs it: restore both from their source
  [1]
  $ leat info half/e.idx
  leat: cannot open half/e.bin: No such file or directory; half/e.idx needs it: restore both from their source
  [1]
  $ leat info half/k
  leat: cannot open half/k.leat: No such file or directory; half/k.idx is not an index of Megatron: it does not begin with MMIDIDX
  [1]
  $ leat info half/k.idx
  leat: cannot open half/k.idx.leat: No such file or directory; half/k.idx is not an index of Megatron: it does not begin with MMIDIDX
  [1]
  $ leat info half/k.bin
  leat: cannot open half/k.bin.leat: No such file or directory; half/k.idx is not an index of Megatron: it does not begin with MMIDIDX
  [1]
  $ leat info folder/wbe
  leat: cannot open folder/wbe.leat: No such file or directory; did you mean folder/web?
  [1]
  $ leat info folder/nono
  leat: cannot open folder/nono.leat: No such file or directory; no dataset in folder/ has a similar name
  [1]
  $ leat info half/nono
  leat: cannot open half/nono.leat: No such file or directory; no dataset in half/ has a similar name
  [1]
  $ leat info folder
  leat: the folder folder holds no dataset (no *.leat in it); it has files of Megatron's, such as web: name each of them, or list them in a file (@FILE)
  [1]
  $ leat merge -o merged web web
  leat: web has files of another tool, which lack the hashes and records that merging reads: adopt them first
  [1]
  $ leat order --order megatron --source web --seq-len 1 --split 100,1,1 --use test
  leat: the split gives "test" none of the 5 sequences of web (it begins and ends at number 5): give it a larger share, or use more documents
  [2]
