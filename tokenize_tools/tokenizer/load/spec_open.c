/* spec_open.c: see spec_open.h. */
#include "spec_open.h"

#include <stdlib.h>

#include "base/status.h"
#include "builtin.h"
#include "whole_file.h"

static void identify(struct opened_spec *o, const struct jsontree *config)
{
    fingerprint(o->print, o->spec);
    end_token_find(&o->end, o->spec, o->print, config);
}

static enum leat_status open_builtin(struct opened_spec *o, const char *pattern, struct leat_error *err)
{
    enum leat_status s;

    if (pattern)
        return status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_PATTERN,
                               "the built-in %s has its own pattern; leave out the pattern %s", o->at.builtin, pattern);
    s = builtin_load(&o->spec, o->at.builtin, err);
    if (s == LEAT_OK)
        identify(o, NULL);
    return s;
}

static enum leat_status open_file(struct opened_spec *o, const char *pattern, struct leat_error *err)
{
    struct load_source source = {
        .path = o->at.path, .bytes = o->at.plain, .size = o->at.plain_size, .pattern = pattern
    };
    struct jsontree config = { 0 };
    enum leat_status s = LEAT_OK;

    if (o->at.config)
        s = jsontree_parse(&config, o->at.config, o->at.config_size, o->at.config_path, err);
    if (s != LEAT_OK)
        return s;
    source.config = config.nodes ? &config : NULL;
    s = load_spec(&o->spec, &o->format, &source, err);
    if (s == LEAT_OK)
        identify(o, source.config);
    jsontree_free(&config);
    return s;
}

enum leat_status spec_open(struct opened_spec *out, const char *name, const char *pattern, struct leat_error *err)
{
    enum leat_status s;

    *out = (struct opened_spec) { 0 };
    s = locate(&out->at, name, err);
    if (s == LEAT_OK)
        s = out->at.builtin ? open_builtin(out, pattern, err) : open_file(out, pattern, err);
    if (s != LEAT_OK)
        spec_close(out);
    return s;
}

enum leat_status spec_open_stored(struct opened_spec *out, const uint8_t *bytes, uint64_t size, const char *path,
                                  const char *pattern, struct leat_error *err)
{
    struct load_source source = { .path = path, .bytes = bytes, .size = size, .pattern = pattern };
    uint8_t *plain = NULL;
    enum leat_status s = LEAT_OK;

    *out = (struct opened_spec) { 0 };
    if (whole_file_is_zstd(bytes, size)) {
        s = whole_file_unzstd(&plain, &source.size, bytes, size, path, err);
        source.bytes = plain;
    }
    if (s == LEAT_OK)
        s = load_spec(&out->spec, &out->format, &source, err);
    if (s == LEAT_OK)
        identify(out, NULL);
    free(plain);
    if (s != LEAT_OK)
        spec_close(out);
    return s;
}

void spec_close(struct opened_spec *o)
{
    spec_free(o->spec);
    located_free(&o->at);
    *o = (struct opened_spec) { 0 };
}
