#!/bin/sh
# deps.sh [build|python|check|ci|cluster|engines|s3|say]: installs what is missing of scripts/packages.txt by the
# system's package manager, as root or by sudo, and is silent if nothing is. What is required and cannot be had ends
# this with 1 and the command that installs it; the rest is left out, and what needs it says so. `say` installs
# nothing, and prints the command. All that the package manager prints is in the file deps.log of the build.
level=${1:-build}
cd "$(dirname "$0")/.." || exit 1
case $level in
build | say) needed=build wanted=none ;;
python) needed='build|python' wanted=none ;;
check) needed=build wanted=check ;;
ci) needed=build wanted='lib|check|ci' ;;
cluster | engines | s3) needed=build wanted="check|$level" ;;
*)
    echo "usage: scripts/deps.sh [build|python|check|ci|cluster|engines|s3|say]" >&2
    exit 2
    ;;
esac
python=${PYTHON:-python3} pkg_config=${PKG_CONFIG:-pkg-config}

have() { # HOW
    case $1 in
    cc) echo '#include <stdio.h>' | ${CC:-cc} -E - ;;
    cc:*) echo '#include <stdio.h>' | "${1#cc:}" -E - ;;
    h:*) echo "#include <${1#h:}>" | ${CC:-cc} -E - ;;
    pc:*) "$pkg_config" --exists "$(echo "${1#pc:}" | sed 's/>=/ >= /')" ;;
    py:numpy | py:jinja2) python3 -c "import ${1#py:}" || /usr/bin/python3 -c "import ${1#py:}" ;;
    py:*) "$python" -c "import ${1#py:}" ;;
    cmd:python3) command -v "$python" ;;
    cmd:cram) command -v cram3 || command -v cram ;;
    cmd:*) command -v "${1#cmd:}" ;;
    pkg-config) command -v "$pkg_config" ;;
    python-headers) "$python" -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' ;;
    clang-runtime) ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.fuzzer* ;;
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    esac >/dev/null 2>&1
}

manager=none column=0
for m in apt-get dnf pacman apk zypper brew; do
    column=$((column + 1))
    command -v $m >/dev/null && manager=$m && break
done
case $manager in # the words before the packages
apt-get) install='env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends' ;;
dnf | brew) install="$manager install$([ $manager = brew ] || echo ' -y')" ;;
pacman) install='pacman -S --needed --noconfirm' ;;
apk) install='apk add' ;;
zypper) install='zypper --non-interactive install' ;;
esac

missing() { # WHENS WHAT: how it is looked for, or the packages, of what is missing
    grep -E "^($1) " scripts/packages.txt | while read -r _ how packages; do
        have "$how" && continue
        [ "$2" = how ] && echo "$how" && continue
        case $how:${CC:-cc} in
        cc:*clang*) echo clang libc6-dev | cut -d' ' -f"1-$([ $manager = apt-get ] && echo 2 || echo 1)" ;;
        *) echo "$packages" | awk -v n=$column '$n != "-" { gsub(",", " ", $n); print $n }' ;;
        esac
    done | tr ' ' '\n' | awk '!seen[$0]++' | tr '\n' ' '
}
stop() {
    echo "deps.sh: $*" >&2
    exit 1
}
log=${BUILD:-build}/deps.log
run() { # COMMAND...: on a terminal its last line is shown, which overwrites itself
    echo "$*" >>"$log"
    code=$({ {
        "$@" </dev/null 2>&1
        echo $? >&3
    } | tee -a "$log" | progress >&2; } 3>&1)
    return "$code"
}
progress() {
    while read -r line; do
        [ ! -t 2 ] || printf '\033[K  %.75s\r' "$line"
    done
    [ ! -t 2 ] || printf '\033[K'
}

lack=$(missing "$needed" how)
[ -n "$lack$(missing "$wanted" how)" ] || exit 0
must=$(missing "$needed" packages) may=$(missing "lib|$wanted" packages)
root='' update=''
[ $manager != apt-get ] || update='apt-get update' # images come without lists
if [ "$level" = say ]; then
    install_not=1
elif [ $manager != brew ] && [ "$(id -u)" -ne 0 ]; then
    # a password is asked for what is required, not for what is only wanted
    sudo -n true 2>/dev/null || { [ -n "$lack" ] && [ -t 0 ] && command -v sudo >/dev/null; } || install_not=1
    root=sudo
fi
[ $manager != none ] || install_not=1

# packages are words
# shellcheck disable=SC2086
if [ -z "$install_not" ]; then
    mkdir -p "${log%/*}" && : >"$log" || exit 1
    count=$(echo $must $may | wc -w)
    echo "leat: installing $count packages that the build needs or uses (make DEPS=0 does not; $log)"
    # all at once; if that fails, what is required, then of the rest what can be had
    run $root $install $must $may || {
        [ -n "$update" ] && run $root $update -qq && run $root $install $must $may
    } || {
        [ -z "$must" ] || run $root $install $must || {
            cat "$log" >&2
            stop "cannot install these packages, for the reason above: $must"
        }
        for package in $may; do
            run $root $install "$package" || echo "deps.sh: cannot install $package ($log says why)" >&2
        done
    }
    lack=$(missing "$needed" how)
    [ -z "$lack" ] || stop "still missing after the installation ($log): $lack"
    left=$(missing "$wanted" how)
    [ -z "$left" ] || echo "deps.sh: not there, what needs it is skipped: $left" >&2
elif [ -n "$lack" ]; then
    [ $manager != none ] || stop "no package manager that it knows; install these and try again: $lack"
    [ $level != say ] || stop "the build needs packages that are missing; this installs them, and so does make deps:
    ${update:+$update && }$install $must$may"
    stop "no right to install packages, and no sudo; let somebody who has it do this, then try again:
    ${update:+$update && }$install $must"
fi
exit 0
