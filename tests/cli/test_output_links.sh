#!/bin/sh
# test_output_links.sh: what a command writes is a file of its user's: a symbolic or a hard link that somebody has put
# in its place, as in a folder that others write to, is refused, and what it leads to stays as it was. Pipes and devices
# are written to, also by a link to one.
#
# Pages were written through PAGE.html.partial, and traces and dumps of batches through the names that were given.
. tests/cli/cli.sh

loads='leat-bench load --source corpus --seq-len 8 --batch 1 --steps 2 --checksum'
seq 100 | sed 's/.*/{"text":"text &"}/' >in.jsonl
leat pack -t bytes -o corpus in.jsonl >"$printed" 2>&1 || fail "cannot pack"
leat-bench load --source corpus --seq-len 8 --batch 1 --steps 2 --json >load.json || fail "cannot load"

refuse_links() { # FILE WORD...: a command that writes this file
    file=$1
    shift
    for kind in '-s' ''; do
        echo mine >victim
        # shellcheck disable=SC2086 # no word
        ln $kind victim "$file"
        run "$@"
        [ "$code" -ne 0 ] || fail "$ran: writes through ln $kind"
        grep -qF "$file is a symbolic link, where leat writes a file" "$said" ||
            grep -qF "$file has a second name (a hard link)" "$said" || fail "$ran: said $(cat "$said")"
        [ "$(cat victim)" = mine ] || fail "$ran: wrote to what ln $kind leads to"
        rm "$file" victim
    done
    run "$@"
    [ "$code" -eq 0 ] || fail "$ran: exit code $code, $(cat "$said")"
    rm -f "${file%.partial}"
}

refuse_links page.html.partial leat show --html page.html --document 0 corpus
# shellcheck disable=SC2086 # several words
refuse_links trace.json $loads --trace trace.json
# shellcheck disable=SC2086 # several words
refuse_links dump $loads --dump dump

# ---- What is no file ------------------------------------------------------------------------------------------------

ln -s /dev/stdout out
leat show --html out --document 0 corpus | grep -q '^</html>$' || fail "no page through a link to standard output"
# shellcheck disable=SC2086 # several words
$loads --trace out | grep -q traceEvents || fail "no trace through a link to standard output"
finish
