# leat: one Makefile. `make help` lists the targets and variables.
#
# Everything that is made lies under $(BUILD). Sources are found by folder: a new file needs no line here.

CC     ?= cc
AR     ?= ar
PREFIX ?= /usr/local
BUILD  ?= build
CUDA   ?= auto
V      ?= 0
Q      := $(if $(filter 1,$(V)),,@)
# all cores, unless -j says how many
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

VERSION := $(shell sed -n 's/^\#define LEAT_VERSION "\(.*\)"/\1/p' include/leat.h)
SONAME  := 1
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)

# the compiler's own macro stays a name where it has no such integers, as for machines of 32 bits
ifeq ($(shell echo __SIZEOF_INT128__ | $(CC) $(CPPFLAGS) $(CFLAGS) -E -P -x c - 2>/dev/null),__SIZEOF_INT128__)
$(error leat is for 64-bit machines: $(CC) has no 128-bit integers for this one)
endif

# ---- Flags ----------------------------------------------------------------------------------------------------------

PKG_CONFIG ?= pkg-config
OPTIMIZE   ?= -O3
WARNINGS   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla \
              -Wundef -Wformat=2 -Wcast-qual
CFLAGS     ?= $(OPTIMIZE) -g
# WERROR=1 in CI; a new compiler's new warning must not keep a user from building
WERROR     ?= 0
# doubles are rounded after each operation, as other programs round them whose results must be met (order/megatron.h)
ALL_CFLAGS  = -std=c11 -ffp-contract=off -D_GNU_SOURCE -Iinclude -Isrc -Itokenize_tools -fPIC -fvisibility=hidden \
              -pthread $(WARNINGS) $(if $(filter 1,$(WERROR)),-Werror) $(XXHASH_CFLAGS) $(ZSTD_CFLAGS) \
              $(WITH_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(SANITIZE)
ALL_LDFLAGS = -pthread $(LDFLAGS) $(SANITIZE)
# a shared library names all it needs; but clang puts a sanitizer's runtime into programs only
DEFINED     = $(if $(strip $(SANITIZE)),,-Wl,-z,defs)

XXHASH_CFLAGS := $(shell $(PKG_CONFIG) --cflags libxxhash 2>/dev/null)
ZSTD_CFLAGS   := $(shell $(PKG_CONFIG) --cflags libzstd 2>/dev/null)
ZSTD_LIBS     := $(shell $(PKG_CONFIG) --libs libzstd 2>/dev/null || echo -lzstd)
include scripts/libraries.mk

# The GPU's kernels: PTX is checked in; machine code is also made if nvcc is found. CUDA=0: not; CUDA=1: it must
# be.
NVCC          ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_TOOLS    := $(and $(strip $(NVCC)),$(wildcard $(dir $(NVCC))ptxas),$(wildcard $(dir $(NVCC))fatbinary))
CUDA_FATBIN   := $(and $(filter-out 0,$(CUDA)),$(CUDA_TOOLS),$(BUILD)/obj/cuda_kernels.fatbin)
# headers, where CUDA brings them, for a test
CUDA_CFLAGS   := $(addprefix -isystem ,$(and $(filter-out 0,$(CUDA)),$(strip $(NVCC)),$(wildcard \
                 $(dir $(NVCC))../include)))
ifeq ($(CUDA)$(CUDA_TOOLS),1)
$(error CUDA=1 wants nvcc with ptxas and fatbinary beside it, and there is none on the path: set NVCC, or CUDA=auto)
endif

# Kernels for CPU levels, chosen at run time (src/base/cpu.h). A body is one file x.c, compiled once for each of its
# levels here into x.LEVEL.o, with -DCPU_LEVEL=LEVEL; levels of other machines are left out.
LEVELS/bench/measure/bare_loops_kernel                := plain avx2 avx512
LEVELS/src/base/utf8_blocks                          := words neon avx2 avx512
LEVELS/src/checksum/checksum_kernel                  := plain avx2 avx512
LEVELS/src/order/permute_lanes_kernel                 := plain avx2 avx512
LEVELS/src/rows/rows_kernel                          := plain neon avx2 avx512
LEVELS/tokenize_tools/corpus/json/json_kernel        := plain neon avx2 avx512
LEVELS/tokenize_tools/tokenizer/bpe/class_cuts_kernel       := plain neon avx2 avx512vbmi
LEVELS/tokenize_tools/tokenizer/bpe/pretoken_kernel  := plain neon avx2 avx512 avx512vbmi
LEVELS/tokenize_tools/tokenizer/scan/scan_blocks     := words neon avx2 avx512 avx512vbmi
LEVELS/tokenize_tools/tokenizer/split/few_bytes_block   := words neon avx2 avx512
LEVELS/tokenize_tools/tokenizer/split/split_words_block := words neon avx2 avx512
LEVELS/tokenize_tools/tokenizer/unicode/normalize_blocks := words neon avx2 avx512

LEVELS := plain words $(if $(filter x86_64%,$(MACHINE)),avx2 avx512 avx512vbmi) \
          $(if $(filter aarch64-%,$(MACHINE)),neon)

%.plain.o:      LEVEL = -DCPU_LEVEL=plain
%.words.o:      LEVEL = -DCPU_LEVEL=words -DBYTES64_BY_WORDS=1
%.neon.o:       LEVEL = -DCPU_LEVEL=neon -DLEVEL_NEON=1
%.avx2.o:       LEVEL = -DCPU_LEVEL=avx2 -mavx2 -mbmi2
%.avx512.o:     LEVEL = -DCPU_LEVEL=avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mavx2 -mbmi2
%.avx512vbmi.o: LEVEL = -DCPU_LEVEL=avx512vbmi -mavx512vl -mavx512dq -mavx512cd -mavx512vbmi -mavx512vbmi2 -mavx2 \
                        -mbmi2

# EMULATE=avx512: the kernels for AVX-512 in plain C, on any CPU with AVX2; in a BUILD of its own
ifeq ($(EMULATE),avx512)
%.avx512.o:     LEVEL = -DCPU_LEVEL=avx512 -mavx2 -mbmi2 -Wno-psabi -include tests/avx512/avx512.h
%.avx512vbmi.o: LEVEL = -DCPU_LEVEL=avx512vbmi -DEMULATE_VBMI -mavx2 -mbmi2 -Wno-psabi -include tests/avx512/avx512.h
ALL_CFLAGS      += -DCPU_EMULATED
endif

# CPU=PLAIN, AVX2 or AVX512: no higher level is used, whatever the CPU has; in a BUILD of its own
$(BUILD)/obj/src/base/cpu.o $(BUILD)/obj/tests/support/cpu_limit.o: LEVEL = $(addprefix -DCPU_MAX=CPU_,$(CPU))

# the driver is loaded at run time; glibc before 2.34 has that in a library of its own
DL_LIBS   = -ldl
BASE_LIBS = $(WITH_LIBS_BASE) $(DL_LIBS)
PACK_LIBS = $(WITH_LIBS_PACK) $(ZSTD_LIBS)
# of programs that are linked with both libraries
ALL_LIBS  = $(PACK_LIBS) $(BASE_LIBS)

# ---- Sources --------------------------------------------------------------------------------------------------------

# the files of folders and their folders; a body x.c is replaced by x.LEVEL.c, which do not exist: their objects do
sources = $(foreach c,$(sort $(wildcard $(foreach folder,$(1),$(folder)/*.c $(folder)/*/*.c))),$(or \
          $(patsubst %,$(c:.c=).%.c,$(filter $(LEVELS),$(LEVELS/$(c:.c=)))),$(c)))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
# how all objects below a folder are made: the folder, the name of the commands
define objects_by
$(1)/%.o: %.c $(BUILD)/with | $(BUILD)/needed
	$$($(2))
$(foreach level,$(LEVELS),$(eval $(1)/%.$(level).o: %.c $(BUILD)/with | $(BUILD)/needed ; $$($(2))))
endef

BASE_SOURCES    := $(call sources,src/base)
LIB_SOURCES     := $(call sources,src)
# fewer folders in the builds for other machines, of tests that need no more: tests/cross.mk
PACK_FOLDERS    := arrange corpus damage mask pack render run tokenizer
PACK_SOURCES    := $(call sources,$(addprefix tokenize_tools/,$(PACK_FOLDERS)))
CLI_SOURCES     := $(call sources,tokenize_tools/cli)
COMMAND_SOURCES := $(call sources,$(addprefix tokenize_tools/,commands pages))
BENCH_SOURCES   := $(filter-out bench/dev/%,$(call sources,bench tokenize_tools/pages)) \
                   $(patsubst %,tokenize_tools/commands/%.c,common/common common/outputs \
                   $(addprefix packing/,pack_options pack_report part_auto renderers))
DEV_SOURCES     := $(call sources,bench/dev bench/data bench/measure) tokenize_tools/commands/common/common.c
EXAMPLES        := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

LIB_OBJECTS     := $(call objects,$(LIB_SOURCES))
# hidden, as src/base: inputs are hashed as datasets are, and come from servers as they do; what one lists, both read
SHARED_SOURCES  := $(call sources,src/checksum src/condition src/remote src/list)
PACK_OBJECTS    := $(call objects,$(PACK_SOURCES) $(BASE_SOURCES) $(SHARED_SOURCES))
CLI_OBJECTS     := $(call objects,$(CLI_SOURCES))
COMMAND_OBJECTS := $(call objects,$(COMMAND_SOURCES))
BENCH_OBJECTS   := $(call objects,$(BENCH_SOURCES))
DEV_OBJECTS     := $(call objects,$(DEV_SOURCES))
$(BENCH_OBJECTS) $(DEV_OBJECTS): ALL_CFLAGS += -I.

# tests and programs are linked with STATIC, whose internal names they may use; INSTALLED has none that another library
# could have too
STATIC    := $(BUILD)/libleat_pack.a $(BUILD)/libleat.a
INSTALLED := $(BUILD)/installed/libleat.a $(BUILD)/installed/libleat_pack.a
LIBRARIES := $(STATIC) $(BUILD)/libleat.so $(BUILD)/libleat_pack.so $(INSTALLED)
PC_FILES  := $(BUILD)/leat.pc $(BUILD)/leat_pack.pc

# ---- What is made ---------------------------------------------------------------------------------------------------

.PHONY: all lib tools examples
## all: libraries, commands and examples (the default); ends with what is in, of what a build can have
all: lib tools examples $(BUILD)/with.said
$(BUILD)/with.said: $(BUILD)/with | lib tools examples
	@printf '$(CLEAR)what is in (WITH_NAME=auto|yes|no):\n'
	@printf '$(WITH_LINES)' | awk '{ name = tolower($$1); in_it = $$2 ? "yes" : "no"; sub(/^ *[^ ]+ +[^ ]+ +/, ""); \
	    printf "  %-7s %-4s %s\n", name, in_it, $$0 }'
	@touch $@
## lib: build/libleat and build/libleat_pack, shared and static
lib: $(LIBRARIES) $(PC_FILES)
## tools: build/leat, build/leat-bench and, for leat's own developers, build/leat-bench-dev
tools: $(BUILD)/leat $(BUILD)/leat-bench $(BUILD)/leat-bench-dev
## examples: the programs of examples/, against the public headers only
examples: $(EXAMPLES)

# What is made, in one line that counts: on a terminal it overwrites itself, elsewhere each hundredth is shown.
CLEAR = $(if $(MAKE_TERMOUT),\033[K)
say = @$(eval MADE += x)$(if $(filter 1,$(V)),:,$(if $(MAKE_TERMOUT),printf '\033[K  %s: %.70s\r' $(words $(MADE)) \
      '$(strip $(1))',$(if $(filter %00,$(words $(MADE))),echo "  $(words $(MADE)) files made: $(strip $(1))",:)))

define COMPILE
$(call say,CC      $(@:$(BUILD)/obj/%.o=%))
$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(LEVEL) -MMD -MP -c $< -o $@
endef
$(eval $(call objects_by,$(BUILD)/obj,COMPILE))

# the assembler puts these files into the objects, which no dependency file knows of
$(BUILD)/obj/tokenize_tools/tokenizer/load/builtin.o: $(wildcard tokenize_tools/tokenizer/load/data/*.zst)
$(BUILD)/obj/bench/report.o: bench/report.py
$(BUILD)/obj/src/device/cuda_image.o: src/device/cuda_kernels.ptx $(CUDA_FATBIN)
$(BUILD)/obj/src/device/cuda_image.o: ALL_CFLAGS += $(if $(CUDA_FATBIN),-DLEAT_CUDA_FATBIN='"$(CUDA_FATBIN)"')
$(BUILD)/obj/cuda_kernels.fatbin: src/device/cuda_kernels.ptx scripts/gen_fatbin.sh
	$(call say,FATBIN  $@)
	$(Q)mkdir -p $(@D) && scripts/gen_fatbin.sh $@ "$(NVCC)"

$(BUILD)/obj/tokenize_tools/cli/with.o: ALL_CFLAGS += -DLEAT_WITH='"$(WITH_LINES)"'

$(BUILD)/libleat.a: $(LIB_OBJECTS)
$(BUILD)/libleat_pack.a: $(PACK_OBJECTS)
$(BUILD)/%.a:
	$(call say,AR      $@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Internal names of an archive, all hidden, become leat_inside_NAME and leat_pack_inside_NAME.
NM      ?= $(or $(shell $(CC) -print-prog-name=nm),nm)
OBJCOPY ?= $(or $(shell $(CC) -print-prog-name=objcopy),objcopy)
$(BUILD)/installed/%.a: $(BUILD)/%.a
	$(call say,OBJCOPY $@)
	$(Q)mkdir -p $(@D) && $(NM) -g --defined-only $< 2>/dev/null | \
	    awk 'NF == 3 && $$3 !~ /^leat_/ { print $$3, "$(patsubst lib%,%,$*)_inside_" $$3 }' | LC_ALL=C sort -u >$@.names
	$(Q)$(OBJCOPY) --redefine-syms=$@.names $< $@

$(BUILD)/libleat.so: $(LIB_OBJECTS) src/leat.map
	$(call say,LD      $@)
	$(Q)$(CC) -shared -Wl,-soname,libleat.so.$(SONAME) -Wl,--version-script=src/leat.map $(DEFINED) $(ALL_LDFLAGS) \
	    $(LIB_OBJECTS) $(BASE_LIBS) -o $@.$(SONAME)
	$(Q)ln -sf $(@F).$(SONAME) $@

$(BUILD)/libleat_pack.so: $(PACK_OBJECTS) $(BUILD)/libleat.so tokenize_tools/leat_pack.map
	$(call say,LD      $@)
	$(Q)$(CC) -shared -Wl,-soname,libleat_pack.so.$(SONAME) -Wl,--version-script=tokenize_tools/leat_pack.map \
	    $(DEFINED) $(ALL_LDFLAGS) $(PACK_OBJECTS) -L$(BUILD) -lleat $(PACK_LIBS) $(DL_LIBS) -o $@.$(SONAME)
	$(Q)ln -sf $(@F).$(SONAME) $@

$(BUILD)/leat: $(COMMAND_OBJECTS) $(CLI_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -lm -o $@

# what links the archives, as they were built; make install fills in the folders
$(BUILD)/%.pc: scripts/%.pc.in include/leat.h $(BUILD)/with
	$(Q)sed -e 's|@VERSION@|$(VERSION)|; s|@BASE_LIBS@|$(strip $(BASE_LIBS))|; s|@PACK_LIBS@|$(strip $(PACK_LIBS))|' $< >$@

# counts calls of the GPU's driver (bench/device/load_device.h)
COUNTED = -Wl,--wrap=cuda_driver_open
$(BUILD)/leat-bench: $(BENCH_OBJECTS) $(CLI_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(COUNTED) $^ $(ALL_LIBS) -lm -o $@

$(BUILD)/leat-bench-dev: $(DEV_OBJECTS) $(CLI_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -lm -o $@

$(BUILD)/examples/%: examples/%.c $(STATIC)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) -std=c11 -Iinclude $(WARNINGS) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) $< $(STATIC) \
	    $(ALL_LDFLAGS) $(ALL_LIBS) -lm -o $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---- The two commands of the README ---------------------------------------------------------------------------------

# Before anything is compiled: whether the compiler finds what it needs, or else the command that installs it.
$(BUILD)/needed:
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include <xxhash.h>\n#include <zstd.h>\n' | $(CC) $(ALL_CFLAGS) -E -x c - >/dev/null 2>$@.said || \
	    { CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' scripts/deps.sh say && cat $@.said >&2; exit 1; }
	$(Q)mv $@.said $@

.PHONY: deps demo check
# DEPS=0: nothing is installed
install_deps = [ "$(DEPS)" = 0 ] || scripts/deps.sh $(1)
## deps: install what the build needs, if pkg-config does not find it
deps:
	$(Q)$(call install_deps,build)

## demo: build, write a small dataset, look at it, verify it
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo.sh $(BUILD)

.PHONY: docs
## docs: write what the tutorials' commands print into docs/tutorial-*.md; look at the difference then
docs: all
	$(Q)LEAT_BUILD=$(BUILD) python3 tests/docs/pages.py --write docs/tutorial-*.md

## check: build and run all tests that take seconds
check:
	$(Q)$(call install_deps,check)
	$(Q)$(MAKE) --no-print-directory run-tests

include tests/tests.mk
include tests/fuzz.mk
include tests/cross.mk
include tests/conformance.mk
include tests/megatron.mk
include tests/cluster.mk
include tests/engines.mk
include tests/s3.mk
include tests/coverage.mk
include python/python.mk
include tests/trainers.mk
include packages/packages.mk
include bench/bench.mk

# ---- Checks with other tools ----------------------------------------------------------------------------------------

.PHONY: check-asan check-ubsan check-tsan check-avx512 check-gpu lint shape format
## check-gpu: the tests of loader and CUDA backend on a real GPU; without one it says so
check-gpu: all $(DEVICE_PROGRAMS) $(DEVICE_FAULTS) $(filter $(BUILD)/tests/cuda/%,$(TEST_PROGRAMS))
	$(Q)tests/check_gpu.sh $(BUILD) || [ $$? -eq 77 ]
## check-asan: the tests under AddressSanitizer (and its leak checker)
check-asan: deps
	$(Q)$(MAKE) --no-print-directory run-tests BUILD=$(BUILD)/asan OPTIMIZE=-O1 \
	    SANITIZE="-fsanitize=address -fno-omit-frame-pointer"
## check-ubsan: the tests under UndefinedBehaviorSanitizer
check-ubsan: deps
	$(Q)$(MAKE) --no-print-directory run-tests BUILD=$(BUILD)/ubsan OPTIMIZE=-O1 \
	    SANITIZE="-fsanitize=undefined -fno-sanitize-recover=all"
## check-tsan: the tests that use threads under ThreadSanitizer
check-tsan: deps
	$(Q)$(MAKE) --no-print-directory run-tests BUILD=$(BUILD)/tsan OPTIMIZE=-O1 SANITIZE="-fsanitize=thread" ONLY=thread

## check-avx512: the kernels for AVX-512 with its instructions in plain C, on any CPU with AVX2; ASan, UBSan
check-avx512: deps
	$(Q)LEAT_TEST_SECONDS=900 $(MAKE) --no-print-directory run-tests BUILD=$(BUILD)/avx512 EMULATE=avx512 \
	    CC=gcc OPTIMIZE=-O1 SELECTED="$(AVX512_TESTS:tests/%.c=$(BUILD)/avx512/tests/%)" \
	    SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
# those that go through all rows of kernels
AVX512_TESTS := $(wildcard tests/tokenizer/test_*.c tests/corpus/test_json_*.c $(patsubst %,tests/%.c, \
                tokenizer_files/test_made_models tokenizer_files/test_cut_pairs order/test_permute \
                unit/test_row_kernels loader/test_loader_outputs))

## lint: include direction, format, forbidden functions, exported names, documents against code
lint: lib
	$(Q)tests/lint/lint.sh $(BUILD)
## check-every: make check with each call, length, bit and damage, of which tests else try some: hours
.PHONY: check-every
check-every: export LEAT_TEST_EVERY := 1
check-every: export LEAT_TEST_SECONDS := 36000
check-every: check
## shape: modules in layers, the longest functions, build/shape.svg; rooms beside their budget; OF=src
shape:
	$(Q)mkdir -p $(BUILD) && scripts/shape.py $(BUILD)/shape.svg $(OF)
	$(Q)echo && scripts/budget.py
## format: clang-format over all C files but the public headers, which are laid out by hand
format:
	$(Q)clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h' | grep -v '^include/')

# A virtual environment FOLDER with what FILE requires, on top of those of another FOLDER, by PYTHON or python3; without
# a network there is none. And a script that runs in it.
define make_venv
	$(Q)rm -rf $(1) && mkdir -p $(BUILD)
	$(Q)if $(or $(4),python3) -m venv $(1) && $(if $(3),realpath $(3:%=%/lib/python3*/site-packages) \
	    >"$$(echo $(1)/lib/python3*/site-packages)/below.pth" &&) \
	    $(1)/bin/pip install -q --disable-pip-version-check --no-compile -r $(2); then touch $(1)/ready; else \
	    rm -rf $(1); fi
endef
define run_peers
	$(Q)if [ -e $(1)/ready ]; then $(1)/bin/python $(2) $(PEERS) || [ $$? -eq 77 ]; else \
	    echo "skipped: what it compares with cannot be installed (python3 -m venv, pip)"; fi
endef

# ---- Pages ----------------------------------------------------------------------------------------------------------

.PHONY: check-pages
## check-pages: the pages that leat writes, in headless Chromium, two widths, light, dark, print
check-pages: $(BUILD)/leat $(BUILD)/leat-bench
	$(Q)tests/pages/check.sh $(BUILD) || [ $$? -eq 77 ]

.PHONY: pictures
## pictures: those of the documents: leat show, and a chart of make bench-loaders
pictures: $(BUILD)/leat
	$(Q)scripts/pictures.py $(BUILD) docs

# ---- Installing -----------------------------------------------------------------------------------------------------

.PHONY: install uninstall dist clean help
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR     ?= $(PREFIX)/bin
DATADIR    ?= $(PREFIX)/share
## install: commands, libraries, headers and pkg-config files, under DESTDIR and PREFIX
install: all
	$(Q)install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(INCLUDEDIR)/leat" "$(DESTDIR)$(LIBDIR)/pkgconfig"
	$(Q)install -m 755 $(BUILD)/leat $(BUILD)/leat-bench "$(DESTDIR)$(BINDIR)"
	$(Q)install -m 644 $(wildcard include/*.h) "$(DESTDIR)$(INCLUDEDIR)"
	$(Q)install -m 644 $(wildcard include/leat/*.h) "$(DESTDIR)$(INCLUDEDIR)/leat"
	$(Q)install -m 644 $(INSTALLED) "$(DESTDIR)$(LIBDIR)"
	$(Q)for l in leat leat_pack; do \
	    install -m 755 $(BUILD)/lib$$l.so.$(SONAME) "$(DESTDIR)$(LIBDIR)/lib$$l.so.$(VERSION)" && \
	    ln -sf lib$$l.so.$(VERSION) "$(DESTDIR)$(LIBDIR)/lib$$l.so.$(SONAME)" && \
	    ln -sf lib$$l.so.$(SONAME) "$(DESTDIR)$(LIBDIR)/lib$$l.so" && \
	    sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' $(BUILD)/$$l.pc \
	        > "$(DESTDIR)$(LIBDIR)/pkgconfig/$$l.pc" || exit 1; \
	done
	$(Q)scripts/install_manuals.sh $(BUILD) "$(DESTDIR)$(DATADIR)"
	$(Q)[ -n "$(DESTDIR)" ] || scripts/after_install.sh "$(LIBDIR)" "$(BINDIR)"
## uninstall: remove what install put there
uninstall:
	$(Q)for f in leat leat-bench; do rm -f "$(DESTDIR)$(BINDIR)/$$f"; done
	$(Q)for f in $(patsubst include/%,%,$(wildcard include/*.h include/leat/*.h)); do \
	    rm -f "$(DESTDIR)$(INCLUDEDIR)/$$f"; done
	$(Q)rmdir "$(DESTDIR)$(INCLUDEDIR)/leat" 2>/dev/null || true
	$(Q)for l in leat leat_pack; do \
	    for f in .a .so .so.$(SONAME) .so.$(VERSION); do rm -f "$(DESTDIR)$(LIBDIR)/lib$$l$$f"; done; \
	    rm -f "$(DESTDIR)$(LIBDIR)/pkgconfig/$$l.pc"; \
	done
	$(Q)scripts/install_manuals.sh --remove "$(DESTDIR)$(DATADIR)"

## dist: build/libleat-VERSION.tar.gz of what git holds
dist:
	$(Q)mkdir -p $(BUILD) && git archive --prefix=libleat-$(VERSION)/ -o $(BUILD)/libleat-$(VERSION).tar.gz HEAD
	@echo "$(BUILD)/libleat-$(VERSION).tar.gz"

## clean: remove build/, or BUILD
clean:
	$(Q)rm -rf $(BUILD)

## help: this list
help:
	@sed -n 's/^## \([a-z0-9-]*\): \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  %-18s %s\n", $$1, $$2 }'
	@echo "variables: CC, CFLAGS, CPPFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR, BUILD; V=1 shows the commands;"
	@echo "           WERROR=1 makes warnings errors; DEPS=0: check and demo install nothing; WITH_NAME=auto|yes|no:"
	@echo "           $(OPTIONAL:%=WITH_%)"
	@echo "           CUDA=auto|0|1: machine code for GPUs besides the PTX: if nvcc is found, not, or it must be found"
