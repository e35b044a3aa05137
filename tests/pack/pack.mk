# pack.mk: the command with small pieces (src/base/tiny.h), for the tests of packing, pulling and pushing; included by
# tests/tests.mk. Only the files that these go through and that look at LEAT_TINY are compiled again, with all that
# share a struct or a size that it decides (mirror.h, CSV_MAX_BYTES, headers of the room parquet); they stand before the
# libraries, whose own are then not taken.

TINY_SOURCES := $(sort $(filter tokenize_tools/corpus/parquet/%,$(PACK_SOURCES)) \
                $(shell grep -slE '"(base/tiny|mirror)\.h"|CSV_MAX_BYTES' \
                $(filter src/writer/% src/mirror/% %/remote/object.c,$(LIB_SOURCES)) $(PACK_SOURCES)))
TINY_OBJECTS := $(patsubst %.c,$(BUILD)/obj/tiny/%.o,$(TINY_SOURCES))

$(BUILD)/obj/tiny/%.o: %.c $(BUILD)/with
	$(call say,CC      $< (tiny))
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -DLEAT_TINY=1 -MMD -MP -c $< -o $@

$(BUILD)/tiny/leat: $(COMMAND_OBJECTS) $(CLI_OBJECTS) $(TINY_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -lm -o $@


# tests/faults/test_pack_*: the same objects before the library
$(BUILD)/tests/faults/test_pack_%: FIRST = $(TINY_OBJECTS)
$(filter $(BUILD)/tests/faults/test_pack_%,$(TEST_PROGRAMS)): | $(TINY_OBJECTS)

# tests/disks/test_pack_*: likewise
$(BUILD)/tests/disks/test_pack_%: FIRST = $(TINY_OBJECTS)
$(filter $(BUILD)/tests/disks/test_pack_%,$(TEST_PROGRAMS)): | $(TINY_OBJECTS)

# tests/tokenizer/test_*_tiny and tests/tokenizer_files/test_*_tiny: likewise
$(BUILD)/tests/tokenizer/test_%_tiny $(BUILD)/tests/tokenizer_files/test_%_tiny: FIRST = $(TINY_OBJECTS)
$(filter $(BUILD)/tests/tokenizer/test_%_tiny $(BUILD)/tests/tokenizer_files/test_%_tiny,$(TEST_PROGRAMS)): | \
    $(TINY_OBJECTS)

# threads that stop at random places
SCHEDULED := pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_cond_wait pthread_cond_signal \
             pthread_cond_broadcast
$(BUILD)/tests/faults/test_pack_schedules: WRAP += $(addprefix -Wl$(comma)--wrap=,$(SCHEDULED))

# the same test with small windows, batches and buckets
TEST_PROGRAMS += $(BUILD)/tests/arrange/test_arranged_tiny
$(BUILD)/obj/tiny/tests/%.o: ALL_CFLAGS += -Itests -I.
$(BUILD)/tests/arrange/test_arranged_tiny: $(BUILD)/obj/tiny/tests/arrange/test_arranged.o $(TINY_OBJECTS) \
    $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -lm -o $@

.PHONY: check-kills
## check-kills: runs in parts, killed at random moments and resumed, then merged, for SECONDS=7200; SEED=1
check-kills: SECONDS ?= 7200
check-kills: $(BUILD)/tiny/leat
	$(Q)tmp=$$(mktemp -d /dev/shm/leat-kills-XXXXXX 2>/dev/null || mktemp -d) && PYTHONDONTWRITEBYTECODE=1 python3 \
	    tests/pack/check_run_kills.py $< $$tmp $(SEED) $(SECONDS)s && rm -rf $$tmp
