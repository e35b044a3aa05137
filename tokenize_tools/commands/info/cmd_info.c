/*
 * cmd_info.c: `leat info`: shows what a dataset holds, in columns for people, as JSON for programs.
 *
 * struct info_facts is filled first, so an error there prints nothing. There may be very many inputs and parts: they
 * are read one by one while they are printed. People see the first SHOWN_ROWS of each list, JSON has all.
 * Lengths of documents are counted exactly or, in large datasets, from a sample (lengths.c), so that the
 * command stays quick.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "commands/commands.h"
#include "commands/common/common.h"
#include "info.h"

#define SHOWN_ROWS  20u /* the most inputs, parts and metadata that people see; JSON has all */
#define BAR_COLUMNS 40u
#define KEY_COLUMNS 12

/* ---- What the metadata of the parts say ---- */

/* Reads the damaged inputs and the learned tokens of one part. */
static enum leat_status read_part(struct info_facts *f, const char *name, const struct leat_metadata *m,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool said = false;

    for (uint64_t k = 0; s == LEAT_OK && k < m->count; k++) {
        const char *key = m->pairs[k].key, *value = m->pairs[k].value;

        f->chat = f->chat || strcmp(key, "leat.chat") == 0;
        if (strcmp(key, DAMAGE_KEY) == 0)
            s = damage_list_read(&f->damaged, name, value, err);
        else if (strcmp(key, LEARNED_KEY) == 0)
            said = learned_join(f->learned, value);
    }
    f->counted += said;
    return s;
}

/* Reads all parts. On failure too damage_list_free() must follow. */
static enum leat_status read_parts(struct info_facts *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < f->info.parts; i++) {
        struct leat_part part = LEAT_PART_INIT;
        struct leat_metadata *m;

        s = leat_dataset_part(f->d, i, &part, err);
        if (s == LEAT_OK)
            s = leat_dataset_metadata(f->d, i, &m, err);
        if (s != LEAT_OK)
            break;
        s = read_part(f, part.name, m, err);
        leat_metadata_free(m);
    }
    if (f->counted < f->info.parts)
        f->learned[0] = '\0';
    return s;
}

/* Prints lines about the first damaged inputs, below the dataset's name. */
static void print_damage(const struct damage_list *l)
{
    char text[DAMAGE_LINE];

    if (l->count == 0)
        return;
    damage_say_all(l, text, sizeof text);
    printf("  %-*s%s\n", KEY_COLUMNS, "damaged", text);
    for (size_t i = 0; i < l->count && i < SHOWN_ROWS; i++) {
        damage_say_one(&l->items[i], text, sizeof text);
        printf("  %-*s", KEY_COLUMNS, "");
        cli_put(text, strlen(text));
        printf("\n");
    }
    if (l->count > SHOWN_ROWS)
        printf("  %-*s... and %s more (--json has them all)\n", KEY_COLUMNS, "",
               units_count(l->count - SHOWN_ROWS).text);
}

struct info_values {
    bool json;
    const char *by;
};

const struct option_row info_options[] = {
    { .name = "by",
      .type = OPTION_TEXT,
      .field = offsetof(struct info_values, by),
      .value = "COLUMN",
      .help = "show a column per document: how many documents and tokens each threshold, or text, leaves",
      .once = true },
    OPTIONS_JSON(struct info_values, "print one JSON object, with all inputs and parts"),
    CACHE_OPTION_ROWS,
    OPTIONS_END
};

static enum leat_status gather(struct info_facts *f, const char *by, struct leat_error *err)
{
    enum leat_status s;

    leat_dataset_info(f->d, &f->info);
    s = leat_dataset_tokenizer(f->d, &f->tokenizer, err);
    if (s != LEAT_OK && s != LEAT_E_NOT_FOUND)
        return s;
    s = leat_dataset_columns(f->d, &f->columns, err);
    if (s == LEAT_OK)
        s = read_parts(f, err);
    if (s == LEAT_OK && by)
        s = column_histogram_count(&f->by, f->d, by, err);
    return s == LEAT_OK ? length_histogram_count(&f->lengths, f->d, err) : s;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static void print_more(uint64_t all)
{
    if (all > SHOWN_ROWS)
        printf("  ... and %s more (--json has them all)\n", units_count(all - SHOWN_ROWS).text);
}

static const char *at_name(const struct leat_column_info *c)
{
    return c->at == LEAT_COLUMN_TOKEN ? "token" : "document";
}

static void print_columns(const struct info_facts *f)
{
    for (uint64_t i = 0; i < f->columns->count; i++) {
        const struct leat_column_info *c = &f->columns->columns[i];

        if (i == SHOWN_ROWS) {
            print_more(f->columns->count);
            return;
        }
        printf("  %-*s%s: %s", KEY_COLUMNS, "column", c->name, leat_column_type_name(c->type));
        if (c->width > 1)
            printf("x%u", c->width);
        printf(" per %s", at_name(c));
        if (c->type == LEAT_COLUMN_CATEGORY)
            printf(", %s", units_counted(c->texts, "text").text);
        printf(", %s", units_bytes(c->bytes).text);
        if (f->info.parts > 1)
            printf(", of part %s", units_count(c->part).text);
        printf("\n");
    }
}

static void json_columns(struct json *j, const struct leat_columns *columns)
{
    json_open_array(j, "columns");
    for (uint64_t i = 0; i < columns->count; i++) {
        const struct leat_column_info *c = &columns->columns[i];

        json_open_object(j, NULL);
        json_string(j, "name", c->name);
        json_string(j, "type", leat_column_type_name(c->type));
        json_u64(j, "width", c->width);
        json_string(j, "at", at_name(c));
        json_u64(j, "part", c->part);
        json_close_object(j);
    }
    json_close_array(j);
}

/* ---- For people ------------------------------------------------------------------------------------------------- */

static struct units_text documents_text(uint64_t documents)
{
    return documents != LEAT_NONE ? units_count(documents) : (struct units_text) { "not recorded" };
}

static void line(const char *key, const char *text, const char *more)
{
    printf("  %-*s%s%s\n", KEY_COLUMNS, key, text, more ? more : "");
}

/* Prints where the tokens of an adopted dataset are. */
static void print_elsewhere(const struct info_facts *f)
{
    struct leat_part part = LEAT_PART_INIT;
    size_t length;

    if (f->info.parts != 1 || leat_dataset_part(f->d, 0, &part, NULL) != LEAT_OK || strcmp(part.kind, "leat") != 0)
        return;
    length = strlen(part.name);
    if (strncmp(part.token_path, part.name, length) == 0 && strcmp(part.token_path + length, ".tokens") == 0)
        return;
    printf("  %-*s", KEY_COLUMNS, "tokens in");
    cli_put(part.token_path, strlen(part.token_path));
    printf("\n");
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Prints facts about Megatron's files that are used in place. */
static bool print_megatron(const struct info_facts *f)
{
    struct leat_part part = LEAT_PART_INIT;
    const char *tokens;
    size_t length;

    if (f->info.parts != 1 || leat_dataset_part(f->d, 0, &part, NULL) != LEAT_OK || strcmp(part.kind, "megatron") != 0)
        return false;
    tokens = last_name(part.token_path);
    length = strlen(tokens);
    printf("  %-*sMegatron (", KEY_COLUMNS, "format");
    cli_put(tokens, length);
    printf(", ");
    cli_put(tokens, length - strlen(".bin"));
    printf(".idx); leat adopt adds hashes and a tokenizer\n");
    return true;
}

static void print_facts(const struct info_facts *f)
{
    const struct leat_info *i = &f->info;
    char text[128];

    cli_say("%s", f->name);
    print_damage(&f->damaged);
    print_elsewhere(f);
    if (i->offline_parts > 0)
        line("server", "could not be reached: this is the copy in the cache", NULL);
    line("tokens", units_count(i->tokens).text, NULL);
    line("documents", documents_text(i->documents).text, NULL);
    commands_say_learned("  learned     ", f->learned, i->tokens, f->chat);
    if (i->stores_mask && !f->learned[0])
        line("learned", "not recorded", NULL);
    snprintf(text, sizeof text, "%u bytes per token", i->token_width);
    line("width", text, NULL);
    line("vocabulary", units_count(i->vocabulary).text,
         i->foreign_parts == i->parts ? " at most; the real size is not recorded" : NULL);
    snprintf(text, sizeof text, "%" PRIu64, i->end_token);
    line("end", i->end_token == LEAT_NONE ? i->foreign_parts == i->parts ? "not recorded" : "none" : text,
         i->end_token == LEAT_NONE ? NULL : " after each document");
    snprintf(text, sizeof text, "%" PRIu64, i->begin_token);
    if (i->begin_token != LEAT_NONE)
        line("begin", text, " before each document");
    printf("  %-*s", KEY_COLUMNS, "tokenizer");
    if (f->tokenizer)
        cli_put(f->tokenizer->name, strlen(f->tokenizer->name));
    else
        printf("not recorded");
    if (f->tokenizer && f->tokenizer->pattern[0]) {
        printf(", pattern ");
        cli_put(f->tokenizer->pattern, strlen(f->tokenizer->pattern));
    }
    printf("\n");
    line("fingerprint", bytes_all_zero(i->fingerprint, 16) ? "none" : units_hex(i->fingerprint, 16).text, NULL);
    line("identity", units_hex(i->identity, 16).text, NULL);
    line("created", i->created ? units_date(i->created).text : "not recorded", NULL);
    printf("  %-*s%s of tokens, %s of index\n", KEY_COLUMNS, "size", units_bytes(i->token_bytes).text,
           units_bytes(i->index_bytes).text);
    snprintf(text, sizeof text, "%s%s%s%s", i->stores_lines ? ", lines" : "", i->id_bytes > 0 ? ", ids" : "",
             i->stores_hashes ? ", text hashes" : "", i->stores_mask ? ", mask" : "");
    if (text[0])
        line("stores", text + 2, NULL);
    print_columns(f);
    snprintf(text, sizeof text, "version %u", i->format_version);
    if (!print_megatron(f))
        line("format", i->format_version > 0 ? text : "no index", NULL);
}

static enum leat_status print_parts(const struct info_facts *f, struct leat_error *err)
{
    uint64_t shown = f->info.parts < SHOWN_ROWS ? f->info.parts : SHOWN_ROWS;

    if (f->info.parts == 1)
        return LEAT_OK;
    printf("\nparts: %s\n  %20s %16s  name\n", units_count(f->info.parts).text, "tokens", "documents");
    for (uint64_t i = 0; i < shown; i++) {
        struct leat_part part = LEAT_PART_INIT;
        enum leat_status s = leat_dataset_part(f->d, i, &part, err);

        if (s != LEAT_OK)
            return s;
        printf("  %20s %16s  ", units_count(part.tokens).text, documents_text(part.documents).text);
        cli_put(part.name, strlen(part.name));
        printf("\n");
    }
    print_more(f->info.parts);
    return LEAT_OK;
}

static enum leat_status print_inputs(const struct info_facts *f, struct leat_error *err)
{
    uint64_t shown = f->info.inputs < SHOWN_ROWS ? f->info.inputs : SHOWN_ROWS;

    if (f->info.inputs == 0)
        return LEAT_OK;
    printf("\ninputs: %s\n  %20s %16s %10s  path\n", units_count(f->info.inputs).text, "tokens", "documents",
           "rejects");
    for (uint64_t i = 0; i < shown; i++) {
        struct leat_input input = LEAT_INPUT_INIT;
        enum leat_status s = leat_dataset_input(f->d, i, &input, err);
        uint64_t bytes;
        char *path;

        if (s != LEAT_OK)
            return s;
        path = commands_string(leat_dataset_input_path, f->d, i, &bytes, err);
        if (!path)
            return err->status;
        printf("  %20s %16s %10s  ", units_count(input.tokens).text, units_count(input.documents).text,
               units_count(input.rejects).text);
        cli_put(path, bytes);
        printf("\n");
        free(path);
    }
    print_more(f->info.inputs);
    return LEAT_OK;
}

static enum leat_status print_metadata(const struct info_facts *f, struct leat_error *err)
{
    struct leat_metadata *m;
    enum leat_status s = LEAT_OK;

    if (f->info.parts != 1)
        return LEAT_OK;
    s = leat_dataset_metadata(f->d, 0, &m, err);
    if (s != LEAT_OK)
        return s;
    if (m->count > 0)
        printf("\nmetadata\n");
    for (uint64_t i = 0; i < m->count && i < SHOWN_ROWS; i++) {
        if (strcmp(m->pairs[i].key, DAMAGE_KEY) == 0 || strcmp(m->pairs[i].key, LEARNED_KEY) == 0) /* said above */
            continue;
        printf("  ");
        cli_put(m->pairs[i].key, m->pairs[i].key_bytes);
        printf(" = ");
        cli_put(m->pairs[i].value, m->pairs[i].value_bytes);
        printf("\n");
    }
    print_more(m->count);
    leat_metadata_free(m);
    return LEAT_OK;
}

static void print_bucket(const struct length_histogram *h, unsigned k, uint64_t fullest)
{
    static const char bar[] = " ########################################";
    unsigned width = (unsigned)((double)h->buckets[k] / (double)fullest * BAR_COLUMNS + 0.5);
    uint64_t min = length_histogram_min(k), max = length_histogram_max(k);
    char range[104];

    if (h->buckets[k] > 0 && width == 0)
        width = 1; /* a small count must not look like none */
    if (min == max)
        snprintf(range, sizeof range, "%" PRIu64, min);
    else
        snprintf(range, sizeof range, "%s - %s", units_count(min).text, units_count(max).text);
    printf("  %-25s %15s %7s%.*s\n", range, units_count(h->buckets[k]).text,
           units_share(h->buckets[k], h->documents).text, width > 0 ? (int)width + 1 : 0, bar);
}

static void print_lengths(const struct length_histogram *h)
{
    unsigned first, last;
    uint64_t fullest = 1;

    if (!length_histogram_range(h, &first, &last))
        return;
    printf("\ndocument lengths in tokens: shortest %s, longest %s, mean %s\n", units_count(h->shortest).text,
           units_count(h->longest).text, units_mean(length_histogram_mean(h)).text);
    if (h->sampled)
        printf("  from a sample of %s documents, taken at equal distances\n", units_count(h->documents).text);
    for (unsigned k = first; k <= last; k++)
        if (h->buckets[k] > fullest)
            fullest = h->buckets[k];
    for (unsigned k = first; k <= last; k++)
        print_bucket(h, k, fullest);
}

static enum leat_status print_text(const struct info_facts *f, struct leat_error *err)
{
    enum leat_status s;

    if (f->by.column) {
        column_histogram_print(&f->by, f->name);
        return LEAT_OK;
    }
    print_facts(f);
    s = print_parts(f, err);
    if (s == LEAT_OK)
        s = print_inputs(f, err);
    if (s == LEAT_OK)
        s = print_metadata(f, err);
    if (s == LEAT_OK)
        print_lengths(&f->lengths);
    return s;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The facts of a dataset as JSON. If reading fails halfway, the object stays open, so that no program takes it for
 * the whole. */

/* Writes a hash in hexadecimal digits; null if all bytes are zero, which means that there is none. */
static void json_hash(struct json *j, const char *key, const uint8_t hash[16])
{
    json_string(j, key, bytes_all_zero(hash, 16) ? NULL : units_hex(hash, 16).text);
}

static enum leat_status json_inputs(struct json *j, const struct info_facts *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    json_open_array(j, "inputs");
    for (uint64_t i = 0; i < f->info.inputs && s == LEAT_OK; i++) {
        struct leat_input input = LEAT_INPUT_INIT;
        uint64_t bytes;
        char *path;

        s = leat_dataset_input(f->d, i, &input, err);
        if (s != LEAT_OK)
            break;
        path = commands_string(leat_dataset_input_path, f->d, i, &bytes, err);
        if (!path)
            return err->status;
        json_open_object(j, NULL);
        json_bytes(j, "path", path, (size_t)bytes);
        json_u64(j, "bytes", input.bytes);
        json_u64(j, "documents", input.documents);
        json_u64(j, "tokens", input.tokens);
        json_u64(j, "rejects", input.rejects);
        json_hash(j, "hash", input.hash);
        json_close_object(j);
        free(path);
    }
    json_close_array(j);
    return s;
}

static enum leat_status json_metadata(struct json *j, const struct leat_dataset *d, uint64_t part,
                                      struct leat_error *err)
{
    struct leat_metadata *m;
    enum leat_status s = leat_dataset_metadata(d, part, &m, err);

    if (s != LEAT_OK)
        return s;
    json_open_array(j, "metadata");
    for (uint64_t i = 0; i < m->count; i++) {
        json_open_array(j, NULL);
        json_bytes(j, NULL, m->pairs[i].key, (size_t)m->pairs[i].key_bytes);
        json_bytes(j, NULL, m->pairs[i].value, (size_t)m->pairs[i].value_bytes);
        json_close_array(j);
    }
    json_close_array(j);
    leat_metadata_free(m);
    return s;
}

static enum leat_status json_parts(struct json *j, const struct info_facts *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    json_open_array(j, "parts");
    for (uint64_t i = 0; i < f->info.parts && s == LEAT_OK; i++) {
        struct leat_part part = LEAT_PART_INIT;

        s = leat_dataset_part(f->d, i, &part, err);
        if (s != LEAT_OK)
            break;
        json_open_object(j, NULL);
        json_string(j, "name", part.name);
        json_string(j, "kind", part.kind);
        json_string(j, "identity", units_hex(part.identity, 16).text);
        json_u64(j, "first_token", part.first_token);
        json_u64(j, "tokens", part.tokens);
        json_u64_or_null(j, "first_document", part.first_document);
        json_u64_or_null(j, "documents", part.documents);
        json_u64(j, "first_input", part.first_input);
        json_u64(j, "inputs", part.inputs);
        json_string(j, "token_path", part.token_path);
        s = json_metadata(j, f->d, i, err);
        json_close_object(j);
    }
    json_close_array(j);
    return s;
}

static void json_lengths(struct json *j, const struct length_histogram *h)
{
    unsigned first, last;

    json_open_object(j, "document_lengths");
    json_bool(j, "sampled", h->sampled);
    json_u64(j, "documents", h->documents);
    json_double(j, "mean", length_histogram_mean(h));
    json_u64(j, "shortest", h->shortest);
    json_u64(j, "longest", h->longest);
    json_open_array(j, "buckets");
    if (length_histogram_range(h, &first, &last))
        for (unsigned k = first; k <= last; k++) {
            json_open_object(j, NULL);
            json_u64(j, "least", length_histogram_min(k));
            json_u64(j, "most", length_histogram_max(k));
            json_u64(j, "documents", h->buckets[k]);
            json_close_object(j);
        }
    json_close_array(j);
    json_close_object(j);
}

/* Writes what is stored about each document in addition to its origin. */
static void json_stores(struct json *j, const struct leat_info *i)
{
    json_open_object(j, "stores");
    json_bool(j, "lines", i->stores_lines);
    json_bool(j, "ids", i->stores_ids);
    json_bool(j, "text_hashes", i->stores_hashes);
    json_bool(j, "mask", i->stores_mask);
    json_close_object(j);
}

static enum leat_status print_json(const struct info_facts *f, struct leat_error *err)
{
    const struct leat_info *i = &f->info;
    enum leat_status s;
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "name", f->name);
    damage_json(&f->damaged, &j);
    json_u64_or_null(&j, "version", i->format_version > 0 ? i->format_version : LEAT_NONE); /* null: no index */
    json_string(&j, "identity", units_hex(i->identity, 16).text);
    json_u64(&j, "tokens", i->tokens);
    json_u64_or_null(&j, "documents", i->documents);
    commands_learned_json(&j, f->learned);
    json_u64(&j, "width", i->token_width);
    json_u64(&j, "vocabulary", i->vocabulary);
    json_open_object(&j, "tokenizer");
    json_string(&j, "name", f->tokenizer ? f->tokenizer->name : NULL);
    json_string(&j, "pattern", f->tokenizer && f->tokenizer->pattern[0] ? f->tokenizer->pattern : NULL);
    json_hash(&j, "fingerprint", i->fingerprint);
    json_close_object(&j);
    json_u64_or_null(&j, "end", i->end_token);
    json_u64_or_null(&j, "begin", i->begin_token);
    json_string(&j, "created", i->created ? units_date(i->created).text : NULL);
    json_u64(&j, "token_bytes", i->token_bytes);
    json_u64(&j, "index_bytes", i->index_bytes);
    json_u64(&j, "offline_parts", i->offline_parts);
    json_stores(&j, i);
    if (i->documents != LEAT_NONE)
        json_lengths(&j, &f->lengths);
    else
        json_null(&j, "document_lengths");
    json_columns(&j, f->columns);
    if (f->by.column)
        column_histogram_json(&j, &f->by);
    else
        json_null(&j, "histogram");
    s = json_parts(&j, f, err);
    if (s == LEAT_OK)
        s = json_inputs(&j, f, err);
    if (s != LEAT_OK)
        return s; /* The object stays open, so that it is not taken for the whole. */
    json_close_object(&j);
    json_end(&j);
    return LEAT_OK;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

int cmd_info(const struct command *self, int argc, char **argv)
{
    struct info_values values = { 0 };
    struct options_parsed parsed;
    struct leat_dataset *d;
    struct leat_error err;
    struct info_facts f = { .info = LEAT_INFO_INIT };
    char shown[COMMANDS_NAME];
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    f.name = commands_shown(parsed.words[0], shown);
    s = commands_open(&d, parsed.words[0], &err);
    f.d = d;
    if (s == LEAT_OK)
        s = gather(&f, values.by, &err);
    if (s == LEAT_OK)
        s = values.json ? print_json(&f, &err) : print_text(&f, &err);
    code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
    leat_stored_tokenizer_free(f.tokenizer);
    leat_columns_free(f.columns);
    column_histogram_free(&f.by);
    damage_list_free(&f.damaged);
    leat_dataset_close(d);
    options_free(&parsed);
    return code;
}
