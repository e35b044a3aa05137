verify.t: leat verify says what is wrong with a dataset: nothing, damage of every kind, or that it is not there.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_three
  $ write_numbered n
  $ make_dataset bare
  $ mkdir folder
  $ copy_dataset n folder/a
  $ copy_dataset n folder/b
  $ overwrite folder/b.tokens 10000 '~~'

Nothing is wrong, by any number of threads:

  $ for threads in 1 2 7 1024; do
  >     leat verify n --threads $threads
  > done | sed 's/ in .*//' | uniq -c
        4 n: nothing is wrong; 49.5 KiB checked
  $ leat verify --json --progress never n
  {"name": "n", "ok": true, "status": "ok", "message": null, "file": null, "offset": null, "bytes": 50681, "damaged_pages": 0, "damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], "seconds": *, "bytes_per_s": *} (glob)
  $ leat verify bare --json
  {"name": "bare", "ok": true, "status": "ok", "message": null, "file": null, "offset": null, "bytes": 4160, "damaged_pages": 0, "damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], "seconds": *, "bytes_per_s": *} (glob)
  $ printf 'a\nb\nc\n' >list.txt
  $ leat verify @list.txt
  @list.txt: nothing is wrong; 13.9 KiB checked in *. (glob)

Page 2 has the tokens 4096 to 6143; document 191 begins at 2090 + 22 * 91 = 4092, document 284 at 6138.

  $ copy_dataset n p
  $ overwrite p.tokens 10001 '~'
  $ leat verify p
  leat: page 2 of p.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  p is damaged: 1 page of 4 KiB, 1 other place.
  The first damaged page is page 2 of p.tokens, bytes 8192 to 12287; documents 191 to 284 lie in it.
  [3]
  $ leat verify p --json --threads 3
  leat: page 2 of p.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  {"name": "p", "ok": false, "status": "checksum", "message": "page 2 of p.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source", "file": "p.tokens", "offset": 8192, "bytes": 50681, "damaged_pages": 1, "damaged_others": 1, "part": "p", "page": 2, "first_document": 191, "documents": 94, "damaged_parts": [{"name": "p", "damaged_pages": 1, "damaged_others": 1, "page": 2, "first_document_of_part": 191, "documents": 94}], "seconds": *, "bytes_per_s": *} (glob)
  [3]

Of two pages the first is named; a byte that leaves the id below the vocabulary size is no other place.

  $ copy_dataset n p
  $ overwrite p.tokens 10000 '~'
  $ overwrite p.tokens 14000 '~'
  $ leat verify p
  leat: page 2 of p.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  p is damaged: 2 pages of 4 KiB, 0 other places.
  The first damaged page is page 2 of p.tokens, bytes 8192 to 12287; documents 191 to 284 lie in it.
  [3]

In a folder, documents are numbered within the part, as the message numbers them. JSON does both.

  $ leat verify folder
  leat: page 2 of folder/b.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  folder is damaged: 1 page of 4 KiB, 1 other place.
  folder/b: 1 page, 1 other place. The first is page 2 of folder/b.tokens, bytes 8192 to 12287; documents 191 to 284 of this part lie in it.
  [3]
  $ leat verify folder --json
  leat: page 2 of folder/b.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  {"name": "folder", "ok": false, "status": "checksum", "message": "page 2 of folder/b.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source", "file": "folder/b.tokens", "offset": 8192, "bytes": 101362, "damaged_pages": 1, "damaged_others": 1, "part": "folder/b", "page": 2, "first_document": 691, "documents": 94, "damaged_parts": [{"name": "folder/b", "damaged_pages": 1, "damaged_others": 1, "page": 2, "first_document_of_part": 191, "documents": 94}], "seconds": *, "bytes_per_s": *} (glob)
  [3]

Each damaged part is listed.

  $ mkdir several
  $ for name in a b c d; do
  >     copy_dataset n several/$name
  > done
  $ overwrite several/b.tokens 10001 '~'
  $ overwrite several/c.leat 4501 '~'
  $ overwrite several/d.tokens 10000 '~'
  $ overwrite several/d.tokens 14000 '~'
  $ leat verify several
  leat: page 2 of several/b.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  several is damaged: 3 pages of 4 KiB, 4 other places.
  several/b: 1 page, 1 other place. The first is page 2 of several/b.tokens, bytes 8192 to 12287; documents 191 to 284 of this part lie in it.
  several/c: 0 pages, 3 other places.
  several/d: 2 pages, 0 other places. The first is page 2 of several/d.tokens, bytes 8192 to 12287; documents 191 to 284 of this part lie in it.
  [3]

A page may lie in one document.

  $ make_dataset one document="$(awk 'BEGIN { for (i = 0; i < 6200; i++) printf "%d,", i % 1000 }')"
  $ overwrite one.tokens 4096 '~'
  $ leat verify one
  leat: page 1 of one.tokens (tokens 2048 to 4095, document 0) is damaged: its hash does not match; restore the file from its source
  one is damaged: 1 page of 4 KiB, 0 other places.
  The first damaged page is page 1 of one.tokens, bytes 4096 to 8191; document 0 lies in it.
  [3]

Some damage is found when the dataset is opened.

  $ copy_dataset n p
  $ overwrite p.tokens 0 '~'
  $ leat verify p
  leat: the first or last page of p.tokens does not match p.leat: the token file is damaged, or the two files do not belong together; restore both from their source
  [3]
  $ leat verify p --json
  leat: the first or last page of p.tokens does not match p.leat: the token file is damaged, or the two files do not belong together; restore both from their source
  {"name": "p", "ok": false, "status": "mismatch", "message": "the first or last page of p.tokens does not match p.leat: the token file is damaged, or the two files do not belong together; restore both from their source", "file": "p.tokens", "offset": 0, "bytes": 0, "damaged_pages": 0, "damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], "seconds": *, "bytes_per_s": *} (glob)
  [3]
  $ copy_dataset n p
  $ head -c 1000 n.tokens >p.tokens
  $ leat verify p
  leat: p.tokens has 1000 bytes, but its index says 21780: the file is incomplete, or the two files do not belong together; restore both from their source
  [3]
  $ leat verify p --json
  leat: p.tokens has 1000 bytes, but its index says 21780: the file is incomplete, or the two files do not belong together; restore both from their source
  {"name": "p", "ok": false, "status": "truncated", "message": "p.tokens has 1000 bytes, but its index says 21780: the file is incomplete, or the two files do not belong together; restore both from their source", "file": "p.tokens", "offset": 1000, "bytes": 0, "damaged_pages": 0, "damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], "seconds": *, "bytes_per_s": *} (glob)
  [3]
  $ copy_dataset n p
  $ printf x >>p.tokens
  $ leat verify p
  leat: p.tokens has 21781 bytes, but its index says 21780: the file is too long, or the two files do not belong together; restore both from their source
  [3]
  $ copy_dataset n p
  $ head -c 1000 n.leat >p.leat
  $ leat verify p
  leat: p.leat ends at byte 1000, inside its header: it was truncated; restore it from its source
  [3]
  $ : >p.leat
  $ leat verify p
  leat: p.leat is empty: it was truncated, or copying it failed; restore it from its source
  [3]
  $ leat verify p.leat
  leat: p.leat is empty: it was truncated, or copying it failed; restore it from its source
  [3]
  $ copy_dataset n p
  $ overwrite p.leat 20 '~'
  $ leat verify p
  leat: the header of p.leat is damaged: its checksum does not match; restore the file from its source
  [3]
  $ copy_dataset n p
  $ overwrite p.leat 0 '~'
  $ leat verify p
  leat: p.leat is not a leat index: it does not begin with leat's magic bytes; give the name of a dataset (NAME.leat next to NAME.tokens)
  [3]

Damage of the index is named by its section.

  $ copy_dataset n p
  $ overwrite p.leat 4501 '~'
  $ leat verify p
  leat: the documents section of p.leat (bytes 4096 to 8104) is damaged: its checksum does not match; restore the file from its source
  p is damaged: 0 pages of 4 KiB, 3 other places.
  [3]
  $ leat verify p --json
  leat: the documents section of p.leat (bytes 4096 to 8104) is damaged: its checksum does not match; restore the file from its source
  {"name": "p", "ok": false, "status": "checksum", "message": "the documents section of p.leat (bytes 4096 to 8104) is damaged: its checksum does not match; restore the file from its source", "file": "p.leat", "offset": 4096, "bytes": 50681, "damaged_pages": 0, "damaged_others": 3, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [{"name": "p", "damaged_pages": 0, "damaged_others": 3, "page": null, "first_document_of_part": null, "documents": 0}], "seconds": *, "bytes_per_s": *} (glob)
  [3]

Nothing but the section's sum tells that a path has changed.

  $ copy_dataset n p
  $ overwrite p.leat "$(grep -abo 'n\.txt' n.leat | head -n 1 | cut -d: -f1)" m
  $ leat verify p
  leat: the input paths section of p.leat (bytes 8320 to 8325) is damaged: its checksum does not match; restore the file from its source
  p is damaged: 0 pages of 4 KiB, 1 other place.
  [3]

What is not there is no damage.

  $ copy_dataset n p
  $ rm p.tokens
  $ leat verify p
  leat: cannot open p.tokens: No such file or directory; p.leat is there, and a dataset is both files: restore the other one
  [1]
  $ leat verify none
  leat: cannot open none.leat: No such file or directory; did you mean one?
  [1]
  $ leat verify none --json
  leat: cannot open none.leat: No such file or directory; did you mean one?
  [1]
  $ leat verify --threads 0 n
  leat: --threads: "0" is too small; the minimum is 1 (leat verify --help lists the options)
  [2]
  $ leat verify --threads 2000 n
  leat: --threads: "2000" is too large; the maximum is 1024 (leat verify --help lists the options)
  [2]
  $ leat verify --progress nevr n
  leat: --progress cannot be "nevr", only one of: auto, never; did you mean never? (leat verify --help lists the options)
  [2]
