#!/bin/sh
# test_pack_links.sh: links in folders are followed inside of the folder only, unless that is asked for; lists, and
# links to folders, that multiply come to an end with a sentence.
#
# Once a folder with a link to /etc/passwd packed it; twenty lists that name the next one twice were a million inputs;
# and `leat pack @/dev/zero` read for ever.
. tests/cli/cli.sh

key() { # the value of a member of the object that was printed last
    sed -n "s/.*\"$1\": \(\[[^]]*\]\|[^,}]*\).*/\1/p" "$printed"
}
packs() { # FILES SKIPPED ARGUMENT...: so many inputs, and so many files left out
    inputs=$1 skipped=$2
    shift 2
    run leat pack -t bytes -o out --force --json "$@"
    [ "$code/$(key inputs)/$(key skipped)" = "0/$inputs/$skipped" ] ||
        fail "$ran: $(key inputs) inputs and $(key skipped) skipped, not $inputs and $skipped; $(cat "$said")"
}
text() {
    mkdir -p "$(dirname "$1")"
    printf '{"text":"%s"}\n' "$1" >"$1"
}

# ---- In and out of a folder -----------------------------------------------------------------------------------------

text secret/passwd.jsonl
text folder/a.jsonl
text folder/sub/b.jsonl
text folder-too/c.jsonl # whose name only begins like the folder's
packs 2 0 folder
ln -s a.jsonl folder/in.jsonl
ln -s "$PWD/folder/sub" folder/in
packs 4 0 folder # a.jsonl, in/b.jsonl, in.jsonl, sub/b.jsonl
ln -s ../secret/passwd.jsonl folder/out.jsonl
ln -s "$PWD/secret" folder/sub/out
ln -s ../folder-too folder/too
ln -s /dev/null folder/device.jsonl # no file, wherever it lies
packs 4 5 folder # one of them by two ways
says 0 'skipped 4 links out of folders (--follow-links packs what they lead to): '
says 0 'folder/in/out, folder/out.jsonl, folder/sub/out, folder/too'
says 0 'skipped 1 file in folders: folder/device.jsonl'
names='"folder/device.jsonl", "folder/in/out", "folder/out.jsonl", "folder/sub/out", "folder/too"'
[ "$(key skipped_files)" = "[$names]" ] ||
    fail "other files skipped: $(key skipped_files)"
for name in folder/ ./folder "$PWD/folder" folder/../folder; do
    packs 4 5 "$name"
done
(cd folder && leat pack -t bytes -o ../here --json .) >"$printed" 2>"$said"
[ "$(key inputs)/$(key skipped)" = 4/5 ] || fail "of .: $(cat "$printed" "$said")"
for format in jsonl text; do
    packs 4 5 --format $format folder
done
printf 'folder\n' >list
packs 4 5 @list
packs 4 5 'fold*r'
packs 8 1 --follow-links folder
tr -d '\0' <out.tokens | grep -qa secret/passwd || fail '--follow-links does not follow'

# a chain that goes out and in again, or in by another name; and the folder itself behind a link
rm folder/out.jsonl folder/sub/out folder/too folder/device.jsonl folder/in folder/in.jsonl
ln -s ../folder/a.jsonl secret/back.jsonl
ln -s ../secret/back.jsonl folder/round.jsonl # leads to folder/a.jsonl in the end
packs 3 0 folder
rm folder/round.jsonl
ln -s folder alias
packs 2 0 alias
ln -s ../alias/a.jsonl folder/by-alias.jsonl
packs 3 0 folder
packs 1 0 secret/passwd.jsonl # what a person names is packed, links too
ln -s ../secret/passwd.jsonl folder/out.jsonl
packs 1 0 folder/out.jsonl
packs 3 1 folder
rm folder/out.jsonl
ln -s nowhere folder/gone.jsonl # leads nowhere: a file is missing
run leat pack -t bytes -o none folder
says 1 'folder/gone.jsonl is a symbolic link to nowhere, which is missing; restore that, or remove the link'
rm folder/gone.jsonl

# nothing but links out
mkdir links
ln -s ../secret/passwd.jsonl links/b.jsonl
ln -s ../secret/passwd.jsonl links/a.jsonl
run leat pack -t bytes -o none links
says 1 'the folder links has no file to pack but links that lead out of it, such as links/a.jsonl; '
says 1 'follow links to pack what they lead to (--follow-links)'
packs 2 0 --follow-links links

# ---- The cache of the Hugging Face Hub ------------------------------------------------------------------------------

repository=hub/datasets--org--name
snapshot=$repository/snapshots/0123abc
text $repository/blobs/aaaa
text $repository/blobs/bbbb
text hub/datasets--org--other/blobs/cccc
mkdir -p $snapshot/data
ln -s ../../blobs/aaaa $snapshot/a.jsonl
ln -s ../../../blobs/bbbb $snapshot/data/b.jsonl
packs 2 0 $snapshot
packs 1 0 $snapshot/data
packs 2 0 $repository/snapshots
(cd $snapshot && leat pack -t bytes -o "$tmp/here" --force --json .) >"$printed" 2>"$said"
[ "$(key inputs)" = 2 ] || fail "a snapshot, from inside of it: $(cat "$printed" "$said")"
# no way to other files: another repository, a blob that is a link, a folder that is only called like one
ln -s ../../../datasets--org--other/blobs/cccc $snapshot/c.jsonl
ln -s ../../../secret/passwd.jsonl $repository/blobs/dddd
ln -s ../../blobs/dddd $snapshot/d.jsonl
packs 2 2 $snapshot
text plain/blobs/aaaa
mkdir -p plain/snapshots/1
ln -s ../../blobs/aaaa plain/snapshots/1/a.jsonl
text plain/snapshots/1/b.jsonl
packs 1 1 plain/snapshots/1

# ---- What multiplies ------------------------------------------------------------------------------------------------

refused() { # SENTENCE ARGUMENT...
    sentence=$1
    shift
    run leat pack -t bytes -o none "$@"
    says 2 "$sentence"
}
mkdir lists tree
for i in $(seq 1 20); do
    printf '@%d\n@%d\n' $((i + 1)) $((i + 1)) >"lists/$i"
    mkdir "tree/$i"
    ln -s "../$((i + 1))" "tree/$i/a"
    ln -s "../$((i + 1))" "tree/$i/b"
done
printf '../folder/a.jsonl\n' >lists/21
mkdir tree/21
text tree/21/a.jsonl
refused 'more than 16384 lists are read; do they name each other again and again?' @lists/1
packs 64 0 @lists/15
refused 'links lead to more than 16384 folders; do they lead to each other again and again?' tree
packs 32 0 tree/16 --follow-links
ln -s . tree/21/loop
run leat pack -t bytes -o none tree/21 # the kernel follows 40 links in a path
says 2 'too many symbolic links; does a link form a cycle?'
printf '@self\n' >lists/self
refused 'lists are nested more than 64 deep; do they form a cycle?' @lists/self

refused '/dev/zero: a line holds a zero byte; this is not a list of names' @/dev/zero
tr '\0' x </dev/zero | leat pack -t bytes -o none @/dev/stdin >"$printed" 2>"$said"
grep -q '/dev/stdin: a line has more than 65,535 bytes; this is not a list of names' "$said" ||
    fail "a line without an end: $(cat "$said")"
yes '# nothing' | leat pack -t bytes -o none @/dev/stdin >"$printed" 2>"$said"
grep -q '/dev/stdin: lists have more than 16777216 lines' "$said" || fail "a list without an end: $(cat "$said")"
run leat pack -t bytes -o none @lists
says 1 'cannot read lists: Is a directory'

# what a list may hold: comments, empty lines, CRLF, a last line without its end, a pipe as the list
printf '# a comment\r\n\r\nfolder/a.jsonl\r\n\nfolder/sub/b.jsonl' >list
packs 2 0 @list
sed "s|^folder|$PWD/folder|" list | leat pack -t bytes -o piped --json @/dev/stdin >"$printed" 2>"$said"
[ "$(key inputs)" = 2 ] || fail "a list from a pipe: $(cat "$said")"
finish
