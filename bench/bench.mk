# bench.mk: measurements, of leat and of other tools beside it; included by the Makefile. "Measure" in CONTRIBUTING.md
# says which answers what.

.PHONY: bench
## bench: this machine's limits, leat, other tools (ALONE=1: not these); BENCH_SHORT=1 to see that it runs
bench: deps
	$(Q)$(MAKE) --no-print-directory tools $(if $(ALONE),,python) >&2
	$(Q)BENCH_SHORT=$(BENCH_SHORT) bench/run.sh $(BUILD)
	$(call bench_beside,Encoding beside gigatoken,bench-encode-peers,--megabytes 50 --repeat 5 --programs $(BOTH),\
	    --megabytes 1 --repeat 1 --programs $(BOTH) --only "english gpt2")
	$(call bench_beside,Packing beside gigatoken with numpy,bench-pack-peers,--rounds 3,\
	    --rounds 1 --megabytes 1 --only english)
	$(call bench_beside,Loading beside PyTorch's DataLoader,bench-dataloader,--rounds 3 --workers 0$(comma)2,\
	    --rounds 1 --workers 0 --seconds 0.1 --tokens 5M)
BOTH := leat$(comma)gigatoken
define bench_beside # TITLE, TARGET, its PEERS, its PEERS with BENCH_SHORT
	+$(Q)[ -n "$(ALONE)" ] || { printf '\n### %s\n\n`make $(2) PEERS=\047%s\047`\n\n```\n' "$(1)" \
	    '$(if $(BENCH_SHORT),$(4),$(3))' && \
	    $(MAKE) --no-print-directory $(2) PEERS='$(if $(BENCH_SHORT),$(4),$(3))' && echo '```'; }
endef

.PHONY: bench-levels
# the same programs, with a cpu.o that knows of no higher level
$(BUILD)/levels/%/cpu.o: src/base/cpu.c
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -DCPU_MAX=CPU_$* -c $< -o $@
$(BUILD)/levels/%/leat-bench: $(BUILD)/levels/%/cpu.o $(BENCH_OBJECTS) $(CLI_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(COUNTED) $^ $(ALL_LIBS) -lm -o $@
$(BUILD)/levels/%/leat-bench-dev: $(BUILD)/levels/%/cpu.o $(DEV_OBJECTS) $(CLI_OBJECTS) $(STATIC)
	$(call say,LD      $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -lm -o $@
BENCH_LEVELS := $(foreach level,PLAIN AVX2 AVX512 AVX512_VBMI,$(addprefix $(BUILD)/levels/$(level)/,leat-bench \
                leat-bench-dev))
## bench-levels: what CPUs without AVX-512, or AVX2, get: FILES="code.jsonl.zst", LEVELS_FLAGS="--rounds 3"
bench-levels: $(BENCH_LEVELS)
	$(Q)bench/levels.py $(LEVELS_FLAGS) $(BUILD)/levels $(FILES)

.PHONY: report
REPORT := $(BUILD)/report.html
## report: measures this machine and leat, writes a page: REPORT=report.html; FILES="a.jsonl" are packed, too
report: tools
	$(Q)BENCH_SHORT=$(BENCH_SHORT) bench/report.sh $(BUILD) $(BUILD)/report $(REPORT) $(FILES)
	$(Q)echo "$(REPORT)"

.PHONY: bench-merge-large
## bench-merge-large: merge --dedup --shuffle of 10^9 documents, from two sizes; LARGE_FLAGS="--tokens 512", DIR
bench-merge-large: $(BUILD)/leat
	$(Q)bench/merge_large.py $(LARGE_FLAGS) $(BUILD)/leat $(DIR)

.PHONY: bench-gpu
## bench-gpu: batches to a GPU beside bare loops; DEVICE=cuda:1
bench-gpu: tools
	$(Q)bench/gpu.sh $(BUILD) $(DEVICE) || [ $$? -eq 77 ]

.PHONY: bench-encode-peers bench-encode-lookup bench-pack-peers
# what is measured beside leat lies in virtual environments of its own
ENCODE_PEERS := $(BUILD)/encode-peers-venv
$(ENCODE_PEERS)/ready: bench/peers/encode.txt
	$(call make_venv,$(ENCODE_PEERS),$<)
PACK_PEERS := $(BUILD)/pack-peers-venv
$(PACK_PEERS)/ready: bench/peers/pack.txt
	$(call make_venv,$(PACK_PEERS),$<)
## bench-encode-peers: leat-bench encode beside gigatoken, tiktoken, tokenizers; PEERS="--megabytes 100 --only gpt2"
bench-encode-peers: $(BUILD)/leat-bench python $(ENCODE_PEERS)/ready
	$(call run_peers,$(ENCODE_PEERS),bench/peers/encode.py $(BUILD)/leat-bench)
ENCODERS := quicktok tokie fastokens bpe-openai wordchipper tuetoken
$(BUILD)/encoders-venv/%/ready: bench/peers/encoders/%.txt
	$(call make_venv,$(@D),$<)
.PHONY: bench-encoders
## bench-encoders: leat-bench encode beside eight other encoders, each with packages of its own; PEERS="--only gpt2"
bench-encoders: $(BUILD)/leat-bench $(ENCODE_PEERS)/ready $(ENCODERS:%=$(BUILD)/encoders-venv/%/ready)
	$(call run_peers,$(ENCODE_PEERS),bench/peers/encode.py $(BUILD)/leat-bench \
	    --programs '$(shell echo leat gigatoken tiktoken $(ENCODERS) | tr ' ' ,)' \
	    $(foreach name,$(ENCODERS),--python $(name)=$(BUILD)/encoders-venv/$(name)/bin/python))
## bench-encode-lookup: leat-bench encode beside sentencepiece and tokenizers, for Unigram and WordPiece models
bench-encode-lookup: $(BUILD)/leat-bench $(ENCODE_PEERS)/ready
	$(call run_peers,$(ENCODE_PEERS),bench/peers/encode.py $(BUILD)/leat-bench --lookup)
.PHONY: bench-lookup-stages
## bench-lookup-stages: where the time of Unigram and WordPiece goes, by perf; PEERS="--only multi"
bench-lookup-stages: $(BUILD)/leat-bench $(ENCODE_PEERS)/ready
	$(call run_peers,$(ENCODE_PEERS),bench/lookup_stages.py $(BUILD)/leat-bench)
.PHONY: bench-new-words
## bench-new-words: what words cost that were not met, and what gigatoken's speed leaves; PEERS="--only english"
bench-new-words: $(BUILD)/leat-bench $(BUILD)/leat-bench-dev $(ENCODE_PEERS)/ready
	$(call run_peers,$(ENCODE_PEERS),bench/new_words.py $(BUILD)/leat-bench)
## bench-pack-peers: leat pack beside gigatoken, pyarrow, datatrove; PEERS="--only english"
bench-pack-peers: $(BUILD)/leat $(BUILD)/leat-bench $(PACK_PEERS)/ready
	$(call run_peers,$(PACK_PEERS),bench/peers/pack.py $(BUILD))

.PHONY: bench-records
## bench-records: what conditions, --by and --mask-field add to packing lines, CSV, Parquet; PEERS="--megabytes 100"
bench-records: $(BUILD)/leat-bench $(PACK_PEERS)/ready
	$(call run_peers,$(PACK_PEERS),bench/records.py $(BUILD))

.PHONY: bench-parquet
## bench-parquet: CPU time of packing Parquet beside JSON lines; PEERS="--only english --leat BEFORE/leat"
bench-parquet: $(BUILD)/leat $(PACK_PEERS)/ready
	$(call run_peers,$(PACK_PEERS),bench/parquet.py $(BUILD))

.PHONY: bench-order-peers
## bench-order-peers: a plan of order megatron beside megatron-core's indexes: time, memory; PEERS="--samples 1e8"
bench-order-peers: python $(MEGATRON_PYTHON)
	$(Q)PYTHONPATH=$(BUILD)/python $(MEGATRON_PYTHON) -B bench/peers/order.py $(PEERS)

FIT_PEERS := $(BUILD)/fit-peers-venv
$(FIT_PEERS)/ready: export PIP_NO_DEPS := 1
$(FIT_PEERS)/ready: bench/peers/fit.txt
	$(call make_venv,$(FIT_PEERS),$<)
.PHONY: bench-fit-peers
## bench-fit-peers: rows of whole documents beside TRL's pack_dataset: rows, fill, time; PEERS="--documents 1e6"
bench-fit-peers: export PYTHONPATH := $(BUILD)/python
bench-fit-peers: python $(FIT_PEERS)/ready
	$(call run_peers,$(FIT_PEERS),bench/peers/fit.py)

# PyTorch alone takes gigabytes
LOADER_PEERS := $(BUILD)/peers-venv
$(LOADER_PEERS)/ready: bench/peers/dataloader.txt
	$(call make_venv,$(LOADER_PEERS),$<)
.PHONY: bench-dataloader
## bench-dataloader: leat-bench load, leat.Loader, PyTorch's DataLoader; PEERS="--seconds 10 --workers 0,2 --rounds 5"
bench-dataloader: export PYTHONPATH := $(BUILD)/python
bench-dataloader: tools $(LOADER_PEERS)/ready python
	$(call run_peers,$(LOADER_PEERS),bench/peers/dataloader.py $(BUILD)/leat-bench)

.PHONY: bench-training
## bench-training: steps of a small model with leat.Loader, DataLoader, nanoGPT's get_batch(); PEERS="--device cpu"
bench-training: export PYTHONPATH := $(BUILD)/python
bench-training: tools $(LOADER_PEERS)/ready python
	$(call run_peers,$(LOADER_PEERS),bench/peers/training.py $(BUILD)/leat-bench)

# each of these packages wants other versions of what they share; only PyTorch, gigabytes, is installed once per Python
LOADERS_PEERS := torchdata litdata streaming datasets grain zephon tokbin torchtitan
LOADERS_TORCH := $(BUILD)/loaders-venv/torch
$(LOADERS_TORCH)/ready: bench/peers/loaders/torch.txt
	$(call make_venv,$(@D),$<)
# the newest versions of these need Python 3.13: PYTHON_313 is one, empty where the machine has none; then megatron is
# an older version, and guideloom is left out
LOADERS_313 := guideloom megatron
PYTHON_313  ?= $(shell for it in python3 python3.14 python3.13 $$HOME/.pyenv/versions/3.1[34].*/bin/python3; do \
    $$it -c 'import sys; sys.exit(not (3, 13) <= sys.version_info < (3, 15))' 2>/dev/null && echo $$it && break; done)
TORCH_313   := $(BUILD)/loaders-venv/torch313
$(TORCH_313)/ready: bench/peers/loaders/torch.txt
	$(Q)rm -rf $(@D) && mkdir -p $(dir $(@D))
	$(if $(filter-out python3,$(PYTHON_313)),$(call make_venv,$(@D),$<,,$(PYTHON_313)),$(Q)ln -s torch $(@D))
$(BUILD)/loaders-venv/megatron/ready: export PIP_NO_DEPS := 1
$(LOADERS_313:%=$(BUILD)/loaders-venv/%/ready): $(BUILD)/loaders-venv/%/ready: bench/peers/loaders/%.txt \
    | $(LOADERS_TORCH)/ready $(TORCH_313)/ready
	$(if $(PYTHON_313)$(filter megatron,$*),$(call make_venv,$(@D),$<,$(TORCH_313),$(PYTHON_313)),\
	    $(Q)echo "no $*: it needs Python 3.13 or 3.14 (PYTHON_313=PYTHON names one)")
$(BUILD)/loaders-venv/%/ready: bench/peers/loaders/%.txt | $(LOADERS_TORCH)/ready
	$(call make_venv,$(@D),$<,$(LOADERS_TORCH))
.PHONY: bench-loaders
## bench-loaders: leat beside twelve other loaders, each with packages of its own; PEERS="--only leat"
bench-loaders: export PYTHONPATH := $(BUILD)/python
bench-loaders: tools python $(patsubst %,$(BUILD)/loaders-venv/%/ready,$(LOADERS_PEERS) $(LOADERS_313))
	$(Q)bench/peers/loaders.py $(BUILD)/leat-bench $(PEERS) \
	    $(foreach name,torch $(LOADERS_PEERS) $(LOADERS_313),--python $(name)=$(BUILD)/loaders-venv/$(name)/bin/python)

# two of the packers are scripts of repositories, of these commits
define fetch_source
	$(Q)rm -rf $(1) && git init -q $(1) && git -C $(1) fetch -q --depth 1 https://github.com/$(2) $(3) && \
	    git -C $(1) checkout -q FETCH_HEAD || rm -rf $(1)
endef
PACKERS_SOURCES := $(BUILD)/packers-src
$(PACKERS_SOURCES)/megatron/tools:
	$(call fetch_source,$(@D),NVIDIA/Megatron-LM,55ac7082517c3878ae653c07c09c534b8aed49f6)
$(PACKERS_SOURCES)/nanogpt/data:
	$(call fetch_source,$(@D),karpathy/nanoGPT,3adf61e154c3fe3fca428ad6bc3818b27a3b8291)
PACKERS := gigatoken tiktoken tokenizers datatrove nanogpt megatron megatron_fast tokbin
$(BUILD)/packers-venv/megatron/ready $(BUILD)/packers-venv/megatron_fast/ready: \
    $(BUILD)/packers-venv/%/ready: bench/peers/packers/%.txt | $(LOADERS_TORCH)/ready
	$(call make_venv,$(@D),$<,$(LOADERS_TORCH))
$(BUILD)/packers-venv/%/ready: bench/peers/packers/%.txt
	$(call make_venv,$(@D),$<)
.PHONY: bench-packers
## bench-packers: leat pack beside eight other tools, in environments of their own; PEERS="--only leat"
bench-packers: $(BUILD)/leat $(BUILD)/leat-bench $(PACKERS:%=$(BUILD)/packers-venv/%/ready) \
    $(PACKERS_SOURCES)/megatron/tools $(PACKERS_SOURCES)/nanogpt/data
	$(Q)bench/peers/packers.py $(BUILD) $(PEERS) \
	    $(foreach name,$(PACKERS),--python $(name)=$(BUILD)/packers-venv/$(name)/bin/python) \
	    $(foreach name,megatron nanogpt,--source $(name)=$(PACKERS_SOURCES)/$(name)) \
	    $(if $(LEAT_MEGATRON),--source megatron_fast=$(LEAT_MEGATRON)) || [ $$? -eq 77 ]

.PHONY: bench-peers
## bench-peers: bench-encoders, -loaders, -packers (the last two kept for make report); BENCH_SHORT=1: a short try
bench-peers:
	$(Q)mkdir -p $(BUILD)/report
	$(Q)$(MAKE) --no-print-directory bench-encoders \
	    PEERS='$(if $(BENCH_SHORT),--megabytes 1 --repeat 1 --only "english gpt2")'
	$(Q)$(MAKE) --no-print-directory bench-loaders PEERS='--keep $(BUILD)/report/peers-loading.json \
	    $(if $(BENCH_SHORT),--tokens 2M --seconds 0.1 --rounds 1)'
	$(Q)$(MAKE) --no-print-directory bench-packers PEERS='--keep $(BUILD)/report/peers-packing.json \
	    $(if $(BENCH_SHORT),--megabytes 1 --rounds 1)'

CHAT_PEERS := $(BUILD)/chat-peers-venv
$(CHAT_PEERS)/ready: bench/peers/chat.txt
	$(call make_venv,$(CHAT_PEERS),$<)
CHAT_AXOLOTL := $(BUILD)/chat-axolotl-venv
$(CHAT_AXOLOTL)/ready: bench/peers/chat_axolotl.txt | $(CHAT_PEERS)/ready $(LOADERS_TORCH)/ready
	$(call make_venv,$(CHAT_AXOLOTL),$< --no-deps,$(CHAT_PEERS) $(LOADERS_TORCH))
.PHONY: bench-chat
## bench-chat: conversations to ids and masks beside TRL and axolotl, in datasets.map(); PEERS="--repeat 5"
bench-chat: export PYTHONPATH := $(BUILD)/python
bench-chat: python $(CHAT_PEERS)/ready $(CHAT_AXOLOTL)/ready
	$(call run_peers,$(CHAT_PEERS),bench/peers/chat.py $(BUILD)/python/leat/bin/leat \
	    --axolotl $(CHAT_AXOLOTL)/bin/python)

.PHONY: bench-engines
## bench-engines: what engines take to write to leat, and Dataset.arrow() beside memcpy; ENGINE=spark: one of them
bench-engines: export PYTHONPATH := $(BUILD)/python
bench-engines: $(BUILD)/leat python $(ENGINES_VENV)/ready
	$(Q)for engine in $(or $(ENGINE),arrow task ray_data spark datatrove daft); do echo "== $$engine"; \
	    $(ENGINES_VENV)/bin/python bench/engines/bench_$$engine.py $(PEERS) || exit 1; done

.PHONY: bench-shared
## bench-shared: requests, bytes and time on a file server far away (FUSE; root), beside goals; SHARED="--only rows"
bench-shared: tools $(BUILD)/far_disk
	$(Q)bench/shared.py $(BUILD) $(SHARED) || [ $$? -eq 77 ]

.PHONY: bench-nfs
## bench-nfs: datasets on NFS, server and client of this kernel (root, nfs-kernel-server); NFS="--only rows"
bench-nfs: tools
	$(Q)bench/nfs.py $(BUILD) $(NFS)

.PHONY: bench-remote
## bench-remote: datasets and texts by URL, from a slow server on this machine, beside goals; REMOTE="--only copy"
bench-remote: tools $(BUILD)/slow_server
	$(Q)bench/remote.py $(BUILD) $(REMOTE)
