/*
 * cmd_find.c: `leat find`: finds one document by its number, a token, an origin or an id, and prints what is known
 * about it.
 *
 * find_document() turns whichever option was given into the number of a document; describe() then looks up the rest in
 * the same way for all. Everything is found before the first line is printed, so an error prints nothing on stdout.
 * INPUT:BYTE is cut at the last colon, since paths may have colons; #N names an input by its number, for paths that
 * several inputs share or that cannot be typed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/status.h"
#include "cli/units.h"
#include "commands.h"

struct find_values {
    uint64_t document, token; /* LEAT_NONE: not given */
    const char *origin, *id;  /* NULL: not given */
    bool json;
};

const struct option_row find_options[] = { { .name = "document",
                                             .type = OPTION_COUNT,
                                             .field = offsetof(struct find_values, document),
                                             .value = "N",
                                             .help = "the document with this number",
                                             .max = LEAT_NONE - 1 },
                                           { .name = "token",
                                             .excludes = "document",
                                             .type = OPTION_COUNT,
                                             .field = offsetof(struct find_values, token),
                                             .value = "N",
                                             .help = "the document that holds this token, counted from 0",
                                             .max = LEAT_NONE - 1 },
                                           { .name = "origin",
                                             .excludes = "document|token",
                                             .type = OPTION_TEXT,
                                             .field = offsetof(struct find_values, origin),
                                             .value = "INPUT:BYTE",
                                             .help =
                                                 "the last document that starts at or before this byte of this input",
                                             .more = "INPUT is the path as stored, or # and the number of the input. "
                                                     "In a Parquet file, rows take the place of bytes.",
                                             .path = true },
                                           { .name = "id",
                                             .excludes = "document|token|origin",
                                             .type = OPTION_TEXT,
                                             .field = offsetof(struct find_values, id),
                                             .value = "ID",
                                             .help = "the first document with this id" },
                                           OPTIONS_JSON(struct find_values, "print one JSON object"),
                                           CACHE_OPTION_ROWS,
                                           OPTIONS_END };

/* The place that --origin names. */
struct place {
    char *path;     /* NULL: by number */
    uint64_t input; /* number of the input, if path is NULL */
    uint64_t offset;
};

/* The facts about a document. */
struct found {
    uint64_t document, first, count;
    struct commands_origin origin;
    const char *part; /* the dataset of a list that holds it; NULL: not a list */
};

/* Reads INPUT:BYTE, cut at the last colon, since paths may have colons. */
static bool parse_place(const char *text, struct place *place, const char **why)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;

    *why = "is not INPUT:BYTE";
    if (length == 0 || !units_parse(colon + 1, true, &place->offset, why))
        return false;
    place->path = strndup(text, length);
    *why = "does not fit in memory";
    if (!place->path)
        return false;
    if (place->path[0] == '#' && units_parse(place->path + 1, false, &place->input, why)) {
        free(place->path);
        place->path = NULL;
    }
    return true;
}

/* Checks the options, and reports mistakes. */
static bool check_values(const struct command *self, const struct find_values *v, struct place *place)
{
    const char *why;

    if (v->document == LEAT_NONE && v->token == LEAT_NONE && !v->origin && !v->id) {
        command_wrong(self, "one of --document, --token, --origin and --id is needed");
        return false;
    }
    if (v->origin && !parse_place(v->origin, place, &why)) {
        command_wrong(self, "--origin: \"%.200s\" %s", v->origin, why);
        return false;
    }
    return true;
}

static enum leat_status find_document(const struct leat_dataset *d, const struct find_values *v,
                                      const struct place *place, uint64_t *document, struct leat_error *err)
{
    uint64_t documents, input = place->input;
    enum leat_status s = LEAT_OK;

    *document = v->document;
    if (v->token != LEAT_NONE)
        return leat_dataset_documents_in(d, v->token, 1, document, &documents, err);
    if (v->id)
        return leat_dataset_find_id(d, v->id, strlen(v->id), document, err);
    if (!v->origin)
        return LEAT_OK;
    if (place->path)
        s = leat_dataset_find_input(d, place->path, &input, err);
    return s == LEAT_OK ? leat_dataset_find_origin(d, input, place->offset, document, err) : s;
}

static enum leat_status describe_part(const struct leat_dataset *d, struct found *f, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(d, &info);
    for (uint64_t i = 0; i < info.parts && info.parts > 1; i++) {
        struct leat_part part = LEAT_PART_INIT;
        enum leat_status s = leat_dataset_part(d, i, &part, err);

        if (s != LEAT_OK)
            return s;
        if (f->document >= part.first_document && f->document - part.first_document < part.documents) {
            f->part = part.name;
            break;
        }
    }
    return LEAT_OK;
}

static enum leat_status describe(const struct leat_dataset *d, struct found *f, struct leat_error *err)
{
    enum leat_status s = leat_dataset_document(d, f->document, &f->first, &f->count, err);

    if (s == LEAT_OK)
        s = commands_origin(d, f->document, &f->origin, err);
    return s == LEAT_OK ? describe_part(d, f, err) : s;
}

static void print_json(const struct found *f)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "document", f->document);
    if (f->origin.path)
        json_bytes(&j, "input", f->origin.path, (size_t)f->origin.path_bytes);
    else
        json_null(&j, "input");
    json_u64_or_null(&j, "input_number", f->origin.at.input);
    json_u64_or_null(&j, "offset", f->origin.path ? f->origin.at.offset : LEAT_NONE);
    json_u64_or_null(&j, "line", f->origin.at.line);
    if (f->origin.table && f->origin.at.line != LEAT_NONE) {
        json_u64(&j, "row", f->origin.at.offset);
        json_u64(&j, "row_group", f->origin.at.line - 1);
    }
    if (f->origin.id)
        json_bytes(&j, "id", f->origin.id, (size_t)f->origin.id_bytes);
    else
        json_null(&j, "id");
    json_u64(&j, "first_token", f->first);
    json_u64(&j, "tokens", f->count);
    json_string(&j, "part", f->part);
    json_close_object(&j);
    json_end(&j);
}

static void print_text(const struct found *f)
{
    printf("document  %" PRIu64 "\n", f->document);
    if (f->part) {
        printf("part      ");
        cli_put(f->part, strlen(f->part));
        printf("\n");
    }
    printf("input     ");
    if (f->origin.path) {
        cli_put(f->origin.path, f->origin.path_bytes);
        printf(" (#%" PRIu64 ")\n", f->origin.at.input);
        printf("%-10s%" PRIu64 "\n", f->origin.table ? "row" : "byte", f->origin.at.offset);
    } else {
        printf("not recorded\n");
    }
    if (f->origin.table && f->origin.at.line != LEAT_NONE)
        printf("group     %" PRIu64 "\n", f->origin.at.line - 1);
    else if (f->origin.at.line != LEAT_NONE)
        printf("line      %" PRIu64 "\n", f->origin.at.line);
    if (f->origin.id) {
        printf("id        ");
        cli_put(f->origin.id, f->origin.id_bytes);
        printf("\n");
    }
    printf("tokens    %" PRIu64 ":%" PRIu64 " (%s)\n", f->first, (f->first + f->count), units_count(f->count).text);
}

int cmd_find(const struct command *self, int argc, char **argv)
{
    struct find_values values = { .document = LEAT_NONE, .token = LEAT_NONE };
    struct place place = { .input = 0 };
    struct found f = { .part = NULL };
    struct options_parsed parsed;
    struct leat_dataset *d = NULL;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = CLI_WRONG;
    if (check_values(self, &values, &place)) {
        s = commands_open(&d, parsed.words[0], &err);
        if (s == LEAT_OK)
            s = find_document(d, &values, &place, &f.document, &err);
        if (s == LEAT_OK)
            s = describe(d, &f, &err);
        if (s == LEAT_OK)
            values.json ? print_json(&f) : print_text(&f);
        code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
    }
    commands_origin_free(&f.origin);
    free(place.path);
    leat_dataset_close(d);
    options_free(&parsed);
    return code;
}
