#!/bin/sh
# test_run_tests.sh: tests/run.sh names what failed once more just before its last line, not as FAIL, which .ci/run
# takes for another failure; and what a test printed many times in a row stands there once, with how often.
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
cat >"$tmp/test_bad.sh" <<'END'
#!/bin/sh
for i in 1 2 3; do echo "2 is not 1"; done
echo "1 end"
exit 1
END
printf '#!/bin/sh\nexit 0\n' >"$tmp/test_good.sh"
chmod +x "$tmp"/test_*.sh
cat >"$tmp/wanted" <<END
FAIL $tmp/test_bad.sh (exit 1)
    2 is not 1 (3 times)
    1 end
pass $tmp/test_good.sh
failed: $tmp/test_bad.sh (exit 1)
1 passed, 1 failed, 0 skipped
END
LEAT_TEST_JOBS=1 LEAT_TEST_RUNNER='' LEAT_TEST_WITHOUT='' tests/run.sh build '' "$tmp/test_bad.sh" \
    "$tmp/test_good.sh" >"$tmp/seen"
[ $? -eq 1 ] || { echo 'a failure is not its exit code' && exit 1; }
diff "$tmp/wanted" "$tmp/seen"
