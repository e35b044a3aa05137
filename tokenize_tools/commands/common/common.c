/* common.c: functions that several commands need. */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "corpus/record_format.h"

/* ---- Datasets, tokenizers, ids ----------------------------------------------------------------------------------- */

const char *const commands_tokenizers[] = { "bytes",       "gpt2",       "r50k_base",     "p50k_base", "p50k_edit",
                                            "cl100k_base", "o200k_base", "o200k_harmony", NULL };
const char *const commands_patterns[] = { "gpt2",       "r50k_base",     "p50k_base", "p50k_edit", "cl100k_base",
                                          "o200k_base", "o200k_harmony", "llama3",    "llama4",    "qwen",
                                          "qwen3_5",    "kimi",          NULL };

char *commands_string(commands_string_call *call, const struct leat_dataset *d, uint64_t number, uint64_t *bytes,
                      struct leat_error *err)
{
    uint64_t length;
    char *text;

    if (call(d, number, NULL, 0, &length, err) != LEAT_OK)
        return NULL;
    text = length < SIZE_MAX ? malloc((size_t)length + 1) : NULL;
    if (!text) {
        status_no_memory(err, length);
        return NULL;
    }
    if (call(d, number, text, (size_t)length + 1, bytes, err) != LEAT_OK) {
        free(text);
        return NULL;
    }
    return text;
}

/* Finds whether the input is a Parquet file that leat read. If a program names one as its source, its numbers are
 * the program's own, and its size is not known. */
static enum leat_status look_for_table(const struct leat_dataset *d, struct commands_origin *origin,
                                       struct leat_error *err)
{
    const struct record_format *format = record_format_of_name(origin->path);
    struct leat_input input = LEAT_INPUT_INIT;
    enum leat_status s = leat_dataset_input(d, origin->at.input, &input, err);

    origin->table = s == LEAT_OK && format && format->rows && input.bytes > 0;
    return s;
}

static enum leat_status id_of(const struct leat_dataset *d, uint64_t document, char *text, uint64_t capacity,
                              uint64_t *bytes, struct leat_error *err)
{
    return leat_dataset_ids(d, document, 1, text, capacity, bytes, err);
}

enum leat_status commands_row(const struct leat_plan *plan, const struct leat_sample *sample,
                              struct leat_stretch **stretches, uint64_t *count, struct leat_error *err)
{
    enum leat_status s = leat_plan_row(plan, sample, NULL, 0, count, err);

    *stretches = NULL;
    if (s != LEAT_OK)
        return s;
    *stretches = calloc((size_t)*count + 1, sizeof **stretches);
    return *stretches ? leat_plan_row(plan, sample, *stretches, *count, count, err)
                      : status_no_memory(err, *count * sizeof **stretches);
}

enum leat_status commands_origin(const struct leat_dataset *d, uint64_t document, struct commands_origin *origin,
                                 struct leat_error *err)
{
    enum leat_status s = leat_dataset_origins(d, document, 1, &origin->at, err);

    if (s == LEAT_E_NOT_FOUND) { /* a file of another tool, which records no origins */
        origin->at = (struct leat_origin) { .input = LEAT_NONE, .line = LEAT_NONE };
        return LEAT_OK;
    }
    if (s == LEAT_OK && origin->at.input != LEAT_NONE) {
        origin->path = commands_string(leat_dataset_input_path, d, origin->at.input, &origin->path_bytes, err);
        s = origin->path ? LEAT_OK : err->status;
    }
    if (s == LEAT_OK && origin->path)
        s = look_for_table(d, origin, err);
    if (s == LEAT_OK && origin->at.id_bytes > 0) {
        origin->id = commands_string(id_of, d, document, &origin->id_bytes, err);
        s = origin->id ? LEAT_OK : err->status;
    }
    return s;
}

void commands_origin_free(struct commands_origin *origin)
{
    free(origin->path);
    free(origin->id);
}

bool commands_created(uint64_t *created)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    const char *why;

    *created = 0;
    if (!text || !text[0])
        return true;
    /* only digits, as its definition says, and a time that can be shown */
    if (strspn(text, "0123456789") == strlen(text) && units_parse(text, false, created, &why) && *created <= INT64_MAX)
        return true;
    cli_error("the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, not \"%.100s\"", text);
    return false;
}

int commands_run_failed(const char *name, const struct leat_error *err)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;
    char word[CLI_SHELL_WORD];
    struct leat_error own = *err;

    leat_run_advice(err, &advice);
    own.hint = advice.hint;
    if (advice.mend == LEAT_RUN_MEND_STEPS)
        cli_error("%s (leat status %s)", err->message, cli_shell_word(name, word, sizeof word));
    else if (advice.file == LEAT_RUN_FILE_PLAN && advice.mend == LEAT_RUN_MEND_CREATE)
        cli_error("%s: leat pack --run %s --parts N ... INPUT... makes one", err->message,
                  cli_shell_word(name, word, sizeof word));
    else
        return cli_failed(&own);
    return CLI_FAILED;
}

static uint32_t on_waiting(void *context, const char *why)
{
    return why ? cli_say_waiting(context, why) : cli_interrupted();
}

int commands_tokenizer(const struct command *self, struct leat_tokenizer **t, const char *spec, const char *pattern)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_error err;
    enum leat_status s;

    options.pattern = pattern;
    options.waiting = on_waiting;
    s = leat_tokenizer_open(t, spec, &options, &err);
    if (s == LEAT_OK)
        return CLI_DONE;
    /* a hint says what to change; without one, the command's help does */
    return s == LEAT_E_ARGUMENT && err.hint == LEAT_HINT_NONE ? command_wrong(self, "%s", err.message)
                                                              : cli_failed(&err);
}

/* Returns true for a word that is rather meant as the answer to a question than as the text of a token. */
static bool is_keyword(const char *text)
{
    static const char *const words[] = { "no", "off", "false", "null", "nil", "none", "yes", "on", "true", "auto" };
    bool is = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is = is || strcasecmp(text, words[i]) == 0;
    return is;
}

bool commands_token(const struct command *self, const struct leat_tokenizer *t, const char *option, const char *text,
                    uint64_t *token)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    struct leat_error err;
    const char *why;
    uint32_t id;

    *token = LEAT_NONE;
    if (strcmp(text, "none") == 0)
        return true;
    if (is_keyword(text)) {
        command_wrong(self,
                      "--%s %s looks like a keyword: --%s none means no such token; give one of this text by its id",
                      option, text, option);
        return false;
    }
    if (t)
        leat_tokenizer_info(t, &info);
    if (text[0] >= '0' && text[0] <= '9' && units_parse(text, false, token, &why)) {
        if (!t || *token < info.vocabulary)
            return true;
        command_wrong(self, "--%s %s: the tokenizer's ids end at %" PRIu64, option, text, info.vocabulary - 1);
        return false;
    }
    if (!t) {
        command_wrong(self, "--%s %s is not an id; to give it as text, name the tokenizer (--tokenizer)", option, text);
        return false;
    }
    if (leat_tokenizer_find(t, text, strlen(text), &id, &err) != LEAT_OK) {
        command_wrong(self, "--%s: %s", option, err.message);
        return false;
    }
    *token = id;
    return true;
}

void commands_say_learned(const char *before, const char *value, uint64_t tokens, bool chat)
{
    const char *comma = " (";
    struct learned l;

    if (!learned_read(&l, value))
        return;
    printf("%s%s of %s %s learned", before, units_count(l.tokens).text, units_counted(tokens, "token").text,
           tokens == 1 ? "is" : "are");
    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        if (l.by_role[i] > 0) {
            printf("%s%s %s", comma, learned_roles[i], units_count(l.by_role[i]).text);
            comma = ", ";
        }
    printf("%s; %s %s none\n", comma[0] == ',' ? ")" : "",
           units_counted(l.documents_without, chat ? "conversation" : "document").text,
           l.documents_without == 1 ? "has" : "have");
}

void commands_learned_json(struct json *j, const char *value)
{
    value = *value ? value : "null";
    json_value(j, "learned", value, strlen(value));
}

uint32_t commands_on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total, NULL);
    return cli_interrupted();
}

#define IDS_AT_ONCE   4096u
#define ID_CHARACTERS 11u /* width of a space and ten digits */

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

void commands_print_ids(const uint32_t *ids, size_t count, bool spaced)
{
    char out[IDS_AT_ONCE * ID_CHARACTERS];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (used > sizeof out - ID_CHARACTERS) {
            fwrite(out, 1, used, stdout);
            used = 0;
        }
        if (spaced || i > 0)
            out[used++] = ' ';
        used += write_id(out + used, ids[i]);
    }
    fwrite(out, 1, used, stdout);
}

const char *commands_shown(const char *name, char shown[COMMANDS_NAME])
{
    (void)leat_show_name(shown, COMMANDS_NAME, name, strlen(name));
    return strstr(name, "://") ? shown : name;
}

enum leat_status commands_open(struct leat_dataset **d, const char *name, struct leat_error *err)
{
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;

    how.waiting = cli_say_waiting;
    return leat_dataset_open(d, name, &how, err);
}

enum leat_status commands_read_checked(const struct leat_dataset *d, uint64_t first, uint64_t count, uint32_t *ids,
                                       struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = leat_dataset_verify_range(d, first, count, err);

    leat_dataset_info(d, &info);
    if (s == LEAT_OK || (s == LEAT_E_NOT_FOUND && info.foreign_parts > 0)) /* files without hashes */
        s = leat_dataset_read_u32(d, first, count, ids, err);
    return s;
}

/* ---- Damaged inputs ---------------------------------------------------------------------------------------------- */

static bool is_lost(const struct damage *d)
{
    return d->offset == 0;
}

void damage_say_all(const struct damage_list *l, char *text, size_t room)
{
    size_t lost = 0;

    for (size_t i = 0; i < l->count; i++)
        lost += is_lost(&l->items[i]);
    if (lost == l->count)
        snprintf(text, room, "%s %s cut off or broken, and nothing of %s could be read",
                 units_counted(lost, "input").text, lost == 1 ? "was" : "were", lost == 1 ? "it" : "them");
    else if (lost > 0)
        snprintf(text, room, "%s were cut off or broken, and packed as far as they were readable, but %s not at all",
                 units_counted(l->count, "input").text, units_count(lost).text);
    else
        snprintf(text, room, "%s %s cut off or broken, and packed as far as %s readable",
                 units_counted(l->count, "input").text, l->count == 1 ? "was" : "were",
                 l->count == 1 ? "it was" : "they were");
}

/* Writes what is known of the bytes after the damage. */
static void say_unread(const struct damage *d, char *text, size_t room)
{
    if (d->unread == LEAT_NONE)
        snprintf(text, room, "what follows was not read");
    else if (d->unread == 0)
        snprintf(text, room, DAMAGE_MISSING);
    else
        snprintf(text, room, "%s %s not read", units_counted(d->unread, "byte").text, d->unread == 1 ? "was" : "were");
}

void damage_say_one(const struct damage *d, char *text, size_t room)
{
    char unread[80];

    say_unread(d, unread, sizeof unread);
    snprintf(text, room, "%.300s, at byte %s: %.250s; %s", d->input, units_count(d->offset).text, d->reason, unread);
}

void damage_json(const struct damage_list *l, struct json *j)
{
    json_open_array(j, "damaged");
    for (size_t i = 0; i < l->count; i++) {
        json_open_object(j, NULL);
        json_string(j, "input", l->items[i].input);
        json_u64_or_null(j, "offset", l->items[i].offset);
        json_string(j, "reason", l->items[i].reason);
        json_u64_or_null(j, "unread_bytes", l->items[i].unread);
        json_close_object(j);
    }
    json_close_array(j);
}
