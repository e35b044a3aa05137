/* format_jsonl.c: JSON lines: an object a line, of which one member is the text and one the id. */
#include "record_format.h"

const struct record_format format_jsonl = { .suffixes = { ".jsonl", ".jsonlines", ".ndjson", ".json" },
                                            .find = json_fields_find,
                                            .is_json = true };
