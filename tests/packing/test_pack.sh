#!/bin/sh
# test_pack.sh: leat pack as it is typed: help, summaries, JSON, rejects, exit codes, what is refused and how that is
# said, broken inputs, interrupts, resumed runs, and the progress on a terminal.
. tests/cli/cli.sh

# What is told about time and memory, made the same.
masked() {
    sed -e 's/"seconds": [^,}]*/"seconds": T/; s/"mb_per_s": [^,}]*/"mb_per_s": R/' \
        -e 's/"serial_share": [^,}]*/"serial_share": R/' -e 's/"stream_share": [^,}]*/"stream_share": R/' \
        -e 's/"tokens_per_s": [^,}]*/"tokens_per_s": R/; s/"peak_memory": [^,}]*/"peak_memory": M/' \
        -e 's/ of text in [0-9.]* [mun]*s\.$/ of text in T./' \
        -e 's|^[0-9.]* [kMG]*B/s of text, [0-9.]* [kMG ]*tokens/s; memory at most [0-9.]* MiB\.$|RATES|' "$printed"
}
prints() { # what the command that ran last printed, on stdin
    join_lines >"$expected"
    masked | diff "$expected" - >"$tmp/.diff" || fail "$ran: printed (>) other than expected (<):
$(cat "$tmp/.diff")"
}
same() { # A B
    cmp "$1.tokens" "$2.tokens" || fail "$1.tokens and $2.tokens differ"
    cmp "$1.leat" "$2.leat" || fail "$1.leat and $2.leat differ"
}
nothing_left() { # NAME
    for file in "$1".partial.*; do
        [ ! -e "$file" ] || fail "$ran: left $file behind"
    done
}

printf '{"text":"hello <|endoftext|>","id":3}\nbad\n\n{"text":"y"}\n' >a.jsonl
printf 'a text' >b.txt
mkdir folder empty
cp a.jsonl b.txt folder

# an empty input once became an empty dataset without a word
: >nothing.jsonl
run leat pack -t bytes -o nothing nothing.jsonl
ended 0 'leat: warning: no document was found in 1 input'
leat pack -t bytes --run parts --parts 2 nothing.jsonl >/dev/null || fail "no run of nothing.jsonl"
run leat pack --run parts --part 1 # a part may well have nothing
ended 0 ''

# ---- What comes out -------------------------------------------------------------------------------------------------

run leat pack --help
ended 0 ''
for option in output tokenizer format text id end begin special invalid-utf8 threads memory write max-rejects \
    allow-truncated resume part shuffle dedup split force progress json; do
    grep -q -- "--$option" "$printed" || fail "leat pack --help does not tell --$option"
done
grep -q '^example' "$printed" || fail "leat pack --help shows no example"

run leat pack -t bytes -o one --max-rejects 1 a.jsonl b.txt
ended 0 ''
prints <<'END'
one: 29 tokens in 3 documents from 2 inputs, 26 bytes of text in T.
RATES
1 string of special tokens in the texts became ordinary text (--special makes them tokens).
1 record was rejected: see one.rejects.jsonl.
END
diff - one.rejects.jsonl <<'END' || fail "other rejects"
{"input":"a.jsonl","offset":38,"line":2,"reason":"not valid JSON: an object ({) is expected at byte 1","record":"bad"}
END

# What is no text for its many malformed parts: its list shows the record, too; it once showed nothing.
awk 'BEGIN { for (i = 0; i < 9; i++) printf "{\"text\":\"%0900d\"}\n", i }' >binary.jsonl
{ printf '{"text":"' && printf '\377%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 && echo '"}'; } >>binary.jsonl
run leat pack -t bytes -o binary --max-rejects 1 binary.jsonl
ended 0 ''
grep -q '"record":"{\\"text\\":\\"' binary.rejects.jsonl || fail "$ran: $(cat binary.rejects.jsonl)"
run leat verify one
[ "$code" -eq 0 ] || fail "leat verify: $(cat "$said")"
run leat find one --id 3
grep -q 'a.jsonl' "$printed" || fail "leat find does not find an id: $(cat "$printed")"
nothing_left one

run leat pack -t gpt2 -o two --max-rejects 100% --json a.jsonl
ended 0 ''
prints <<'END'
{"output": "two", "was_finished": false, "inputs": 1, "documents": 2, "tokens": 11, "text_bytes": 20, @
"rejected": 1, "deduplicated": 0, @
"splits": [], "special_strings": 1, "truncated_inputs": 0, "skipped": 0, "skipped_files": [], @
"hub_splits": [], "replaced": 0, "replaced_in": [], "damaged": [], "rejected_inputs": [], @
"not_json": 0, "kept_out": 0, "row_groups": 0, "seconds": T, @
"mb_per_s": R, "tokens_per_s": R, "serial_share": R, "stream_share": R, "direct_bytes": 0, @
"peak_memory": M}
END
run leat pack -t gpt2 -o special --max-rejects 34% --special a.jsonl
prints <<'END'
special: 6 tokens in 2 documents from 1 input, 20 bytes of text in T.
RATES
1 string of special tokens in the texts became these tokens.
1 record was rejected: see special.rejects.jsonl.
END
run leat cat special --document 0
grep -q 'hello <|endoftext|>' "$printed" || fail "leat cat of a packed document prints $(cat "$printed")"

# the same from standard input, but for its name
leat pack -t bytes -o three --max-rejects 1 - <a.jsonl >"$printed" 2>"$said" || fail "standard input: $(cat "$said")"
leat pack -t bytes -o four --max-rejects 1 a.jsonl >"$printed" 2>"$said" || fail "four: $(cat "$said")"
cmp three.tokens four.tokens || fail "standard input gives other tokens"
# a name with an ending is the same name
run leat pack -t bytes -o five.leat --max-rejects 1 a.jsonl --progress never
ended 0 ''
same four five

# ---- What is refused ------------------------------------------------------------------------------------------------

refuse 2 '--output NAME.tokens NAME.leat' leat pack a.jsonl
refuse 2 'INPUT...' leat pack -o x
refuse 2 '--treads --threads' leat pack -o x --treads 3 a.jsonl
refuse 1 'nosuch' leat pack -o x nosuch
refuse 1 'nosuch' leat pack -o x @nosuch
# all words that name nothing; once, only the first was named
for how in '-o x' '-o x --dry-run' '--run x --parts 2'; do
    # shellcheck disable=SC2086 # several words
    run leat pack $how -t bytes a.jsonl nosuch @nolist 'c*' b.txt nor-this
    ended 1 'leat: cannot find the input nosuch: No such file or directory
leat: these fail, too:
leat:   cannot open the list nolist: No such file or directory
leat:   no file matches c* (* ? [ ] match within one name; ** means no more than *)
leat:   cannot find the input nor-this: No such file or directory'
done
run leat pack -o x -t bytes no1 no2 no3 no4 no5 no6 no7 no8 no9 no10 no11 no12 no13
says 1 'leat:   and 2 more (--dry-run lists all)'
cp b.txt b.xyz
run leat pack -o x b.xyz
says 2 'choose the format jsonl, text, parquet, csv or tsv (--format NAME)'
run leat pack -o x empty
says 1 'the folder empty has no file'
# lists and folders in which there is nothing to find
printf '# only words\n\n' >words.list
refuse 1 'words.list' leat pack -o x -t bytes @words.list
printf '\357\273\277a.jsonl\n  \t \n' >marked.list
run leat pack -t bytes -o marked --max-rejects 1 @marked.list
ended 0 ''
printf '\357\273\277# only words\n' >marked.list
refuse 1 'marked.list' leat pack -o marked-too -t bytes @marked.list
printf 'a.jsonl\0b\n' >zero.list
refuse 2 'zero.list' leat pack -o x -t bytes @zero.list
echo @circle.list >circle.list
run leat pack -o x -t bytes @circle.list
says 2 'circle.list: lists are nested more than 64 deep'
deep=deep
for _ in 1 2 3 4 5 6 7; do
    deep=$deep/1/2/3/4/5/6/7/8/9/10
done
mkdir -p $deep
run leat pack -o x -t bytes deep
says 2 'folders are nested more than 64 deep'
rm -r deep
ln -s nowhere empty/gone
run leat pack -o x -t bytes empty
says 1 'leat: empty/gone is a symbolic link to nowhere, which is missing; restore that, or remove the link'
rm empty/gone
mkfifo pipe
refuse 2 'pipe' leat pack -o x -t bytes pipe
# what a list names and is missing is found by its line, that of the innermost list
printf 'a.jsonl\n\n# more\nnosuch\n' >lines.list
refuse 1 'lines.list' leat pack -o x @lines.list
deep=$(printf '%0100d' 0)
deep=$deep/$deep/$deep
mkdir -p "$deep"
printf '\nnosuch\n' >"$deep/l"
refuse 1 "$deep/l $deep/nosuch" leat pack -o x "@$deep/l"
rm -r "${deep%%/*}"
printf 'a.jsonl\n@lines.list\n' >outer.list
refuse 1 'lines.list' leat pack -o x @outer.list
printf '@nosuch\n' >outer.list
refuse 1 'outer.list' leat pack -o x @outer.list
# names in a list count from its folder, those of lists too
mkdir far far/below
echo '{"text":"far"}' >far/below/one.jsonl
echo @below/inner.list >far/outer.list
echo one.jsonl >far/below/inner.list
run leat pack -o x -t bytes @far/outer.list
ended 0 ''
leat cat x --document 0 2>"$said" | grep -q '^far$' || fail "names in a list: $(cat "$said")"
rm -f x.leat x.tokens

run leat pack -t bytes -o nosuch/x a.jsonl
says 1 'the folder for nosuch/x.leat does not exist'
run leat pack -t bytes -o x --memory 1Mi a.jsonl
says 2 'allow at least'
run leat pack -t bytes -o x --memory 10KiB --mask-field loss a.jsonl
says 2 '10.0 KiB of memory is too little for the tokenizer, a whole record with its mask'
for bound in 101% x -1 1.23456%; do
    run leat pack -o x "--max-rejects=$bound" a.jsonl
    says 2 '--max-rejects: '
done
for part in 0/3 4/3 1/ /2 1/2x; do
    run leat pack -o x --part "$part" a.jsonl
    says 2 'is not I/N'
done
run leat pack -o x --part 1 a.jsonl
says 2 'needs the number of parts'
# compressed inputs go whole: a part may get none, and says so
if command -v zstd >/dev/null; then
    zstd -q a.jsonl -o whole.jsonl.zst
    run leat pack -t bytes -o x --part 2/2 whole.jsonl.zst
    [ "$code" -eq 0 ] || fail "$ran: exit code $code"
    grep -q 'This part got no input: some inputs are given whole to one part, or all are small\.' "$printed" ||
        fail "$ran: $(cat "$printed")"
    rm -f x.leat x.tokens
fi
# a text whose size the system tells as 0 is read nevertheless; once it was packed as an empty one
if [ -n "$(cat /proc/version 2>/dev/null)" ]; then
    run leat pack -t bytes -o x --end none --format text --json /proc/version
    ended 0 ''
    grep -q "\"text_bytes\": $(wc -c </proc/version)," "$printed" || fail "$ran: $(cat "$printed")"
    rm -f x.leat x.tokens
fi
# plain text where JSON lines are read: what to do was not said
printf hello | leat pack -t bytes -o x - 2>"$said"
code=$?
says 4 'standard input is read as JSON lines; --format text packs it as one text'
run leat pack -t bytes -o x --part 1/2 -
says 2 'standard input cannot be divided into shares'
run leat pack -t bytes -o x --part 1/2 --shuffle 1 a.jsonl
says 2 'need the whole run: use them when merging its shares'
run leat pack -t bytes -o x - -
says 2 'given twice'
run leat pack -t bytes -o x --end 257 a.jsonl
says 2 "the tokenizer's ids end at 256"
run leat pack -t gpt2 -o named --end '<|endoftext|>' --max-rejects 100% a.jsonl
[ "$code" -eq 0 ] || fail "--end by its text: $(cat "$said")"
leat info named --json | grep -qF '"end": 50256' || fail "--end '<|endoftext|>' is another token"
run leat pack -t bytes -o x --end nosuch a.jsonl
says 2 'bytes has no token nosuch'
run leat pack -t nosuch -o x a.jsonl
[ "$code" -ne 0 ] || fail "an unknown tokenizer is taken"
nothing_left x
[ ! -e x.leat ] || fail "a refused run left x.leat"

# Of a large vocabulary ids are four bytes wide: what is packed is what is encoded.
printf 'naïve 日本語 \360\237\230\200 antidisestablishmentarianism\n' >wide.txt
run leat pack -t o200k_base -o wide wide.txt wide.txt
ended 0 'leat: warning: wide.txt repeats an earlier input: its documents are packed twice'
leat encode -t o200k_base wide.txt 2>"$said" | tr ' ' '\n' >ids
leat cat wide --document 1 --ids | tr ' ' '\n' | grep -v '^199999$' | diff - ids || fail "wide ids: $(cat "$said")"
[ "$(sort -n ids | tail -n 1)" -gt 65535 ] || fail "no id needs four bytes"
leat cat wide --document 1 | grep -q 'antidisestablishmentarianism' || fail "the text of wide ids"

# A mark of the byte order is no text, also before a record that is taken in parts (here, by small pieces, long ones).
marked() { # NAME MARK
    printf '%b{"text":"%040000d"}\n{"text":"b"}\n' "$2" 7 >"$1.jsonl"
    "$build/tiny/leat" pack -t bytes -o "$1" "$1.jsonl" >/dev/null 2>"$said" || fail "$1: $(cat "$said")"
}
marked without ''
marked with '\0357\0273\0277'
cmp with.tokens without.tokens || fail "a mark of the byte order became text"

# ---- A tokenizer.json that leaves things open -----------------------------------------------------------------------

tokenizer_of() { # MEMBERS: one that knows a and b, without a word on its end token
    printf '{%s"model":{"type":"BPE","unk_token":"<unk>","vocab":{"a":0,"b":1},"merges":[]}}' "$1" >tokenizer.json
}
flags='"special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false'
printf '{"text":"ab"}\n{"text":"axb"}\nbad\n{"text":"ba"}\n{"text":"x"}\n' >some.jsonl
tokenizer_of ''
run leat pack -t ./tokenizer.json -o x some.jsonl
says 2 './tokenizer.json does not say which token ends a document: use --end ID or --end none (leat pack'
tokenizer_of "\"added_tokens\":[{\"id\":2,\"content\":\"</s>\",$flags},{\"id\":3,\"content\":\"<|im_end|>\",$flags}],"
run leat pack -t ./tokenizer.json -o x some.jsonl
says 2 'or --end none; it may be one of 2 (</s>), 3 (<|im_end|>) (leat pack'
# what the tokenizer refuses and what is no JSON stand in their order
run leat pack -t ./tokenizer.json -o x --end 2 --max-rejects 100% some.jsonl
ended 0 ''
sed "s/\\\\\"/'/g" x.rejects.jsonl | sed 's/.*"line":\([0-9]*\),"reason":"\([^":]*\).*/\1 \2/' >order
diff - order <<'END' || fail "$ran: other rejects, or another order"
2 the text has a character that is not in the vocabulary, and neither is the unknown token '<unk>'
3 not valid JSON
5 the text has a character that is not in the vocabulary, and neither is the unknown token '<unk>'
END
rm -f x.leat x.tokens x.rejects.jsonl

# ---- Rejects, and going on ------------------------------------------------------------------------------------------

refuse 4 'r.rejects.jsonl --resume --max-rejects -t' leat pack -t bytes -o r a.jsonl
echo no >single.jsonl
run leat pack -t bytes -o single single.jsonl
says 4 'leat: 1 of 1 record was rejected, more than allowed'
cmp r.rejects.jsonl one.rejects.jsonl || fail "other rejects after too many"
# the rates of a resumed run are of what it did itself: here nothing, for all was packed before the last record
(seq 1 9000 | sed 's/.*/{"text":"a record with number &"}/' && echo '{}') >long.jsonl
for more in '--max-rejects 0' '--max-rejects 1 --resume --json'; do
    # shellcheck disable=SC2086 # words
    run "$build/tiny/leat" pack -t bytes -o long $more long.jsonl
done
ended 0 ''
grep -q '"documents": 9000, ' "$printed" || fail "$ran: $(cat "$printed")"
grep -q '"mb_per_s": 0.0, "tokens_per_s": 0.0, ' "$printed" || fail "$ran: rates of another run: $(cat "$printed")"
# and nothing is left of less than nothing where --dedup leaves out most of what was packed before
(yes '{"text":"the same record"}' | head -n 9000 && echo '{}') >alike.jsonl
for more in '--max-rejects 0' '--max-rejects 1 --resume --json'; do
    # shellcheck disable=SC2086 # words
    run "$build/tiny/leat" pack -t bytes -o alike --dedup $more alike.jsonl
done
ended 0 ''
grep -q '"documents": 1, ' "$printed" || fail "$ran: $(cat "$printed")"
grep -q '"mb_per_s": 0.0, "tokens_per_s": 0.0, ' "$printed" || fail "$ran: $(cat "$printed")"
# what was read is more than what a dataset has whose copies or splits were left out of it, and is called so; the line
# once read as if all of it were in the documents beside it
printf '{"text":"1234567890"}\n{"text":"1234567890"}\n' >copies.jsonl
run leat pack -t bytes -o copies --dedup copies.jsonl
grep -q '^copies: 11 tokens in 1 document from 1 input, 20 bytes of text read in ' "$printed" ||
    fail "$ran: $(cat "$printed")"
run leat pack -t bytes -o copies --force --split train=0.5 copies.jsonl
grep -q '^copies: .* from 1 input, 20 bytes of text read in ' "$printed" || fail "$ran: $(cat "$printed")"
run leat pack -t bytes -o copies --force copies.jsonl
grep -q '^copies: 22 tokens in 2 documents from 1 input, 20 bytes of text in ' "$printed" ||
    fail "$ran: $(cat "$printed")"
run leat pack -t bytes -o long --max-rejects 1 --resume --json long.jsonl # nothing is left to do
grep -q '"mb_per_s": 0.0, "tokens_per_s": 0.0, ' "$printed" || fail "$ran: rates of another run: $(cat "$printed")"
refuse 1 'r.leat --resume --force' leat pack -t bytes -o r --max-rejects 1 a.jsonl
run leat pack -t bytes -o r --max-rejects 1 --resume --allow-binary a.jsonl
says 1 'differs: this one has "allow-binary", and that one did not; give the same inputs and options'
# where no record was taken, it is hardly the bound that is wrong, and other options begin anew
(echo '{"content":"a"}' && echo '{"content":"b"}' && echo '{"text":5}') >fields.jsonl
refuse 4 'fields.rejects.jsonl --text' leat pack -t bytes -o fields fields.jsonl
nothing_left fields # of a run without documents: the right command once needed --force
run leat pack -t bytes -o fields --text content --max-rejects 1 fields.jsonl
ended 0 ''
echo '{"lang":5}' >>fields.jsonl
run leat pack -t bytes -o fields --text content --force --by lang fields.jsonl # it is not the text that is missing
says 4 'the record has no "lang" to choose its dataset by'
! grep -q 'no record was packed' "$said" || fail "$ran: $(cat "$said")"
run leat pack -t bytes -o fields --dedup --force fields.jsonl
says 4 'no record was packed: --text FIELD names'
run leat pack -t bytes -o fields2 --dedup fields.jsonl # likewise where another folder holds what is packed
[ ! -e fields2.partial.packed ] || fail "$ran: left $(ls -R fields2.partial.packed)"
run leat pack -t bytes -o fields2 --dedup --text content --max-rejects 2 fields.jsonl
ended 0 ''
# a compressed input that is cut off says nothing against the field
printf '{"text":"a"}\n' | gzip | head -c 20 >cut.jsonl.gz
run leat pack -t bytes -o cut cut.jsonl.gz
[ "$code" -ne 0 ] || fail "$ran: exit code 0"
if grep -q 'looked for' "$said"; then fail "$ran: $(cat "$said")"; fi
difference() { # THEN NOW OPTION...: a resumed run with other options or inputs is refused, with the difference
    then=$1 now=$2
    shift 2
    run leat pack -o r --max-rejects 1 --resume "$@"
    says 1 "$then"
    says 1 "$now"
}
difference 'text-field text' 'text-field body' -t bytes --text body a.jsonl
difference 'id-field id' 'id-field ' -t bytes --id '' a.jsonl
difference 'invalid-utf8 replace' 'invalid-utf8 reject' -t bytes --invalid-utf8 reject a.jsonl
difference 'special 0' 'special 1' -t bytes --special a.jsonl
difference 'part 0/0' 'part 1/2' -t bytes --part 1/2 a.jsonl
difference 'earlier run of r: new: b.txt; give the same' '' -t bytes a.jsonl b.txt
difference 'input jsonl' 'input text' -t bytes --format text a.jsonl
run leat pack -o r --max-rejects 1 --resume -t gpt2 a.jsonl
says 1 'its vocabulary size was 257 and now is 50257'
run leat pack -o r --max-rejects 1 --resume -t bytes --end none a.jsonl
says 1 'its end-of-document token was 256 and now is none'
cp -p a.jsonl kept
printf '{"text":"more"}\n' >>a.jsonl
difference 'earlier run of r: changed (size, time or etag): a.jsonl; give the same' '' -t bytes a.jsonl
cp -p kept a.jsonl
touch -d '2001-02-03 04:05:06 UTC' a.jsonl
difference 'earlier run of r: changed (size, time or etag): a.jsonl; give the same' '' -t bytes a.jsonl
run leat pack -t bytes -o r --max-rejects 1 --force a.jsonl
ended 0 ''
same r four
nothing_left r
run leat pack -t bytes -o r --max-rejects 0 --force a.jsonl
says 4 'continues from there; --force alone starts over'
run leat pack -t bytes -o r --max-rejects 1 --force --resume a.jsonl
ended 0 ''
same r four
nothing_left r
try 0 '' leat pack -t bytes -o r --max-rejects 1 --resume a.jsonl <<'END'
r is finished already: 22 tokens in 2 documents.
END
for other in '--text=body' '--part=1/2' '--shuffle=3' '--dedup' '--special' 'b.txt'; do
    run leat pack -t bytes -o r --max-rejects 1 --resume a.jsonl "$other"
    says 1 'r.leat already exists'
done
refuse 1 'r.leat --force' leat pack -t bytes -o r --max-rejects 1 a.jsonl
# without rejects, those of the run before go
run leat pack -t bytes -o r --force b.txt
ended 0 ''
[ ! -e r.rejects.jsonl ] || fail "the rejects of a dataset that was replaced are still there"

# ---- Broken inputs --------------------------------------------------------------------------------------------------

awk 'BEGIN { srand(1); for (i = 0; i < 400; i++) printf "{\"text\":\"%d %d\"}\n", i, int(rand() * 1e9) }' >whole.jsonl
if gzip -c whole.jsonl >w.jsonl.gz 2>/dev/null; then
    head -c 1500 w.jsonl.gz >cut.jsonl.gz
    run leat pack -t bytes -o cut --max-rejects 1 cut.jsonl.gz
    if ! grep -q 'this build cannot read' "$said"; then
        says 1 'leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz'
        says 1 '; --allow-truncated counts that as success'
        run leat verify cut
        [ "$code" -eq 0 ] || fail "what is left of a broken input is no dataset"
        run leat pack -t bytes -o cut2 --max-rejects 1 --allow-truncated --json cut.jsonl.gz
        says 0 'leat: warning: 1 input was cut off or broken'
        grep -q 'for a success' "$said" && fail "$ran: tells of the option that was given"
        grep -q '"truncated_inputs": 1,' "$printed" || fail "the summary does not count a broken input"
        same cut cut2
        run leat pack -t bytes -o cut3 --max-rejects 0 cut.jsonl.gz
        says 4 'leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz'
        run leat pack -t bytes -o cut3 --max-rejects 0 --resume cut.jsonl.gz # which named no file
        says 4 'leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz'
    fi
fi

# A limit on the size of files ends a run as a full disk does, with a sentence and no signal.
(ulimit -f 1 && exec leat pack -t bytes -o limited whole.jsonl) >"$printed" 2>"$said"
code=$? ran='leat pack (under ulimit -f)'
says 1 'raise the file size limit'
says 1 'the same command starts over, also with --resume' # and did not say what becomes of --resume
nothing_left limited

# ---- An interrupt ---------------------------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 200000; i++) print "{\"text\":\"a wheel, a mill, a river, and line", i, "\"}" }' >big.jsonl
leat pack -t gpt2 -o whole big.jsonl >/dev/null 2>&1 || fail "whole: exit code $?"
# it comes once the run has begun; and a shell would let a command in the background ignore it
if command -v python3 >/dev/null; then
    for wait in 0 0.1 0.1; do
        python3 - "$wait" >"$printed" 2>"$said" <<'END'
import os, signal, subprocess, sys, time
p = subprocess.Popen(["leat", "pack", "-t", "gpt2", "-o", "i", "--threads", "1", "--resume", "big.jsonl"],
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while p.poll() is None and not os.path.exists("i.partial.tokens"):
    time.sleep(0.001)
time.sleep(float(sys.argv[1]))
p.send_signal(signal.SIGINT)
code = p.wait()
sys.exit(code if code >= 0 else 99)
END
        code=$?
        ran="leat pack, interrupted after $wait s"
        case $code in
        0 | 99) ;; # it was at its end, or had not begun
        *)
            # a run that is resumed has the files of the one before: on a slow machine it still loads its tokenizer
            if ! grep -q 'leat: interrupted before this run packed anything' "$said"; then
                says 130 'leat: interrupted after'
                says 130 'leat: nothing is lost: the same command with --resume continues from there'
            fi
            [ $code -eq 130 ] || fail "$ran: exit code $code"
            ;;
        esac
    done
fi
run leat pack -t gpt2 -o i --resume big.jsonl
ended 0 ''
same i whole
nothing_left i

# ---- A terminal -----------------------------------------------------------------------------------------------------

if python3 -c 'import pty' 2>/dev/null; then
    python3 - >"$printed" 2>&1 <<'END' || fail "a terminal: $(cat "$printed")"
import os, pty
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 4096)
    seen += data
    return data
code = pty.spawn(["leat", "pack", "-t", "gpt2", "-o", "bar", "--threads", "1", "big.jsonl"], read)
text = seen.decode()
assert code == 0, (code, text)
assert "tokens/s" in text and "\r" in text and "%" in text, text
assert "bar: " in text, text
END
fi

# too many rejects: --json printed nothing
printf '{"text":"a"}\n{"text":\n' >half.jsonl
run leat pack -t bytes -o half --json --max-rejects 0 half.jsonl
says 4 'half.rejects.jsonl lists them'
grep -q '^{"output": "half", "was_finished": false, "inputs": 1, "documents": 1, .*"rejected": 1, ' "$printed" ||
    fail "$ran: $(cat "$printed")"
[ ! -e half.leat ] || fail "$ran: made a dataset"
finish
