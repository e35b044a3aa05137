#!/bin/sh
# check.sh BUILD [FOLDER]: what `make check-pages` runs: the pages that leat show and leat-bench report write, in
# headless Chromium: each opens, nothing reaches beyond the window at 360 and 1,600 pixels, in light, dark and print.
# Screenshots stay in FOLDER (BUILD/pages), to be looked at. Exit code 77: there is no Chromium.
set -e
build=$(cd "$1" && pwd)
folder=${2:-$build/pages}
for browser in chromium chromium-browser google-chrome; do
    command -v $browser >/dev/null && break
    browser=
done
[ -n "$browser" ] || {
    echo "skipped: there is no chromium" >&2
    exit 77
}
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

cat >texts.jsonl <<'END'
{"id": "<script>document.title='out'</script>", "text": "Hello, Zażółć 🙂 日本語 存在\n\tdef f(x):\n\t\treturn x\n"}
{"id": "a-very-long-id-without-any-blank-0123456789-0123456789-0123456789", "text": "שלום <b>&amp;</b>"}
{"id": "long", "text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
END
"$build/leat" pack --force -o corpus -t gpt2 texts.jsonl >/dev/null
"$build/leat" show --source corpus --seq-len 40 --step 0 --batch 2 --mask-first --html show.html
"$build/leat" show -t gpt2 -t bytes --html compare.html texts.jsonl
"$build/leat-bench" limits --size 16MiB --runs 1 --json . >limits.json
"$build/leat-bench" load --source corpus --seq-len 16 --batch 2 --steps 20 --bare --json >load.json
"$build/leat-bench" pack --force -o packed -t gpt2 --threads 1,2 --json texts.jsonl >pack.json
"$build/leat-bench" report -o report.html limits.json load.json pack.json

# How far the widest part of a page reaches beyond its window, and its title. Parts that scroll count by their own
# width.
# The page stands in a frame of that width, since a window has at least 500 pixels; the copy may run this script, which
# the page itself forbids.
measure='<script>addEventListener("load", () => {
  document.querySelectorAll("details").forEach((d) => { d.open = true; });
  let far = document.documentElement.scrollWidth, what = "page";
  for (const e of document.body.querySelectorAll("*"))
    if (!e.parentElement.closest(".wide, pre, svg") && e.getBoundingClientRect().right > far) {
      far = e.getBoundingClientRect().right; what = e.tagName + "." + e.className; }
  parent.postMessage([innerWidth, Math.ceil(far), what, document.title].join(" "), "*"); });</script>'
receive='<script>addEventListener("message", (m) => { document.documentElement.dataset.measured = m.data; });</script>'

framed() { # PAGE WIDTH: the page in a frame
    printf '<!DOCTYPE html><meta charset="utf-8">%s<body style="margin:0">' "$receive"
    printf '<iframe style="border:0" width="%s" ' "$2"
    printf 'height="6000" srcdoc="'
    { sed -e 's/<meta http-equiv[^>]*>//' "$1" && echo "$measure"; } | sed -e 's/&/\&amp;/g' -e 's/"/\&quot;/g'
    printf '"></iframe>\n'
}

browse() { # OPTIONS...
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/profile" "$@" 2>>log
}
failures=0
for page in ${PAGES:-show compare report}; do
    for width in 360 1600; do
        framed "$page.html" "$width" >measured.html
        got=$(browse --window-size=$((width > 500 ? width : 500)),1000 --dump-dom "file://$folder/measured.html" |
            sed -n 's/.*data-measured="\([^"]*\)".*/\1/p')
        echo "$page: width of the window, farthest, what, title: $got"
        # words
        # shellcheck disable=SC2086
        set -- $got
        if [ "${1:-0}" -ne "$width" ] || [ "${2:-9999}" -gt "$width" ]; then
            echo "$page reaches beyond the window at $width pixels" >&2
            failures=$((failures + 1))
        fi
        case $got in
        *' out') echo "$page ran a script of a document" >&2 && failures=$((failures + 1)) ;;
        esac
        for scheme in 0 1; do # dark, light
            browse --window-size=$((width > 500 ? width : 500)),1600 --blink-settings=preferredColorScheme=$scheme \
                --screenshot="$folder/$page-$width-$scheme.png" "file://$folder/measured.html"
        done
    done
    browse --no-pdf-header-footer --print-to-pdf="$folder/$page.pdf" "file://$folder/$page.html"
    [ -s "$page.pdf" ] || {
        echo "$page cannot be printed" >&2
        failures=$((failures + 1))
    }
done

rm -rf profile
[ $failures -eq 0 ]
