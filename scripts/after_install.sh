#!/bin/sh
# after_install.sh LIBDIR: registers the installed libraries with the dynamic loader (ldconfig). If the loader does not
# search that folder, or without the right to do so, says what a user of the libraries has to set.
libdir=$1
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
