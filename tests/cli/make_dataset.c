/*
 * make_dataset.c: writes a small dataset from words: make_dataset NAME WORD...
 *
 *   vocabulary=N end=ID begin=ID created=N     as of the writer's options; the vocabulary is 1000 if not given
 *   tokenizer=NAME pattern=NAME file=TEXT      the stored tokenizer; none without a name
 *   lines ids hashes mask                      these are stored
 *   metadata=KEY=VALUE
 *   input=PATH                                 the next input; documents after it come from it
 *   rejects=N bytes=N                          of the last input
 *   offset=N line=N id=TEXT hash=N             of the next document; N, below 256, is the hash
 *   document=ID,ID,...                         may be empty
 *   many=N                                     that many documents of one token each, 7
 *
 * Words of the options and of the tokenizer come first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leat.h"

struct maker {
    const char *name;
    struct leat_writer_options options;
    struct leat_stored_tokenizer tokenizer;
    struct leat_writer *writer; /* NULL as long as options come */
    struct leat_origin origin;
    uint8_t hash[16];
    struct leat_input input;
    struct leat_error err;
};

/* The value of a word that begins with `key` and '='; else NULL. */
static const char *value_of(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static void check(const struct maker *m, enum leat_status s)
{
    if (s != LEAT_OK) {
        fprintf(stderr, "make_dataset: %s: %s\n", m->name, m->err.message);
        exit(1);
    }
}

static int take_option(struct maker *m, const char *word)
{
    const char *v;

    if ((v = value_of(word, "vocabulary")))
        m->options.vocabulary = strtoull(v, NULL, 10);
    else if ((v = value_of(word, "end")))
        m->options.end_token = strtoull(v, NULL, 10);
    else if ((v = value_of(word, "begin")))
        m->options.begin_token = strtoull(v, NULL, 10);
    else if ((v = value_of(word, "created")))
        m->options.created = strtoull(v, NULL, 10);
    else if ((v = value_of(word, "tokenizer")))
        m->tokenizer.name = v;
    else if ((v = value_of(word, "pattern")))
        m->tokenizer.pattern = v;
    else if ((v = value_of(word, "file"))) {
        m->tokenizer.file = v;
        m->tokenizer.file_bytes = strlen(v);
    } else if (strcmp(word, "lines") == 0)
        m->options.store_lines = 1;
    else if (strcmp(word, "ids") == 0)
        m->options.store_ids = 1;
    else if (strcmp(word, "hashes") == 0)
        m->options.store_hashes = 1;
    else if (strcmp(word, "mask") == 0)
        m->options.store_mask = 1;
    else
        return 0;
    return 1;
}

static void open_writer(struct maker *m)
{
    if (m->writer)
        return;
    m->options.tokenizer = m->tokenizer.name ? &m->tokenizer : NULL;
    m->options.force = 1;
    check(m, leat_writer_open(&m->writer, m->name, &m->options, &m->err));
}

/* The origin of the next document is that of this one, without its line and id. */
static void end_document(struct maker *m)
{
    check(m, leat_writer_end_document(
                 m->writer, m->origin.input == LEAT_NONE && !m->origin.id && !m->origin.text_hash ? NULL : &m->origin,
                 &m->err));
    m->origin.line = LEAT_NONE;
    m->origin.text_hash = NULL;
    m->origin.id = NULL;
    m->origin.id_bytes = 0;
}

static void add_document(struct maker *m, const char *ids)
{
    while (*ids) {
        char *end;
        uint32_t id = (uint32_t)strtoul(ids, &end, 10);

        check(m, leat_writer_append(m->writer, &id, 4, NULL, 1, &m->err));
        ids = *end == ',' ? end + 1 : end;
    }
    end_document(m);
}

static int take_content(struct maker *m, const char *word)
{
    const char *v;
    char key[200];

    if ((v = value_of(word, "metadata")) && strchr(v, '=')) {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(v, "="), v);
        check(m, leat_writer_set_metadata(m->writer, key, strchr(v, '=') + 1, &m->err));
    } else if ((v = value_of(word, "input"))) {
        check(m, leat_writer_add_input(m->writer, v, &m->origin.input, &m->err));
        m->origin.offset = 0;
        m->input = (struct leat_input)LEAT_INPUT_INIT;
    } else if ((v = value_of(word, "rejects"))) {
        m->input.rejects = strtoull(v, NULL, 10);
        check(m, leat_writer_set_input(m->writer, m->origin.input, &m->input, &m->err));
    } else if ((v = value_of(word, "bytes"))) {
        m->input.bytes = strtoull(v, NULL, 10);
        check(m, leat_writer_set_input(m->writer, m->origin.input, &m->input, &m->err));
    } else if ((v = value_of(word, "offset")))
        m->origin.offset = strtoull(v, NULL, 10);
    else if ((v = value_of(word, "line")))
        m->origin.line = strtoull(v, NULL, 10);
    else if ((v = value_of(word, "id"))) {
        m->origin.id = v;
        m->origin.id_bytes = strlen(v);
    } else if ((v = value_of(word, "hash"))) {
        memset(m->hash, 0, sizeof m->hash);
        m->hash[0] = (uint8_t)strtoul(v, NULL, 10);
        m->origin.text_hash = m->hash;
    } else if ((v = value_of(word, "document")))
        add_document(m, v);
    else if ((v = value_of(word, "many")))
        for (unsigned long n = strtoul(v, NULL, 10); n > 0; n--)
            add_document(m, "7");
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    struct maker m = { .name = argc > 1 ? argv[1] : "",
                       .options = LEAT_WRITER_OPTIONS_INIT,
                       .tokenizer = { .pattern = "" },
                       .origin = { .input = LEAT_NONE, .line = LEAT_NONE },
                       .input = LEAT_INPUT_INIT };

    m.options.vocabulary = 1000;
    for (int i = 2; i < argc; i++) {
        if (!m.writer && take_option(&m, argv[i]))
            continue;
        open_writer(&m);
        if (!take_content(&m, argv[i])) {
            fprintf(stderr, "make_dataset: what is \"%s\"?\n", argv[i]);
            leat_writer_abandon(m.writer);
            return 2;
        }
    }
    open_writer(&m);
    check(&m, leat_writer_finish(m.writer, NULL, &m.err));
    return 0;
}
