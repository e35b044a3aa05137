#!/bin/sh
# test_merge.sh: leat merge: the same bytes as one run over all inputs, metadata, replacing, what cannot be merged, the
# time of creation, and an interrupt.
. tests/cli/cli.sh

write_three
mkdir folder
copy_dataset a folder/1
copy_dataset b folder/2
printf 'folder/2\nc\n' >list.txt

same_dataset() { # A B
    cmp "$1.tokens" "$2.tokens" || fail "$1.tokens and $2.tokens differ"
    cmp "$1.leat" "$2.leat" || fail "$1.leat and $2.leat differ"
}
nothing_left() { # NAME
    for file in "$1".*; do
        [ ! -e "$file" ] || fail "$ran: left $file behind"
    done
}

# ---- Joining --------------------------------------------------------------------------------------------------------

try 0 '' leat merge -o out a b c <<'END'
out: 62 tokens in 6 documents from 3 parts, 4.9 KiB in T.
END
same_dataset out all
try 0 '' leat merge --json --output=out2.leat a.leat b.tokens c --progress never <<'END'
{"output": "out2.leat", "parts": 3, "datasets": 3, "share": null, @
"documents": 6, "tokens": 62, "token_bytes": 124, "index_bytes": 4901, @
"identity": "1e1d56c89e3d49d76eae421d32c6056e", "deduplicated": 0, "splits": [], "seconds": T}
END
same_dataset out2 all
try 0 '' leat merge -oout3 folder c --json <<'END'
{"output": "out3", "parts": 2, "datasets": 3, "share": null, @
"documents": 6, "tokens": 62, "token_bytes": 124, "index_bytes": 4901, @
"identity": "1e1d56c89e3d49d76eae421d32c6056e", "deduplicated": 0, "splits": [], "seconds": T}
END
same_dataset out3 all
run leat merge -o out4 a @list.txt
ended 0 ''
same_dataset out4 all
try 0 '' leat merge -o alone b <<'END'
alone: 10 tokens in 2 documents from 1 part, 4.6 KiB in T.
END
same_dataset alone b

# "from 2 parts" once, the words of the command line
try 0 '' leat merge -o out5 folder c <<'END'
out5: 62 tokens in 6 documents from 3 parts, 4.9 KiB in T.
END

# larger than what is copied at once, by documents, tokens and bytes; of a list, its text is that of its parts
leat-bench-dev counting -o big1 --tokens 2500000 --document-length 3 >/dev/null
leat-bench-dev counting -o big2 --tokens 1500000 --document-length 100000 >/dev/null
run leat merge -o big big1 big2 big1
ended 0 ''
cat big1.tokens big2.tokens big1.tokens | cmp - big.tokens || fail "the merged token file is not that of the parts"
run leat verify big
ended 0 ''
leat info big --json | grep -q '"tokens": 6500000' || fail "leat info of the merged dataset has other tokens"

# ---- Metadata -------------------------------------------------------------------------------------------------------

make_dataset m1 metadata=same=1 metadata=other=x metadata=only=here document=1
make_dataset m2 metadata=same=1 metadata=other=y document=2
run leat merge -o m m1 m2
ended 0 ''
leat info m --json | grep -qF '"metadata": [["only.1", "here"], ["other.1", "x"], ["other.2", "y"], ["same", "1"]]' ||
    fail "merged metadata: $(leat info m)"

# ---- Shuffling, deduplicating, splitting ----------------------------------------------------------------------------

# the same text twice: hashes are given by hand
make_hashed() { # NAME WORD...
    name=$1
    shift
    make_dataset "$name" vocabulary=300 hashes "$@"
}
make_hashed h1 hash=1 document=1 hash=2 document=2,2 hash=1 document=1
make_hashed h2 hash=2 document=2,2 hash=3 document=3,3,3
try 0 '' leat merge -o d --dedup h1 h2 <<'END'
2 of 5 documents left out: their text came before.
d: 6 tokens in 3 documents from 2 parts, 4.4 KiB in T.
END
[ "$(leat cat d --tokens 0:6 --ids)" = '1 2 2 3 3 3' ] || fail "deduplicated: $(leat cat d --tokens 0:6 --ids)"
leat info d --json | grep -qF '"metadata": [["leat.dedup", "1"]]' || fail "metadata: $(leat info d)"
try 0 '' leat merge -o s.leat --split low=0.5,high=0.50 --json h1 h2 <<'END'
{"output": "s.leat", "parts": 2, "datasets": 2, "share": null, @
"documents": 0, "tokens": 0, "token_bytes": 0, "index_bytes": 4224, @
"identity": "cef5078c852c651743c52b28ffe3ffd0", "deduplicated": 0, "splits": [{"output": "s.low", "documents": 5, @
"tokens": 9, "identity": "f5f126872e0b9c02c46dc0a37e864a13"}, {"output": "s.high", "documents": 0, "tokens": 0, @
"identity": "cef5078c852c651743c52b28ffe3ffd0"}], "seconds": T}
END
leat info s.low --json | grep -qF '["leat.split", "low"], ["leat.splits", "low=0.5,high=0.5"]' ||
    fail "metadata: $(leat info s.low)"
run leat merge -o x1 --shuffle 7 big1 big2 --memory 1M
ended 0 ''
run leat merge -o x2 --shuffle 7 big1 big2 --memory 1GiB
ended 0 ''
same_dataset x1 x2
run leat verify x1
ended 0 ''
run leat merge -o x2 --force --shuffle 8 big1 big2
cmp -s x1.tokens x2.tokens && fail "another seed shuffles in the same way"
refuse 1 'big1' leat merge -o new --dedup big1
refuse 1 'big1' leat merge -o new --split a=1 big1
refuse 2 '--split' leat merge -o new --split a h1
run leat merge -o s.tokens --split low=0.5,high=0.5 --force --json h1 h2
grep -qF '"output": "s.low"' "$printed" || fail "s.tokens --split: $(cat "$printed" "$said")"
many=$(seq -f 'n%g=0.001' -s , 65)
run leat merge -o new --split "$many" h1
says 2 'has more than 64 splits'
for split in leat=0.1 a/b=0.1 a=0 a=1.1 a=0.5,b=0.6 a=x a=0.1,a=0.2 a= a=0.0000000000000000001 packed=1; do
    run leat merge -o new --split $split h1
    [ "$code" -ne 0 ] || fail "$ran: exit code 0"
    [ -s "$said" ] || fail "$ran: says nothing"
    nothing_left new
done
make_dataset masked vocabulary=300 mask hashes document=1
run leat merge -o joined-mask h1 masked
[ "$code" -eq 0 ] || fail "$ran: exit code $code"
run leat info --json joined-mask
grep -q mask "$printed" || fail 'the merged dataset says nothing of a mask'
# an output that exists stops all of them
make_dataset there.b vocabulary=300 document=5
run leat merge -o there --split a=0.1,b=0.1 h1
ended 1 'leat: there.b.leat already exists; choose another name or replace it (--force)'
nothing_left there.a
[ ! -e there.leat ] || fail "$ran: wrote there.leat"
run leat merge -o there --split a=0.1,b=0.1 --force h1
ended 0 ''
for name in there there.a there.b; do
    run leat verify $name
    ended 0 ''
done

# Of a run of leat pack that stopped at the name of the output, --force leaves nothing either.
printf '{"text":"a"}\n{"text":"b"}\n1\n2\n' >stopped.jsonl
for suffix in '' .a; do
    run leat pack -o over$suffix -t bytes --max-rejects 1 stopped.jsonl
    says 4 'nothing is lost'
    mv over$suffix.rejects.jsonl over$suffix.partial.rejects # as of a run that was killed
    [ -e over$suffix.partial.run ] || fail "$ran: left $(echo over$suffix*)"
done
run leat merge -o over.leat --split a=0.5 h1
says 1 'an earlier run of over.a.leat stopped at a checkpoint; resume it or start over (--force)'
[ -e over.partial.run ] || fail "$ran: left $(echo over*)"
run leat merge -o over.leat --split a=0.5 --force h1
ended 0 ''
[ "$(echo over*)" = 'over.a.leat over.a.tokens over.leat over.tokens' ] || fail "$ran: left $(echo over*)"

# What a run that was killed has left is named with the command that removes it, also if its name has letters of a
# pattern; what another run has is not.
touch 'a *.partial.tokens' 'a *.b.partial.tokens' 'a *.c.partial.tokens' ab.partial.tokens
run leat merge -o 'a *' --split b=0.5 h1 nowhere
says 1 "starts over; to give it up, remove what is left: rm -r 'a *'.partial.* 'a *'.b.partial.*"
eval "$(sed -n 's/.*what is left: //p' "$said")"
left=$(echo a*partial*)
[ "$left" = 'a *.c.partial.tokens ab.partial.tokens' ] || fail "that command leaves $left"
run leat merge -o 'a *' --split b=0.5 h1 nowhere
ended 1 'leat: cannot open nowhere.leat: No such file or directory; no dataset in this folder has a similar name'
rm 'a *.c.partial.tokens' ab.partial.tokens

# ---- Shares of a run ------------------------------------------------------------------------------------------------

for i in 1 2 3 4; do echo "{\"text\":\"document $i\"}"; done >shares.jsonl
leat pack -o whole -t bytes shares.jsonl >"$printed" || fail "cannot pack"
for i in 1 2 3 4; do
    leat pack -o share.$i --part $i/4 -t bytes shares.jsonl >"$printed" || fail "cannot pack share $i"
done
# of those that are missing at an end nothing was said
while IFS='|' read -r first last here missing; do
    # shellcheck disable=SC2046 # several words
    run leat merge -o some --force --json $(seq -f share.%g "$first" "$last")
    ended 0 "leat: warning: some has $here of 4, and is not whole until $missing merged"
    [ "$first" = "$last" ] && share=$first/4 || share=$first-$last/4
    grep -qF "\"share\": \"$share\"" "$printed" || fail "$ran: printed $(cat "$printed")"
done <<'TABLE'
1|3|shares 1-3|share 4 is
1|2|shares 1-2|shares 3-4 are
2|3|shares 2-3|shares 1 and 4 are
2|4|shares 2-4|share 1 is
2|2|share 2|shares 1 and 3-4 are
TABLE
run leat merge -o some --force share.1 share.2
run leat merge -o rest share.3 share.4
run leat merge -o stages some rest
ended 0 ''
same_dataset stages whole

# ---- What a shell makes of a pattern --------------------------------------------------------------------------------

# Twelve parts of a run, as c.1.leat c.1.tokens c.10.leat c.10.tokens ... c.2.leat; once "c.1 is share 1/12, but comes
# after c.1, which is share 1/12" was said of them. Beside them: rejects, a file for --order fit, an unfinished part,
# what an arranging run has left, and an older result.
mkdir glob
for i in $(seq 1 60); do
    [ $((i % 9)) -ne 0 ] || echo "broken $i"
    echo "{\"text\":\"document $i\"}"
done >glob/in
cd glob || exit 1
stopped=$tmp/stopped.jsonl
leat pack -o whole -t bytes --format jsonl --max-rejects 99 in >out || fail "cannot pack"
for i in $(seq 1 12); do
    leat pack -o "c.$i" --part "$i/12" -t bytes --format jsonl --max-rejects 99 in >out || fail "cannot pack $i"
done
[ "$(echo c.*.rejects.jsonl | wc -w)" -ge 5 ] || fail "too few parts have rejects: $(ls)"
leat fit c.3 --seq-len 64 >out || fail "cannot fit"
[ -e c.3.fit ] || fail "fit made no file: $(ls)"
leat pack -o c.4 -t bytes --dedup --force --max-rejects 1 "$stopped" 2>err
[ -d c.4.partial.packed ] || fail "left no folder: $(ls)"
leat pack -o c.13 -t bytes --max-rejects 1 "$stopped" 2>err
[ -e c.13.partial.checkpoint ] || fail "left no checkpoint: $(ls)"
leat pack -o c -t bytes --max-rejects 9 "$stopped" >out || fail "cannot pack an older result"
left='leat: warning: c.13 is left out: files of it are named, but no finished dataset'
older='leat: warning: c is left out: it is no part of the run, as c.* are'
run leat merge -o all --json c.*
ended 0 "$left
$older"
same_dataset all whole
grep -qF '"parts": 12, "datasets": 12, "share": null' "$printed" || fail "$ran: printed $(cat "$printed")"
run leat merge -o all --force c.1?.* c.?.*
ended 0 "$left"
same_dataset all whole
run leat merge -o all --force c.*.leat
ended 0 ''
same_dataset all whole
run leat merge -o all --force c.*.tokens
ended 0 "$left"
same_dataset all whole

# the output itself: by a pattern it is refused, also with --force
run leat merge -o c --force c.*
ended 0 "$left
$older"
same_dataset c whole
for i in 1 2 3; do
    leat pack -o "un.$i" -t bytes --format jsonl --max-rejects 99 in >out
done
leat merge -o un un.1 un.2 un.3 >out
for force in '' --force; do
    # words
    # shellcheck disable=SC2086
    refuse 1 'un.leat un' leat merge $force -o un un*
done
run leat merge -o un --force un un.1
ended 0 ''
run leat merge -o new un*.rejects.jsonl
says 1 'leat: no part is a finished dataset: un.1.rejects.jsonl only lies beside one'

# what is none of all this
echo '{"text":"x"}' >un.jsonl
refuse 1 'un.jsonl.leat un.jsonl' leat merge -o new un.*
leat pack --run r --parts 2 -t bytes --format jsonl --max-rejects 99 in >out
leat pack --run r --part 1 >out
leat pack --run r --part 2 >out
refuse 1 'r/leat-run r/' leat merge -o new r/*
run leat merge -o new r/part*
ended 0 ''
same_dataset new whole
cd ..

# ---- An output that exists, and names that are none -----------------------------------------------------------------

refuse 1 'out.leat --force' leat merge -o out a
same_dataset out all
try 0 '' leat merge -o out a --force <<'END'
out: 49 tokens in 3 documents from 1 part, 4.7 KiB in T.
END
same_dataset out a
# over one of its own parts
run leat merge -o out --force out b c
ended 0 ''
same_dataset out all
# a failure leaves the older dataset as it was
refuse 1 'none.leat' leat merge -o out --force a none
same_dataset out all
refuse 1 'none.leat' leat merge -o new a none
nothing_left new

ends="it must end in a file name that does not end in a dot"
for name in . .. folder/ folder/. folder/..; do
    run leat merge --force -o $name a
    grep -qF "leat: invalid dataset name \"$name\": $ends" "$said" || fail "$ran: $(cat "$said")"
    [ "$code" -ne 0 ] || fail "$ran: exit code 0"
done
for name in x.partial x.partial.leat x.partial.tokens; do
    run leat merge -o $name a
    grep -qF "leat: invalid dataset name \"$name\": names that end in .partial are for unfinished datasets" "$said" ||
        fail "$ran: $(cat "$said")"
    [ "$code" -ne 0 ] || fail "$ran: exit code 0"
    nothing_left x
done
run leat merge -o '' a
[ "$code" -eq 2 ] || fail "$ran: exit code $code, not 2"
[ -s "$said" ] || fail "$ran: says nothing"
refuse 1 'none/new.leat' leat merge -o none/new a
# shellcheck disable=SC2016 # the command's backquotes
url='leat: s3://b/x is a URL: write to a local name first; `leat push` copies datasets to a bucket'
refuse 1 "$url" leat merge -o s3://b/x a

# ---- What cannot be merged ------------------------------------------------------------------------------------------

make_dataset vocabulary vocabulary=300 tokenizer=mine.json file=x document=1
make_dataset no-end vocabulary=257 document=1
make_dataset other-end vocabulary=257 end=255 document=1
make_dataset begin vocabulary=257 begin=1 end=256 document=2
make_dataset no-tokenizer vocabulary=257 end=256 document=2
refuse 1 'vocabulary bytes mine.json' leat merge -o new a vocabulary # neither tokenizer was named
refuse 1 'no-end' leat merge -o new a b no-end
refuse 1 'other-end' leat merge -o new a other-end
refuse 1 'begin' leat merge -o new a begin
refuse 1 'no-tokenizer fingerprint' leat merge -o new a no-tokenizer
nothing_left new
# a damaged part is not taken over in silence
write_numbered n
copy_dataset n p
overwrite p.tokens 10000 '~~'
run leat merge -o new p
[ "$code" -eq 3 ] || fail "$ran: exit code $code, not 3"
nothing_left new

# ---- The time of creation -------------------------------------------------------------------------------------------

SOURCE_DATE_EPOCH=86400 leat merge -o dated a b >/dev/null || fail "merge with SOURCE_DATE_EPOCH fails"
leat info dated --json | grep -qF '"created": "1970-01-02T00:00:00Z"' || fail "created is not SOURCE_DATE_EPOCH"
SOURCE_DATE_EPOCH='' leat merge -o undated a b >/dev/null || fail "merge with an empty SOURCE_DATE_EPOCH fails"
leat info undated --json | grep -qF '"created": null' || fail "created is there without SOURCE_DATE_EPOCH"
epoch='leat: the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, not "tomorrow"'
SOURCE_DATE_EPOCH=tomorrow
export SOURCE_DATE_EPOCH
refuse 2 "$epoch" leat merge -o new a b
unset SOURCE_DATE_EPOCH
nothing_left new

# ---- An interrupt ---------------------------------------------------------------------------------------------------

# Starts a command and sends it one SIGINT as soon as it has a handler for it: before that it is ignored, as in all that
# a script starts in the background, and a second one would end it at once.
interrupt() { # COMMAND...
    ran="$* (interrupted)"
    "$@" >"$printed" 2>"$said" </dev/null &
    process=$!
    while kill -0 $process 2>/dev/null; do
        state=$(sed -n 's/^Name:[[:space:]]*//p; s/^SigCgt:.*\(.\)$/\1/p' /proc/$process/status 2>/dev/null)
        case $(echo "$state" | tr '\n' ' ') in
        'leat '[2367abef]' ') # the program, and the bit of SIGINT
            kill -INT $process
            break
            ;;
        esac
    done
    wait $process
    code=$?
}
leat-bench-dev sparse -o huge --documents 1 --tokens 1G >/dev/null
if [ -d /proc/self ]; then
    interrupt leat merge -o new huge huge
    ended 130 'leat: interrupted'
    [ ! -s "$printed" ] || fail "$ran: printed $(cat "$printed")"
    nothing_left new
    interrupt leat merge --force -o all huge
    ended 130 'leat: interrupted'
    same_dataset all out
    interrupt leat verify huge --threads 1
    ended 130 'leat: interrupted'
    [ ! -s "$printed" ] || fail "$ran: printed $(cat "$printed")"
fi

# ---- Wrong ----------------------------------------------------------------------------------------------------------

refuse 2 '--output OUT.tokens OUT.leat' leat merge a b
refuse 2 'PART...' leat merge -o new
refuse 2 '--output' leat merge a -o

cat >copied <<'END'
leat order --seq-len 2048 \
  --source 'it'\''s by.x:2' \
  --source 'it'\''s by.y:2'
END
# of several datasets none has the identity of all: once that was 32 zeros
printf '{"text":"a","k":"x"}\n{"text":"b","k":"y"}\n' >by.jsonl
for part in 1 2; do
    run leat pack -t bytes -o "by-$part" --by k --part $part/2 by.jsonl
done
run leat merge --json -o by by-1 by-2
ended 0 ''
grep -q '"identity": null, ' "$printed" || fail "$ran: $(cat "$printed")"
# what is printed to go on with can be copied, whatever the output is called
run leat merge -o "it's by" by-1 by-2
tail -n 3 "$printed" | diff - copied || fail "$ran: $(cat "$printed")"
finish
