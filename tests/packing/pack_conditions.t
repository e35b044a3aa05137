pack_conditions.t: a condition that --keep cannot read is refused, before anything is read or written, with the place
and the reason.

A value of several words once was one string with all that came after it: "meta.lang != en and meta.lang != de" left
out nothing.

  $ echo '{"text": "a", "lang": "en"}' >a.jsonl
  $ while IFS= read -r condition; do
  >     leat pack -t bytes -o no --keep "$condition" a.jsonl || [ $? -eq 2 ] || break
  > done <<'CONDITIONS' 2>&1 | sed 's/^leat: the condition //'
  > lang
  > lang ~ en
  > = en
  > lang =
  > lang = true
  > lang = "en
  > lang = "a" b
  > lang = 'en
  > lang = 'e'n'
  > lang = "en'
  > lang = =en
  > lang === en
  > score => 3
  > score =< 3
  > lang exists now
  > Id >= 3 && Id < 9
  > Id>=3&&Id<9
  > lang = en || lang = de
  > lang = en & Id < 9
  > !lang exists
  > lang = en or !(Id < 9)
  > lang = en AND Id < 9
  > title = war and peace
  > title = the end
  > title = f(x)
  > title = (x)
  > lang in (en, de)
  > not
  > not lang
  > (lang = en
  > lang = en)
  > 3 < Id < 9
  > Id > 3 < 9
  > a + b = en
  > a + b > c
  > a > b + 1
  > a > 2 * b
  > a - b
  > lang = en and
  > lang = en or or Id = 3
  > and = 1
  > lang = not
  > lang = -
  > lang = not en
  > lang and Id = 3
  > 1 + 1 = 2
  > lang = en exists
  > lang = (a and b)
  > lang = "\q"
  > é = en & x
  > a * (b + c > 3)
  > (a = 1) + 2 > 3
  > 3 exists
  > lang = null
  > (lang
  > 
  > (((((((((((((((((x = 1)))))))))))))))))
  > "a\u0000" = 1
  > CONDITIONS
  "lang" is wrong at character 1 (lang): compare this, or ask if it exists; a value of several words stands in quotes
  "lang ~ en" is wrong at character 6 (~ en): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "= en" is wrong at character 1 (= en): a field is missing
  "lang =" is wrong at character 7 (its end): a value is missing; an empty one is ""
  "lang = true" is wrong at character 8 (true): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "lang = "en" is wrong at character 8 ("en): this quote is not closed
  "lang = "a" b" is wrong at character 12 (b): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "lang = 'en" is wrong at character 8 ('en): this quote is not closed
  "lang = 'e'n'" is wrong at character 11 (n'): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "lang = "en'" is wrong at character 8 ("en'): this quote is not closed
  "lang = =en" is wrong at character 8 (=en): signs are = != < <= > >=, and a value that begins so stands in quotes
  "lang === en" is wrong at character 8 (= en): signs are = != < <= > >=, and a value that begins so stands in quotes
  "score => 3" is wrong at character 8 (> 3): signs are = != < <= > >=, and a value that begins so stands in quotes
  "score =< 3" is wrong at character 8 (< 3): signs are = != < <= > >=, and a value that begins so stands in quotes
  "lang exists now" is wrong at character 13 (now): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "Id >= 3 && Id < 9" is wrong at character 9 (&& Id < 9): write and instead of &&; a value with it stands in quotes
  "Id>=3&&Id<9" is wrong at character 6 (&&Id<9): write and instead of &&; a value with it stands in quotes
  "lang = en || lang = de" is wrong at character 11 (|| lang = de): write or instead of ||; a value with it stands in quotes
  "lang = en & Id < 9" is wrong at character 11 (& Id < 9): write and instead of &&; a value with it stands in quotes
  "!lang exists" is wrong at character 1 (!lang exists): write not instead of !
  "lang = en or !(Id < 9)" is wrong at character 14 (!(Id < 9)): write not instead of !
  "lang = en AND Id < 9" is wrong at character 11 (AND Id < 9): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "title = war and peace" is wrong at character 17 (peace): compare this, or ask if it exists; a value of several words stands in quotes
  "title = the end" is wrong at character 13 (end): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "title = f(x)" is wrong at character 10 ((x)): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "title = (x)" is wrong at character 9 ((x)): a value with brackets stands in quotes
  "lang in (en, de)" is wrong at character 6 (in (en, de)): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "not" is wrong at character 4 (its end): a field is missing
  "not lang" is wrong at character 5 (lang): compare this, or ask if it exists; a value of several words stands in quotes
  "(lang = en" is wrong at character 1 ((lang = en): this bracket is not closed
  "lang = en)" is wrong at character 10 ()): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "3 < Id < 9" is wrong at character 1 (3 < Id < 9): left of a sign stands a field, in quotes if it is a number, or a sum of fields; and joins comparisons
  "Id > 3 < 9" is wrong at character 1 (Id > 3 < 9): left of a sign stands a field, in quotes if it is a number, or a sum of fields; and joins comparisons
  "a + b = en" is wrong at character 9 (en): a sum is compared with numbers; fields stand left of the sign
  "a + b > c" is wrong at character 9 (c): a sum is compared with numbers; fields stand left of the sign
  "a > b + 1" is wrong at character 5 (b + 1): + - * join numbers, and fields left of the sign; a value with blanks stands in quotes
  "a > 2 * b" is wrong at character 9 (b): + - * join numbers, and fields left of the sign; a value with blanks stands in quotes
  "a - b" is wrong at character 1 (a - b): compare this, or ask if it exists; a value of several words stands in quotes
  "lang = en and" is wrong at character 14 (its end): a field is missing
  "lang = en or or Id = 3" is wrong at character 14 (or Id = 3): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "and = 1" is wrong at character 1 (and = 1): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "lang = not" is wrong at character 8 (not): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "lang = -" is wrong at character 8 (-): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "lang = not en" is wrong at character 8 (not en): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "lang and Id = 3" is wrong at character 1 (lang and Id = 3): compare this, or ask if it exists; a value of several words stands in quotes
  "1 + 1 = 2" is wrong at character 1 (1 + 1 = 2): left of a sign stands a field, in quotes if it is a number, or a sum of fields; and joins comparisons
  "lang = en exists" is wrong at character 11 (exists): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "lang = (a and b)" is wrong at character 9 (a and b)): compare this, or ask if it exists; a value of several words stands in quotes
  "lang = "\q"" is wrong at character 9 (\q"): JSON has no such escape; in quotes, \\ is a backslash
  "\xc3\xa9 = en & x" is wrong at character 8 (& x): write and instead of &&; a value with it stands in quotes (esc)
  "a * (b + c > 3)" is wrong at character 5 ((b + c > 3)): + - * join numbers, and fields left of the sign; a value with blanks stands in quotes
  "(a = 1) + 2 > 3" is wrong at character 1 ((a = 1) + 2 > 3): + - * join numbers, and fields left of the sign; a value with blanks stands in quotes
  "3 exists" is wrong at character 3 (exists): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  "lang = null" is wrong at character 8 (null): and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then
  "(lang" is wrong at character 1 ((lang): this bracket is not closed
  "" is wrong at character 1 (its end): a field is missing
  "(((((((((((((((((x = 1)))))))))))))))))" is wrong at character 17 ((x = 1)))))))))))))))))): too many brackets or not within each other
  ""a\u0000" = 1" is wrong at character 1 ("a\u0000" = 1): the name of a field has no zero byte
  $ leat pack -t bytes -o no --keep 'lang ~ en' a.jsonl
  leat: the condition "lang ~ en" is wrong at character 6 (~ en): after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or brackets stands in quotes
  [2]
  $ ls
  a.jsonl
