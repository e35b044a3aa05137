# conformance.mk: leat's tokenizers against the reference packages, which a virtual environment of its own gets from
# PyPI at the versions of tests/conformance/requirements.txt; included by the Makefile. SHARE=ci takes three minutes on
# two cores, SHARE=full hours: a million random strings for each vocabulary. VENV belongs to this file: what lies there
# without being known to be complete is removed.

SHARE       ?= full
VENV        ?= $(BUILD)/conformance-venv
CONFORMANCE := tests/conformance
VENV_READY  := $(VENV)/ready

# Without a network, or a wheel for this Python, there is nothing to compare with: the stamp then says so.
$(VENV_READY): $(CONFORMANCE)/requirements.txt $(CONFORMANCE)/files.txt
	$(Q)mkdir -p $(BUILD) && rm -rf $(VENV)
	$(Q)if python3 -m venv $(VENV) && $(VENV)/bin/pip install -q --disable-pip-version-check \
	    --no-compile -r $< && $(VENV)/bin/pip install -q --disable-pip-version-check --no-compile --no-deps \
	    -r $(CONFORMANCE)/files.txt; then touch $@; \
	    else rm -rf $(VENV); fi

.PHONY: check-conformance
## check-conformance: ids and decoded text against tiktoken, tokenizers, sentencepiece, mistral-common; SHARE=ci|full
# where a reference gives up by a panic, that is caught: its line is enough
check-conformance: export RUST_BACKTRACE := 0
check-conformance: $(DUMP_PROGRAMS) $(BUILD)/leat $(BUILD)/tiny/leat $(VENV_READY)
	$(Q)if [ -e $(VENV_READY) ]; then $(CONFORMANCE)/check.sh $(BUILD) $(VENV)/bin/python $(SHARE); else \
	    echo "skipped: the reference packages cannot be installed (python3 -m venv, pip)"; \
	    echo "0 passed, 0 failed, 1 skipped"; fi

FILES ?=
## check-vocabulary: the same for FILES="my/tokenizer.json ..." alone, also *.model of sentencepiece, tekken*.json
.PHONY: check-vocabulary
check-vocabulary: export RUST_BACKTRACE := 0
check-vocabulary: $(DUMP_PROGRAMS) $(VENV_READY)
	$(Q)if [ -z "$(FILES)" ]; then echo 'which? FILES="my/tokenizer.json ..."' >&2; exit 2; fi
	$(Q)if [ -e $(VENV_READY) ]; then $(VENV)/bin/python -u $(CONFORMANCE)/check_ids.py --share $(SHARE) \
	    $(BUILD)/tests/conformance/ids_dump $(FILES); else \
	    echo "skipped: the reference packages cannot be installed (python3 -m venv, pip)"; exit 77; fi
