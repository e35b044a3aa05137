# coverage.mk: `make coverage`, the lines and branches that the tests reach, and `make mutants`, how many small changes
# of the sources the tests see; included by the Makefile. Both need gcc with its gcov, and python3.

.PHONY: coverage mutants
COVERAGE      := $(BUILD)/coverage
# where each test leaves its counts, thousands of small files: a folder in memory (/dev/shm/runs) is quicker
COVERAGE_RUNS := $(COVERAGE)/runs
# A count that two threads raise at once may lose one of them, but never all: it still says what was reached.
## coverage: lines and branches that the tests reach, by file; which not: build/coverage/uncovered.txt
coverage: deps
	$(Q)rm -rf $(COVERAGE_RUNS) && mkdir -p $(COVERAGE_RUNS)
	$(Q)LEAT_COVERAGE_RUNS=$(abspath $(COVERAGE_RUNS)) LEAT_TEST_RUNNER=tests/coverage/runner.sh LEAT_TEST_SECONDS=1500 \
	    $(MAKE) --no-print-directory run-tests CC=gcc BUILD=$(COVERAGE) OPTIMIZE="-O1 -fno-inline" \
	    SANITIZE="--coverage -fprofile-update=single -include tests/coverage/count_exits.h" || \
	    touch $(COVERAGE_RUNS)/failed
	$(Q)tests/coverage/coverage.py $(COVERAGE) $(COVERAGE_RUNS) && [ ! -e $(COVERAGE_RUNS)/failed ]

# in that build: hashing takes most of some tests' time, and has hardly a branch
ifeq ($(notdir $(BUILD)),coverage)
$(BUILD)/obj/src/checksum/%.o: ALL_CFLAGS += -O2
endif

N    ?= 100
SEED ?= 1
## mutants: N=100 random lines changed, SEED=1: what no test sees; AGAIN=build/mutants/survivors.json: those
# AGAIN=tests/coverage/seed68.json: a hundred that are kept, to compare what the tests of two states see.
mutants: coverage
	$(Q)tests/coverage/mutants.py $(BUILD)/mutants $(COVERAGE)/reached.json $(N) $(SEED) $(AGAIN)

## mutants-ptx: N=100 lines of the kernels' PTX changed, SEED=1; the tests of CUDA and of loaders on a device run
.PHONY: mutants-ptx
mutants-ptx: deps
	$(Q)tests/coverage/mutants.py $(BUILD)/mutants-ptx ptx $(N) $(SEED) $(AGAIN)
