/*
 * megatron.h: the arithmetic of Megatron's order (docs/ORDER.md, "Megatron's order"): what megatron-core's GPTDataset
 * and BlendedDataset compute, from lengths of sequences and numbers alone, bit for bit. A *sequence* is an entry of
 * Megatron's index: a document, unless its texts were cut into sentences.
 *
 * Megatron stores, of each sample, the document and the place where it begins, its place after the shuffle, its source,
 * and its number in the source: 22 bytes. The beginning follows from the order of the documents, because each sample
 * begins L tokens after the one before; and the number in the source is a count. So of both only every few are stored,
 * and a sample takes 8 bytes.
 */
#ifndef LEAT_ORDER_MEGATRON_H
#define LEAT_ORDER_MEGATRON_H

#include <stdbool.h>
#include <stdint.h>

#include "decimal.h"
#include "leat.h"

#define MEGATRON_VERSION 1u
#define MEGATRON_MAX_ENTRIES                                                                                           \
    (((uint64_t)1 << 32) - 3) /* entries of a source's index below which Megatron uses 32
                                                        * bits */
#define MEGATRON_MAX_SAMPLES ((uint64_t)1 << 40)
#define MEGATRON_MAX_SOURCES 32766u
#define MEGATRON_MAX_SURPLUS 1000000    /* limit that keeps 2^40 samples with the surplus below 2^64 */
#define MEGATRON_NO_SAMPLES  UINT64_MAX /* no number of samples is asked for */
#define MEGATRON_STEP        4u         /* one sample in this many has a mark */

/* ---- Numbers ---- */

/* Returns the double next to a decimal, as Python's float() has it. */
double megatron_double(struct decimal d);

/* Divides the weights by their sum, both computed as numpy does: normalize() of megatron.core.datasets.utils. */
void megatron_normalize(double *weights, uint64_t count);

/* Computes range `used` of a split with up to three ranges: sequences [*first, *end) of `sequences`. Returns false
 * if it is empty. */
bool megatron_split(const struct decimal *ratios, unsigned count, unsigned used, uint64_t sequences, uint64_t *first,
                    uint64_t *end);

/* Return ceil(samples * weight), and for how many samples a source is built: ceil(that * (1 + surplus)). */
uint64_t megatron_target(uint64_t samples, double weight);
uint64_t megatron_wanted(uint64_t target, double surplus);

/* ---- A source: GPTDataset ---- */

/* The start of a sample: an entry of the documents' order, and the tokens to skip in it. */
struct megatron_mark {
    uint32_t entry, offset;
};

struct megatron_source {
    uint64_t tokens;             /* T: tokens of an epoch */
    uint64_t epochs;             /* E */
    uint64_t entries;            /* E times the number of sequences */
    uint64_t samples;            /* M */
    uint64_t separate;           /* first sample of the last epoch if that is shuffled by itself, else M */
    uint32_t *sequences;         /* sequence of each entry, numbered from the first that is used */
    uint32_t *shuffled;          /* sample at each place */
    struct megatron_mark *marks; /* mark of every MEGATRON_STEP-th sample, before the shuffle */
};

/*
 * Makes the order of a source: `count` sequences of these lengths, samples of `seq_len` inputs, for at least `wanted`
 * samples or MEGATRON_NO_SAMPLES, which is one epoch. Fails with what is wrong with the source, without its name. After
 * a failure too, megatron_source_free() releases it.
 */
enum leat_status megatron_source_make(struct megatron_source *s, const uint32_t *lengths, uint64_t count,
                                      uint64_t seq_len, uint64_t wanted, uint32_t seed, struct leat_error *err);
void megatron_source_free(struct megatron_source *s);

/* ---- Sources together: BlendedDataset ---- */

struct megatron_blend {
    uint64_t samples;
    uint32_t source_count;
    uint32_t step;     /* one sample in this many has counts */
    uint16_t *sources; /* source of each sample */
    uint64_t *counts;  /* for every step-th sample: how many samples each source has had before it */
};

/*
 * Makes the order of sources for `samples` samples, by weights that megatron_normalize() has seen. `weights` NULL:
 * all samples of each source. `sizes` has how many samples each source has; `taken` gets how many of them are in the
 * blend.
 */
enum leat_status megatron_blend_make(struct megatron_blend *b, const double *weights, const uint64_t *sizes,
                                     uint32_t source_count, uint64_t samples, uint64_t *taken, struct leat_error *err);
void megatron_blend_free(struct megatron_blend *b);

/* Returns how many samples a source has had before sample n, n < samples. */
uint64_t megatron_blend_count(const struct megatron_blend *b, uint64_t n, uint32_t source);

/* ---- numpy's generator ------------------------------------------------------------------------------------------- */

/*
 * Numpy's legacy generator, numpy.random.RandomState, as far as Megatron's order needs it: MT19937 seeded with a
 * number, and shuffle() of an array of 32-bit numbers. Bit for bit.
 */

#define NUMPY_RANDOM_WORDS 624u

struct numpy_random {
    uint32_t words[NUMPY_RANDOM_WORDS];
    unsigned next; /* word to be drawn; NUMPY_RANDOM_WORDS: new ones are needed */
};

void numpy_random_seed(struct numpy_random *r, uint32_t seed);

/* Shuffles as RandomState.shuffle() does; count is at most 2^32. */
void numpy_random_shuffle(struct numpy_random *r, uint32_t *items, uint64_t count);

#endif
