#!/bin/sh
# check_shell.sh: shellcheck finds nothing in the scripts, and every script can be run.
. tests/lint/common.sh

scripts=$(mktemp) || exit 1
trap 'rm -f "$scripts" "$scripts.odd"' EXIT
# awk expands these
# shellcheck disable=SC2016
files '*' | LC_ALL=C xargs awk 'FNR == 1 { print FILENAME ":" substr($0, 1, 64); nextfile }' | tr -d '\0' |
    while IFS= read -r line; do
        case $line in
        tests/lint/common.sh:* | *:'#!/bin/sh'* | *:'#!/bin/bash'* | *:'#!/usr/bin/env bash'*) echo "${line%%:*}" ;;
        *.sh:*) echo "${line%%:*}:1: does not say which shell it is for" >&2 ;;
        esac
    done >"$scripts" 2>"$scripts.odd"
cat "$scripts.odd"
while read -r file; do
    [ -x "$file" ] || [ "$file" = tests/lint/common.sh ] || echo "$file: is not executable"
done <"$scripts"
command -v shellcheck >/dev/null || skip "needs shellcheck"
xargs -P "$(nproc)" -n 8 shellcheck -x -f gcc <"$scripts"
exit 0
