pack_read_only.t: a finished run needs to write nothing: --resume is a success in a folder that is read-only, too.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ mkdir fixed
  $ [ "$(id -u)" -ne 0 ] || unshare -m mount --bind fixed fixed 2>/dev/null || exit 80
  $ awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"text\":\"number %d\",\"v\":%d}\n", i, i % 2 }' >in.jsonl
  $ echo '{"text":"other"}' >other.jsonl
  $ read_only() { # COMMAND...: root is not stopped by modes
  >     if [ "$(id -u)" -eq 0 ]; then
  >         unshare -m sh -c 'mount --bind fixed fixed && mount -o remount,ro,bind fixed && "$@"' sh "$@"
  >     else
  >         chmod 555 fixed
  >         "$@"
  >         set -- $?
  >         chmod 755 fixed
  >         return $1
  >     fi
  > }
  $ for options in '' '--shuffle 3' '--by v' '--split a=0.5'; do
  >     leat pack -t bytes -o fixed/out $options in.jsonl >/dev/null
  >     members was_finished read_only leat pack -t bytes -o fixed/out $options --resume --json in.jsonl
  >     read_only leat pack -t bytes -o fixed/out $options --resume other.jsonl 2>/dev/null || echo "[$?]"
  >     rm fixed/*
  > done
  "was_finished": true
  [1]
  "was_finished": true
  [1]
  "was_finished": true
  [1]
  "was_finished": true
  [1]
  $ leat pack --run fixed --parts 1 -t bytes in.jsonl >/dev/null
  $ leat pack --run fixed --part 1 >/dev/null
  $ members was_finished read_only leat pack --run fixed --part 1 --resume --json
  "was_finished": true
