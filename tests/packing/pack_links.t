pack_links.t: links in folders are followed inside of the folder only, unless that is asked for; lists, and links to
folders, that multiply come to an end with a sentence.

Once a folder with a link to /etc/passwd packed it; twenty lists that name the next one twice were a million inputs; and
`leat pack @/dev/zero` read for ever.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ packs() { # ARGUMENT...
  >     members inputs,skipped leat pack -t bytes -o out --force --json "$@"
  > }
  $ text() { # FILE
  >     mkdir -p "$(dirname "$1")"
  >     printf '{"text":"%s"}\n' "$1" >"$1"
  > }

The name of the last of these only begins like the folder's.

  $ text secret/passwd.jsonl
  $ text folder/a.jsonl
  $ text folder/sub/b.jsonl
  $ text folder-too/c.jsonl
  $ packs folder
  "inputs": 2 "skipped": 0
  $ ln -s a.jsonl folder/in.jsonl
  $ ln -s "$PWD/folder/sub" folder/in
  $ packs folder
  leat: warning: 2 inputs repeat earlier ones, the first is folder/in.jsonl: their documents are packed once for each
  "inputs": 4 "skipped": 0

Links out, and one to what is no file, are left out, one of them by two ways; whatever the folder is called.

  $ ln -s ../secret/passwd.jsonl folder/out.jsonl
  $ ln -s "$PWD/secret" folder/sub/out
  $ ln -s ../folder-too folder/too
  $ ln -s /dev/null folder/device.jsonl
  $ packs folder
  leat: warning: 2 inputs repeat earlier ones, the first is folder/in.jsonl: their documents are packed once for each
  leat: skipped 1 file in folders: folder/device.jsonl
  leat: skipped 4 links out of folders (--follow-links packs what they lead to): folder/in/out, folder/out.jsonl, folder/sub/out, folder/too
  "inputs": 4 "skipped": 5
  $ leat pack -t bytes -o out --force --json folder 2>/dev/null | grep -o '"skipped_files": \[[^]]*\]'
  "skipped_files": ["folder/device.jsonl", "folder/in/out", "folder/out.jsonl", "folder/sub/out", "folder/too"]
  $ printf 'folder\n' >list
  $ set -f
  $ for name in folder/ ./folder "$PWD/folder" folder/../folder '--format jsonl folder' '--format text folder' @list \
  >     fold*r; do
  >     packs $name 2>/dev/null
  > done | uniq -c
        8 "inputs": 4 "skipped": 5
  $ set +f
  $ (cd folder && members inputs,skipped leat pack -t bytes -o ../here --json . 2>/dev/null)
  "inputs": 4 "skipped": 5
  $ packs --follow-links folder
  leat: warning: 4 inputs repeat earlier ones, the first is folder/in.jsonl: their documents are packed once for each
  leat: skipped 1 file in folders: folder/device.jsonl
  "inputs": 8 "skipped": 1
  $ leat cat out --tokens : | grep -aoc secret/passwd
  1

A chain goes out and in again, or in by another name; or the folder itself stands behind a link.

  $ rm folder/out.jsonl folder/sub/out folder/too folder/device.jsonl folder/in folder/in.jsonl
  $ ln -s ../folder/a.jsonl secret/back.jsonl
  $ ln -s ../secret/back.jsonl folder/round.jsonl
  $ packs folder
  leat: warning: folder/round.jsonl repeats an earlier input: its documents are packed twice
  "inputs": 3 "skipped": 0
  $ rm folder/round.jsonl
  $ ln -s folder alias
  $ packs alias
  "inputs": 2 "skipped": 0
  $ ln -s ../alias/a.jsonl folder/by-alias.jsonl
  $ packs folder
  leat: warning: folder/by-alias.jsonl repeats an earlier input: its documents are packed twice
  "inputs": 3 "skipped": 0

What a person names is packed, links too.

  $ packs secret/passwd.jsonl
  "inputs": 1 "skipped": 0
  $ ln -s ../secret/passwd.jsonl folder/out.jsonl
  $ packs folder/out.jsonl
  "inputs": 1 "skipped": 0
  $ packs folder
  leat: warning: folder/by-alias.jsonl repeats an earlier input: its documents are packed twice
  leat: skipped 1 link out of folders (--follow-links packs what they lead to): folder/out.jsonl
  "inputs": 3 "skipped": 1
  $ rm folder/out.jsonl
  $ ln -s nowhere folder/gone.jsonl
  $ leat pack -t bytes -o none folder
  leat: folder/gone.jsonl is a symbolic link to nowhere, which is missing; restore that, or remove the link
  [1]
  $ rm folder/gone.jsonl

A folder may hold nothing but links out.

  $ mkdir links
  $ ln -s ../secret/passwd.jsonl links/b.jsonl
  $ ln -s ../secret/passwd.jsonl links/a.jsonl
  $ leat pack -t bytes -o none links
  leat: the folder links has no file to pack but links that lead out of it, such as links/a.jsonl; follow links to pack what they lead to (--follow-links)
  [1]
  $ packs --follow-links links
  leat: warning: links/b.jsonl repeats an earlier input: its documents are packed twice
  "inputs": 2 "skipped": 0

In the cache of the Hugging Face Hub a snapshot consists of links.

  $ repository=hub/datasets--org--name
  $ snapshot=$repository/snapshots/0123abc
  $ text $repository/blobs/aaaa
  $ text $repository/blobs/bbbb
  $ text hub/datasets--org--other/blobs/cccc
  $ mkdir -p $snapshot/data
  $ ln -s ../../blobs/aaaa $snapshot/a.jsonl
  $ ln -s ../../../blobs/bbbb $snapshot/data/b.jsonl
  $ packs $snapshot
  "inputs": 2 "skipped": 0
  $ packs $snapshot/data
  "inputs": 1 "skipped": 0
  $ packs $repository/snapshots
  "inputs": 2 "skipped": 0
  $ here=$PWD
  $ (cd $snapshot && members inputs leat pack -t bytes -o "$here/here" --force --json .)
  "inputs": 2

That is no way to another repository, by a blob that is a link, or in a folder that is only called like one.

  $ ln -s ../../../datasets--org--other/blobs/cccc $snapshot/c.jsonl
  $ ln -s ../../../secret/passwd.jsonl $repository/blobs/dddd
  $ ln -s ../../blobs/dddd $snapshot/d.jsonl
  $ packs $snapshot
  leat: skipped 2 links out of folders (--follow-links packs what they lead to): hub/datasets--org--name/snapshots/0123abc/c.jsonl, hub/datasets--org--name/snapshots/0123abc/d.jsonl
  "inputs": 2 "skipped": 2
  $ text plain/blobs/aaaa
  $ mkdir -p plain/snapshots/1
  $ ln -s ../../blobs/aaaa plain/snapshots/1/a.jsonl
  $ text plain/snapshots/1/b.jsonl
  $ packs plain/snapshots/1
  leat: skipped 1 link out of folders (--follow-links packs what they lead to): plain/snapshots/1/a.jsonl
  "inputs": 1 "skipped": 1

Lists and links multiply.

  $ mkdir lists tree
  $ for i in $(seq 1 20); do
  >     printf '@%d\n@%d\n' $((i + 1)) $((i + 1)) >"lists/$i"
  >     mkdir "tree/$i"
  >     ln -s "../$((i + 1))" "tree/$i/a"
  >     ln -s "../$((i + 1))" "tree/$i/b"
  > done
  $ printf '../folder/a.jsonl\n' >lists/21
  $ mkdir tree/21
  $ text tree/21/a.jsonl
  $ leat pack -t bytes -o none @lists/1
  leat: lists/20: more than 16384 lists are read; do they name each other again and again?
  [2]
  $ packs @lists/15
  leat: warning: 63 inputs repeat earlier ones, the first is lists/../folder/a.jsonl: their documents are packed once for each
  "inputs": 64 "skipped": 0
  $ leat pack -t bytes -o none tree
  leat: tree/*: links lead to more than 16384 folders; do they lead to each other again and again\? (glob)
  [2]
  $ packs tree/16 --follow-links
  leat: warning: 31 inputs repeat earlier ones, the first is tree/16/*/a.jsonl: their documents are packed once for each (glob)
  "inputs": 32 "skipped": 0
  $ ln -s . tree/21/loop
  $ leat pack -t bytes -o none tree/21
  leat: tree/21/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop/loop: too many symbolic links; does a link form a cycle?
  [2]
  $ printf '@self\n' >lists/self
  $ leat pack -t bytes -o none @lists/self
  leat: lists/self: lists are nested more than 64 deep; do they form a cycle?
  [2]

A list may have no end, and may be none.

  $ leat pack -t bytes -o none @/dev/zero
  leat: /dev/zero: a line holds a zero byte; this is not a list of names
  [2]
  $ tr '\0' x </dev/zero | leat pack -t bytes -o none @/dev/stdin
  leat: /dev/stdin: a line has more than 65,535 bytes; this is not a list of names
  [2]
  $ yes '# nothing' | leat pack -t bytes -o none @/dev/stdin
  leat: /dev/stdin: lists have more than 16777216 lines, each counted as often as it is read; does a list end, and not name others again and again?
  [2]
  $ leat pack -t bytes -o none @lists
  leat: cannot read lists: Is a directory
  [1]

A list may hold comments, empty lines, CRLF, and a last line without its end; and it may be a pipe.

  $ printf '# a comment\r\n\r\nfolder/a.jsonl\r\n\nfolder/sub/b.jsonl' >list
  $ packs @list
  "inputs": 2 "skipped": 0
  $ sed "s|^folder|$PWD/folder|" list | packs @/dev/stdin
  "inputs": 2 "skipped": 0
