#!/bin/sh
# test_verify.sh: leat verify: what it says of a sound dataset, of damage of every kind, and of what is not there.
. tests/cli/cli.sh

write_three
write_numbered n
make_dataset bare
mkdir folder
copy_dataset n folder/a
copy_dataset n folder/b
overwrite folder/b.tokens 10000 '~~'

# ---- Nothing is wrong -----------------------------------------------------------------------------------------------

for threads in 1 2 7 1024; do
    try 0 '' leat verify n --threads $threads <<'END'
n: nothing is wrong; 49.5 KiB checked in T.
END
done
try 0 '' leat verify --json --progress never n <<'END'
{"name": "n", "ok": true, "status": "ok", "message": null, "file": null, @
"offset": null, "bytes": 50681, "damaged_pages": 0, "damaged_others": 0, @
"part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], @
"seconds": T, "bytes_per_s": R}
END
try 0 '' leat verify bare --json <<'END'
{"name": "bare", "ok": true, "status": "ok", "message": null, "file": null, @
"offset": null, "bytes": 4160, "damaged_pages": 0, @
"damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], @
"seconds": T, "bytes_per_s": R}
END
printf 'a\nb\nc\n' >list.txt
try 0 '' leat verify @list.txt <<'END'
@list.txt: nothing is wrong; 13.9 KiB checked in T.
END

# ---- Damaged pages --------------------------------------------------------------------------------------------------

# page 2 has the tokens 4096 to 6143; document 191 begins at 2090 + 22 * 91 = 4092, document 284 at 6138
page='page 2 of p.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the '\
'file from its source'
copy_dataset n p
overwrite p.tokens 10001 '~'
try 3 "leat: $page" leat verify p <<'END'
p is damaged: 1 page of 4 KiB, 1 other place.
The first damaged page is page 2 of p.tokens, bytes 8192 to 12287; documents 191 to 284 lie in it.
END
try 3 "leat: $page" leat verify p --json --threads 3 <<END
{"name": "p", "ok": false, "status": "checksum", "message": "$page", @
"file": "p.tokens", "offset": 8192, "bytes": 50681, "damaged_pages": 1, @
"damaged_others": 1, "part": "p", "page": 2, "first_document": 191, "documents": 94, "damaged_parts": [{"name": "p", @
"damaged_pages": 1, "damaged_others": 1, "page": 2, "first_document_of_part": 191, "documents": 94}], @
"seconds": T, "bytes_per_s": R}
END
# two pages, of which the first is named; a byte that leaves the id below the vocabulary size is no other place
copy_dataset n p
overwrite p.tokens 10000 '~'
overwrite p.tokens 14000 '~'
try 3 "leat: $page" leat verify p <<'END'
p is damaged: 2 pages of 4 KiB, 0 other places.
The first damaged page is page 2 of p.tokens, bytes 8192 to 12287; documents 191 to 284 lie in it.
END
# In a folder, documents are numbered within the part, as the message numbers them: the summary once counted them
# through. JSON does both.
try 3 "leat: $(echo "$page" | sed 's|p.tokens|folder/b.tokens|')" leat verify folder <<'END'
folder is damaged: 1 page of 4 KiB, 1 other place.
folder/b: 1 page, 1 other place. The first is page 2 of folder/b.tokens, bytes 8192 to 12287; documents 191 to 284 of @
this part lie in it.
END
try 3 "leat: $(echo "$page" | sed 's|p.tokens|folder/b.tokens|')" leat verify folder --json <<END
{"name": "folder", "ok": false, "status": "checksum", @
"message": "$(echo "$page" | sed 's|p.tokens|folder/b.tokens|')", @
"file": "folder/b.tokens", "offset": 8192, "bytes": 101362, "damaged_pages": 1, @
"damaged_others": 1, "part": "folder/b", "page": 2, "first_document": 691, "documents": 94, @
"damaged_parts": [{"name": "folder/b", "damaged_pages": 1, "damaged_others": 1, "page": 2, @
"first_document_of_part": 191, "documents": 94}], "seconds": T, "bytes_per_s": R}
END
# each damaged part
mkdir several
for name in a b c d; do
    copy_dataset n several/$name
done
overwrite several/b.tokens 10001 '~'
overwrite several/c.leat 4501 '~'
overwrite several/d.tokens 10000 '~'
overwrite several/d.tokens 14000 '~'
try 3 "leat: $(echo "$page" | sed 's|p.tokens|several/b.tokens|')" leat verify several <<'END'
several is damaged: 3 pages of 4 KiB, 4 other places.
several/b: 1 page, 1 other place. The first is page 2 of several/b.tokens, bytes 8192 to 12287; documents 191 to 284 @
of this part lie in it.
several/c: 0 pages, 3 other places.
several/d: 2 pages, 0 other places. The first is page 2 of several/d.tokens, bytes 8192 to 12287; documents 191 to 284 @
of this part lie in it.
END
# one document
make_dataset one document="$(awk 'BEGIN { for (i = 0; i < 6200; i++) printf "%d,", i % 1000 }')"
overwrite one.tokens 4096 '~'
try 3 'leat: page 1 of one.tokens (tokens 2048 to 4095, document 0) is damaged: its hash does not match; '\
'restore the file from its source' leat verify one <<'END'
one is damaged: 1 page of 4 KiB, 0 other places.
The first damaged page is page 1 of one.tokens, bytes 4096 to 8191; document 0 lies in it.
END

# ---- Damage that opening finds --------------------------------------------------------------------------------------

ends='the first or last page of p.tokens does not match p.leat: the token file is damaged, or the two files do not '\
'belong together; restore both from their source'
copy_dataset n p
overwrite p.tokens 0 '~'
refuse 3 "$ends" leat verify p
try 3 "leat: $ends" leat verify p --json <<END
{"name": "p", "ok": false, "status": "mismatch", "message": "$ends", @
"file": "p.tokens", "offset": 0, "bytes": 0, "damaged_pages": 0, @
"damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], @
"seconds": T, "bytes_per_s": R}
END
cut='p.tokens has 1000 bytes, but its index says 21780: the file is incomplete, or the two files do not belong '\
'together; restore both from their source'
copy_dataset n p
head -c 1000 n.tokens >p.tokens
refuse 3 "$cut" leat verify p
try 3 "leat: $cut" leat verify p --json <<END
{"name": "p", "ok": false, "status": "truncated", "message": "$cut", @
"file": "p.tokens", "offset": 1000, "bytes": 0, "damaged_pages": 0, @
"damaged_others": 0, "part": null, "page": null, "first_document": null, "documents": 0, "damaged_parts": [], @
"seconds": T, "bytes_per_s": R}
END
copy_dataset n p
printf x >>p.tokens # which once was "incomplete"
refuse 3 'p.tokens 21781 21780' leat verify p
copy_dataset n p
head -c 1000 n.leat >p.leat
refuse 3 'p.leat 1000' leat verify p
for name in p p.leat; do
    : >p.leat
    refuse 3 'p.leat' leat verify $name
done
copy_dataset n p
overwrite p.leat 20 '~'
refuse 3 'p.leat' leat verify p
copy_dataset n p
overwrite p.leat 0 '~'
refuse 3 'p.leat NAME.leat NAME.tokens' leat verify p

# ---- Damage of the index --------------------------------------------------------------------------------------------

index='the documents section of p.leat (bytes 4096 to 8104) is damaged: its checksum does not match; restore the file '\
'from its source'
copy_dataset n p
overwrite p.leat 4501 '~'
try 3 "leat: $index" leat verify p <<'END'
p is damaged: 0 pages of 4 KiB, 3 other places.
END
try 3 "leat: $index" leat verify p --json <<END
{"name": "p", "ok": false, "status": "checksum", "message": "$index", @
"file": "p.leat", "offset": 4096, "bytes": 50681, "damaged_pages": 0, @
"damaged_others": 3, "part": null, "page": null, "first_document": null, "documents": 0, @
"damaged_parts": [{"name": "p", "damaged_pages": 0, "damaged_others": 3, "page": null, @
"first_document_of_part": null, "documents": 0}], "seconds": T, @
"bytes_per_s": R}
END
# a path, of which nothing but the section's sum tells
at=$(grep -abo 'n\.txt' n.leat | head -n 1 | cut -d: -f1)
copy_dataset n p
overwrite p.leat "$at" m
try 3 "leat: the input paths section of p.leat (bytes $at to $((at + 5))) is damaged: its checksum does not match; @
restore the file from its source" leat verify p <<'END'
p is damaged: 0 pages of 4 KiB, 1 other place.
END

# ---- What is not damage ---------------------------------------------------------------------------------------------

copy_dataset n p
rm p.tokens
refuse 1 'p.tokens p.leat' leat verify p
refuse 1 'none.leat' leat verify none
refuse 1 'none.leat' leat verify none --json
refuse 2 '--threads' leat verify --threads 0 n
refuse 2 '--threads 2000 1024' leat verify --threads 2000 n
refuse 2 '--progress nevr' leat verify --progress nevr n
finish
