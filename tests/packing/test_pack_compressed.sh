#!/bin/sh
# test_pack_compressed.sh: leat pack reads texts compressed with xz, bzip2 and lz4, by their names, under other names
# and from standard input: the tokens are those of the plain text. What is cut off is packed as far as it goes, and
# named. What else is compressed is refused with the command that unpacks it.
here=$PWD
. tests/cli/cli.sh
made=$here/tests/corpus/made
cp "$made/text" plain.txt
run leat pack -t bytes -o plain plain.txt
for form in xz bz2 lz4; do
    cp "$made/one.$form" "one.txt.$form"
    run leat pack -t bytes -o named "one.txt.$form" --force
    if grep -q 'which this build cannot read' "$said"; then
        says 1 "one.txt.$form is compressed with"
        continue
    fi
    cmp -s named.tokens plain.tokens || fail "$form: other tokens"
    cp "$made/one.$form" other
    run leat pack -t bytes -o other --format text other --force
    cmp -s other.tokens plain.tokens || fail "$form under another name: other tokens"
    leat pack -t bytes -o piped --format text - --force <"$made/one.$form" 2>"$said" || fail "$form: $(cat "$said")"
    cmp -s piped.tokens plain.tokens || fail "$form from standard input: other tokens"
    head -c 200 "$made/one.$form" >"cut.txt.$form"
    run leat pack -t bytes -o cut "cut.txt.$form" --force
    says 1 'leat: 1 input was cut off or broken, and packed as far as it was readable: '
    says 1 ", at compressed byte 200; --allow-truncated counts that as success"
done
for word in "br brotli -d" "Z uncompress" "zip unzip" "tar.xz tar -xf" "7z 7z x"; do
    printf 'x' >"c.${word%% *}"
    run leat pack -t bytes -o no "c.${word%% *}"
    says 1 "(${word#* })"
done
finish
