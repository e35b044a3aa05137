# python.mk: the Python package; included by the Makefile. The extension and both commands share one library in
# leat/lib, which has all of leat. Only the public headers are used, tables of fields (base/fields.h) and of the options
# of packing (pack/option_rows.h), and by documents_columns.c, which repairs UTF-8, src/base, which is linked with it.

PYTHON         ?= python3
PYTHON_PACKAGE := $(BUILD)/python/leat
PYTHON_SOURCES := $(sort $(wildcard python/src/*.c python/src/*/*.c))
PYTHON_OBJECTS := $(call objects,$(PYTHON_SOURCES))
PYTHON_FILES   := $(sort $(wildcard python/leat/*.py python/leat/*.pyi python/leat/py.typed python/leat/*/*.py))
PYTHON_INCLUDE  = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')

# one binary for Python 3.10 and all later ones; its structs take strings as char *
$(PYTHON_OBJECTS): ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DPy_LIMITED_API=0x030A0000 -Iinclude -Ipython/src -Isrc \
    -isystem $(PYTHON_INCLUDE) -fPIC -fvisibility=hidden -pthread $(filter-out -Wwrite-strings,$(WARNINGS)) \
    $(if $(filter 1,$(WERROR)),-Werror) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) $(PRIVATE_HEADERS)
$(filter %/pack/options.o %/core/errors.o,$(PYTHON_OBJECTS)): PRIVATE_HEADERS = -Itokenize_tools

.PHONY: python-headers
$(PYTHON_OBJECTS): | python-headers
python-headers:
	$(Q)[ -e "$(PYTHON_INCLUDE)/Python.h" ] || { \
	    echo "$(PYTHON) has no headers (Python.h): scripts/deps.sh python installs them" >&2; exit 1; }

# A library of the system goes into what needs it, where there is a lib*.a; else its lib*.so is brought along in
# leat/lib; those of the C library are everywhere.
archive_of     = $(filter /%,$(shell $(CC) -print-file-name=lib$(patsubst -l%,%,$(1)).a 2>/dev/null))
shared_of      = $(filter /%,$(shell $(CC) -print-file-name=lib$(patsubst -l%,%,$(1)).so 2>/dev/null))
NEEDED        := $(sort $(ALL_LIBS))
OF_LIBC       := -ldl -lm -lpthread -lrt
# Debian's libbz2.a is not made for shared objects
PYTHON_LIBS   := $(filter $(OF_LIBC),$(NEEDED)) $(foreach l,$(filter-out $(OF_LIBC),$(NEEDED)),$(or \
                 $(if $(filter -lbz2,$(l)),,$(call archive_of,$(l))),$(call shared_of,$(l)),$(l)))
PYTHON_SHARED := $(filter %.so,$(PYTHON_LIBS))
# What links extension and commands: for a wheel, WHEEL_LINK
PYTHON_LINK   ?= $(CC)
PYTHON_PROGRAMS := $(PYTHON_PACKAGE)/bin/leat $(PYTHON_PACKAGE)/bin/leat-bench
PYTHON_LIBRARY  := $(PYTHON_PACKAGE)/lib/libleat_all.so

.PHONY: python python-files python-extension
## python: the package in build/python, to be used with PYTHONPATH=build/python
python: python-extension python-files

# A module that is deleted from python/leat must not stay importable; nor its folder, as a namespace package.
PYTHON_COPIES := $(patsubst python/leat/%,$(PYTHON_PACKAGE)/%,$(PYTHON_FILES))
PYTHON_STALE   = $(filter-out $(PYTHON_COPIES),$(foreach d,$(PYTHON_PACKAGE) $(PYTHON_PACKAGE)/*,$(wildcard \
                 $(d)/*.py $(d)/*.pyi)))
python-files: $(PYTHON_COPIES)
	$(Q)$(if $(PYTHON_STALE),rm -rf $(PYTHON_STALE) $(PYTHON_PACKAGE)/*/__pycache__ && \
	    find $(PYTHON_PACKAGE) -type d -empty -delete,:)
python-extension: $(PYTHON_PACKAGE)/_leat.abi3.so $(PYTHON_PROGRAMS) $(PYTHON_PACKAGE)/lib/ready

$(PYTHON_PACKAGE)/_leat.abi3.so: python/src/module.map $(PYTHON_OBJECTS) $(PYTHON_LIBRARY) \
                                 $(call objects,$(BASE_SOURCES))
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(PYTHON_LINK) -shared -Wl,--version-script=$< -Wl,-rpath,'$$ORIGIN/lib' $(ALL_LDFLAGS) \
	    $(filter-out $<,$^) -o $@

.PHONY: python-objects
## python-objects: the extension's sources, compiled and no more; for another compiler: CC=clang WERROR=1
python-objects:
	$(Q)if [ -e "$(PYTHON_INCLUDE)/Python.h" ]; then $(MAKE) --no-print-directory $(PYTHON_OBJECTS); else \
	    echo "skipped: $(PYTHON) has no headers"; fi

# The library: its exports are the public functions and the commands' main functions, which have names here.
PROGRAM_MAINS   := $(BUILD)/obj/python/tokenize_tools/commands/main.o $(BUILD)/obj/python/bench/main.o
PROGRAM_OBJECTS := $(filter-out %/commands/main.o $(BUILD)/obj/bench/main.o,$(sort $(COMMAND_OBJECTS) \
                   $(BENCH_OBJECTS) $(CLI_OBJECTS)))
$(BUILD)/obj/python/%/main.o: %/main.c
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -I. -Dmain=$(if $(filter bench,$*),leat_bench_main,leat_main) \
	    -fvisibility=default -Wno-missing-prototypes -MMD -MP -c $< -o $@
$(PYTHON_LIBRARY): | $(PYTHON_PACKAGE)/lib/ready
$(PYTHON_LIBRARY): python/library.map $(PROGRAM_MAINS) $(PROGRAM_OBJECTS) $(LIB_OBJECTS) $(PACK_OBJECTS)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(PYTHON_LINK) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic \
	    -Wl,--version-script=$< -Wl,-rpath,'$$ORIGIN' $(ALL_LDFLAGS) $(COUNTED) $(filter-out $<,$^) \
	    -Wl,--start-group $(PYTHON_LIBS) -Wl,--end-group -lm -o $@

# the commands, which the package's console scripts become: nothing but that call
$(PYTHON_PROGRAMS): python/program.c $(PYTHON_LIBRARY)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(PYTHON_LINK) $(ALL_CFLAGS) -DPROGRAM_MAIN=$(subst -,_,$(@F))_main \
	    -Wl,-rpath,'$$ORIGIN/../lib' $(ALL_LDFLAGS) $^ -o $@

# under the name that they are asked for by; and the packages and licenses of all that is brought along, where Debian
# says them: those for this machine, since a package may also be installed for others
DEBIAN_MACHINE = $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(WHEEL_MACHINE)))
LICENSED = $(realpath $(filter /%,$(PYTHON_LIBS)) $(PYTHON_SHARED)) $(wildcard /usr/include/xxhash.h)
$(PYTHON_PACKAGE)/lib/ready:
	$(Q)mkdir -p $(@D) && rm -f $(@D)/*
	$(Q)for so in $(PYTHON_SHARED); do \
	    name=$$(objdump -p $$so | sed -n 's/^ *SONAME *//p'); cp $$so $(@D)/$$name && chmod 755 $(@D)/$$name || exit 1; \
	done
	$(Q)for file in $(LICENSED); do \
	    package=$$({ dpkg -S $$file || dpkg -S $${file#/usr}; } 2>/dev/null | cut -d: -f1); \
	    [ -n "$$package" ] || continue; \
	    cp -L /usr/share/doc/$$package/copyright $(@D)/$$package.license; \
	    dpkg-query -W -f '$${binary:Package} $${Version} $${source:Package}\n' $$package; \
	done | grep -E '^[^: ]+(:$(DEBIAN_MACHINE))? ' | sort -u >$@

# ---- A wheel --------------------------------------------------------------------------------------------------------

# Clusters run systems of 2018: zig's linker knows the C library of each version. Without it (no network), a wheel is
# for systems as new as this one; its name says so.
WHEEL_GLIBC   ?= 2.28
WHEEL_MACHINE := $(firstword $(subst -, ,$(MACHINE)))
WHEEL_PACKAGE := $(BUILD)/wheel/leat
ZIG_VENV      := $(BUILD)/zig-venv
WHEEL_LINK     = env ZIG_GLOBAL_CACHE_DIR=$(BUILD)/zig-cache ZIG_LOCAL_CACHE_DIR=$(BUILD)/zig-cache \
                 $(ZIG_VENV)/bin/python -m ziglang cc -target $(WHEEL_MACHINE)-linux-gnu.$(WHEEL_GLIBC) -Wl,-s
$(ZIG_VENV)/ready: python/requirements-wheel.txt | wheel-deps
	$(call make_venv,$(ZIG_VENV),$<)

.PHONY: wheel-deps wheel check-wheel
wheel-deps:
	$(Q)PYTHON="$(PYTHON)"; export PYTHON; $(call install_deps,python)
## wheel: build/dist/libleat-*.whl, which needs nothing but a C library (glibc 2.28) and Python 3.10 or later
# after check-wheel where both are asked for, which makes one in the same folder
wheel: wheel-deps $(ZIG_VENV)/ready | $(filter check-wheel,$(MAKECMDGOALS))
	$(Q)[ -e $(ZIG_VENV)/ready ] || echo "ziglang cannot be installed: the wheel is for C libraries as new as this" >&2
	$(Q)rm -rf $(WHEEL_PACKAGE) && $(MAKE) --no-print-directory python-extension PYTHON_PACKAGE=$(WHEEL_PACKAGE) \
	    PYTHON_LINK="$$([ -e $(ZIG_VENV)/ready ] && echo '$(WHEEL_LINK)' || echo '$(CC) -Wl,-s')"
	$(Q)$(PYTHON) python/make_wheel.py $(WHEEL_PACKAGE) $(BUILD)/dist

## check-wheel: installs the wheel where no compiler is, and uses it; PYTHONS="python3.10 python3.13"
PYTHONS ?= $(PYTHON)
check-wheel:
	$(Q)if [ -e "$(PYTHON_INCLUDE)/Python.h" ] && $(PYTHON) -c 'import ensurepip, venv'; then \
	    LEAT_TEST_EVERY=1 tests/run.sh $(BUILD) "" tests/install/test_make_wheel.py && \
	    $(MAKE) --no-print-directory wheel && python/check_wheel.sh $(BUILD)/dist $(PYTHONS); else \
	    echo "skipped: $(PYTHON) has no headers or no venv"; echo "0 passed, 0 failed, 1 skipped"; fi

$(PYTHON_PACKAGE)/%: python/leat/%
	$(Q)mkdir -p $(@D) && cp $< $@

# ---- Tests: pytest against real packages, in a virtual environment of their own -------------------------------------

PYTHON_VENV ?= $(BUILD)/python-venv
$(PYTHON_VENV)/ready: python/requirements-test.txt python/requirements-readers.txt
	$(Q)rm -rf $(PYTHON_VENV) && mkdir -p $(BUILD)
	$(Q)if $(PYTHON) -m venv $(PYTHON_VENV) && \
	    $(PYTHON_VENV)/bin/pip install -q --disable-pip-version-check \
	    --no-compile -r $< && $(PYTHON_VENV)/bin/pip install -q --disable-pip-version-check --no-compile --no-deps \
	    -r python/requirements-readers.txt; then touch $@; else rm -rf $(PYTHON_VENV); fi

.PHONY: check-wheel-pages
## check-wheel-pages: the Python of each page runs where only the wheel is, and what the page says is to be installed
check-wheel-pages: wheel $(PYTHON_VENV)/ready
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then $(PYTHON_VENV)/bin/python python/check_pages.py $(BUILD)/dist; else \
	    echo "skipped: no packages"; echo "0 passed, 0 failed, 1 skipped"; fi

.PHONY: check-steps
## check-steps: STEPS=1000000 of loaders through random changes of state, world and plan, beside the twins; SEED=1
check-steps: STEPS ?= 1000000
check-steps: $(PYTHON_VENV)/ready python
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then PYTHONPATH=$(BUILD)/python $(PYTHON_VENV)/bin/python -B \
	    tests/loader/check_steps.py $(SEED) $(STEPS); else echo "skipped: no packages"; fi

.PHONY: check-python
## check-python: `pip install .` and pytest against torch, numpy, lightning, ...; PYTEST="-k loader" chooses tests
check-python: tools $(FAKE_CUDA) $(BUILD)/make_shapes $(PYTHON_VENV)/ready
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then python/check.sh $(BUILD) $(PYTHON_VENV) $(PYTEST); else \
	    echo "skipped: the packages of python/requirements-test.txt cannot be installed (python3 -m venv, pip)"; \
	    echo "0 passed, 0 failed, 1 skipped"; fi

# The extension under AddressSanitizer and UBSan, and the tests of what it takes from Python and gives to it; Python
# itself is not built so, therefore its own leaks are not looked for. ASAN_TESTS chooses: torch and jax are slow under
# it, and tests of processes and of the memory that is kept say nothing there. What a sanitizer says would be lost in
# what pytest captures: it goes to files.
ASAN_BUILD   = $(BUILD)/python-asan
ASAN_FLAGS   = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ASAN_RUNTIME = $(foreach l,libasan.so libubsan.so libstdc++.so,$(shell $(CC) -print-file-name=$(l)))
ASAN_TESTS  ?= $(foreach n,arrow dataset device lifetimes loader pack plan tokenizer,$(wildcard \
                python/tests/test_$(n)*.py python/tests/*/test_$(n)*.py))
ASAN_REPORT  = $(abspath $(ASAN_BUILD))/report
.PHONY: check-python-asan
## check-python-asan: the extension under AddressSanitizer and UBSan, with gcc; ASAN_TESTS="python/tests/test_arrow.py"
check-python-asan: tools $(FAKE_CUDA) $(BUILD)/make_shapes $(PYTHON_VENV)/ready
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then \
	    $(MAKE) --no-print-directory python BUILD=$(ASAN_BUILD) OPTIMIZE=-O1 SANITIZE="$(ASAN_FLAGS)" && \
	    rm -f $(ASAN_REPORT).* && LD_PRELOAD="$(ASAN_RUNTIME)" PYTHONMALLOC=malloc \
	        ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16:log_path=$(ASAN_REPORT) UBSAN_OPTIONS=print_stacktrace=1 \
	        PYTHONPATH=$(abspath $(ASAN_BUILD))/python LEAT_BUILD=$(abspath $(BUILD)) $(PYTHON_VENV)/bin/python \
	        -m pytest -k 'not leak and not jax and not mesh' $(ASAN_TESTS) $(PYTEST) || \
	    { cat $(ASAN_REPORT).* 2>/dev/null; exit 1; }; else \
	    echo "skipped: the packages of python/requirements-test.txt cannot be installed (python3 -m venv, pip)"; fi
