/* export_formats.c: the rows of the table of export.h: what other tools keep beside tokens. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
#include "export.h"

/* ---- Megatron: PREFIX.bin and PREFIX.idx ---- */

#define MEGATRON_INT32  4u /* its codes for types of tokens; it has none for u32 */
#define MEGATRON_UINT16 8u
#define MAX_SEQUENCE    TINY_OR((uint64_t)50, (uint64_t)INT32_MAX) /* a longer document becomes several sequences */

static uint64_t sequences_of(uint64_t tokens)
{
    return tokens == 0 ? 1 : bytes_divide_up(tokens, MAX_SEQUENCE);
}

static enum leat_status count_sequences(struct exporting *e, struct export_file *f, const uint64_t *starts,
                                        uint64_t count, struct leat_error *err)
{
    (void)f;
    (void)err;
    for (uint64_t i = 0; i < count; i++)
        e->sequences += sequences_of(starts[i + 1] - starts[i]);
    return LEAT_OK;
}

static enum leat_status put_lengths(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    (void)e;
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t at = starts[i], end = starts[i + 1], n = sequences_of(end - at); s == LEAT_OK && n > 0; n--) {
            uint64_t here = end - at < MAX_SEQUENCE ? end - at : MAX_SEQUENCE;

            s = export_put_number(f, here, 4, err);
            at += here;
        }
    return s;
}

static enum leat_status put_pointers(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < count; i++)
        for (uint64_t n = 0; s == LEAT_OK && n < sequences_of(starts[i + 1] - starts[i]); n++)
            s = export_put_number(f, (starts[i] + n * MAX_SEQUENCE) * e->width, 8, err);
    return s;
}

/* The document index: where documents end among sequences. */
static enum leat_status put_documents(struct exporting *e, struct export_file *f, const uint64_t *starts,
                                      uint64_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        e->sequences += sequences_of(starts[i + 1] - starts[i]);
        s = export_put_number(f, e->sequences, 8, err);
    }
    return s;
}

static enum leat_status megatron_other(struct exporting *e, unsigned number, struct export_file *f,
                                       struct leat_error *err)
{
    enum leat_status s;

    (void)number;
    e->sequences = 0;
    s = export_each_start(e, f, count_sequences, err);
    if (s == LEAT_OK)
        s = export_put(f, "MMIDIDX\0\0\1\0\0\0\0\0\0", 17, err); /* and version 1 */
    if (s == LEAT_OK)
        s = export_put_number(f, e->width == 2 ? MEGATRON_UINT16 : MEGATRON_INT32, 1, err);
    if (s == LEAT_OK)
        s = export_put_number(f, e->sequences, 8, err);
    if (s == LEAT_OK)
        s = export_put_number(f, e->info.documents + 1, 8, err);
    if (s == LEAT_OK)
        s = export_each_start(e, f, put_lengths, err);
    if (s == LEAT_OK)
        s = export_each_start(e, f, put_pointers, err);
    e->sequences = 0;
    if (s == LEAT_OK)
        s = export_put_number(f, 0, 8, err);
    return s == LEAT_OK ? export_each_start(e, f, put_documents, err) : s;
}

const struct export_format export_megatron = { .name = "megatron",
                                               .suffixes = { ".bin", ".idx" },
                                               .base = ".idx",
                                               .documents = true,
                                               .max_id = INT32_MAX,
                                               .other = megatron_other };

/* ---- Without anything: nanoGPT, OLMo-core ---- */

const struct export_format export_raw = { .name = "raw", .suffixes = { "" } };
const struct export_format export_nanogpt = { .name = "nanogpt", .suffixes = { "" }, .width = 2 };

/* ---- llm.c ---- */

#define LLMC_HEADER_NUMBERS 256u

static enum leat_status llmc_head(struct exporting *e, struct export_file *f, struct leat_error *err)
{
    const uint64_t head[3] = { e->width == 2 ? 20240520 : 20240801, e->width == 2 ? 1 : 7, e->info.tokens };
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < LLMC_HEADER_NUMBERS; i++)
        s = export_put_number(f, i < 3 ? head[i] : 0, 4, err);
    return s;
}

const struct export_format export_llmc = {
    .name = "llmc", .suffixes = { "" }, .max_tokens = INT32_MAX, .head = llmc_head
};

/* ---- datatrove: FILE.ds, its mask, and where documents end; the tokenizer's name is not known ---- */

#define DATATROVE_LOSS 2u

static enum leat_status put_loss(struct exporting *e, struct export_file *f, struct leat_error *err)
{
    uint8_t mask[4096];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0; s == LEAT_OK && done < e->info.tokens;) {
        uint64_t left = e->info.tokens - done, here = left < sizeof mask ? left : sizeof mask;

        s = leat_dataset_mask(e->dataset, done, here, mask, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            if (mask[i] > 0 && mask[i] < UINT8_MAX)
                return status_set(err, LEAT_E_UNSUPPORTED,
                                  "token %" PRIu64
                                  " has a weight of %u/255, and files of datatrove only say whether a token "
                                  "is learned",
                                  (done + i), mask[i]);
            mask[i] = mask[i] > 0;
        }
        if (s == LEAT_OK)
            s = export_put(f, mask, (size_t)here, err);
        done += here;
    }
    return s;
}

static enum leat_status put_ends(struct exporting *e, struct export_file *f, const uint64_t *starts, uint64_t count,
                                 struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    (void)e;
    for (uint64_t i = 1; s == LEAT_OK && i <= count; i++)
        s = export_put_number(f, starts[i], 8, err);
    return s;
}

static enum leat_status datatrove_other(struct exporting *e, unsigned number, struct export_file *f,
                                        struct leat_error *err)
{
    char text[100], millions[32];

    if (number == DATATROVE_LOSS)
        return put_loss(e, f, err);
    if (number > DATATROVE_LOSS)
        return export_each_start(e, f, put_ends, err);
    /* rounded as datatrove does; what stands before the last digit is the locale's */
    snprintf(millions, sizeof millions, "%.1f", (double)e->info.tokens / 1e6);
    snprintf(text, sizeof text, "Unknown Tokenizer|%u\n%" PRIu64 "\n%.*s.%c M", e->width, e->info.tokens,
             (int)strspn(millions, "0123456789"), millions, millions[strlen(millions) - 1]);
    return export_put(f, text, strlen(text), err);
}

const struct export_format export_datatrove = { .name = "datatrove",
                                                .suffixes = { ".ds", ".ds.metadata", ".ds.loss", ".ds.index" },
                                                .documents = true,
                                                .mask = DATATROVE_LOSS,
                                                .other = datatrove_other };
