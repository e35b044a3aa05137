# cross.mk: the tests of the format and of the order on other machines, by cross compilers and qemu's user mode;
# included by the Makefile. s390x is big-endian. Needs Debian's gcc-aarch64-linux-gnu, gcc-s390x-linux-gnu and
# qemu-user; tests/cross.sh says so.

CROSS_MACHINES := aarch64 s390x
# Test programs that need nothing but a C library and xxHash's header.
CROSS_SOURCES  := $(sort $(wildcard tests/unit/test_*.c tests/format/test_*.c tests/golden/test_*.c \
                  tests/corpus/test_json_*.c tests/order/test_*.c \
                  tests/tokenizer/test_scan_rows.c))
# xxHash's header alone, since the other machine's system headers must not be mixed with this one's
XXHASH_HEADER  := $(firstword $(wildcard $(addsuffix /xxhash.h,$(shell $(PKG_CONFIG) --variable=includedir libxxhash \
                  2>/dev/null) /usr/include /usr/local/include)))

.PHONY: check-cross cross-programs
## check-cross: the tests of format and order on aarch64 and s390x (big-endian), under qemu
check-cross:
	$(Q)CROSS_MACHINES="$(CROSS_MACHINES)" XXHASH_HEADER="$(XXHASH_HEADER)" MAKE="$(MAKE)" tests/cross.sh

# In a make of its own, with CC and BUILD set
cross-programs: $(CROSS_SOURCES:tests/%.c=$(BUILD)/tests/%)
