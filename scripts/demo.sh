#!/bin/sh
# demo.sh BUILD: shows what leat does so far, on the few texts of examples/texts. Leaves everything under BUILD/demo.
set -e
build=$1
out=$build/demo
leat=$build/leat

rm -rf "$out"
mkdir -p "$out"

show() { # SENTENCE COMMAND...: says what comes, shows the command
    printf '\n# %s\n$' "$1"
    shift
    printf ' %s' "$@"
    printf '\n'
}

step() { # the same, and runs it
    show "$@"
    shift
    "$@"
}

step "Write a dataset: each paragraph a document, each byte a token (packing by other tokenizers comes later)." \
    "$build/examples/write_bytes" "$out/texts" examples/texts/leat.txt examples/texts/mill.txt \
    examples/texts/river.txt examples/texts/words.txt LICENSE
step "What is in it." \
    "$leat" info "$out/texts"
step "Check every checksum and every rule of both files." \
    "$leat" verify "$out/texts"
step "A training step looked odd at token 1000: which document was that, and where did it come from?" \
    "$leat" find "$out/texts" --token 1000
step "The text of that document." \
    "$leat" cat "$out/texts" --document 5
step "The same dataset from C: facts, first tokens, and the documents in the tokens 0 to 300." \
    "$build/examples/read_dataset" "$out/texts" 0 300

# a copy with one byte changed; ids stay below the vocabulary's size, so that only the page's hash can tell
cp "$out/texts.leat" "$out/damaged.leat"
{
    head -c 5000 "$out/texts.tokens"
    printf '~'
    tail -c +5002 "$out/texts.tokens"
} >"$out/damaged.tokens"
verify_damaged() {
    code=0
    "$@" 2>&1 || code=$?
    echo "(exit code $code)"
    [ "$code" -eq 3 ]
}
show "Change one byte of a copy: verify finds the page, and names the documents in it." "$leat" verify "$out/damaged"
verify_damaged "$leat" verify "$out/damaged"

printf '\nThe files are under %s.\n' "$out"
