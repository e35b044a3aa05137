#!/bin/sh
# test_walk.sh: each function on the way of a token in docs/how-it-works.md is defined in the file that the page names,
# and the page counts correctly how often the way leads back into a file or a room.
page=docs/how-it-works.md
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-walk-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

# Backquotes stand in single quotes as they are.
# shellcheck disable=SC2016
# The steps of a page, one "FILE FUNCTION" a line, an empty line before each new way.
steps() { # PAGE
    sed -nE -e 's|^### .*||p' -e 's|^[0-9]+\. `([A-Za-z0-9_./]+):([a-z0-9_]+)`.*|\1 \2|p' "$1"
}

# A definition begins in the first column and has the name before a parenthesis, and does not end with a semicolon.
defined() { # FILE FUNCTION
    [ -f "$1" ] && grep -qE "^[A-Za-z].*[ *]$2\(.*[^;]$" "$1"
}

check() { # PAGE: says which steps are not there
    steps "$1" | while read -r file function; do
        [ -z "$file" ] || defined "$file" "$function" || echo "$1: $file does not define $function()"
    done
}

# Times that a step returns to a file, or to a room, that an earlier step of the same way has left.
back() { # PAGE
    steps "$1" | awk '
    NF == 0 { split("", left); at[1] = at[2] = ""; next }
    {
        place[1] = $1
        place[2] = $1
        sub("/[^/]*$", "", place[2])
        for (i = 1; i <= 2; i++) {
            if (place[i] == at[i])
                continue
            if (at[i] != "")
                left[at[i]] = 1
            if (place[i] in left)
                count[i]++
            at[i] = place[i]
        }
    }
    END { printf "%d times to a file, %d times to a room", count[1], count[2] }'
}

bad=$(check $page)
if [ -n "$bad" ]; then
    printf '%s\n' "$bad" >&2
    exit 1
fi
[ "$(steps $page | grep -c .)" -ge 40 ] || {
    echo "$page: the way has fewer than 40 steps" >&2
    exit 1
}
grep -qF "$(back $page)" $page || {
    echo "$page: the way leads back $(back $page)" >&2
    exit 1
}

# a renamed function is noticed
sed -E 's|^(1\. `[^:]*:)|\1no_longer_|' $page >"$tmp/page.md"
[ "$(check "$tmp/page.md" | grep -c 'does not define no_longer_')" -eq "$(grep -c '^1\. ' $page)" ] || {
    echo "$page: a name that no file defines is not noticed" >&2
    exit 1
}
