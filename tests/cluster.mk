# cluster.mk: runs in many parts on real schedulers, all on this machine: Slurm from the system's packages, Ray from
# PyPI in a virtual environment of its own. What cannot be installed is skipped, and says so. Included by the Makefile.

CLUSTER_VENV  ?= $(BUILD)/cluster-venv
CLUSTER_READY := $(CLUSTER_VENV)/ready

$(CLUSTER_READY): tests/cluster/requirements.txt
	$(Q)rm -rf $(CLUSTER_VENV)
	$(Q)if python3 -m venv $(CLUSTER_VENV) && $(CLUSTER_VENV)/bin/pip install -q --disable-pip-version-check \
	    --no-compile -r $<; then touch $@; \
	    else rm -rf $(CLUSTER_VENV); fi

.PHONY: check-cluster
## check-cluster: runs in parts on real Slurm and Ray clusters of several nodes on this machine; installs both
check-cluster: $(BUILD)/leat python $(CLUSTER_READY)
	$(Q)$(call install_deps,cluster)
	$(Q)tests/cluster/check.sh $(BUILD) "$$([ ! -e $(CLUSTER_READY) ] || echo $(CLUSTER_VENV)/bin/python)"
