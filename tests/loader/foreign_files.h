/*
 * foreign_files.h: what the tests of files of other tools share: Megatron's, raw ones, llm.c's, Modalities',
 * datatrove's, of 2 and 4 bytes per token, with the same tokens and documents in all of them.
 */
#ifndef LEAT_TESTS_LOADER_FOREIGN_FILES_H
#define LEAT_TESTS_LOADER_FOREIGN_FILES_H

#include "base/bytes.h"
#include "loading.h"

#define TOKENS 60000u
#define MEAN   60u
#define END    7u /* what documents of raw files end with here */

static const char *folder;
static uint64_t starts[TOKENS + 1], documents;

static inline const char *in_folder(const char *name)
{
    return t_path(folder, name);
}

static inline void write_bytes(const char *name, const void *bytes, uint64_t count)
{
    t_write(in_folder(name), bytes, count);
}

static inline void patch(const char *name, uint64_t at, const void *bytes, uint64_t count)
{
    t_patch(in_folder(name), at, bytes, count);
}

static inline void patch64(const char *name, uint64_t at, uint64_t value)
{
    uint8_t bytes[8];

    bytes_store64(bytes, value);
    patch(name, at, bytes, 8);
}

static inline void patch32(const char *name, uint64_t at, uint32_t value)
{
    uint8_t bytes[4];

    bytes_store32(bytes, value);
    patch(name, at, bytes, 4);
}

/* ---- The files ---- */

static uint8_t *out;
static uint64_t out_bytes;

static inline void put(uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[out_bytes++] = (uint8_t)(value >> 8 * i);
}

static inline void put_tokens(unsigned width)
{
    for (uint64_t i = 0; i < TOKENS; i++)
        put(counting_token(i, width), width);
}

static inline void end_file(const char *name)
{
    write_bytes(name, out, out_bytes);
    out_bytes = 0;
}

/* Every third document is two sequences, the second of which may be empty. */
static inline void write_megatron(const char *prefix, unsigned width)
{
    uint64_t sequences = documents + (documents + 2) / 3, at = 0;

    put_tokens(width);
    end_file(t_text("%s.bin", prefix));
    memcpy(out, "MMIDIDX\0\0", 9);
    out_bytes = 9;
    put(1, 8);
    put(width == 2 ? 8 : 4, 1);
    put(sequences, 8);
    put(documents + 1, 8);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint64_t d = 0; d < documents; d++) {
            uint64_t length = starts[d + 1] - starts[d], first = d % 3 == 0 ? length - length / 7 : length;

            put(pass == 0 ? first : starts[d] * width, pass == 0 ? 4 : 8);
            if (d % 3 == 0)
                put(pass == 0 ? length - first : (starts[d] + first) * width, pass == 0 ? 4 : 8);
        }
    for (uint64_t d = 0; d <= documents; d++) {
        put(at, 8);
        at += 1 + (d % 3 == 0);
    }
    end_file(t_text("%s.idx", prefix));
}

static inline void write_flat(unsigned width)
{
    put_tokens(width);
    end_file("raw.npy");
    put(width == 2 ? 20240520 : 20240801, 4);
    put(width == 2 ? 1 : 7, 4);
    put(TOKENS, 4);
    for (unsigned i = 3; i < 256; i++)
        put(0, 4);
    put_tokens(width);
    end_file("llmc.bin");
    put((uint64_t)TOKENS * width, 8);
    put(width, 4);
    put_tokens(width);
    put(0x4e2e2e2e28, 5); /* a pickle, which nothing reads */
    end_file("a.pbin");
    put_tokens(width);
    end_file("a.ds");
    for (uint64_t d = 1; d <= documents; d++)
        put(starts[d], 8);
    end_file("a.ds.index");
}

static inline const char *raw_name(unsigned width)
{
    return t_text("raw:%s?dtype=u%u", in_folder("raw.npy"), 8 * width);
}

/* ---- Opened ---- */

static inline struct leat_dataset *open_name(const char *name)
{
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    return d;
}

static inline void check_documents(const struct leat_dataset *d)
{
    static uint64_t found[TOKENS + 1];
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t first, count, document, n, wrong = 0;

    leat_dataset_info(d, &info);
    T_EQ(info.documents, documents);
    T_OK(leat_dataset_starts(d, 0, documents + 1, found, &t_err));
    T_CHECK(memcmp(found, starts, 8 * (documents + 1)) == 0);
    for (uint64_t k = 0; k < documents; k += 37) {
        T_OK(leat_dataset_document(d, k, &first, &count, &t_err));
        if (count == 0)
            continue;
        T_OK(leat_dataset_documents_in(d, first, count, &document, &n, &t_err));
        wrong += first != starts[k] || count != starts[k + 1] - starts[k] || document != k || n != 1;
    }
    T_EQ(wrong, 0);
}

static inline void refuse(const char *name, enum leat_status status, const char *words)
{
    struct leat_dataset *d;

    T_REFUSED(leat_dataset_open(&d, name, NULL, &t_err), status, words);
}

/* Where documents start. */
static inline void begin_foreign(void)
{
    folder = t_folder();
    out = malloc((size_t)40 * TOKENS);
    for (uint64_t at = 0; at < TOKENS; documents++) {
        starts[documents] = at;
        at += counting_length(documents, MEAN);
    }
    starts[documents] = TOKENS;
}

#endif
