/* decompressor.c: what the rows of decompressor.h have in common. */
#include "decompressor.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

bool decompressor_magic(const uint8_t *head, size_t bytes, const uint8_t magic[RAW_HEAD])
{
    return memcmp(head, magic, bytes < RAW_HEAD ? bytes : RAW_HEAD) == 0;
}

enum leat_status decompressor_broken(const struct decompressor *d, const struct raw_input *in, const char *why,
                                     struct leat_error *err)
{
    uint64_t place = raw_input_position(in);

    return status_set_at(err, LEAT_E_TEXT, place, "%s: the %s data is broken at compressed byte %llu: %s", in->name,
                         d->name, (unsigned long long)place, why);
}

enum leat_status decompressor_cut_off(const struct decompressor *d, const struct raw_input *in, struct leat_error *err)
{
    uint64_t place = raw_input_position(in) + (in->held - in->at);

    return status_set_at(err, LEAT_E_TRUNCATED, place, "%s ends in the middle of %s, at compressed byte %llu", in->name,
                         d->member, (unsigned long long)place);
}

enum leat_status decompressor_missing(const struct decompressor *d, const char *path, const char *libraries,
                                      const char *cure, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "%s is compressed with %s, which this build cannot read: it has %s; decompress the file with %s",
                      path, d->name, libraries, cure);
}

/* Libraries would take some wrong bytes for a start, or want more before they say so. */
enum leat_status decompressor_begin(const struct decompressor *d, struct raw_input *in, bool *begun,
                                    enum decompressor_step *step, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    char why[64];
    size_t held;

    *begun = false;
    while (s == LEAT_OK && in->held - in->at < RAW_HEAD && !in->ended)
        s = raw_input_fill(in, err);
    if (s != LEAT_OK)
        return s;
    held = in->held - in->at;
    if (held == 0 && raw_input_position(in) > 0) {
        *step = STEP_END;
        return LEAT_OK;
    }
    if (!d->begins(in->buffer + in->at, held)) {
        snprintf(why, sizeof why, "no%s begins there", strrchr(d->member, ' '));
        return decompressor_broken(d, in, why, err);
    }
    if (held < RAW_HEAD)
        return decompressor_cut_off(d, in, err);
    *begun = true;
    return LEAT_OK;
}
