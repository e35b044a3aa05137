# fake_cuda.mk: the stand-in driver, which tests load in place of NVIDIA's (and `leat-bench load --driver`); included by
# tests/tests.mk. And the tests of the loader once more, on a device: each program of tests/loader/ and the loader's
# of tests/faults/, with the same sources, as build/tests/device/.

FAKE_CUDA := $(BUILD)/fake_cuda/libfake_cuda.so
$(call objects,$(wildcard tests/fake_cuda/*.c)): ALL_CFLAGS += -Itests -I.
$(FAKE_CUDA): $(call objects,$(wildcard tests/fake_cuda/*.c) src/device/cuda_image.c)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) -shared $(DEFINED) $(ALL_LDFLAGS) $^ -o $@

# the machine for PTX alone
PTX_MACHINE := $(call objects,$(patsubst %,tests/fake_cuda/ptx_%.c,read operand run))
$(BUILD)/tests/cuda/test_ptx: $(PTX_MACHINE)
$(BUILD)/tests/cuda/test_ptx_grids: $(PTX_MACHINE) $(call objects,tests/cuda/huge_batch.c)
$(BUILD)/tests/cuda/test_count_cuda: $(BUILD)/obj/bench/device/load_device.o
$(BUILD)/tests/cuda/test_count_cuda: ALL_LDFLAGS += $(COUNTED)

# where a loader is asked to go
$(BUILD)/tests/cuda/test_cuda_nodes: ALL_LDFLAGS += \
    $(addprefix -Wl$(comma)--wrap=,numa_of_pci numa_place_thread numa_place_memory)

$(BUILD)/obj/tests/cuda/test_prototypes.o: ALL_CFLAGS += $(CUDA_CFLAGS)

DEVICE_WRAPPED  := leat_loader_open leat_loader_close leat_batch_write leat_batch_borrow leat_batch_release
DEVICE_PROGRAMS := $(patsubst tests/loader/%.c,$(BUILD)/tests/device/%,$(wildcard tests/loader/test_*.c))
DEVICE_FAULTS   := $(patsubst %,$(BUILD)/tests/device/test_loader_%,faults cut)

$(DEVICE_PROGRAMS): $(BUILD)/tests/device/%: $(BUILD)/obj/tests/loader/%.o
$(DEVICE_FAULTS): $(BUILD)/tests/device/%: $(BUILD)/obj/tests/faults/%.o $(BUILD)/obj/tests/support/fault.o
$(DEVICE_FAULTS): FAULTS = $(WRAP)
$(DEVICE_PROGRAMS) $(DEVICE_FAULTS): $(BUILD)/obj/tests/support/on_device.o $(TINY_POOL) $(TEST_LIBRARIES) | \
    $(FAKE_CUDA)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) $(FAULTS) $(addprefix -Wl$(comma)--wrap=,$(DEVICE_WRAPPED)) \
	    $(filter %.o,$^) $(filter %.a,$^) $(ALL_LIBS) -lm -o $@
