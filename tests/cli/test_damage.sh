#!/bin/sh
# test_damage.sh: every command that opens a dataset ends with code 3 if it is damaged: an index with a changed byte, or
# cut off; a token file that is cut off; and, where a command reads tokens, a changed byte of these. The sound dataset
# gets another code each time. A new command of leat needs a row here.
. tests/cli/cli.sh

write_numbered sound
bytes=$(wc -c <sound.leat)
damage() { # KIND: makes the dataset bad, a copy of sound
    rm -f bad.leat bad.tokens
    copy_dataset sound bad
    case $1 in
    sound) ;;
    header) overwrite bad.leat 40 '~' ;;
    section) spoil_section bad.leat 1 $((8 * 200)) ;;
    index) head -c $((bytes - 1000)) sound.leat >bad.leat ;;
    cut) head -c 20000 sound.tokens >bad.tokens ;;
    tokens) overwrite bad.tokens 10001 '~' ;;
    esac
}

# What a command must find, and the command; a command may have several rows. `-`: it opens no dataset.
cat >table <<'END'
pack -
encode -
decode -
import -
bench -
status -
pull -
info header,index,cut info bad
info header,index,cut info --json bad
verify header,section,index,cut,tokens verify bad
verify header,section,index,cut,tokens verify --json bad
cat header,index,cut,tokens cat bad --tokens 4000:6000
cat header,section,index,cut,tokens cat bad --document 150:300
cat header,section,index,cut,tokens cat bad --document 150:300 --ids
find header,index,cut find bad --document 3
find header,section,index,cut find bad --token 4500
order header,index,cut order --source bad --seq-len 64
order header,section,index,cut order --source bad --seq-len 64 --order sequential --count 1000
order header,section,index,cut order --source bad --seq-len 64 --order fit
fit header,section,index,cut fit bad
fit header,section,index,cut fit --report bad --seq-len 64
trace header,index,cut trace --source bad --seq-len 64 --samples 0:1
trace header,section,index,cut trace --source bad --seq-len 64 --order sequential --samples 0:200
show header,section,index,cut,tokens show bad --document 200
show header,index,cut,tokens show bad --tokens 4000:6000
show header,index,cut,tokens show --source bad --seq-len 2048 --order sequential --sample 2
merge header,section,index,cut,tokens merge --force -o out bad
merge header,section,index,cut,tokens merge --force -o out sound bad
export header,index,cut,tokens export --force --to raw -o out bad
push header,index,cut push bad s3://bucket/bad
END
export AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_ENDPOINT_URL=http://127.0.0.1:1 AWS_REGION=x

for command in $(leat --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }'); do
    grep -q "^$command " table || [ "$command" = adopt ] || fail "leat $command has no row here"
done
for kind in sound header section index cut tokens; do
    damage $kind
    while read -r name finds command; do
        case $kind,$name,$finds in
        *,-) continue ;;
        sound,push,*) wanted=1 ;; # no server answers
        sound,*) wanted=0 ;;
        *) case ,$finds, in *,$kind,*) wanted=3 ;; *) continue ;; esac ;;
        esac
        # words
        # shellcheck disable=SC2086
        run leat $command
        [ "$code" -eq "$wanted" ] || fail "$kind: $ran: exit code $code, not $wanted; it said: $(cat "$said")"
        [ "$wanted" -ne 3 ] || grep -q bad "$said" || fail "$kind: $ran does not name it: $(cat "$said")"
    done <table
done

# an index beside the tokens of another tool
leat export --to megatron -o foreign sound >/dev/null || fail "no files of Megatron"
for size in 33 100; do
    head -c $size foreign.idx >cut.idx
    cp foreign.bin cut.bin
    for command in 'adopt cut' 'info cut' 'cat cut --document 1 --ids'; do
        # words
        # shellcheck disable=SC2086
        run leat $command
        [ "$code" -eq 3 ] || fail "leat $command of $size bytes of an index: exit code $code: $(cat "$said")"
    done
done
finish
