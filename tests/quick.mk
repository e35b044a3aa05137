# quick.mk: `make check-quick`, the tests that find most in a minute.

# Those of what most changes touch that take less than a second of CPU, and slower ones that compare with a second way
# to the answer: the twins in Python of the packer and the order, the reader in Python, texts in parts, fitted rows.
QUICK_FOLDERS := arrange chat cli corpus exchange format loader order pack packing parquet python run tokenizer unit
SLOW          := %/arrange/test_arranged %/arrange/test_arranged_tiny %/arrange/test_external_sort \
                 %/chat/test_chat.py %/chat/test_chat_limits.py %/chat/test_chat_options.py \
                 %/chat/test_chat_random.py %/chat/test_chat_tools.py %/cli/bench.t %/cli/cat.t %/cli/command_line.t \
                 %/cli/damage.t %/cli/encode.t %/cli/manual.t %/cli/show.t %/cli/test_bench.sh %/cli/test_examples.sh \
                 %/cli/test_interrupted.sh %/cli/test_json.py %/cli/test_report.py %/cli/test_show.py \
                 %/cli/test_show_split.py %/cli/trace.t %/corpus/test_byte_stream %/corpus/test_csv_python.py \
                 %/corpus/test_gzip_stream %/corpus/test_gzip_with_zlib %/corpus/test_hub_card \
                 %/corpus/test_json_fields %/corpus/test_json_python.py %/corpus/test_made_streams \
                 %/corpus/test_zstd_stream %/exchange/test_export_locale %/format/test_every_bit_flip \
                 %/loader/test_loader_balance %/loader/test_loader_batches %/loader/test_loader_changed \
                 %/loader/test_loader_fuse %/loader/test_loader_fuse_faults %/loader/test_loader_outputs \
                 %/loader/test_loader_soak %/loader/test_loader_sources %/loader/test_masked \
                 %/loader/test_token_offsets %/order/test_compilers.sh %/order/test_fim.py %/order/test_fit_side \
                 %/order/test_sampler %/pack/test_by.py %/pack/test_csv_long.py %/pack/test_damaged_inputs.py \
                 %/pack/test_earlier_run.py %/pack/test_go_on.py %/pack/test_json_arrays.sh %/pack/test_keep.py \
                 %/pack/test_kill.sh %/pack/test_long_texts %/pack/test_mask_arranged.py %/pack/test_mask_field.py \
                 %/pack/test_memory.sh %/pack/test_packer %/pack/test_peak_memory.py %/pack/test_rejects_alike.py \
                 %/pack/test_run_object %/pack/test_silent_inputs %/packing/pack.t %/packing/pack_csv.t \
                 %/packing/pack_dry_run.t %/packing/pack_folders.t %/packing/pack_links.t \
                 %/packing/pack_odd_records.t %/packing/pack_own_files.t %/packing/pack_parquet.t \
                 %/packing/pack_parquet_chat.t %/packing/pack_parquet_keep.t %/packing/pack_resumed.t %/packing/run.t \
                 %/packing/run_chat.t %/parquet/test_parquet_damage %/tokenizer/test_encoder_threads \
                 %/tokenizer/test_hostile %/tokenizer/test_large_document %/tokenizer/test_normalize_rows \
                 %/tokenizer/test_pretokens %/tokenizer/test_pretokens_tiny %/tokenizer/test_scan_rows \
                 %/tokenizer/test_scanners %/tokenizer/test_unigram %/tokenizer/test_word_model \
                 %/tokenizer/test_word_store %/unit/test_verify_borders %/unit/test_writer_memory
QUICK := $(filter-out $(SLOW),$(filter $(foreach folder,$(QUICK_FOLDERS),$(BUILD)/tests/$(folder)/% tests/$(folder)/%),\
         $(ALL_TESTS)))

.PHONY: check-quick
## check-quick: the tests that find most in a minute, once all is built; no network
check-quick:
	$(Q)$(MAKE) --no-print-directory run-tests SELECTED='$(QUICK)'
