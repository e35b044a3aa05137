#!/bin/sh
# encode_start.sh LEAT [RUNS [TOKENIZER...]]: how long a whole `leat encode` of one line takes, in milliseconds: nearly
# all of it is loading the vocabulary. The median of RUNS (11), with the least and the most; TOKENIZERs are as for leat
# encode (the built-in ones).
set -e
leat=$1
runs=${2:-11}
if [ $# -gt 2 ]; then
    shift 2
else
    set -- bytes gpt2 cl100k_base o200k_base
fi

now() { # nanoseconds
    date +%s%N
}
once() { # TOKENIZER: microseconds
    began=$(now)
    echo 'The wheel turns a shaft.' | "$leat" encode -t "$1" >/dev/null
    echo $((($(now) - began) / 1000))
}

printf '%-40s %10s %10s %10s\n' "whole leat encode of a line" "median ms" least most
for tokenizer; do
    once "$tokenizer" >/dev/null # reads the files into memory, and reports an error once
    for _ in $(seq "$runs"); do once "$tokenizer"; done | sort -n | awk -v name="${tokenizer##*/}" '
        { us[NR] = $1 }
        END { printf "%-40s %10.1f %10.1f %10.1f\n", name, us[int((NR + 1) / 2)] / 1e3, us[1] / 1e3, us[NR] / 1e3 }'
done
