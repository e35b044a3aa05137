/*
 * hub_card.c: libyaml reads the block twice: first its events alone, since composing takes time in
 * proportion to the square of depth and anchors, which are limited here; then it composes. (Directives, which take such
 * time before the first event, are refused.) Aliases may name a thing
 * again and again without taking room in the file, so what is kept of them is counted: HUB_CARD_KEPT.
 *
 * As datasets has it, `configs` is a list of mappings, each with config_name and, if files do not say by their names
 * which split they belong to, data_files:
 *
 *   a path, or a list of paths: all of the split train
 *   a list of mappings with split and path, the latter a path or a list of paths
 */
#include "hub_card.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#ifdef LEAT_HAVE_YAML
#include <yaml.h>
#endif

#define HUB_CARD_KEPT    ((size_t)16 << 20) /* limit of names and paths, each counted with some bytes more */
#define HUB_CARD_SPLITS  1000u              /* most splits of a configuration */
#define HUB_CARD_DEPTH   200u               /* the deepest nesting of lists and mappings */
#define HUB_CARD_ANCHORS 10000u             /* and aliases */

/* ---- The block ---- */

struct block {
    const char *at, *end;
    size_t lines; /* number of lines before it in the file */
    bool open;    /* true if the block may go on after the bytes that were read */
};

/* Returns the length of the end of a line at `at`, or 0 if there is none. */
static size_t line_end(const char *at, const char *end)
{
    if (at < end && *at == '\r')
        return at + 1 < end && at[1] == '\n' ? 2 : 1;
    return at < end && *at == '\n';
}

static bool is_fence(const char *at, const char *end)
{
    return end - at >= 3 && memcmp(at, "---", 3) == 0;
}

/* Finds the block from the line after --- to the next line ---. */
static bool find_block(struct block *b, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes;

    *b = (struct block) { 0 };
    while (at < end && strchr(" \t\r\n\v\f", *at) && *at)
        b->lines += *at++ == '\n';
    if (!is_fence(at, end) || line_end(at + 3, end) == 0)
        return false;
    b->at = at + 3 + line_end(at + 3, end);
    b->lines++;
    for (at = b->at; at < end; at++) {
        const char *after = at + line_end(at, end);

        if (after == at || !is_fence(after, end))
            continue;
        for (after += 3; after < end && (*after == ' ' || *after == '\t'); after++)
            ;
        b->end = at;
        if (after == end || *after == '\n' || line_end(after, end) == 2)
            return true;
    }
    b->end = end;
    b->open = bytes == HUB_CARD_BYTES;
    return b->open;
}

/* Returns the first line that begins at or after `at`, or the block's end. */
static const char *next_line(const struct block *b, const char *at)
{
    while (at > b->at && at < b->end && at[-1] != '\n' && at[-1] != '\r')
        at++;
    return at;
}

/* Skips characters that stand between words of YAML, and quotes and braces around them. */
static const char *skip_marks(const struct block *b, const char *at)
{
    while (at < b->end && *at && strchr(" \t\"'{", *at))
        at++;
    return at;
}

/* Returns true if a line of the block begins with configs and a colon. Other blocks need not be readable. */
static bool has_configs(const struct block *b)
{
    for (const char *line = b->at; line < b->end; line = next_line(b, line + 1)) {
        const char *at = skip_marks(b, line);

        if (b->end - at < 8 || memcmp(at, "configs", 7) != 0)
            continue;
        at = skip_marks(b, at + 7);
        if (at < b->end && *at == ':')
            return true;
    }
    return false;
}

static void free_config(struct hub_card_config *c)
{
    for (size_t i = 0; i < c->count; i++) {
        for (size_t k = 0; k < c->splits[i].count; k++)
            free(c->splits[i].patterns[k]);
        free(c->splits[i].patterns);
        free(c->splits[i].name);
    }
    free(c->splits);
    free(c->data_dir);
    free(c->name);
}

void hub_card_free(struct hub_card *card)
{
    for (size_t i = 0; i < card->count; i++)
        free_config(&card->configs[i]);
    free(card->configs);
    *card = (struct hub_card) { 0 };
}

#ifdef LEAT_HAVE_YAML

/* ---- Its nodes ---- */

struct reading {
    yaml_document_t document;
    const char *name;
    size_t kept;
    struct leat_error *err;
};

static enum leat_status refuse(struct reading *r, const char *why, const char *config)
{
    return status_field(
        r->err,
        status_set_hint(r->err, LEAT_E_ARGUMENT, LEAT_HINT_SPLIT_ALL, r->name,
                        "%.400s lists configurations that cannot be used: %s%s%.100s%s; mend it, name a narrower "
                        "folder, or take all files",
                        r->name, why, config ? " (configuration " : "", config ? config : "", config ? ")" : ""),
        "split_of");
}

static yaml_node_t *node(struct reading *r, int number)
{
    return yaml_document_get_node(&r->document, number);
}

static bool is_text(const yaml_node_t *n)
{
    return n && n->type == YAML_SCALAR_NODE;
}

/* Returns the items of a list. */
static size_t items(const yaml_node_t *n, const yaml_node_item_t **first)
{
    *first = n->data.sequence.items.start;
    return (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
}

/* Returns the member of a mapping, or NULL if it is missing, or null. The last of several counts. */
static yaml_node_t *member(struct reading *r, const yaml_node_t *mapping, const char *name)
{
    yaml_node_t *found = NULL;

    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = node(r, p->key);

        if (is_text(key) && strcmp((const char *)key->data.scalar.value, name) == 0)
            found = node(r, p->value);
    }
    if (is_text(found) && found->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        static const char *const nothing[] = { "", "~", "null", "Null", "NULL" };

        for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
            if (strcmp((const char *)found->data.scalar.value, nothing[i]) == 0)
                return NULL;
    }
    return found;
}

static enum leat_status keep_text(struct reading *r, const char *text, char **out)
{
    r->kept += strlen(text) + 64;
    if (r->kept > HUB_CARD_KEPT)
        return refuse(r, "they have too many names and paths", NULL);
    *out = strdup(text);
    return *out ? LEAT_OK : status_no_memory(r->err, strlen(text));
}

static enum leat_status keep_node(struct reading *r, const yaml_node_t *n, char **out)
{
    return keep_text(r, (const char *)n->data.scalar.value, out);
}

/* Makes room for `count` items, which an empty list needs, too. */
static enum leat_status have_room(struct reading *r, void **out, size_t count, size_t size)
{
    *out = calloc(count > 0 ? count : 1, size);
    return *out ? LEAT_OK : status_no_memory(r->err, count * size);
}

/* Reads a path, or a list of paths. */
static enum leat_status read_paths(struct reading *r, struct hub_card_split *split, const yaml_node_t *n,
                                   const char *config)
{
    const yaml_node_item_t *first = NULL;
    enum leat_status s;
    size_t count = 1;
    void *room;

    if (!n || (!is_text(n) && n->type != YAML_SEQUENCE_NODE))
        return refuse(r, "a path is neither text nor a list", config);
    if (!is_text(n))
        count = items(n, &first);
    if (count * sizeof *split->patterns > HUB_CARD_KEPT - r->kept)
        return refuse(r, "they have too many names and paths", NULL);
    s = have_room(r, &room, count, sizeof *split->patterns);
    if (s != LEAT_OK)
        return s;
    split->patterns = room;
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        const yaml_node_t *path = is_text(n) ? n : node(r, first[i]);

        if (!is_text(path))
            s = refuse(r, "a path is not text", config);
        else
            s = keep_node(r, path, &split->patterns[i]);
        split->count += s == LEAT_OK;
    }
    return s;
}

/* Reads a mapping with split and path. */
static enum leat_status read_split(struct reading *r, struct hub_card_config *c, const yaml_node_t *n)
{
    struct hub_card_split *split = &c->splits[c->count];
    const yaml_node_t *name = n && n->type == YAML_MAPPING_NODE ? member(r, n, "split") : NULL;
    enum leat_status s;

    if (!is_text(name))
        return refuse(r, "an entry of data_files has no split", c->name);
    s = keep_node(r, name, &split->name);
    if (s != LEAT_OK)
        return s;
    c->count++;
    for (const struct hub_card_split *other = c->splits; other < split; other++)
        if (strcmp(other->name, split->name) == 0)
            return refuse(r, "a split is named twice", c->name);
    return read_paths(r, split, member(r, n, "path"), c->name);
}

static enum leat_status read_files(struct reading *r, struct hub_card_config *c, const yaml_node_t *n)
{
    const yaml_node_item_t *first = NULL;
    size_t count = n->type == YAML_SEQUENCE_NODE ? items(n, &first) : 0;
    bool named = count > 0 && node(r, first[0]) && node(r, first[0])->type == YAML_MAPPING_NODE;
    enum leat_status s;
    void *room;

    if (named && count > HUB_CARD_SPLITS)
        return refuse(r, "there are more than 1,000 splits", c->name);
    s = have_room(r, &room, named ? count : 1, sizeof *c->splits);
    if (s != LEAT_OK)
        return s;
    c->splits = room;
    for (size_t i = 0; named && s == LEAT_OK && i < count; i++)
        s = read_split(r, c, node(r, first[i]));
    if (named)
        return s;
    s = keep_text(r, "train", &c->splits[0].name);
    if (s != LEAT_OK)
        return s;
    c->count = 1;
    return read_paths(r, &c->splits[0], n, c->name);
}

static enum leat_status read_config(struct reading *r, struct hub_card *card, const yaml_node_t *n)
{
    struct hub_card_config *c = &card->configs[card->count];
    const yaml_node_t *name, *files, *dir;
    enum leat_status s;

    if (!n || n->type != YAML_MAPPING_NODE)
        return refuse(r, "one of them is not a mapping", NULL);
    name = member(r, n, "config_name");
    files = member(r, n, "data_files");
    dir = member(r, n, "data_dir");
    if (!is_text(name))
        return refuse(r, "one of them has no config_name", NULL);
    s = keep_node(r, name, &c->name);
    if (s != LEAT_OK)
        return s;
    card->count++;
    if (dir && !is_text(dir))
        return refuse(r, "data_dir is not text", c->name);
    if (dir)
        s = keep_node(r, dir, &c->data_dir);
    c->by_names = !files;
    return s == LEAT_OK && files ? read_files(r, c, files) : s;
}

static enum leat_status read_configs(struct reading *r, struct hub_card *card)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    const yaml_node_t *list = root && root->type == YAML_MAPPING_NODE ? member(r, root, "configs") : NULL;
    const yaml_node_item_t *first;
    enum leat_status s;
    size_t count;
    void *room;

    if (!list)
        return LEAT_OK;
    if (list->type != YAML_SEQUENCE_NODE)
        return refuse(r, "configs is not a list", NULL);
    count = items(list, &first);
    s = have_room(r, &room, count, sizeof *card->configs);
    if (s != LEAT_OK)
        return s;
    card->configs = room;
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = read_config(r, card, node(r, first[i]));
    return s;
}

/* ---- The parser ---- */

static enum leat_status open_parser(yaml_parser_t *parser, const struct block *b, struct leat_error *err)
{
    if (!yaml_parser_initialize(parser))
        return status_no_memory(err, sizeof *parser);
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)b->at, (size_t)(b->end - b->at));
    return LEAT_OK;
}

static enum leat_status refuse_yaml(const yaml_parser_t *parser, const struct block *b, struct reading *r)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return status_no_memory(r->err, (size_t)(b->end - b->at));
    return status_field(
        r->err,
        status_set_hint(r->err, LEAT_E_ARGUMENT, LEAT_HINT_SPLIT_ALL, r->name,
                        "%.400s lists configurations, but its YAML cannot be read: line %zu: %.200s; mend it, name "
                        "a narrower folder, or take all files",
                        r->name, b->lines + parser->problem_mark.line + 1,
                        parser->problem ? parser->problem : "it is not UTF-8"),
        "split_of");
}

static bool has_anchor(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor != NULL;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor != NULL;
    default:
        return false;
    }
}

/* Reads the events up to the end, and refuses a block that would take too long to compose. */
static enum leat_status check_events(yaml_parser_t *parser, const struct block *b, struct reading *r)
{
    unsigned depth = 0, anchors = 0;

    for (bool ended = false; !ended;) {
        yaml_event_t e;

        if (!yaml_parser_parse(parser, &e))
            return refuse_yaml(parser, b, r);
        ended = e.type == YAML_STREAM_END_EVENT;
        depth += e.type == YAML_SEQUENCE_START_EVENT || e.type == YAML_MAPPING_START_EVENT;
        depth -= e.type == YAML_SEQUENCE_END_EVENT || e.type == YAML_MAPPING_END_EVENT;
        anchors += has_anchor(&e);
        yaml_event_delete(&e);
        if (depth > HUB_CARD_DEPTH || anchors > HUB_CARD_ANCHORS)
            return refuse(r, depth > HUB_CARD_DEPTH ? "its YAML is nested too deep" : "its YAML has too many anchors",
                          NULL);
    }
    return LEAT_OK;
}

static enum leat_status compose(yaml_parser_t *parser, const struct block *b, struct reading *r, struct hub_card *card)
{
    enum leat_status s;

    if (!yaml_parser_load(parser, &r->document))
        return refuse_yaml(parser, b, r);
    s = read_configs(r, card);
    yaml_document_delete(&r->document);
    return s;
}

static enum leat_status read_block(struct hub_card *card, const char *name, const struct block *b,
                                   struct leat_error *err)
{
    struct reading r = { .name = name, .err = err };
    yaml_parser_t parser;
    enum leat_status s;

    if (b->open)
        return refuse(&r, "its YAML is longer than 4 MiB", NULL);
    for (const char *line = b->at; line < b->end; line = next_line(b, line + 1))
        if (*line == '%')
            return refuse(&r, "its YAML has directives", NULL);
    s = open_parser(&parser, b, err);
    if (s != LEAT_OK)
        return s;
    s = check_events(&parser, b, &r);
    yaml_parser_delete(&parser);
    if (s == LEAT_OK)
        s = open_parser(&parser, b, err);
    if (s != LEAT_OK)
        return s;
    s = compose(&parser, b, &r, card);
    yaml_parser_delete(&parser);
    return s;
}

#else

static enum leat_status read_block(struct hub_card *card, const char *name, const struct block *b,
                                   struct leat_error *err)
{
    (void)card, (void)b;
    return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_SPLIT_ALL, name,
                           "%.400s lists configurations, which this build cannot read: it has no libyaml "
                           "(libyaml-dev); name a narrower folder, or take all files",
                           name);
}

#endif

enum leat_status hub_card_read(struct hub_card *card, const char *name, const char *text, size_t bytes,
                               struct leat_error *err)
{
    enum leat_status s;
    struct block b;

    *card = (struct hub_card) { 0 };
    if (!find_block(&b, text, bytes) || !has_configs(&b))
        return LEAT_OK;
    s = read_block(card, name, &b, err);
    if (s != LEAT_OK)
        hub_card_free(card);
    return s;
}
