/* show_words.c: what ids mean; see show.h. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "show.h"

static enum leat_status open_stored(struct show_words *w, const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_stored_tokenizer *t;
    enum leat_status s = leat_dataset_tokenizer(d, &t, err);

    if (s == LEAT_E_NOT_FOUND)
        return LEAT_OK;
    if (s == LEAT_OK) {
        s = leat_tokenizer_open_stored(&w->tokenizer, t, err);
        leat_stored_tokenizer_free(t);
    }
    return s;
}

enum leat_status show_words_open(struct show_words *w, const struct leat_dataset *d, const char *spec,
                                 const char *pattern, struct leat_error *err)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;

    options.pattern = pattern;
    leat_dataset_info(d, &info);
    *w = (struct show_words) { .end = info.end_token, .begin = info.begin_token };
    return spec ? leat_tokenizer_open(&w->tokenizer, spec, &options, err) : open_stored(w, d, err);
}

void show_words_close(struct show_words *w)
{
    leat_tokenizer_close(w->tokenizer);
    w->tokenizer = NULL;
}

void show_token_find(const struct show_words *w, int64_t id, struct show_token *t)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    const char *role = (uint64_t)id == w->end ? "end " : (uint64_t)id == w->begin ? "begin " : "";

    if (w->tokenizer && leat_tokenizer_token(w->tokenizer, (uint32_t)id, &token, NULL) == LEAT_OK) {
        *t = (struct show_token) {
            .text = token.text, .bytes = token.bytes, .special = token.special, .bytewise = token.bytewise
        };
        return;
    }
    /* an id that has no text: its number is its name */
    *t = (struct show_token) { .special = true };
    t->bytes = (uint64_t)snprintf(t->name, sizeof t->name, "%s%lld", role, (long long)id);
    t->text = t->name;
}
