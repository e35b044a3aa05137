attach.t: leat attach adds a column from NumPy's files; info lists it and draws it (python/tests/test_columns.py
compares the numbers with numpy's), verify checks it, and commands that would leave it out refuse. What is wrong with a
file is said, with its name, and leaves nothing.

  $ printf '{"text":"abc"}\n{"text":"d"}\n{"text":""}\n' >a.jsonl
  $ leat pack -t bytes -o corpus a.jsonl >/dev/null
  $ npy() { # FILE DESCR SHAPE BYTES [FORTRAN]: a file of version 1, whose header has 54 bytes or so
  >     header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': $3, }"
  >     printf '\223NUMPY\1\0' >"$1"
  >     printf "\\$(printf %o ${#header})\\0%s$4" "$header" >>"$1"
  > }
  $ npy score.npy '<f8' '(3,)' '\0\0\0\0\0\0\340\077\0\0\0\0\0\0\360\077\0\0\0\0\0\0\4\100'
  $ leat attach corpus --column score:f32:document score.npy
  corpus: column score attached, with 3 documents.
  $ od -An -tx1 corpus.score.column
   00 00 00 3f 00 00 80 3f 00 00 20 40
  $ npy one.npy '>u2' '(2, 2)' '\0\1\0\2\0\3\1\377'
  $ npy two.npy '|u1' '(5, 2)' '\5\6\7\10\11\12\13\14\15\16'
  $ leat attach corpus --column ids:u32x2 one.npy two.npy
  corpus: column ids attached, with 7 tokens.
  $ od -An -tu4 -w8 corpus.ids.column
            1          2
            3        511
            5          6
            7          8
            9         10
           11         12
           13         14
  $ leat info corpus | grep column
    column      ids: u32x2 per token, 56 bytes
    column      score: f32 per document, 12 bytes
  $ leat info --json corpus | grep -o '"columns": [^]]*.'
  "columns": [{"name": "ids", "type": "u32", "width": 2, "at": "token", "part": 0}, {"name": "score", "type": "f32", "width": 1, "at": "document", "part": 0}]
  $ leat info corpus --by score
  corpus by score (f32)
    from 0.5 to 2.5
      at least                       leaves documents                     tokens
           0.4 ################             3 100.0 %                  7 100.0 %
           0.6                              2  66.7 %                  3  42.9 %
           0.8                              2  66.7 %                  3  42.9 %
             1 ################             2  66.7 %                  3  42.9 %
           1.2                              1  33.3 %                  1  14.3 %
           1.4                              1  33.3 %                  1  14.3 %
           1.6                              1  33.3 %                  1  14.3 %
           1.8                              1  33.3 %                  1  14.3 %
             2                              1  33.3 %                  1  14.3 %
           2.2                              1  33.3 %                  1  14.3 %
           2.4 ################             1  33.3 %                  1  14.3 %
  $ leat info corpus --by ids
  leat: column ids has values per token; --by needs one with one value per document
  [2]
  $ leat info corpus --by scor
  leat: corpus has no column scor; did you mean score?
  [1]
  $ leat verify corpus
  corpus: nothing is wrong; 4.8 KiB checked in *. (glob)
  $ ls
  a.jsonl
  corpus.ids.column
  corpus.ids.column-index
  corpus.leat
  corpus.score.column
  corpus.score.column-index
  corpus.tokens
  one.npy
  score.npy
  two.npy

What a column is must fit.

  $ npy nan.npy '<f4' '(3,)' '\0\0\0\0\0\0\300\177\0\0\0\0'
  $ leat attach corpus --column n:i32:document nan.npy
  leat: column n: document 1 has the value nan, which i32 does not hold
  [2]
  $ leat attach corpus --column n:f32 nan.npy
  leat: column n has values for 3 of the 7 tokens of corpus
  [1]
  $ leat attach corpus --column n:f32:document nan.npy nan.npy
  leat: column n: more values than the 3 documents of corpus
  [1]
  $ leat attach corpus --column n:f32x2:document nan.npy
  leat: nan.npy has 1 values per entry, but --column says 2
  [2]
  $ leat attach corpus --column n:f33:document nan.npy
  leat: unknown type of a column f33: use u8, u16, u32, i32, i64, f16, bf16, f32 or category, and x with a width up to 256 for several values per entry, as in u32x8
  [2]
  $ leat attach corpus --column n:f32:part nan.npy
  leat: --column must be NAME:TYPE[xK] or NAME:TYPE[xK]:document, not n:f32:part
  [2]
  $ leat attach corpus --column partial:f32:document nan.npy
  leat: partial cannot be the name of a column: a name has 1 to 64 letters, digits, _ and -, does not begin with -, and is not "partial"
  [2]
  $ leat attach corpus --column n:category:document nan.npy
  leat: a category has texts, which .npy files do not hold: use leat.attach() of Python
  [2]
  $ leat attach corpus --column score:f32:document nan.npy
  leat: corpus.score.column-index already exists; choose another name for the column or replace it (--force)
  [1]
  $ leat attach corpus --column score:f32:document --force nan.npy
  corpus: column score attached, with 3 documents.
  $ leat info corpus --by score
  corpus by score (f32)
    from 0 to 0
    NaN, which no threshold leaves: 1 document with 2 tokens
      at least                       leaves documents                     tokens
             0 ################             2  66.7 %                  5  71.4 %
  $ leat attach corpus nan.npy
  leat: --column NAME:TYPE[xK] is missing: the name of the column, its type, and K values per entry; :document after it: per document (leat attach --help lists the options)
  [2]
  $ leat attach none --column n:f32 nan.npy
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]

So must a file.

  $ npy order.npy '<f4' '(3, 2)' '' True
  $ npy text.npy '<U3' '(3,)' ''
  $ npy cut.npy '<f4' '(3,)' 'abc'
  $ npy cube.npy '<f4' '(3, 1, 1)' ''
  $ head -c 20 nan.npy >head.npy
  $ for file in order text cut cube head none; do
  >     leat attach corpus --column n:f32:document $file.npy
  > done
  leat: order.npy: its values are in Fortran's order: save numpy.ascontiguousarray() of them
  leat: text.npy: its values are no numbers of 1 to 8 bytes; save them with such a dtype
  leat: cut.npy: its size is not that of its shape: it is cut off or damaged
  leat: cube.npy: its shape is not (n,) or (n, K)
  leat: head.npy: its header is cut off or too long
  leat: cannot open none.npy: No such file or directory
  [1]
  $ leat attach corpus --column n:f32:document corpus.tokens
  leat: corpus.tokens: not a .npy file of version 1 to 3
  [2]
  $ ls | grep -c 'corpus\.n'
  0
  [1]

Merging takes the columns along. Commands that would leave them out say so.

  $ leat merge -o merged corpus >/dev/null
  $ cmp merged.ids.column corpus.ids.column
  $ rm merged.*
  $ leat export --to megatron -o exported corpus
  leat: corpus has columns (ids, ...), which exporting would leave out: to go on without them, move corpus.*.column and corpus.*.column-index away first
  [1]
  $ leat push corpus s3://bucket/corpus
  leat: corpus has columns (ids, ...), which pushing would leave out: to go on without them, move corpus.*.column and corpus.*.column-index away first
  [1]

A file that is damaged, cut or missing is named.

  $ printf 'x' | dd of=corpus.ids.column bs=1 seek=9 conv=notrunc status=none
  $ leat verify corpus
  leat: corpus.ids.column: page 0 is damaged (bytes 0 to 55): its hash does not match; restore it, or attach the column again
  corpus is damaged: 0 pages of 4 KiB, 1 other place.
  [3]
  $ leat verify --json corpus 2>/dev/null | grep -o '"status".*"bytes"'
  "status": "checksum", "message": "corpus.ids.column: page 0 is damaged (bytes 0 to 55): its hash does not match; restore it, or attach the column again", "file": "corpus.ids.column", "offset": 0, "bytes"
  $ printf 'x' >>corpus.score.column
  $ leat info corpus
  leat: corpus.score.column has 13 bytes instead of 12; restore it, or attach the column again
  [3]
  $ rm corpus.ids.column
  $ leat info --json corpus >/dev/null
  leat: corpus.ids.column is missing, although its index is there; restore it, or attach the column again
  [3]

Packing again removes them: of a link, not the file that it leads to, and no file with another name.

  $ echo kept >kept; ln -s kept corpus.linked.column; ln -s kept corpus.linked.column-index; touch corpus.b.columns
  $ leat pack --force -t bytes -o corpus a.jsonl >/dev/null
  $ ls corpus*
  corpus.b.columns
  corpus.leat
  corpus.tokens
  $ cat kept
  kept
