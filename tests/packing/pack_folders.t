pack_folders.t: folders as they come from a hub, and files that are no text: nothing is left out without a word, and
nothing but text becomes tokens, unless that is asked for.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ packs() { # ARGUMENT...
  >     members documents,skipped leat pack -t bytes -o out --force --json "$@"
  > }
  $ mkdir -p hub/data
  $ printf '{"text":"a"}\n' >hub/a.jsonl
  $ printf '{"text":"b"}\n' >hub/B.JSONL
  $ printf '{"text":"c"}\n' | gzip >hub/C.JsonLines.GZ
  $ printf '# A card\n' >hub/README.md
  $ printf 'free\n' >hub/LICENSE-MIT.txt
  $ printf '*.parquet lfs\n' >hub/.gitattributes
  $ printf 'print()\n' >hub/load.py
  $ printf 'words\n' >hub/readme_of_words.txt
  $ packs hub
  leat: skipped 4 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/load.py, hub/readme_of_words.txt
  "documents": 3 "skipped": 4
  $ leat pack -t bytes -o out --force --json hub 2>/dev/null | grep -o '"skipped_files": \[[^]]*\]'
  "skipped_files": ["hub/LICENSE-MIT.txt", "hub/README.md", "hub/load.py", "hub/readme_of_words.txt"]

A companion that is named is packed, and so is one of a folder of texts.

  $ packs hub/README.md
  "documents": 1 "skipped": 0
  $ packs --format text hub
  "documents": 7 "skipped": 0

What may be a corpus, by its name or its bytes, is refused, or skipped if that is asked for.

  $ corpus() { # FILE
  >     leat pack -t bytes -o refused hub || [ $? -eq 1 ] || echo another code
  >     packs --skip-unknown hub
  >     rm "$1"
  > }
  $ printf 'ARROW1\0\0' >hub/data/train.arrow
  $ corpus hub/data/train.arrow
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/data/train.arrow is an Arrow file: convert it to JSON lines (.jsonl), or skip such files (--skip-unknown)
  leat: skipped 5 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/data/train.arrow, hub/load.py, hub/readme_of_words.txt
  "documents": 3 "skipped": 5
  $ printf 'ARROW1\0\0' >hub/data/train-00000
  $ corpus hub/data/train-00000
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/data/train-00000 is an Arrow file: convert it to JSON lines (.jsonl), or skip such files (--skip-unknown)
  leat: skipped 5 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/data/train-00000, hub/load.py, hub/readme_of_words.txt
  "documents": 3 "skipped": 5
  $ cp "$SOURCES"/tests/packing/ids.arrow hub/data/saved.arrow
  $ corpus hub/data/saved.arrow
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/data/saved.arrow is an Arrow file with a column of ids, input_ids: import these (leat import), from the folder that datasets saved, if it lies in one, or skip such files (--skip-unknown)
  leat: skipped 5 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/data/saved.arrow, hub/load.py, hub/readme_of_words.txt
  "documents": 3 "skipped": 5
  $ printf '{"text":"d"}\n' >hub/part-00000
  $ corpus hub/part-00000
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/part-00000 is JSON lines by its first bytes, but not by its name: add .jsonl to its name, or choose the format, or skip such files (--skip-unknown)
  leat: skipped 5 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/load.py, hub/part-00000, hub/readme_of_words.txt
  "documents": 3 "skipped": 5
  $ for suffix in br Z 7z zip; do
  >     printf 'x' >hub/d.jsonl.$suffix
  >     corpus hub/d.jsonl.$suffix 2>&1 | grep cannot
  > done
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/d.jsonl.br is compressed with brotli: decompress it first (brotli -d), or compress it with zstd or gzip instead, or skip such files (--skip-unknown)
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/d.jsonl.Z is compressed with compress: decompress it first (uncompress), or compress it with zstd or gzip instead, or skip such files (--skip-unknown)
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/d.jsonl.7z is a 7z archive: unpack it first (7z x), or skip such files (--skip-unknown)
  leat: the folder hub has 1 file that may hold texts but cannot be read; hub/d.jsonl.zip is a zip archive: unpack it first (unzip), or skip such files (--skip-unknown)

Nothing of the kind is skipped.

  $ printf 'd' >hub/e.dat
  $ packs hub
  leat: skipped 5 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/e.dat, hub/load.py, hub/readme_of_words.txt
  "documents": 3 "skipped": 5

Spark, Hive and others write names that begin with _, of which lang=de is a partition.

  $ mkdir -p spark/_temporary/0/_attempt_1 spark/lang=en spark/_lang=de
  $ printf '{"text":"a"}\n' >spark/part-0.jsonl
  $ printf '{"text":"b"}\n' >spark/lang=en/part-0.jsonl
  $ printf '{"text":"c"}\n' >spark/_lang=de/part-0.jsonl
  $ : >spark/_SUCCESS
  $ printf 'PAR1....PAR1' | tee spark/_metadata >spark/lang=en/_common_metadata
  $ : >spark/_empty.jsonl
  $ printf '{"version":3}\n' >spark/_committed_17
  $ printf 'crc' >spark/.part-0.jsonl.crc
  $ printf 'ARROW1\0\0' >spark/_statistics.arrow
  $ printf '{"text":"half"}\n' | tee spark/_temporary/0/_attempt_1/part-0.jsonl >spark/_foo.jsonl
  $ ln -s nowhere spark/_dangling
  $ packs spark
  leat: skipped 4 names in folders, for beginning with _ (what you name is packed): spark/_dangling, spark/_foo.jsonl, spark/_statistics.arrow, spark/_temporary/
  "documents": 3 "skipped": 4
  $ packs --format jsonl spark
  leat: skipped 4 names in folders, for beginning with _ (what you name is packed): spark/_dangling, spark/_foo.jsonl, spark/_statistics.arrow, spark/_temporary/
  "documents": 3 "skipped": 4

Of texts, _ says nothing; what is named or listed is not passed over.

  $ mkdir -p code/__tests__
  $ printf 'pass\n' | tee code/__init__.py code/_util.py code/__tests__/a.py >code/a.py
  $ packs --format text code
  "documents": 4 "skipped": 0
  $ packs 'spark/_[f]*' spark/_temporary/0/_attempt_1
  "documents": 2 "skipped": 0
  $ echo spark/_foo.jsonl >marked.list
  $ packs @marked.list
  "documents": 1 "skipped": 0
  $ mkdir marked
  $ mv spark/_foo.jsonl marked
  $ leat pack -t bytes -o none marked
  leat: the folder marked has no file to pack but names that begin with _, which are passed over in folders, such as marked/_foo.jsonl; name these to pack them
  [1]

Of a table some files are out of date; what is named is packed.

  $ table() { # FOLDER
  >     for more in --json --skip-unknown --format=jsonl --format=text; do
  >         leat pack -t bytes -o table $more "$1" || [ $? -eq 1 ] || echo another code
  >     done 2>&1 | uniq -c
  >     leat pack -t bytes --force -o table "$1"/*.jsonl >/dev/null
  > }
  $ for kind in _delta_log .hoodie; do
  >     mkdir -p lake/$kind/$kind
  >     printf '{"text":"a"}\n' >lake/$kind/a.jsonl
  >     table lake/$kind
  > done
        4 leat: the folder lake/_delta_log is a Delta Lake table, and some of its files may hold rows that were deleted or changed since; list the files of its current version, as DeltaTable(...).file_uris() of the package deltalake does, and pack that list (@LIST)
        4 leat: the folder lake/.hoodie is a Hudi table, and some of its files may hold rows that were deleted or changed since; export its current rows, or list the files of its latest snapshot, and pack that list (@LIST)
  $ leat pack -t bytes -o table lake 2>&1 | grep -o 'the folder lake is a'
  the folder lake is a
  $ mkdir above
  $ mv lake/_delta_log above/delta
  $ table above/delta
        4 leat: the folder above/delta is a Delta Lake table, and some of its files may hold rows that were deleted or changed since; list the files of its current version, as DeltaTable(...).file_uris() of the package deltalake does, and pack that list (@LIST)
  $ leat pack -t bytes -o table above
  leat: the folder above/delta is a Delta Lake table, and some of its files may hold rows that were deleted or changed since; list the files of its current version, as DeltaTable(...).file_uris() of the package deltalake does, and pack that list (@LIST)
  [1]
  $ uuid=1a2b3c4d-0000-4000-8000-123456789abc
  $ for name in v12.metadata.json 00000-$uuid.metadata.json 00001-$uuid.gz.metadata.json v3.gz.metadata.json \
  >     v4.metadata.json.gz 00002-$uuid.metadata.json.gz; do
  >     mkdir -p ice/metadata ice/data
  >     printf '{"text":"a"}\n' | tee ice/data/a.jsonl >ice/a.jsonl
  >     printf '{}\n' >ice/metadata/$name
  >     table ice
  >     (cd ice && leat pack -t bytes -o table metadata)
  >     rm -r ice
  > done 2>&1 | sort | uniq -c
        6       4 leat: the folder ice is an Iceberg table, and some of its files may hold rows that were deleted or changed since; list the files of its current snapshot, as scan().plan_files() of the package pyiceberg does, and pack that list (@LIST)
        6 leat: the folder . is an Iceberg table, and some of its files may hold rows that were deleted or changed since; list the files of its current snapshot, as scan().plan_files() of the package pyiceberg does, and pack that list (@LIST)
  $ mkdir -p own/metadata
  $ printf '{"text":"a"}\n' | tee own/metadata/v.metadata.json own/metadata/0-a.metadata.json >own/v1.metadata.json
  $ packs own
  "documents": 3 "skipped": 0

What is neither a file nor a folder is not left out without a word.

  $ mkdir special
  $ printf '{"text":"a"}\n' >special/a.jsonl
  $ mkfifo special/pipe.jsonl
  $ packs special
  leat: skipped 1 file in folders: special/pipe.jsonl
  "documents": 1 "skipped": 1
  $ rm special/a.jsonl
  $ leat pack -t bytes -o none special
  leat: the folder special has no file to pack; special/pipe.jsonl is neither a file nor a folder; for a pipe, use - and redirect it
  [1]
  $ leat pack -t bytes -o none --format jsonl special
  leat: the folder special has no file to pack; special/pipe.jsonl is neither a file nor a folder; for a pipe, use - and redirect it
  [1]

Pictures and programs among texts are left out, whatever they are called.

  $ mkdir pictures
  $ printf '{"text":"a"}\n' >pictures/a.jsonl
  $ printf '\211PNG\r\n\032\n' | tee pictures/b.png >pictures/c.dat
  $ printf 'GIF89a' >pictures/d
  $ printf '\177ELF' >pictures/e.so
  $ packs pictures
  leat: skipped 4 files in folders: pictures/b.png, pictures/c.dat, pictures/d, pictures/e.so
  "documents": 1 "skipped": 4
  $ ln -s a.jsonl/b pictures/g
  $ leat pack -t bytes -o none pictures
  leat: cannot follow the symbolic link pictures/g: Not a directory
  [1]

Files that are no text are refused, as records and as texts; --allow-binary packs them.

  $ printf 'ARROW1\0\0' >x.arrow
  $ printf '\377\376h\0i\0' >marked.txt
  $ printf 'h\0e\0l\0l\0o\0' >unmarked.txt
  $ printf 'PK\3\4' >x.txt
  $ awk 'BEGIN { for (i = 0; i < 100; i++) printf "caf\351 " }' >latin1.txt
  $ for file in x.arrow marked.txt unmarked.txt x.txt latin1.txt; do
  >     leat pack -t bytes -o none $file || [ $? -eq 1 ] || echo another code
  >     leat pack -t bytes -o none --format text $file || [ $? -eq 1 ] || echo another code
  >     packs --format text --allow-binary $file
  > done
  leat: x.arrow is an Arrow file: convert it to JSON lines (.jsonl)
  leat: x.arrow is an Arrow file: convert it to JSON lines (.jsonl) (--allow-binary packs it all the same)
  "documents": 1 "skipped": 0
  leat: marked.txt is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  leat: marked.txt is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  "documents": 1 "skipped": 0
  leat: unmarked.txt is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  leat: unmarked.txt is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  "documents": 1 "skipped": 0
  leat: x.txt is a zip archive: unpack it first (unzip) (--allow-binary packs it all the same)
  leat: x.txt is a zip archive: unpack it first (unzip) (--allow-binary packs it all the same)
  "documents": 1 "skipped": 0
  leat: latin1.txt is binary data, or text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv for example; else leave it out (--allow-binary packs it all the same)
  leat: latin1.txt is binary data, or text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv for example; else leave it out (--allow-binary packs it all the same)
  "documents": 1 "skipped": 0

Compressed, but not called so: it can be read if somebody says as what.

  $ gzip -c hub/a.jsonl >a.data
  $ leat pack -t bytes -o none a.data
  leat: a.data is compressed with gzip: let its name end in .jsonl.gz or .txt.gz, or choose the format (--format NAME)
  [1]
  $ packs --format jsonl a.data
  "documents": 1 "skipped": 0

In a folder, such a text is a reject, whatever its length and the memory; a sanitizer takes much.

  $ mkdir texts
  $ awk 'BEGIN { for (i = 0; i < 3; i++) printf "fine text\n" }' >texts/a.txt
  $ awk 'BEGIN { for (i = 0; i < 4096; i++) printf "x"; for (i = 0; i < 300000; i++) printf "caf\351 " }' >texts/b.txt
  $ printf 'PAR1....PAR1' >texts/c.txt
  $ little=$(leat pack -t bytes -o none --memory 1 texts 2>&1 | sed -n 's/.*allow at least \([0-9]*\) MiB.*/\1/p')
  $ for memory in $((little + 8))Mi 4Gi; do
  >     members documents,rejected leat pack -t bytes -o out --force --memory $memory --max-rejects 2 --json texts 2>/dev/null
  >     cut -c -170 out.rejects.jsonl
  > done | sort | uniq -c
        2 "documents": 1 "rejected": 2
        2 {"input":"texts/b.txt","offset":0,"line":null,"reason":"300000 parts of 1504096 bytes are not valid UTF-8: it is binary data, or text in another encoding, which iconv con
        2 {"input":"texts/c.txt","offset":0,"line":null,"reason":"the input is a Parquet file: pack it as Parquet","record":"PAR1....PAR1"}

Words may be no files.

  $ leat pack -t bytes -o none adl://store/a
  leat: adl://store/a is a URL, and leat reads only those that begin with s3://, gs://, az://, hf://, https:// or http://; download it first, or pipe it to standard input
  [1]
  $ leat pack -t bytes -o none ftp://host/b.jsonl
  leat: ftp://host/b.jsonl is a URL, and leat reads only those that begin with s3://, gs://, az://, hf://, https:// or http://; download it first, or pipe it to standard input
  [1]
  $ mkdir odd
  $ printf 'adl://bucket/a.jsonl\n' >odd/urls
  $ leat pack -t bytes -o none @odd/urls
  leat: adl://bucket/a.jsonl is a URL, and leat reads only those that begin with s3://, gs://, az://, hf://, https:// or http://; download it first, or pipe it to standard input
  [1]
  $ members inputs leat pack -t bytes --force -o out --json 'hub/*.jsonl' 'hub/[B]*'
  "inputs": 2
  $ leat pack -t bytes -o none 'hub/*.nothing'
  leat: no file matches hub/*.nothing (* ? [ ] match within one name; ** means no more than *)
  [1]

A pattern may match itself, standard input's name and that of a list.

  $ printf '{"text":"m"}\n' >odd/-
  $ printf 'x' >odd/@list
  $ ln -s nowhere 'odd/dangling*'
  $ leat pack -t bytes -o none 'odd/dangling*'
  leat: cannot find the input odd/dangling*: No such file or directory
  [1]
  $ (cd odd && members documents leat pack -t bytes -o dash --json --format jsonl '[-]' </dev/null)
  "documents": 1
  $ packs --format text 'odd/[@]list'
  "documents": 1 "skipped": 0

A name does not change the colours of the terminal.

  $ escape=$(printf '\033[31m')
  $ printf 'a\377' >"odd/$escape.txt"
  $ leat pack -t bytes -o escaped "odd/$escape.txt" | grep U+FFFD
  1 malformed part of text in 1 input became U+FFFD: odd/\x1b[31m.txt (1); convert text in another encoding to UTF-8 first (iconv).
  $ ls | grep none
  [1]

Names that are no datasets are told what they are.

  $ leat info x.arrow
  leat: cannot open x.arrow.leat: No such file or directory; x.arrow is an Arrow file: convert it to JSON lines (.jsonl) (leat pack)
  [1]
  $ awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%c%c", i % 200 + 1, i % 50 }' | head -c 1000 >train.bin
  $ leat info train.bin
  leat: cannot open train.bin.leat: No such file or directory; train.bin may hold bare token ids, as nanoGPT's train.bin does: raw:FILE?dtype=u16 (or u32) reads such a file, with &end=ID its documents too; if it is Megatron's, its index is missing: train.idx
  [1]
  $ cp hub/a.jsonl m.jsonl
  $ leat info m.jsonl
  leat: cannot open m.jsonl.leat: No such file or directory; m.jsonl itself exists, but is not a dataset: pack it into one (leat pack)
  [1]
