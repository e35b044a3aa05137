#!/bin/sh
# check_purpose.sh: every file begins with a comment that says what it is for, under its own name, but NAME.c may begin
# with NAME.h, which says it; every page with a title.
. tests/lint/common.sh

# shellcheck disable=SC2016 # awk's own
look='
# The lines that may carry it: two that are neither #! nor blank.
function head_of(file, line, n, head) {
    while (n < 2 && (getline line <file) > 0)
        if (line !~ /^#!/ && line !~ /^# shellcheck / && line != "") {
            head = head line "\n"
            n++
        }
    close(file)
    return head
}
function look_at(file, base, name, head) {
    base = file
    sub(/.*\//, "", base)
    name = base
    sub(/\.in$/, "", name)
    head = head_of(file)
    if (base ~ /\.md$/) {
        if (head !~ /^# / && !(base == "SKILL.md" && head ~ /^---\nname: /)) # a skill begins with what it is for
            print file ":1: does not begin with a title"
    } else if (base ~ /\.c$/ && index(head, "#include \"" substr(base, 1, length(base) - 1) "h\"") == 1) {
        return # its header says it
    } else if (base ~ /\.(c|h|cu|css|js)$/ && head !~ /^\/\*/) {
        print file ":1: does not begin with /*"
    } else if (base !~ /\.(c|h|cu|css|js)$/ && head !~ (base ~ /\.py$/ ? "^\"\"\"" : "^#")) {
        if (base !~ /\.py$/ || head !~ /^#/)
            print file ":1: does not begin with a comment"
    } else if (base != "Makefile" && base != "run" && base !~ /\.py$/) { # called by many names, or imported
        if (!index(head, name ":") && !index(head, name " ")) # with its arguments
            print file ":1: the first comment does not begin with \"" base ": \""
    }
}
BEGIN {
    for (i = 1; i < ARGC; i++)
        look_at(ARGV[i])
}'
files '*.c' '*.h' '*.cu' '*.sh' '*.py' '*.mk' '*.md' 'Makefile' '.ci/*' 'scripts/*' | xargs awk "$look"
exit 0
