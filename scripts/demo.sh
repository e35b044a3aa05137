#!/bin/sh
# demo.sh BUILD: shows what leat does with the sample corpus of examples/corpus. Leaves its files in BUILD/demo.
set -e
build=$1
out=$build/demo
leat=$build/leat

rm -rf "$out"
mkdir -p "$out"

show() { # SENTENCE COMMAND...: prints the sentence and the command
    printf '\n# %s\n$' "$1"
    shift
    for word; do
        case $word in
        *' '* | *'#'*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
}

step() { # the same, then runs the command
    show "$@"
    shift
    "$@"
}

step "Pack a folder of texts (JSON lines, Markdown, zstd) with the built-in tokenizer of GPT-2." \
    "$leat" pack -o "$out/corpus" -t gpt2 examples/corpus
step "What does it contain?" \
    "$leat" info "$out/corpus"
step "Check every checksum and every rule of both files." \
    "$leat" verify "$out/corpus"
step "A training step looked odd at token 12345: which document was that, and where did it come from?" \
    "$leat" find "$out/corpus" --token 12345
show "The text of that document (its first lines)." "$leat" cat "$out/corpus" --document 3
"$leat" cat "$out/corpus" --document 3 2>&1 | head -n 5
step "The same dataset from C: facts, first tokens, and the documents in the tokens 0 to 8000." \
    "$build/examples/read_dataset" "$out/corpus" 0 8000

# a copy with one byte changed to 0: all ids stay below the vocabulary size, so only the page hash detects it
cp "$out/corpus.leat" "$out/damaged.leat"
{
    head -c 50000 "$out/corpus.tokens"
    printf '\0'
    tail -c +50002 "$out/corpus.tokens"
} >"$out/damaged.tokens"
verify_damaged() {
    code=0
    "$@" 2>&1 || code=$?
    echo "(exit code $code)"
    [ "$code" -eq 3 ]
}
show "Change one byte of a copy: verify finds the page and names the documents in it." "$leat" verify "$out/damaged"
verify_damaged "$leat" verify "$out/damaged"

step "Load it as a training program does: shuffled batches of 8 samples of 256 tokens, and their speed." \
    "$build/leat-bench" load --source "$out/corpus" --seq-len 256 --batch 8 --steps 1000
step "How fast is packing? The same corpus again, with the time of each stage." \
    "$build/leat-bench" pack -o "$out/again" -t gpt2 examples/corpus

printf '\nThe files are under %s.\n' "$out"
