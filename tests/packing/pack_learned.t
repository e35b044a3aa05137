pack_learned.t: how many tokens training learns, and of which role, is said by the summary of each run whose dataset has
a mask, by --dry-run and by leat info, and stands in the metadata. Nothing said it: a role "model" in place of
"assistant" was packed with a mask of zeros, without a word.

  $ python3 -c 'import jinja2' 2>/dev/null || exit 80
  $ . "$SOURCES"/tests/cli/datasets.sh
  $ printf '{"lang":"%s","messages":[{"role":"user","content":"%s"},{"role":"assistant","content":"%s"}]}\n' \
  >     en one 1 de two 22 en three 333 de two 22 >chat.jsonl
  $ echo '{% for m in messages %}{{ m.role }}: {{ m.content }};{% endfor %}' >a.jinja
  $ counts() { # COMMAND...: what it says that is learned
  >     "$@" | grep -o 'learned  .*\|[0-9]* of [0-9]* tokens are learned.*'
  > }
  $ chat() { counts leat pack -t bytes --chat a.jinja "$@"; }
  $ chat -o whole chat.jsonl 2>/dev/null
  8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ chat -o whole --resume chat.jsonl 2>/dev/null
  8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ chat -o dry --dry-run chat.jsonl 2>/dev/null
  8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ counts leat info whole
  learned     8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ leat pack -t bytes --chat a.jinja -o whole --force --json chat.jsonl 2>/dev/null | grep -o '"learned": .*}}'
  "learned": {"tokens":8,"documents_without":0,"by_role":{"assistant":8}}
  $ leat pack -t bytes --chat a.jinja --dry-run --json chat.jsonl 2>/dev/null | grep -o '"learned": .*}}'
  "learned": {"tokens":8,"documents_without":0,"by_role":{"assistant":8}}
  $ leat info whole --json | grep -o '"learned": [^ ]*}}'
  "learned": {"tokens":8,"documents_without":0,"by_role":{"assistant":8}}
  $ leat pack -t bytes -o none --json chat.jsonl --text lang | grep -o '"learned": [^,]*'
  "learned": null

Begin and end tokens count as the tokens next to them.

  $ chat -o all --learn all --begin 0 --end 256 chat.jsonl 2>/dev/null
  106 of 106 tokens are learned (assistant 64, user 42); 0 conversations have none

What arranges documents counts them again. Their roles are known if all were of one.

  $ chat -o apart --dedup --split valid=0.5 --shuffle 1 chat.jsonl 2>/dev/null
  2 of 24 tokens are learned (assistant 2); 0 conversations have none
  $ chat -o apart --dedup --split valid=0.5 --shuffle 1 --resume chat.jsonl 2>/dev/null
  2 of 24 tokens are learned (assistant 2); 0 conversations have none
  $ counts leat info apart.valid
  learned     4 of 50 tokens are learned (assistant 4); 0 conversations have none
  $ chat -o two --learn all --dedup chat.jsonl 2>/dev/null
  74 of 74 tokens are learned; 0 conversations have none
  $ chat -o by --by lang chat.jsonl 2>/dev/null
  8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ chat -o by --by lang --resume chat.jsonl 2>/dev/null
  8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ counts leat info by.de
  learned     4 of 48 tokens are learned (assistant 4); 0 conversations have none

The parts of a run add up, in its folder and merged.

  $ leat pack -t bytes --chat a.jinja --run run --parts 2 chat.jsonl >/dev/null 2>&1
  $ for part in 1 2; do counts leat pack --run run --part $part 2>/dev/null; done
  6 of 74 tokens are learned (assistant 6); 0 conversations have none
  2 of 24 tokens are learned (assistant 2); 0 conversations have none
  $ counts leat info run
  learned     8 of 98 tokens are learned (assistant 8); 0 conversations have none
  $ leat merge -o joined run >/dev/null
  $ same joined whole

Other masks have no roles. Of a dataset that does not say it, leat info does not either.

  $ printf '{"text":"%s","loss":%s}\n' hello '[[0,3]]' world '[]' >loss.jsonl
  $ counts leat pack -t bytes -o masked --mask-field loss loss.jsonl
  3 of 12 tokens are learned; 1 document has none
  $ leat pack -t bytes -o plain --text text loss.jsonl >/dev/null
  $ leat merge -o more masked plain >/dev/null
  $ counts leat info more
  learned     15 of 24 tokens are learned; 1 document has none
  $ counts leat info "$SOURCES"/tests/golden/valid/mask
  learned     not recorded

leat show --learned marks the tokens that are learned, by their weight. Without it a place is marked by its label, the next
token, so that all seemed to lie one place too early.

  $ printf '{"messages":[{"role":"user","content":"ab","weight":0.25},{"role":"assistant","content":"cd"}]}\n' >weight.jsonl
  $ leat pack -t bytes --chat a.jinja -o weight weight.jsonl >/dev/null 2>&1
  $ shown() { # OPTION...: a bar before a learned token, half of one if it counts less, a colon before others
  >     leat show "$@" | sed '/begins a token/d; /^$/d; s/┊/:/g; s/│/|/g; s/█/#/g; s/▎/+/g; s/└─/--/; s/[⟦⟧]/"/g; s/→/->/g'
  > }
  $ shown weight --document 0
  weight
  :u:s:e:r::| |a:b:;:a:s:s:i:s:t:a:n:t::| |c:d:;
  -- document 0, weight.jsonl:0; places 0:23, 4 with loss
  $ shown weight --document 0 --learned
  weight
  :u:s:e:r::: +a+b:;:a:s:s:i:s:t:a:n:t::: #c#d:;
  -- document 0, weight.jsonl:0; places 0:23, 4 learned
  $ shown --source weight --seq-len 8 --order sequential --sample 0 --learned
  sample 0: position 0, row 0, epoch 0
  :u:s:e:r::: +a+b
  -- document 0 of weight, weight.jsonl:0; places 0:8, positions 0:8, 2 learned
  $ leat show weight --tokens 4:8 --learned --json | grep -o '"learned": [^]]*'
  "learned": [0.0, 0.0, 0.25098039215686274, 0.25098039215686274
  $ leat show weight --tokens 6:7 --learned --color | cat -v | grep -o '[0-9;]*m^.*a'
  38;5;16;48;5;194m^[[38;5;16;48;5;194ma
  $ leat show weight --document 0 --learned --html page.html >/dev/null
  $ grep -o 'place [67],[^>]*' page.html
  place 6, id 97, learned" style="box-shadow:inset 0 -0.13em var(--learned)"
  place 7, id 98, learned" style="box-shadow:inset 0 -0.13em var(--learned)"

Where nothing is learned, that is a warning.

  $ sed 's/assistant/model/' chat.jsonl >model.jsonl
  $ leat pack -t bytes --chat a.jinja -o model model.jsonl 2>&1 | grep -v 'ends a turn\| of text'
  leat: warning: training learns no token of these conversations: they have no message of the role assistant, or the options leave out what it says
  0 of 82 tokens are learned; 4 conversations have none
  $ sed 's/0,3/0,0/' loss.jsonl >no.jsonl
  $ leat pack -t bytes -o zero --mask-field loss no.jsonl | grep learned
  leat: warning: training learns no token of these documents: their masks are all 0
  0 of 12 tokens are learned; 2 documents have none
  $ leat pack -t bytes --dry-run --mask-field loss no.jsonl | grep learned
  leat: warning: training learns no token of these documents: their masks are all 0
  0 of 12 tokens are learned; 2 documents have none
