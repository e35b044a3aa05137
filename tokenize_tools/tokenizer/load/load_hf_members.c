/* load_hf_members.c: members of a tokenizer.json by their types. Its functions know the place in the file for
 * sentences, and report a missing member or a wrong type in one wording. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/show.h"
#include "base/utf8.h"
#include "load_hf.h"

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

STATUS_PRINTF(4, 0)
static enum leat_status report(struct load_hf *h, enum leat_status status, uint32_t node, const char *format,
                               va_list args)
{
    uint64_t at = jsontree_at(h->j, node);
    char sentence[512];

    vsnprintf(sentence, sizeof sentence, format, args);
    return status_set_at(h->err, status, h->j->path, at, "%s: %s: %s (byte %" PRIu64 ")", h->j->path, h->place,
                         sentence, at);
}

enum leat_status load_hf_wrong(struct load_hf *h, uint32_t node, const char *format, ...)
{
    enum leat_status s;
    va_list args;

    va_start(args, format);
    s = report(h, LEAT_E_VOCABULARY, node, format, args);
    va_end(args);
    return s;
}

enum leat_status load_hf_refuse(struct load_hf *h, uint32_t node, const char *format, ...)
{
    enum leat_status s;
    va_list args;

    va_start(args, format);
    s = report(h, LEAT_E_UNSUPPORTED, node, format, args);
    va_end(args);
    return s;
}

const char *load_hf_show(const struct jsontree *j, uint32_t node, char room[80])
{
    struct jsontree_text t;
    uint32_t length;

    if (node == JSONTREE_NONE || j->nodes[node].kind != JSONTREE_STRING) {
        snprintf(room, 80, "%s", jsontree_kind_name(j, node));
        return room;
    }
    t = jsontree_string(j, node);
    length = t.length < 76 ? t.length : 76;
    while (length < t.length && length > 0 && (t.bytes[length] & 0xc0) == 0x80) /* the text must not be cut inside a
                                                                                   character */
        length--;
    show_text(room, 77, (const char *)t.bytes, length); /* the text may have a zero byte */
    if (length < t.length)
        memcpy(room + strlen(room), "...", 4);
    return room;
}

/* ---- Typed members ----------------------------------------------------------------------------------------------- */

uint32_t load_hf_member(const struct load_hf *h, uint32_t component, const char *name)
{
    size_t length = strlen(name);
    const char *f = h->fields;
    uint32_t k = component + 1;

    if (h->j->nodes[component].kind != JSONTREE_ARRAY)
        return jsontree_member(h->j, component, name);
    while (f && !(strncmp(f, name, length) == 0 && (f[length] == ' ' || f[length] == '\0'))) {
        f = strchr(f, ' ');
        f = f ? f + 1 : NULL;
        k = jsontree_next(h->j, k);
    }
    return f ? k : JSONTREE_NONE;
}

bool load_hf_twice(const struct jsontree *j, uint32_t object, const char *name)
{
    unsigned count = 0;

    for (uint32_t k = object + 1; k < jsontree_next(j, object); k = jsontree_next(j, k + 1))
        count += jsontree_is(j, k, name);
    return count > 1;
}

bool load_hf_names(const struct jsontree *j, uint32_t node, const char *name)
{
    const struct jsontree_node *n = &j->nodes[node];

    return jsontree_is(j, node, name) || (n->kind == JSONTREE_OBJECT && n->length == 1 &&
                                          jsontree_is(j, node + 1, name) && n[2].kind == JSONTREE_NULL);
}

/* Finds a member. *value is JSONTREE_NONE if it is missing, or null, and `need` allows that. */
static enum leat_status member(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                               uint32_t *node)
{
    *node = load_hf_member(h, object, name);
    if (*node == JSONTREE_NONE)
        return need == LOAD_HF_REQUIRED ? load_hf_wrong(h, object, "it lacks \"%s\"", name) : LEAT_OK;
    if (need == LOAD_HF_OPTION && h->j->nodes[*node].kind == JSONTREE_NULL)
        *node = JSONTREE_NONE;
    return LEAT_OK;
}

enum leat_status load_hf_bool(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need, bool *value)
{
    uint32_t node;
    enum leat_status s = member(h, object, name, need, &node);

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    if (h->j->nodes[node].kind != JSONTREE_TRUE && h->j->nodes[node].kind != JSONTREE_FALSE)
        return load_hf_wrong(h, node, "\"%s\" must be true or false, not %s", name, jsontree_kind_name(h->j, node));
    *value = h->j->nodes[node].kind == JSONTREE_TRUE;
    return LEAT_OK;
}

enum leat_status load_hf_string(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                uint32_t *node)
{
    enum leat_status s = member(h, object, name, need, node);

    if (s != LEAT_OK || *node == JSONTREE_NONE)
        return s;
    if (h->j->nodes[*node].kind != JSONTREE_STRING)
        return load_hf_wrong(h, *node, "\"%s\" must be a string, not %s", name, jsontree_kind_name(h->j, *node));
    return LEAT_OK;
}

enum leat_status load_hf_text(struct load_hf *h, uint32_t object, const char *name, bool one_character,
                              struct spec_string *out)
{
    uint32_t node;
    enum leat_status s = load_hf_string(h, object, name, LOAD_HF_REQUIRED, &node);
    struct jsontree_text t;

    if (s != LEAT_OK)
        return s;
    t = jsontree_string(h->j, node);
    if (one_character && utf8_characters(t.bytes, t.length) != 1)
        return load_hf_wrong(h, node, "\"%s\" must be exactly one character", name);
    return spec_copy(h->spec, out, t.bytes, t.length) ? LEAT_OK : status_no_memory(h->err, t.length);
}

enum leat_status load_hf_number(struct load_hf *h, uint32_t object, const char *name, uint32_t *value)
{
    uint32_t node;
    uint64_t number;
    enum leat_status s = member(h, object, name, LOAD_HF_REQUIRED, &node);

    if (s != LEAT_OK)
        return s;
    if (!jsontree_u64(h->j, node, &number))
        return load_hf_wrong(h, node, "\"%s\" must be a whole number, not negative", name);
    *value = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    return LEAT_OK;
}

enum leat_status load_hf_choice(struct load_hf *h, uint32_t object, const char *name, enum load_hf_need need,
                                const char *const *names, unsigned *choice)
{
    uint32_t node;
    enum leat_status s = member(h, object, name, need, &node);
    char all[160] = "";
    size_t used = 0;

    if (s != LEAT_OK || node == JSONTREE_NONE)
        return s;
    for (unsigned i = 0; names[i]; i++) {
        if (load_hf_names(h->j, node, names[i])) {
            *choice = i;
            return LEAT_OK;
        }
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", names[i],
                                 !names[i + 1]   ? ""
                                 : !names[i + 2] ? " or "
                                                 : ", ");
    }
    return load_hf_wrong(h, node, "\"%s\" must be %s", name, all);
}
