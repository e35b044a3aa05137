# megatron.mk: the order megatron and leat.integrations.megatron against megatron-core itself; included by the Makefile.
# MEGATRON_PYTHON is a Python that has it, as of tests/megatron/requirements.txt, and pytest; the default is made from
# PyPI.

MEGATRON_VENV   ?= $(BUILD)/megatron-venv
MEGATRON_PYTHON ?= $(MEGATRON_VENV)/bin/python
CONFIGURATIONS  ?= 200
MEGATRON_SEED   ?= 1

# megatron-core asks for more than its datasets need
$(MEGATRON_VENV)/bin/python: tests/megatron/requirements.txt
	$(Q)mkdir -p $(BUILD) && rm -rf $(MEGATRON_VENV)
	$(Q)python3 -m venv $(MEGATRON_VENV) && $(MEGATRON_VENV)/bin/pip install -q --disable-pip-version-check \
	    --no-compile torch numpy packaging pytest && \
	    $(MEGATRON_VENV)/bin/pip install -q --disable-pip-version-check --no-compile --no-deps -r $< || \
	    { rm -rf $(MEGATRON_VENV); exit 1; }

.PHONY: check-megatron
## check-megatron: leat beside megatron-core from PyPI: samples, batches; CONFIGURATIONS=200 MEGATRON_SEED=1
check-megatron: $(BUILD)/leat python $(MEGATRON_PYTHON)
	$(Q)rm -rf $(BUILD)/megatron && mkdir -p $(BUILD)/megatron
	$(Q)$(MEGATRON_PYTHON) -B tests/megatron/check_megatron.py $(BUILD)/leat $(BUILD)/megatron $(MEGATRON_SEED) \
	    $(CONFIGURATIONS)
	$(Q)LEAT_BUILD=$(BUILD) PYTHONPATH=$(BUILD)/python $(MEGATRON_PYTHON) -B -m pytest -c pyproject.toml \
	    -p no:cacheprovider python/tests/test_megatron.py python/tests/test_trainers_megatron.py
