/*
 * record_format.h: how the text of an input is divided into documents. A new format is a table in record_format.c, with
 * the suffixes of its files, and a row of RECORD_FORMATS, which gives its name and how messages describe it.
 *
 * Its number is one of enum leat_pack_format, which `make lint` compares. People read of formats in the help of
 * --format, leat.pack() and leat_pack.h. A format that is neither lines nor one document nor rows of a table needs a
 * kind of unit, too (pack/flow/unit_kinds.h).
 */
#ifndef LEAT_TOKENIZE_TOOLS_RECORD_FORMAT_H
#define LEAT_TOKENIZE_TOOLS_RECORD_FORMAT_H

#include <stdbool.h>

#include "corpus/record/record.h"
#include "leat_pack.h"

/* Each format: its number in users' programs, and its name in --format, in checkpoints and in the row format_NAME. */
#define RECORD_FORMATS(each)                                                                                           \
    each(LEAT_PACK_JSONL, jsonl) each(LEAT_PACK_TEXT, text) each(LEAT_PACK_PARQUET, parquet) each(LEAT_PACK_CSV, csv)  \
        each(LEAT_PACK_TSV, tsv)

struct record_format {
    const char *suffixes[8]; /* suffixes of files, ended by NULL */

    /* Finds the values of one record in a text, as record_read() does. NULL for formats that have no such records. */
    enum leat_status (*read)(struct record *r, const char *line, size_t bytes, struct leat_error *err);
    char delimiter; /* delimiter between fields of a table in text (corpus/csv); 0 for other formats */
    bool whole;     /* true if the whole input is one document */
    bool rows;      /* true for tables with a document per row (corpus/parquet), which are not read as a stream */
    bool is_json;   /* true if records too big for memory are taken in chunks (record_feed()) */
};

#define RECORD_FORMAT_DECLARE(number, name) extern const struct record_format format_##name;
RECORD_FORMATS(RECORD_FORMAT_DECLARE)

#define RECORD_FORMAT_ONE(number, name) +1
#define RECORD_FORMAT_COUNT             (1 RECORD_FORMATS(RECORD_FORMAT_ONE)) /* with AUTO */

/* The names as --help shows them: "auto|jsonl|...". */
#define RECORD_FORMAT_BAR(number, name) "|" #name
#define RECORD_FORMAT_VALUES            "auto" RECORD_FORMATS(RECORD_FORMAT_BAR)

/* The names by number, from "auto" on, ended by NULL. */
extern const char *const record_format_names[RECORD_FORMAT_COUNT + 1];

const char *record_format_name(const struct record_format *format);

/* Returns the row of a number; NULL for AUTO, or an unknown number. */
const struct record_format *record_format_number(int number);

/* Returns the row for the suffix of a file, ignoring .zst and the like; NULL if there is none. */
const struct record_format *record_format_of_name(const char *path);

/* Writes the suffixes that files may have, and the formats to choose from, for a sentence with LEAT_HINT_FORMAT:
 * "(.jsonl, .txt or .md, each also with .zst, .gz, ... after it; .parquet or .pq); choose the format jsonl, text, ...
 * or tsv". */
#define RECORD_FORMAT_SENTENCE 256
void record_format_tell(char text[RECORD_FORMAT_SENTENCE]);

#endif
