/*
 * cmd_encode.c: `leat encode`: prints the ids of each document of texts, to look at or to compare with other programs.
 *
 * Records are encoded one by one. An input that is one document may be of any size, so its ids are printed as they
 * become certain (leat_encoder_part()).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "commands.h"
#include "corpus/document_input.h"

#define RAW_IDS 4096u

enum invalid { INVALID_REPLACE, INVALID_REJECT };
enum output { OUTPUT_IDS, OUTPUT_U32 };

static const char *const invalid_names[] = { "replace", "reject", NULL };
static const char *const output_names[] = { "ids", "u32", NULL };

struct encode_values {
    const char *tokenizer, *pattern, *field;
    bool jsonl, text_file, special;
    unsigned invalid; /* enum invalid */
    unsigned output;  /* enum output */
};

const struct option_row encode_options[] = {
    COMMANDS_TOKENIZER_SPEC(struct encode_values, .standard = "gpt2"),
    COMMANDS_PATTERN(struct encode_values),
    { .name = "jsonl",
      .type = OPTION_FLAG,
      .field = offsetof(struct encode_values, jsonl),
      .help = "treat every input as JSON lines, whatever its name" },
    { .name = "text-file",
      .excludes = "jsonl",
      .type = OPTION_FLAG,
      .field = offsetof(struct encode_values, text_file),
      .help = "treat every input as one document, whatever its name" },
    { .name = "text",
      .type = OPTION_TEXT,
      .field = offsetof(struct encode_values, field),
      .value = "FIELD",
      .standard = "text",
      .help = "the JSON member that holds the text",
      .more = "Dots lead into objects: meta.body. A member that has dots in its own name cannot be named." },
    { .name = "special",
      .type = OPTION_FLAG,
      .field = offsetof(struct encode_values, special),
      .help = "encode strings of special tokens in the text as these tokens",
      .more = "Without it, they are ordinary text." },
    { .name = "invalid-utf8",
      .type = OPTION_CHOICE,
      .field = offsetof(struct encode_values, invalid),
      .value = "HOW",
      .standard = "replace",
      .help = "malformed UTF-8: replace it by U+FFFD, or end the command",
      .more = "replace does what Python's errors=\"replace\" does.",
      .rare = true,
      .choices = invalid_names },
    { .name = "format",
      .type = OPTION_CHOICE,
      .field = offsetof(struct encode_values, output),
      .value = "ids|u32",
      .standard = "ids",
      .help = "ids as numbers, or u32: little-endian 32-bit words",
      .more = "Numbers are one document per line. Words have nothing between documents.",
      .choices = output_names },
    OPTIONS_END
};

static void print_words(const uint32_t *ids, size_t count)
{
    char out[RAW_IDS * 4];

    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < RAW_IDS ? count - done : RAW_IDS;
        for (size_t i = 0; i < part; i++)
            bytes_store32(out + 4 * i, ids[done + i]);
        fwrite(out, 4, part, stdout);
    }
}

/* Prints the next ids of a document. *any is true if some came before. */
static void print_ids(const struct encode_values *v, const uint32_t *ids, uint64_t count, bool *any)
{
    if (v->output == OUTPUT_U32)
        print_words(ids, (size_t)count);
    else
        commands_print_ids(ids, (size_t)count, *any);
    *any = *any || count > 0;
}

static void print_end(const struct encode_values *v)
{
    if (v->output == OUTPUT_IDS)
        putchar('\n');
}

/* Encodes an input that is one document of any size. Ids are printed as they become certain, even before malformed
 * text. */
static enum leat_status encode_whole(struct leat_encoder *e, const struct encode_values *v, struct document_input *in,
                                     struct leat_error *err)
{
    enum leat_status s = leat_encoder_begin(e, err);
    uint64_t count, used;
    const uint32_t *ids;
    bool any = false;
    const char *text;
    size_t bytes;

    while (s == LEAT_OK && !cli_stdout_failed()) {
        s = document_input_chunk(in, &text, &bytes, err);
        if (s != LEAT_OK || bytes == 0)
            break;
        for (; s == LEAT_OK && bytes > 0 && !cli_stdout_failed(); text += used, bytes -= (size_t)used) {
            s = leat_encoder_part(e, text, bytes, &used, &ids, &count, err);
            if (s != LEAT_OK)
                return document_input_blame(in, err);
            print_ids(v, ids, count, &any);
        }
    }
    if (s != LEAT_OK || cli_stdout_failed())
        return s;
    s = leat_encoder_end(e, &ids, &count, err);
    if (s != LEAT_OK)
        return document_input_blame(in, err);
    print_ids(v, ids, count, &any);
    print_end(v);
    return LEAT_OK;
}

static enum leat_status encode_records(struct leat_encoder *e, const struct encode_values *v, struct document_input *in,
                                       struct leat_error *err)
{
    const uint32_t *ids;
    const char *text;
    uint64_t count;
    size_t bytes;
    bool found;

    while (!cli_stdout_failed()) {
        enum leat_status s = document_input_next(in, &text, &bytes, &found, err);
        bool any = false;

        if (s != LEAT_OK || !found)
            return s;
        s = leat_encoder_encode(e, text, bytes, &ids, &count, err);
        if (s != LEAT_OK)
            return document_input_blame(in, err);
        print_ids(v, ids, count, &any);
        print_end(v);
    }
    return LEAT_OK;
}

static enum leat_status encode_input(struct leat_encoder *e, const struct encode_values *v, const char *path,
                                     struct leat_error *err)
{
    enum document_kind kind = v->jsonl ? DOCUMENT_JSONL : v->text_file ? DOCUMENT_WHOLE : DOCUMENT_BY_NAME;
    struct document_input *in;
    enum leat_status s = document_input_open(&in, path, kind, v->field, err);

    if (s == LEAT_OK)
        s = document_input_is_one(in) ? encode_whole(e, v, in, err) : encode_records(e, v, in, err);
    document_input_close(in);
    return s;
}

static int encode_all(const struct command *self, const struct encode_values *v, const struct options_parsed *parsed)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    struct leat_error err;
    enum leat_status s;
    int code = commands_tokenizer(self, &t, v->tokenizer, v->pattern);

    if (code != CLI_DONE)
        return code;
    options.special = v->special;
    options.reject_invalid = v->invalid == INVALID_REJECT;
    s = leat_encoder_open(&e, t, &options, &err);
    if (s == LEAT_OK && parsed->count == 0)
        s = encode_input(e, v, "-", &err);
    for (size_t i = 0; i < parsed->count && s == LEAT_OK && !cli_stdout_failed(); i++)
        s = encode_input(e, v, parsed->words[i], &err);
    if (s != LEAT_OK && err.os_error == ENOENT)
        status_after(&err,
                     "; arguments are files, and a text comes from standard input: printf %%s TEXT | leat encode");
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
}

int cmd_encode(const struct command *self, int argc, char **argv)
{
    struct encode_values values = { .tokenizer = "gpt2", .field = "text" };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = encode_all(self, &values, &parsed);
    options_free(&parsed);
    return code;
}
