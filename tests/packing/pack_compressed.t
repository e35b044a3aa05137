pack_compressed.t: leat pack reads texts compressed with xz, bzip2 and lz4, by their names, under other names and from
standard input: the tokens are those of the plain text. What is cut off is packed as far as it goes, and named.

  $ made=$SOURCES/tests/corpus/made
  $ cp "$made/text" plain.txt
  $ leat pack -t bytes -o plain plain.txt >/dev/null

A build without one of the libraries cannot read all of these.

  $ for form in xz bz2 lz4; do
  >     cp "$made/one.$form" one.txt.$form
  >     leat pack -t bytes -o named one.txt.$form --force >/dev/null 2>said ||
  >         ! grep 'this build cannot read' said || exit 80
  >     cmp named.tokens plain.tokens
  >     cp one.txt.$form other
  >     leat pack -t bytes -o other --format text other --force >/dev/null
  >     cmp other.tokens plain.tokens
  >     leat pack -t bytes -o piped --format text - --force <one.txt.$form >/dev/null
  >     cmp piped.tokens plain.tokens
  >     head -c 200 one.txt.$form >cut.txt.$form
  >     leat pack -t bytes -o cut cut.txt.$form --force >/dev/null || echo "[$?]"
  > done
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.txt.xz, at byte 200: it ends in the middle of an xz stream; what should follow is missing
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o cut cut.txt.xz
  [1]
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.txt.bz2, at byte 200: it ends in the middle of a bzip2 stream; what should follow is missing
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o cut cut.txt.bz2
  [1]
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.txt.lz4, at byte 200: it ends in the middle of an lz4 frame; what should follow is missing
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o cut cut.txt.lz4
  [1]

Before the first frame of lz4, and of zstd, may stand frames that these have in common; nothing else is looked for behind
them, where "gzip data is broken at compressed byte 0" was said.

  $ skip='\0120\052\0115\030\03\0\0\0abc\0137\052\0115\030\0\0\0\0'
  $ printf %b "$skip" | cat - "$made/one.lz4" >skip
  $ leat pack -t bytes -o skipped skip
  leat: skip is compressed with lz4: let its name end in .jsonl.lz4 or .txt.lz4, or choose the format (--format NAME)
  [1]
  $ leat pack -t bytes -o skipped --format text - <skip >/dev/null
  $ cmp skipped.tokens plain.tokens
  $ leat pack -t bytes -o skipped --force --format text skip >/dev/null
  $ cmp skipped.tokens plain.tokens
  $ echo '{"text":"a"}' | gzip -c >a.jsonl.gz
  $ printf %b "$skip" | cat - a.jsonl.gz | tee behind >gzip.jsonl.zst
  $ for file in gzip.jsonl.zst behind; do
  >     leat pack -t bytes -o gzip --force --format jsonl $file >/dev/null
  > done
  leat: warning: no document was found in 1 input
  leat: 1 input was cut off or broken, and packed as far as it was readable: gzip.jsonl.zst, at byte 19: its zstd data is broken; * bytes were not read (glob)
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o gzip --format jsonl gzip.jsonl.zst
  leat: warning: no document was found in 1 input
  leat: 1 input was cut off or broken, and packed as far as it was readable: behind, at byte 19: its zstd data is broken; * bytes were not read (glob)
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o gzip --format jsonl behind
  [1]

A zstd frame that needs a dictionary is not damage.

  $ printf '\50\265\57\375\41\7\1\11\0\0a' >dictionary.txt.zst
  $ printf %b "$skip" | cat - dictionary.txt.zst >behind.txt.zst
  $ for file in dictionary behind; do
  >     leat pack -t bytes -o dictionary --force $file.txt.zst || echo "[$?]"
  >     leat pack -t bytes -o dictionary --force --allow-truncated $file.txt.zst || echo "[$?]"
  > done
  leat: dictionary.txt.zst is compressed by zstd with the dictionary 7, which leat cannot be given: decompress it first (zstd -d -D DICTIONARY)
  [1]
  leat: dictionary.txt.zst is compressed by zstd with the dictionary 7, which leat cannot be given: decompress it first (zstd -d -D DICTIONARY)
  [1]
  leat: behind.txt.zst is compressed by zstd with the dictionary 7, which leat cannot be given: decompress it first (zstd -d -D DICTIONARY)
  [1]
  leat: behind.txt.zst is compressed by zstd with the dictionary 7, which leat cannot be given: decompress it first (zstd -d -D DICTIONARY)
  [1]

What is seen late, since its first bytes cost much, does not promise that --resume helps.

  $ mkdir late
  $ printf '{"text":"a"}\n{"text":1}\n' >late/a.jsonl
  $ tar -cf a.tar late
  $ bzip2 -c a.tar >late/z.jsonl.bz2 || exit 80
  $ leat pack -t bytes -o late.out --max-rejects 0 late
  leat: 1 of 2 records was rejected, more than allowed; late.out.rejects.jsonl lists them with the reasons, for example: "text" is a number, not a string
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o late.out late
  leat: to give it up, remove what it left: rm -r late.out.partial.* late.out.rejects.jsonl
  [4]
  $ leat pack -t bytes --force -o late.out --max-rejects 1 --resume late
  leat: late/z.jsonl.bz2 is compressed, and what it holds is a tar archive: unpack it first (tar -xf) (--allow-binary packs it all the same)
  leat: --resume fails the same way: repair or leave out this input, and start over with --force
  [1]
