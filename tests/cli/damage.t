damage.t: every command that opens a dataset ends with code 3 if it is damaged, and names it.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_numbered sound

The index has a changed byte in its header or in a section, or is cut off; the token file is cut off, or a byte of it is
changed, which a command finds that reads these tokens.

  $ for kind in header section index cut tokens; do copy_dataset sound $kind; done
  $ overwrite header.leat 40 '~'
  $ spoil_section section.leat 1 $((8 * 200))
  $ head -c $(($(wc -c <sound.leat) - 1000)) sound.leat >index.leat
  $ head -c 20000 sound.tokens >cut.tokens
  $ overwrite tokens.tokens 10001 '~'

This shows the code of a command, whose dataset is DATA, for each of these and for the sound dataset.

  $ codes() { # COMMAND...
  >     for kind in sound header section index cut tokens; do
  >         leat $(echo "$*" | sed "s/DATA/$kind/g") >out 2>err
  >         code=$?
  >         [ $code -ne 3 ] || grep -q "$kind" err || echo "$kind is not named: $(cat err)"
  >         echo $code
  >     done | paste -sd ' '
  > }
  $ codes info DATA
  0 3 3 3 3 0
  $ codes info --json DATA
  0 3 3 3 3 0
  $ printf 'x' >values
  $ codes attach DATA --column n:u8 values
  2 3 2 3 3 2
  $ codes verify DATA
  0 3 3 3 3 3
  $ codes verify --json DATA
  0 3 3 3 3 3
  $ codes cat DATA --tokens 4000:6000
  0 3 3 3 3 3
  $ codes cat DATA --document 150:300
  0 3 3 3 3 3
  $ codes cat DATA --document 150:300 --ids
  0 3 3 3 3 3
  $ codes find DATA --document 3
  0 3 0 3 3 0
  $ codes find DATA --token 4500
  0 3 3 3 3 0
  $ codes order --source DATA --seq-len 64
  0 3 3 3 3 0
  $ codes order --source DATA --seq-len 64 --order sequential --count 1000
  0 3 3 3 3 0
  $ codes order --source DATA --seq-len 64 --order fit
  0 3 3 3 3 0
  $ codes fit DATA
  0 3 3 3 3 0
  $ codes fit --report DATA --seq-len 64
  0 3 3 3 3 0
  $ codes trace --source DATA --seq-len 64 --samples 0:1
  0 3 3 3 3 0
  $ codes trace --source DATA --seq-len 64 --order sequential --samples 0:200
  0 3 3 3 3 0
  $ codes show DATA --document 200
  0 3 3 3 3 3
  $ codes show DATA --tokens 4000:6000
  0 3 3 3 3 3
  $ codes show --source DATA --seq-len 2048 --order sequential --sample 2
  0 3 3 3 3 3
  $ codes merge --force -o out DATA
  0 3 3 3 3 3
  $ codes merge --force -o out sound DATA
  0 3 3 3 3 3
  $ codes export --force --to raw -o out DATA
  0 3 0 3 3 3

No server answers: the sound dataset cannot be pushed, either, for another reason.

  $ export AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_ENDPOINT_URL=http://127.0.0.1:1 AWS_REGION=x
  $ codes push DATA s3://bucket/bad
  1 3 3 3 3 1

An index beside the tokens of another tool may be cut, too.

  $ leat export --to megatron -o foreign sound >/dev/null
  $ cp foreign.bin part.bin
  $ for size in 33 100; do
  >     head -c $size foreign.idx >part.idx
  >     for command in adopt info 'cat --document 1 --ids'; do leat $command part || echo "[$?]"; done
  > done
  leat: part.idx has 33 bytes, but a Megatron index has at least 34; restore it from its source
  [3]
  leat: part.idx has 33 bytes, but a Megatron index has at least 34; restore it from its source
  [3]
  leat: part.idx has 33 bytes, but a Megatron index has at least 34; restore it from its source
  [3]
  leat: part.idx has 100 bytes, too few for the 500 sequences and 501 entries of the document index that its header says; restore it from its source
  [3]
  leat: part.idx has 100 bytes, too few for the 500 sequences and 501 entries of the document index that its header says; restore it from its source
  [3]
  leat: part.idx has 100 bytes, too few for the 500 sequences and 501 entries of the document index that its header says; restore it from its source
  [3]

Each command is here, but those that open no dataset.

  $ leat --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }' |
  >     while read -r command; do
  >         grep -qE "^  . codes $command |command in $command " "$TESTDIR/$TESTFILE" || echo $command
  >     done | paste -sd ' '
  pack encode decode import pull status bench
