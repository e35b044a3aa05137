/* pack_description.c: see pack_description.h. */
#include "pack_description.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "corpus/record/pair.h"
#include "input_changes.h"

#define PIN "pinned "

static enum leat_status add_text(struct buffer *b, struct leat_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum leat_status add_text(struct buffer *b, struct leat_error *err, const char *format, ...)
{
    enum leat_status s;
    va_list args;
    size_t length;

    va_start(args, format);
    length = (size_t)vsnprintf(NULL, 0, format, args);
    va_end(args);
    s = buffer_reserve(b, length + 1, err); /* reserves room for a NUL, too, which is not part of the text */
    if (s != LEAT_OK)
        return s;
    va_start(args, format);
    vsnprintf((char *)b->bytes + b->size, length + 1, format, args);
    va_end(args);
    b->size += length;
    return LEAT_OK;
}

static enum leat_status add_named(struct buffer *b, const char *name, const char *text, struct leat_error *err)
{
    enum leat_status s = add_text(b, err, "%s ", name);

    return s == LEAT_OK ? buffer_append_line(b, text, err) : s;
}

/* Adds the line of an input. Its time of change, or the version of an object, tells it from another input of the
 * same name. */
static enum leat_status add_input(struct buffer *b, const struct input *in, struct leat_error *err)
{
    enum leat_status s =
        add_text(b, err, "input %s %llu bytes, ", record_format_name(in->format), (unsigned long long)in->size);

    if (s == LEAT_OK && in->object)
        s = add_text(b, err, "etag %s", fetch_object_etag(in->object));
    else if (s == LEAT_OK)
        s = add_text(b, err, "changed at %lld.%09lld", (long long)in->modified_s, (long long)in->modified_ns);
    if (s == LEAT_OK)
        s = add_text(b, err, ", bytes %llu to %llu: ", (unsigned long long)in->begin, (unsigned long long)in->end);
    return s == LEAT_OK ? buffer_append_line(b, in->path, err) : s;
}

static enum leat_status add_chat(struct buffer *b, const struct pack_chat *chat, const struct leat_pack_options *o,
                                 struct leat_error *err)
{
    enum leat_status s = add_text(b, err, "chat template %016llx%016llx\n", (unsigned long long)chat->sum.high,
                                  (unsigned long long)chat->sum.low);

    if (s == LEAT_OK)
        s = add_text(b, err, "jinja2 %s\n", chat->version);
    if (s == LEAT_OK && o->chat_date)
        s = add_named(b, "chat-date", o->chat_date, err);
    if (s == LEAT_OK && o->skip_slow_chats)
        s = add_text(b, err, "skip-slow-chats %u\n", o->chat_seconds);
    if (s == LEAT_OK)
        s = buffer_append(b, chat->learning.bytes, chat->learning.size, err);
    if (s == LEAT_OK)
        s = add_named(b, "messages", o->messages, err);
    return s == LEAT_OK ? add_named(b, "tools", o->tools, err) : s;
}

enum leat_status pack_description_make(struct buffer *text, const struct leat_pack_options *o,
                                       const struct pack_chat *chat, const struct input_list *inputs,
                                       struct leat_error *err)
{
    enum leat_status s = add_text(text, err, "leat pack 1\n");

    if (s == LEAT_OK)
        s = add_named(text, "text-field", o->text, err);
    if (s == LEAT_OK)
        s = add_named(text, "id-field", o->id, err);
    for (size_t i = 0; s == LEAT_OK && i < o->include_count; i++)
        s = add_named(text, "include", o->include[i], err);
    for (size_t i = 0; s == LEAT_OK && i < o->exclude_count; i++)
        s = add_named(text, "exclude", o->exclude[i], err);
    if (s == LEAT_OK && o->split_of) /* the option stands before the inputs that it leaves */
        s = add_named(text, "split-of", o->split_of, err);
    if (s == LEAT_OK)
        s = add_text(text, err, "special %d\ninvalid-utf8 %s\npart %u/%u\ninputs %zu\n", o->special != 0,
                     o->reject_invalid ? "reject" : "replace", o->part, o->parts, inputs->count);
    if (s == LEAT_OK && o->shuffle)
        s = add_text(text, err, "shuffle %llu\n", (unsigned long long)o->seed);
    if (s == LEAT_OK && o->allow_binary)
        s = add_text(text, err, "allow-binary\n");
    if (s == LEAT_OK && o->store_mask)
        s = add_text(text, err, "mask\n");
    if (s == LEAT_OK && o->mask_field)
        s = add_named(text, "mask-field", o->mask_field, err);
    if (s == LEAT_OK && pair_prompt(o))
        s = add_named(text, "prompt", pair_prompt(o), err);
    if (s == LEAT_OK && pair_prompt(o))
        s = add_named(text, "completion", pair_completion(o), err);
    if (s == LEAT_OK && o->alpaca)
        s = add_text(text, err, "alpaca\n");
    if (s == LEAT_OK && o->max_length > 0)
        s = add_text(text, err, "max-length %u, too-long %u\n", o->max_length, o->too_long);
    if (s == LEAT_OK && o->weight)
        s = add_named(text, "weight", o->weight, err);
    if (s == LEAT_OK && chat)
        s = add_chat(text, chat, o, err);
    for (size_t i = 0; s == LEAT_OK && i < o->keep_count; i++)
        s = add_named(text, "keep", o->keep[i], err);
    for (size_t i = 0; s == LEAT_OK && i < o->column_count; i++)
        s = add_named(text, "column", o->column[i], err);
    if (s == LEAT_OK && o->by)
        s = add_named(text, "by", o->by, err);
    if (s == LEAT_OK && o->dedup)
        s = add_text(text, err, "dedup\n");
    for (size_t i = 0; s == LEAT_OK && i < o->split_count; i++)
        s = add_text(text, err, "split %s=%s\n", o->splits[i].name, o->splits[i].fraction);
    if (s == LEAT_OK)
        s = hub_pins_write(&inputs->pins, PIN, text, err);
    for (size_t i = 0; s == LEAT_OK && i < inputs->count; i++)
        s = add_input(text, &inputs->items[i], err);
    return s;
}

/* Reads a description of at most `max` bytes; only its first bytes if `start` is true. */
static enum leat_status read_description(struct buffer *text, const char *path, uint64_t max, bool start,
                                         struct leat_error *err)
{
    uint64_t size;
    int fd = -1;
    enum leat_status s = own_file_open(&fd, &size, path, OWN_FILE_READ, err);

    if (s == LEAT_OK && size > max && !start)
        s = status_too_large(err, path, max);
    if (s == LEAT_OK && size > max)
        size = max;
    if (s == LEAT_OK)
        s = buffer_reserve(text, (size_t)size + 1, err);
    if (s == LEAT_OK)
        s = file_read_at(fd, 0, text->bytes, size, path, err);
    file_close(&fd);
    if (s == LEAT_OK)
        text->size = (size_t)size;
    return s;
}

enum leat_status pack_description_pins(struct hub_pins *pins, const char *path, struct leat_error *err)
{
    struct buffer text = { 0 };
    enum leat_status s = read_description(&text, path, BUFFER_TEXT_MAX, true, err); /* the pins stand before the
                                                                                       inputs */

    if (s == LEAT_E_NO_FILE)
        s = LEAT_OK;
    else if (s == LEAT_OK) {
        text.bytes[text.size] = '\0';
        s = hub_pins_read(pins, PIN, (const char *)text.bytes, err);
    }
    buffer_free(&text);
    return s;
}

enum leat_status pack_description_write(const char *path, const struct buffer *text, struct leat_error *err)
{
    int fd = -1;
    enum leat_status s = file_remove(path, err);

    if (s == LEAT_OK)
        s = file_create(&fd, path, err);
    if (s == LEAT_OK)
        s = file_write_at(fd, 0, text->bytes, text->size, path, err);
    if (s == LEAT_OK)
        s = file_sync(fd, path, err);
    if (s == LEAT_OK)
        s = file_sync_folder(path, err);
    file_close(&fd);
    return s;
}

static size_t line_length(const uint8_t *text, size_t bytes)
{
    const uint8_t *end = bytes > 0 ? memchr(text, '\n', bytes) : NULL;

    return end ? (size_t)(end - text) : bytes;
}

static bool is_input(const char *line)
{
    return strncmp(line, "input ", 6) == 0;
}

enum leat_status pack_description_say_difference(const char *run, const char *then, const char *now, const char *inputs,
                                                 struct leat_error *err)
{
    if (inputs[0])
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, run,
                               "the inputs are not those of the earlier run of %.200s: %s; give the same ones or "
                               "start over",
                               run, inputs);
    /* Inputs come last: if one line is an option and the other an input, the other run lacks the option. */
    if (is_input(then) != is_input(now))
        return status_set_hint(
            err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, run,
            is_input(now)
                ? "the earlier run of %.300s differs: that one had \"%.250s\", and this one does not; give the "
                  "same inputs and options or start over"
                : "the earlier run of %.300s differs: this one has \"%.250s\", and that one did not; give the "
                  "same inputs and options or start over",
            run, is_input(now) ? then : now);
    return status_set_hint(
        err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, run,
        "the earlier run of %.300s differs: that one had \"%.250s\", this one has \"%.250s\"; give the "
        "same inputs and options or start over",
        run, then, now);
}

/* Shows the lines of both texts that begin at these places. */
static enum leat_status say_lines(const char *run, const struct buffer *then, size_t at_then, const struct buffer *now,
                                  size_t at_now, pack_description_say *say, struct leat_error *err)
{
    size_t then_bytes = line_length(then->bytes + at_then, then->size - at_then);
    size_t now_bytes = line_length(now->bytes + at_now, now->size - at_now);
    char *a = strndup((const char *)then->bytes + at_then, then_bytes);
    char *b = strndup((const char *)now->bytes + at_now, now_bytes);
    char inputs[INPUT_CHANGES] = "";
    enum leat_status s = a && b ? LEAT_OK : status_no_memory(err, then_bytes + now_bytes);

    if (s == LEAT_OK && (strncmp(a, "inputs ", 7) == 0 || (is_input(a) && is_input(b))))
        s = input_changes_say(inputs, then, now, err);
    if (s == LEAT_OK)
        s = say(run, a, b, inputs, err);
    free(a);
    free(b);
    return s;
}

enum leat_status pack_description_compare(const char *path, const struct buffer *text, const char *run,
                                          pack_description_say *say, struct leat_error *err)
{
    struct buffer then = { 0 };
    size_t at_then = 0, at_now = 0;
    enum leat_status s = read_description(&then, path, BUFFER_TEXT_MAX + text->size, false, err);

    while (s == LEAT_OK && (at_then < then.size || at_now < text->size)) {
        size_t a = line_length(then.bytes + at_then, then.size - at_then);
        size_t b = line_length(text->bytes + at_now, text->size - at_now);

        if (a != b || memcmp(then.bytes + at_then, text->bytes + at_now, a) != 0)
            s = say_lines(run, &then, at_then, text, at_now, say, err);
        at_then += at_then + a < then.size ? a + 1 : a;
        at_now += at_now + b < text->size ? b + 1 : b;
    }
    buffer_free(&then);
    return s;
}
