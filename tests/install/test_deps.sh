#!/bin/sh
# test_deps.sh: scripts/deps.sh says first that it installs packages, how many, and where the log is; what apt-get
# prints stands there, and is shown if it fails (once 240 lines of dpkg were printed). Without rights it prints a
# command that works on an image without lists of packages, which has to fetch them. So does make; where no tool is
# there, the sentence comes first (it followed four lines "cc: No such file or directory"). `pip install .` without
# make names scripts/deps.sh python (it ended with a traceback), which installs make; what `make check` needs has
# zstd's command (tests were skipped without it, and nothing installed it).
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
mkdir "$tmp/bin" "$tmp/tools"
failed=0

# a system without compiler, pkg-config, Python, make and zstd
for tool in awk cat cut dirname env find grep head mkdir mv nproc rm sed sh tee tr wc; do
    ln -s "$(command -v $tool)" "$tmp/tools"
done
make=$(command -v "${MAKE:-make}")
stand_in() { # PROGRAM LINE...
    program=$tmp/bin/$1
    shift
    printf '%s\n' '#!/bin/sh' "$@" >"$program"
    chmod +x "$program"
}
apt_get() { # CODE: that is what it ends with
    # shellcheck disable=SC2016 # for the stand-in's shell
    stand_in apt-get 'echo "$*" >>"${0%/bin/*}/calls"' \
        'awk "BEGIN { for (n = 1; n <= 120; n++) print \"Unpacking package \" n }"' "exit $1"
}
stand_in apt-cache 'exit 0'
stand_in sudo 'exit 1'

deps() { # USER LEVEL: where nothing is that the build needs
    stand_in id "echo $1"
    rm -f "$tmp/calls"
    PATH=$tmp/bin:$tmp/tools BUILD=$tmp/build scripts/deps.sh "$2" >"$tmp/printed" 2>&1 </dev/null
    [ $? -eq 1 ] || says 'an end with exit code 1'
}
says() { # WHAT: is missing
    echo "deps.sh, missing: $1; it printed:"
    cat "$tmp/printed"
    failed=1
}
sentence='leat: installing [0-9]+ packages that the build needs or uses \(make DEPS=0 does not; [^ ]*/deps\.log\)'

apt_get 0
deps 0 build
head -n 1 "$tmp/printed" | grep -qxE "$sentence" || says 'how many packages, in the first line'
count=$(sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p' "$tmp/printed")
# update is called only if a list lacks a package
call=$(head -n 1 "$tmp/calls")
case $call in
'install -qq -y --no-install-recommends '*) ;;
*) says "a quiet apt-get install; it was: $call" ;;
esac
[ "$(echo "$call" | tr ' ' '\n' | grep -cE '^[a-z]')" -eq $((count + 1)) ] || says "$count packages in: $call"
[ "$(wc -l <"$tmp/printed")" -le 3 ] || says 'few lines'
grep -q '^Unpacking package 120$' "$tmp/build/deps.log" || says 'a log with all lines'

apt_get 100
deps 0 build
grep -q '^Unpacking package 7$' "$tmp/printed" || says 'the lines of an apt-get that failed'
tail -n 1 "$tmp/printed" | grep -q '^deps.sh: cannot install these packages, .* gcc ' || says 'what cannot be installed'

apt_get 0
deps 0 python
grep -qE ' make .* python3-dev ' "$tmp/calls" || says "make and Python's headers"
deps 0 check
grep -qw zstd "$tmp/calls" || says "zstd's command"

deps 1000 build
grep -qE '^ *apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install .* libzstd-dev' "$tmp/printed" ||
    says 'the command with apt-get update'

# make itself, where nothing is installed: the same command, and no words of the compiler
makes() { # TARGET USER
    stand_in id "echo $2"
    PATH=$tmp/bin:$tmp/tools "$make" --no-print-directory BUILD="$tmp/build" "$1" >"$tmp/printed" 2>&1 </dev/null &&
        says "a failure of make $1"
}
makes all 1000
grep -q '^deps.sh: the build needs packages that are missing; this installs them, and so does make deps:$' \
    "$tmp/printed" || says 'what make says'
grep -qE '^ *apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install .* libxxhash-dev' "$tmp/printed" ||
    says "make's command"
for target in demo check; do
    makes $target 0
    head -n 1 "$tmp/printed" | grep -qxE "$sentence" || says "the sentence first, of make $target"
done

# what pip runs, with as much of setuptools as it takes
mkdir "$tmp/setuptools" "$tmp/setuptools/command"
printf 'def setup(**_): BuildByMake = _["cmdclass"]["build_ext"]; BuildByMake.make()\ndef Extension(*_, **__): pass\n' \
    >"$tmp/setuptools/__init__.py"
touch "$tmp/setuptools/command/__init__.py"
for command in bdist_wheel build_ext sdist; do
    echo "$command = object" >"$tmp/setuptools/command/$command.py"
done
python=$(python3 -c 'import sys; print(sys.executable)') && { # which a script may only find
    PATH=$tmp/tools PYTHONPATH=$tmp PYTHONDONTWRITEBYTECODE=1 LEAT_PYTHON_BUILD=$tmp/package "$python" setup.py build \
        >"$tmp/printed" 2>&1 && says 'a failure of setup.py'
    grep -qx 'leat cannot be built without make; scripts/deps.sh python .*' "$tmp/printed" || says 'what installs make'
    grep Traceback "$tmp/printed" && says 'a sentence alone'
}
exit $failed
