#!/bin/sh
# test_pack_own_files.sh: a run does not take its own files for inputs, by whatever name it comes upon them, and finds
# before all work what stands where it will write; a stopped run goes on only from what it wrote itself.
#
# Once `leat pack -o d/corpus d` with rejects advised --resume, which failed, since d/corpus.rejects.jsonl had become an
# input; with --force the rejects were packed again each time: 15,000, 30,000, 45,000. The rejects of a share that was
# stopped were an input of the next share, and under --format jsonl so were indexes and all files of unfinished
# datasets. A folder at NAME.tokens was found after the last document, and a bit flipped in the rejects of a stopped run
# went unnoticed.
. tests/cli/cli.sh

key() { # the value of a member of the object that was printed last
    sed -n "s/.*\"$1\": \(\[[^]]*\]\|[^,}]*\).*/\1/p" "$printed"
}
counts() { # INPUTS DOCUMENTS REJECTS SKIPPED
    now="$(key inputs) $(key documents) $(key rejected) $(key skipped)"
    [ "$code $now" = "0 $*" ] ||
        fail "$ran: inputs, documents, rejects, skipped: $now, not $*; $(cat "$said")"
}

mkdir d
printf '{"text":"a"}\n{"text":"b"}\nno json\nnor this\n' >d/a.jsonl
printf '{"text":"c"}\n' >d/b.jsonl
run leat pack -t bytes -o whole --max-rejects 2 --json d
counts 2 3 2 0

# ---- The output in the folder of inputs -----------------------------------------------------------------------------

# too many rejects: stopped at a checkpoint, and the advice must hold
run leat pack -t bytes -o d/corpus --max-rejects 1 d
says 4 'the same command with --resume and a larger --max-rejects continues from there'
[ -e d/corpus.rejects.jsonl ] || fail 'the rejects are not there'
run leat pack -t bytes -o d/corpus --max-rejects 2 --resume --json d
counts 2 3 2 0
cmp -s d/corpus.tokens whole.tokens || fail 'other tokens than outside of the folder'
cp d/corpus.rejects.jsonl rejects

# finished, again and again, under each format
for format in auto jsonl; do
    for turn in 1 2; do
        run leat pack -t bytes -o d/corpus --max-rejects 2 --force --format $format --json d
        counts 2 3 2 0
        cmp -s d/corpus.rejects.jsonl rejects || fail "turn $turn: other rejects: $(cat d/corpus.rejects.jsonl)"
    done
done
printf 'left by a killed run' >d/corpus.partial.tokens
mkdir d/corpus.partial.packed
printf 'left by a killed run' >d/corpus.partial.packed/all.leat
run leat pack -t bytes -o d/corpus --force --format text --json d
counts 2 2 0 0
[ ! -e d/corpus.partial.packed ] || fail 'what a killed run left of its first pass stays'
for turn in 1 2; do # at the second one there is d/corpus.v
    run leat pack -t bytes -o d/corpus --force --format text --split v=0.5 --json d
    [ "$(key inputs)" = 2 ] || fail "turn $turn: $(key inputs) inputs; $(cat "$said")"
done
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json d # which does not write d/corpus.v
counts 2 3 2 2
rm d/corpus.v.*

# the rejects and tokens of another dataset are no texts either
run leat pack -t bytes -o d/other --max-rejects 2 d
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json d
counts 2 3 2 3
says 0 'skipped 3 files in folders: d/other.leat, d/other.rejects.jsonl, d/other.tokens'
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --format jsonl --json d
counts 2 3 2 3
rm d/other.*

# and neither are the files of one that is not finished: a share's, while another share of the same folder is packed
for format in auto jsonl; do
    run leat pack -t bytes -o alone --force --part 2/2 --max-rejects 2 --json --format $format d
    right="$(key inputs) $(key documents) $(key rejected)"
    for how in '--part 1/2' '--shuffle 1'; do
        # shellcheck disable=SC2086
        run leat pack -t bytes -o d/one --max-rejects 0 --format $format $how d
        says 4 'continues from there'
        [ -e d/one.rejects.jsonl ] || fail 'a share that was stopped has no list of rejects'
        left=$(find d -type f -path 'd/one.*' -o -name 'corpus.*' | wc -l)
        run leat pack -t bytes -o two --force --part 2/2 --max-rejects 2 --json --format $format d
        # shellcheck disable=SC2086
        counts $right "$left"
        cmp -s two.tokens alone.tokens || fail "$format, $how: other tokens beside an unfinished dataset"
        rm -r d/one.*
    done
done
# nor the rejects of a run that stopped and could not make a checkpoint: nothing else is left of it
for format in auto jsonl; do
    leat pack -t bytes -o d/one --max-rejects 0 - <d/a.jsonl >"$printed" 2>"$said" && fail 'rejects were allowed'
    [ "$(echo d/one.*)" = d/one.rejects.jsonl ] || fail "left of a run from standard input: $(echo d/one.*)"
    run leat pack -t bytes -o alone --force --max-rejects 2 --json --format $format d
    says 0 ', d/one.rejects.jsonl'
    [ "$(key inputs) $(key documents)" = '2 3' ] || fail "$format: the rejects of a run from standard input are packed"
    rm -r d/one.*
done
printf '{"text":"d"}\n' >d/c.partial.jsonl # only a name
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json d
counts 3 4 2 0
rm d/c.partial.jsonl
run leat pack -t bytes -o d/corpus --force --max-rejects 2 d

# ---- By other names -------------------------------------------------------------------------------------------------

# as the shell expands d/*.jsonl
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json d/a.jsonl d/b.jsonl d/corpus.rejects.jsonl
counts 2 3 2 1
says 0 "skipped 1 file of this run's own output: d/corpus.rejects.jsonl"
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json 'd/*.jsonl'
counts 2 3 2 1
printf 'a.jsonl\ncorpus.rejects.jsonl\n../d/b.jsonl\n' >d/list
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json @d/list
counts 2 3 2 1
rm d/list
ln d/corpus.rejects.jsonl d/hard.jsonl
ln -s corpus.rejects.jsonl d/soft.jsonl
[ "$(ls d/*.rejects.jsonl)" = d/corpus.rejects.jsonl ] || fail "other rejects: $(ls d)"
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json d
counts 2 3 2 2
says 0 "skipped 2 files of this run's own output: d/hard.jsonl, d/soft.jsonl"
rm d/hard.jsonl # after that run it is a copy of old rejects, which another run may well take
run leat pack -t bytes -o d/corpus --force --max-rejects 2 --json d/a.jsonl d/b.jsonl d/soft.jsonl
counts 2 3 2 1
run leat pack -t bytes -o d/corpus --force d/soft.jsonl
says 2 "d/soft.jsonl is a file of this run's own output; choose another output"
rm d/soft.jsonl
leat pack -t bytes -o d/corpus --force - <d/corpus.rejects.jsonl >"$printed" 2>"$said" &&
    fail 'rejects from standard input are packed over themselves'
grep -q 'standard input (-) is corpus.rejects.jsonl, which this run writes' "$said" || fail "it said: $(cat "$said")"

# ---- What stands where it will write --------------------------------------------------------------------------------

for suffix in tokens leat rejects.jsonl; do
    for thing in mkdir mkfifo; do
        $thing "busy.$suffix"
        for options in '' '--force' '--shuffle 1' '--force --shuffle 1'; do
            # shellcheck disable=SC2086
            run leat pack -t bytes -o busy $options --max-rejects 2 d
            [ $thing = mkdir ] && kind='a folder' || kind='not a regular file'
            case $options in
            *force*) says 1 "busy.$suffix is $kind, where leat writes a file: remove it, or choose another name" ;;
            *) says 1 "busy.$suffix" ;;
            esac
            [ "$(echo busy*)" = "busy.$suffix" ] || fail "$ran left something: $(echo busy*)"
        done
        rm -r "busy.$suffix"
    done
done
mkdir busy.v.tokens # of a split
run leat pack -t bytes -o busy --split v=0.5 --max-rejects 2 d
says 1 'busy.v.tokens is a folder'
rmdir busy.v.tokens
printf x >busy.tokens # somebody's, of which nothing tells what it is
run leat pack -t bytes -o busy --shuffle 1 --max-rejects 2 d
says 1 'busy.tokens already exists, without an index'
[ "$(echo busy*)" = busy.tokens ] || fail "$ran left something: $(echo busy*)"

# ---- What a stopped run goes on from --------------------------------------------------------------------------------

stop() {
    rm -rf run.*
    run leat pack -t bytes -o run --max-rejects 1 d/a.jsonl d/b.jsonl
    says 4 'continues from there'
}
resume() {
    run leat pack -t bytes -o run --max-rejects 2 --resume --json d/a.jsonl d/b.jsonl
}
for file in run.rejects.jsonl run.partial.run run.partial.checkpoint run.partial.hashes run.partial.tokens; do
    stop
    mv $file aside
    cp aside victim
    printf 'more' >>victim
    cp victim copy
    ln -s victim $file
    resume
    says 1 "$file is a symbolic link, where leat writes a file"
    cmp -s victim copy || fail "$file: what the link leads to was changed"
    rm $file
    mv aside $file
    resume
    counts 2 3 2 0
    cmp -s run.tokens whole.tokens || fail "$file: other tokens after a refusal"
done
for file in run.rejects.jsonl run.partial.checkpoint run.partial.hashes run.partial.origins run.partial.tokens; do
    stop
    cp $file aside
    printf '\001' | dd of=$file bs=1 seek=5 conv=notrunc 2>"$said"
    resume
    says 1 'is damaged'
    ! grep -q 'nothing is lost' "$said" || fail "$file is damaged, and that is said to be no loss: $(cat "$said")"
    cp aside $file
    resume
    counts 2 3 2 0
    cmp -s run.tokens whole.tokens || fail "$file: other tokens after a refusal"
    cmp -s run.rejects.jsonl whole.rejects.jsonl || fail "$file: other rejects after a refusal"
done
finish
