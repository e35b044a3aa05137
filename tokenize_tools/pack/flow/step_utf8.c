/* step_utf8.c: whether a text is UTF-8; one that is not is refused or repaired, as the setup says. */
#include "base/status.h"
#include "base/utf8.h"
#include "steps.h"

/* LEAT_E_TEXT for a text whose first `valid` bytes only are UTF-8. */
static enum leat_status say_malformed(uint64_t valid, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT, "the text is not valid UTF-8 at its byte %llu",
                      (unsigned long long)(valid + 1));
}

enum leat_status step_check_text(struct pack_worker *w, struct unit *u, struct unit_document *d, const char *text,
                                 size_t bytes, const void *sample, size_t sample_bytes, bool *refused,
                                 struct leat_error *err)
{
    size_t valid = utf8_valid_prefix((const uint8_t *)text, bytes);
    struct leat_error why;

    d->utf8 = valid < bytes ? UNIT_UTF8_MALFORMED : UNIT_UTF8_VALID;
    *refused = d->utf8 == UNIT_UTF8_MALFORMED && w->setup->reject_invalid;
    if (!*refused)
        return LEAT_OK;
    say_malformed(valid, &why);
    return unit_refuse(u, d, why.message, sample, sample_bytes, err);
}

enum leat_status step_repair(struct pack_worker *w, const char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s;

    w->repaired.size = 0;
    s = utf8_repair(&w->repaired, (const uint8_t *)*text, *bytes, NULL, err);
    *text = (const char *)w->repaired.bytes;
    *bytes = w->repaired.size;
    return s;
}

enum leat_status step_check_chunk(struct pack_worker *w, const struct buffer *chunk, bool last, uint64_t before,
                                  size_t *taken, const char **text, size_t *bytes, struct leat_error *err)
{
    size_t valid;

    *taken = chunk->size - (last ? 0 : utf8_open_end(chunk->bytes, chunk->size));
    *text = (const char *)chunk->bytes;
    *bytes = *taken;
    valid = utf8_valid_prefix(chunk->bytes, *taken);
    if (valid == *taken)
        return LEAT_OK;
    return w->setup->reject_invalid ? say_malformed(before + valid, err) : step_repair(w, text, bytes, err);
}
