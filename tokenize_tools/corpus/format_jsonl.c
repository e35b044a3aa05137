/* format_jsonl.c: JSON with an object per record, in lines or otherwise (json_records.h); one of its members is the
 * text, another the id. */
#include "record_format.h"

const struct record_format format_jsonl = { .suffixes = { ".jsonl", ".jsonlines", ".ndjson", ".json" },
                                            .find = json_fields_find,
                                            .is_json = true };
