#!/bin/sh
# test_pack_repeated.sh: an input that is named more than once (by another path, in a folder and alone, in a list, by a
# link) is packed as often, with one warning on stderr, also in --dry-run and --json; copies are no repeats.
#
# Once it was packed again in silence.
. tests/cli/cli.sh
warns() { # ARGUMENT...: packs so, and warns
    wanted=$1
    shift
    for way in --json --dry-run '--part 1/2'; do
        # shellcheck disable=SC2086
        run leat pack -t bytes -o out --force $way "$@"
        [ "$(grep -c warning "$said")" = 1 ] || fail "$ran: $(cat "$said")"
        says 0 "leat: warning: $wanted"
        ! grep -q warning "$printed" || fail "$ran: prints $(cat "$printed")"
    done
    run leat pack -t bytes -o out --force "$@"
}

mkdir in
echo '{"text":"abc"}' >in/a.jsonl
echo '{"text":"abc"}' >in/b.jsonl
printf 'in/a.jsonl\n./in/a.jsonl\n' >list
run leat pack -t bytes -o out --force in
ended 0 ''
warns '2 inputs repeat earlier ones, the first is ./in/a.jsonl: their documents' \
    in/a.jsonl ./in/a.jsonl "$PWD/in/a.jsonl"
grep -q 'from 3 inputs' "$printed" || fail "packed: $(cat "$printed")"
warns 'in/b.jsonl repeats an earlier input: its documents' in in/b.jsonl
warns './in/a.jsonl repeats an earlier input: its documents' @list
warns '2 inputs repeat earlier ones, the first is in/a.jsonl: their documents' in in
ln -s a.jsonl in/c.jsonl
warns 'in/c.jsonl repeats an earlier input: its documents' in

# a run in a folder: where it is planned, not by each part
run leat pack --run r --parts 2 -t bytes in/a.jsonl in/a.jsonl
says 0 'leat: warning: in/a.jsonl repeats an earlier input: its documents are packed twice'
run leat pack --run r --part 1
ended 0 ''
finish
