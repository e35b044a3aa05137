#!/bin/sh
# test_pack_resumed.sh: what leat pack --resume makes of a run that had ended, and of what arranged runs leave. An input
# that was cut off or broken is told again, with the same exit code, also after shuffling, dividing and merging; once
# `leat pack --resume` made a success of it. What is packed to be arranged lies in a folder that nobody opens, and
# takes no dataset's name: once it replaced a dataset called OUTPUT.packed without --force.
. tests/cli/cli.sh

awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"text\":\"number %d\",\"v\":%d}\n", i, i % 2 }' >in.jsonl
{ gzip -c in.jsonl >one.jsonl.gz && zstd -q in.jsonl -o one.jsonl.zst; } || {
    echo "skipped: no gzip, or no zstd" >&2
    exit 77
}
{ cat one.jsonl.zst && head -c 200 one.jsonl.zst; } >cut.jsonl.zst
cp one.jsonl.gz broken.jsonl.gz
printf 'XXXXXXXXXXXX' | dd of=broken.jsonl.gz bs=1 seek=700 conv=notrunc 2>/dev/null

key() { # all values of a key in the JSON that was printed
    grep -o "\"$1\": [^,}]*" "$printed" | sed 's/.*: //' | tr '\n' ' '
}

# ---- Cut off, and resumed --------------------------------------------------------------------------------------------

# words
# shellcheck disable=SC2086
for options in '' '--shuffle 3' '--by v' '--split a=0.5'; do
    set -- -t bytes -o out $options --max-rejects 99
    run leat pack "$@" --json in.jsonl cut.jsonl.zst
    says 1 'cut.jsonl.zst'
    rejected=$(key rejected) tokens=$(key tokens)
    run leat pack "$@" --json --resume in.jsonl cut.jsonl.zst
    says 1 'leat: 1 input was cut off or broken, and packed as far as it was readable: '
    [ "$(key was_finished)$(key truncated_inputs)$(key rejected)$(key tokens)" = "true 1 $rejected$tokens" ] ||
        fail "$ran: $(cat "$printed")"
    run leat pack "$@" --allow-truncated --resume in.jsonl cut.jsonl.zst
    says 0 'leat: warning: 1 input was cut off or broken'
    says 0 'as far as it was readable: cut.jsonl.zst, at byte '
    says 0 ': it ends in the middle of a zstd frame; what should follow is missing'
    rm -r out.*
done
# stopped when all is packed and not yet arranged: the input that was cut off once counted as another one
mkdir out.partial.packed
run leat pack -t bytes -o out.partial.packed/all --max-rejects 99 in.jsonl broken.jsonl.gz
run leat pack -t bytes -o out --shuffle 3 --max-rejects 99 --resume in.jsonl broken.jsonl.gz
says 1 'leat: 1 input was cut off or broken'
run leat pack -t bytes -o at.once --shuffle 3 --max-rejects 99 in.jsonl broken.jsonl.gz
cmp out.leat at.once.leat || fail "resumed after packing: another index"
rm out.* at.once.*
# what was read ends before the file, which the dataset says: it is the same one if it is as long; that was refused
run leat pack -t bytes -o out --max-rejects 99 in.jsonl broken.jsonl.gz
run leat pack -t bytes -o out --max-rejects 99 --resume --allow-truncated in.jsonl broken.jsonl.gz
says 0 'leat: warning: 1 input was cut off or broken, and packed as far as it was readable: broken.jsonl.gz, at byte '
cat one.jsonl.gz one.jsonl.gz >broken.jsonl.gz
run leat pack -t bytes -o out --max-rejects 99 --resume --allow-truncated in.jsonl broken.jsonl.gz
says 1 'leat: out.leat already exists, packed from inputs that were cut off or broken: if these are whole now, replace'
rm out.*

# the number of inputs, which was 0 for --split and --by
for options in '' '--split v=0.5' '--by v' '--shuffle 1'; do
    printf '{"text":"a","v":"x"}\n{"text":"b","v":"y"}\n' | tee also.jsonl >two.jsonl
    for more in '' --resume; do
        # shellcheck disable=SC2086 # words
        run leat pack -t bytes -o many --json $options $more two.jsonl also.jsonl
        ended 0 ''
        grep -q '"inputs": 2, ' "$printed" || fail "$ran: $(cat "$printed")"
    done
    rm many*
done

# parts of which one has the damage give what one run gives
run leat pack -t bytes -o whole --max-rejects 99 --allow-truncated in.jsonl cut.jsonl.zst in.jsonl
for part in 1 2 3; do
    run leat pack -t bytes -o "part.$part" --part $part/3 --max-rejects 99 --allow-truncated in.jsonl cut.jsonl.zst \
        in.jsonl
done
run leat merge -o joined part.1 part.2 part.3
cmp whole.leat joined.leat || fail 'parts, one of them with a damaged input: another index than of one run'
run leat info joined
grep -q 'cut.jsonl.zst, at byte .*: it ends in the middle of a zstd frame; ' "$printed" ||
    fail "$ran: $(cat "$printed")"
run leat pack -t bytes -o sound in.jsonl
run leat info sound
grep -q 'damaged' "$printed" && fail "$ran: $(cat "$printed")"

# ---- Where nothing can be written -----------------------------------------------------------------------------------

read_only() { # COMMAND...: with the folder fixed read-only
    ran="$* (read-only)"
    if [ "$(id -u)" -eq 0 ]; then # whom modes do not stop
        # shellcheck disable=SC2016 # of the inner shell
        unshare -m sh -c 'mount --bind fixed fixed && mount -o remount,ro,bind fixed && "$@"' sh "$@"
    else
        chmod 555 fixed && "$@"
    fi >"$printed" 2>"$said"
    code=$?
    chmod 755 fixed
}
mkdir fixed
if [ "$(id -u)" -ne 0 ] || unshare -m mount --bind fixed fixed 2>/dev/null; then
    # words
    # shellcheck disable=SC2086
    for options in '' '--shuffle 3' '--by v' '--split a=0.5'; do
        leat pack -t bytes -o fixed/out $options in.jsonl >"$printed" || fail "cannot pack $options"
        read_only leat pack -t bytes -o fixed/out $options --resume --json in.jsonl
        ended 0 ''
        [ "$(key was_finished)" = 'true ' ] || fail "$ran: $(cat "$printed")"
        read_only leat pack -t bytes -o fixed/out $options --resume one.jsonl.gz # of another run
        [ "$code" -eq 1 ] || fail "$ran: exit code $code"
        rm fixed/*
    done
    leat pack --run fixed --parts 1 -t bytes in.jsonl >"$printed" || fail 'cannot plan'
    leat pack --run fixed --part 1 >"$printed" || fail 'cannot pack a part'
    read_only leat pack --run fixed --part 1 --resume --json
    ended 0 ''
    [ "$(key was_finished)" = 'true ' ] || fail "$ran: $(cat "$printed")"
else
    echo "no mount of its own could be had: a read-only one was not tried" >&2
fi

# ---- Another process took over --------------------------------------------------------------------------------------

# the lock file of a run that waits for its input is removed, and another run leaves a checkpoint: the first one, which
# finds out, once removed what that one needs to be resumed
mkfifo pipe
{ cat in.jsonl && printf '{"no": 1}\n{"no": 2}\n{"no": 3}\n'; } >rejected.jsonl
leat pack -t bytes -o lock --format jsonl - <pipe >first.out 2>first.said &
exec 3>pipe
cat in.jsonl >&3
until [ -e lock.partial.tokens ]; do :; done # which it makes once it has the lock
rm lock.partial.lock
run leat pack -t bytes -o lock --max-rejects 1 --force rejected.jsonl
says 4 'nothing is lost'
exec 3>&-
wait $!
grep -qF 'its lock file lock.partial.lock was removed while this process was writing' first.said ||
    fail "the first one said $(cat first.said)"
run leat pack -t bytes -o lock --max-rejects 9 --resume rejected.jsonl
ended 0 ''
run leat verify lock
ended 0 ''

# ---- What is packed first --------------------------------------------------------------------------------------------

run leat pack -t bytes -o mine.packed in.jsonl
copy_dataset mine.packed kept
run leat pack -t bytes -o mine --shuffle 1 one.jsonl.gz
ended 0 ''
cmp mine.packed.leat kept.leat || fail "$ran: mine.packed is gone"

# A run in two passes that was killed before its first checkpoint left its folder beside the finished dataset for good.
mkdir early.partial.packed
printf 'left by a killed run' >early.partial.packed/all.partial.tokens
run flock early.partial.packed/all.partial.lock leat pack -t bytes -o early in.jsonl
ended 0 ''
[ -e early.partial.packed/all.partial.tokens ] || fail "$ran: removed what another process writes"
rm early.leat early.tokens
run leat pack -t bytes -o early in.jsonl
ended 0 ''
[ "$(echo early.*)" = 'early.leat early.tokens' ] || fail "$ran: left $(echo early.*)"
mkdir early.partial.packed
echo mine >early.partial.packed/all.partial.checkpoint
run leat pack -t bytes -o early --resume in.jsonl
ended 0 ''
[ -e early.partial.packed/all.partial.checkpoint ] || fail "$ran: removed a checkpoint"
rm -r early.*

mkdir left left/out.partial.packed
run leat pack -t bytes -o left/out.partial.packed/all in.jsonl
run leat info left
[ "$code" -ne 0 ] || fail "$ran: what is not shuffled yet opens: $(cat "$printed")"
run leat pack -t bytes -o left/out --shuffle 1 in.jsonl
says 1 'the earlier run of left/out has not ended: resume it, or start over (--resume or --force)'
run leat pack -t bytes -o left/out --shuffle 1 --resume one.jsonl.gz
says 1 'the earlier run of left/out had other inputs or options: give the same ones, or start over (--force)'
run leat pack -t bytes -o left/out --shuffle 1 --resume in.jsonl
ended 0 ''
[ "$(echo left/*)" = 'left/out.leat left/out.tokens' ] || fail "$ran: left $(echo left/*)"
mkdir left/out.partial.packed
copy_dataset sound left/out.partial.packed/all
run leat pack -t bytes -o left/out --shuffle 1 --force one.jsonl.gz
ended 0 ''
[ "$(echo left/*)" = 'left/out.leat left/out.tokens' ] || fail "$ran: left $(echo left/*)"

# sentences are about the output that was given, not about what is packed first, which once was what they named
{ cat in.jsonl && echo broken && echo broken; } >bad.jsonl
for options in --dedup '--by v'; do
    # words
    # shellcheck disable=SC2086
    {
        run leat pack -t bytes -o said $options --max-rejects 1 bad.jsonl
        says 4 'nothing is lost'
        run leat pack -t bytes -o said $options --max-rejects 9 bad.jsonl
        ended 1 'leat: the earlier run of said has not ended: resume it, or start over (--resume or --force)'
        run leat pack -t bytes -o said $options --max-rejects 9 --resume --text body bad.jsonl
        says 1 'leat: the earlier run of said differs: that one had "text-field text", this one has "text-field body"; '
        run leat pack -t bytes -o said $options --max-rejects 9 --resume in.jsonl bad.jsonl
        says 1 'the inputs are not those of the earlier run of said: new: in.jsonl; give the same ones or start'
        for how in --resume --force; do
            run flock said.partial.packed/all.partial.lock leat pack -t bytes -o said $options $how bad.jsonl
            says 1 'leat: said is being written already, by another process or another call of this one: wait for '
        done
        run leat pack -t bytes -o said $options --max-rejects 9 --resume bad.jsonl
        ended 0 ''
        run leat pack -t bytes -o said $options --max-rejects 9 bad.jsonl # this is about another dataset
        says 1 ' already exists; choose another name or replace it (--force)'
        rm said.*
    }
done

# a stopped run that replaces the dataset is not taken for one that made it
run leat pack -t bytes -o over in.jsonl
copy_dataset over kept
run leat pack -t bytes -o over --force --max-rejects 0 bad.jsonl
says 4 'nothing is lost'
run leat pack -t bytes -o over --max-rejects 9 --resume bad.jsonl
ended 1 "leat: over.leat exists, and a run that replaces it has stopped at a checkpoint: to resume that run, ask \
again to replace the dataset (--force)"
{ cmp over.leat kept.leat && cmp over.tokens kept.tokens; } || fail "$ran: changed the dataset"
run leat pack -t bytes -o over --max-rejects 9 --resume --force bad.jsonl
ended 0 ''
[ "$(echo over.*)" = 'over.leat over.rejects.jsonl over.tokens' ] || fail "$ran: left $(echo over.*)"

# what is somebody else's stays
mkdir left/out.partial.packed
echo mine >left/out.partial.packed/notes
run leat pack -t bytes -o left/out --shuffle 1 --force in.jsonl
ended 0 ''
run leat pack -t bytes -o left/out --force in.jsonl
[ "$(cat left/out.partial.packed/notes)" = mine ] || fail "$ran: removed a file that it had not made"
rm -r left/out.partial.packed

# a link in its place is not followed
mkdir elsewhere
copy_dataset sound elsewhere/all
ln -s "$PWD/elsewhere" left/out.partial.packed
run leat pack -t bytes -o left/out --shuffle 1 --force in.jsonl
says 1 'left/out.partial.packed is not a folder, but leat needs a folder of that name: remove it, or choose another'
run leat pack -t bytes -o left/out --force in.jsonl
[ "$(echo elsewhere/*)" = 'elsewhere/all.leat elsewhere/all.tokens' ] || fail "$ran: left $(echo elsewhere/*)"
finish
