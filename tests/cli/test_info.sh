#!/bin/sh
# test_info.sh: leat info: all keys and values of its JSON, what people see, and every way to name a dataset.
. tests/cli/cli.sh

write_three
mkdir folder empty
copy_dataset a folder/a
copy_dataset b folder/b
copy_dataset a folder/.hidden
copy_dataset a folder/c.partial
printf '# a list\n\nfolder/b\r\nfolder/a.leat \n' >list.txt
make_dataset bare vocabulary=300
make_dataset rich vocabulary=70000 end=69999 begin=1 created=86400 tokenizer=t.model pattern=gpt2 file=abc lines ids \
    metadata=k=v metadata=é=w input=p:1 bytes=100 rejects=3 offset=5 line=2 id=i1 document=5,6,7 offset=9 document= \
    input="$(printf 'q\001\377\n"')" offset=1 id='i"2' document=60000

# ---- JSON -----------------------------------------------------------------------------------------------------------

try 0 '' leat info all --json <<'END'
{"name": "all", "damaged": [], @
"version": 1, "identity": "1e1d56c89e3d49d76eae421d32c6056e", "tokens": 62, "documents": 6, @
"width": 2, "vocabulary": 257, "tokenizer": {"name": "bytes", "pattern": null, "fingerprint": @
"9939fb9f7ef62b7a19a5f9de655cf326"}, @
"end": 256, "begin": null, "created": null, "token_bytes": 124, "index_bytes": 4901, "offline_parts": 0, @
"stores": {"lines": true, "ids": true, "text_hashes": false, "mask": false}, @
"document_lengths": @
{"sampled": false, "documents": 6, "mean": 10.333333333333334, "shortest": 3, "longest": 31, "buckets": @
[{"least": 2, "most": 3, "documents": 1}, {"least": 4, "most": 7, "documents": 3}, @
{"least": 8, "most": 15, "documents": 1}, {"least": 16, "most": 31, "documents": 1}]}, @
"parts": [{"name": "all", "kind": "leat", "identity": "1e1d56c89e3d49d76eae421d32c6056e", "first_token": 0, @
"tokens": 62, "first_document": 0, "documents": 6, "first_input": 0, "inputs": 3, @
"token_path": "all.tokens", "metadata": []}], "inputs": @
[{"path": "a.txt", "bytes": 49, "documents": 3, "tokens": 49, "rejects": 0, "hash": null}, @
{"path": "b.txt", "bytes": 9, "documents": 2, "tokens": 10, "rejects": 0, "hash": null}, @
{"path": "c.txt", "bytes": 2, "documents": 1, "tokens": 3, "rejects": 0, "hash": null}]}
END
try 0 '' leat info --json rich.leat <<'END'
{"name": "rich.leat", "damaged": [], @
"version": 1, "identity": "295c210128ea1573228fc2b8e4327852", "tokens": 10, "documents": 3, @
"width": 4, "vocabulary": 70000, "tokenizer": {"name": "t.model", "pattern": "gpt2", "fingerprint": @
"ea17d2451a1591e8a98960b9edc5d7da"}, "end": 69999, "begin": 1, "created": "1970-01-02T00:00:00Z", "token_bytes": 40, @
"index_bytes": 4837, "offline_parts": 0, @
"stores": {"lines": true, "ids": true, "text_hashes": false, "mask": false}, @
"document_lengths": {"sampled": false, "documents": 3, "mean": 3.3333333333333335, @
"shortest": 2, "longest": 5, "buckets": [{"least": 2, "most": 3, "documents": 2}, @
{"least": 4, "most": 7, "documents": 1}]}, "parts": [{"name": "rich", "kind": "leat", "identity": @
"295c210128ea1573228fc2b8e4327852", "first_token": 0, "tokens": 10, "first_document": 0, "documents": 3, @
"first_input": 0, "inputs": 2, "token_path": "rich.tokens", "metadata": [["k", "v"], ["é", "w"]]}], "inputs": @
[{"path": "p:1", "bytes": 100, "documents": 2, "tokens": 7, "rejects": 3, "hash": null}, @
{"path": "q\u0001�\n\"", "bytes": 0, "documents": 1, "tokens": 3, "rejects": 0, "hash": null}]}
END
try 0 '' leat info bare --json <<'END'
{"name": "bare", "damaged": [], @
"version": 1, "identity": "cef5078c852c651743c52b28ffe3ffd0", "tokens": 0, "documents": 0, @
"width": 2, "vocabulary": 300, "tokenizer": {"name": null, "pattern": null, "fingerprint": null}, "end": null, @
"begin": null, "created": null, "token_bytes": 0, "index_bytes": 4160, "offline_parts": 0, @
"stores": {"lines": false, "ids": false, "text_hashes": false, "mask": false}, @
"document_lengths": {"sampled": false, @
"documents": 0, "mean": 0.0, "shortest": 0, "longest": 0, "buckets": []}, "parts": [{"name": "bare", @
"kind": "leat", "identity": "cef5078c852c651743c52b28ffe3ffd0", "first_token": 0, "tokens": 0, "first_document": 0, @
"documents": 0, "first_input": 0, "inputs": 0, "token_path": "bare.tokens", "metadata": []}], "inputs": []}
END
try 0 '' leat info folder --json <<'END'
{"name": "folder", "damaged": [], @
"version": 1, "identity": "348da8d047dc0bdc80249f9f3d1402bd", "tokens": 59, "documents": 5, @
"width": 2, "vocabulary": 257, "tokenizer": {"name": "bytes", "pattern": null, "fingerprint": @
"9939fb9f7ef62b7a19a5f9de655cf326"}, "end": 256, "begin": null, "created": null, "token_bytes": 118, @
"index_bytes": 9418, "offline_parts": 0, @
"stores": {"lines": true, "ids": true, "text_hashes": false, "mask": false}, @
"document_lengths": {"sampled": false, "documents": 5, "mean": 11.8, "shortest": 5, @
"longest": 31, "buckets": [{"least": 4, "most": 7, "documents": 3}, {"least": 8, "most": 15, "documents": 1}, @
{"least": 16, "most": 31, "documents": 1}]}, "parts": [{"name": "folder/a", "kind": "leat", "identity": @
"fa4a2cf841c7926dd91661916d70edfb", "first_token": 0, "tokens": 49, "first_document": 0, "documents": 3, @
"first_input": 0, "inputs": 1, "token_path": "folder/a.tokens", "metadata": []}, @
{"name": "folder/b", "kind": "leat", "identity": @
"16e0b3d53f93965b04f3a5e6fe435433", "first_token": 49, "tokens": 10, "first_document": 3, "documents": 2, @
"first_input": 1, "inputs": 1, "token_path": "folder/b.tokens", "metadata": []}], "inputs": @
[{"path": "a.txt", "bytes": 49, "documents": 3, "tokens": 49, "rejects": 0, "hash": null}, @
{"path": "b.txt", "bytes": 9, "documents": 2, "tokens": 10, "rejects": 0, "hash": null}]}
END

make_dataset hashed vocabulary=300 hashes document=1
leat info hashed | grep -q '^  stores      text hashes$' || fail "info does not show that text hashes are stored"
make_dataset masked vocabulary=300 mask document=1
leat info masked | grep -q '^  stores      mask$' || fail "info does not show that a mask is stored"
leat info masked --json | grep -q '"mask": true' || fail "nor in its JSON"
leat info hashed --json | grep -q '"text_hashes": true' || fail "nor in its JSON"

# ---- For people -----------------------------------------------------------------------------------------------------

try 0 '' leat info all.tokens <<'END'
all.tokens
  tokens      62
  documents   6
  width       2 bytes per token
  vocabulary  257
  end         256 after each document
  tokenizer   bytes
  fingerprint 9939fb9f7ef62b7a19a5f9de655cf326
  identity    1e1d56c89e3d49d76eae421d32c6056e
  created     not recorded
  size        124 bytes of tokens, 4.8 KiB of index
  stores      lines, ids
  format      version 1

inputs: 3
                tokens        documents    rejects  path
                    49                3          0  a.txt
                    10                2          0  b.txt
                     3                1          0  c.txt

document lengths in tokens: shortest 3, longest 31, mean 10.3
  2 - 3                                   1  16.7 % #############
  4 - 7                                   3  50.0 % ########################################
  8 - 15                                  1  16.7 % #############
  16 - 31                                 1  16.7 % #############
END
# the bytes of a path that would end the line are question marks; the one that is no UTF-8 is printed as it is
{
    cat <<'END'
rich
  tokens      10
  documents   3
  width       4 bytes per token
  vocabulary  70,000
  end         69999 after each document
  begin       1 before each document
  tokenizer   t.model, pattern gpt2
  fingerprint ea17d2451a1591e8a98960b9edc5d7da
  identity    295c210128ea1573228fc2b8e4327852
  created     1970-01-02T00:00:00Z
  size        40 bytes of tokens, 4.7 KiB of index
  stores      lines, ids
  format      version 1

inputs: 2
                tokens        documents    rejects  path
                     7                2          3  p:1
END
    printf '                     3                1          0  q\\x01\\xff\\x0a"\n'
    cat <<'END'

metadata
  k = v
  é = w

document lengths in tokens: shortest 2, longest 5, mean 3.3
  2 - 3                                   2  66.7 % ########################################
  4 - 7                                   1  33.3 % ####################
END
} >rich.txt
try 0 '' leat info rich <rich.txt
try 0 '' leat info bare <<'END'
bare
  tokens      0
  documents   0
  width       2 bytes per token
  vocabulary  300
  end         none
  tokenizer   not recorded
  fingerprint none
  identity    cef5078c852c651743c52b28ffe3ffd0
  created     not recorded
  size        0 bytes of tokens, 4.1 KiB of index
  format      version 1
END
try 0 '' leat info @list.txt <<'END'
@list.txt
  tokens      59
  documents   5
  width       2 bytes per token
  vocabulary  257
  end         256 after each document
  tokenizer   bytes
  fingerprint 9939fb9f7ef62b7a19a5f9de655cf326
  identity    97ca66c7ea03e16ff3981744cdd1a1be
  created     not recorded
  size        118 bytes of tokens, 9.2 KiB of index
  stores      lines, ids
  format      version 1

parts: 2
                tokens        documents  name
                    10                2  folder/b
                    49                3  folder/a

inputs: 2
                tokens        documents    rejects  path
                    10                2          0  b.txt
                    49                3          0  a.txt

document lengths in tokens: shortest 5, longest 31, mean 11.8
  4 - 7                                   3  60.0 % ########################################
  8 - 15                                  1  20.0 % #############
  16 - 31                                 1  20.0 % #############
END

# twenty rows are shown of inputs, and all are in the JSON
set --
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
    set -- "$@" "input=in$i" document=1
done
make_dataset many "$@"
run leat info many
ended 0 ''
[ "$(grep -c ' in[0-9]*$' "$printed")" -eq 20 ] || fail "info shows not 20 of 22 inputs"
grep -qF '... and 2 more (--json has them all)' "$printed" || fail "info does not say that there are 2 more inputs"
run leat info many --json
[ "$(grep -o '"path": "in[0-9]*"' "$printed" | wc -l)" -eq 22 ] || fail "info --json has not all 22 inputs"

# a bar, however short, where there is any document
make_dataset uneven many=500 document=1,2,3
leat info uneven >uneven.txt
grep -q '^  2 - 3 .* 1 *0.2 % #$' uneven.txt || fail "info of 500 documents and another one: $(cat uneven.txt)"

# ---- Damage ---------------------------------------------------------------------------------------------------------

# An error, whichever way it is shown; a JSON object that has begun is not ended.
damaged() { # KIND MESSAGE [OFFSET]
    copy_dataset rich damaged
    spoil_section damaged.leat "$1" "${3:-0}"
    for form in '' --json; do
        run leat info damaged $form
        ended 3 "leat: damaged.leat: $2; verify the dataset, or write it again"
        tail -n 1 "$printed" | grep -q '}$' && fail "$ran ends as if all were there: $(cat "$printed")"
    done
}

damaged 1 'document 0 starts at token 9114861777597660798, beyond the last token'
damaged 1 'document 1 starts at token 9114861777597660798, beyond the last token' 8
damaged 4 'record 0 of its inputs section is invalid: its path is outside the input paths'
damaged 10 'the tokenizer section is inconsistent'
damaged 11 'pair 0 of its metadata is invalid'

# ---- Names ----------------------------------------------------------------------------------------------------------

# a dataset comes before a folder of its name
mkdir both
copy_dataset a both
copy_dataset b both/b
copy_dataset c both/c
leat info both >both.txt
grep -q '^  documents   3$' both.txt || fail "info both: the folder was taken, not the dataset beside it"
leat info both/ >both.txt
grep -q '^parts: 2$' both.txt || fail "info both/: the folder was not taken"

refuse 1 'none.leat' leat info none
refuse 1 'none.leat' leat info none --json
# what is there instead: a name that is near, here or in the folder that was named; an unfinished run; one half
no='No such file or directory'
refuse 1 "mnay.leat $no" leat info mnay
refuse 1 "both/bb.leat $no both/b" leat info both/bb
refuse 1 "empty/a.leat $no empty/" leat info empty/a
refuse 1 "nowhere/a.leat $no nowhere/" leat info nowhere/a
refuse 1 "a.txt.leat $no a.txt" leat info a.txt
mkdir halves
cp a.leat halves/a.leat
touch halves/b.tokens halves/c.partial.tokens halves/d.partial.tokens halves/d.partial.checkpoint
refuse 1 "halves/a.tokens $no halves/a.leat" leat info halves/a
refuse 1 "halves/b.leat $no halves/b.tokens" leat info halves/b
refuse 1 "halves/c.leat $no halves/c.partial.tokens remove" leat info halves/c
refuse 1 "halves/d.leat $no halves/d.partial.tokens --resume" leat info halves/d
(cd empty && refuse 1 'a.leat' leat info a; finish) || failures=1
refuse 1 'empty' leat info empty
refuse 1 'none' leat info @none
printf 'a\nbare\n' >two.txt
refuse 1 '257 300' leat info @two.txt
refuse 2 'folder/c.partial' leat info folder/c.partial
refuse 2 'dataset' leat info ''

# a file that is none: it fails at once, and does not wait for somebody to write
mkfifo pipe pipe.leat
cp a.tokens pipe.tokens
refuse 1 'pipe' timeout 60 leat info @pipe
refuse 1 'pipe.leat' timeout 60 leat info pipe
cp a.leat pipe2.leat
mkfifo pipe2.tokens
refuse 1 'pipe2.tokens' timeout 60 leat info pipe2

# lengths of very many documents are those of a sample, and it says so
if leat-bench-dev sparse -o huge --documents 100M >/dev/null 2>&1; then
    run leat info huge
    grep -qF 'from a sample of 1,048,576 documents, taken at equal distances' "$printed" ||
        fail "info of 10^8 documents"
    run leat info huge --json
    grep -qF '"document_lengths": {"sampled": true, "documents": 1048576,' "$printed" || fail "info --json of 10^8"
fi
finish
