#!/bin/sh
# test_example_names.sh: the example that reads a dataset shows paths and ids from it as leat_show() does. It printed
# them raw, so that the name of a packed file could send commands to the terminal.
. tests/cli/cli.sh

path=$(printf 'a\033]0;title\007\302\233b')
printf 'text' >"$path" || exit 77 # a file system that refuses such names
run write_bytes d "$path"
[ "$code" = 0 ] || fail "write_bytes: $(cat "$said")"
run read_dataset d
[ "$code" = 0 ] || fail "read_dataset: $(cat "$said")"
cat >"$expected" <<'END'
5 tokens of 2 bytes in 1 documents; ids below 257
first tokens: 116 101 120 116 256
document 0 (a\x1b]0;title\x07\u009bb#0): tokens 0 to 5, from byte 0 of a\x1b]0;title\x07\u009bb
END
diff "$expected" "$printed" || fail 'other lines'
finish
