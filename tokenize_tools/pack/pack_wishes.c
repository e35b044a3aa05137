/* pack_wishes.c: see pack_wishes.h. */
#include "pack_wishes.h"

#include <string.h>

#include "pack.h"

static enum leat_status add(struct field_wishes *w, const char *path, enum leat_hint hint, const char *holds,
                            struct leat_error *err)
{
    struct field_wish *wish = &w->of[w->count++];

    *wish = (struct field_wish) { .hint = hint, .holds = holds };
    return json_fields_prepare(&wish->fields, path, NULL, err);
}

enum leat_status pack_wishes_make(struct field_wishes *w, const struct leat_pack_options *options,
                                  struct leat_error *err)
{
    struct leat_pack_options o = *options;
    enum leat_status s = LEAT_OK;

    memset(w, 0, sizeof *w);
    pack_options_default(&o);
    if (o.chat)
        s = add(w, o.messages, LEAT_HINT_MESSAGES, "the conversation", err);
    else
        s = add(w, o.text, LEAT_HINT_TEXT, "the text", err);
    w->of[0].single = !o.chat;
    w->of[0].needed = true;
    if (s == LEAT_OK && o.mask_field)
        s = add(w, o.mask_field, LEAT_HINT_MASK_FIELD, "what is learned", err);
    if (s == LEAT_OK && o.by && *o.by)
        s = add(w, o.by, LEAT_HINT_BY, "the value that chooses a dataset", err);
    if (s == LEAT_OK && *o.id && strcmp(o.id, "id") != 0)
        s = add(w, o.id, LEAT_HINT_ID, "the id", err);
    return s == LEAT_OK && o.keep_count > 0 ? json_keep_prepare(&w->keep, o.keep, (size_t)o.keep_count, err) : s;
}

void pack_wishes_free(struct field_wishes *w)
{
    json_keep_free(w->keep);
    w->keep = NULL;
}

enum leat_status pack_wishes_check(struct input_list *inputs, const struct leat_pack_options *o, struct leat_error *err)
{
    struct field_wishes wishes;
    enum leat_status s = pack_wishes_make(&wishes, o, err);

    if (s == LEAT_OK)
        s = inputs_check_heads(inputs, &wishes, o->allow_binary != 0, true, err);
    pack_wishes_free(&wishes);
    return s;
}
