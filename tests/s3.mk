# s3.mk: object storage by servers that others wrote, unchanged, on this machine: moto from PyPI in a virtual
# environment of its own, Ceph's gateway from the system's packages; and clients of Azure that others wrote. What
# cannot be installed is skipped, and says so. Included by the Makefile.

S3_VENV  ?= $(BUILD)/s3-venv
S3_READY := $(S3_VENV)/ready

$(S3_READY): tests/s3/requirements.txt
	$(Q)rm -rf $(S3_VENV)
	$(Q)if python3 -m venv $(S3_VENV) && $(S3_VENV)/bin/pip install -q --disable-pip-version-check \
	    --no-compile -r $<; then touch $@; \
	    else rm -rf $(S3_VENV); fi

.PHONY: check-s3
## check-s3: pack, push, pull and batches by URL with moto, Ceph's gateway and clients of Azure; installs them
check-s3: $(BUILD)/leat $(BUILD)/tiny/leat $(BUILD)/remote_probe $(BUILD)/cache_probe $(S3_READY)
	$(Q)$(call install_deps,s3)
	$(Q)LEAT_BUILD=$(BUILD) tests/s3/check.sh "$$([ ! -e $(S3_READY) ] && echo python3 || echo $(S3_VENV)/bin/python)"
