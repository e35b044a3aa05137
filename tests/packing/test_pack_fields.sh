#!/bin/sh
# test_pack_fields.sh: a wrong --text, --messages, --mask-field, --by or --id on JSON, which no first record has, is
# refused before anything is written, with the names that the records have, whatever the input: lines, an array, objects
# over several lines, compressed, standard input, in parts, in a run's folder, to be resumed. It once was "17 of 18
# records were rejected, --resume with a larger --max-rejects", which made a dataset of one document. Records that lack
# the field among others are rejected as ever.
. tests/cli/cli.sh
renders
examples=$OLDPWD/examples

nothing_begun() { # NAME
    for left in "$1" "$1".*; do
        [ ! -e "$left" ] || fail "$ran: left $left"
    done
}

# The command fails, says this to the letter, and begins nothing.
refused() { # MESSAGE WORDS...
    refused_message=$1
    shift
    run leat pack -t bytes -o out "$@"
    ended 1 "$(echo "$refused_message" | join_lines)"
    nothing_begun out
}

line='{"text":"a","id":1,"meta":{"lang":"en","url":{"host":"b"}},"tags":["x",{"body":"y"}],"none":{},"a.b":"c"}'
names='"text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"'
for _ in 1 2 3; do echo "$line"; done >three.jsonl
{ echo '[' && echo "$line,$line,$line]"; } >array.json
sed 's/,"meta"/,\n  "meta"/' three.jsonl >objects.json
gzip -c three.jsonl >three.jsonl.gz
for input in three.jsonl array.json objects.json three.jsonl.gz; do
    refused "leat: $input: no member \"body\" in the first 3 records; they have $names; name the one that holds @
the text (--text NAME)" --text body $input
    leat pack -t bytes -o out --text body --format jsonl - <$input 2>"$said"
    [ $? = 1 ] || fail "standard input: exit code"
    grep -qF "leat: -: no member \"body\" in the first 3 records; they have $names; name the one" "$said" ||
        fail "standard input of $input: $(cat "$said")"
    nothing_begun out
done
or_chat='(--text NAME, or --chat FILE for conversations)'
while IFS='|' read -r options field advice; do
    case $field in
    *' is '*) why="the member $field in the first 3 records" ;;
    *) why="no member $field in the first 3 records" ;;
    esac
    # shellcheck disable=SC2086 # words
    refused "leat: three.jsonl: $why; they have $names; $advice" $options three.jsonl
done <<END
--text txt|"txt"|did you mean "text"? (--text NAME)
--text meta.lnag|"meta.lnag"|did you mean "meta.lang"? (--text NAME)
--text text.a|"text.a"|did you mean "text"? (--text NAME)
--text meta|"meta" is an object, not a string,|did you mean "meta.lang"? (--text NAME)
--text tags|"tags" is an array, not a string,|name the one that holds the text $or_chat
--text a.b|"a.b"|dots lead into objects: rename a member that has them in its own name (--text NAME)
--by lang|"lang"|name the one that holds the value that chooses a dataset (--by NAME)
--mask-field spans|"spans"|name the one that holds what is learned (--mask-field NAME)
--id uid|"uid"|did you mean "id"? (leat pack --id FIELD)
--text body --part 1/2|"body"|name the one that holds the text (--text NAME)
--text body --resume|"body"|name the one that holds the text (--text NAME)
--text body --shuffle 3 --max-rejects 100%|"body"|name the one that holds the text (--text NAME)
END
head -n 1 three.jsonl >one.jsonl
refused "leat: one.jsonl: no member \"body\" in the first record; it has $names; name the one that holds the text @
(--text NAME)" --text body one.jsonl
# conversations are packed with --chat, which the sentence formerly did not say
for member in messages conversations; do
    echo "{\"$member\":[{\"from\":\"gpt\",\"value\":\"a\"}]}" >$member.jsonl
    refused "leat: $member.jsonl: no member \"text\" in the first record; it has \"$member\"; name the one that @
holds the text (--text NAME, or --chat FILE for conversations)" $member.jsonl
done
echo '{% for m in messages %}{{ m.content }}<|endoftext|>{% endfor %}' >chat.jinja
refused "leat: three.jsonl: no member \"messages\" in the first 3 records; they have $names; name the one that holds @
the conversation (--messages NAME)" --chat chat.jinja three.jsonl
run leat pack --run planned --parts 2 -t bytes --text body three.jsonl
says 1 'leat: three.jsonl: no member "body" in the first 3 records; they have'
nothing_begun planned
# an earlier dataset stays, also with --force, and so does a run that has stopped
leat pack -t bytes -o kept three.jsonl >"$printed" && cp kept.leat before
run leat pack -t bytes -o kept --force --text body three.jsonl
says 1 'no member "body"'
cmp before kept.leat
printf '{"text":"a"}\n5\n' >stops.jsonl
run leat pack -t bytes -o stopped --max-rejects 0 stops.jsonl
says 4 '1 of 2 records was rejected'
run leat pack -t bytes -o stopped --force --text body stops.jsonl
says 1 'leat: stops.jsonl: no member "body" in the first record; it has "text"'
run leat pack -t bytes -o stopped --resume --max-rejects 1 stops.jsonl
ended 0 ''
# what the README packs: texts among JSON lines once left a dataset of one
refused "leat: $examples/corpus/english.jsonl: no member \"content\" in the first 5 records (nor in those of 1 other @
input); they have \"id\", \"text\"; name the one that holds the text (--text NAME)" --text content "$examples/corpus"

# ---- What is not refused ---------------------------------------------------------------------------------------------

packs() { # DOCUMENTS REJECTS WORDS... <stdin
    documents=$1 rejects=$2
    shift 2
    ran="leat pack $*"
    leat pack -t bytes -o out --force --json --max-rejects 100% "$@" >"$printed" 2>"$said"
    code=$?
    [ "$code" = 0 ] || fail "$ran: $code $(cat "$said")"
    grep -q "\"documents\": $documents,.*\"rejected\": $rejects," "$printed" || fail "$ran: $(cat "$printed")"
    rm -f out.*
}

# one of the first records has it, or a later one of a few, or another input
{ cat three.jsonl && echo '{"body":"x"}'; } >last.jsonl
packs 1 3 --text body last.jsonl
packs 1 3 --text body --format jsonl - <last.jsonl
echo '{"body":"x"}' >body.jsonl
packs 1 3 --text body three.jsonl body.jsonl
packs 1 3 --text body body.jsonl three.jsonl
packs 0 4 --text id last.jsonl # numbers: records are rejected one by one
echo '{"body":null}' >null.jsonl
packs 0 4 --text body null.jsonl three.jsonl
# a stray file of JSON among more texts
for n in 1 2 3 4; do echo text >$n.txt; done
packs 4 3 --text body three.jsonl 1.txt 2.txt 3.txt 4.txt
# records that are left out say nothing of the field
{ cat three.jsonl && echo '{"body":"x","kind":"a"}'; } >kinds.jsonl
packs 1 0 --text body --keep 'kind = a' kinds.jsonl
run leat pack -t bytes -o out --text bod --keep 'kind = a' kinds.jsonl
says 1 'kinds.jsonl: no member "bod" in the first record; it has "body", "kind"; did you mean "body"? (--text NAME)'
# no objects, broken ones and none say nothing either
printf '5\n{"a":\n' >broken.jsonl
packs 0 2 broken.jsonl
: >empty.jsonl
packs 0 0 empty.jsonl

# 100 records are enough, of one input or of several, and none beyond them is looked at
awk 'BEGIN { for (i = 0; i < 100; i++) print "{\"other\":\"a\"}" }' >hundred.jsonl
{ cat hundred.jsonl && cat body.jsonl; } >more.jsonl
refused 'leat: more.jsonl: no member "body" in the first 100 records; they have "other"; name the one that holds @
the text (--text NAME)' --text body body.jsonl more.jsonl
{ head -n 99 hundred.jsonl && cat body.jsonl; } >fewer.jsonl
packs 2 99 --text body body.jsonl fewer.jsonl
head -n 50 hundred.jsonl >fifty.jsonl
run leat pack -t bytes -o out --text body fifty.jsonl fifty.jsonl 1.txt
says 1 'leat: fifty.jsonl: no member "body" in the first 50 records (nor in those of 1 other input); they have '
# of an input that lacks ids among others that have them, documents have none
echo '{"other":"a","uid":1}' >ids.jsonl
packs 101 0 --text other --id uid hundred.jsonl ids.jsonl

# records that are longer than what is read at first, and members without end
awk 'BEGIN { printf "{\"x\":\""; for (i = 0; i < 300000; i++) printf "ab"; print "\",\"y\":1}" }' >long.jsonl
refused 'leat: long.jsonl: no member "text" in the first record; it has "x", "y"; name the one that holds the @
text (--text NAME)' long.jsonl
awk 'BEGIN { printf "{\"m0\":1"; for (i = 1; i < 200; i++) printf ",\"m%d\":1", i; print "}" }' >members.jsonl
run leat pack -t bytes -o out members.jsonl
says 1 '"m57", "m58"'
says 1 ' and others; name the one'
finish
