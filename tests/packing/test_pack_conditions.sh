#!/bin/sh
# test_pack_conditions.sh: a condition that --keep cannot read is refused with the place and the reason, before anything
# is read or written: && and || name `and` and `or`, and a value of several words, which once was one string with all
# that came after it ("meta.lang != en and meta.lang != de" left out nothing), is to stand in quotes.
. tests/cli/cli.sh

echo '{"text": "a", "lang": "en"}' >a.jsonl
while IFS='|' read -r named condition; do
    refuse 2 "character $named" leat pack -t bytes -o no --keep "${condition# }" a.jsonl
    [ ! -e no.leat ] || fail "$ran: left no.leat"
done <<'CONDITIONS'
1 quotes | lang
6 quotes | lang ~ en
1 | = en
7 | lang =
8 quotes | lang = true
8 | lang = "en
12 quotes | lang = "a" b
8 | lang = 'en
11 quotes | lang = 'e'n'
8 | lang = "en'
8 quotes | lang = =en
8 quotes | lang === en
8 quotes | score => 3
8 quotes | score =< 3
13 quotes | lang exists now
9 and | Id >= 3 && Id < 9
6 and | Id>=3&&Id<9
11 or | lang = en || lang = de
11 and | lang = en & Id < 9
1 not ! | !lang exists
14 not ! | lang = en or !(Id < 9)
11 quotes | lang = en AND Id < 9
17 quotes | title = war and peace
13 quotes | title = the end
10 quotes | title = f(x)
9 quotes | title = (x)
6 quotes | lang in (en, de)
4 | not
5 quotes | not lang
1 | (lang = en
10 quotes | lang = en)
1 quotes | 3 < Id < 9
1 quotes | Id > 3 < 9
9 | a + b = en
9 | a + b > c
5 quotes | a > b + 1
9 quotes | a > 2 * b
1 quotes | a - b
14 | lang = en and
14 quotes | lang = en or or Id = 3
1 quotes | and = 1
8 quotes | lang = not
8 quotes | lang = -
8 quotes | lang = not en
1 quotes | lang and Id = 3
1 quotes | 1 + 1 = 2
11 quotes | lang = en exists
9 quotes | lang = (a and b)
9 quotes | lang = "\q"
8 and | é = en & x
5 quotes | a * (b + c > 3)
1 quotes | (a = 1) + 2 > 3
3 quotes | 3 exists
8 quotes | lang = null
1 | (lang
CONDITIONS
refuse 2 'character 1' leat pack -t bytes -o no --keep '' a.jsonl
refuse 2 'character 17 brackets' leat pack -t bytes -o no --keep '(((((((((((((((((x = 1)))))))))))))))))' a.jsonl
refuse 2 'zero' leat pack -t bytes -o no --keep '"a\u0000" = 1' a.jsonl
finish
