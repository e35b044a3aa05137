#!/bin/sh
# test_interrupted.sh: SIGINT ends leat pack with code 130, SIGTERM and SIGUSR1 with code 5, and a sentence, while it
# waits for a pipe that says nothing: as standard input, or as a list. It ignored the first of them until the pipe was
# closed. In the middle of its work, of either pass, all three leave what --resume makes the bytes of one run of.
# While it still loads the tokenizer, SIGTERM and SIGUSR1 killed it, so that a scheduler counted it as failed. SIGINT
# ends leat merge, which leaves nothing new, and leat verify. A run of leat adopt that was killed goes on.
. tests/cli/cli.sh

# Runs leat in the background, with the silent pipe as standard input, and sends it a signal once it catches that, and
# some time later.
signal_later() { # SECONDS SIGNAL NUMBER ARGUMENT...
    later=$1 signal=$2 number=$3
    shift 3
    ran="leat $* (SIG$signal)"
    leat "$@" <silent >"$printed" 2>"$said" &
    pid=$!
    # until it is leat, no longer the shell, and catches the signal: bit n - 1 of a mask in hexadecimal
    caught=0
    while [ $((0x$caught >> (number - 1) & 1)) -eq 0 ] && kill -0 $pid; do
        [ "$(cat /proc/$pid/comm)" = leat ] && caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$pid/status)
    done
    [ "$later" = 0 ] || sleep "$later"
    kill -"$signal" $pid
    wait $pid
    code=$?
}

# When it waits for its input: the built-in tokenizer is there at once, on a machine that has the time.
interrupt() { # SIGNAL NUMBER ARGUMENT...
    stop=$1 bit=$2
    shift 2
    for wait in 0.2 1 5; do
        signal_later $wait "$stop" "$bit" pack -o out -t bytes "$@"
        grep -q 'before this run packed anything' "$said" || break
    done
    expected_code=5
    [ "$signal" != INT ] || expected_code=130
    ended $expected_code 'leat: interrupted after 0 tokens in 0 documents'
    [ ! -s "$printed" ] || fail "$ran: printed $(cat "$printed")"
}

if [ ! -r /proc/self/status ]; then
    echo "skipped: no /proc" >&2
    exit 77
fi
early=
mkfifo silent list
exec 9<>silent 8<>list # keeps both open for writing
for _ in 1 2 3 4 5 6 7 8 9 10; do # this shell may be too late for what it is to see
    signal_later 0 USR1 10 pack -o out -t gpt2 -
    ! grep -q 'after 0 tokens in 0 documents' "$said" || continue
    ended 5 'leat: interrupted before this run packed anything'
    early=1
    break
done
[ "$early" = 1 ] || fail "no run was signalled while it loaded the tokenizer"
interrupt INT 2 -
interrupt TERM 15 -
interrupt INT 2 --format text -
interrupt TERM 15 --shuffle 1 -
interrupt USR1 10 -
printf 'some' >&9
interrupt INT 2 -
interrupt TERM 15 @list
printf 'a.txt\nb' >&8
printf 'a text' >a.txt
interrupt INT 2 @list
[ "$(ls)" = 'a.txt
list
silent' ] || fail "these are left: $(ls)"

# ---- In the middle --------------------------------------------------------------------------------------------------

awk 'BEGIN { for (; i < 150000; i++) printf "{\"text\":\"a wheel, a mill, line %d\",\"by\":\"%d\"}\n", i, i % 3 }' \
    >big.jsonl
# Signals a run when this file is there; then resumes it. One that was at its end by then is made again, a few
# times.
stop_at() { # FILE SIGNAL OUTPUT ARGUMENT...
    file=$1 signal=$2 output=$3
    shift 3
    ran="leat pack -o $output $* (SIG$signal)"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -f "$output".*
        leat pack -o "$output" "$@" big.jsonl >"$printed" 2>"$said" &
        pid=$!
        while [ ! -e "$file" ] && kill -0 $pid 2>/dev/null; do :; done
        kill -"$signal" $pid 2>/dev/null
        wait $pid
        code=$?
        [ "$code" -eq 0 ] || break
    done
    if [ "$code" -ne 0 ]; then
        says 5 'leat: nothing is lost: the same command with --resume continues from there'
        stopped="$stopped $file"
    fi
    run leat pack -o "$output" "$@" --resume big.jsonl
    ended 0 ''
    if [ "$code" -ne 0 ] && grep -q 'B/s of text' "$printed"; then # which did not fit the text of all runs beside it
        grep -q ' for the .* that this run packed itself; memory' "$printed" || fail "a rate of what? $(cat "$printed")"
    fi
}
stopped=
leat pack -o whole -t gpt2 big.jsonl >"$printed" || fail "cannot pack"
leat pack -o all -t gpt2 --by by big.jsonl >"$printed" || fail "cannot pack"
stop_at out.partial.tokens USR1 out -t gpt2 --threads 1
same() { # NAME AS
    cmp "$1.tokens" "$2.tokens" || fail "$ran: other tokens"
    cmp "$1.leat" "$2.leat" || fail "$ran: another index"
}
same out whole
for file in of.partial.packed/all.partial.tokens of.partial.by; do # packing, and dividing
    stop_at $file TERM of -t gpt2 --by by --threads 1
    for value in 0 1 2; do
        same of.$value all.$value
    done
    rm of.*
done
for file in out.partial.tokens of.partial.packed/all.partial.tokens; do
    case $stopped in
    *" $file"*) ;;
    *) fail "no run was stopped at $file" ;;
    esac
done

# ---- Merging and verifying ------------------------------------------------------------------------------------------

leat-bench-dev sparse -o huge --documents 1 --tokens 1G >/dev/null
printf 'x\n' >small.txt
write_bytes small small.txt >/dev/null
copy_dataset small kept
for command in 'merge -o new huge huge' 'merge --force -o kept huge' 'verify huge --threads 1'; do
    # shellcheck disable=SC2086 # words
    signal_later 0 INT 2 $command
    ended 130 'leat: interrupted'
    [ ! -s "$printed" ] || fail "$ran: printed $(cat "$printed")"
done
[ "$(echo new* kept*)" = 'new* kept.leat kept.tokens' ] || fail "$ran: left $(echo new* kept*)"
same kept small

# ---- Adopting, killed -----------------------------------------------------------------------------------------------

leat export --to raw --dtype u32 -o once whole >/dev/null
cat once once once once once once >many
run leat adopt 'raw:many?dtype=u32&end=50256' -o adopted
ended 0 ''
# each time half as late again, until one comes to its end before that: all that a run does is met, on any machine
turns=200 kills=0
while :; do
    leat adopt 'raw:many?dtype=u32&end=50256' -o killed --force >/dev/null 2>&1 &
    pid=$! turn=0
    while [ $turn -lt $turns ]; do turn=$((turn + 1)); done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? -eq 137 ] || break
    turns=$((turns * 3 / 2)) kills=$((kills + 1))
done
[ $kills -gt 0 ] || fail 'nothing was killed'
run leat adopt 'raw:many?dtype=u32&end=50256' -o killed --force
ended 0 ''
cmp -s killed.leat adopted.leat || fail 'a run that was killed and went on has other bytes'
finish
