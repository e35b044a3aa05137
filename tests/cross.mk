# cross.mk: the tests of the format and of the order on other machines, and of the CUDA part on aarch64, by cross
# compilers and qemu's user mode; included by the Makefile. s390x is big-endian. Needs Debian's gcc-aarch64-linux-gnu,
# gcc-s390x-linux-gnu and qemu-user; tests/cross.sh says so.

CROSS_MACHINES := aarch64 s390x
# Test programs that need nothing but a C library, xxHash's header, and these folders of libleat_pack; without forks
# among threads, which qemu's user mode does not survive.
CROSS_SOURCES  := $(filter-out tests/unit/test_mounts_fork.c,$(sort $(wildcard \
                  tests/unit/test_*.c tests/format/test_*.c tests/golden/test_*.c \
                  tests/corpus/test_json_*.c tests/order/test_*.c \
                  tests/tokenizer/test_*_rows.c tests/tokenizer/test_*cuts.c)))
CROSS_FOLDERS  := arrange damage mask corpus/json corpus/record tokenizer/bpe tokenizer/scan tokenizer/unicode
# xxHash's header alone, since the other machine's system headers must not be mixed with this one's
XXHASH_HEADER  := $(firstword $(wildcard $(addsuffix /xxhash.h,$(shell $(PKG_CONFIG) --variable=includedir libxxhash \
                  2>/dev/null) /usr/include /usr/local/include)))

.PHONY: check-cross cross-programs
## check-cross: the tests of format and order on aarch64 and s390x (big-endian), under qemu
check-cross:
	$(Q)CROSS_MACHINES="$(CROSS_MACHINES)" CROSS_FOLDERS="$(CROSS_FOLDERS)" \
	    XXHASH_HEADER="$(XXHASH_HEADER)" MAKE="$(MAKE)" tests/cross.sh

# On aarch64, Grace's, also the loader's CUDA part on the stand-in for the driver
CROSS_CUDA := $(if $(filter aarch64-%,$(CC)),$(FAKE_CUDA) $(addprefix $(BUILD)/tests/,cuda/test_count_cuda \
              cuda/test_cuda_steps device/test_loader_batches))
# In a make of its own, with CC and BUILD set
cross-programs: $(CROSS_SOURCES:tests/%.c=$(BUILD)/tests/%) $(CROSS_CUDA)
