# corpus.mk: test_gzip_stream.c a second and a third time, with the other inflaters that a build can have (zlib, none)
# put before the library's; test_made_streams.c a second time without xz, bzip2 and lz4, and test_hub_card.c without
# libyaml. Included by tests/tests.mk.

TEST_ZLIB   := $(shell $(PKG_CONFIG) --exists zlib 2>/dev/null && echo 1)
ZLIB_CFLAGS := $(if $(TEST_ZLIB),-DLEAT_TEST_ZLIB=1 $(shell $(PKG_CONFIG) --cflags zlib))
ZLIB_LIBS   := $(if $(TEST_ZLIB),$(shell $(PKG_CONFIG) --libs zlib))

$(BUILD)/obj/tests/corpus/test_gzip_stream.o: ALL_CFLAGS += $(ZLIB_CFLAGS)
$(BUILD)/obj/with_zlib/%.o: ALL_CFLAGS += -ULEAT_HAVE_ISAL -ULEAT_HAVE_ZLIB $(if $(TEST_ZLIB),-DLEAT_HAVE_ZLIB=1)
$(BUILD)/obj/with_none/%.o: ALL_CFLAGS += -ULEAT_HAVE_ISAL -ULEAT_HAVE_ZLIB
# two rules, since one pattern rule with two targets would mean that one run of it makes both
$(BUILD)/obj/with_zlib/%.o: tokenize_tools/corpus/streams/%.c $(BUILD)/with
	$(call say,CC      $< ($(notdir $(@D))))
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/with_none/%.o: tokenize_tools/corpus/streams/%.c $(BUILD)/with
	$(call say,CC      $< ($(notdir $(@D))))
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
.SECONDARY: $(foreach w,zlib none,$(BUILD)/obj/with_$w/inflater_zlib.o $(BUILD)/obj/with_$w/inflater_none.o)

TEST_PROGRAMS += $(BUILD)/tests/corpus/test_gzip_with_zlib $(BUILD)/tests/corpus/test_gzip_with_none
$(BUILD)/tests/corpus/test_gzip_%: $(BUILD)/obj/tests/corpus/test_gzip_stream.o $(BUILD)/obj/%/inflater_zlib.o \
    $(BUILD)/obj/%/inflater_none.o $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $^ $(PACK_LIBS) $(ZLIB_LIBS) -lm -o $@

# test_made_streams.c a second time, without the libraries
$(BUILD)/obj/with_none/%.o: ALL_CFLAGS += -ULEAT_HAVE_LZMA -ULEAT_HAVE_BZ2 -ULEAT_HAVE_LZ4
TEST_PROGRAMS += $(BUILD)/tests/corpus/test_made_streams_none
$(BUILD)/tests/corpus/test_made_streams_none: $(BUILD)/obj/tests/corpus/test_made_streams.o $(patsubst \
    %,$(BUILD)/obj/with_none/%.o,xz_streams bzip2_streams lz4_frames) $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $^ $(PACK_LIBS) -lm -o $@

# test_hub_card.c a second time, without libyaml
$(BUILD)/obj/with_none/hub_card.o: ALL_CFLAGS += -ULEAT_HAVE_YAML
$(BUILD)/obj/with_none/hub_card.o: tokenize_tools/corpus/hub/hub_card.c $(BUILD)/with
	$(call say,CC      $< ($(notdir $(@D))))
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
TEST_PROGRAMS += $(BUILD)/tests/corpus/test_hub_card_none
$(BUILD)/tests/corpus/test_hub_card_none: $(BUILD)/obj/tests/corpus/test_hub_card.o $(BUILD)/obj/with_none/hub_card.o \
    $(TEST_LIBRARIES)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $^ $(PACK_LIBS) -lm -o $@
