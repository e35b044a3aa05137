/*
 * jsontree.h: a strict and fast reader of JSON (RFC 8259), made for vocabularies of many megabytes. It checks the whole
 * text once and leaves an array of nodes in the order of the text, 8 bytes each; strings without escapes stay where
 * they are. Hostile text is safe: depth is bounded, and nothing recurses.
 *
 * It accepts and refuses the same as serde_json, which the reference uses: valid UTF-8 only, no byte order mark, no
 * unpaired surrogates, no control characters in strings, nothing after the value, depth below 128. If a member is given
 * twice, the last one counts.
 *
 * It reads all JSON but the records of a corpus, which tokenize_tools/corpus/json/ scans at the speed of memory.
 */
#ifndef LEAT_BASE_JSONTREE_H
#define LEAT_BASE_JSONTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

enum jsontree_kind {
    JSONTREE_NULL,
    JSONTREE_FALSE,
    JSONTREE_TRUE,
    JSONTREE_NUMBER,
    JSONTREE_STRING,
    JSONTREE_ARRAY,
    JSONTREE_OBJECT /* its members follow as key, value, key, value, ... */
};

struct jsontree_node {
    uint32_t at;          /* place where it begins: in the text; for a string with escapes, in `unescaped`; for an
                             array or object, its index in `brackets` */
    uint32_t length : 28; /* length: bytes of a string or number; elements of an array; members of an object */
    uint32_t kind : 3;
    uint32_t escaped : 1;
};

/* The facts about an array or object that do not fit into its node. */
struct jsontree_bracket {
    uint32_t at;   /* place in the text where it begins */
    uint32_t next; /* the node after it and everything in it */
};

struct jsontree {
    const uint8_t *text; /* the text and `path` are the caller's; both must outlive the tree */
    uint64_t size;
    const char *path;
    struct jsontree_node *nodes; /* nodes in the order of the text; [0] is the value itself */
    uint32_t count;
    struct jsontree_bracket *brackets;
    uint32_t bracket_count;
    struct buffer unescaped; /* strings with escapes, each after four bytes that say where it begins in the text */
};

/* A stretch of text: not NUL-terminated, may hold NULs. */
struct jsontree_text {
    const uint8_t *bytes;
    uint32_t length;
};

#define JSONTREE_MAX_BYTES  ((uint64_t)1 << 30)
#define JSONTREE_MAX_LENGTH (((uint32_t)1 << 28) - 1)
#define JSONTREE_NONE       UINT32_MAX

/* The greatest depth of open brackets, as in serde_json: the 128th open bracket is refused. */
#define JSONTREE_MAX_DEPTH 127

/*
 * Parses `size` bytes. On failure `j` holds nothing, and the error names `path`, the byte and what was expected there.
 * Returns LEAT_E_VOCABULARY or LEAT_E_NO_MEMORY.
 */
enum leat_status jsontree_parse(struct jsontree *j, const uint8_t *text, uint64_t size, const char *path,
                                struct leat_error *err);

/* Frees what jsontree_parse() made; a zeroed or freed one is fine. */
void jsontree_free(struct jsontree *j);

static inline struct jsontree_text jsontree_string(const struct jsontree *j, uint32_t node)
{
    const struct jsontree_node *n = &j->nodes[node];

    return (struct jsontree_text) { (n->escaped ? j->unescaped.bytes : j->text) + n->at, n->length };
}

/* Returns the node after this one and everything in it. */
static inline uint32_t jsontree_next(const struct jsontree *j, uint32_t node)
{
    const struct jsontree_node *n = &j->nodes[node];

    return n->kind < JSONTREE_ARRAY ? node + 1 : j->brackets[n->at].next;
}

/* Returns true if a node is a string of exactly these characters. */
bool jsontree_is(const struct jsontree *j, uint32_t node, const char *text);

/* Returns the value of a member of an object (the last of that name); JSONTREE_NONE if it has none, or is no object. */
uint32_t jsontree_member(const struct jsontree *j, uint32_t object, const char *name);

/* Sets *out to a new string of the same text as a member; NULL if the object lacks it, or if it is no string or has a
 * zero byte. */
enum leat_status jsontree_copy(char **out, const struct jsontree *j, uint32_t object, const char *name,
                               struct leat_error *err);

/* Returns where a node begins in the text. */
uint64_t jsontree_at(const struct jsontree *j, uint32_t node);

/* Returns true if a node is a number written as digits only, and below 2^64. As in serde_json, 1.0, 1e3 and -0 are not.
 */
bool jsontree_u64(const struct jsontree *j, uint32_t node, uint64_t *value);

/* Returns the kind of a node for messages: "a string", "null", ... */
const char *jsontree_kind_name(const struct jsontree *j, uint32_t node);

#endif
