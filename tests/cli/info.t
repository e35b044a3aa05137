info.t: leat info shows all that a dataset records, to people and as JSON, whichever way the dataset is named.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_three
  $ mkdir folder empty
  $ copy_dataset a folder/a
  $ copy_dataset b folder/b
  $ copy_dataset a folder/.hidden
  $ copy_dataset a folder/c.partial
  $ printf '# a list\n\nfolder/b\r\nfolder/a.leat \n' >list.txt
  $ make_dataset bare vocabulary=300
  $ make_dataset rich vocabulary=70000 end=69999 begin=1 created=86400 tokenizer=t.model pattern=gpt2 file=abc lines ids \
  >     metadata=k=v metadata=é=w input=p:1 bytes=100 rejects=3 offset=5 line=2 id=i1 document=5,6,7 offset=9 document= \
  >     input="$(printf 'q\001\377\n"')" offset=1 id='i"2' document=60000
  $ leat info all --json | python3 -m json.tool --no-ensure-ascii
  {
      "name": "all",
      "damaged": [],
      "version": 1,
      "identity": "1e1d56c89e3d49d76eae421d32c6056e",
      "tokens": 62,
      "documents": 6,
      "learned": null,
      "width": 2,
      "vocabulary": 257,
      "tokenizer": {
          "name": "bytes",
          "pattern": null,
          "fingerprint": "9939fb9f7ef62b7a19a5f9de655cf326"
      },
      "end": 256,
      "begin": null,
      "created": null,
      "token_bytes": 124,
      "index_bytes": 4901,
      "offline_parts": 0,
      "stores": {
          "lines": true,
          "ids": true,
          "text_hashes": false,
          "mask": false
      },
      "document_lengths": {
          "sampled": false,
          "documents": 6,
          "mean": 10.333333333333334,
          "shortest": 3,
          "longest": 31,
          "buckets": [
              {
                  "least": 2,
                  "most": 3,
                  "documents": 1
              },
              {
                  "least": 4,
                  "most": 7,
                  "documents": 3
              },
              {
                  "least": 8,
                  "most": 15,
                  "documents": 1
              },
              {
                  "least": 16,
                  "most": 31,
                  "documents": 1
              }
          ]
      },
      "columns": [],
      "histogram": null,
      "parts": [
          {
              "name": "all",
              "kind": "leat",
              "identity": "1e1d56c89e3d49d76eae421d32c6056e",
              "first_token": 0,
              "tokens": 62,
              "first_document": 0,
              "documents": 6,
              "first_input": 0,
              "inputs": 3,
              "token_path": "all.tokens",
              "metadata": []
          }
      ],
      "inputs": [
          {
              "path": "a.txt",
              "bytes": 49,
              "documents": 3,
              "tokens": 49,
              "rejects": 0,
              "hash": null
          },
          {
              "path": "b.txt",
              "bytes": 9,
              "documents": 2,
              "tokens": 10,
              "rejects": 0,
              "hash": null
          },
          {
              "path": "c.txt",
              "bytes": 2,
              "documents": 1,
              "tokens": 3,
              "rejects": 0,
              "hash": null
          }
      ]
  }
  $ leat info --json rich.leat
  {"name": "rich.leat", "damaged": [], "version": 1, "identity": "295c210128ea1573228fc2b8e4327852", "tokens": 10, "documents": 3, "learned": null, "width": 4, "vocabulary": 70000, "tokenizer": {"name": "t.model", "pattern": "gpt2", "fingerprint": "ea17d2451a1591e8a98960b9edc5d7da"}, "end": 69999, "begin": 1, "created": "1970-01-02T00:00:00Z", "token_bytes": 40, "index_bytes": 4837, "offline_parts": 0, "stores": {"lines": true, "ids": true, "text_hashes": false, "mask": false}, "document_lengths": {"sampled": false, "documents": 3, "mean": 3.3333333333333335, "shortest": 2, "longest": 5, "buckets": [{"least": 2, "most": 3, "documents": 2}, {"least": 4, "most": 7, "documents": 1}]}, "columns": [], "histogram": null, "parts": [{"name": "rich", "kind": "leat", "identity": "295c210128ea1573228fc2b8e4327852", "first_token": 0, "tokens": 10, "first_document": 0, "documents": 3, "first_input": 0, "inputs": 2, "token_path": "rich.tokens", "metadata": [["k", "v"], ["\xc3\xa9", "w"]]}], "inputs": [{"path": "p:1", "bytes": 100, "documents": 2, "tokens": 7, "rejects": 3, "hash": null}, {"path": "q\\u0001\xef\xbf\xbd\\n\\"", "bytes": 0, "documents": 1, "tokens": 3, "rejects": 0, "hash": null}]} (esc)
  $ leat info bare --json
  {"name": "bare", "damaged": [], "version": 1, "identity": "cef5078c852c651743c52b28ffe3ffd0", "tokens": 0, "documents": 0, "learned": null, "width": 2, "vocabulary": 300, "tokenizer": {"name": null, "pattern": null, "fingerprint": null}, "end": null, "begin": null, "created": null, "token_bytes": 0, "index_bytes": 4160, "offline_parts": 0, "stores": {"lines": false, "ids": false, "text_hashes": false, "mask": false}, "document_lengths": {"sampled": false, "documents": 0, "mean": 0.0, "shortest": 0, "longest": 0, "buckets": []}, "columns": [], "histogram": null, "parts": [{"name": "bare", "kind": "leat", "identity": "cef5078c852c651743c52b28ffe3ffd0", "first_token": 0, "tokens": 0, "first_document": 0, "documents": 0, "first_input": 0, "inputs": 0, "token_path": "bare.tokens", "metadata": []}], "inputs": []}
  $ leat info folder --json
  {"name": "folder", "damaged": [], "version": 1, "identity": "348da8d047dc0bdc80249f9f3d1402bd", "tokens": 59, "documents": 5, "learned": null, "width": 2, "vocabulary": 257, "tokenizer": {"name": "bytes", "pattern": null, "fingerprint": "9939fb9f7ef62b7a19a5f9de655cf326"}, "end": 256, "begin": null, "created": null, "token_bytes": 118, "index_bytes": 9418, "offline_parts": 0, "stores": {"lines": true, "ids": true, "text_hashes": false, "mask": false}, "document_lengths": {"sampled": false, "documents": 5, "mean": 11.8, "shortest": 5, "longest": 31, "buckets": [{"least": 4, "most": 7, "documents": 3}, {"least": 8, "most": 15, "documents": 1}, {"least": 16, "most": 31, "documents": 1}]}, "columns": [], "histogram": null, "parts": [{"name": "folder/a", "kind": "leat", "identity": "fa4a2cf841c7926dd91661916d70edfb", "first_token": 0, "tokens": 49, "first_document": 0, "documents": 3, "first_input": 0, "inputs": 1, "token_path": "folder/a.tokens", "metadata": []}, {"name": "folder/b", "kind": "leat", "identity": "16e0b3d53f93965b04f3a5e6fe435433", "first_token": 49, "tokens": 10, "first_document": 3, "documents": 2, "first_input": 1, "inputs": 1, "token_path": "folder/b.tokens", "metadata": []}], "inputs": [{"path": "a.txt", "bytes": 49, "documents": 3, "tokens": 49, "rejects": 0, "hash": null}, {"path": "b.txt", "bytes": 9, "documents": 2, "tokens": 10, "rejects": 0, "hash": null}]}

People see this; the bytes of a path that would end the line are shown by their numbers.

  $ leat info all.tokens
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
  $ leat info rich
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
                       3                1          0  q\x01\xff\x0a"
  
  metadata
    k = v
    \xc3\xa9 = w (esc)
  
  document lengths in tokens: shortest 2, longest 5, mean 3.3
    2 - 3                                   2  66.7 % ########################################
    4 - 7                                   1  33.3 % ####################
  $ leat info bare
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
  $ leat info @list.txt
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

Hashes of texts, and a mask, are shown where they are stored.

  $ make_dataset hashed vocabulary=300 hashes document=1
  $ make_dataset masked vocabulary=300 mask document=1
  $ for name in hashed masked; do
  >     leat info $name | grep stores
  >     leat info $name --json | grep -o '"stores": {[^}]*}'
  > done
    stores      text hashes
  "stores": {"lines": false, "ids": false, "text_hashes": true, "mask": false}
    stores      mask
  "stores": {"lines": false, "ids": false, "text_hashes": false, "mask": true}

Twenty rows are shown of inputs, and all are in the JSON.

  $ make_dataset many $(seq -f 'input=in%g document=1' 0 21)
  $ leat info many | grep -c ' in[0-9]*$'
  20
  $ leat info many | grep more
    ... and 2 more (--json has them all)
  $ leat info many --json | grep -o '"path": "in[0-9]*"' | wc -l
  22

There is a bar, however short, where there is any document.

  $ make_dataset uneven many=500 document=1,2,3
  $ leat info uneven | grep '%'
    1                                     500  99.8 % ########################################
    2 - 3                                   1   0.2 % #

Damage is an error, whichever way it is shown; a JSON object that has begun is not ended.

  $ damaged() { # KIND [OFFSET]
  >     copy_dataset rich damaged
  >     spoil_section damaged.leat "$@"
  >     leat info damaged >out || echo "[$?]"
  >     leat info damaged --json >>out || echo "[$?]"
  >     grep '}$' out
  > }
  $ damaged 1
  leat: damaged.leat: document 0 starts at token 9114861777597660798, beyond the last token; verify the dataset, or write it again
  [3]
  leat: damaged.leat: document 0 starts at token 9114861777597660798, beyond the last token; verify the dataset, or write it again
  [3]
  [1]
  $ damaged 1 8
  leat: damaged.leat: document 1 starts at token 9114861777597660798, beyond the last token; verify the dataset, or write it again
  [3]
  leat: damaged.leat: document 1 starts at token 9114861777597660798, beyond the last token; verify the dataset, or write it again
  [3]
  [1]
  $ damaged 4
  leat: damaged.leat: record 0 of its inputs section is invalid: its path is outside the input paths; verify the dataset, or write it again
  [3]
  leat: damaged.leat: record 0 of its inputs section is invalid: its path is outside the input paths; verify the dataset, or write it again
  [3]
  [1]
  $ damaged 10
  leat: damaged.leat: the tokenizer section is inconsistent; verify the dataset, or write it again
  [3]
  leat: damaged.leat: the tokenizer section is inconsistent; verify the dataset, or write it again
  [3]
  [1]
  $ damaged 11
  leat: damaged.leat: pair 0 of its metadata is invalid; verify the dataset, or write it again
  [3]
  leat: damaged.leat: pair 0 of its metadata is invalid; verify the dataset, or write it again
  [3]
  [1]

A dataset comes before a folder of its name.

  $ mkdir both
  $ copy_dataset a both
  $ copy_dataset b both/b
  $ copy_dataset c both/c
  $ leat info both | grep -E '^  documents|^parts'
    documents   3
  $ leat info both/ | grep -E '^  documents|^parts'
    documents   3
  parts: 2

If a dataset is not there, what is there instead is said: a name that is near, here or in the folder that was named; an
unfinished run; one half.

  $ leat info none
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ leat info none --json
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ leat info mnay
  leat: cannot open mnay.leat: No such file or directory; did you mean many?
  [1]
  $ leat info both/bb
  leat: cannot open both/bb.leat: No such file or directory; did you mean both/b?
  [1]
  $ leat info empty/a
  leat: cannot open empty/a.leat: No such file or directory; no dataset in empty/
  [1]
  $ leat info nowhere/a
  leat: cannot open nowhere/a.leat: No such file or directory; no folder nowhere/
  [1]
  $ leat info a.txt
  leat: cannot open a.txt.leat: No such file or directory; a.txt itself exists, but is not a dataset: pack it into one (leat pack)
  [1]
  $ mkdir halves
  $ cp a.leat halves/a.leat
  $ touch halves/b.tokens halves/c.partial.tokens halves/d.partial.tokens halves/d.partial.checkpoint
  $ leat info halves/a
  leat: cannot open halves/a.tokens: No such file or directory; halves/a.leat is there, and a dataset is both files: restore the other one
  [1]
  $ leat info halves/b
  leat: cannot open halves/b.leat: No such file or directory; halves/b.tokens is there, and a dataset is both files: restore the other one
  [1]
  $ leat info halves/c
  leat: cannot open halves/c.leat: No such file or directory; halves/c.partial.tokens is from a run that has not ended: do the same again, or remove halves/c.partial.*
  [1]
  $ leat info halves/d
  leat: cannot open halves/d.leat: No such file or directory; halves/d.partial.tokens is from an unfinished run: resume it (--resume)
  [1]
  $ (cd empty && leat info a)
  leat: cannot open a.leat: No such file or directory; no dataset in this folder
  [1]
  $ leat info empty
  leat: the folder empty holds no dataset (no *.leat in it)
  [1]
  $ leat info @none
  leat: cannot open none: No such file or directory
  [1]
  $ printf 'a\nbare\n' >two.txt
  $ leat info @two.txt
  leat: a and bare cannot be joined: their vocabulary size is 257 and 300
  [1]
  $ leat info folder/c.partial
  leat: folder/c.partial is not a dataset: names that end in .partial are unfinished
  [2]
  $ leat info ''
  leat: the name of the dataset is empty
  [2]

What is no file fails at once, and does not wait for somebody to write.

  $ mkfifo pipe pipe.leat
  $ cp a.tokens pipe.tokens
  $ leat info @pipe
  leat: pipe is not a regular file
  [1]
  $ leat info pipe
  leat: pipe.leat is not a regular file
  [1]
  $ cp a.leat pipe2.leat
  $ mkfifo pipe2.tokens
  $ leat info pipe2
  leat: pipe2.tokens is not a regular file
  [1]
