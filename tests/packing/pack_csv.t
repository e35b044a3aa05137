pack_csv.t: CSV and TSV give the same documents as the same records in JSON lines, with conditions, masks, columns of
conversations and of datasets, compressed and from a pipe. Missing columns are refused, quotes that do not end and what
is cut off are told, and --resume gives the same bytes. tests/corpus/test_csv_python.py compares records with Python's.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ tiny=$LEAT_BUILD/tiny/leat
  $ cat >same.jsonl <<'END'
  > {"id":"1","text":"a, \"b\"\nc","lang":"en","score":"3","mask":[[0,2]]}
  > {"id":"2","text":"","lang":"en","score":"","mask":[]}
  > {"id":"3","text":"\u00e9","lang":"de","score":"x","mask":[[0,1]]}
  > END
  $ { printf '\357\273\277id,text,lang,score,mask\r\n1,"a, ""b""\nc",en,3,"[[0,2]]"\r\n\r\n2,,en,,[]\r\n'
  >     printf '3,\303\251,de,x,"[[0,1]]"'; } >same.csv
  $ { printf 'id\ttext\tlang\tscore\tmask\n1\t"a, ""b""\nc"\ten\t3\t[[0,2]]\n2\t\ten\t\t[]\n'
  >     printf '3\t\303\251\tde\tx\t[[0,1]]\n'; } >same.tsv
  $ gzip -c same.csv >same.csv.gz

Each of the four gives the same datasets.

  $ pack_each() { # OPTION...
  >     for input in same.jsonl same.csv same.tsv same.csv.gz; do
  >         rm -f out*
  >         leat pack -t bytes -o out "$@" $input >/dev/null
  >         identity $(ls out*.leat | sed 's/\.leat$//')
  >     done | sort | uniq -c
  > }
  $ pack_each --max-rejects 0
        4 f3aec811f890e19f3e05079fd84a0aaa
  $ pack_each --mask-field mask
        4 b06bd247bba781f31de3e315b94e5b22
  $ pack_each --by lang
        4 0dcdbd576be6907e11c5750a847d4aca
        4 34b88d1d8d67e0012fba12334b31a7f7
  $ pack_each --keep 'lang = en'
        4 34b88d1d8d67e0012fba12334b31a7f7
  $ pack_each --keep 'score = "3"'
        4 1b00c70d889d450471e909f4321d65f9
  $ leat pack -t bytes -o out --force same.csv >/dev/null
  $ leat find out --id 3
  document  2
  input     same.csv (#0)
  byte      72
  line      6
  id        3
  tokens    10:13 (3)

A condition on numbers takes fields that are numbers, which an empty one is not.

  $ while read -r condition; do
  >     echo "$condition: $(members documents leat pack -t bytes -o out --force --allow-empty --json \
  >         --keep "$condition" same.csv 2>&1)"
  > done <<'CONDITIONS'
  > score = 3
  > score >= 2.5
  > score != 4
  > score = 3.0
  > score = "3.0"
  > score exists
  > score < "x"
  > CONDITIONS
  score = 3: "documents": 1
  score >= 2.5: "documents": 1
  score != 4: "documents": 1
  score = 3.0: "documents": 1
  score = "3.0": leat: warning: no document is left: --keep left out 3 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings
  "documents": 0
  score exists: "documents": 2
  score < "x": "documents": 2

A pipe gives the same tokens; a folder may have several formats; an empty table may be packed.

  $ leat pack -t bytes -o out --force --format csv - </dev/null >/dev/null
  leat: warning: no document was found in 1 input
  $ leat pack -t bytes -o piped --format csv - <same.csv >/dev/null
  $ leat pack -t bytes -o out --force same.csv >/dev/null
  $ cmp piped.tokens out.tokens
  $ mkdir folder
  $ cp same.csv folder
  $ cp same.jsonl folder/z.jsonl
  $ members documents leat pack -t bytes -o out --force --json folder
  "documents": 6
  $ : >empty.csv
  $ leat pack -t bytes -o out --force --allow-empty empty.csv >/dev/null
  leat: warning: no document was found in 1 input
  $ leat pack -t bytes -o none --text body same.csv
  leat: same.csv: no column "body" in the header; it has "id", "text", "lang", "score", "mask" (--text NAME)
  [1]
  $ leat pack -t bytes -o none --keep 'lan = en' same.csv
  leat: same.csv: no column "lan" in the header; it has "id", "text", "lang", "score", "mask"; did you mean "lang"?
  [1]
  $ iconv -f UTF-8 -t UTF-16 same.tsv >wide.tsv
  $ leat pack -t bytes -o none wide.tsv
  leat: wide.tsv is text in UTF-16: convert it to UTF-8 first, with iconv for example (--allow-binary packs it all the same)
  [1]

A quote that does not end is one reject, and what follows its line is packed.

  $ rejects() { # NAME
  >     sed 's/.*"line":\([0-9]*\),"reason":"\([^"]*\)".*/\1 \2/' "$1.rejects.jsonl"
  > }
  $ { printf 'text,n\n"stray,1\n' && awk 'BEGIN { for (i = 0; i < 9000; i++) print "a line of text," i }'; } >stray.csv
  $ members documents "$tiny" pack -t bytes -o stray --max-rejects 1 --json stray.csv
  "documents": 9000
  $ rejects stray
  2 a quote in the record does not end within 4 MiB

A record may be so large that it cannot be read, in one line or in several fields; the next record is whole.

  $ awk 'BEGIN { printf "text,n\n"; for (i = 0; i < 40000; i++) printf "x"; print ",1"
  >     for (k = 0; k < 2; k++) { printf "\""; for (i = 0; i < 12000; i++) printf "y\n"; printf k ? "\"\n" : "\"," }
  >     print "z,2" }' >long.csv
  $ members documents "$tiny" pack -t bytes -o long --max-rejects 2 --json long.csv
  "documents": 1
  $ rejects long
  2 the record has more than 4 MiB, which is too long for one of CSV or TSV
  3 the record has more than 4 MiB, which is too long for one of CSV or TSV
  $ printf 'text,n\na,1\n"b\n' >cut.csv
  $ leat pack -t bytes -o cut --max-rejects 1 cut.csv >/dev/null
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.csv, at byte 14: it ends in the middle of a quoted field, in the record that begins at byte 11; what should follow is missing
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o cut --max-rejects 1 cut.csv
  [1]
  $ rejects cut
  3 the input ends in the record

A run that stopped for its rejects is resumed, by another number of threads.

  $ awk 'BEGIN { print "text,id"; for (i = 0; i < 30000; i++) {
  >     if (i % 10000 == 9999) print "\"broken\"x,1"; printf "\"text, %d\n\"\"\",i%d\n", i, i } }' >many.csv
  $ gzip -c many.csv >many.csv.gz
  $ for file in many.csv many.csv.gz; do
  >     "$tiny" pack -t bytes -o whole --force --threads 2 --max-rejects 9 $file >/dev/null
  >     "$tiny" pack -t bytes -o again --force --threads 2 --max-rejects 1 $file
  >     ls again.partial.checkpoint
  >     "$tiny" pack -t bytes -o again --resume --threads 1 --max-rejects 9 $file >/dev/null
  >     same whole again && cmp whole.rejects.jsonl again.rejects.jsonl && rm again.*
  > done
  leat: 2 of * records were rejected, more than allowed; again.rejects.jsonl lists them with the reasons, for example: the record is broken at byte 8: a quote there is neither doubled nor followed by the end of its field (glob)
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there; --force alone starts over: leat pack --resume --max-rejects 4 -t bytes -o again --force --threads 2 many.csv
  leat: to give it up, remove what it left: rm -r again.partial.* again.rejects.jsonl
  again.partial.checkpoint
  leat: 2 of * records were rejected, more than allowed; again.rejects.jsonl lists them with the reasons, for example: the record is broken at byte 8: a quote there is neither doubled nor followed by the end of its field (glob)
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there; --force alone starts over: leat pack --resume --max-rejects 4 -t bytes -o again --force --threads 2 many.csv.gz
  leat: to give it up, remove what it left: rm -r again.partial.* again.rejects.jsonl
  again.partial.checkpoint
