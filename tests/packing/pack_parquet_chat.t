pack_parquet_chat.t: conversations and masks in columns of Parquet give what they give as JSON lines: the same identity,
of tokens and mask, and as many rejects; for any threads, with tiny units, by parts, with --by and --keep, resumed; JSON
in a column of strings, too. What no conversation or mask can be is refused, or rejected with a reason.

  $ python3 -c 'import jinja2' 2>/dev/null || exit 80
  $ . "$SOURCES"/tests/cli/datasets.sh
  $ tiny=$LEAT_BUILD/tiny/leat
  $ for name in chat chat_long chat_tools below_null refused; do cp "$SOURCES"/tests/parquet/files/$name.* .; done
  $ cat >roles.jinja <<'END'
  > {%- for m in messages %}{{ '<' + m.role + '>' }}{% generation %}{{ m['content'] }}{% endgeneration %}{% endfor %}
  > END

Each of these gives the same.

  $ for what in '--chat roles.jinja' '--mask-field loss'; do
  >     echo "$what"
  >     set -- -t bytes --force $what --max-rejects 1000
  >     for program in leat "$tiny"; do
  >         for how in chat.jsonl 'chat.parquet --threads 1' 'chat.parquet --threads 2' 'chat.parquet --threads 7'; do
  >             members rejected $program pack -o out "$@" --json $how
  >             identity out
  >         done
  >     done 2>/dev/null | sort | uniq -c
  >     leat find out --id c100 | grep row
  >     for i in 1 2 3; do
  >         "$tiny" pack -o part.$i "$@" --part $i/3 chat.parquet >/dev/null 2>&1
  >     done
  >     leat merge -o merged --force part.1 part.2 part.3 >/dev/null
  >     rm -f rest.*
  >     "$tiny" pack -o rest "$@" --max-rejects 1 chat.parquet 2>&1 | grep -o 'more than allowed'
  >     "$tiny" pack -o rest -t bytes --resume $what --max-rejects 1000 chat.parquet >/dev/null 2>&1
  >     for suffix in jsonl parquet; do
  >         leat pack -o kept.$suffix "$@" --keep 'id != c3' chat.$suffix >/dev/null 2>&1
  >     done
  >     identity merged rest kept.jsonl kept.parquet | uniq -c
  >     head -n 9 chat.jsonl >few.jsonl
  >     leat pack -o by "$@" --by id few.jsonl chat.parquet >/dev/null 2>&1
  >     leat find by.c5 --id c5 | grep input
  > done
  --chat roles.jinja
        8 "rejected": 7
        8 5a66b95101305d5fd01f14da9347df14
  row       100
  more than allowed
        2 5a66b95101305d5fd01f14da9347df14
        2 2f5a53d74878f153393238265faf8a09
  input     few.jsonl (#0)
  --mask-field loss
        8 "rejected": 7
        8 0fe4353adbe0a8869398bf8b1c9be9f5
  row       100
  more than allowed
        2 0fe4353adbe0a8869398bf8b1c9be9f5
        2 b77d925f1fdad13c5535e768bfc86f03
  input     few.jsonl (#0)

A record may be 32 KiB long in the tiny build.

  $ for times in 1 5000 10500 11000; do
  >     awk -v times=$times 'BEGIN { printf "{\"messages\":[{\"role\":\"user\",\"content\":\""
  >                                  while (times-- > 0) printf "ab "; print "\"}]}" }'
  > done >chat_long.jsonl
  $ for suffix in jsonl parquet; do
  >     members documents,rejected "$tiny" pack -t bytes -o long.$suffix --chat roles.jinja --max-rejects 9 --json \
  >         chat_long.$suffix
  > done 2>/dev/null
  "documents": 3 "rejected": 1
  "documents": 3 "rejected": 1
  $ identity long.jsonl long.parquet | uniq -c
        2 0b1f8165980f11978cd691130d4c4a16

Tools are strings that hold JSON.

  $ { echo '{%- if tools %}{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %}{{ tools is none }}'
  >   cat roles.jinja; } >tools.jinja
  $ for suffix in jsonl parquet; do
  >     members documents,rejected "$tiny" pack -t bytes -o tools.$suffix --chat tools.jinja --max-rejects 60 --threads 3 \
  >         --json chat_tools.$suffix
  >     sed 's/.*"reason":"\(.*\)","record.*/\1/' tools.$suffix.rejects.jsonl
  > done 2>/dev/null
  "documents": 57 "rejected": 3
  \"tools\" is a string, but not JSON: it should hold the list of tools
  the tools are an object, not a list
  \"tools\" is a string, but not JSON: it should hold the list of tools
  "documents": 57 "rejected": 3
  \"tools\" is a string, but not JSON: it should hold the list of tools
  the tools are an object, not a list
  \"tools\" is a string, but not JSON: it should hold the list of tools
  $ identity tools.jsonl tools.parquet | uniq -c
        2 b9c690c2b9416c1d126726504f1468f9
  $ leat cat tools.parquet --document 0
  {"type": "function", "function": {"name": "ring", "description": "a \\"bell\\"\\n", "parameters": {}}}{"name": "f"}False<user>page \t prefix \xf0\x9f\x98\x80 \xf0\x9f\x98\x80 \xc3\xa9 of of \xf0\x9f\x98\x80 (no-eol) (esc)
  $ "$tiny" pack -t bytes -o untold --chat tools.jinja --tools '' chat_tools.parquet >/dev/null 2>&1
  $ identity untold
  fbaa202c00b8a0f5305cc87e80ab3b57

A group above the column may be null: so is the column.

  $ for suffix in jsonl parquet; do
  >     members documents,rejected leat pack -t bytes -o below.$suffix --mask-field meta.loss --max-rejects 9 --json \
  >         below_null.$suffix
  > done 2>/dev/null
  "documents": 2 "rejected": 1
  "documents": 2 "rejected": 1
  $ identity below.jsonl below.parquet | uniq -c
        2 a8622c5b63696840899a22021bc7188a

Rows of a row group each are rejected; the others are packed.

  $ rejects() { # NAME
  >     sed 's/.*"offset":\([0-9]*\),.*"reason":"/\1 /' $1.rejects.jsonl | cut -c -150
  > }
  $ for program in leat "$tiny"; do
  >     $program pack -t bytes -o odd --force --invalid-utf8 reject --max-rejects 9 refused.parquet >/dev/null
  >     rejects odd
  >     $program pack -t bytes -o odd --force --mask-field spans --max-rejects 9 refused.parquet >/dev/null
  >     rejects odd
  > done
  1 the id \"id\" is longer than 64 KiB","record":"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii
  2 the text is not valid UTF-8 at its byte 90001","record":"long text long text long text long text long text long text long text long text long text l
  1 the id \"id\" is longer than 64 KiB","record":"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii
  2 the text has a mask, and is not valid UTF-8: its places cannot be counted","record":"long text long text long text long text long text long text lon
  3 \"spans\" is not a list of [begin, end] places in the text, in order and apart: it says what is learned","record":"d"}
  1 the id \"id\" is longer than 64 KiB","record":"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii
  2 the text is not valid UTF-8 at its byte 90001","record":"long text long text long text long text long text long text long text long text long text l
  1 the id \"id\" is longer than 64 KiB","record":"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii
  2 the record has more than 4 MiB, which is too long for one with a mask","record":"c"}
  3 \"spans\" is not a list of [begin, end] places in the text, in order and apart: it says what is learned","record":"d"}

The first two of these texts are in the statistics of its page, and the third is in the page.

  $ at=$(grep -aob jkl refused.parquet | sed -n '3s,:.*,,p')
  $ printf 'xyz' | dd of=refused.parquet bs=1 seek="$at" conv=notrunc 2>/dev/null
  $ leat pack -t bytes -o odd --force --max-rejects 9 refused.parquet >/dev/null
  leat: 1 input was cut off or broken, and packed as far as it was readable: refused.parquet, at byte 797: row group 4 is broken: row 4 is lost; 137 bytes were not read
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o odd --max-rejects 9 refused.parquet
  [1]
  $ rejects odd
  1 the id \"id\" is longer than 64 KiB","record":"iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii
  4 refused.parquet: the page at byte 797, in the column text of row group 4, does not match its checksum: the file is damaged; row 4 is lost","record":

What cannot be a conversation or a mask is rejected, or refused.

  $ leat pack -t bytes -o no --chat roles.jinja --messages text --max-rejects 1000 chat.parquet >/dev/null
  leat: warning: 1 input gave no document, since each of its records was rejected:
  leat:   chat.parquet (120 records): "text" is a string, not an array of messages
  leat: when it is mended, start over with --force: leat pack --force -t bytes -o no --chat roles.jinja --messages text --max-rejects 1000 chat.parquet
  $ leat pack -t bytes -o no --force --mask-field messages --max-rejects 1000 chat.parquet >/dev/null
  leat: warning: 1 input gave no document, since each of its records was rejected:
  leat:   chat.parquet (120 records): "messages" is not a list of [begin, end] places in the text, in order and apart: it says what is learned
  leat: when it is mended, start over with --force: leat pack --force -t bytes -o no --mask-field messages --max-rejects 1000 chat.parquet
  $ leat pack -t bytes -o no --force --chat roles.jinja --messages turns chat.parquet
  leat: chat.parquet has no column turns; its columns are id, text, messages (list), loss (list) (--messages NAME)
  [1]
  $ leat pack -t bytes -o no --force --text messages.content chat.parquet
  leat: chat.parquet: the column messages.content is in a list, messages; name a column of single values
  [1]
  $ leat pack -t bytes -o no --force --text messages chat.parquet
  leat: chat.parquet: the column messages is a list; name a column of single values (--text NAME, or --chat FILE for conversations)
  [1]

Options that mean nothing without --chat, or with it, were ignored.

  $ leat pack -t bytes -o no --messages text chat.parquet
  leat: --messages is for conversations: add --chat FILE or --chat tokenizer (leat pack --help shows how)
  [2]
  $ leat pack -t bytes -o no --tools text chat.parquet
  leat: --tools is for conversations: add --chat FILE or --chat tokenizer (leat pack --help shows how)
  [2]
  $ leat pack -t bytes -o no --text turns --chat roles.jinja chat.parquet
  leat: --text and --chat contradict each other: the member or column with the conversation is --messages (leat pack --help shows how)
  [2]

A pair's columns of strings hold a list of messages each. Halves that are lists only when they stand side by side were
taken.

  $ cp "$SOURCES"/tests/parquet/files/pairs.parquet .
  $ leat pack -t bytes -o pairs --chat roles.jinja --prompt p --completion c --max-rejects 9 pairs.parquet | grep tokens
  pairs: 24 tokens in 1 document * (glob)
  1 of 24 tokens are learned (assistant 1); 0 conversations have none
  * tokens/s* (glob)
  $ rejects pairs
  1 \"p\" is a string, not an array of messages","record":""}
  2 \"p\" is a string, not an array of messages","record":""}
