#!/bin/sh
# test_pack_patterns.sh: --include and --exclude of leat pack: which files of folders are packed, by name and by path;
# that they are part of the run. tests/remote/test_pack_urls.py has prefixes on servers.
. tests/cli/cli.sh

mkdir -p in/en/old in/de/old in/.hidden
for file in top.jsonl en/a.jsonl en/b.jsonl en/old/a.jsonl de/a.jsonl de/old/c.jsonl .hidden/x.jsonl; do
    printf '{"text":"%s"}\n' "$file" >"in/$file"
done
printf 'ARROW1\0\0' >in/en/x.arrow
printf 'not,a,corpus\n' >in/notes.csv
ln -s nowhere in/de/dangling.jsonl
ln -s ../in/en/a.jsonl in/linked.jsonl

texts() { # of the documents
    od -An -v -tu2 -w2 out.tokens | awk '{ printf "%s", $1 == 256 ? " " : sprintf("%c", $1) }'
}

# files that are packed, by their documents: a line each
packed() { # FILES OPTION...
    want=$1
    shift
    run leat pack -t bytes -o out --force "$@"
    [ "$code" = 0 ] || fail "$ran: $(cat "$said")"
    got=$(texts | sed 's/ $//')
    [ "$got" = "$want" ] || fail "$ran: packed '$got', not '$want'"
}
leave="--exclude *.arrow --exclude notes.csv --exclude dangling*"
set -f # patterns are for leat
# words
# shellcheck disable=SC2086
{
    packed 'de/a.jsonl de/old/c.jsonl en/a.jsonl en/b.jsonl en/old/a.jsonl en/a.jsonl top.jsonl' $leave in
    packed 'de/a.jsonl en/a.jsonl en/old/a.jsonl' --include a.jsonl $leave in
    packed 'de/a.jsonl en/a.jsonl' --include '*/a.jsonl' $leave in
    packed 'de/a.jsonl en/a.jsonl en/old/a.jsonl' --include '**/a.jsonl' $leave in/
    packed 'en/a.jsonl en/b.jsonl en/old/a.jsonl' --include 'en/**' $leave in
    packed 'en/a.jsonl top.jsonl' --include '/*.jsonl' in
    packed 'en/a.jsonl en/b.jsonl en/a.jsonl top.jsonl' $leave --exclude '**/old/**' --exclude 'de/**' in
    packed 'en/a.jsonl en/b.jsonl' --include '[ab].jsonl' --include '?.jsonl' --exclude 'old/*' in/en
    packed 'en/old/a.jsonl top.jsonl' --include 'top*' --exclude '**/old/**' in/en/old/a.jsonl in # named: packed
}
set +f
run leat pack -t bytes -o out --force --exclude '*.jsonl' --exclude '*.arrow' --json in/en
says 1 'the folder in/en has no file to pack but what include and exclude leave out, such as in/en/a.jsonl'
run leat pack -t bytes -o out --force --include '*.jsonl' --exclude 'de/**' --json in
says 0 'skipped 5 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c'
run leat pack --dry-run -t bytes --include '*.jsonl' --exclude 'de/**' in
says 0 'skipped 5 files in folders, by --include and --exclude: '
grep -q '^5 inputs' "$printed" || fail "$ran: $(cat "$printed")"
printf 'PK\3\4' >in/de/z.zip
printf '{"body":"a"}\n' | tee in/en/odd.jsonl >in/en/old/odd.jsonl
run leat pack -t bytes -o none in/en
says 1 'the folder in/en has 1 file that may hold texts but cannot be read'
[ "$(grep -c x.arrow "$said")" = 1 ] || fail "named more than once: $(cat "$said")"
says 1 'leat: to leave such files out: leat pack --skip-unknown -t bytes -o none in/en'
run leat pack --dry-run -t bytes --exclude 'dangling*' --exclude '*.csv' in
says 1 'leat: 2 files of folders may hold texts but cannot be read:'
says 1 'leat:   in/de/z.zip is a zip archive: unpack it first (unzip)'
says 1 'leat:   in/en/x.arrow is an Arrow file: convert it to JSON lines (.jsonl)'
says 1 'leat: to leave such files out: leat pack --skip-unknown --dry-run -t bytes --exclude '
for i in 1 2 3 4 5 6 7; do : >"in/en/$i.dat"; done
run leat pack --dry-run -t bytes --include '*.dat' --include '*.jsonl' --exclude 'd*' --exclude odd.jsonl in
says 0 'leat: skipped 7 files in folders:'
[ "$(grep -c '^leat:   in/en/[1-7].dat$' "$said")" = 7 ] || fail "$ran: $(cat "$said")"
mkdir lacking
for i in 1 2 3; do awk 'BEGIN { for (i = 0; i < 100; i++) print "{\"body\":\"a\"}" }' >lacking/$i.jsonl; done
printf 'body\na\n' >lacking/0.csv
run leat pack -t bytes -o none lacking
says 1 'lacking/3.jsonl: no member "text" in the first 100 records; they have "body"'
says 1 '; the same is wrong with lacking/2.jsonl, lacking/1.jsonl, lacking/0.csv'
# a folder that may not be read, such as lost+found, is left out if a pattern leaves out all that may be in it
plainly=
[ "$(id -u)" != 0 ] || plainly='setpriv --bounding-set=-dac_override,-dac_read_search'
mkdir -p closed/a/lost+found
cp in/de/a.jsonl closed/a/
chmod 0 closed/a/lost+found
for pattern in 'lost+found/**' 'a/*' 'b/**' '**'; do
    run $plainly leat pack -t bytes -o none --exclude "$pattern" closed
    says 1 'cannot read the folder closed/a/lost+found: Permission denied'
done
for pattern in 'a/lost+found/**' '/a/lost+*/**' '**/lost+found/**'; do
    run $plainly leat pack -t bytes -o none --force --exclude "$pattern" closed
    says 0 'skipped 1 file in folders, by --include and --exclude: closed/a/lost+found'
done
chmod 700 closed/a/lost+found
rm in/de/z.zip in/en/*.dat in/en/odd.jsonl in/en/old/odd.jsonl
run leat pack -t bytes -o out --force --include x/ in
says 2 'the pattern x/ matches no file: x/** matches all below it'
run leat pack -t bytes -o out --force --exclude '' in
says 2 'an empty pattern matches no file'
run leat pack -t bytes -o out --force --exclude x in/top.jsonl
says 2 'patterns choose files of folders, and no input is a folder'

# part of the run
rm out.*
run leat pack --run run --parts 2 -t bytes --include 'en/**' --exclude '*.arrow' in
[ "$code" = 0 ] || fail "$ran: $(cat "$said")"
for part in 1 2; do
    run leat pack --run run --part $part
    [ "$code" = 0 ] || fail "$ran: $(cat "$said")"
done
run leat merge -o out run
[ "$(texts)" = 'en/a.jsonl en/b.jsonl en/old/a.jsonl ' ] || fail "a run with patterns: $(texts)"
awk 'BEGIN { for (i = 0; i < 30000; i++) print (i == 20000 ? "broken" : "{\"text\":\"a\"}") }' >in/en/z.jsonl
run "$build/tiny/leat" pack -t bytes -o stopped --max-rejects 0 --include 'en/*' --exclude '*.arrow' in
says 4 '--resume'
says 4 'leat: to give it up, remove what it left: rm -r stopped.partial.* stopped.rejects.jsonl'
run "$build/tiny/leat" pack -t bytes -o stopped --max-rejects 1 --include 'en/**' --exclude '*.arrow' --resume in
says 1 'that one had "include en/*", this one has "include en/**"'
run "$build/tiny/leat" pack -t bytes -o stopped --max-rejects 1 --include 'en/*' --exclude '*.arrow' --resume in
[ "$code" = 0 ] || fail "$ran: $(cat "$said")"

finish
