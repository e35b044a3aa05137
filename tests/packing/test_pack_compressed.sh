#!/bin/sh
# test_pack_compressed.sh: leat pack reads texts compressed with xz, bzip2 and lz4, by their names, under other names
# and from standard input: the tokens are those of the plain text. What is cut off is packed as far as it goes, and
# named. What else is compressed is refused with the command that unpacks it, also within what is compressed and on
# standard input: of a tar archive called .jsonl.gz, all but each member's first record was packed.
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
    says 1 ", at byte 200: it ends in the middle of a"
    says 1 '; --allow-truncated counts that as success'
done
for word in "br brotli -d" "Z uncompress" "zip unzip" "tar.xz tar -xf" "7z 7z x"; do
    printf 'x' >"c.${word%% *}"
    run leat pack -t bytes -o no "c.${word%% *}"
    says 1 "(${word#* })"
done

# ---- By what is in it -----------------------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 300; i++) printf "{\"text\":\"%d\"}\n", i }' >a.jsonl
tar -cf a.tar a.jsonl
gzip -c a.jsonl >a.jsonl.gz
gzip -c a.tar >tar.jsonl.gz
gzip -c a.jsonl.gz >twice.jsonl.gz
printf 'PK\3\4\24\0\0\0' | cat - a.jsonl | gzip >zip.jsonl.gz
printf 'PAR1....PAR1' | gzip >rows.jsonl.gz
mkdir lies
cp tar.jsonl.gz lies
echo lies/tar.jsonl.gz >lies.list
lie() { # INPUT SENTENCE
    run leat pack -t bytes -o lie --force "$1"
    says 1 "$1 is compressed, and what it holds is $2"
    leat pack -t bytes -o lie - <"$1" >"$printed" 2>"$said" && fail "$1 on standard input is packed"
    grep -qF "standard input is compressed, and what it holds is $2" "$said" || fail "$1, piped: $(cat "$said")"
    run leat pack -t bytes -o lie --force --allow-binary --max-rejects 100% "$1"
    [ "$code" -eq 0 ] || fail "$1 with --allow-binary: $(cat "$said")"
    rm -f lie.[lrpt]*
}
lie tar.jsonl.gz 'a tar archive: unpack it first (tar -xf) (--allow-binary'
lie twice.jsonl.gz 'compressed with gzip: decompress it first, or compress it once only'
lie zip.jsonl.gz 'a zip archive: unpack it first (unzip)'
lie rows.jsonl.gz 'a Parquet file: decompress it first, and name the file'
for words in lies @lies.list; do
    run leat pack -t bytes -o lie $words
    says 1 'lies/tar.jsonl.gz is compressed, and what it holds is a tar archive: unpack it first (tar -xf)'
done
# before any work, not when its turn comes: here after a record that ends the run with code 4
mkdir late
printf '{"text":"a"}\n{"text":1}\n' >late/a.jsonl
printf '\377\376{\0"\0t\0' >utf16.jsonl
for input in twice.jsonl.gz tar.jsonl.gz utf16.jsonl; do
    cp $input late/z.$input
    echo late/a.jsonl >late.list
    echo late/z.$input >>late.list
    seen_first() { # ARGUMENT...
        run leat pack -t bytes --max-rejects 0 "$@"
        says 1 "late/z.$input is "
        ! grep -q 'nothing is lost' "$said" || fail "$input: $(cat "$said")"
    }
    seen_first -o late.out late
    seen_first -o late.out @late.list
    seen_first -o late.out --dry-run late
    seen_first --run late.run --parts 2 late
    rm late/z.*
done
run leat pack -t bytes -o late.out --max-rejects 0 late
says 4 'more than allowed'
# what is seen late, since its first bytes cost much, does not promise that --resume helps
if bzip2 -c a.tar >late/z.jsonl.bz2 2>"$said" && leat pack -t bytes -o bz "$here/tests/corpus/made/one.bz2" \
    --format text >"$printed" 2>"$said"; then
    run leat pack -t bytes --force -o late.out --max-rejects 0 late
    says 4 'nothing is lost'
    run leat pack -t bytes --force -o late.out --max-rejects 1 --resume late
    says 1 'late/z.jsonl.bz2 is compressed, and what it holds is a tar archive'
    says 1 '--resume fails the same way: repair or leave out this input, and start over with --force'
    ! grep -q 'nothing is lost' "$said" || fail "a late archive: $(cat "$said")"
fi
piped() { # SENTENCE, of what comes from a pipe
    cat >pipe.in
    leat pack -t bytes -o pipe - <pipe.in >"$printed" 2>"$said" && fail "standard input that is $1 is packed"
    grep -qF "leat: standard input is $1" "$said" || fail "standard input is not $1: $(head -c 500 "$said")"
    rm -f pipe.[rpt]*
}
piped 'a tar archive: unpack it first (tar -xf)' <a.tar
printf 'PK\3\4' | cat - a.jsonl | piped 'a zip archive: unpack it first (unzip)'
printf '\037\235\220' | piped 'compressed with compress: decompress it first (uncompress)'
printf '\377\006\0\0sNaPpY' | piped 'compressed with snappy'
printf '\135\0\0\200\0\377\377\377\377' | piped 'compressed with lzma: decompress it first (xz -d)'
printf '\002\041\114\030' | piped 'compressed with lz4 in its legacy format: decompress it first (lz4 -d)'
printf '\170\234KLJN' | piped 'zlib data: compress it with gzip or zstd instead'
printf '{\0"\0t\0e\0x\0t\0"\0' | piped 'text in UTF-16'
printf '\253\377\237\0\0\314\375\202\0' | piped 'binary data, or text in another encoding than UTF-8'
# lines that begin like JSON are no archive, whatever stands where that has its magic number, and Latin-1 is replaced
awk 'BEGIN { printf "{\"text\":\""; for (i = 9; i < 257; i++) printf "x"; print "ustar\"}" }' >ustar.jsonl
awk 'BEGIN { for (i = 0; i < 99; i++) printf "{\"text\":\"\351\351\351\"}\n" }' >latin1
for input in ustar.jsonl latin1; do
    leat pack -t bytes -o ustar --force --max-rejects 100% - <$input >"$printed" 2>"$said" ||
        fail "$input: $(cat "$said")"
done

# what has the name of one form, and is of another
named() { # FILE SENTENCE
    run leat pack -t bytes -o named --force "$1"
    says 1 "$1 is named .${1##*.}, but is $2"
}
printf '\170\332KLJN' >zlib.jsonl.gz
named zlib.jsonl.gz 'zlib data without a header of gzip: compress it with gzip instead'
printf '\002\041\114\030' >legacy.jsonl.lz4
named legacy.jsonl.lz4 'compressed with lz4 in its legacy format: decompress it first (lz4 -d)'
printf '\0\2\0\0\0\0\0\12{"text":"a' >hadoop.json.lz4
named hadoop.json.lz4 'in blocks of Hadoop or Spark, which only these read: write it with gzip or zstd instead'
cp a.jsonl.gz a.jsonl.zst
named a.jsonl.zst 'compressed with gzip: rename it'
cp a.jsonl plain.jsonl.lz4
printf '\0\2\0\0\0\0\0' >short.jsonl.lz4 # too short for a header of Hadoop's
for file in plain short; do
    run leat pack -t bytes -o named --force $file.jsonl.lz4
    says 1 'does not start like a lz4 file; rename it if it is not compressed, or get a new copy'
done

# a zstd frame that needs a dictionary is not damage
printf '\50\265\57\375\41\7\1\11\0\0a' >dictionary.txt.zst
skip='\0120\052\0115\030\03\0\0\0abc\0137\052\0115\030\0\0\0\0' # frames that zstd and lz4 have in common
printf %b "$skip" | cat - dictionary.txt.zst >behind.txt.zst
for file in dictionary behind; do
    for more in '' --allow-truncated; do
        run leat pack -t bytes -o dictionary --force $more $file.txt.zst
        says 1 "$file.txt.zst is compressed by zstd with the dictionary 7, which leat cannot be given: decompress it"
        says 1 'first (zstd -d -D DICTIONARY)'
    done
done

# behind such frames, nothing else is looked for: "gzip data is broken at compressed byte 0" was said
printf %b "$skip" | cat - a.jsonl.gz >gzip.jsonl.zst
cp gzip.jsonl.zst behind
for file in gzip.jsonl.zst behind; do
    run leat pack -t bytes -o gzip --force --format jsonl $file
    says 1 "$file, at byte 19: its zstd data is broken"
done
# before the first frame of lz4
printf %b "$skip" | cat - "$made/one.lz4" >skip
run leat pack -t bytes -o skipped skip
says 1 'skip is compressed with lz4: let its name end in .jsonl.lz4'
cp "$made/one.lz4" one.txt.lz4
run leat pack -t bytes -o named --force one.txt.lz4
if [ "$code" -eq 0 ]; then
    leat pack -t bytes -o skipped --format text - <skip >"$printed" 2>"$said" ||
        fail "lz4 after other frames: $(cat "$said")"
    cmp -s skipped.tokens plain.tokens || fail 'lz4 after skipped frames: other tokens'
    run leat pack -t bytes -o skipped --force --format text skip
    cmp -s skipped.tokens plain.tokens || fail 'lz4 after skipped frames, in a file: other tokens'
fi
finish
