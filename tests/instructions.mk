# instructions.mk: counts the instructions of kernels on aarch64, where no such machine is at hand: by a plugin of
# qemu's user mode; included by the Makefile. Needs what check-cross needs.

# with COUNT_CFLAGS="-O3 -fno-tree-vectorize": what the compiler's own vectors are worth
COUNT_CFLAGS  ?= -O3
COUNT_BUILD   := $(BUILD)/instructions
COUNT_SOURCES := $(filter src/names.c src/base/% src/rows/%,$(LIB_SOURCES)) $(filter $(addprefix tokenize_tools/,\
                 corpus/json/json_kernel% tokenizer/bpe/pretoken_% tokenizer/bpe/merge_table.c \
                 tokenizer/bpe/vocabulary_map.c),$(PACK_SOURCES))

.PHONY: count-instructions
## count-instructions: instructions of each row of kernels on aarch64, by a plugin of qemu
count-instructions: $(COUNT_BUILD)/plugin.so
	$(Q)mkdir -p $(COUNT_BUILD)/include && ln -sf $(XXHASH_HEADER) $(COUNT_BUILD)/include/xxhash.h
	$(Q)$(MAKE) --no-print-directory $(COUNT_BUILD)/count BUILD=$(COUNT_BUILD) CC=aarch64-linux-gnu-gcc \
	    PKG_CONFIG=false CUDA=0 CFLAGS="$(COUNT_CFLAGS)" XXHASH_CFLAGS="-I$(COUNT_BUILD)/include" >&2
	$(Q)qemu-aarch64 -E LD_BIND_NOW=1 -L /usr/aarch64-linux-gnu -plugin $< $(COUNT_BUILD)/count | \
	    LC_ALL=C sort -s -u -k1.1,1.46

$(COUNT_BUILD)/plugin.so: tests/instructions/plugin.c
	$(Q)mkdir -p $(@D) && $(CC) $(WARNINGS) -shared -fPIC -O2 $< -o $@

# in a make of its own, with CC and BUILD set
$(BUILD)/count: $(BUILD)/obj/tests/instructions/count.o $(call objects,$(COUNT_SOURCES))
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@
