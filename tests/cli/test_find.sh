#!/bin/sh
# test_find.sh: leat find: by document, token, origin and id, what it prints, and what it does not find.
. tests/cli/cli.sh

write_three
mkdir folder
copy_dataset a folder/a
copy_dataset b folder/b
make_dataset odd vocabulary=70000 lines ids document=9 input=p:1 offset=5 line=2 id=i1 document=5,6,7 \
    offset=9 document= input="$(printf 'q\001\377\n"')" offset=1 id='i"2' document=60000

# ---- Found ----------------------------------------------------------------------------------------------------------

second='{"document": 1, "input": "a.txt", "input_number": 0, "offset": 12, "line": 3, "id": "a.txt#1", @
"first_token": 12, "tokens": 31, "part": null}'
for by in '--document 1' '--token 12' '--token 42' '--origin a.txt:12' '--origin a.txt:41' '--origin #0:20' \
    '--id a.txt#1'; do
    # shellcheck disable=SC2086 # an option and its value
    echo "$second" | try 0 '' leat find all $by --json
    # shellcheck disable=SC2086
    try 0 '' leat find all $by <<'END'
document  1
input     a.txt (#0)
byte      12
line      3
id        a.txt#1
tokens    12:43 (31)
END
done
# an offset in the blank lines after a record belongs to it, and so does one past the end of the input
try 0 '' leat find all --origin b.txt:999 --json <<'END'
{"document": 4, "input": "b.txt", "input_number": 1, "offset": 5, "line": 3, "id": "b.txt#1", "first_token": 54, @
"tokens": 5, "part": null}
END
# no origin, no line, no id, no tokens; a colon and odd bytes in a path
try 0 '' leat find odd --document 0 <<'END'
document  0
input     not recorded
tokens    0:1 (1)
END
try 0 '' leat find odd --document 0 --json <<'END'
{"document": 0, "input": null, "input_number": null, "offset": null, "line": null, "id": null, "first_token": 0, @
"tokens": 1, "part": null}
END
try 0 '' leat find odd --origin p:1:10 <<'END'
document  2
input     p:1 (#0)
byte      9
tokens    4:4 (0)
END
try 0 '' leat find odd --id 'i"2' --json <<'END'
{"document": 3, "input": "q\u0001�\n\"", "input_number": 1, "offset": 1, "line": null, "id": "i\"2", @
"first_token": 4, "tokens": 1, "part": null}
END
run leat find odd --document 3
ended 0 ''
printf 'document  3\ninput     q\\x01\\xff\\x0a" (#1)\nbyte      1\nid        i"2\ntokens    4:5 (1)\n' |
    cmp - "$printed" || fail "leat find of a path with odd bytes: $(cat "$printed")"
# in a list: documents, tokens and inputs are numbered through, and the dataset is named
try 0 '' leat find folder --token 49 <<'END'
document  3
part      folder/b
input     b.txt (#1)
byte      0
line      1
id        b.txt#0
tokens    49:54 (5)
END
try 0 '' leat find folder --origin '#1:0' --json <<'END'
{"document": 3, "input": "b.txt", "input_number": 1, "offset": 0, "line": 1, "id": "b.txt#0", "first_token": 49, @
"tokens": 5, "part": "folder/b"}
END
# numbers with units; means have commas like other numbers
printf '%02000d' 1 >zeros.txt
leat pack -t bytes -o zeros zeros.txt >/dev/null
leat info zeros | grep -q ', mean 2,001\.0$' || fail "mean: $(leat info zeros)"
leat-bench-dev counting -o counting --tokens 5000 --document-length 2 >/dev/null
run leat find counting --document 1K
grep -q '^document  1000$' "$printed" || fail "$ran: $(cat "$printed" "$said")"

# ---- Not found ------------------------------------------------------------------------------------------------------

refuse 1 '6' leat find all --document 6
refuse 1 '18446744073709551614' leat find all --document 18446744073709551614 --json
refuse 1 '5' leat find folder --document 5
refuse 1 '62' leat find all --token 62
refuse 1 'a.txt#' leat find all --id 'a.txt#'
refuse 1 'none' leat find all --origin none:9
refuse 1 'p' leat find odd --origin p:1:4
refuse 1 '7' leat find all --origin '#7:1'
refuse 1 'none.leat' leat find none --document 0

# ids are stored, but no record had one: that is said, and info does not list them
printf '{"text":"a","name":"x"}\n' >named.jsonl
leat pack -t bytes -o named named.jsonl >/dev/null
refuse 1 'named --id' leat find named --id x
leat info named | grep -q '^  stores      lines, text hashes$' || fail "ids of none: $(leat info named)"
leat info named --json | grep -q '"stores": {"lines": true, "ids": true,' || fail "JSON: $(leat info named --json)"
leat pack -t bytes -o named --id name --force named.jsonl >/dev/null
leat find named --id x | grep -q '^id        x$' || fail "no document x: $(leat find named --id x 2>&1)"
leat info named | grep -q '^  stores      lines, ids, text hashes$' || fail "no ids: $(leat info named)"

# an index that lies about where a document came from
copy_dataset all damaged
spoil_section damaged.leat 4
refuse 3 'damaged.leat' leat find damaged --document 0

# ---- Wrong ----------------------------------------------------------------------------------------------------------

needed='of --document, --token, --origin and --id is needed (leat find --help shows how)'
refuse 2 "$needed" leat find all
refuse 2 "$needed" leat find all --token 1 --id a
refuse 2 '--token 0x 12 1.5K' leat find all --token 0x
refuse 2 '--origin' leat find all --origin x
refuse 2 '--origin' leat find all --origin :3
refuse 2 '--origin a.txt:x 12 1.5K' leat find all --origin a.txt:x
finish
