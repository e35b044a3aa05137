/* cmd_decode.c: `leat decode`: prints the text of each line of ids, as a JSON string or byte for byte. */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/status.h"
#include "commands.h"
#include "corpus/document_input.h"

struct decode_values {
    const char *tokenizer, *pattern;
    bool raw;
};

const struct option_row decode_options[] = {
    COMMANDS_TOKENIZER_SPEC(struct decode_values, .standard = "gpt2"),
    COMMANDS_PATTERN(struct decode_values),
    { .name = "raw",
      .type = OPTION_FLAG,
      .field = offsetof(struct decode_values, raw),
      .help = "print the bytes of each text, and a newline, instead of a JSON string" },
    OPTIONS_END
};

/* The ids of a line. */
struct id_line {
    uint32_t *ids;
    size_t count, room;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static enum leat_status add_id(struct id_line *l, uint32_t id, struct leat_error *err)
{
    enum leat_status s = GROW(l->ids, l->count + 1, l->room, err);

    if (s == LEAT_OK)
        l->ids[l->count++] = id;
    return s;
}

static enum leat_status parse_line(struct id_line *l, const char *line, size_t bytes, struct leat_error *err)
{
    const char *at = line, *end = line + bytes, *first;
    enum leat_status s = LEAT_OK;

    l->count = 0;
    while (s == LEAT_OK) {
        uint64_t id = 0;

        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            break;
        for (first = at; at < end && *at >= '0' && *at <= '9' && id <= UINT32_MAX; at++)
            id = 10 * id + (uint64_t)(*at - '0');
        if (id <= UINT32_MAX && (at == end || is_blank(*at))) {
            s = add_id(l, (uint32_t)id, err);
            continue;
        }
        while (at < end && !is_blank(*at))
            at++;
        s = status_set(err, LEAT_E_TEXT, "\"%.*s\" is not an id: ids are numbers below 2^32, separated by spaces",
                       (int)(at - first < 60 ? at - first : 60), first);
    }
    return s;
}

static enum leat_status decode_line(struct leat_encoder *e, const struct id_line *l, bool raw, struct leat_error *err)
{
    const char *text;
    uint64_t bytes;
    struct json j;
    enum leat_status s = leat_encoder_decode(e, l->ids, l->count, &text, &bytes, err);

    if (s != LEAT_OK)
        return s;
    if (raw) {
        fwrite(text, 1, (size_t)bytes, stdout);
        putchar('\n');
    } else {
        json_begin(&j, stdout);
        json_bytes(&j, NULL, text, (size_t)bytes);
        json_end(&j);
    }
    return LEAT_OK;
}

static enum leat_status decode_input(struct leat_encoder *e, bool raw, const char *path, struct leat_error *err)
{
    struct id_line l = { .ids = NULL };
    struct text_input *in;
    enum leat_status s = text_input_open(&in, path, err);
    size_t bytes;
    char *line;
    bool found;

    while (s == LEAT_OK && !cli_stdout_failed()) {
        s = text_input_line(in, &line, &bytes, &found, err);
        if (s != LEAT_OK || !found)
            break;
        s = parse_line(&l, line, bytes, err);
        if (s == LEAT_OK)
            s = decode_line(e, &l, raw, err);
        if (s != LEAT_OK)
            text_input_blame(in, true, err);
    }
    text_input_close(in);
    free(l.ids);
    return s;
}

static int decode_all(const struct command *self, const struct decode_values *v, const struct options_parsed *parsed)
{
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    struct leat_error err;
    enum leat_status s;
    int code = commands_tokenizer(self, &t, v->tokenizer, v->pattern);

    if (code != CLI_DONE)
        return code;
    s = leat_encoder_open(&e, t, NULL, &err);
    if (s == LEAT_OK && parsed->count == 0)
        s = decode_input(e, v->raw, "-", &err);
    for (size_t i = 0; i < parsed->count && s == LEAT_OK && !cli_stdout_failed(); i++)
        s = decode_input(e, v->raw, parsed->words[i], &err);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
}

int cmd_decode(const struct command *self, int argc, char **argv)
{
    struct decode_values values = { .tokenizer = "gpt2" };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = decode_all(self, &values, &parsed);
    options_free(&parsed);
    return code;
}
