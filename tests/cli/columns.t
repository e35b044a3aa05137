columns.t: leat pack --column makes columns beside the dataset. What cannot be a column, and work that would leave
columns out, is refused before anything is written.

  $ printf '{"text":"abc","score":0.5,"lang":"en"}\n{"text":"d","score":2,"lang":"de"}\n{"text":"e"}\n' >a.jsonl
  $ pack() {
  >     leat pack -t bytes -o corpus --max-rejects 50% "$@" a.jsonl
  > }
  $ pack --column score:f32:document --column language=lang:category:document >/dev/null
  $ leat info corpus | grep column
    column      language: category per document, 2 texts, 4 bytes
    column      score: f32 per document, 8 bytes
    leat.columns = score:f32:document\x0alanguage=lang:category:document
  $ od -An -tx1 corpus.score.column
   00 00 00 3f 00 00 00 40
  $ leat verify corpus
  corpus: nothing is wrong; 4.9 KiB checked in *. (glob)
  $ leat cat corpus --document 1 --ids
  100 256
  $ sed 's/.*"reason"/"reason"/' corpus.rejects.jsonl
  "reason":"the record has no \"score\" for the column score","record":"{\"text\":\"e\"}"}

A finished run that is resumed has nothing left to do, and one with other columns is another run.

  $ pack --column score:f32:document --column language=lang:category:document --resume
  corpus is finished already: 6 tokens in 2 documents.
  $ pack --column score:f16:document --resume
  leat: corpus.leat already exists; choose another name or replace it (--force)
  [1]
  $ pack --force >/dev/null
  $ ls
  a.jsonl
  corpus.leat
  corpus.tokens

  $ rm corpus.*
  $ pack --column score
  leat: score is not NAME=FIELD:TYPE, with :document after it for a value per document, as in score=meta.score:f32:document
  [2]
  $ pack --column =score:f32:document
  leat:  cannot be the name of a column: a name has 1 to 64 letters, digits, _ and -, does not begin with -, and is not "partial"
  [2]
  $ pack --column score=:f32:document
  leat: score=:f32:document is not NAME=FIELD:TYPE, with :document after it for a value per document, as in score=meta.score:f32:document
  [2]
  $ pack --column score:f33:document
  leat: unknown type of a column f33: use u8, u16, u32, i32, i64, f16, bf16, f32 or category, and x with a width up to 256 for several values per entry, as in u32x8
  [2]
  $ pack --column score:document
  leat: score:document is not NAME=FIELD:TYPE, with :document after it for a value per document, as in score=meta.score:f32:document
  [2]
  $ pack --column b.c=score:f32:document
  leat: b.c cannot be the name of a column: a name has 1 to 64 letters, digits, _ and -, does not begin with -, and is not "partial"
  [2]
  $ pack --column score:categoryx2:document
  leat: column score: a category has one text per document, not 2
  [2]
  $ pack --column score:f32
  leat: column score would have values per token, which a text does not have: put :document after its type for one per document, or attach the column to the finished dataset
  [2]
  $ pack --column x=score:f32:document --column x=lang:category:document
  leat: two columns have the name x
  [2]
  $ pack --column score:f32:document --by lang
  leat: dividing by values leaves columns out: pack without it, or without columns
  [2]
  $ pack --column score:f32:document --max-rejects 10%
  leat: 1 of 3 records was rejected, more than allowed; corpus.rejects.jsonl lists them with the reasons, for example: the record has no "score" for the column score
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o corpus --column score:f32:document a.jsonl
  leat: to give it up, remove what it left: rm -r corpus.partial.* corpus.rejects.jsonl
  [4]
  $ pack --column score:f32:document --max-rejects 50% --resume >/dev/null
  $ od -An -tf4 corpus.score.column
               0.5               2
  $ rm corpus.*
  $ echo text >a.txt
  $ leat pack -t bytes -o corpus --column score:f32:document a.txt
  leat: a.txt has no fields for columns: it is a text, neither JSON nor a table
  [2]
  $ leat pack --run run --parts 2 --column score:f32:document a.jsonl
  leat: the parts of a run have no columns: pack shares of the files apart and merge them, or attach columns to the merged dataset
  [2]
  $ ls
  a.jsonl
  a.txt
