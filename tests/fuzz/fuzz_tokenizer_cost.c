/*
 * fuzz_tokenizer_cost.c: files of tokenizers that are made to be expensive (costly.h): opening one, encoding a text
 * with it and decoding the ids take no more memory, and no more steps of expressions, than docs/tokenizers.md says
 * ("What a file may cost"). All of it is counted: an input that fails does so everywhere. What takes time without steps
 * or memory runs into libFuzzer's own limit (FUZZ_FLAGS=-timeout=60).
 */
#include <inttypes.h>

#include "costly.h"
#include "memory.h"

#include "tokenizer/decode/decoder.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"

#define MIB ((uint64_t)1 << 20)

/* What is promised, see docs/tokenizers.md and leat_encoder_part(). */
#define ENCODE_BYTES TINY_OR(MIB / 4, 2 * MIB)
#define IDS_BYTE     128
#define DECODE_BASE  TINY_OR(MIB / 4, 64 * MIB)
#define DECODE_ID    256
#define SEARCH_BYTES TINY_OR(MIB, 64 * MIB) /* of an expression that goes back */
#define STEPS_FIRST  TINY_OR(20000u, 10000000u)
#define STEPS_BYTE   TINY_OR(500u, 50000u)

/* What is measured: it grows with the bytes of a file, not with what they say. */
#define OPEN_BASE (16 * MIB)
#define OPEN_BYTE 512
#define OPEN_ID   4
#define OPEN_NAME 64        /* for each byte of the names of added tokens, as normalizers make them */
#define SMALL     (4 * MIB) /* buffers of encoders and expressions */

static void check_cost(const char *what, uint64_t is, uint64_t may)
{
    if (is <= may)
        return;
    fprintf(stderr, "%s: %" PRIu64 ", and may be %" PRIu64 "\n", what, is, may);
    abort();
}

static void check_decoding(const struct pipeline *p, const uint32_t *ids, size_t count)
{
    int64_t begin = memory_begin();
    struct buffer text = { 0 };
    struct leat_error err;
    enum leat_status s = decoder_run(p->decoder, ids, count, &text, &err);

    FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_VOCABULARY || s == LEAT_E_TEXT);
    check_cost("memory to decode", memory_grown(begin), DECODE_BASE + DECODE_ID * (uint64_t)count + SMALL);
    buffer_free(&text);
}

static void check_encoding(const struct pipeline *p, const struct costly *c)
{
    struct encoder_options options = { .special = true, .max_bytes = ENCODE_BYTES };
    uint64_t growth = c->growth * (c->text_bytes + 1), normalized = growth < ENCODE_BYTES ? growth : ENCODE_BYTES;
    int64_t begin = memory_begin();
    struct encoder *e;
    struct leat_error err;
    const uint32_t *ids;
    size_t count;
    enum leat_status s;

    FUZZ_CHECK(encoder_make(&e, p, &options, &err) == LEAT_OK);
    s = encoder_run(e, c->text, c->text_bytes, &ids, &count, &err);
    FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_TEXT || s == LEAT_E_PRETOKEN);
    check_cost("steps", encoder_steps(e), STEPS_FIRST + STEPS_BYTE * normalized * c->searches);
    check_cost("memory to encode", memory_grown(begin),
               ENCODE_BYTES + IDS_BYTE * (uint64_t)c->text_bytes + (c->searches > 0 ? SEARCH_BYTES : 0) + SMALL);
    if (s == LEAT_OK)
        check_decoding(p, ids, count);
    encoder_free(e);
}

/* Of added tokens that were refused the names may have been as long as is promised. */
static uint64_t bytes_of_names(const struct pipeline *p, const struct costly *c)
{
    uint64_t sum = 0;

    if (!p)
        return TINY_OR(32 << 10, 256 << 10) + 64 * (uint64_t)c->plain_bytes;
    for (uint32_t i = 0; i < p->spec->added_count; i++)
        sum += p->spec->added[i].name.length;
    return sum;
}

FUZZ_TARGET(tokenizer_cost)
{
    static struct costly costly;
    struct fuzz_bytes b = { data, size };
    struct pipeline *pipeline = NULL;
    struct opened_spec opened;
    struct leat_error err;
    enum leat_status s;
    int64_t begin;

    costly_make(&costly, &b);
    begin = memory_begin();
    s = spec_open_stored(&opened, costly.file, costly.file_bytes, "fuzz.json", NULL, &err);
    if (s == LEAT_OK) {
        s = pipeline_make(&pipeline, opened.spec, &err);
        opened.spec = NULL;
        spec_close(&opened);
    }
    FUZZ_CHECK(s == LEAT_OK || s == LEAT_E_VOCABULARY || s == LEAT_E_UNSUPPORTED);
    check_cost("memory to open", memory_grown(begin),
               OPEN_BASE + OPEN_BYTE * (uint64_t)costly.plain_bytes + OPEN_ID * (uint64_t)costly.ids +
                   OPEN_NAME * bytes_of_names(pipeline, &costly));
    if (pipeline)
        check_encoding(pipeline, &costly);
    pipeline_free(pipeline);
    return 0;
}
