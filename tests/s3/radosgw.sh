#!/bin/sh
# radosgw.sh FOLDER PORT ID SECRET: Ceph's gateway for S3 on this machine, with a monitor and one OSD in memory, and a
# user with these keys. Prints "ready" when it answers, and ends all of it when its standard input ends.
folder=$1 port=$2
conf=$folder/ceph.conf
mkdir -p "$folder" || exit 1
fsid=$(cat /proc/sys/kernel/random/uuid)
cat >"$conf" <<END
[global]
fsid = $fsid
mon host = v1:127.0.0.1:$((port + 1))
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
mon allow pool size one = true
mon data = $folder/mon
osd data = $folder/osd
keyring = $folder/keyring
run dir = $folder
admin socket = $folder/\$name.sock
pid file = $folder/\$name.pid
log file = $folder/\$name.log
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
rgw data = $folder/rgw
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw dns name = 127.0.0.1
END
daemons=
trap 'kill $daemons 2>/dev/null; wait' EXIT
trap 'exit 1' INT TERM
exec 3>&1 >"$folder/log" 2>&1
monmaptool --create --addv a "[v1:127.0.0.1:$((port + 1))]" --fsid "$fsid" "$folder/monmap" || exit 1
mkdir -p "$folder/osd" "$folder/rgw"
: >"$folder/keyring"
ceph-mon -c "$conf" -i a --mkfs --monmap "$folder/monmap" || exit 1
ceph-mon -c "$conf" -i a -f &
daemons=$!
timeout 60 ceph -c "$conf" osd create "$fsid" || exit 1
ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$fsid" || exit 1
ceph-osd -c "$conf" -i 0 -f &
daemons="$daemons $!"
radosgw -c "$conf" -n client.rgw -f &
daemons="$daemons $!"
timeout 120 radosgw-admin -c "$conf" -n client.rgw user create --uid=test --display-name=test --access-key="$3" \
    --secret="$4" || exit 1
tries=0
until curl -s -o "$folder/answer" "http://127.0.0.1:$port/"; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || exit 1
    sleep 0.1
done
echo ready >&3
cat >/dev/null
