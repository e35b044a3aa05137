/*
 * leat.h: the run-time library (libleat), and its manual.
 *
 * A dataset is two files. NAME.tokens holds the token ids, little-endian, two or four bytes each, document after
 * document, and nothing else. NAME.leat is its index: where each document starts and where it came from, a hash of
 * every 4 KiB of tokens, and the tokenizer. FORMAT.md describes both, byte by byte.
 *
 *   #include <inttypes.h>
 *   #include <leat.h>
 *   #include <stdio.h>
 *
 *   int main(int argc, char **argv)
 *   {
 *       struct leat_dataset *d;
 *       struct leat_error err;
 *       struct leat_info info = LEAT_INFO_INIT;
 *       uint32_t ids[8];
 *
 *       if (leat_dataset_open(&d, argv[argc - 1], NULL, &err) != LEAT_OK)
 *           return fprintf(stderr, "%s\n", err.message), 1;
 *       leat_dataset_info(d, &info);
 *       printf("%" PRIu64 " tokens in %" PRIu64 " documents\n", info.tokens, info.documents);
 *       if (info.tokens >= 8 && leat_dataset_read_u32(d, info.tokens - 8, 8, ids, &err) != LEAT_OK)
 *           fprintf(stderr, "%s\n", err.message);
 *       leat_dataset_close(d);
 *       return 0;
 *   }
 *
 * It includes a header for each subject, which can be included alone, too:
 *
 *   leat/error.h     statuses, struct leat_error, and the rules that hold everywhere: read them first
 *   leat/dataset.h   opening datasets of leat and of other tools, and reading what they hold
 *   leat/column.h    values beside tokens and documents
 *   leat/verify.h    checking all bytes of a dataset
 *   leat/plan.h      the order of samples, and the way back
 *   leat/fit.h       rows of whole documents: which length
 *   leat/loader.h    batches for training, on the host or a GPU
 *   leat/writer.h    writing a dataset
 *   leat/adopt.h     an index for the files of another tool
 *   leat/remote.h    datasets to servers and back
 *
 * leat_pack.h does the same for the library that makes datasets from text.
 */
#ifndef LEAT_H
#define LEAT_H

#include "leat/adopt.h"
#include "leat/column.h"
#include "leat/dataset.h"
#include "leat/error.h"
#include "leat/fit.h"
#include "leat/loader.h"
#include "leat/plan.h"
#include "leat/remote.h"
#include "leat/verify.h"
#include "leat/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* LEAT_VERSION_NUMBER is for comparisons: 1,000,000 x major + 1,000 x minor + patch. */
#define LEAT_VERSION "1.0.0"
#define LEAT_VERSION_MAJOR  1
#define LEAT_VERSION_MINOR  0
#define LEAT_VERSION_PATCH  0
#define LEAT_VERSION_NUMBER (LEAT_VERSION_MAJOR * 1000000 + LEAT_VERSION_MINOR * 1000 + LEAT_VERSION_PATCH)

/* Returns LEAT_VERSION of the loaded library. Static memory. */
LEAT_API const char *leat_version(void);

/* Returns LEAT_VERSION_NUMBER of the loaded library. */
LEAT_API uint32_t leat_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
