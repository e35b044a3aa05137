#!/bin/sh
# check_includes.sh: includes go one way, as includes.txt says; every file fits a row there; no circle is possible.
. tests/lint/common.sh

# the table itself: a row names only rows above it
awk '/^[a-z]/ {
    for (i = 4; i <= NF; i++)
        if ($i != "any" && $i !~ /^</ && !($i in above))
            print FILENAME ":" FNR ": " $2 " may include " $i ", which does not stand above it"
    above[$2] = 1
}' tests/lint/includes.txt

# every include, resolved to a file of the tree where there is one, against its row
{
    files '*.c' '*.h' | groups
    # names of files have no spaces
    # shellcheck disable=SC2046
    grep -nE '^[[:space:]]*#[[:space:]]*include' $(files '*.c' '*.h') /dev/null |
        sed -E 's/^([^:]*):([0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*([^[:space:]]*).*/include \1 \2 \3/'
} | awk '
BEGIN {
    split("assert ctype errno float inttypes limits math stdarg stdbool stddef stdint stdio stdlib string", c, " ")
    for (i in c) standard["<" c[i] ".h>"] = 1
}
FILENAME != "-" { # includes.txt
    if ($0 ~ /^[a-z]/)
        for (i = 4; i <= NF; i++) { may[$2, $i] = 1; if ($i ~ /^</) owned[$i] = 1 }
    next
}
$1 != "include" { # KIND GROUP FILE
    kind[$3] = $1; group[$3] = $2
    if ($1 == "none") print $3 ": no row of includes.txt fits this file"
    next
}
{ # include FILE LINE NAME
    file = $2; name = $4; at = file ":" $3 ": "; own = group[file]
    bare = substr(name, 2, length(name) - 2)
    folder = file; sub(/[^\/]*$/, "", folder)
    roots = folder ~ /^python\// ? "include/|python/src/|src/|tokenize_tools/" : "include/|src/|tokenize_tools/|tests/|"
    n = split(name ~ /^</ ? "include/" : folder "|" roots, where, "|")
    target = ""
    for (i = 1; i <= n && target == ""; i++) {
        path = where[i] bare
        while (sub(/[^\/]+\/\.\.\//, "", path)) ;
        if (path in group) target = path
    }
    if (target == "") {
        if (name ~ /^"/) print at "no file of the tree is called " bare
        else if (kind[file] == "header" && own != "reader" && !(name in standard))
            print at "a public header includes " name
        else if ((name in owned) && !((own, name) in may)) print at own " may not include " name
    } else if (group[target] != own && !((own, group[target]) in may) && !((own, "any") in may))
        print at own " may not include " target " (" group[target] ")"
    else if (own == "examples" && name ~ /^"/)
        print at "an example includes <" bare ">, as a program outside would"
}' tests/lint/includes.txt -
exit 0
