example_names.t: the example that reads a dataset shows paths and ids as leat does: the name of a packed file cannot
send commands to the terminal. Some file systems refuse such names.

  $ name=$(printf 'a\033]0;title\007\302\233b')
  $ printf text >"$name" || exit 80
  $ write_bytes d "$name"
  1 documents, 5 tokens in d.tokens and d.leat
  $ read_dataset d
  5 tokens of 2 bytes in 1 documents; ids below 257
  first tokens: 116 101 120 116 256
  document 0 (a\x1b]0;title\x07\u009bb#0): tokens 0 to 5, from byte 0 of a\x1b]0;title\x07\u009bb
