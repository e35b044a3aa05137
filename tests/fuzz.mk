# fuzz.mk: the fuzzers of tests/fuzz/, built by clang with libFuzzer and sanitizers, apart from everything else;
# included by the Makefile. `make check` needs none of it: tests/fuzz/test_replay.c is built as any test is, and runs
# the stored inputs of all fuzzers.
#
#   make fuzz FUZZ=dataset FUZZ_SECONDS=36000 FUZZ_FLAGS="-jobs=2"    one of them, long
#   make fuzz FUZZ=tokenizer_cost FUZZ_PLAIN=1                        without sanitizers: many more cases
#   make fuzz-minimize                                                what was found, into tests/fuzz/corpus/*.tar.xz
#   tests/archive.sh add tests/fuzz/corpus/dataset.tar.xz FILE WHAT_WAS_WRONG    one found input, by hand
#   build/fuzz/fuzz_dataset FILE                                      one input, with a stack where it fails

FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ         ?= $(FUZZERS)
FUZZ_SECONDS ?= 60
FUZZ_FLAGS   ?=
# a window of zstd takes up to 2 GiB, what a file says that it becomes up to 4, of which hardly anything is touched
FUZZ_LIMITS  := -malloc_limit_mb=4160
FUZZ_CC      ?= clang
FUZZ_LD      ?= $(FUZZ_CC)
FUZZ_ENGINE  ?= -fsanitize=fuzzer
FUZZ_BUILD   := $(BUILD)/fuzz
FUZZ_CORPUS  ?= $(FUZZ_BUILD)/corpus

# The stored inputs of each fuzzer: an archive, unpacked here.
FUZZ_STORED := $(BUILD)/tests/fuzz/corpus
FUZZ_INPUTS := $(patsubst %,$(FUZZ_STORED)/%.ready,$(FUZZERS))
$(FUZZ_STORED)/%.ready: tests/fuzz/corpus/%.tar.xz tests/archive.sh
	$(Q)mkdir -p $(@D) && tests/archive.sh open $< $(@:.ready=) && touch $@

# Small buffers: little data crosses every edge (src/base/tiny.h).
FUZZ_CFLAGS   := -O2 -g -fno-omit-frame-pointer -DLEAT_TINY=1 -DFUZZ_ENGINE
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
# New branches guide libFuzzer, without a look into comparisons, which would cost more than half of the speed.
FUZZ_COVERAGE := -fsanitize-coverage=inline-8bit-counters,pc-table
FUZZ_LDFLAGS  :=
# what tests/fuzz/memory.h counts
MEMORY_WRAP := $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc reallocarray aligned_alloc strdup strndup free)
# FUZZ_PLAIN=1: without sanitizers, for what counts and compares many cases
ifneq ($(FUZZ_PLAIN),)
FUZZ_SANITIZE :=
FUZZ_BUILD    := $(BUILD)/fuzz-plain
FUZZ_CFLAGS   += -DFUZZ_PLAIN
$(FUZZ_BUILD)/fuzz_tokenizer_cost: FUZZ_LDFLAGS += $(MEMORY_WRAP)
endif

FUZZ_HELPERS  := $(filter-out $(addprefix tests/fuzz/,fuzz_% test_% make_%),$(sort $(wildcard \
                 tests/fuzz/*.c tests/fuzz/*/*.c)))
FUZZ_OBJECTS  := $(patsubst %.c,$(FUZZ_BUILD)/obj/%.o,$(LIB_SOURCES) $(FUZZ_HELPERS))
FUZZ_PACK     := $(patsubst %.c,$(FUZZ_BUILD)/obj/%.o,$(PACK_SOURCES))
FUZZ_PROGRAMS := $(patsubst %,$(FUZZ_BUILD)/fuzz_%,$(FUZZERS))

# The hashes have no branches worth finding, nor have the fuzzers themselves; the checker has one per rule of FORMAT.md,
# and the changes have one per kind.
RULE_COVERAGE := $(FUZZ_COVERAGE)
$(FUZZ_BUILD)/obj/src/checksum/%.o $(FUZZ_BUILD)/obj/tests/fuzz/%.o: FUZZ_COVERAGE :=
$(patsubst %,$(FUZZ_BUILD)/obj/tests/fuzz/datasets/%.o,checker checker_sections changes): \
    FUZZ_COVERAGE := $(RULE_COVERAGE)
# The assembler puts these files into the object.
$(FUZZ_BUILD)/obj/tokenize_tools/tokenizer/load/builtin.o: $(wildcard tokenize_tools/tokenizer/load/data/*.zst)
# These are not under test.
$(patsubst %.c,$(FUZZ_BUILD)/obj/%.o,$(FUZZ_HELPERS)): FUZZ_SANITIZE :=

define FUZZ_COMPILE
$(call say,FUZZ-CC $(@:$(FUZZ_BUILD)/obj/%.o=%))
$(Q)mkdir -p $(@D) && $(FUZZ_CC) $(filter-out $(CFLAGS) $(SANITIZE),$(ALL_CFLAGS)) $(FUZZ_CFLAGS) $(FUZZ_SANITIZE) \
    $(FUZZ_COVERAGE) $(LEVEL) -Itests -I. -MMD -MP -c $< -o $@
endef
$(eval $(call objects_by,$(FUZZ_BUILD)/obj,FUZZ_COMPILE))

# an archive: fuzzers that need no tokenizer do not look through its counters after each input
$(FUZZ_BUILD)/pack.a: $(FUZZ_PACK)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(FUZZ_BUILD)/fuzz_%: $(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o $(FUZZ_OBJECTS) $(FUZZ_BUILD)/pack.a
	$(call say,FUZZ-LD $@)
	$(Q)$(FUZZ_LD) $(FUZZ_SANITIZE) $(FUZZ_ENGINE) -pthread $^ $(FUZZ_LDFLAGS) $(ALL_LIBS) -o $@

-include $(shell find $(FUZZ_BUILD)/obj -name '*.d' 2>/dev/null)
.PRECIOUS: $(FUZZ_BUILD)/obj/%.o

# for packages/oss-fuzz/build.sh
.PHONY: fuzz-programs
fuzz-programs: $(FUZZ_PROGRAMS) $(FUZZ_INPUTS)

.PHONY: fuzz fuzz-replay fuzz-minimize $(foreach f,$(FUZZERS),fuzz-run-$(f) fuzz-minimize-$(f))
# without -entropic=0 libFuzzer's own book-keeping takes a third of the time
## fuzz: run the fuzzers, FUZZ_SECONDS=60 each; FUZZ=name for one of them
fuzz: $(patsubst %,fuzz-run-%,$(FUZZ))
$(patsubst %,fuzz-run-%,$(FUZZERS)): fuzz-run-%: $(FUZZ_BUILD)/fuzz_% $(FUZZ_STORED)/%.ready
	@echo "fuzz_$*: $(FUZZ_SECONDS) s; what is found: $(FUZZ_CORPUS)/$*; what fails: $(FUZZ_BUILD)/$*-crash-..."
	$(Q)mkdir -p $(FUZZ_CORPUS)/$*
	$(Q)$< -entropic=0 -max_len=2048 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 $(FUZZ_LIMITS) \
	    -artifact_prefix=$(FUZZ_BUILD)/$*- $(FUZZ_FLAGS) $(FUZZ_CORPUS)/$* $(FUZZ_STORED)/$*

## fuzz-replay: the stored inputs of all fuzzers, under the sanitizers of `make fuzz`
fuzz-replay: $(FUZZ_PROGRAMS) $(FUZZ_INPUTS)
	$(Q)for f in $(FUZZERS); do echo "fuzz_$$f" && \
	    $(FUZZ_BUILD)/fuzz_$$f -runs=0 $(FUZZ_LIMITS) $(FUZZ_STORED)/$$f >$(FUZZ_BUILD)/$$f.log 2>&1 || \
	    { cat $(FUZZ_BUILD)/$$f.log; exit 1; }; done

# what of the found and of the stored inputs adds coverage is stored; names in words stay
fuzz-minimize: $(patsubst %,fuzz-minimize-%,$(FUZZ))
$(patsubst %,fuzz-minimize-%,$(FUZZERS)): fuzz-minimize-%: $(FUZZ_BUILD)/fuzz_% $(FUZZ_STORED)/%.ready
	$(Q)rm -rf $(FUZZ_BUILD)/minimal/$* && mkdir -p $(FUZZ_BUILD)/minimal/$* $(FUZZ_CORPUS)/$*
	$(Q)$< -max_len=2048 -use_counters=0 -merge=1 $(FUZZ_LIMITS) $(FUZZ_BUILD)/minimal/$* $(FUZZ_STORED)/$* \
	    $(FUZZ_CORPUS)/$* 2>$(FUZZ_BUILD)/$*.log || { cat $(FUZZ_BUILD)/$*.log; exit 1; }
	$(Q)cd $(FUZZ_BUILD)/minimal/$* && for f in *; do mv $$f $$(sha1sum <$$f | cut -c1-12); done
	$(Q)for f in $$(find $(FUZZ_STORED)/$* -type f -name '*_*'); do \
	    cp $$f $(FUZZ_BUILD)/minimal/$* && rm -f $(FUZZ_BUILD)/minimal/$*/$$(sha1sum <$$f | cut -c1-12); done
	$(Q)tests/archive.sh make tests/fuzz/corpus/$*.tar.xz $(FUZZ_BUILD)/minimal/$*
	@echo "tests/fuzz/corpus/$*.tar.xz: $$(ls $(FUZZ_BUILD)/minimal/$* | wc -l) files"

# ---- Built as everything else is ------------------------------------------------------------------------------------

REPLAY_OBJECTS := $(call objects,$(patsubst %,tests/fuzz/fuzz_%.c,$(FUZZERS)) $(FUZZ_HELPERS))

$(BUILD)/tests/fuzz/test_replay: $(BUILD)/obj/tests/fuzz/test_replay.o $(REPLAY_OBJECTS) $(STATIC) | $(FUZZ_INPUTS)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $(MEMORY_WRAP) $^ $(ALL_LIBS) -o $@

# the datasets that python/tests/test_hostile.py opens, and the stored inputs
$(BUILD)/make_shapes: | $(FUZZ_INPUTS)
$(BUILD)/make_shapes: $(BUILD)/obj/tests/fuzz/make_shapes.o $(call objects,$(FUZZ_HELPERS)) $(STATIC)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $(filter %.o,$^) $(STATIC) $(ALL_LIBS) -o $@
