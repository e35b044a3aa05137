/* make_seeds.h: what the files of the program make_seeds share. */
#ifndef LEAT_TESTS_FUZZ_MAKE_SEEDS_H
#define LEAT_TESTS_FUZZ_MAKE_SEEDS_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* Ends the program, with errno's or the error's text, unless the condition holds. */
void must(int condition, const char *what);
void must_ok(enum leat_status s, const struct leat_error *err);

uint8_t *read_file(const char *path, size_t *size); /* freed by the caller */
void put_seed(const char *fuzzer, const char *name, const void *bytes, size_t size);

/* Datasets and checkpoints (make_seeds_datasets.c), written in a folder. */
void dataset_seeds(const char *folder);
void checkpoint_seeds(const char *folder);

#endif
