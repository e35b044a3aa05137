/*
 * cmd_cat.c: `leat cat`: prints documents or a range of tokens, as ids or as text.
 *
 * What was asked for becomes a range of tokens and the documents that it touches. Tokens pass through one block of
 * fixed size. Ids, and the text of a built-in vocabulary, are printed block by block, so a document may have any
 * length; with other vocabularies the text of a token may depend on its neighbours, so a document is decoded whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "base/utf8.h"
#include "cli/units.h"
#include "commands.h"

#define BLOCK_IDS       16384u
#define BLOCK_DOCUMENTS 4096u
#define PLAIN_BYTES     256u /* in the vocabulary "bytes", ids below this are the bytes themselves */

struct range {
    bool given, single; /* single: true for one number, false for A:B */
    uint64_t first, last;
};

struct cat_values {
    struct range documents, tokens;
    bool text, ids;
    const char *tokenizer, *pattern;
};

static bool parse_range(void *field, const char *text, const char **why)
{
    struct range *r = field;

    r->given = true;
    return units_parse_range(text, &r->first, &r->last, &r->single, why);
}

const struct option_row cat_options[] = { { .name = "document",
                                            .type = OPTION_CUSTOM,
                                            .field = offsetof(struct cat_values, documents),
                                            .value = "N[:M]",
                                            .help = "document N, or documents N to M - 1",
                                            .parse = parse_range },
                                          { .name = "tokens",
                                            .type = OPTION_CUSTOM,
                                            .field = offsetof(struct cat_values, tokens),
                                            .value = "A:B",
                                            .help = "tokens A to B - 1 of the dataset",
                                            .excludes = "document",
                                            .parse = parse_range },
                                          { .name = "text",
                                            .type = OPTION_FLAG,
                                            .field = offsetof(struct cat_values, text),
                                            .help = "print text; the default",
                                            .more = "The tokenizer that is stored in the dataset decodes it." },
                                          { .name = "ids",
                                            .type = OPTION_FLAG,
                                            .field = offsetof(struct cat_values, ids),
                                            .help = "print ids with spaces between them, one document per line",
                                            .excludes = "text|tokenizer",
                                            .more = "Tokens A:B are on one line." },
                                          { .name = "tokenizer",
                                            .letter = 't',
                                            .type = OPTION_TEXT,
                                            .field = offsetof(struct cat_values, tokenizer),
                                            .value = "SPEC",
                                            .help = "decode by this tokenizer instead of the stored one",
                                            .more =
                                                "SPEC is as for leat pack. Files of other tools store no tokenizer." },
                                          COMMANDS_PATTERN(struct cat_values),
                                          CACHE_OPTION_ROWS,
                                          OPTIONS_END };

/* The work in progress. */
struct cat {
    const struct leat_dataset *d;
    struct leat_info info;
    uint64_t first_document, documents; /* documents that have a token in the range, or were asked for */
    uint64_t first, last;               /* the range of tokens */
    bool ids;
    bool line_each; /* true if each document ends its line */
    uint8_t last_byte;
    bool printed; /* true once something of this line is printed */
    char open[4]; /* on a terminal, the beginning of a character at the end of the last block */
    size_t open_bytes;
    struct leat_tokenizer *tokenizer;
    struct leat_encoder *decoder;
    bool plain;      /* true if the tokenizer is "bytes" */
    bool by_block;   /* true if the text is that of its tokens one after the other */
    uint32_t *whole; /* ids of the document so far, if `by_block` is false */
    size_t whole_count, whole_room;
    uint64_t read;   /* number of tokens that have been fetched */
    size_t at, held; /* block[at..held) is fetched and not yet printed */
    uint32_t block[BLOCK_IDS];
};

/* ---- Ids and text ----------------------------------------------------------------------------------------------- */

/* Opens the tokenizer that was given. */
static enum leat_status open_given(struct cat *c, const struct cat_values *v, struct leat_error *err)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    enum leat_status s;

    options.pattern = v->pattern;
    s = leat_tokenizer_open(&c->tokenizer, v->tokenizer, &options, err);
    return s == LEAT_OK ? leat_encoder_open(&c->decoder, c->tokenizer, NULL, err) : s;
}

/* Opens the tokenizer that the dataset stores. */
static enum leat_status open_decoder(struct cat *c, const char *name, struct leat_error *err)
{
    struct leat_stored_tokenizer *t;
    struct leat_error why;
    enum leat_status s = leat_dataset_tokenizer(c->d, &t, err);

    if (s == LEAT_E_NOT_FOUND)
        return status_set_in(err, s, name,
                             "%s stores no tokenizer, so its text cannot be shown; use --ids or --tokenizer", name);
    if (s != LEAT_OK)
        return s;
    c->by_block = t->file == NULL;
    c->plain = c->by_block && strcmp(t->name, "bytes") == 0;
    s = leat_tokenizer_open_stored(&c->tokenizer, t, &why);
    if (s == LEAT_OK)
        s = leat_encoder_open(&c->decoder, c->tokenizer, NULL, &why);
    if (s != LEAT_OK)
        status_set(err, s,
                   "the tokenizer %.100s, stored in %.200s, cannot be opened, so its text cannot be shown; use "
                   "--ids: %.600s",
                   t->name, name, why.message);
    leat_stored_tokenizer_free(t);
    return s;
}

/* Prints a part of a text. A terminal gets whole characters (cli_put_text()). */
static void put_part(struct cat *c, const char *text, size_t bytes)
{
    size_t open = 0;

    while (c->open_bytes > 0 && bytes > 0) {
        c->open[c->open_bytes++] = *text++;
        bytes--;
        if (utf8_open_end((const uint8_t *)c->open, c->open_bytes) < c->open_bytes) { /* whole, or malformed */
            cli_put_text(c->open, c->open_bytes);
            c->open_bytes = 0;
        }
    }
    if (cli_stdout_is_terminal())
        open = utf8_open_end((const uint8_t *)text, bytes);
    cli_put_text(text, bytes - open);
    memcpy(c->open + c->open_bytes, text + bytes - open, open);
    c->open_bytes += open;
}

static enum leat_status print_text(struct cat *c, const uint32_t *ids, size_t count, struct leat_error *err)
{
    const char *text;
    uint64_t bytes;
    enum leat_status s = leat_encoder_decode(c->decoder, ids, count, &text, &bytes, err);

    if (s != LEAT_OK)
        return s;
    put_part(c, text, (size_t)bytes);
    if (bytes > 0)
        c->last_byte = (uint8_t)text[bytes - 1];
    return LEAT_OK;
}

/* Drops ids that are not bytes: in the vocabulary "bytes" they have no text, but mark something. */
static size_t keep_plain(uint32_t *ids, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (ids[i] < PLAIN_BYTES)
            ids[kept++] = ids[i];
    return kept;
}

static enum leat_status keep_whole(struct cat *c, const uint32_t *ids, size_t count, struct leat_error *err)
{
    enum leat_status s = GROW(c->whole, c->whole_count + count, c->whole_room, err);

    if (s != LEAT_OK)
        return s;
    memcpy(c->whole + c->whole_count, ids, count * sizeof *ids);
    c->whole_count += count;
    return LEAT_OK;
}

/* Prints some more tokens of a document. */
static enum leat_status print_part(struct cat *c, uint32_t *ids, size_t count, struct leat_error *err)
{
    if (c->ids) {
        commands_print_ids(ids, count, c->printed);
        c->printed = true;
        return LEAT_OK;
    }
    if (!c->by_block)
        return keep_whole(c, ids, count, err);
    return print_text(c, ids, c->plain ? keep_plain(ids, count) : count, err);
}

/* Ends the document, or the part of it that was asked for, which is decoded as a text of its own. */
static enum leat_status print_end(struct cat *c, struct leat_error *err)
{
    size_t count = c->whole_count;
    enum leat_status s = LEAT_OK;

    c->whole_count = 0;
    if (count > 0)
        s = print_text(c, c->whole, count, err);
    cli_put_text(c->open, c->open_bytes);
    c->open_bytes = 0;
    return s;
}

/* ---- Streaming -------------------------------------------------------------------------------------------------- */

/* Goes through the next `count` tokens, in blocks, and prints them if `print` is true. */
static enum leat_status pass(struct cat *c, uint64_t count, bool print, struct leat_error *err)
{
    while (count > 0 && !cli_stdout_failed()) {
        enum leat_status s = LEAT_OK;
        size_t part;

        if (c->at == c->held) {
            uint64_t left = c->last - c->read;

            c->at = 0;
            c->held = (size_t)(left < BLOCK_IDS ? left : BLOCK_IDS);
            s = commands_read_checked(c->d, c->read, c->held, c->block, err);
            if (s != LEAT_OK)
                return s;
            c->read += c->held;
        }
        part = c->held - c->at;
        if (part > count)
            part = (size_t)count;
        if (print)
            s = print_part(c, c->block + c->at, part, err);
        if (s != LEAT_OK)
            return s;
        c->at += part;
        count -= part;
    }
    return LEAT_OK;
}

/* Sets *before and *after to 0 if the first and last token are not the begin and end token: files of other tools may
 * be cut inside a document. */
static enum leat_status check_borders(const struct cat *c, uint64_t from, uint64_t to, uint64_t *before,
                                      uint64_t *after, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint32_t id = 0;

    if (c->info.foreign_parts == 0)
        return LEAT_OK;
    if (*before)
        s = leat_dataset_read_u32(c->d, from, 1, &id, err);
    *before = *before && id == c->info.begin_token;
    if (s == LEAT_OK && *after)
        s = leat_dataset_read_u32(c->d, to - 1, 1, &id, err);
    *after = *after && id == c->info.end_token;
    return s;
}

/* Prints the part of document [start, end) that lies in the range; its begin and end tokens are not text. */
static enum leat_status pass_document(struct cat *c, uint64_t start, uint64_t end, struct leat_error *err)
{
    uint64_t from = start > c->first ? start : c->first;
    uint64_t to = end < c->last ? end : c->last;
    uint64_t before = 0, after = 0;
    enum leat_status s;

    if (from > to || start > end)
        return status_set(err, LEAT_E_DOCUMENTS, "document starts do not ascend; verify the dataset");
    if (!c->ids && c->info.begin_token != LEAT_NONE && from == start && from < to)
        before = 1;
    if (!c->ids && c->info.end_token != LEAT_NONE && to == end && from + before < to)
        after = 1;
    s = check_borders(c, from, to, &before, &after, err);
    if (s != LEAT_OK)
        return s;
    c->last_byte = 0;
    s = pass(c, before, false, err);
    if (s == LEAT_OK)
        s = pass(c, to - from - before - after, true, err);
    if (s == LEAT_OK)
        s = print_end(c, err);
    if (s == LEAT_OK)
        s = pass(c, after, false, err);
    if (s == LEAT_OK && c->line_each && (c->ids || c->last_byte != '\n'))
        putchar('\n');
    if (c->line_each)
        c->printed = false;
    return s;
}

static enum leat_status pass_all(struct cat *c, struct leat_error *err)
{
    uint64_t starts[BLOCK_DOCUMENTS + 1];
    enum leat_status s = LEAT_OK;

    if (c->info.documents == LEAT_NONE) /* goes through the tokens as if they were one document */
        return pass_document(c, c->first, c->last, err);
    for (uint64_t done = 0; done < c->documents && s == LEAT_OK; done += BLOCK_DOCUMENTS) {
        uint64_t left = c->documents - done;
        uint64_t part = left < BLOCK_DOCUMENTS ? left : BLOCK_DOCUMENTS;

        s = leat_dataset_starts(c->d, c->first_document + done, part + 1, starts, err);
        for (uint64_t i = 0; i < part && s == LEAT_OK && !cli_stdout_failed(); i++)
            s = pass_document(c, starts[i], starts[i + 1], err);
        if (cli_stdout_failed())
            break;
    }
    return s;
}

/* ---- What was asked for ----------------------------------------------------------------------------------------- */

/* Closes an open end of a range, and checks it against the dataset. */
static enum leat_status clip(struct range *r, uint64_t all, const char *name, const char *what, struct leat_error *err)
{
    if (r->last == UINT64_MAX)
        r->last = all;
    if (r->single && r->first >= all)
        return status_set_in(err, LEAT_E_RANGE, name,
                             "%s has %" PRIu64 " %s, numbered from 0: number %" PRIu64 " does not exist", name, all,
                             what, r->first);
    if (r->first > r->last || r->last > all)
        return status_set_in(err, LEAT_E_RANGE, name,
                             "%s has %" PRIu64 " %s, numbered from 0: %" PRIu64 ":%" PRIu64 " reaches past the end",
                             name, all, what, r->first, r->last);
    return LEAT_OK;
}

/* Finds the tokens that were asked for, and the documents that they belong to. */
static enum leat_status locate(struct cat *c, struct cat_values *v, const char *name, struct leat_error *err)
{
    struct range *r = v->documents.given ? &v->documents : &v->tokens;
    uint64_t start; /* a start of a document; the call reports it if documents are not known */
    enum leat_status s = v->documents.given ? leat_dataset_starts(c->d, 0, 1, &start, err) : LEAT_OK;

    if (s == LEAT_OK)
        s = clip(r, v->documents.given ? c->info.documents : c->info.tokens, name,
                 v->documents.given ? "documents" : "tokens", err);
    if (s != LEAT_OK)
        return s;
    if (v->documents.given) {
        c->first_document = r->first;
        c->documents = r->last - r->first;
        s = leat_dataset_starts(c->d, r->first, 1, &c->first, err);
        if (s == LEAT_OK)
            s = leat_dataset_starts(c->d, r->last, 1, &c->last, err);
        if (s == LEAT_OK && c->first > c->last)
            s = status_set_in(err, LEAT_E_DOCUMENTS, name, "document starts of %s do not ascend; verify the dataset",
                              name);
    } else {
        c->first = r->first;
        c->last = r->last;
        if (r->first < r->last && c->info.documents != LEAT_NONE)
            s = leat_dataset_documents_in(c->d, r->first, r->last - r->first, &c->first_document, &c->documents, err);
    }
    c->read = c->first;
    return s;
}

static enum leat_status print_range(const struct leat_dataset *d, struct cat_values *v, const char *name,
                                    struct leat_error *err)
{
    struct cat *c = calloc(1, sizeof *c);
    enum leat_status s;

    if (!c)
        return status_no_memory(err, sizeof *c);
    c->d = d;
    c->ids = v->ids;
    c->info.size = sizeof c->info;
    leat_dataset_info(d, &c->info);
    c->line_each = v->documents.given && (v->ids || !v->documents.single);
    s = v->ids ? LEAT_OK : v->tokenizer ? open_given(c, v, err) : open_decoder(c, name, err);
    if (s == LEAT_OK)
        s = locate(c, v, name, err);
    if (s == LEAT_OK)
        s = pass_all(c, err);
    /* A line of ids ends with a newline. Text is printed as it is, but gets a newline on a terminal. */
    if (s == LEAT_OK && !c->line_each && (c->ids || (isatty(STDOUT_FILENO) && c->last_byte != '\n')))
        putchar('\n');
    leat_encoder_close(c->decoder);
    leat_tokenizer_close(c->tokenizer);
    free(c->whole);
    free(c);
    return s;
}

/* ---- The command ------------------------------------------------------------------------------------------------ */

/* Reports options that do not go together. */
static bool check_values(const struct command *self, const struct cat_values *v)
{
    if (!v->documents.given && !v->tokens.given)
        command_wrong(self, "one of --document and --tokens is needed");
    else if (v->tokens.given && v->tokens.single)
        command_wrong(self, "--tokens needs a range A:B; for one token write %" PRIu64 ":%" PRIu64, v->tokens.first,
                      v->tokens.last);
    else
        return true;
    return false;
}

int cmd_cat(const struct command *self, int argc, char **argv)
{
    struct cat_values values = { .text = false };
    struct options_parsed parsed;
    struct leat_dataset *d = NULL;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = CLI_WRONG;
    if (check_values(self, &values)) {
        s = commands_open(&d, parsed.words[0], &err);
        if (s == LEAT_OK)
            s = print_range(d, &values, parsed.words[0], &err);
        code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
    }
    leat_dataset_close(d);
    options_free(&parsed);
    return code;
}
