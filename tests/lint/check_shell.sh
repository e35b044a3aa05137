#!/bin/sh
# check_shell.sh: shellcheck finds nothing in the scripts, and every script can be run.
. tests/lint/common.sh

scripts=$(mktemp) || exit 1
trap 'rm -f "$scripts" "$scripts.odd"' EXIT
files '*' | while read -r file; do
    case $file:$(head -c 64 "$file" | tr -d '\0' | head -n 1) in
    tests/lint/common.sh:* | *:'#!/bin/sh'* | *:'#!/bin/bash'* | *:'#!/usr/bin/env bash'*) echo "$file" ;;
    *.sh:*) echo "$file:1: does not say which shell it is for" >&2 ;;
    esac
done >"$scripts" 2>"$scripts.odd"
cat "$scripts.odd"
while read -r file; do
    [ -x "$file" ] || [ "$file" = tests/lint/common.sh ] || echo "$file: is not executable"
done <"$scripts"
command -v shellcheck >/dev/null || skip "needs shellcheck"
xargs -P "$(nproc)" -n 8 shellcheck -x -f gcc <"$scripts"
exit 0
