find.t: leat find finds documents by number, token, origin and id.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_three
  $ mkdir folder
  $ copy_dataset a folder/a
  $ copy_dataset b folder/b
  $ make_dataset odd vocabulary=70000 lines ids document=9 input=p:1 offset=5 line=2 id=i1 document=5,6,7 \
  >     offset=9 document= input="$(printf 'q\001\377\n"')" offset=1 id='i"2' document=60000

Each of these finds the same document:

  $ leat find all --document 1
  document  1
  input     a.txt (#0)
  byte      12
  line      3
  id        a.txt#1
  tokens    12:43 (31)
  $ leat find all --document 1 --json
  {"document": 1, "input": "a.txt", "input_number": 0, "offset": 12, "line": 3, "id": "a.txt#1", "first_token": 12, "tokens": 31, "part": null}
  $ for by in '--token 12' '--token 42' '--origin a.txt:12' '--origin a.txt:41' '--origin #0:20' '--id a.txt#1'; do
  >     leat find all $by --json
  > done | uniq -c
        6 {"document": 1, "input": "a.txt", "input_number": 0, "offset": 12, "line": 3, "id": "a.txt#1", "first_token": 12, "tokens": 31, "part": null}

An offset in the blank lines after a record belongs to it, and so does one past the end of the input.

  $ leat find all --origin b.txt:999 --json
  {"document": 4, "input": "b.txt", "input_number": 1, "offset": 5, "line": 3, "id": "b.txt#1", "first_token": 54, "tokens": 5, "part": null}

Not all have an origin, a line, an id or tokens; a path may have a colon and odd bytes.

  $ leat find odd --document 0
  document  0
  input     not recorded
  tokens    0:1 (1)
  $ leat find odd --document 0 --json
  {"document": 0, "input": null, "input_number": null, "offset": null, "line": null, "id": null, "first_token": 0, "tokens": 1, "part": null}
  $ leat find odd --origin p:1:10
  document  2
  input     p:1 (#0)
  byte      9
  tokens    4:4 (0)
  $ leat find odd --id 'i"2' --json
  {"document": 3, "input": "q\\u0001\xef\xbf\xbd\\n\\"", "input_number": 1, "offset": 1, "line": null, "id": "i\\"2", "first_token": 4, "tokens": 1, "part": null} (esc)
  $ leat find odd --document 3
  document  3
  input     q\x01\xff\x0a" (#1)
  byte      1
  id        i"2
  tokens    4:5 (1)

In a list, documents, tokens and inputs are numbered through, and the dataset is named.

  $ leat find folder --token 49
  document  3
  part      folder/b
  input     b.txt (#1)
  byte      0
  line      1
  id        b.txt#0
  tokens    49:54 (5)
  $ leat find folder --origin '#1:0' --json
  {"document": 3, "input": "b.txt", "input_number": 1, "offset": 0, "line": 1, "id": "b.txt#0", "first_token": 49, "tokens": 5, "part": "folder/b"}

Numbers may have units; means have commas like other numbers.

  $ printf '%02000d' 1 >zeros.txt
  $ leat pack -t bytes -o zeros zeros.txt >/dev/null
  $ leat info zeros | grep mean
  document lengths in tokens: shortest 2,001, longest 2,001, mean 2,001.0
  $ leat-bench-dev counting -o counting --tokens 5000 --document-length 2 >/dev/null
  $ leat find counting --document 1K
  document  1000
  input     counting (#0)
  byte      1980
  tokens    1980:1983 (3)

What is not there is named.

  $ leat find all --document 6
  leat: no document 6: the dataset has 6, numbered from 0
  [1]
  $ leat find all --document 18446744073709551614 --json
  leat: no document 18446744073709551614: the dataset has 6, numbered from 0
  [1]
  $ leat find folder --document 5
  leat: no document 5: the dataset has 5, numbered from 0
  [1]
  $ leat find all --token 62
  leat: no token 62: the dataset has 62, numbered from 0
  [1]
  $ leat find all --id 'a.txt#'
  leat: no document has the id a.txt#
  [1]
  $ leat find all --origin none:9
  leat: this dataset has no input none; see the list of its inputs (leat info)
  [1]
  $ leat find odd --origin p:1:4
  leat: no document of input 0 starts at or before byte 4
  [1]
  $ leat find all --origin '#7:1'
  leat: no input 7: the dataset has 3, numbered from 0
  [1]
  $ leat find none --document 0
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]

If ids are stored, but no record had one, that is said, and info does not list them.

  $ printf '{"text":"a","name":"x"}\n' >named.jsonl
  $ leat pack -t bytes -o named named.jsonl >/dev/null
  $ leat find named --id x
  leat: no document in this dataset has an id: none of its records had the field or column that was named for ids; pack the inputs again with the right name (leat pack --id FIELD)
  [1]
  $ leat info named | grep stores
    stores      lines, text hashes
  $ leat info named --json | grep -o '"stores": {[^}]*}'
  "stores": {"lines": true, "ids": true, "text_hashes": true, "mask": false}
  $ leat pack -t bytes -o named --id name --force named.jsonl >/dev/null
  $ leat find named --id x | grep id
  id        x
  $ leat info named | grep stores
    stores      lines, ids, text hashes

An index may lie about where a document came from.

  $ copy_dataset all damaged
  $ spoil_section damaged.leat 4
  $ leat find damaged --document 0
  leat: damaged.leat: record 0 of its inputs section is invalid: its path is outside the input paths; verify the dataset, or write it again
  [3]

Wrong options are refused.

  $ leat find all
  leat: one of --document, --token, --origin and --id is needed (leat find --help shows how)
  [2]
  $ leat find all --token 1 --id a
  leat: --token and --id cannot be combined (leat find --help lists the options)
  [2]
  $ leat find all --token 0x
  leat: --token: "0x" is not a number; write it like 12, 1.5K or 64Ki (leat find --help lists the options)
  [2]
  $ leat find all --origin x
  leat: --origin: "x" is not INPUT:BYTE (leat find --help shows how)
  [2]
  $ leat find all --origin :3
  leat: --origin: ":3" is not INPUT:BYTE (leat find --help shows how)
  [2]
  $ leat find all --origin a.txt:x
  leat: --origin: "a.txt:x" is not a number; write it like 12, 1.5K or 64Ki (leat find --help shows how)
  [2]

