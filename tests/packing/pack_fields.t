pack_fields.t: a wrong --text, --messages, --mask-field, --by or --id on JSON, which no first record has, is refused
before anything is written, with the names that the records have. It once was "17 of 18 records were rejected, --resume
with a larger --max-rejects", which made a dataset of one document. Records that lack the field among others are
rejected as ever.

  $ python3 -c 'import jinja2' 2>/dev/null || exit 80
  $ . "$SOURCES"/tests/cli/datasets.sh
  $ line='{"text":"a","id":1,"meta":{"lang":"en","url":{"host":"b"}},"tags":["x",{"body":"y"}],"none":{},"a.b":"c"}'
  $ for _ in 1 2 3; do echo "$line"; done >three.jsonl
  $ { echo '[' && echo "$line,$line,$line]"; } >array.json
  $ sed 's/,"meta"/,\n  "meta"/' three.jsonl >objects.json
  $ gzip -c three.jsonl >three.jsonl.gz

The input may be lines, an array, objects over several lines, compressed, or standard input.

  $ for input in three.jsonl array.json objects.json three.jsonl.gz; do
  >     leat pack -t bytes -o out --text body $input || echo "[$?]"
  >     leat pack -t bytes -o out --text body --format jsonl - <$input || echo "[$?]"
  > done 2>&1 | sort | uniq -c
        8 [1]
        4 leat: -: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
        1 leat: array.json: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
        1 leat: objects.json: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
        1 leat: three.jsonl.gz: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
        1 leat: three.jsonl: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)

The advice is the option, with what may have been meant.

  $ while read -r options; do
  >     echo "$options"
  >     leat pack -t bytes -o out $options three.jsonl || [ $? -eq 1 ] || echo another code
  > done <<'END' 2>&1 | sed 's/; they have .*"a.b";/ ...;/'
  > --text txt
  > --text meta.lnag
  > --text text.a
  > --text meta
  > --text tags
  > --text a.b
  > --by lang
  > --mask-field spans
  > --id uid
  > --text body --part 1/2
  > --text body --resume
  > --text body --shuffle 3 --max-rejects 100%
  > END
  --text txt
  leat: three.jsonl: no member "txt" in the first 3 records ...; did you mean "text"? (--text NAME)
  --text meta.lnag
  leat: three.jsonl: no member "meta.lnag" in the first 3 records ...; did you mean "meta.lang"? (--text NAME)
  --text text.a
  leat: three.jsonl: no member "text.a" in the first 3 records ...; did you mean "text"? (--text NAME)
  --text meta
  leat: three.jsonl: the member "meta" is an object, not a string, in the first 3 records ...; did you mean "meta.lang"? (--text NAME)
  --text tags
  leat: three.jsonl: the member "tags" is an array, not a string, in the first 3 records ...; name the one that holds the text (--text NAME, or --chat FILE for conversations)
  --text a.b
  leat: three.jsonl: no member "a.b" in the first 3 records ...; dots lead into objects: rename a member that has them in its own name (--text NAME)
  --by lang
  leat: three.jsonl: no member "lang" in the first 3 records ...; name the one that holds the value that chooses a dataset (--by NAME)
  --mask-field spans
  leat: three.jsonl: no member "spans" in the first 3 records ...; name the one that holds what is learned (--mask-field NAME)
  --id uid
  leat: three.jsonl: no member "uid" in the first 3 records ...; did you mean "id"? (leat pack --id FIELD)
  --text body --part 1/2
  leat: three.jsonl: no member "body" in the first 3 records ...; name the one that holds the text (--text NAME)
  --text body --resume
  leat: three.jsonl: no member "body" in the first 3 records ...; name the one that holds the text (--text NAME)
  --text body --shuffle 3 --max-rejects 100%
  leat: three.jsonl: no member "body" in the first 3 records ...; name the one that holds the text (--text NAME)
  $ head -n 1 three.jsonl >one.jsonl
  $ leat pack -t bytes -o out --text body one.jsonl
  leat: one.jsonl: no member "body" in the first record; it has "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
  [1]

Conversations are packed with --chat, which the sentence formerly did not say.

  $ for member in messages conversations; do
  >     echo "{\"$member\":[{\"from\":\"gpt\",\"value\":\"a\"}]}" >$member.jsonl
  >     leat pack -t bytes -o out $member.jsonl
  > done
  leat: messages.jsonl: no member "text" in the first record; it has "messages"; name the one that holds the text (--text NAME, or --chat FILE for conversations)
  leat: conversations.jsonl: no member "text" in the first record; it has "conversations"; name the one that holds the text (--text NAME, or --chat FILE for conversations)
  [1]
  $ echo '{% for m in messages %}{{ m.content }}<|endoftext|>{% endfor %}' >chat.jinja
  $ leat pack -t bytes -o out --chat chat.jinja three.jsonl
  leat: three.jsonl: no member "messages" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the conversation (--messages NAME)
  [1]
  $ leat pack --run planned --parts 2 -t bytes --text body three.jsonl
  leat: three.jsonl: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
  [1]

Texts among JSON lines once left a dataset of one document.

  $ leat pack -t bytes -o out --text content "$SOURCES"/examples/corpus
  leat: */examples/corpus/english.jsonl: no member "content" in the first 5 records (nor in those of 1 other input); they have "id", "text"; name the one that holds the text (--text NAME) (glob)
  [1]
  $ ls
  array.json
  chat.jinja
  conversations.jsonl
  messages.jsonl
  objects.json
  one.jsonl
  three.jsonl
  three.jsonl.gz

An earlier dataset stays, also with --force, and so does a run that has stopped.

  $ leat pack -t bytes -o kept three.jsonl >/dev/null
  $ cp kept.leat before
  $ leat pack -t bytes -o kept --force --text body three.jsonl
  leat: three.jsonl: no member "body" in the first 3 records; they have "text", "id", "meta.lang", "meta.url.host", "tags", "none", "a.b"; name the one that holds the text (--text NAME)
  [1]
  $ cmp before kept.leat
  $ printf '{"text":"a"}\n5\n' >stops.jsonl
  $ leat pack -t bytes -o stopped --max-rejects 0 stops.jsonl
  leat: 1 of 2 records was rejected, more than allowed; stopped.rejects.jsonl lists them with the reasons, for example: the record is a number, not an object
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o stopped stops.jsonl
  leat: to give it up, remove what it left: rm -r stopped.partial.* stopped.rejects.jsonl
  [4]
  $ leat pack -t bytes -o stopped --force --text body stops.jsonl
  leat: stops.jsonl: no member "body" in the first record; it has "text"; name the one that holds the text (--text NAME)
  [1]
  $ leat pack -t bytes -o stopped --resume --max-rejects 1 stops.jsonl >/dev/null

It is not refused if one of the first records has the field, or a later one of a few, or another input.

  $ packs() { # WORDS...
  >     members documents,rejected leat pack -t bytes -o out --force --json --max-rejects 100% "$@" 2>/dev/null
  > }
  $ { cat three.jsonl && echo '{"body":"x"}'; } >last.jsonl
  $ packs --text body last.jsonl
  "documents": 1 "rejected": 3
  $ packs --text body --format jsonl - <last.jsonl
  "documents": 1 "rejected": 3
  $ echo '{"body":"x"}' >body.jsonl
  $ packs --text body three.jsonl body.jsonl
  "documents": 1 "rejected": 3
  $ packs --text body body.jsonl three.jsonl
  "documents": 1 "rejected": 3

Numbers in its place are rejected one by one, and so is null.

  $ packs --text id last.jsonl
  "documents": 0 "rejected": 4
  $ echo '{"body":null}' >null.jsonl
  $ packs --text body null.jsonl three.jsonl
  "documents": 0 "rejected": 4

Among more texts there may be a stray file of JSON.

  $ for n in 1 2 3 4; do echo text >$n.txt; done
  $ packs --text body three.jsonl 1.txt 2.txt 3.txt 4.txt
  "documents": 4 "rejected": 3

Records that are left out say nothing of the field, nor do such that are no objects or broken.

  $ { cat three.jsonl && echo '{"body":"x","kind":"a"}'; } >kinds.jsonl
  $ packs --text body --keep 'kind = a' kinds.jsonl
  "documents": 1 "rejected": 0
  $ leat pack -t bytes -o none --text bod --keep 'kind = a' kinds.jsonl
  leat: kinds.jsonl: no member "bod" in the first record; it has "body", "kind"; did you mean "body"? (--text NAME)
  [1]
  $ printf '5\n{"a":\n' >broken.jsonl
  $ packs broken.jsonl
  "documents": 0 "rejected": 2
  $ : >empty.jsonl
  $ packs empty.jsonl
  "documents": 0 "rejected": 0

100 records are enough, of one input or of several, and none beyond them is looked at.

  $ awk 'BEGIN { for (i = 0; i < 100; i++) print "{\"other\":\"a\"}" }' >hundred.jsonl
  $ { cat hundred.jsonl && cat body.jsonl; } >more.jsonl
  $ leat pack -t bytes -o none --text body body.jsonl more.jsonl
  leat: more.jsonl: no member "body" in the first 100 records; they have "other"; name the one that holds the text (--text NAME)
  [1]
  $ { head -n 99 hundred.jsonl && cat body.jsonl; } >fewer.jsonl
  $ packs --text body body.jsonl fewer.jsonl
  "documents": 2 "rejected": 99
  $ head -n 50 hundred.jsonl >fifty.jsonl
  $ leat pack -t bytes -o none --text body fifty.jsonl fifty.jsonl 1.txt
  leat: warning: fifty.jsonl repeats an earlier input: its documents are packed twice
  leat: fifty.jsonl: no member "body" in the first 50 records (nor in those of 1 other input); they have "other"; name the one that holds the text (--text NAME)
  [1]

Documents of an input that lacks ids among others that have them have none.

  $ echo '{"other":"a","uid":1}' >ids.jsonl
  $ packs --text other --id uid hundred.jsonl ids.jsonl
  "documents": 101 "rejected": 0

A record may be longer than what is read at first, and have members without end.

  $ awk 'BEGIN { printf "{\"x\":\""; for (i = 0; i < 300000; i++) printf "ab"; print "\",\"y\":1}" }' >long.jsonl
  $ leat pack -t bytes -o none long.jsonl
  leat: long.jsonl: no member "text" in the first record; it has "x", "y"; name the one that holds the text (--text NAME)
  [1]
  $ awk 'BEGIN { printf "{\"m0\":1"; for (i = 1; i < 200; i++) printf ",\"m%d\":1", i; print "}" }' >members.jsonl
  $ leat pack -t bytes -o none members.jsonl
  leat: members.jsonl: no member "text" in the first record; it has "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15", "m16", "m17", "m18", "m19", "m20", "m21", "m22", "m23", "m24", "m25", "m26", "m27", "m28", "m29", "m30", "m31", "m32", "m33", "m34", "m35", "m36", "m37", "m38", "m39", "m40", "m41", "m42", "m43", "m44", "m45", "m46", "m47", "m48", "m49", "m50", "m51", "m52", "m53", "m54", "m55", "m56", "m57", "m58", "m59", "m60", "m61", "m62", "m63" and others; name the one that holds the text (--text NAME)
  [1]
  $ ls | grep none
  [1]
