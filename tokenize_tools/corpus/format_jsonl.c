/* format_jsonl.c: JSON lines: one object per line; one of its members is the text, another the id. */
#include "record_format.h"

const struct record_format format_jsonl = { .suffixes = { ".jsonl", ".jsonlines", ".ndjson", ".json" },
                                            .find = json_fields_find,
                                            .is_json = true };
