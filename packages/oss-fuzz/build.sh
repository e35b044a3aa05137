#!/bin/bash -eu
# build.sh: builds all fuzzers in $OUT, each with its stored inputs and the libraries that it needs. OSS-Fuzz runs it in
# leat's sources with CC, CXX, CFLAGS, LIB_FUZZING_ENGINE, OUT and WORK set.
make -j"$(nproc)" fuzz-programs DEPS=0 BUILD="$WORK/leat" CC="$CC" FUZZ_CC="$CC" FUZZ_LD="$CXX" \
    FUZZ_SANITIZE="$CFLAGS" FUZZ_COVERAGE= FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    FUZZ_LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/lib'"
mkdir -p "$OUT/lib" "$OUT/tests/tokenizer"
cp -r tests/tokenizer/vectors "$OUT/tests/tokenizer/" # fuzz_encode opens these, in the folder of the fuzzers
for program in "$WORK"/leat/fuzz/fuzz_*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    cp "$program" "$OUT/"
    printf '[libfuzzer]\nmax_len = 2048\nmalloc_limit_mb = 4160\n' >"$OUT/$name.options"
    rm -f "$OUT/${name}_seed_corpus.zip"
    (cd "$WORK/leat/tests/fuzz/corpus/${name#fuzz_}" && zip -qr "$OUT/${name}_seed_corpus.zip" .)
    ldd "$program" | awk '$3 ~ "^/" { print $3 }' | grep -vE '/(libc|libm|libgcc_s|libstdc\+\+|libpthread|libdl)\.so' |
        xargs -r cp -Lu -t "$OUT/lib"
done
