/* chat_template.h: a chat template, and conversations rendered by it. */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_TEMPLATE_H
#define LEAT_TOKENIZE_TOOLS_CHAT_TEMPLATE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "leat.h"

struct chat_template;

/* A name that the template may use, such as eos_token, and its string. */
struct chat_global {
    const char *name, *value;
};

/*
 * Takes a template over into *out, to be freed. LEAT_E_UNSUPPORTED names what in it cannot be rendered exactly, and the
 * line; also bos_token and eos_token, where they are not among the globals, unless these are NULL. A template never
 * changes: share it freely.
 */
enum leat_status chat_template_make(struct chat_template **out, const char *text, size_t bytes,
                                    const struct chat_global *globals, size_t count, struct leat_error *err);
void chat_template_free(struct chat_template *t);

/* What a rendering may take. */
struct chat_limits {
    size_t max_bytes;                /* of memory, the text's included */
    uint32_t (*stop)(void *context); /* asked now and then: 1 ends it with LEAT_E_STOPPED. NULL: never */
    void *context;
};

/* Marks of a byte of a rendered text. */
#define CHAT_BYTE_DATA    1u /* it stood in the conversation */
#define CHAT_BYTE_LEARNED 2u /* in {% generation %}; without that in the template, of an assistant's content */

/* A value of JSON, as chat_json.h takes it: other bytes may follow it, `bytes` are all there are. */
struct chat_source {
    const char *at; /* NULL: there is no such value */
    size_t bytes;
    bool alone; /* nothing may follow it */
};

/* What a template gets of a record. */
struct chat_record {
    struct chat_source messages, tools;
    struct chat_source variables; /* of chat_template_apply() */
    char *(*unescape)(char *to, const char *from, const char *end);
};

/*
 * Renders a conversation, an array of objects with role and content; the tools are an array of objects. The
 * text goes to `text`, a byte of marks for each of its bytes to `marks`, in place of what they hold. LEAT_E_TEXT: the
 * template refuses it, or what it does with it is not supported. *too_big: it needs more than limits->max_bytes.
 */
enum leat_status chat_template_render(const struct chat_template *t, const struct chat_record *record,
                                      const struct chat_limits *limits, struct buffer *text, struct buffer *marks,
                                      bool *too_big, struct leat_error *err);

/*
 * Renders for a caller that gives all variables itself: the members of record->variables, an object, messages and
 * add_generation_prompt among them. What they are is not checked, and nothing else is read of the record. The text goes
 * to `text`. To `generated` go two uint32_t for each {% generation %}, in the order in which they end: where
 * transformers takes it to begin and end in the text, in characters. Inside of a macro, a {% set %} block or another
 * generation, that is as if it stood at the beginning of this one.
 */
enum leat_status chat_template_apply(const struct chat_template *t, const struct chat_record *record,
                                     const struct chat_limits *limits, struct buffer *text, struct buffer *generated,
                                     bool *too_big, struct leat_error *err);

/* Whether it says itself what is learned, by {% generation %}. */
bool chat_template_marks(const struct chat_template *t);

#endif
