#!/bin/sh
# check_docs.sh: what the documents name is there: functions, statuses and their numbers, make targets, files, links,
# steps of a token's way. And every status has a name and is used.
. tests/lint/common.sh

header=include/leat/error.h
docs=$(files '*.md')
named() { # PATTERN: each "FILE:LINE:WORD" of the documents
    # names of files have no spaces
    # shellcheck disable=SC2086
    grep -noE "$1" $docs /dev/null
}

# Functions and structs (leat_noun_* stands for several); statuses; other capitals, some of which only tests know.
known=$(cat include/*.h include/*/*.h src/*.h src/*/*.h tests/*.h Makefile tests/*.mk tests/run.sh bench/*.mk \
    bench/peers/*.py |
    grep -oE '\b(leat|LEAT)_[A-Za-z0-9_]+' | sort -u)
known="$known $(files '*leat_*' | sed 's|.*/||; s|[.].*||')"
known="$known $(sed -nE 's/.*getenv\("(LEAT_[A-Z_]+)"\).*/\1/p' src/base/*.c tests/*.h tokenize_tools/cli/*.c \
    tokenize_tools/commands/*/*.c tests/support/*.c tests/fake_cuda/*.c)"
known="$known $(sed -nE 's/.*public_files\("(LEAT_[A-Z_]+)".*/\1/p' python/tests/*.py)"
{
    echo "$known"
    echo --
    named '\b(leat|LEAT)_[A-Za-z0-9_]*[A-Za-z0-9]\b'
} | awk -F: '
    $0 == "--" { asked = 1; next }
    !asked { n = split($0, words, " "); for (i = 1; i <= n; i++) known[words[i]] = 1; next }
    !($3 in known) { print $1 ":" $2 ": nothing is called " $3 }'

# Numbers beside statuses: "LEAT_E_X = 30", "LEAT_E_X (30)", "| LEAT_E_X | 30 |", "| 30 | LEAT_E_X |".
{
    named '\bLEAT_E_[A-Z_]+`? *[=(|] *[0-9]+\b' | sed -E 's/`? *[=(|] */ /'
    named '\| *[0-9]+ *\| *`?LEAT_E_[A-Z_]+' | sed -E 's/:\| *([0-9]+) *\| *`?(LEAT_E_[A-Z_]+)/:\2 \1/'
} | while IFS=': ' read -r file line word number; do
    grep -qE "^ *$word = $number\b" $header || echo "$file:$line: $word is not $number"
done

# Every status: a name of its own in leat_status_name(), and a place where it is given.
sed -nE 's/^ *(LEAT_E_[A-Z_]+) = .*/\1/p' $header | while read -r word; do
    grep -qE "\{ $word, \"[a-z-]+\" \}" src/names.c || echo "$header: leat_status_name() has no name for $word"
    grep -rqw --include='*.[ch]' --exclude=names.c -- "$word" src tokenize_tools || echo "$header: nothing gives $word"
done

# Make targets, in backquotes or as a line of a shell.
targets=$(files Makefile '*.mk' | xargs grep -hoE '^[a-z][a-z0-9 -]*:' | tr -d : | tr ' ' '\n' | sort -u)
{
    named '[`]make [a-z0-9-]+' | tr -d '`'
    named '^ *\$? *make [a-z0-9-]+' | sed -E 's/:[ $]+make/:make/'
} | sed 's/:make /:/' | while IFS=: read -r file line word; do
    printf '%s\n' "$targets" | grep -qx -- "$word" || echo "$file:$line: there is no make target $word"
done

folders='\.ci|bench|docs|examples|include|python|scripts|src|tests|tokenize_tools'
# Files: links within the tree, and paths in backquotes, unless they have a NAME to be filled in.
{
    named '\]\([^)#:]+[)#]' | sed -e 's/](//' -e 's/[)#]$//' # not those with a scheme
    named "[\`]($folders)/[A-Za-z0-9_./*-]*[\`]" | tr -d '`'
} | grep -vE '(NAME|FOLDER)' | while IFS=: read -r file line path; do
    folder=.
    case $file in
    */*) folder=${file%/*} ;;
    esac
    # a pattern is a path too
    # shellcheck disable=SC2086
    ls -d $folder/$path >/dev/null 2>&1 || ls -d $path >/dev/null 2>&1 || echo "$file:$line: there is no file $path"
done

# The steps of a token's way, "1. `FILE:FUNCTION`": a definition begins in the first column, or is a method of a class
# in Python, and ends with no semicolon.
named "^[0-9]+[.] [\`][A-Za-z0-9_./]+:[a-z0-9_]+[\`]" | tr -d '`' | while IFS=: read -r file line step function; do
    source=${step#* }
    grep -qE "^([A-Za-z].*[ *]|    def )$function\(.*[^;]$" "$source" ||
        echo "$file:$line: $source does not define $function"
done
exit 0
