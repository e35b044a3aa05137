/*
 * cmd_cat.c: `leat cat`: prints documents or a range of tokens, as ids or as text. Tokens pass through one block of
 * fixed size, so a document may be of any length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/units.h"
#include "commands.h"

#define BLOCK_IDS       16384u
#define BLOCK_DOCUMENTS 4096u
#define ID_CHARACTERS   11u /* ten digits and a space */

struct range {
    bool given, single; /* single: one number, not A:B */
    uint64_t first, last;
};

struct cat_values {
    struct range documents, tokens;
    bool text, ids;
};

static bool parse_range(void *field, const char *text, const char **why)
{
    struct range *r = field;

    r->given = true;
    return units_parse_range(text, &r->first, &r->last, &r->single, why);
}

const struct option_row cat_options[] = {
    { .name = "document",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct cat_values, documents),
      .value = "N[:M]",
      .help = "document N, or documents N up to and without M",
      .parse = parse_range },
    { .name = "tokens",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct cat_values, tokens),
      .value = "A:B",
      .help = "the tokens from position A up to and without B",
      .parse = parse_range },
    { .name = "text",
      .type = OPTION_FLAG,
      .field = offsetof(struct cat_values, text),
      .help = "print text, by the tokenizer stored in the dataset: what happens without --ids" },
    { .name = "ids",
      .type = OPTION_FLAG,
      .field = offsetof(struct cat_values, ids),
      .help = "print ids separated by spaces, one document a line; tokens A:B on one line" },
    OPTIONS_END
};

/* The work in progress. */
struct cat {
    const struct leat_dataset *d;
    struct leat_info info;
    uint64_t first_document, documents; /* that have a token in the range, or were asked for */
    uint64_t first, last;               /* the range of tokens */
    bool ids;
    bool line_each; /* each document ends its line */
    uint8_t last_byte;
    bool printed;    /* something of this line stands */
    uint64_t read;   /* tokens before this position have been fetched */
    size_t at, held; /* block[at..held) is fetched and not yet printed */
    uint32_t block[BLOCK_IDS];
    char out[BLOCK_IDS * ID_CHARACTERS];
};

/* ---- Ids and text ----------------------------------------------------------------------------------------------- */

static size_t write_id(char *to, uint32_t id)
{
    char digits[10];
    size_t n = 0, length;

    do
        digits[n++] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    for (length = 0; n > 0; length++)
        to[length] = digits[--n];
    return length;
}

static size_t format_ids(struct cat *c, const uint32_t *ids, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (c->printed)
            c->out[used++] = ' ';
        used += write_id(c->out + used, ids[i]);
        c->printed = true;
    }
    return used;
}

/* Text by the built-in tokenizer "bytes": ids below 256 are the bytes themselves, others have no text. */
static size_t decode_ids(const uint32_t *ids, size_t count, char *out)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (ids[i] < 256)
            out[used++] = (char)ids[i];
    return used;
}

/* Whether decode_ids() knows the dataset's tokenizer. */
static enum leat_status check_decoder(const struct leat_dataset *d, const char *name, struct leat_error *err)
{
    struct leat_stored_tokenizer *t;
    enum leat_status s = leat_dataset_tokenizer(d, &t, err);

    if (s == LEAT_E_NOT_FOUND)
        return status_set(err, s, "%s has no tokenizer stored, so its text cannot be shown; use --ids", name);
    if (s != LEAT_OK)
        return s;
    if (t->file || strcmp(t->name, "bytes") != 0)
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "the text of %s needs the tokenizer %.200s, and this version can show only the text of "
                       "\"bytes\"; use --ids",
                       name, t->name);
    leat_stored_tokenizer_free(t);
    return s;
}

/* ---- Streaming -------------------------------------------------------------------------------------------------- */

/* Passes on the next `count` tokens, in blocks: prints them, or (print false) leaves them out. */
static enum leat_status pass(struct cat *c, uint64_t count, bool print, struct leat_error *err)
{
    while (count > 0 && !cli_stdout_failed()) {
        size_t part, bytes;

        if (c->at == c->held) {
            uint64_t left = c->last - c->read;
            enum leat_status s;

            c->at = 0;
            c->held = (size_t)(left < BLOCK_IDS ? left : BLOCK_IDS);
            s = leat_dataset_read_u32(c->d, c->read, c->held, c->block, err);
            if (s != LEAT_OK)
                return s;
            c->read += c->held;
        }
        part = c->held - c->at;
        if (part > count)
            part = (size_t)count;
        if (print) {
            bytes = c->ids ? format_ids(c, c->block + c->at, part) : decode_ids(c->block + c->at, part, c->out);
            fwrite(c->out, 1, bytes, stdout);
            if (bytes > 0)
                c->last_byte = (uint8_t)c->out[bytes - 1];
        }
        c->at += part;
        count -= part;
    }
    return LEAT_OK;
}

/* The part of document [start, end) that lies in the range; its begin and end token are no text. */
static enum leat_status pass_document(struct cat *c, uint64_t start, uint64_t end, struct leat_error *err)
{
    uint64_t from = start > c->first ? start : c->first;
    uint64_t to = end < c->last ? end : c->last;
    uint64_t before = 0, after = 0;
    enum leat_status s;

    if (from > to || start > end)
        return status_set(err, LEAT_E_DOCUMENTS, "document starts do not ascend; leat verify tells more");
    if (!c->ids && c->info.begin_token != LEAT_NONE && from == start && from < to)
        before = 1;
    if (!c->ids && c->info.end_token != LEAT_NONE && to == end && from + before < to)
        after = 1;
    c->last_byte = 0;
    s = pass(c, before, false, err);
    if (s == LEAT_OK)
        s = pass(c, to - from - before - after, true, err);
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

/* ---- The command ------------------------------------------------------------------------------------------------ */

/* Closes an open end and checks against what there is. */
static enum leat_status clip(struct range *r, uint64_t all, const char *name, const char *what, struct leat_error *err)
{
    if (r->last == UINT64_MAX)
        r->last = all;
    if (r->single && r->first >= all)
        return status_set(err, LEAT_E_RANGE, "%s has %llu %s, numbered from 0, so there is no number %llu", name,
                          (unsigned long long)all, what, (unsigned long long)r->first);
    if (r->first > r->last || r->last > all)
        return status_set(err, LEAT_E_RANGE, "%s has %llu %s, numbered from 0, so %llu:%llu is not all there", name,
                          (unsigned long long)all, what, (unsigned long long)r->first, (unsigned long long)r->last);
    return LEAT_OK;
}

/* From what was asked for: which tokens, and which documents they belong to. */
static enum leat_status locate(struct cat *c, struct cat_values *v, const char *name, struct leat_error *err)
{
    struct range *r = v->documents.given ? &v->documents : &v->tokens;
    enum leat_status s = clip(r, v->documents.given ? c->info.documents : c->info.tokens, name,
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
            s = status_set(err, LEAT_E_DOCUMENTS, "document starts of %s do not ascend; leat verify tells more", name);
    } else {
        c->first = r->first;
        c->last = r->last;
        if (r->first < r->last)
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
    s = v->ids ? LEAT_OK : check_decoder(d, name, err);
    if (s == LEAT_OK)
        s = locate(c, v, name, err);
    if (s == LEAT_OK)
        s = pass_all(c, err);
    /* one line of ids ends like a line; a text is left as it is, but for a person's screen */
    if (s == LEAT_OK && !c->line_each && (c->ids || (isatty(STDOUT_FILENO) && c->last_byte != '\n')))
        putchar('\n');
    free(c);
    return s;
}

/* Says what is wrong with the choice of options. */
static bool check_values(const struct command *self, const struct cat_values *v)
{
    if (v->documents.given == v->tokens.given)
        command_wrong(self, "%s of --document and --tokens is needed", v->tokens.given ? "only one" : "one");
    else if (v->text && v->ids)
        command_wrong(self, "--text and --ids exclude each other");
    else if (v->tokens.given && v->tokens.single)
        command_wrong(self, "--tokens: a range A:B is needed; for one token write %llu:%llu",
                      (unsigned long long)v->tokens.first, (unsigned long long)v->tokens.last);
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
        s = leat_dataset_open(&d, parsed.words[0], NULL, &err);
        if (s == LEAT_OK)
            s = print_range(d, &values, parsed.words[0], &err);
        code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
    }
    leat_dataset_close(d);
    options_free(&parsed);
    return code;
}
