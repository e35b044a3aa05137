#!/bin/sh
# test_pack_csv.sh: CSV and TSV as inputs of leat pack: the same documents as the same records in JSON lines, with
# conditions, masks, conversations' and datasets' columns, compressed and from a pipe; columns that are missing; quotes
# that do not end; what is cut off; --resume and parts. tests/corpus/test_csv_python.py compares records with Python's.
. tests/cli/cli.sh
tiny=$build/tiny/leat

cat >same.jsonl <<'END'
{"id":"1","text":"a, \"b\"\nc","lang":"en","score":"3","mask":[[0,2]]}
{"id":"2","text":"","lang":"en","score":"","mask":[]}
{"id":"3","text":"\u00e9","lang":"de","score":"x","mask":[[0,1]]}
END
{
    printf '\357\273\277id,text,lang,score,mask\r\n1,"a, ""b""\nc",en,3,"[[0,2]]"\r\n\r\n2,,en,,[]\r\n'
    printf '3,\303\251,de,x,"[[0,1]]"'
} >same.csv
{
    printf 'id\ttext\tlang\tscore\tmask\n1\t"a, ""b""\nc"\ten\t3\t[[0,2]]\n2\t\ten\t\t[]\n'
    printf '3\t\303\251\tde\tx\t[[0,1]]\n'
} >same.tsv
gzip -c same.csv >same.csv.gz

same() { # OPTION...: the same tokens and masks from each
    run leat pack -t bytes -o json --force "$@" same.jsonl
    [ "$code" = 0 ] || fail "$ran: $(cat "$said")"
    for file in same.csv same.tsv same.csv.gz; do
        rm -f out.*
        run leat pack -t bytes -o out "$@" "$file"
        [ "$code" = 0 ] || fail "$ran: $(cat "$said")"
        for made in json.*tokens json.*mask*; do
            [ ! -e "$made" ] || cmp "$made" "out${made#json}" || fail "$ran: another ${made#json}"
        done
    done
    rm -f json.*
}
same --max-rejects 0
same --mask-field mask
same --by lang
same --keep 'lang = en'
same --keep 'score = "3"'
run leat pack -t bytes -o out --force same.csv
[ "$(leat find out --id 3 2>&1 | grep -c 'same.csv')" = 1 ] || fail "leat find: $(leat find out --id 3 2>&1)"

kept() { # CONDITION DOCUMENTS
    run leat pack -t bytes -o out --force --allow-empty --json --keep "$1" same.csv
    [ "$(grep -o '"documents": [0-9]*' "$printed" | head -n 1)" = "\"documents\": $2" ] ||
        fail "$ran: $(cat "$printed")"
}
kept 'score = 3' 1
kept 'score >= 2.5' 1
kept 'score != 4' 1 # an empty field is no number
kept 'score = 3.0' 1
kept 'score = "3.0"' 0
kept 'score exists' 2
kept 'score < "x"' 2

run leat pack -t bytes -o out --force --format csv - # which is /dev/null
says 0 'leat: warning: no document was found in 1 input'
leat pack -t bytes -o piped --format csv - <same.csv 2>"$said" || fail "from a pipe: $(cat "$said")"
run leat pack -t bytes -o out --force same.csv
cmp piped.tokens out.tokens || fail 'a pipe gives other tokens'
run leat pack -t bytes -o none --text body same.csv
says 1 'same.csv: no column "body" in the header; it has "id", "text", "lang", "score", "mask" (--text NAME)'
run leat pack -t bytes -o none --keep 'lan = en' same.csv
says 1 'same.csv: no column "lan" in the header; it has "id", "text", "lang", "score", "mask"; did you mean "lang"?'
mkdir folder
cp same.csv folder
cp same.jsonl folder/z.jsonl
run leat pack -t bytes -o out --force --json folder
[ "$(grep -o '"documents": [0-9]*' "$printed" | head -n 1)" = '"documents": 6' ] || fail "$ran: $(cat "$printed")"
iconv -f UTF-8 -t UTF-16 same.tsv >wide.tsv
run leat pack -t bytes -o none wide.tsv
says 1 'wide.tsv is text in UTF-16: convert it to UTF-8 first'
: >empty.csv
run leat pack -t bytes -o out --force --allow-empty empty.csv
[ "$code" = 0 ] || fail "$ran: $(cat "$said")"

# ---- Quotes that do not end, and what is cut off ---------------------------------------------------------------------

reasons() { # the lines of the rejects, with their reasons
    sed 's/.*"line":\([0-9]*\),"reason":"\([^"]*\)".*/\1 \2/' "$1.rejects.jsonl"
}
{ printf 'text,n\n"stray,1\n' && awk 'BEGIN { for (i = 0; i < 9000; i++) print "a line of text," i }'; } >stray.csv
run "$tiny" pack -t bytes -o stray --max-rejects 1 --json stray.csv
[ "$(grep -o '"documents": [0-9]*' "$printed" | head -n 1)" = '"documents": 9000' ] || fail "$ran: $(cat "$printed")"
[ "$(reasons stray)" = '2 a quote in the record does not end within 4 MiB' ] || fail "$ran: $(cat stray.rejects.jsonl)"
# so large that it cannot be read, in one line and in several fields; the next record is whole
awk 'BEGIN { printf "text,n\n"; for (i = 0; i < 40000; i++) printf "x"; print ",1"
    for (k = 0; k < 2; k++) { printf "\""; for (i = 0; i < 12000; i++) printf "y\n"; printf k ? "\"\n" : "\"," }
    print "z,2" }' >long.csv
run "$tiny" pack -t bytes -o long --max-rejects 2 --json long.csv
[ "$(grep -o '"documents": [0-9]*' "$printed" | head -n 1)" = '"documents": 1' ] || fail "$ran: $(cat "$printed")"
reason='the record has more than 4 MiB, which is too long for one of CSV or TSV'
[ "$(reasons long)" = "2 $reason
3 $reason" ] || fail "$ran: $(reasons long | cut -c1-60 | head -n 5)"
printf 'text,n\na,1\n"b\n' >cut.csv
run leat pack -t bytes -o cut --max-rejects 1 cut.csv
says 1 'cut.csv, at byte 14: it ends in the middle of a quoted field, in the record that begins at byte 11'
[ "$(reasons cut)" = '3 the input ends in the record' ] || fail "$ran: $(cat cut.rejects.jsonl)"

# ---- Resumed ---------------------------------------------------------------------------------------------------------

awk 'BEGIN { print "text,id"; for (i = 0; i < 30000; i++) {
    if (i % 10000 == 9999) print "\"broken\"x,1"; printf "\"text, %d\n\"\"\",i%d\n", i, i } }' >many.csv
gzip -c many.csv >many.csv.gz
for file in many.csv many.csv.gz; do
    run "$tiny" pack -t bytes -o whole --force --threads 2 --max-rejects 9 "$file"
    [ "$code" = 0 ] || fail "$ran: $(cat "$said")"
    run "$tiny" pack -t bytes -o again --force --threads 2 --max-rejects 1 "$file"
    says 4 '--resume'
    [ -s again.partial.checkpoint ] || fail "$ran: no checkpoint: $(ls)"
    run "$tiny" pack -t bytes -o again --resume --threads 1 --max-rejects 9 "$file"
    [ "$code" = 0 ] || fail "$ran: $(cat "$said")"
    for end in tokens leat rejects.jsonl; do
        cmp "whole.$end" "again.$end" || fail "$file: another .$end after --resume"
    done
    rm again.*
done

finish
