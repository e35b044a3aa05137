/*
 * count.c: how many instructions each row of kernels takes on aarch64, under qemu with plugin.c; `make
 * count-instructions` prints it. Numbers do not depend on the machine that runs this; how fast instructions are does
 * depend on the CPU, so they are a first guess where no such machine is at hand.
 */
#include "count.h"

#include <unistd.h>

#include "base/utf8.h"
#include "corpus/json/json_kernels.h"
#include "rows/rows.h"
#include "t.h"
#include "tokenizer/bpe/merge_table.h"
#include "tokenizer/bpe/pretoken_batch.h"

#define BYTES  16384
#define MERGES 400

static uint64_t random_state = 1;
static uint8_t text[BYTES + BATCH_OVER];

static uint64_t instructions(void)
{
    uint64_t number = 0;

    if (write(-1, NULL, 0) >= 0 || pread(COUNT_FILE, &number, sizeof number, 0) != sizeof number) {
        fprintf(stderr, "no plugin counts: `make count-instructions`\n");
        exit(1);
    }
    return number;
}

static void show(const char *kernel, const char *row, uint64_t from, uint64_t units, const char *unit)
{
    printf("%-39s %-6s %8.2f per %s\n", kernel, row, (double)(instructions() - from) / (double)units, unit);
}

/* ---- Rows of batches ---- */

static void count_rows(void)
{
    static uint64_t to[4096], from[4096];
    const struct rows_kernels *k;

    for (unsigned i = 0; (k = rows_row(i, NULL)); i++)
        for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
            char name[64];
            uint64_t begin;

            for (unsigned width = 2; width <= 4; width += 2) {
                snprintf(name, sizeof name, "tokens of %u bytes to %u", width, bytes);
                begin = instructions();
                k->widen(to, bytes, from, width, 4096);
                show(name, k->name, begin, 4096, "token");
            }
            snprintf(name, sizeof name, "positions of %u bytes", bytes);
            begin = instructions();
            k->count_up(to, bytes, 4096);
            show(name, k->name, begin, 4096, "number");
            snprintf(name, sizeof name, "one number of %u bytes", bytes);
            begin = instructions();
            k->fill(to, bytes, -100, 4096);
            show(name, k->name, begin, 4096, "number");
        }
}

/* ---- JSON ---- */

/* `often`: of as many characters one is an escape. */
static void count_string(const char *kernel, const char *escape, size_t often)
{
    const struct json_kernels *k;
    static char out[BYTES];
    size_t bytes = 0;

    while (bytes + 64 < BYTES) {
        size_t length = t_below(&random_state, often) ? 1 : strlen(escape);

        memcpy(text + bytes, length > 1 ? escape : "e", length);
        bytes += length;
    }
    for (unsigned i = 0; (k = json_kernels_row(i, NULL)); i++) {
        char name[64];
        bool escaped;
        uint64_t begin = instructions();

        k->pass((char *)text, (char *)text + bytes, &escaped);
        snprintf(name, sizeof name, "JSON, %s: pass", kernel);
        show(name, k->name, begin, bytes, "byte");
        begin = instructions();
        k->unescape(out, (char *)text, (char *)text + bytes);
        snprintf(name, sizeof name, "JSON, %s: unescape", kernel);
        show(name, k->name, begin, bytes, "byte");
        begin = instructions();
        k->count_newlines((char *)text, bytes);
        show("JSON, any text: lines", k->name, begin, bytes, "byte");
    }
}

/* ---- UTF-8 and cuts ---- */

static void count_utf8(void)
{
    const struct utf8_row *u;

    for (size_t bytes = 0; bytes + 4 < BYTES;)
        bytes += utf8_encode(text + bytes, 0x20 + (uint32_t)t_below(&random_state, 0x4e00));
    for (size_t i = 0; (u = utf8_row(i)); i++) {
        uint64_t begin = instructions();

        u->valid_prefix(text, BYTES - 4);
        show("UTF-8: check", u->name, begin, BYTES - 4, "byte");
    }
}

/* ---- Pretokens ---- */

static struct pair_table pairs;
static uint32_t symbols[256], first[1 << 16];

static void make_merges(void)
{
    static struct merge merges[MERGES];

    for (uint32_t i = 0; i < MERGES; i++) {
        uint32_t left = (uint32_t)t_below(&random_state, 20 + i), right = (uint32_t)t_below(&random_state, 20 + i / 4);

        merges[i] =
            (struct merge) { left < 20 ? 'a' + left : 236 + left, right < 20 ? 'a' + right : 236 + right, 256 + i, i };
    }
    T_OK(pair_table_make(&pairs, merges, MERGES, &t_err));
    for (uint32_t i = 0; i < 256; i++)
        symbols[i] = i;
    for (uint32_t i = 0; i < 1 << 16; i++)
        first[i] = pair_rank(&pairs, i >> 8, i & 0xff);
}

/* Words of four to ten letters; the first time none is known, the second time all are. */
static void count_pretokens(void)
{
    static struct pretoken_batch batch;
    static uint32_t ends[BYTES], ids[BYTES + BATCH_OVER], many[4 * BYTES];
    struct merge_rules rules = { .pairs = &pairs, .bytes = symbols, .first = first };
    const struct pretoken_kernels *k;
    uint32_t bytes = 0, count = 0;

    make_merges();
    while (bytes + 10 < BYTES) {
        for (uint64_t n = 4 + t_below(&random_state, 7); n > 0; n--)
            text[bytes++] = (uint8_t)('a' + t_below(&random_state, 20));
        ends[count++] = bytes;
    }
    batch.text = text;
    batch.many = many;
    for (unsigned i = 0; (k = pretoken_kernels_row(i, NULL)); i++) {
        const struct pretoken_cut all = {
            .text = text, .bytes = bytes, .room = sizeof text, .ends = ends, .last = ends + count
        };
        struct pretoken_cache cache;
        uint64_t begin = instructions();

        T_CHECK(pretoken_cache_make(&cache));
        for (unsigned times = 0; times < 2; times++) {
            batch.many_count = 0;
            begin = instructions();
            k->cut(&all, &batch);
            if (times == 1)
                show("pretokens: cut", k->name, begin, count, "pretoken");
            begin = instructions();
            k->find(&cache, &batch);
            if (times == 1)
                show("pretokens: find", k->name, begin, count, "pretoken");
            begin = instructions();
            k->merge(&rules, &cache, &batch);
            if (times == 0)
                show("pretokens: merge", k->name, begin, count, "pretoken");
            begin = instructions();
            k->write(&batch, 0, batch.count, ids);
            if (times == 1)
                show("pretokens: write", k->name, begin, count, "pretoken");
        }
        pretoken_cache_free(&cache);
    }
    pair_table_free(&pairs);
}

int main(void)
{
    FILE *shared = tmpfile();

    if (!shared || dup2(fileno(shared), COUNT_FILE) < 0)
        return 1;
    count_rows();
    count_string("plain", "", BYTES);
    count_string("an escape each 40 bytes", "\\n", 40);
    count_string("all escaped", "\\u0434", 1);
    count_utf8();
    count_pretokens();
    return t_end();
}
