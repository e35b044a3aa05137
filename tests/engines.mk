# engines.mk: the engines to which leat is a place to write and to read, all on this machine: Ray Data, Spark (Java from
# the system's packages), datatrove and Daft from PyPI in one virtual environment, NeMo Curator, which is large, in one
# of its own. What cannot be installed is skipped, and says so. Included by the Makefile.

ENGINES_VENV ?= $(BUILD)/engines-venv
CURATOR_VENV ?= $(BUILD)/curator-venv

$(ENGINES_VENV)/ready: tests/engines/requirements.txt
$(CURATOR_VENV)/ready: tests/engines/curator.txt
$(ENGINES_VENV)/ready $(CURATOR_VENV)/ready:
	$(Q)rm -rf $(@D)
	$(Q)if python3 -m venv $(@D) && $(@D)/bin/pip install -q --disable-pip-version-check --no-compile -r $<; \
	    then touch $@; else rm -rf $(@D); fi

.PHONY: check-engines
## check-engines: writing and reading with real Ray Data, Spark, datatrove, Daft and NeMo Curator; ENGINE=spark: one
check-engines: $(BUILD)/leat python $(ENGINES_VENV)/ready $(if $(filter-out curator,$(ENGINE)),,$(CURATOR_VENV)/ready)
	$(Q)$(call install_deps,engines)
	$(Q)tests/engines/check.sh $(BUILD) $(ENGINES_VENV) $(CURATOR_VENV) "$(ENGINE)"
