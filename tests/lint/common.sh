# shellcheck shell=sh
# common.sh: what the checks share; each begins by sourcing it, and runs from the root of the tree.
#
# Whatever a check prints is a problem, "FILE:LINE: what is wrong", and makes it fail: so the check is run a second time
# from here, to see whether it prints.
if [ -z "$LEAT_LINT_INSIDE" ]; then
    found=$(LEAT_LINT_INSIDE=1 "$0")
    code=$?
    [ -z "$found" ] || printf '%s\n' "$found"
    [ $code -ne 77 ] || exit 77
    [ -z "$found" ] && [ $code -eq 0 ]
    exit
fi

export build="${LEAT_BUILD:-build}"

# The files of the tree that match one of the given patterns: what git holds or would take.
files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -- "$@" | while read -r file; do
            [ ! -f "$file" ] || echo "$file"
        done
    else # an unpacked archive
        for pattern in "$@"; do
            case $pattern in
            */*) find . -type f -path "./$pattern" ;;
            *) find . -type f -name "$pattern" ;;
            esac
        done | sed -n '/^\.\/build\//d; /\/\.git\//d; s|^\./||p'
    fi | LC_ALL=C sort -u
}

skip() {
    echo "skipped: $*"
    exit 77
}

# C files with comments and the inside of strings blanked: "FILE:LINE:code". What is left is code.
code() {
    awk '
    FNR == 1 { comment = 0 }
    {
        line = $0; out = ""; string = ""
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1); two = substr(line, i, 2)
            if (comment) { if (two == "*/") { comment = 0; i++ } }
            else if (string != "") { if (c == "\\") i++; else if (c == string) { string = ""; out = out c } }
            else if (two == "/*") { comment = 1; i++; out = out " " }
            else if (two == "//") break
            else { if (c == "\"" || c == "'\''") string = c; out = out c }
        }
        print FILENAME ":" FNR ":" out
    }' "$@"
}

# The kind (library, program, ...) and group of files on stdin, from includes.txt: "KIND GROUP FILE".
groups() {
    awk '
    FNR == NR {
        if ($0 ~ /^[a-z]/) {
            n++; kind[n] = $1; group[n] = $2
            gsub(/\./, "\\.", $3); gsub(/\*/, ".*", $3); gsub(/,/, "$|^", $3)
            pattern[n] = "^" $3 "$"
        }
        next
    }
    {
        for (i = 1; i <= n; i++)
            if ($0 ~ pattern[i]) { print kind[i], group[i], $0; next }
        print "none", "none", $0
    }' tests/lint/includes.txt -
}
