cat.t: leat cat shows documents and ranges of tokens, as text and as ids, and says what it cannot show.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_three
  $ mkdir folder
  $ copy_dataset a folder/a
  $ copy_dataset b folder/b
  $ printf 'folder/b\nfolder/a\n' >list.txt
  $ make_dataset other vocabulary=70000 end=69999 begin=1 tokenizer=t.model file=abc document=5,6,7 document= document=60000
  $ make_dataset bare vocabulary=300 document=65,66
  $ make_dataset empty vocabulary=300 tokenizer=bytes

The bytes of one document come as they are; of several, each ends its line.

  $ leat cat all --document 1
  second paragraph
  of two lines
  $ leat cat all --document 3 --text
  one
  $ leat cat a --document 2
  third (no-eol)
  $ leat cat a --document 0:3
  alpha beta
  second paragraph
  of two lines
  third
  $ for range in 1: 1:3; do
  >     leat cat a --document $range
  > done
  second paragraph
  of two lines
  third
  second paragraph
  of two lines
  third
  $ leat cat a --document :1
  alpha beta
  $ leat cat a --document 1:1
  $ leat cat a --document 3:3
  $ leat cat empty --document 0:
  $ leat cat folder --document 2:4
  third
  one
  $ leat cat @list.txt --document 0
  one

A range of tokens goes across documents, without the end tokens between them.

  $ leat cat a --tokens 5:20
   beta
  second p (no-eol)
  $ leat cat a --tokens 5:5
  $ leat cat a --tokens 11:12

All of it at once is all that was written.

  $ write_numbered n
  $ sed '/^$/d' n.txt >written
  $ leat cat n --document 0: >got && cmp got written
  $ leat cat n --tokens : >got && cmp got written

Text is that which was encoded, by the tokenizer that the dataset keeps: in documents longer than a block of ids, too,
whose tokens hold parts of characters.

  $ python3 -c 'import sys; sys.stdout.buffer.write("".join(" %x%c%s" % (i * 7919, 0x1f9c0 + i % 64, "" if i % 5 else "\n")
  >     for i in range(30000)).encode())' >long
  $ python3 -c 'import json; [print(json.dumps({"text": x}))
  >     for x in ("first", "", "with a newline\n", open("long", encoding="utf-8").read())]' >texts.jsonl
  $ printf 'firstwith a newline\n' | cat - long >all_texts
  $ for tokenizer in bytes gpt2 o200k_base; do
  >     leat pack -t $tokenizer -o $tokenizer texts.jsonl >/dev/null
  >     leat cat $tokenizer --document 0:3 | paste -sd '|'
  >     leat cat $tokenizer --document 3 | cmp - long
  >     leat cat $tokenizer --tokens : | cmp - all_texts
  > done
  first||with a newline
  first||with a newline
  first||with a newline

In this vocabulary, as SentencePiece has them, a text depends on its neighbours: a mark for the space is nothing before
the first token, and characters are made of bytes. A part is a text of its own, and none is cut where a block ends.

  $ make_dataset neighbours vocabulary=5 tokenizer=tokenizer.json file='{"version": "1.0",
  >     "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
  >         {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
  >     "model": {"type": "BPE", "byte_fallback": true, "merges": ["▁ a"],
  >         "vocab": {"▁": 0, "a": 1, "▁a": 2, "<0xC3>": 3, "<0xA9>": 4}}}' \
  >     document=2,2,0,3,4,1 document= document=2 document="$(printf '%030000d' 0 | sed 's/0/3,4,/g; s/,$//')"
  $ leat cat neighbours --document 0:3 | sed 's/é/e/'
  a a ea
  
  a
  $ leat cat neighbours --tokens 0:3
  a a  (no-eol)
  $ leat cat neighbours --tokens 1:2
  a (no-eol)
  $ leat cat neighbours --tokens 3:4
  \xef\xbf\xbd (no-eol) (esc)
  $ for words in '--document 3' '--tokens 7:'; do leat cat neighbours $words | sed 's/é/e/g' | tr -d '\n' | wc -c; done
  30000
  30000
  $ leat cat neighbours --document 3 | sed 's/é//g'

Ids show every token.

  $ leat cat b --document 1 --ids
  116 119 111 10 256
  $ leat cat other --ids --document 0:3
  1 5 6 7 69999
  1 69999
  1 60000 69999
  $ leat cat a --tokens 5:20 --ids
  32 98 101 116 97 10 256 115 101 99 111 110 100 32 112
  $ leat cat folder --tokens 45:52 --ids
  105 114 100 256 111 110 101
  $ leat cat bare --tokens 1:2 --ids
  66

These are more than one block of what is read and printed at once: each token of the file, and a line for each document.

  $ leat-bench-dev counting -o counting --tokens 100000 --document-length 30 >/dev/null
  $ od -An -v -tu2 -w2 --endian=little counting.tokens | tr -d ' ' >wanted
  $ leat cat counting --tokens : --ids >ids && tr ' ' '\n' <ids | cmp - wanted
  $ leat cat counting --document : --ids >ids && tr -s ' \n' '\n' <ids | sed '/^$/d' | cmp - wanted
  $ wc -l <ids
  3355
  $ leat info counting | grep '^  documents'
    documents   3,355

Another tokenizer can be given; the name of a *.tiktoken file may not say its pattern.

  $ for byte in $(seq 0 255); do
  >     echo "$(printf "\\$(printf %03o "$byte")" | base64) $byte"
  > done >mine.tiktoken
  $ leat cat a --document 0 -t mine.tiktoken
  leat: mine.tiktoken: neither the file nor its name says which pattern splits text; choose one of gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, llama4, qwen, qwen3_5, kimi (--pattern NAME)
  [2]
  $ leat cat a --document 0 -t mine.tiktoken --pattern gpt2
  alpha beta
  $ leat cat a --document 0 --pattern gpt2
  leat: --pattern needs --tokenizer (leat cat --help lists the options)
  [2]

What it cannot show is said.

  $ leat cat other --document 0
  leat: the tokenizer t.model, stored in other, cannot be opened, so its text cannot be shown; use --ids: t.model has an unknown format: expected tokenizer.json, tekken.json, *.tiktoken or a sentencepiece model
  [1]
  $ make_dataset broken vocabulary=256 tokenizer=x.json file='{' document=97
  $ leat cat broken --document 0
  leat: the tokenizer x.json, stored in broken, cannot be opened, so its text cannot be shown; use --ids: x.json is not valid JSON: missing member name in quotes at byte 1, where the file ends: is it complete?; it was read as a tokenizer
  [1]
  $ leat cat broken --document 0 --ids
  97
  $ leat cat bare --document 0 --text
  leat: bare stores no tokenizer, so its text cannot be shown; use --ids or --tokenizer
  [1]
  $ leat cat a --tokens 4:100
  leat: a has 49 tokens, numbered from 0: 4:100 reaches past the end
  [1]
  $ leat cat a --document 9
  leat: a has 3 documents, numbered from 0: number 9 does not exist
  [1]
  $ leat cat a --document 1:9
  leat: a has 3 documents, numbered from 0: 1:9 reaches past the end
  [1]
  $ leat cat bare --ids --document 18446744073709551614
  leat: bare has 1 documents, numbered from 0: number 18446744073709551614 does not exist
  [1]
  $ leat cat none --document 0
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ leat cat a
  leat: one of --document and --tokens is needed (leat cat --help shows how)
  [2]
  $ leat cat a --document 1 --tokens 1:2
  leat: --document and --tokens cannot be combined (leat cat --help lists the options)
  [2]
  $ leat cat a --text --ids --document 1
  leat: --text and --ids cannot be combined (leat cat --help lists the options)
  [2]
  $ leat cat a --tokens 5
  leat: --tokens needs a range A:B; for one token write 5:6 (leat cat --help shows how)
  [2]
  $ leat cat a --tokens 2:1
  leat: --tokens: "2:1" ends before it begins (leat cat --help lists the options)
  [2]
  $ leat cat a --document x
  leat: --document: "x" is not a number; write it like 12, 1.5K or 64Ki (leat cat --help lists the options)
  [2]

Begin and end tokens, and ids that are no bytes, are no text, though they are among the tokens.

  $ make_dataset marked vocabulary=300 end=256 begin=257 tokenizer=bytes document=72,105 document= document=33
  $ leat cat marked --document 0:
  Hi
  
  !
  $ leat cat marked --tokens 0:2
  H (no-eol)
  $ make_dataset odd vocabulary=257 tokenizer=bytes document=97,256,98,256,10
  $ leat cat odd --document 0
  ab
  $ leat cat odd --tokens 1:4 --ids
  256 98 256

An id that the tokenizer does not have is an error after the text before it.

  $ make_dataset beyond vocabulary=60000 tokenizer=gpt2 document=72 document=55555
  $ leat cat beyond --document 0:
  leat: unknown id 55555: the vocabulary ends at 50256
  i
  [1]

A tokenizer may be damaged.

  $ copy_dataset other p
  $ spoil_section p.leat 10
  $ leat cat p --document 0
  leat: p.leat: the tokenizer section is inconsistent; verify the dataset, or write it again
  [3]

A document may begin behind the next one, and starts may fall: nothing is shown that was never there.

  $ copy_dataset n p
  $ overwrite p.leat $((4096 + 8 * 5)) '~'
  $ leat cat p --document 5:6
  leat: document starts of p do not ascend; verify the dataset
  [3]
  $ copy_dataset n p
  $ overwrite p.leat 4501 '~'
  $ leat cat p --document 40:60
  leat: p.leat: document 50 starts at token 138538465100816, beyond the last token; verify the dataset, or write it again
  [3]

A damaged page is an error, and none of its text is shown. Pages that are not shown are not looked at.

  $ make_dataset long vocabulary=60000 tokenizer=gpt2 many=20000
  $ overwrite long.tokens 20000 'damage'
  $ leat cat long --document 0 --ids
  7
  $ leat cat long --document 9000
  leat: page 4 of long.tokens (tokens 8192 to 10239, documents 8192 to 10239) is damaged: its hash does not match; restore the file from its source
  [3]
  $ leat cat long --tokens 8000:8300 --ids
  leat: page 4 of long.tokens (tokens 8192 to 10239, documents 8192 to 10239) is damaged: its hash does not match; restore the file from its source
  [3]
  $ leat cat long --document 0:20000 >got
  leat: page 4 of long.tokens (tokens 8192 to 10239, documents 8192 to 10239) is damaged: its hash does not match; restore the file from its source
  [3]
  $ leat show --source long --seq-len 8000 --order sequential --sample 1
  leat: page 4 of long.tokens (tokens 8192 to 10239, documents 8192 to 10239) is damaged: its hash does not match; restore the file from its source
  [3]
  $ leat show long --tokens 8000:8300
  leat: page 4 of long.tokens (tokens 8192 to 10239, documents 8192 to 10239) is damaged: its hash does not match; restore the file from its source
  [3]
