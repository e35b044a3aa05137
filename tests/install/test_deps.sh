#!/bin/sh
# test_deps.sh: scripts/deps.sh says first that it installs packages, and how many, and lets apt-get be quiet; without
# rights it prints a command that works on an image without lists of packages, which has to fetch them. So does make.
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
mkdir "$tmp/bin"
failed=0

stand_in() { # PROGRAM LINE
    printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}
# shellcheck disable=SC2016 # for the stand-in's shell
stand_in apt-get 'echo "$*" >>"${0%/bin/*}/calls"'
stand_in apt-cache 'exit 0'
stand_in sudo 'exit 1'

deps() { # USER: where nothing is that the build needs
    stand_in id "echo $1"
    PATH=$tmp/bin:$PATH CC=false PKG_CONFIG=false scripts/deps.sh build >"$tmp/printed" 2>&1 </dev/null
    [ $? -eq 1 ] || says 'an end with exit code 1'
}
says() { # WHAT: is missing
    echo "deps.sh, missing: $1; it printed:"
    cat "$tmp/printed"
    failed=1
}

deps 0
head -n 1 "$tmp/printed" |
    grep -qxE 'leat: installing [0-9]+ packages that the build needs or uses \(make DEPS=0 does not\)' ||
    says 'how many packages, in the first line'
count=$(sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p' "$tmp/printed")
# update is called only if a list lacks a package
call=$(head -n 1 "$tmp/calls")
case $call in
'install -qq -y --no-install-recommends '*) ;;
*) says "a quiet apt-get install; it was: $call" ;;
esac
[ "$(echo "$call" | tr ' ' '\n' | grep -cE '^[a-z]')" -eq $((count + 1)) ] || says "$count packages in: $call"

deps 1000
grep -qE '^ *apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install .* libzstd-dev' "$tmp/printed" ||
    says 'the command with apt-get update'

# make itself, where nothing is installed: the same command, and no words of the compiler
PATH=$tmp/bin:$PATH ${MAKE:-make} --no-print-directory BUILD="$tmp/build" CC=false PKG_CONFIG=false all \
    >"$tmp/printed" 2>&1 </dev/null && says 'a failure of make'
grep -q '^deps.sh: the build needs packages that are missing; this installs them, and so does make deps:$' \
    "$tmp/printed" || says 'what make says'
grep -qE '^ *apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install .* libxxhash-dev' "$tmp/printed" ||
    says "make's command"
[ "$(grep -c xxhash.h "$tmp/printed")" = 0 ] || says 'nothing of xxhash.h'
exit $failed
