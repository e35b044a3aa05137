encode_compressed.t: leat encode and leat decode read what is compressed; here with gzip and with zstd.

  $ leat --version --json | grep -qE '"(isal|zlib)": true' && command -v zstd >/dev/null || exit 80

This is "Hi" in a member of gzip, as gzip -n makes it; then it is cut. In a line of ids that is cut off, 3 may be 33.

  $ printf '\037\213\010\000\000\000\000\000\000\003\363\310\004\000\016\016\027\115\002\000\000\000' >text.gz
  $ head -c 15 text.gz >cut.gz
  $ printf '\037\213\010\000\000\000\000\000\000\003\001\013\000\364\377%s\n%s' '72 105' '33 3' >ids.gz
  $ leat encode -t bytes text.gz
  72 105
  $ leat encode -t bytes cut.gz
  leat: cut.gz ends in the middle of a gzip member, at compressed byte 15
  [1]
  $ leat decode -t bytes ids.gz
  leat: ids.gz ends in the middle of a gzip member, at compressed byte 26
  "Hi"
  [1]

Kinds of zstd are told by their content, and may have several frames.

  $ printf '{"text":"a"}\n{"text":"b"}\n' >two.jsonl
  $ printf 'one\ntwo\n' >text
  $ awk 'BEGIN { for (i = 0; i < 40000; i++) printf "word %d \303\251 ", i * 7919 % 65536 }' >long
  $ printf '{"id":"x","text":"%s"}\n{"text":"after"}\n' "$(cat long)" >long.jsonl
  $ zstd -q two.jsonl long.jsonl text
  $ leat encode -t bytes two.jsonl.zst
  97
  98
  $ cat two.jsonl.zst two.jsonl.zst >four.jsonl.zst
  $ leat encode -t bytes four.jsonl.zst
  97
  98
  97
  98
  $ leat encode -t bytes --jsonl <two.jsonl.zst
  97
  98

A line may be longer than every buffer.

  $ leat encode -t bytes long >long.ids
  $ leat encode -t bytes long.jsonl.zst | head -n 1 | cmp - long.ids
  $ zstd -q <long.ids >ids.zst
  $ leat decode -t bytes --raw ids.zst | head -c -1 | cmp - long

What is cut or broken is named with its place.

  $ head -c 1000 long.jsonl.zst >cut.jsonl.zst
  $ leat encode -t bytes cut.jsonl.zst >/dev/null
  leat: cut.jsonl.zst ends in the middle of a zstd frame, at compressed byte 1000
  [1]
  $ { cat text.zst && echo garbage; } >garbage.zst
  $ leat encode -t bytes garbage.zst
  leat: garbage.zst: the zstd data is broken at compressed byte 21: no frame begins there
  [1]
