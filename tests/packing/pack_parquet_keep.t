pack_parquet_keep.t: --keep on columns of Parquet files keeps the rows that it keeps of the same JSON lines: for numbers
of all types and encodings, strings, nulls, and types that can only be there or not. Other types, missing columns and
too many conditions are refused before any work.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ cp "$SOURCES"/tests/parquet/files/typed* .
  $ keep() { # CONDITION...
  >     for condition; do
  >         set -- "$@" --keep "$condition"
  >         shift
  >     done
  >     for input in typed.jsonl typed.parquet typed_split.jsonl typed_split.parquet; do
  >         rm -f out.*
  >         kept=$(members documents,kept_out "$LEAT_BUILD"/tiny/leat pack -t bytes -o out --json --allow-empty "$@" $input 2>&1)
  >         echo $kept $(identity out)
  >     done | uniq -c
  > }
  $ while read -r condition; do
  >     echo "$condition"
  >     keep "$condition"
  > done <<'CONDITIONS'
  > score = 0.1
  > score != 0.1
  > score < 5e-324
  > score <= 5e-324
  > score > 0.30000000000000003
  > score = 1e300
  > ratio = 0.1
  > ratio >= 0.75
  > ratio < -0.00000000000000000001
  > small = -128
  > small > -1
  > big = 18446744073709551615
  > big >= 9223372036854775808
  > number = -9223372036854775808
  > number != 9007199254740992
  > lang = en
  > lang != en
  > lang >= "e"
  > lang < ""
  > lang = ""
  > lang = "7"
  > lang = 7
  > lang = "e\"n"
  > lang = "\u00e9"
  > number = "7"
  > lang exists
  > flag exists
  > score exists
  > text = "text 7"
  > id <= "20"
  > CONDITIONS
  score = 0.1
        2 "documents": 10 "kept_out": 50 7a6f72c93592354b7870ccf96ca21989
        2 "documents": 8 "kept_out": 32 27df4a78c5e1786357f11c509da266d1
  score != 0.1
        2 "documents": 41 "kept_out": 19 8a8fc396b3ad77532ffbd2d819777aa8
        2 "documents": 24 "kept_out": 16 2a52a8fab65137d69343b08f51b4caaa
  score < 5e-324
        2 "documents": 5 "kept_out": 55 5eef2108ed746ac47bbec59fec53749f
        2 "documents": 3 "kept_out": 37 0a239fa8b1975929ab1eab0c1f187f97
  score <= 5e-324
        2 "documents": 10 "kept_out": 50 9ca934329719726c02054bc7d754543d
        2 "documents": 6 "kept_out": 34 6a380ab8d3b85449f179aa1126c3ae38
  score > 0.30000000000000003
        2 "documents": 31 "kept_out": 29 e0d5aa1b59a08677fa0214b8b58ca956
        2 "documents": 18 "kept_out": 22 ff37a1960758bc111e7a66aa99b237aa
  score = 1e300
        2 "documents": 6 "kept_out": 54 9abf62e1fc39a812fad8e0a65ce8bbf1
        2 "documents": 7 "kept_out": 33 d9b4f28e6f244a9cb2cebee9e4691d98
  ratio = 0.1
        2 "documents": 13 "kept_out": 47 20a730ae58dfd7551067de63160d6dfe
        2 "documents": 12 "kept_out": 28 ce0127637a33e90e88960d9a1ae4520a
  ratio >= 0.75
        2 "documents": 22 "kept_out": 38 5cd51355cda73f9285907f052844470a
        2 "documents": 9 "kept_out": 31 e8274eb407b9a8da6fd70c931910c189
  ratio < -0.00000000000000000001
        2 "documents": 12 "kept_out": 48 dac4cd64b64327f5a2265fc0ee50e5f2
        2 "documents": 8 "kept_out": 32 aeb153697d2898cf99561611baf2be09
  small = -128
        2 "documents": 15 "kept_out": 45 445264d6eada29bd9bce24ad62e35114
        2 "documents": 7 "kept_out": 33 b5af5831a263ca69153a144d25886b3c
  small > -1
        2 "documents": 22 "kept_out": 38 7c92b8c8e7995908fd528d48555a6d95
        2 "documents": 17 "kept_out": 23 bf72af7b2b36d6bb21e0f31a33662039
  big = 18446744073709551615
        2 "documents": 16 "kept_out": 44 d470aa0e1b191130efea157313998b95
        2 "documents": 11 "kept_out": 29 d4e9874dc0fed30665e42f43a7bca5a1
  big >= 9223372036854775808
        2 "documents": 29 "kept_out": 31 89c302afb123f2e87dcb5fccdc498633
        2 "documents": 20 "kept_out": 20 8e3cea385cce8f86e2a7adfc606b5b81
  number = -9223372036854775808
        2 "documents": 19 "kept_out": 41 147df5a4195ea6e030d8a43a793b7e7d
        2 "documents": 11 "kept_out": 29 666ee472ed0648e201c390b161f3cc3e
  number != 9007199254740992
        2 "documents": 46 "kept_out": 14 6804c4e02c9b7babcb16dedb0b1290d3
        2 "documents": 28 "kept_out": 12 f818fc1a9fd32abfc5bb7a14a642e746
  lang = en
        2 "documents": 7 "kept_out": 53 4b6c6c383b3d5e1bebbfde12ff7c42de
        2 "documents": 7 "kept_out": 33 0a504f560bed4b09ac87fafee2daee3c
  lang != en
        2 "documents": 47 "kept_out": 13 6827e9d967f316ed3a77e9902286e623
        2 "documents": 28 "kept_out": 12 edef03d0f5f8ebb6f0bd49a74d821d60
  lang >= "e"
        2 "documents": 22 "kept_out": 38 bc69f84248ca61fcf906a45466ba014d
        2 "documents": 21 "kept_out": 19 164e55d19845e0a19c5338f56d2395ea
  lang < ""
        2 leat: warning: no document is left: --keep left out 60 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings "documents": 0 "kept_out": 60 c1d73f0cb5f07ba237a9b5c6df145742
        2 leat: warning: no document is left: --keep left out 40 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings "documents": 0 "kept_out": 40 c1d73f0cb5f07ba237a9b5c6df145742
  lang = ""
        2 "documents": 6 "kept_out": 54 d838b4e39ed91540060d1a783e36452c
        2 "documents": 4 "kept_out": 36 4f93bd982bd1349886c93194e068d7ad
  lang = "7"
        2 "documents": 13 "kept_out": 47 5f0759ebec336d7eb4cecd2286a795ea
        2 "documents": 5 "kept_out": 35 5bff5abe7c71b88239741d074aca6ec2
  lang = 7
        2 leat: warning: no document is left: --keep left out 60 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings "documents": 0 "kept_out": 60 c1d73f0cb5f07ba237a9b5c6df145742
        2 leat: warning: no document is left: --keep left out 40 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings "documents": 0 "kept_out": 40 c1d73f0cb5f07ba237a9b5c6df145742
  lang = "e\"n"
        2 "documents": 5 "kept_out": 55 c352f69738cecb94ec6672efaa5deaf4
        2 "documents": 8 "kept_out": 32 cbefd518cfc4b09f2b984144d88da1f7
  lang = "\u00e9"
        2 "documents": 10 "kept_out": 50 f962ff111cbd810a6f34640b18ec9cda
        2 "documents": 6 "kept_out": 34 deaa0de7dfafb223611d966420431bb1
  number = "7"
        2 leat: warning: no document is left: --keep left out 60 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings "documents": 0 "kept_out": 60 c1d73f0cb5f07ba237a9b5c6df145742
        2 leat: warning: no document is left: --keep left out 40 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings "documents": 0 "kept_out": 40 c1d73f0cb5f07ba237a9b5c6df145742
  lang exists
        2 "documents": 54 "kept_out": 6 1f2634d8ad86988ad23e6b371bb49251
        2 "documents": 35 "kept_out": 5 9f860e272425ac91ae6e39e6f1f6764e
  flag exists
        2 "documents": 45 "kept_out": 15 525d139d0a77d3b81b661e2758246ab3
        2 "documents": 24 "kept_out": 16 57247b7fff3833463610258f8ff32d63
  score exists
        2 "documents": 51 "kept_out": 9 25da5e146ed08f98afb6b23a088d5b65
        2 "documents": 32 "kept_out": 8 3c1f7ec22fce458791d2d9cbd107de3d
  text = "text 7"
        2 "documents": 1 "kept_out": 59 71194ef21bce5a80603d605eb0b13e12
        2 "documents": 1 "kept_out": 39 71194ef21bce5a80603d605eb0b13e12
  id <= "20"
        2 "documents": 14 "kept_out": 46 a2d4ff425fb5d2e8814bd0ebfc671eff
        2 "documents": 14 "kept_out": 26 a2d4ff425fb5d2e8814bd0ebfc671eff

Several conditions must all hold.

  $ keep 'score >= 0' 'score < 1' 'flag exists'
        2 "documents": 23 "kept_out": 37 93e9e357a19784e4958b0dd5f4dd16a3
        2 "documents": 8 "kept_out": 32 53a99fea01c3c7c8d04e3eb8ba6bffb7

Before any work it is said what cannot be.

  $ leat pack -t bytes -o no --keep 'flag = yes' typed.parquet
  leat: typed.parquet: the column flag holds neither strings nor numbers, so that its values cannot be compared; only "exists" can be asked
  [1]
  $ leat pack -t bytes -o no --keep 'langs = en' typed.parquet
  leat: typed.parquet has no column langs; its columns are text, id, score, ratio, small, big, number, lang, flag
  [1]
  $ printf 'a text' >a.txt
  $ leat pack -t bytes -o no --keep 'lang = en' typed.parquet a.txt
  leat: a.txt has no fields for conditions: it is a text, neither JSON nor a table
  [2]
  $ leat pack -t bytes -o no $(seq -f '--keep=number%g!=5' 15) typed.parquet
  leat: typed.parquet: too many conditions for a Parquet file; at most 14
  [2]
  $ ls | grep no
  [1]
