encode.t: leat encode and leat decode are each other's inverse, whichever way texts are given and ids are taken.

  $ printf 'Hello, world' >hello
  $ leat encode hello
  15496 11 995
  $ leat encode -t gpt2 hello
  15496 11 995
  $ leat encode -t cl100k_base hello
  9906 11 1917
  $ printf Hi | leat encode -t bytes -
  72 105
  $ leat encode -t gpt2 </dev/null
  
  $ echo 15496 11 995 | leat decode
  "Hello, world"
  $ printf ' 15496\t11  995 \r\n' | leat decode -t gpt2 -
  "Hello, world"
  $ echo | leat decode -t gpt2
  ""
  $ echo 97 | leat decode --raw -t bytes -
  a
  $ leat encode --help | grep 'leat encode -t'
    leat encode -t gpt2 README.md
    leat encode -t cl100k_base corpus.jsonl.zst >ids.txt
    printf 'Hello, world' | leat encode -t gpt2 | leat decode -t gpt2
  $ leat decode --help | grep -E 'leat decode -t|^Each text'
  Each text is printed as a JSON string on a line of its own; with --raw as it is.
    echo 15496 11 995 | leat decode -t gpt2
    leat cat corpus --document 7 --ids | leat decode -t gpt2 --raw

Strings of special tokens are text, unless asked for.

  $ printf 'a<|endoftext|>b' >special
  $ leat encode -t gpt2 special
  64 27 91 437 1659 5239 91 29 65
  $ leat encode -t gpt2 --special special | tee ids
  64 50256 65
  $ leat decode -t gpt2 ids
  "a<|endoftext|>b"

Bytes that are not UTF-8 are replaced, or refused with their place: that of a character that the end of the text cuts
off, too, however long the text before it.

  $ printf 'a\377b\303' >invalid
  $ leat encode -t bytes invalid
  97 239 191 189 98 239 191 189
  $ leat encode -t bytes --invalid-utf8=replace invalid
  97 239 191 189 98 239 191 189
  $ leat encode -t bytes --invalid-utf8 reject invalid
  leat: invalid: the text is not valid UTF-8 at byte 1
  [1]
  $ printf '{"text":"a"}\n{"text":"\377"}\n' >invalid.jsonl
  $ leat encode -t bytes --invalid-utf8 reject invalid.jsonl
  leat: invalid.jsonl, line 2: the text is not valid UTF-8 at byte 0
  97
  [1]
  $ { head -c 300000 /dev/zero | tr '\0' a; printf '\303'; } >long_invalid
  $ leat encode -t bytes --invalid-utf8 reject long_invalid >/dev/null
  leat: long_invalid: the text is not valid UTF-8 at byte 300000
  [1]
  $ echo 195 169 195 | leat decode -t bytes
  "\xc3\xa9\xef\xbf\xbd" (esc)
  $ printf '195 169 195\n0\n\n' | leat decode -t bytes --raw | od -An -c
   303 251 303  \n  \0  \n  \n

A line of JSON is unescaped exactly, and its last "text" taken.

  $ cat >lines.jsonl <<'END'
  > {"text":"plain"}
  >  { "id" : 7 , "text" : "blanks" , "z" : [ ] } 
  > {"text":"\"\\\/\b\f\n\r\t"}
  > {"text":"\u0000\u001F\u007f"}
  > {"text":"\u00e9\u20AC\uFFFF"}
  > {"text":"\ud83d\ude00\uD800\uDC00\udbff\udfff"}
  > {"text":"\ud800"}
  > {"text":"\ude00\ud83d x"}
  > {"text":"\ud83d\ud83d\ude00\\ude00"}
  > {"text":""}
  > {"text":"first","text":"last"}
  > {"te\u0078t":"an escaped name"}
  > {"texts":"a","tex":"b","text":"c","text ":"d","":"e"}
  > {"a":{"text":"inner"},"text":"outer","b":[{"text":"in an array"}]}
  > {"n":[0,-0,1.5,-2e9,1E+5,1e-5,12345678901234567890,true,false,null,[],{},""],"text":"x"}
  > END
  $ leat encode -t bytes lines.jsonl | leat decode -t bytes
  "plain"
  "blanks"
  "\"\\/\b\f\n\r\t"
  "\u0000\u001f\u007f"
  "\xc3\xa9\xe2\x82\xac\xef\xbf\xbf" (esc)
  "\xf0\x9f\x98\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" (esc)
  "\xef\xbf\xbd" (esc)
  "\xef\xbf\xbd\xef\xbf\xbd x" (esc)
  "\xef\xbf\xbd\xf0\x9f\x98\x80\\\\ude00" (esc)
  ""
  "last"
  "an escaped name"
  "c"
  "outer"
  "x"
  $ echo '{"meta":{"a":[{}],"body":{"text":"deep"},"body2":{}},"text":"no"}' |
  >     leat encode -t bytes --jsonl --text meta.body.text | leat decode -t bytes
  "deep"
  $ echo '{"meta":{"text":"x"},"meta.text":"no"}' | leat encode -t bytes --jsonl --text meta.text | leat decode -t bytes
  "x"
  $ echo '{"a":{"b":"1"},"a":{"b":"2"}}' | leat encode -t bytes --jsonl --text a.b | leat decode -t bytes
  "2"
  $ printf '\357\273\277{"text":"a"}\r\n\r\n \t\n{"text":"b"}' >marked.jsonl
  $ leat encode -t bytes marked.jsonl
  97
  98

Deep nesting is no matter of the stack, but has an end.

  $ deep=$(printf '%1000s' '' | tr ' ' '[')
  $ echo "{\"a\":$deep$(echo "$deep" | tr '[' ']'),\"text\":\"x\"}" | leat encode -t bytes --jsonl
  120
  $ echo "{\"a\":$deep$deep" | leat encode -t bytes --jsonl
  leat: standard input, line 1: not valid JSON: it is nested deeper than 1024 at byte 1029
  [1]

What is wrong with a line is said with its place, after the records before it.

  $ printf '{"text":"good"}\n\n{"id":1}\n' >bad.jsonl
  $ leat encode -t bytes bad.jsonl
  leat: bad.jsonl, line 3: the record has no "text"
  103 111 111 100
  [1]
  $ cat >wrong <<'END'
  > {"text":null}
  > {"text":["x"]}
  > {"text":{"text":"x"}}
  > {"text":"x","text":3}
  > ["text"]
  > text
  > {"text":"x"} {
  > {"text":"x"
  > {"text":"x
  > {"text":"x\
  > {"text":"\u12
  > {"text":"\x"}
  > {"text":"\u12g4"}
  > {"text":"a	b"}
  > {"text":"x",}
  > {text:"x"}
  > {"text" "x"}
  > {"text":"x","a":[1,]}
  > {"text":"x","a":[1 2]}
  > {"text":"x","a":01}
  > {"text":"x","a":1.}
  > {"text":"x","a":-}
  > {"text":"x","a":1e}
  > {"text":"x","a":nan}
  > {"text":"x","a":tru}
  > {"text":"x","a":]}
  > {"text":"x","a":{]}
  > END
  $ while IFS= read -r line; do
  >     printf '%s\n' "$line" | leat encode -t bytes --jsonl || echo "[$?] $line"
  > done <wrong
  leat: standard input, line 1: "text" is null, not a string
  [1] {"text":null}
  leat: standard input, line 1: "text" is an array, not a string
  [1] {"text":["x"]}
  leat: standard input, line 1: "text" is an object, not a string
  [1] {"text":{"text":"x"}}
  leat: standard input, line 1: "text" is a number, not a string
  [1] {"text":"x","text":3}
  leat: standard input, line 1: the record is an array, not an object
  [1] ["text"]
  leat: standard input, line 1: not valid JSON: an object ({) is expected at byte 1
  [1] text
  leat: standard input, line 1: not valid JSON: the end of the record is expected at byte 14
  [1] {"text":"x"} {
  leat: standard input, line 1: not valid JSON: it ends where a comma or } is expected; a record is a whole object in one line
  [1] {"text":"x"
  leat: standard input, line 1: not valid JSON: it ends where the quote after a string is expected
  [1] {"text":"x
  leat: standard input, line 1: not valid JSON: it ends where an escape's letter is expected
  [1] {"text":"x\
  leat: standard input, line 1: not valid JSON: it ends where one of the four digits of \u is expected
  [1] {"text":"\u12
  leat: standard input, line 1: not valid JSON: an escape's letter is expected at byte 11
  [1] {"text":"\x"}
  leat: standard input, line 1: not valid JSON: one of the four digits of \u is expected at byte 14
  [1] {"text":"\u12g4"}
  leat: standard input, line 1: not valid JSON: the escape of a control character is expected at byte 11
  [1] {"text":"a\tb"} (esc)
  leat: standard input, line 1: not valid JSON: a member's name is expected at byte 13
  [1] {"text":"x",}
  leat: standard input, line 1: not valid JSON: a member's name is expected at byte 2
  [1] {text:"x"}
  leat: standard input, line 1: not valid JSON: a colon is expected at byte 9
  [1] {"text" "x"}
  leat: standard input, line 1: not valid JSON: a value is expected at byte 20
  [1] {"text":"x","a":[1,]}
  leat: standard input, line 1: not valid JSON: a comma or ] is expected at byte 20
  [1] {"text":"x","a":[1 2]}
  leat: standard input, line 1: not valid JSON: a comma or } is expected at byte 18
  [1] {"text":"x","a":01}
  leat: standard input, line 1: not valid JSON: a digit is expected at byte 19
  [1] {"text":"x","a":1.}
  leat: standard input, line 1: not valid JSON: a digit is expected at byte 18
  [1] {"text":"x","a":-}
  leat: standard input, line 1: not valid JSON: a digit is expected at byte 19
  [1] {"text":"x","a":1e}
  leat: standard input, line 1: not valid JSON: a value is expected at byte 17
  [1] {"text":"x","a":nan}
  leat: standard input, line 1: not valid JSON: a value is expected at byte 17
  [1] {"text":"x","a":tru}
  leat: standard input, line 1: not valid JSON: a value is expected at byte 17
  [1] {"text":"x","a":]}
  leat: standard input, line 1: not valid JSON: a member's name is expected at byte 18
  [1] {"text":"x","a":{]}

The kind of a file is told by its name or an option; standard input is one document.

  $ printf '{"text":"a"}\n{"text":"b"}\n' | tee two.jsonl two.ndjson two.json >two.txt
  $ printf 'one\ntwo\n' >text
  $ leat encode -t bytes two.jsonl text two.ndjson
  97
  98
  111 110 101 10 116 119 111 10
  97
  98
  $ leat encode -t bytes two.json
  97
  98
  $ leat encode -t bytes two.txt
  123 34 116 101 120 116 34 58 34 97 34 125 10 123 34 116 101 120 116 34 58 34 98 34 125 10
  $ leat encode -t bytes --text-file two.jsonl
  123 34 116 101 120 116 34 58 34 97 34 125 10 123 34 116 101 120 116 34 58 34 98 34 125 10
  $ leat encode -t bytes --jsonl two.txt
  97
  98
  $ leat encode -t bytes --jsonl <two.jsonl
  97
  98
  $ leat encode -t bytes <two.jsonl
  123 34 116 101 120 116 34 58 34 97 34 125 10 123 34 116 101 120 116 34 58 34 98 34 125 10
  $ leat pack -t bytes -o packed two.json >/dev/null
  $ leat cat packed --document 1 --ids
  98 256

Ids may be written as words of 4 bytes.

  $ leat encode -t bytes --format u32 two.jsonl | od -An -tx1
   61 00 00 00 62 00 00 00

These are longer than every buffer: one line, one text, one line of ids.

  $ awk 'BEGIN { for (i = 0; i < 40000; i++) printf "word %d \303\251 ", i * 7919 % 65536 }' >long
  $ printf '{"id":"x","text":"%s"}\n{"text":"after"}\n' "$(cat long)" >long.jsonl
  $ for t in bytes gpt2 cl100k_base o200k_base; do
  >     leat encode -t $t long >long.ids
  >     leat decode -t $t --raw long.ids | head -c -1 | cmp - long
  >     leat encode -t $t long.jsonl >json.ids
  >     head -n 1 json.ids | cmp - long.ids
  >     leat decode -t $t json.ids | tail -n 1
  > done
  "after"
  "after"
  "after"
  "after"

Mistakes are refused.

  $ leat encode hello.txt
  leat: cannot open hello.txt: No such file or directory; arguments are files, and a text comes from standard input: printf %s TEXT | leat encode
  [1]
  $ leat encode -t bytes s3://b/a.txt
  leat: s3://b/a.txt is a URL, which is read only to be packed; download it first, or pipe it to standard input
  [1]
  $ leat encode -t gpt2 --jsonl --text-file
  leat: --jsonl and --text-file cannot be combined (leat encode --help lists the options)
  [2]
  $ leat encode -t gpt2 --specials
  leat: unknown option --specials; did you mean --special? (leat encode --help lists the options)
  [2]
  $ leat encode -t gpt2 --format u16
  leat: --format cannot be "u16", only one of: ids, u32 (leat encode --help lists the options)
  [2]
  $ leat encode -t gpt2 --invalid-utf8 ignore
  leat: --invalid-utf8 cannot be "ignore", only one of: replace, reject (leat encode --help lists the options)
  [2]
  $ leat encode -t gpt2 --pattern no_such_pattern hello
  leat: the built-in gpt2 has its own pattern; leave out the pattern no_such_pattern (--pattern NAME)
  [2]
  $ leat encode -t gpt-2 hello
  leat: unknown tokenizer "gpt-2"; did you mean the built-in gpt2? (No file, folder or model in the Hugging Face cache has that name.)
  [1]
  $ leat encode -t gpt2 none
  leat: cannot open none: No such file or directory; arguments are files, and a text comes from standard input: printf %s TEXT | leat encode
  [1]
  $ leat decode -t gpt2 none
  leat: cannot open none: No such file or directory
  [1]
  $ leat encode -t gpt2 .
  leat: cannot read .: Is a directory
  [1]
  $ printf '1 2\n3 x4 5\n' | leat decode -t gpt2
  leat: standard input, line 2: "x4" is not an id: ids are numbers below 2^32, separated by spaces
  "\"#"
  [1]
  $ for bad in 12x -1 1,2 4294967296 99999999999999999999999; do
  >     echo "$bad" | leat decode -t gpt2 -
  > done
  leat: standard input, line 1: "12x" is not an id: ids are numbers below 2^32, separated by spaces
  leat: standard input, line 1: "-1" is not an id: ids are numbers below 2^32, separated by spaces
  leat: standard input, line 1: "1,2" is not an id: ids are numbers below 2^32, separated by spaces
  leat: standard input, line 1: "4294967296" is not an id: ids are numbers below 2^32, separated by spaces
  leat: standard input, line 1: "99999999999999999999999" is not an id: ids are numbers below 2^32, separated by spaces
  [1]
  $ printf '0\n50257\n' >ids
  $ leat decode -t gpt2 ids
  leat: ids, line 2: unknown id 50257: the vocabulary ends at 50256
  "!"
  [1]
  $ leat decode -t no_such ids
  leat: unknown tokenizer "no_such": not a built-in (bytes, gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony), not a file or folder; and the Hugging Face cache * has no models--no_such (glob)
  [1]

A full disk ends it, before the last record.

  $ leat encode -t bytes long >/dev/full
  leat: cannot write everything to standard output: the output is incomplete
  [1]
  $ { seq -f '{"text":"record %g"}' 9000; echo '{"text":'; } | leat encode -t bytes --jsonl >/dev/full
  leat: cannot write everything to standard output: No space left on device
  [1]

leat-bench encode makes the same ids with any number of threads: their checksum, XXH3-64, is that of 61 00 00 00 62 00
00 00 first.

  $ leat-bench encode -t bytes --threads 1 --json two.jsonl
  {"tokenizer": "bytes", "threads": 1, "documents": 2, "bytes": 2, "tokens": 2, "seconds": *, "mb_per_s": *, "cpu_seconds": *, "passes": [*], "passes_cpu": [*], "slices": null, "longest_gap_ms": null, "load_ms": *, "checksum": "cbf698ba0a9a3ad3", "machine": {*}} (glob)
  $ leat-bench encode -t bytes two.jsonl | grep checksum
  checksum    cbf698ba0a9a3ad3
  $ leat encode -t gpt2 two.jsonl long.jsonl text | wc -w
  166423
  $ for threads in 1 2 3 7; do
  >     leat-bench encode -t gpt2 --threads $threads --json two.jsonl long.jsonl text |
  >         grep -oE '"(documents|bytes|tokens|checksum)": [^,}]*' | paste -sd ' '
  > done
  "documents": 5 "bytes": 553227 "tokens": 166423 "checksum": "4e28112c5de4c9ee"
  "documents": 5 "bytes": 553227 "tokens": 166423 "checksum": "4e28112c5de4c9ee"
  "documents": 5 "bytes": 553227 "tokens": 166423 "checksum": "4e28112c5de4c9ee"
  "documents": 5 "bytes": 553227 "tokens": 166423 "checksum": "4e28112c5de4c9ee"
  $ : >empty.jsonl
  $ leat-bench encode -t gpt2 --threads 4 --json empty.jsonl | grep -o '"documents": [0-9]*'
  "documents": 0
  $ leat-bench encode -t gpt2
  leat-bench: FILE... is missing: leat-bench encode FILE... (leat-bench encode --help shows how)
  [2]
  $ leat-bench encode -t gpt2 bad.jsonl
  leat-bench: bad.jsonl, line 3: the record has no "text"
  [1]
