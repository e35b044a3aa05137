/* sentencepiece_decoder.c: see sentencepiece_decoder.h. Follows SentencePieceProcessor::Decode. */
#include "sentencepiece_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/normalize/spaced.h"

/* "<0xNN>", as the loader has checked */
static uint8_t byte_of(const struct tokenizer_spec *spec, const struct spec_token *token)
{
    char digits[3] = { 0 };

    memcpy(digits, spec_token_bytes(spec, token) + 3, 2);
    return (uint8_t)strtoul(digits, NULL, 16);
}

/* Appends characters as they are, and U+FFFD for each byte that belongs to none. */
enum leat_status sentencepiece_decoder_end(struct sentencepiece_decoder *d, struct buffer *out, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < d->run.size;) {
        size_t valid = utf8_valid_prefix(d->run.bytes + at, d->run.size - at);

        s = buffer_append(out, d->run.bytes + at, valid, err);
        at += valid;
        if (s == LEAT_OK && at < d->run.size)
            s = buffer_append(out, UTF8_REPLACEMENT, 3, err);
        at += at < d->run.size;
    }
    d->run.size = 0;
    return s;
}

static bool begins_with_mark(const uint8_t *text, size_t bytes)
{
    return bytes >= SPEC_MARK_BYTES && memcmp(text, SPEC_MARK, SPEC_MARK_BYTES) == 0;
}

enum leat_status sentencepiece_decoder_add(struct sentencepiece_decoder *d, const struct spec_token *token,
                                           struct buffer *out, struct leat_error *err)
{
    const struct spec_sentencepiece *sp = &d->spec->sentencepiece;
    const uint8_t *text = spec_token_bytes(d->spec, token);
    size_t bytes = token->length, before;
    enum leat_status s;

    if (token->type == SPEC_BYTE) {
        uint8_t byte = byte_of(d->spec, token);

        return buffer_append(&d->run, &byte, 1, err);
    }
    s = sentencepiece_decoder_end(d, out, err);
    if (s != LEAT_OK)
        return s;
    d->after_text = d->after_text || out->size > 0;
    if (token->type == SPEC_CONTROL)
        return buffer_append(out, text, bytes, err);
    if (token->type == SPEC_UNKNOWN)
        return buffer_append(out, sp->unknown_surface.bytes, sp->unknown_surface.length, err);
    before = bytes;
    if (!d->after_text && (sp->add_dummy_prefix || sp->remove_extra_whitespaces) && begins_with_mark(text, bytes)) {
        text += SPEC_MARK_BYTES;
        bytes -= SPEC_MARK_BYTES;
    }
    d->after_text = d->after_text || (before != bytes && !sp->remove_extra_whitespaces);
    return spaced_replace(out, text, bytes, err);
}

void sentencepiece_decoder_free(struct sentencepiece_decoder *d)
{
    buffer_free(&d->run);
}
