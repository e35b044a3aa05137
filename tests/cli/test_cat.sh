#!/bin/sh
# test_cat.sh: leat cat: documents and ranges of tokens, as text and as ids, and the text that it cannot show.
. tests/cli/cli.sh

write_three
mkdir folder
copy_dataset a folder/a
copy_dataset b folder/b
printf 'folder/b\nfolder/a\n' >list.txt
make_dataset other vocabulary=70000 end=69999 begin=1 tokenizer=t.model file=abc document=5,6,7 document= document=60000
make_dataset bare vocabulary=300 document=65,66
make_dataset empty vocabulary=300 tokenizer=bytes

# ---- Text -----------------------------------------------------------------------------------------------------------

try 0 '' leat cat all --document 1 <<'END'
second paragraph
of two lines
END
try 0 '' leat cat all --document 3 --text <<'END'
one
END
# the bytes of one document come as they are; of several, each ends its line
run leat cat a --document 2
ended 0 ''
printf 'third' | cmp - "$printed" || fail "the text of a document is not its bytes"
try 0 '' leat cat a --document 0:3 <<'END'
alpha beta
second paragraph
of two lines
third
END
for range in 1: 1:3; do
    try 0 '' leat cat a --document $range <<'END'
second paragraph
of two lines
third
END
done
try 0 '' leat cat a --document :1 <<'END'
alpha beta
END
refuse 0 '' leat cat a --document 1:1
refuse 0 '' leat cat a --document 3:3
refuse 0 '' leat cat empty --document 0:
try 0 '' leat cat folder --document 2:4 <<'END'
third
one
END
try 0 '' leat cat @list.txt --document 0 <<'END'
one
END
# tokens: across documents, without the end tokens between them
run leat cat a --tokens 5:20
ended 0 ''
printf ' beta\nsecond p' | cmp - "$printed" || fail "the text of the tokens 5:20 is another"
refuse 0 '' leat cat a --tokens 5:5
refuse 0 '' leat cat a --tokens 11:12

# all of it at once is all that was written
write_numbered n
run leat cat n --document 0:
ended 0 ''
sed '/^$/d' n.txt | cmp - "$printed" || fail "leat cat of all documents is not what was written"
run leat cat n --tokens :
ended 0 ''
sed '/^$/d' n.txt | cmp - "$printed" || fail "leat cat of all tokens is not what was written"

# ---- Ids ------------------------------------------------------------------------------------------------------------

try 0 '' leat cat b --document 1 --ids <<'END'
116 119 111 10 256
END
try 0 '' leat cat other --ids --document 0:3 <<'END'
1 5 6 7 69999
1 69999
1 60000 69999
END
try 0 '' leat cat a --tokens 5:20 --ids <<'END'
32 98 101 116 97 10 256 115 101 99 111 110 100 32 112
END
try 0 '' leat cat folder --tokens 45:52 --ids <<'END'
105 114 100 256 111 110 101
END
try 0 '' leat cat bare --tokens 1:2 --ids <<'END'
66
END

# ids over more than one block of what is read and printed at once
leat-bench-dev counting -o counting --tokens 100000 --document-length 30 >/dev/null
run leat cat counting --tokens : --ids
ended 0 ''
tr ' ' '\n' <"$printed" >one-a-line
od -An -v -tu2 -w2 --endian=little counting.tokens | tr -d ' ' | cmp - one-a-line ||
    fail "leat cat --ids of all tokens is not the token file"
run leat cat counting --document : --ids
documents=$(leat info counting --json | grep -o '"documents": [0-9]*' | head -n 1 | tr -dc 0-9)
[ "$(wc -l <"$printed")" -eq "$documents" ] ||
    fail "leat cat --document : --ids has not one line a document"
tr -s ' \n' '\n' <"$printed" | sed '/^$/d' | cmp - one-a-line || fail "the ids of all documents are not all tokens"

# ---- By another tokenizer -------------------------------------------------------------------------------------------

# a *.tiktoken file whose name does not say its pattern: --pattern was advised, which this command did not have
for byte in $(seq 0 255); do
    # shellcheck disable=SC2059 # the byte is the format
    echo "$(printf "\\$(printf %03o "$byte")" | base64) $byte"
done >mine.tiktoken
run leat cat a --document 0 -t mine.tiktoken
says 2 'mine.tiktoken: neither the file nor its name says which pattern splits text; choose one of '
says 2 ' (--pattern NAME)'
run leat cat a --document 0 -t mine.tiktoken --pattern gpt2
ended 0 ''
printf 'alpha beta\n' | cmp - "$printed" || fail "$ran: printed $(cat "$printed")"
refuse 2 '--pattern --tokenizer' leat cat a --document 0 --pattern gpt2

# ---- What it cannot do ----------------------------------------------------------------------------------------------

refuse 1 't.model other --ids tokenizer.json' leat cat other --document 0
refuse 1 'bare --ids --tokenizer' leat cat bare --document 0 --text
refuse 1 '49 4:100' leat cat a --tokens 4:100
refuse 1 '3 9' leat cat a --document 9
refuse 1 '1:9' leat cat a --document 1:9
refuse 1 'bare 18446744073709551614' leat cat bare --ids --document 18446744073709551614
refuse 1 'none.leat' leat cat none --document 0
refuse 2 '--document --tokens' leat cat a
refuse 2 '--document --tokens' leat cat a --document 1 --tokens 1:2
refuse 2 '--text --ids' leat cat a --text --ids --document 1
refuse 2 '--tokens 5:6' leat cat a --tokens 5
refuse 2 '--tokens 2:1' leat cat a --tokens 2:1
refuse 2 '--document 12 1.5K 64Ki' leat cat a --document x

# begin and end tokens are no text, though they are among the tokens
make_dataset marked vocabulary=300 end=256 begin=257 tokenizer=bytes document=72,105 document= document=33
run leat cat marked --document 0:
ended 0 ''
printf 'Hi\n\n!\n' | cmp - "$printed" || fail "the text between begin and end tokens is another"
run leat cat marked --tokens 0:2
ended 0 ''
printf 'H' | cmp - "$printed" || fail "the text of a begin token and of the next one is another"

# an id that the tokenizer does not have: the text before it, and an error
make_dataset beyond vocabulary=60000 tokenizer=gpt2 document=72 document=55555
run leat cat beyond --document 0:
[ "$code" -eq 1 ] || fail "$ran: exit code $code, not 1"
grep -q '55555' "$said" || fail "$ran does not name the id: $(cat "$said")"
[ "$(cat "$printed")" = i ] || fail "$ran printed $(cat "$printed")"

# a damaged tokenizer
copy_dataset other p
spoil_section p.leat 10
refuse 3 'p.leat' leat cat p --document 0

# a document that begins behind the next one, of which only the two ends are looked at
copy_dataset n p
overwrite p.leat $((4096 + 8 * 5)) '~'
refuse 3 'p' leat cat p --document 5:6

# document starts that fall: an error that says so, and nothing that was never there
copy_dataset n p
overwrite p.leat 4501 '~'
run leat cat p --document 40:60
[ "$code" -eq 3 ] || fail "$ran: exit code $code, not 3"
grep -q 'verify' "$said" || fail "$ran does not send the user to verify: $(cat "$said")"

# a damaged page: an error, where text that is wrong was printed. Pages that are not printed are not looked at
make_dataset long vocabulary=60000 tokenizer=gpt2 many=20000
overwrite long.tokens 20000 'damage'
run leat cat long --document 0 --ids
ended 0 ''
for words in 'cat long --document 9000' 'cat long --tokens 8000:8300 --ids' 'cat long --document 0:20000' \
    'show --source long --seq-len 8000 --order sequential --sample 1' 'show long --tokens 8000:8300'; do
    # shellcheck disable=SC2086 # words
    run leat $words
    [ "$code" -eq 3 ] || fail "$ran: exit code $code, not 3"
    grep -q 'long.tokens' "$said" || fail "$ran does not name the file: $(cat "$said")"
done
finish
