/* step_utf8.c: checks whether a text is UTF-8. If not, it is rejected or repaired, as the setup says. */
#include "base/status.h"
#include "base/utf8.h"
#include "steps.h"

/* Returns LEAT_E_TEXT for a text of which only the first `valid` bytes are UTF-8. */
static enum leat_status say_malformed(uint64_t valid, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT, "the text is not valid UTF-8 at its byte %" PRIu64, valid + 1);
}

/* A text with more malformed parts than MALFORMED_MIN, and more than one in MALFORMED_SHARE bytes, is no UTF-8 text
 * with a few errors. */
#define MALFORMED_MIN   16
#define MALFORMED_SHARE 100

enum leat_status step_check_share(const struct pack_setup *setup, uint64_t malformed, uint64_t bytes,
                                  struct leat_error *err)
{
    if (setup->allow_binary || malformed <= MALFORMED_MIN || malformed <= bytes / MALFORMED_SHARE)
        return LEAT_OK;
    return status_set_hint(
        err, LEAT_E_TEXT, LEAT_HINT_BINARY, NULL,
        "%" PRIu64 " parts of %" PRIu64
        " bytes are not valid UTF-8: it is binary data, or text in another encoding, which iconv converts",
        malformed, bytes);
}

enum leat_status step_check_text(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                 const struct step_text *t, bool *rejected, struct leat_error *err)
{
    size_t valid = utf8_valid_prefix((const uint8_t *)t->text, t->bytes);
    struct leat_error why;
    enum leat_status s = LEAT_OK;

    d->utf8 = valid < t->bytes ? TEXT_UTF8_MALFORMED : TEXT_UTF8_VALID;
    *rejected = false;
    if (valid == t->bytes)
        return LEAT_OK;
    d->malformed = utf8_malformed((const uint8_t *)t->text, t->bytes);
    s = w->setup->reject_invalid ? say_malformed(valid, &why)
                                 : step_check_share(w->setup, d->malformed, t->bytes, &why);
    *rejected = s != LEAT_OK;
    return *rejected ? documents_reject(&u->docs, d, why.message, why.field, t->sample, t->sample_bytes, err) : LEAT_OK;
}

enum leat_status step_repair(struct pack_worker *w, const char **text, size_t *bytes, uint64_t *malformed,
                             struct leat_error *err)
{
    enum leat_status s;

    w->repaired.size = 0;
    s = buffer_append_repaired(&w->repaired, (const uint8_t *)*text, *bytes, malformed, err);
    *text = (const char *)w->repaired.bytes;
    *bytes = w->repaired.size;
    return s;
}

enum leat_status step_check_chunk(struct pack_worker *w, struct step_chunk *c, struct leat_error *err)
{
    const struct buffer *b = c->bytes;
    size_t valid;
    uint64_t here = 0;
    enum leat_status s;

    c->taken = c->text_bytes = b->size - (c->last ? 0 : utf8_open_end(b->bytes, b->size));
    c->text = (const char *)b->bytes;
    valid = utf8_valid_prefix(b->bytes, c->taken);
    if (valid == c->taken)
        return LEAT_OK;
    s = w->setup->reject_invalid ? say_malformed(c->before + valid, err)
                                 : step_repair(w, &c->text, &c->text_bytes, &here, err);
    c->malformed += here;
    return s;
}
