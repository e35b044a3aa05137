/*
 * chat_value.h: the values of a chat template: Jinja's, as far as templates of conversations need them. A string is a
 * list of code points, each with marks in its upper bits that say where it came from: marks stay with a character
 * through every operation, so that the rendered text knows which of its characters are whose.
 *
 * The room chat/ renders conversations by chat templates (Jinja) as transformers does, and says which characters of the
 * result an assistant has written. A template with a construct that it does not render exactly is refused. Tokenizers
 * are not known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_VALUE_H
#define LEAT_TOKENIZE_TOOLS_CHAT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define CHAT_CODE       0x1fffffu
#define CHAT_DATA       (1u << 24) /* it stood in the conversation, not in the template */
#define CHAT_ANSWER     (1u << 25) /* in the content of a message of the assistant */
#define CHAT_GENERATION (1u << 26) /* the template wrote it inside of {% generation %} */
#define CHAT_LEARNED    (CHAT_ANSWER | CHAT_GENERATION)
#define CHAT_MARKS      (CHAT_DATA | CHAT_LEARNED)

/* Of a list: what it is in Python, if not a list; and of a string: that | safe gave it, which + respects. */
#define CHAT_TUPLE 1u
#define CHAT_RANGE 2u
#define CHAT_VIEW  3u /* what items(), keys() and values() of a dict give */
#define CHAT_SAFE  1u

/* Memory that is freed together. */
struct chat_block;
struct chat_arena {
    struct chat_block *blocks;
    size_t bytes, max_bytes; /* allocated, and their limit */
    bool full;               /* it was reached */
};

/* NULL with LEAT_E_TEXT beyond the limit, or LEAT_E_NO_MEMORY. The memory is zero. */
void *chat_arena_get(struct chat_arena *a, size_t bytes, struct leat_error *err);
void chat_arena_free(struct chat_arena *a);

enum chat_kind {
    CHAT_UNDEFINED,
    CHAT_NONE,
    CHAT_BOOL,
    CHAT_INT,
    CHAT_BIG, /* an integer of the conversation beyond int64_t, as its digits: never computed with */
    CHAT_FLOAT,
    CHAT_STRING,
    CHAT_LIST,
    CHAT_DICT,
    CHAT_ITERATOR,  /* what map, select and their kin give: it can be gone through once */
    CHAT_NAMESPACE, /* a dict whose members can be set */
    CHAT_LOOP,      /* the same, but they cannot */
    CHAT_MACRO,
    CHAT_METHOD,   /* of `self` */
    CHAT_FUNCTION, /* range, raise_exception, ... */
    CHAT_ABSENT    /* an argument that is not given; no value of a template */
};

struct chat_node;
struct chat_pair;
struct chat_scope;
struct chat_row;
struct chat_branch;
struct chat_list {
    struct chat_value *items;
    size_t count;
};
struct chat_dict {
    struct chat_pair *pairs; /* in the order in which they came */
    size_t count, room;
    struct chat_branch *branches; /* see chat_dict.c; NULL: there are few */
};
struct chat_string {
    const uint32_t *codes;
    size_t count;
};

struct chat_value {
    enum chat_kind kind;
    uint32_t flags; /* of numbers, booleans and none, the marks that their characters get; or see above */
    union {
        bool truth;
        int64_t number;
        double real;
        struct chat_string string;
        struct chat_list list;
        struct chat_list *rest; /* of an iterator */
        struct chat_dict *dict; /* and namespaces */
        struct {
            const struct chat_node *node;
            struct chat_scope *scope; /* that it was defined in */
        } macro;
        struct {
            const struct chat_value *self;
            const struct chat_row *row;
        } method;
        const struct chat_row *function;
    };
};

struct chat_pair {
    struct chat_string key;
    struct chat_value value;
};

/* "a string", "none", ... for a sentence. */
const char *chat_kind_name(enum chat_kind kind);

bool chat_truth(const struct chat_value *v);

/* Python's ==: 1 or 0; -1 if comparing takes too long, values are nested too deeply, or it is not supported. *steps:
 * how many values were compared. */
int chat_equal(const struct chat_value *a, const struct chat_value *b, unsigned *steps);
bool chat_string_equal(struct chat_string a, struct chat_string b);
bool chat_string_is(struct chat_string s, const char *ascii);

/* Looks for a part in strings, in time that grows with the string alone. */
struct chat_search {
    struct chat_string part;
    uint32_t *border; /* of each beginning of the part: the longest end of it that is a beginning, too */
};
enum leat_status chat_search_make(struct chat_arena *a, struct chat_string part, struct chat_search *out,
                                  struct leat_error *err);

/* The first place from `from` on, or SIZE_MAX. */
size_t chat_search_find(const struct chat_search *search, struct chat_string s, size_t from);

/* Some of its characters; begin <= end <= s.count. */
static inline struct chat_string chat_string_part(struct chat_string s, size_t begin, size_t end)
{
    return (struct chat_string) { s.codes ? s.codes + begin : NULL, end - begin };
}

/* Python's str.isspace(), of one character. */
bool chat_is_space(uint32_t code);

/* ---- chat_dict.c ---- */

/* The value of a key, or NULL. */
struct chat_value *chat_dict_find(const struct chat_dict *d, struct chat_string key);
enum leat_status chat_dict_set(struct chat_arena *a, struct chat_dict *d, struct chat_string key,
                               const struct chat_value *value, struct leat_error *err);

/* ---- chat_value.c ---- */

/* Passes one character of valid UTF-8. */
uint32_t chat_take_code(const unsigned char **at);

/* UTF-8 as a string with these marks. The bytes must be valid. */
enum leat_status chat_string_make(struct chat_arena *a, const char *bytes, size_t count, uint32_t marks,
                                  struct chat_string *out, struct leat_error *err);

/* The same of ASCII text with a NUL, without marks. */
enum leat_status chat_string_ascii(struct chat_arena *a, const char *ascii, struct chat_string *out,
                                   struct leat_error *err);

/* A growing string. */
struct chat_text {
    uint32_t *codes;
    size_t count, room;
};
enum leat_status chat_text_add(struct chat_arena *a, struct chat_text *t, struct chat_string s, struct leat_error *err);

static inline struct chat_value chat_bool(bool truth)
{
    return (struct chat_value) { .kind = CHAT_BOOL, .truth = truth };
}

static inline struct chat_value chat_int(int64_t number)
{
    return (struct chat_value) { .kind = CHAT_INT, .number = number };
}

static inline struct chat_value chat_real(double real)
{
    return (struct chat_value) { .kind = CHAT_FLOAT, .real = real };
}

static inline struct chat_value chat_str(struct chat_string s)
{
    return (struct chat_value) { .kind = CHAT_STRING, .string = s };
}

#endif
