pack_lies.t: what is compressed in a form that leat does not read, or has the name of one form and is of another, is
refused with the command that unpacks it, also within what is compressed and on standard input. Of a tar archive called
.jsonl.gz, all but each member's first record was packed.

  $ for name in c.br c.Z c.zip c.tar.xz c.7z; do
  >     printf 'x' >$name
  >     leat pack -t bytes -o no $name || [ $? -eq 1 ] || echo another code
  > done
  leat: c.br is compressed with brotli: decompress it first (brotli -d), or compress it with zstd or gzip instead
  leat: c.Z is compressed with compress: decompress it first (uncompress), or compress it with zstd or gzip instead
  leat: c.zip is a zip archive: unpack it first (unzip)
  leat: c.tar.xz is a tar archive: unpack it first (tar -xf)
  leat: c.7z is a 7z archive: unpack it first (7z x)

The bytes tell what is in it; --allow-binary packs it all the same.

  $ awk 'BEGIN { for (i = 0; i < 300; i++) printf "{\"text\":\"%d\"}\n", i }' >a.jsonl
  $ tar -cf a.tar a.jsonl
  $ gzip -c a.jsonl >a.jsonl.gz
  $ gzip -c a.tar >tar.jsonl.gz
  $ gzip -c a.jsonl.gz >twice.jsonl.gz
  $ printf 'PK\3\4\24\0\0\0' | cat - a.jsonl | gzip >zip.jsonl.gz
  $ printf 'PAR1....PAR1' | gzip >rows.jsonl.gz
  $ for input in tar twice zip rows; do
  >     leat pack -t bytes -o lie --force $input.jsonl.gz || echo "[$?]"
  >     leat pack -t bytes -o lie --force - <$input.jsonl.gz || echo "[$?]"
  >     leat pack -t bytes -o lie --force --allow-binary --max-rejects 100% $input.jsonl.gz >/dev/null 2>&1 || echo "[$?]"
  > done
  leat: tar.jsonl.gz is compressed, and what it holds is a tar archive: unpack it first (tar -xf) (--allow-binary packs it all the same)
  [1]
  leat: standard input is compressed, and what it holds is a tar archive: unpack it first (tar -xf) (--allow-binary packs it all the same)
  [1]
  leat: twice.jsonl.gz is compressed, and what it holds is compressed with gzip: decompress it first, or compress it once only (--allow-binary packs it all the same)
  [1]
  leat: standard input is compressed, and what it holds is compressed with gzip: decompress it first, or compress it once only (--allow-binary packs it all the same)
  [1]
  leat: zip.jsonl.gz is compressed, and what it holds is a zip archive: unpack it first (unzip) (--allow-binary packs it all the same)
  [1]
  leat: standard input is compressed, and what it holds is a zip archive: unpack it first (unzip) (--allow-binary packs it all the same)
  [1]
  leat: rows.jsonl.gz is compressed, and what it holds is a Parquet file: decompress it first, and name the file (--allow-binary packs it all the same)
  [1]
  leat: standard input is compressed, and what it holds is a Parquet file: decompress it first, and name the file (--allow-binary packs it all the same)
  [1]

That is seen before any work, not when its turn comes: here after a record that ends the run with code 4.

  $ mkdir late
  $ printf '{"text":"a"}\n{"text":1}\n' >late/a.jsonl
  $ printf '\377\376{\0"\0t\0' >utf16.jsonl
  $ for input in twice.jsonl.gz tar.jsonl.gz utf16.jsonl; do
  >     cp $input late/z.$input
  >     echo late/a.jsonl >late.list
  >     echo late/z.$input >>late.list
  >     for words in '-o late.out late' '-o late.out @late.list' '-o late.out --dry-run late' \
  >         '--run late.run --parts 2 late'; do
  >         leat pack -t bytes --max-rejects 0 $words
  >     done 2>&1 | sort | uniq -c
  >     rm late/z.*
  > done
        4 leat: late/z.twice.jsonl.gz is compressed, and what it holds is compressed with gzip: decompress it first, or compress it once only (--allow-binary packs it all the same)
        4 leat: late/z.tar.jsonl.gz is compressed, and what it holds is a tar archive: unpack it first (tar -xf) (--allow-binary packs it all the same)
        4 leat: late/z.utf16.jsonl is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  $ leat pack -t bytes -o late.out --max-rejects 0 late
  leat: 1 of 2 records was rejected, more than allowed; late.out.rejects.jsonl lists them with the reasons, for example: "text" is a number, not a string
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o late.out late
  leat: to give it up, remove what it left: rm -r late.out.partial.* late.out.rejects.jsonl
  [4]

Standard input may be something else, too.

  $ piped() {
  >     leat pack -t bytes -o pipe -
  > }
  $ piped <a.tar
  leat: standard input is a tar archive: unpack it first (tar -xf) (--allow-binary packs it all the same)
  [1]
  $ printf 'PK\3\4' | cat - a.jsonl | piped
  leat: standard input is a zip archive: unpack it first (unzip) (--allow-binary packs it all the same)
  [1]
  $ printf '\037\235\220' | piped
  leat: standard input is compressed with compress: decompress it first (uncompress), or compress it with zstd or gzip instead (--allow-binary packs it all the same)
  [1]
  $ printf '\377\006\0\0sNaPpY' | piped
  leat: standard input is compressed with snappy: decompress it first (snzip -d), or compress it with zstd or gzip instead (--allow-binary packs it all the same)
  [1]
  $ printf '\135\0\0\200\0\377\377\377\377' | piped
  leat: standard input is compressed with lzma: decompress it first (xz -d), or compress it with zstd or gzip instead (--allow-binary packs it all the same)
  [1]
  $ printf '\002\041\114\030' | piped
  leat: standard input is compressed with lz4 in its legacy format: decompress it first (lz4 -d), or compress it with zstd or gzip instead (--allow-binary packs it all the same)
  [1]
  $ printf '\170\234KLJN' | piped
  leat: standard input is zlib data: compress it with gzip or zstd instead (--allow-binary packs it all the same)
  [1]
  $ printf '{\0"\0t\0e\0x\0t\0"\0' | piped
  leat: standard input is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  [1]
  $ printf '\253\377\237\0\0\314\375\202\0' | piped
  leat: standard input is binary data, or text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv for example; else leave it out (--allow-binary packs it all the same)
  [1]

Lines that begin like JSON are no archive, whatever stands where that has its magic number, and Latin-1 is replaced.

  $ awk 'BEGIN { printf "{\"text\":\""; for (i = 9; i < 257; i++) printf "x"; print "ustar\"}" }' >ustar.jsonl
  $ awk 'BEGIN { for (i = 0; i < 99; i++) printf "{\"text\":\"\351\351\351\"}\n" }' >latin1
  $ leat pack -t bytes -o ustar - <ustar.jsonl >/dev/null
  $ leat pack -t bytes -o ustar --force --max-rejects 100% - <latin1 >/dev/null

What has the name of one form may be of another.

  $ printf '\170\332KLJN' >zlib.jsonl.gz
  $ printf '\002\041\114\030' >legacy.jsonl.lz4
  $ printf '\0\2\0\0\0\0\0\12{"text":"a' >hadoop.json.lz4
  $ cp a.jsonl.gz a.jsonl.zst
  $ cp a.jsonl plain.jsonl.lz4
  $ printf '\0\2\0\0\0\0\0' >short.jsonl.lz4
  $ for name in zlib.jsonl.gz legacy.jsonl.lz4 hadoop.json.lz4 a.jsonl.zst plain.jsonl.lz4 short.jsonl.lz4; do
  >     leat pack -t bytes -o named --force $name || [ $? -eq 1 ] || echo another code
  > done
  leat: zlib.jsonl.gz is named .gz, but is zlib data without a header of gzip: compress it with gzip instead
  leat: legacy.jsonl.lz4 is named .lz4, but is compressed with lz4 in its legacy format: decompress it first (lz4 -d), or compress it with zstd or gzip instead
  leat: hadoop.json.lz4 is named .lz4, but is in blocks of Hadoop or Spark, which only these read: write it with gzip or zstd instead
  leat: a.jsonl.zst is named .zst, but is compressed with gzip: rename it
  leat: plain.jsonl.lz4 is named .lz4, but does not start like a lz4 file; rename it if it is not compressed, or get a new copy
  leat: short.jsonl.lz4 is named .lz4, but does not start like a lz4 file; rename it if it is not compressed, or get a new copy
