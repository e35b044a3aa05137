/* export.h: writes datasets as files of other tools. */
#ifndef LEAT_PUBLIC_EXPORT_H
#define LEAT_PUBLIC_EXPORT_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files of other tools --------------------------------------------------------------------------------------- */

struct leat_export_options {
    size_t size;
    const char *to;        /* "megatron", "raw", "nanogpt", "llmc" or "datatrove" */
    uint32_t number_bytes; /* 2 or 4 per id; 0: as stored */
    uint32_t force;        /* replace existing files that have the output's names */
    /* If not NULL: called now and then with the token bytes done. Nonzero stops leat_export(), which then leaves no
     * file (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_EXPORT_OPTIONS_INIT { sizeof(struct leat_export_options), NULL, 0, 0, NULL, NULL }

struct leat_export_report {
    size_t size;
    uint64_t documents; /* LEAT_NONE: not known */
    uint64_t tokens;
    uint64_t bytes;        /* size of all files */
    uint64_t end_token;    /* token that ends documents; LEAT_NONE: none is known */
    uint32_t number_bytes; /* per id */
    uint32_t reserved;     /* 0 */
};
#define LEAT_EXPORT_REPORT_INIT { sizeof(struct leat_export_report), 0, 0, 0, 0, 0, 0 }

/*
 * Writes the tokens of datasets, joined in order, as files of another tool:
 *   megatron   OUTPUT.bin and OUTPUT.idx; ids of 4 bytes are int32. A document is one sequence, several if it has more
 *              than 2^31 - 1 tokens
 *   raw        OUTPUT, nothing but ids: OLMo-core
 *   nanogpt    OUTPUT, nothing but ids of 2 bytes
 *   llmc       OUTPUT, with llm.c's header; at most 2^31 - 1 tokens
 *   datatrove  OUTPUT.ds, OUTPUT.ds.index and OUTPUT.ds.metadata, which does not name the tokenizer; and OUTPUT.ds.loss
 *              if a dataset stores a mask, which must have no weights between 0 and 255
 * `names` are what leat_dataset_open() takes; of megatron and datatrove their documents must be known. Hashes are
 * checked while tokens are read, where the datasets store some. All files are complete before the first one gets its
 * name; until then they are called *.partial. `report` (may be NULL) is filled on success.
 * Returns what opening and reading return; LEAT_E_EXISTS; LEAT_E_BUSY (another process writes the same files);
 * LEAT_E_UNSUPPORTED if ids, tokens or a mask do not fit, or if `output` is a URL; LEAT_E_NOT_FOUND without documents;
 * LEAT_E_STOPPED; or _IO, _NO_SPACE and the like.
 */
LEAT_API enum leat_status leat_export(const char *output, const char *const *names, uint64_t count,
                                      const struct leat_export_options *options,
                                      struct leat_export_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
