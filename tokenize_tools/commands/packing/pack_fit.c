/*
 * pack_fit.c: see pack_fit.h. Byte-pair vocabularies make 3 to 5 bytes of a language, or of code, that they were made
 * from into a token, and seldom less than 2 of any text; a vocabulary of other languages, or other bytes than text,
 * gives about one. Vocabularies without bytes have an unknown token instead.
 */
#include "pack_fit.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define LEAST_TOKENS  1000u /* to say anything */
#define LEAST_BYTES   2.0   /* per token */
#define MOST_UNKNOWN  0.01
#define SMALL         1024u /* a vocabulary of bytes, or of characters, has one byte per token by intent */
#define NAMES_UNKNOWN 3u

/* The share of the sample's tokens that are one of these. */
static double share_of(const struct pack_sample *sample, const uint32_t *ids, unsigned count, bool wide)
{
    static const char *const suffixes[] = { "tokens", "partial.tokens" }; /* of one that ended, or was stopped */
    uint64_t tokens = 0, found = 0;
    char path[700];
    FILE *f = NULL;

    for (unsigned i = 0; i < 2 && !f; i++) {
        snprintf(path, sizeof path, "%s.%s", sample->name, suffixes[i]);
        f = fopen(path, "rbe");
    }
    for (unsigned char b[4]; f && fread(b, wide ? 4 : 2, 1, f) == 1; tokens++) {
        uint32_t id = b[0] | (uint32_t)b[1] << 8;

        if (wide)
            id |= (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        for (unsigned i = 0; i < count; i++)
            found += id == ids[i];
    }
    if (f)
        fclose(f);
    return tokens > 0 ? (double)found / (double)tokens : 0;
}

void pack_fit_measure(struct pack_fit *fit, const struct pack_sample *sample, const struct leat_pack_options *o)
{
    static const char *const names[NAMES_UNKNOWN] = { "<unk>", "[UNK]", "<UNK>" };
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    const struct leat_pack_report *r = &sample->report;
    uint64_t around = (o->end_token != LEAT_NONE) + (o->begin_token != LEAT_NONE);
    uint64_t tokens = r->tokens > around * r->documents ? r->tokens - around * r->documents : 0;
    uint32_t ids[NAMES_UNKNOWN];
    unsigned count = 0;

    *fit = (struct pack_fit) { 0 };
    leat_tokenizer_info(o->tokenizer, &info);
    if (tokens < LEAST_TOKENS)
        return;
    if (info.vocabulary >= SMALL)
        fit->bytes_per_token = (double)r->text_bytes / (double)tokens;
    for (unsigned i = 0; i < NAMES_UNKNOWN; i++)
        if (leat_tokenizer_find(o->tokenizer, names[i], strlen(names[i]), &ids[count], NULL) == LEAT_OK &&
            ids[count] != o->end_token && ids[count] != o->begin_token)
            count++;
    if (count > 0)
        fit->unknown = share_of(sample, ids, count, info.vocabulary > 65536);
}

void pack_fit_say(const struct pack_fit *fit, const char *tokenizer)
{
    if (fit->bytes_per_token > 0 && fit->bytes_per_token < LEAST_BYTES)
        cli_error(
            "warning: a token of %s has %.2f bytes of this text on average, and less than 2 is rare: is it the right "
            "tokenizer, and is this text?",
            tokenizer, fit->bytes_per_token);
    if (fit->unknown > MOST_UNKNOWN)
        cli_error(
            "warning: %.1f %% of the sample's tokens are %s's unknown token: it lacks what these texts are made of",
            100 * fit->unknown, tokenizer);
}
