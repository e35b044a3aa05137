/*
 * test_record_allocations.c: packing allocates nothing per record: the same bytes of text in 30 times as many documents
 * take as many allocations, give or take those of arrays that double; for lines, plain and in frames of zstd, for an
 * array, and for texts that a program gives, with conditions or not, with ids and rejects among them.
 */
#include <zstd.h>

#include "leat_pack.h"
#include "one_text.h"
#include "support/fault.h"
#include "t.h"

#define BYTES ((size_t)3000000)
#define FEW   300u
#define MANY  9000u
#define MOST  100u /* more allocations, for arrays that double */

static const char *folder;
static struct leat_tokenizer *tokenizer;

enum shape { LINES, FRAMES, ARRAY, TEXTS, ROWS, SHAPES };
static const char *const names[SHAPES] = { "lines.jsonl", "frames.jsonl.zst", "array.json", "texts", "rows" };

/* Records with BYTES of text in all; each tenth has no text, and is rejected. */
static char *make(unsigned count, bool array, size_t *size)
{
    size_t room = 2 * BYTES + 64 * (size_t)count, at = 0;
    char *out = malloc(room);

    if (!out)
        exit(1);
    for (unsigned i = 0; i < count; i++) {
        at += (size_t)snprintf(out + at, room - at, "%s{\"id\": \"%u\", \"%s\": \"", array ? i == 0 ? "[" : "," : "", i,
                               i % 10 == 9 ? "other" : "text");
        memset(out + at, 'a' + (int)(i % 26), BYTES / count);
        at += BYTES / count;
        at += (size_t)snprintf(out + at, room - at, "\"}%s", array ? "" : "\n");
    }
    if (array)
        out[at++] = ']';
    *size = at;
    return out;
}

static void write_file(const char *path, const char *bytes, size_t size, bool frames)
{
    FILE *f = fopen(path, "wb");
    static char packed[1 << 17];
    bool good = f;

    for (size_t at = 0; good && at < size; at += 100000) {
        size_t part = size - at < 100000 ? size - at : 100000;

        if (frames)
            good = fwrite(packed, 1, ZSTD_compress(packed, sizeof packed, bytes + at, part, 1), f) > 0;
        else
            good = fwrite(bytes + at, 1, part, f) == part;
    }
    if (!good || fclose(f) != 0)
        exit(1);
}

static enum leat_status give_texts(const char *output, const struct leat_pack_options *o, unsigned count)
{
    static char text[BYTES / FEW];
    struct leat_packer *p;
    enum leat_status s = leat_packer_open(&p, output, o, &t_err);

    for (unsigned i = 0; s == LEAT_OK && i < count; i++) {
        const struct leat_value value = { .kind = LEAT_VALUE_DOUBLE, .as.number = i };
        uint32_t keep = 1;

        s = leat_packer_judge(p, &value, &keep, &t_err);
        if (s == LEAT_OK)
            s = keep ? add_one_text(p, text, BYTES / count, NULL, 0, NULL, &t_err) : leat_packer_keep_out(p, 1, &t_err);
    }
    return s == LEAT_OK ? leat_packer_finish(p, NULL, &t_err) : s;
}

/* Allocations of a run. */
static uint64_t allocations(enum shape shape, unsigned count)
{
    static const char *const conditions = "n >= 10";
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    const char *output = t_path(folder, "out"), *input = t_path(folder, names[shape]);
    enum leat_status s;
    uint64_t calls;

    o.tokenizer = tokenizer;
    o.force = 1;
    o.threads = 1;
    o.max_rejects = LEAT_NONE;
    o.keep = &conditions;
    o.keep_count = shape == ROWS;
    if (shape < TEXTS) {
        size_t size;
        char *bytes = make(count, shape == ARRAY, &size);

        write_file(input, bytes, size, shape == FRAMES);
        free(bytes);
    }
    fault_arm(FAULT_MEMORY, FAULT_COUNT, 0, 0);
    s = shape >= TEXTS ? give_texts(output, &o, count) : leat_pack(output, &input, 1, &o, &report, &t_err);
    calls = fault_disarm();
    if (s != LEAT_OK)
        T_FAIL("%s: %s", names[shape], t_err.message);
    else if (shape < TEXTS)
        T_EQ(report.documents + report.rejects, count);
    return calls;
}

int main(void)
{
    folder = t_folder();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        uint64_t few = allocations((enum shape)shape, FEW), many = allocations((enum shape)shape, MANY);

        fprintf(stderr, "%s: %llu allocations for %u documents, %llu for %u\n", names[shape], (unsigned long long)few,
                FEW, (unsigned long long)many, MANY);
        T_CHECK(many < few + MOST);
    }
    leat_tokenizer_close(tokenizer);
    return t_end();
}
