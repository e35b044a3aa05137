# python.mk: the Python package; included by the Makefile. The extension is linked with the static libraries, so that
# nothing of leat has to be found when it is loaded; only the public headers are used.

PYTHON         ?= python3
PYTHON_PACKAGE := $(BUILD)/python/leat
PYTHON_SOURCES := $(sort $(wildcard python/src/*.c))
PYTHON_OBJECTS := $(call objects,$(PYTHON_SOURCES))
PYTHON_FILES   := $(sort $(wildcard python/leat/*.py python/leat/*.pyi python/leat/py.typed python/leat/*/*.py))
PYTHON_INCLUDE  = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')

# one binary for Python 3.10 and all later ones; its structs take strings as char *
$(PYTHON_OBJECTS): ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DPy_LIMITED_API=0x030A0000 -Iinclude \
    -isystem $(PYTHON_INCLUDE) -fPIC -fvisibility=hidden -pthread $(filter-out -Wwrite-strings,$(WARNINGS)) \
    $(if $(filter 1,$(WERROR)),-Werror) $(CFLAGS) $(SANITIZE)

.PHONY: python python-extension
## python: the package in build/python, to be used with PYTHONPATH=build/python
python: python-extension $(patsubst python/leat/%,$(PYTHON_PACKAGE)/%,$(PYTHON_FILES))
python-extension: $(PYTHON_PACKAGE)/_leat.abi3.so

$(PYTHON_PACKAGE)/_leat.abi3.so: $(PYTHON_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)mkdir -p $(@D) && $(CC) -shared -Wl,--exclude-libs,ALL $(ALL_LDFLAGS) $^ $(ALL_LIBS) -o $@

$(PYTHON_PACKAGE)/%: python/leat/%
	$(Q)mkdir -p $(@D) && cp $< $@

# ---- Tests: pytest against real packages, in a virtual environment of their own -------------------------------------

PYTHON_VENV ?= $(BUILD)/python-venv
$(PYTHON_VENV)/ready: python/requirements-test.txt
	$(Q)rm -rf $(PYTHON_VENV) && mkdir -p $(BUILD)
	$(Q)if $(PYTHON) -m venv $(PYTHON_VENV) && \
	    $(PYTHON_VENV)/bin/pip install -q --disable-pip-version-check -r $<; then touch $@; else rm -rf $(PYTHON_VENV); fi

.PHONY: bench-python
## bench-python: what the Python loader adds to a batch of the C loader; BENCH="--rounds 9"
bench-python: $(BUILD)/leat-bench $(PYTHON_VENV)/ready python
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then PYTHONPATH=$(BUILD)/python $(PYTHON_VENV)/bin/python \
	    bench/python_loader.py $(BUILD)/leat-bench $(BENCH); else echo "skipped: no packages"; fi

.PHONY: check-python
## check-python: `pip install .` and pytest against torch, numpy, lightning, ...; PYTEST="-k loader" chooses tests
check-python: $(BUILD)/leat $(BUILD)/leat-bench $(PYTHON_VENV)/ready
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then python/check.sh $(BUILD) $(PYTHON_VENV) $(PYTEST); else \
	    echo "skipped: the packages of python/requirements-test.txt cannot be installed (python3 -m venv, pip)"; \
	    echo "0 passed, 0 failed, 1 skipped"; fi
