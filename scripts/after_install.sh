#!/bin/sh
# after_install.sh LIBDIR BINDIR: registers the installed libraries with the dynamic loader (ldconfig), and says what a
# user has to set: for the libraries if the loader does not search that folder, or without the right to register them;
# for the commands if PATH does not have theirs.
libdir=$1 bindir=$2
case :$PATH: in
*":$bindir:"*) ;;
*) echo "The shell is to find leat in $bindir:" && echo "    export PATH=$bindir:\$PATH" ;;
esac
PATH=$PATH:/sbin:/usr/sbin

# one of the loader's folders: its list is made anew
if ldconfig -v -N -X 2>/dev/null | grep -q "^$libdir:" && ldconfig 2>/dev/null; then
    exit 0
fi
case $libdir in
/lib | /usr/lib | /lib64 | /usr/lib64) exit 0 ;; # looked into without a list
esac
cat <<END
Programs that are linked with leat are to find it in $libdir:
    export LD_LIBRARY_PATH=$libdir              # or link them with -Wl,-rpath,$libdir
    export PKG_CONFIG_PATH=$libdir/pkgconfig    # for pkg-config
END
