# trainers.mk: the trainers that leat has modules for, on this machine's CPU, by the lines of their pages. One virtual
# environment has torch, that of check-python; those of the trainers lie on top of it (tests/trainers/check.py).
# What PyPI does not have is a checkout that a variable names, such as LEAT_NANOCHAT; without it, the trainer is not
# run. What wants a newer Python than Debian 12's (MaxText, Levanter, new versions of megatron-core) gets a Debian 13:
# as root, with debootstrap. Included by the Makefile.

TRAINERS_VENVS ?= $(BUILD)/trainers

.PHONY: check-trainers
## check-trainers: a tiny model trained by each real trainer, every row compared; TRAINER=torchtitan: one of them
check-trainers: tools python $(PYTHON_VENV)/ready
	$(Q)if [ -e $(PYTHON_VENV)/ready ]; then \
	    $(PYTHON_VENV)/bin/python tests/trainers/check.py $(BUILD) $(PYTHON_VENV) $(TRAINERS_VENVS) $(TRAINER); else \
	    echo "not run: the packages of python/requirements-test.txt cannot be installed (python3 -m venv, pip)"; \
	    echo "0 passed, 0 failed, 1 not run"; fi
