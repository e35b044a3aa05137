/* record_format.c: the table of formats. */
#include "record_format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "corpus/csv/csv_header.h"
#include "corpus/streams/byte_stream.h"

/* ---- The formats ------------------------------------------------------------------------------------------------- */

/* JSON with an object per record, in lines or otherwise (json_records.h). One member of the object is the text,
 * another the id. */
const struct record_format format_jsonl = { .suffixes = { ".jsonl", ".jsonlines", ".ndjson", ".json" },
                                            .read = record_read,
                                            .is_json = true };

/* Parquet, a row per document. One column is the text, another the id. */
const struct record_format format_parquet = { .suffixes = { ".parquet", ".pq" }, .rows = true };

/* Tables in text, a record per document; the first record names the columns. */
const struct record_format format_csv = { .suffixes = { ".csv" }, .read = csv_read, .delimiter = ',' };
const struct record_format format_tsv = { .suffixes = { ".tsv" }, .read = csv_read, .delimiter = '\t' };

/* A text that is one document as a whole. */
const struct record_format format_text = { .suffixes = { ".txt", ".md" }, .whole = true };

/* ---- All formats ------------------------------------------------------------------------------------------------- */

#define NAME(number, name) [number] = #name,
const char *const record_format_names[RECORD_FORMAT_COUNT + 1] = { "auto", RECORD_FORMATS(NAME) };

#define ROW(number, name) [number] = &format_##name,
static const struct record_format *const rows[RECORD_FORMAT_COUNT] = { RECORD_FORMATS(ROW) };

const char *record_format_name(const struct record_format *format)
{
    int i = 1;

    while (rows[i] != format)
        i++;
    return record_format_names[i];
}

const struct record_format *record_format_number(int number)
{
    return number > 0 && number < RECORD_FORMAT_COUNT ? rows[number] : NULL;
}

const struct record_format *record_format_of_name(const char *path)
{
    size_t length = byte_stream_stem(path);

    for (int i = 1; i < RECORD_FORMAT_COUNT; i++)
        for (const char *const *suffix = rows[i]->suffixes; *suffix; suffix++) {
            size_t bytes = strlen(*suffix);

            if (length > bytes && strncasecmp(path + length - bytes, *suffix, bytes) == 0)
                return rows[i];
        }
    return NULL;
}

/* A growing sentence, from which words that do not fit are left out. */
struct sentence {
    char *text;
    size_t used;
};

static void add_word(struct sentence *s, const char *before, const char *word)
{
    snprintf(s->text + s->used, RECORD_FORMAT_SENTENCE - s->used, "%s%s", before, word);
    s->used += strlen(s->text + s->used);
}

/* Returns the separator before a word of a list. */
static const char *between(bool first, bool last)
{
    return first ? "" : last ? " or " : ", ";
}

void record_format_tell(char text[RECORD_FORMAT_SENTENCE])
{
    struct sentence s = { text, 0 };

    add_word(&s, "", "(");
    for (int i = 1; i < RECORD_FORMAT_COUNT; i++)
        for (const char *const *suffix = rows[i]->suffixes; *suffix && !rows[i]->rows; suffix++)
            add_word(&s, between(s.used == 1, false), *suffix);
    add_word(&s, ", each also with ", "");
    for (int form = 1; form < BYTE_FORMS; form++)
        add_word(&s, between(form == 1, form + 1 == BYTE_FORMS),
                 byte_stream_decompressor((enum byte_form)form)->suffix);
    add_word(&s, " after it; ", "");
    for (int i = 1; i < RECORD_FORMAT_COUNT; i++)
        for (const char *const *suffix = rows[i]->suffixes; *suffix && rows[i]->rows; suffix++)
            add_word(&s, between(suffix == rows[i]->suffixes, !suffix[1]), *suffix);
    add_word(&s, "); choose the format ", "");
    for (int i = 1; i < RECORD_FORMAT_COUNT; i++)
        add_word(&s, between(i == 1, i + 1 == RECORD_FORMAT_COUNT), record_format_names[i]);
}
