#!/bin/sh
# datasets.sh: small datasets, and damage to them, for tests of the commands; sourced.

# Overwrites bytes of a file with a text.
overwrite() { # FILE OFFSET TEXT
    printf '%s' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# Overwrites 8 bytes of a section of an index, by the kind that FORMAT.md numbers: the first, or those at an offset.
spoil_section() { # FILE KIND [OFFSET]
    entry=512
    while spoiled=$(od -An -v -tu4 --endian=little -j$entry -N4 "$1" | tr -d ' ') && [ "$spoiled" -ne "$2" ]; do
        [ "$spoiled" -ne 0 ] || return
        entry=$((entry + 64))
    done
    section=$(od -An -v -tu8 --endian=little -j$((entry + 8)) -N8 "$1" | tr -d ' ')
    overwrite "$1" $((section + ${3:-0})) '~~~~~~~~'
}

copy_dataset() { # FROM TO
    cp "$1.leat" "$2.leat" && cp "$1.tokens" "$2.tokens"
}

# 500 documents of 20 to 22 tokens, over six pages: document n begins at 20 n, 200 + 21 (n - 10), 2090 + 22 (n - 100).
write_numbered() { # NAME
    awk 'BEGIN { for (i = 0; i < 500; i++) printf "paragraph number %d\n\n", i }' >"$1.txt"
    write_bytes "$1" "$1.txt" >/dev/null
}

# Datasets all (of three inputs), a, b and c (of one each).
write_three() {
    printf 'alpha beta\n\nsecond paragraph\nof two lines\n\n\nthird' >a.txt
    printf 'one\n\ntwo\n' >b.txt
    printf 'x\n' >c.txt
    write_bytes all a.txt b.txt c.txt >/dev/null
    for name in a b c; do
        write_bytes $name $name.txt >/dev/null
    done
}

# Runs a command that prints a JSON object, and prints only some of its members; ends with the command's exit code.
members() { # KEY,KEY... COMMAND...
    keys=$(echo "$1" | tr , '|')
    shift
    object=$("$@")
    set -- $?
    [ -z "$object" ] || echo "$object" | grep -oE "\"($keys)\": (\[[^]]*\]|[^,}]*)" | paste -sd ' ' -
    return "$1"
}

# Prints what identifies the tokens of datasets, whatever they were packed from.
identity() { # NAME...
    for name in "$@"; do
        leat info "$name" | sed -n 's/^  identity *//p'
    done
}

same() { # NAME NAME
    cmp "$1.tokens" "$2.tokens" && cmp "$1.leat" "$2.leat"
}
