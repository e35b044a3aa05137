# tests.mk: how tests are built and run; included by the Makefile.
#
# A test is a program tests/<folder>/test_*.c, a script tests/<folder>/test_*.sh|.py, or a transcript
# tests/<folder>/*.t, which tests/transcript.sh runs: exit 0, 1, or 77 for "cannot run here". Programs of tests/faults/
# are linked so that the system calls of the library go through tests/support/fault.c.

TEST_SOURCES   := $(sort $(wildcard tests/*/test_*.c))
# with a sanitizer, without those that test no program of the build
TEST_SCRIPTS   := $(filter-out $(if $(strip $(SANITIZE)),tests/install/%),\
                  $(sort $(wildcard tests/*/test_*.sh tests/*/test_*.py tests/*/*.t)))
SUPPORT_SOURCES := $(filter-out tests/support/fault.c tests/support/on_device.c,$(sort $(wildcard \
                   tests/support/*.c))) bench/data/counting.c
# nor with them what ends a child at each call, which takes long then: what a sanitizer could say of what is left is
# said of test_nth_call_fails and test_resume
TEST_PROGRAMS  := $(filter-out $(if $(strip $(SANITIZE)),%/test_killed_at_every_call),\
                  $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SOURCES)))
FAULT_PROGRAMS := $(filter $(BUILD)/tests/faults/%,$(TEST_PROGRAMS))
# not tests themselves: what the scripts of tests/conformance/ compare with the reference packages
DUMP_PROGRAMS  := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/conformance/*_dump.c))
PLAIN_PROGRAMS := $(filter-out $(FAULT_PROGRAMS) $(BUILD)/tests/fuzz/%,$(TEST_PROGRAMS)) $(DUMP_PROGRAMS)
# an archive, so that programs which need no tokenizer link without libleat_pack's (tests/cross.mk)
TEST_LIBRARIES := $(call objects,$(SUPPORT_SOURCES)) $(BUILD)/libcli.a $(STATIC)
$(BUILD)/libcli.a: $(CLI_OBJECTS)

# Calls that tests/support/fault.c can make fail, or end the process at.
WRAPPED := malloc calloc realloc reallocarray aligned_alloc strdup strndup free open close read pread preadv2 pwrite \
           fsync ftruncate fstat fstatfs stat lstat mmap munmap madvise rename renameat2 link unlink flock fcntl \
           opendir readdir closedir realpath pthread_create eventfd text_resize
comma   := ,
WRAP    := $(addprefix -Wl$(comma)--wrap=,$(WRAPPED))

$(PLAIN_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $(FIRST) $^ $(ALL_LIBS) $(ZLIB_LIBS) -lm -o $@

$(FAULT_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/obj/tests/support/fault.o $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $(WRAP) $(FIRST) $^ $(ALL_LIBS) $(ZLIB_LIBS) -lm -o $@

$(BUILD)/obj/tests/%.o: ALL_CFLAGS += -Itests -I.

# the pool of threads of loaders with chunks of one piece (src/base/tiny.h), before the library
TINY_POOL := $(BUILD)/obj/tiny/src/gather/gather_pool.o
$(BUILD)/tests/loader/% $(BUILD)/tests/faults/test_loader_%: FIRST = $(TINY_POOL)
$(filter $(BUILD)/tests/loader/% $(BUILD)/tests/faults/test_loader_%,$(TEST_PROGRAMS)): | $(TINY_POOL)

include tests/corpus/corpus.mk
include tests/pack/pack.mk
include tests/fake_cuda/fake_cuda.mk

# What takes longest begins first, so that no core waits for it in the end.
LONGEST   := %/faults/test_pack_faults %/faults/test_pack_killed tests/remote/% tests/pack/test_run_damage.py \
             tests/cli/test_examples.sh tests/cli/test_bench.sh %/faults/test_killed_at_every_call \
             %/disks/test_pack_devices %/faults/test_direct_faults %/device/test_token_offsets \
             tests/chat/test_chat_limits.py tests/pack/test_memory.sh \
             tests/order/test_compilers.sh tests/docs/test_tutorials.sh tests/install/test_make_wheel.py \
             tests/cuda/test_bench_gpu.sh
ALL_TESTS := $(TEST_PROGRAMS) $(DEVICE_PROGRAMS) $(DEVICE_FAULTS) $(TEST_SCRIPTS)
ALL_TESTS := $(filter $(LONGEST),$(ALL_TESTS)) $(filter-out $(LONGEST),$(ALL_TESTS))
# ONLY=word makes and runs the tests whose path or source holds that word
SELECTED  := $(if $(ONLY)$(LEAT_TEST_WITHOUT)$(LEAT_TEST_TURN),$(shell tests/run.sh $(BUILD) "$(ONLY)" --list \
             $(ALL_TESTS)),$(ALL_TESTS))

include tests/quick.mk

.PHONY: run-tests test-programs test-tools
test-tools: all $(BUILD)/dataset_dump $(BUILD)/make_dataset $(BUILD)/order_dump $(BUILD)/tiny/leat \
            $(BUILD)/remote_probe $(BUILD)/cache_probe $(BUILD)/tiny/cache_probe $(BUILD)/refuse_calls \
            $(BUILD)/far_disk $(FAKE_CUDA)
test-programs: test-tools $(filter $(BUILD)/%,$(ALL_TESTS))
run-tests: test-tools $(filter $(BUILD)/%,$(SELECTED))
	$(Q)LEAT_TEST_TURN= tests/run.sh $(BUILD) "$(ONLY)" $(SELECTED)

# Programs that tests use: what prints a dataset for the reader in Python, what makes small datasets for the tests of
# the commands, what answers questions about the order of samples for its twin in Python, and what asks servers for
# things and batches. make_splits makes data of the library (make splits; a test compares them).
$(BUILD)/make_splits: $(BUILD)/obj/tests/tokenizer/make_splits.o
$(BUILD)/dataset_dump: $(BUILD)/obj/tests/python/dataset_dump.o
$(BUILD)/make_dataset: $(BUILD)/obj/tests/cli/make_dataset.o
$(BUILD)/order_dump: $(BUILD)/obj/tests/order/order_dump.o
$(BUILD)/remote_probe: $(BUILD)/obj/tests/remote/remote_probe.o
$(BUILD)/cache_probe: $(BUILD)/obj/tests/remote/cache_probe.o
$(BUILD)/make_splits $(BUILD)/dataset_dump $(BUILD)/make_dataset $(BUILD)/order_dump $(BUILD)/remote_probe \
    $(BUILD)/cache_probe: $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(filter %.o,$^) $(STATIC) $(ALL_LIBS) -lm -o $@

# the cache with small ranges, of which a small dataset has many
TINY_CACHE := $(patsubst %.c,$(BUILD)/obj/tiny/%.o,$(filter src/cache/% %/remote/client.c,$(LIB_SOURCES)))
$(BUILD)/tiny/cache_probe: $(BUILD)/obj/tests/remote/cache_probe.o $(TINY_CACHE) $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $(filter %.o,$^) $(STATIC) $(ALL_LIBS) -lm -o $@

# one that is as slow as object storage, for make bench-remote
$(BUILD)/slow_server: $(BUILD)/obj/tests/remote/slow_server.o
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -o $@

# a file system that is as slow as a file server far away
$(BUILD)/far_disk: $(BUILD)/obj/tests/disks/far_disk.o $(filter %/fuse_disk.o %/fuse_disk_calls.o %/fuse_server.o,\
                   $(call objects,$(SUPPORT_SOURCES))) $(STATIC)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -o $@

$(BUILD)/refuse_calls: $(BUILD)/obj/tests/disks/refuse_calls.o
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@

.PHONY: transcripts
## transcripts: write what the commands print now into the transcripts (ONLY=word: into some); read the difference
transcripts: test-tools
	$(Q)tests/transcript.sh --accept $(filter %.t,$(SELECTED))

.PHONY: interface keep-headers
## interface: write what programs rely on (structs, numbers, functions) into tests/install/interface.txt
interface:
	$(Q)python3 tests/install/interface.py include tokenize_tools/cli/cli.h >tests/install/interface.txt.new
	$(Q)mv tests/install/interface.txt.new tests/install/interface.txt

## keep-headers: at a release, keep its headers and lists: programs made for them must go on to run
KEPT := $(BUILD)/kept-$(VERSION)
keep-headers:
	$(Q)rm -rf $(KEPT) && mkdir -p $(KEPT) tests/install/kept && cp -r include src/leat.map \
	    tokenize_tools/leat_pack.map tokenize_tools/cli/cli.h tests/cli/schemas.json $(KEPT)
	$(Q)tests/archive.sh make tests/install/kept/$(VERSION).tar.xz $(KEPT)

.PHONY: splits
splits: $(BUILD)/make_splits
	$(Q)$(BUILD)/make_splits tokenize_tools/tokenizer/load/data

.PHONY: soak
## soak: a million batches by a consumer with pauses, releases out of order and closes at any moment
soak: $(BUILD)/tests/loader/test_loader_soak
	$(Q)LEAT_TEST_SOAK=1000000 $<

.PHONY: check-schedules
## check-schedules: the packer 10,000 times with threads that stop at random places, or are killed there
check-schedules: $(BUILD)/tests/faults/test_pack_schedules
	$(Q)LEAT_TEST_SOAK=10000 $<
