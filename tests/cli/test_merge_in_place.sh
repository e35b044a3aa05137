#!/bin/sh
# test_merge_in_place.sh: leat merge --in-place gives the bytes of one run, and touches nothing that is in its way: a
# file that an earlier joining left, an output that is there, or a run that another joining is not of.
. tests/cli/cli.sh

for i in 1 2 3 4 5 6 7 8 9; do echo "{\"text\":\"document $i\"}"; done >in.jsonl
leat pack -o whole -t bytes in.jsonl in.jsonl >"$printed" || fail 'cannot pack'
for run in run other; do
    leat pack --run $run --parts 2 -t bytes in.jsonl in.jsonl >"$printed" || fail 'cannot plan'
    for part in 1 2; do
        leat pack --run $run --part $part >"$printed" || fail "cannot pack part $part"
    done
done
sums() {
    cksum run/part-*.leat run/part-*.tokens other/part-*.leat other/part-*.tokens run/leat-run other/leat-run
}
sums >before

cp run/part-1.tokens run/part-2.tokens.joining
run leat merge --in-place -o joined run
says 1 'an earlier joining has left a file .tokens.joining beside it'
rm run/part-2.tokens.joining
echo mine >joined.joining.tokens
run leat merge --in-place -o joined run
says 1 'joined.joining.tokens exists, of an earlier joining'
rm joined.joining.tokens
echo "tokens 1 $(pwd -P)/run/part-1.tokens" >joined.joining
run leat merge --in-place -o joined other
says 1 'joined.joining is the plan to join other parts: name the parts with'
run leat merge --in-place -o joined run
says 3 'joined.joining, the plan of a joining, is damaged: keep'
: >joined.joining
run leat merge --in-place -o joined run
says 1 'joined.joining is the plan to join other parts: name the parts with'
rm joined.joining
lines=$(printf 'of\nlines')
mkdir "$lines"
cp run/* "$lines"
run leat merge --in-place -o joined "$lines"
says 1 'cannot be joined in place: its name, or that of a folder that it is in, has a line break; merge without that'
cd "$lines" || exit 1
run leat merge --in-place -o joined part-1 part-2 # once an index was left beside them
says 1 'part-1 cannot be joined in place: its name, or that of a folder that it is in, has a line break'
[ "$(ls)" = "$(ls ../run)" ] || fail "$ran: left $(ls)"
cd .. || exit 1
sums | cmp -s - before || fail 'something was changed'

run leat merge --in-place -o joined run
[ "$code" -eq 0 ] || fail "$ran: $(cat "$said")"
grep -q ' from 2 parts, ' "$printed" || fail "$ran: printed $(cat "$printed")" # "from 1 part" once
for suffix in leat tokens; do
    cmp -s joined.$suffix whole.$suffix || fail "other bytes in joined.$suffix"
done
for file in part-1.tokens part-2.tokens part-1.leat leat-run; do
    [ ! -e run/$file ] || fail "run/$file is still there"
done
run leat merge --in-place -o joined other
says 1 'joined.leat already exists'

# the same again: that nothing says whether the output is made of this run makes it no success
run leat merge --in-place -o joined run
ended 1 'leat: run is empty, and joined is finished: if its parts were joined into that, nothing is left to do'
run leat merge --in-place -o another run
says 1 'the folder run holds no dataset'
finish
