#!/bin/sh
# check_unreached.sh: each function that tests/coverage/unreached.txt judges is in the file that it names there.
. tests/lint/common.sh

list=tests/coverage/unreached.txt
number=0
while IFS='	' read -r file function lines reason; do
    number=$((number + 1))
    [ -n "$reason" ] && [ "$lines" -gt 0 ] || echo "$list:$number: not file, function, lines and reason"
    if [ ! -f "$file" ]; then
        echo "$list:$number: no file $file"
    else
        grep -qw -- "$function" "$file" || echo "$list:$number: $file has no $function()"
    fi
done <$list
exit 0
