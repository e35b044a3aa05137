# bench.mk: measurements, of leat and of other tools beside it; included by the Makefile. "Measure" in CONTRIBUTING.md
# says which answers what.

.PHONY: bench
## bench: this machine's limits, leat, other tools (ALONE=1: not these); BENCH_SHORT=1 to see that it runs
bench: deps
	$(Q)$(MAKE) --no-print-directory tools $(if $(ALONE),,python) >&2
	$(Q)BENCH_SHORT=$(BENCH_SHORT) bench/run.sh $(BUILD)
	$(call bench_beside,Encoding beside gigatoken,bench-encode-peers,--megabytes 50 --repeat 5 --programs $(BOTH),\
	    --megabytes 1 --repeat 1 --programs $(BOTH) --only "english gpt2")
	$(call bench_beside,Packing beside gigatoken with numpy,bench-packers,--only leat --only gigatoken,\
	    --rounds 1 --megabytes 1 --only leat --only gigatoken)
	$(call bench_beside,Loading beside PyTorch's DataLoader,bench-loaders,--only leat --only DataLoader,\
	    --rounds 1 --seconds 0.1 --tokens 5M --only leat --only DataLoader)
BOTH := leat$(comma)gigatoken
define bench_beside # TITLE, TARGET, its PEERS, its PEERS with BENCH_SHORT
	+$(Q)[ -n "$(ALONE)" ] || { printf '\n### %s\n\n`make $(2) PEERS=\047%s\047`\n\n```\n' "$(1)" \
	    '$(if $(BENCH_SHORT),$(4),$(3))' && \
	    $(MAKE) --no-print-directory $(2) PEERS='$(if $(BENCH_SHORT),$(4),$(3))' && echo '```'; }
endef

.PHONY: bench-gpu
## bench-gpu: batches to a GPU beside bare loops; DEVICE=cuda:1
bench-gpu: tools
	$(Q)mkdir -p $(BUILD)/bench && $(BUILD)/leat-bench-dev counting --force -o $(BUILD)/bench/gpu --tokens 1G >/dev/null
	$(Q)$(BUILD)/leat-bench gpu $(BUILD)/bench/gpu --device $(or $(DEVICE),cuda) || [ $$? -eq 77 ]
	$(Q)rm -f $(BUILD)/bench/gpu.*

.PHONY: bench-encode-peers
# what is measured beside leat lies in virtual environments of its own
ENCODE_PEERS := $(BUILD)/encode-peers-venv
$(ENCODE_PEERS)/ready: bench/peers/encode.txt
	$(call make_venv,$(ENCODE_PEERS),$<)
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

.PHONY: bench-chat
## bench-chat: conversations to packed rows, beside three trainers; PEERS="--conversations 500 --only leat"
bench-chat: export PYTHONPATH := $(abspath $(BUILD))/python
bench-chat: tools python $(PYTHON_VENV)/ready
	$(call run_peers,$(PYTHON_VENV),bench/peers/chats.py $(BUILD) $(TRAINERS_VENVS))

.PHONY: bench-peers
## bench-peers: bench-encoders, -loaders, -packers kept in build/peers as JSON; BENCH_SHORT=1: a try
bench-peers:
	$(Q)mkdir -p $(BUILD)/peers
	$(Q)$(MAKE) --no-print-directory bench-encoders \
	    PEERS='$(if $(BENCH_SHORT),--megabytes 1 --repeat 1 --only "english gpt2")'
	$(Q)$(MAKE) --no-print-directory bench-loaders PEERS='--keep $(BUILD)/peers/loading.json \
	    $(if $(BENCH_SHORT),--tokens 2M --seconds 0.1 --rounds 1)'
	$(Q)$(MAKE) --no-print-directory bench-packers PEERS='--keep $(BUILD)/peers/packing.json \
	    $(if $(BENCH_SHORT),--megabytes 1 --rounds 1)'

.PHONY: bench-remote
## bench-remote: datasets by URL, from a slow server on this machine, beside goals; REMOTE="--only copy"
bench-remote: tools $(BUILD)/slow_server $(BUILD)/far_disk
	$(Q)bench/remote.py $(BUILD) $(REMOTE)

.PHONY: bench-randomness
## bench-randomness: what an order in stretches costs in randomness, and in the loss of a small model
bench-randomness: export PYTHONPATH := $(abspath $(BUILD))/python
bench-randomness: tools python $(PYTHON_VENV)/ready
	$(call run_peers,$(PYTHON_VENV),bench/randomness.py $(BUILD))
