#!/bin/sh
# check_purpose.sh: every file begins with a comment that says what it is for, under its own name; every page with a
# title.
. tests/lint/common.sh

files '*.c' '*.h' '*.cu' '*.sh' '*.py' '*.mk' 'Makefile' '.ci/*' 'scripts/*' | while read -r file; do
    # the lines that may carry it: not #!, not blank
    head=$(grep -vE '^(#!.*|# shellcheck .*|)$' "$file" | head -n 2)
    base=${file##*/}
    case $base:$head in
    *.c:/\** | *.h:/\** | *.cu:/\**) ;;
    *.c:* | *.h:* | *.cu:*) echo "$file:1: does not begin with /*" && continue ;;
    *.py:\"\"\"* | *:\#*) ;;
    *) echo "$file:1: does not begin with a comment" && continue ;;
    esac
    case $base:$head in
    Makefile:* | run:* | *.py:*) ;; # called by many names, or imported
    *:*"${base%.in}:"*) ;;
    *:*"${base%.in} "*) ;; # with its arguments
    *) echo "$file:1: the first comment does not begin with \"$base: \"" ;;
    esac
done
files '*.md' | while read -r file; do
    case $(head -n 1 "$file") in
    '# '*) ;;
    *) echo "$file:1: does not begin with a title" ;;
    esac
done
exit 0
