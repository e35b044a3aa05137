#!/bin/sh
# test_run_tests.sh: tests/run.sh names what failed once more just before its last line, not as FAIL, which .ci/run
# takes for another failure; and what a test printed many times in a row stands there once, with how often. Each test
# has two folders, which are removed, also when the terminal is closed; those of make check-every are under $TMPDIR.
# What a run that was killed left in memory is removed by the next one, and what a run has that goes on is not.
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
cat >"$tmp/test_bad.sh" <<'END'
#!/bin/sh
for i in 1 2 3; do echo "2 is not 1"; done
echo "1 end"
exit 1
END
cat >"$tmp/test_good.sh" <<END
#!/bin/sh
echo "\$LEAT_TEST_TMP" "\$LEAT_TEST_DISK" >>"$tmp/folders"
[ -d "\$LEAT_TEST_TMP" ] && [ -d "\$LEAT_TEST_DISK" ] && [ "\$LEAT_TEST_TMP" != "\$LEAT_TEST_DISK" ]
END
chmod +x "$tmp"/test_*.sh
cat >"$tmp/wanted" <<END
FAIL $tmp/test_bad.sh (exit 1)
    2 is not 1 (3 times)
    1 end
pass $tmp/test_good.sh
failed: $tmp/test_bad.sh (exit 1)
1 passed, 1 failed, 0 skipped
END
unset LEAT_TEST_EVERY LEAT_TEST_WITHOUT LEAT_TEST_RUNNER
LEAT_TEST_JOBS=1 tests/run.sh build '' "$tmp/test_bad.sh" "$tmp/test_good.sh" >"$tmp/seen"
[ $? -eq 1 ] || { echo 'a failure is not its exit code' && exit 1; }
diff "$tmp/wanted" "$tmp/seen" || exit 1
TMPDIR=$tmp LEAT_TEST_EVERY=1 tests/run.sh build '' "$tmp/test_good.sh" >"$tmp/seen" || { cat "$tmp/seen" && exit 1; }
[ "$(tail -n 1 "$tmp/folders" | tr ' ' '\n' | grep -c "^$tmp/")" -eq 2 ] || { cat "$tmp/folders" && exit 1; }
dead=/dev/shm/leat-run-dead$$ held=/dev/shm/leat-run-held$$
if command -v flock >/dev/null && head -n 1 "$tmp/folders" | grep -q '^/dev/shm/'; then
    mkdir $dead $held && touch -t 202001010000 $dead/lock $held/lock && exec 8<$held/lock && flock 8
    tests/run.sh build '' "$tmp/test_good.sh" >"$tmp/seen" || { cat "$tmp/seen" && exit 1; }
    { [ ! -e $dead ] && [ -e $held/lock ]; } || { echo 'not the dead one is removed' && ls -d $dead $held; failed=1; }
    rm -rf $dead $held
    [ -z "$failed" ] || exit 1
fi
cat >"$tmp/test_long.sh" <<END
#!/bin/sh
echo "\$LEAT_TEST_TMP" "\$LEAT_TEST_DISK" >>"$tmp/folders"
: >"$tmp/began"
sleep 200
END
chmod +x "$tmp/test_long.sh"
if command -v setsid >/dev/null; then
    setsid tests/run.sh build '' "$tmp/test_long.sh" >"$tmp/seen" 2>&1 &
    run=$!
    while [ ! -e "$tmp/began" ] && kill -0 $run; do sleep 0.1; done
    kill -HUP "-$run"
    wait $run
fi
while read -r memory disk; do
    if [ -e "$memory" ] || [ -e "$disk" ]; then
        echo "left: $memory or $disk"
        exit 1
    fi
done <"$tmp/folders"
