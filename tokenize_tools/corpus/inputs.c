/*
 * inputs.c: words are looked up here, folders in search_folder.c, lists in find_list.c, URLs in
 * search_objects.c, splits of the whole in search_splits.c; search.h says how these go together.
 */
#include "inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/mounts.h"
#include "base/status.h"
#include "corpus/csv/csv_header.h"
#include "corpus/streams/byte_stream.h"
#include "own_outputs.h"
#include "search.h"

/* ---- Words ------------------------------------------------------------------------------------------------------ */

static enum leat_status add_standard_input(struct search *s, struct leat_error *err)
{
    const struct own_output *own;
    struct stat st;

    for (size_t i = 0; i < s->list->count; i++)
        if (strcmp(s->list->items[i].path, "-") == 0)
            return status_argument(err, "inputs", "standard input (-) is given twice");
    own = fstat(STDIN_FILENO, &st) == 0 ? own_outputs_find(s->rules->own, &st) : NULL;
    if (own)
        return status_argument(err, "inputs", "standard input (-) is %s, which this run writes; choose another output",
                               own->name);
    return search_add(
        s, "-", record_format_number(s->rules->options->format ? (int)s->rules->options->format : LEAT_PACK_JSONL),
        NULL, err);
}

/* Adds a file that a user named. Lists may name very many files, which are not opened before their turn. A pattern
 * of the shell's may have found files that the run before this one has left. */
static enum leat_status add_given(struct search *s, const char *path, const struct stat *st, struct leat_error *err)
{
    const struct record_format *format;
    enum leat_status status;

    if (own_outputs_find(s->rules->own, st))
        return search_skip(s, path, LEAT_SKIP_OWN, NULL, err);
    status = input_judge_given(path, s->depth == 0, s->rules, &s->tries->mounts, &format, err);
    return status == LEAT_OK ? search_add(s, path, format, st, err) : status;
}

/* Looks up a file or folder that exists. */
static enum leat_status find_path(struct search *s, const char *path, const struct stat *st, struct leat_error *err)
{
    if (S_ISDIR(st->st_mode))
        return search_folder(s, path, err);
    if (!S_ISREG(st->st_mode))
        return status_in_file(err,
                              status_argument(err, "inputs",
                                              "%s is neither a file nor a folder; for a pipe, use - and redirect it",
                                              path),
                              path);
    return add_given(s, path, st, err);
}

/* Expands a pattern that the shell did not expand, because it was quoted or is in a list. */
static enum leat_status find_pattern(struct search *s, const char *pattern, struct leat_error *err)
{
    struct search_names found;
    enum leat_status status = search_expand(s, pattern, &found, err);

    if (status == LEAT_OK && found.count == 0)
        return status_set_in(err, LEAT_E_NO_FILE, pattern,
                             "no file matches %s (* ? [ ] match within one name; ** means no more than *)", pattern);
    /* a match is a name, whatever it looks like: a file called - or @list, a dangling link called a* */
    for (size_t i = 0; status == LEAT_OK && i < found.count; i++) {
        const char *match = strcmp(found.items[i], "-") == 0 ? "./-" : found.items[i];
        struct stat st;

        if (stat(match, &st) == 0)
            status = find_path(s, match, &st, err);
        else
            status = status_set_os(err, errno, match, "cannot find the input %s", match);
    }
    search_names_free(&found);
    return status;
}

/* Looks up a word that is not the name of a file. */
static enum leat_status find_nothing(struct search *s, const char *word, struct leat_error *err)
{
    int error = errno;
    const char *colon = strstr(word, "://");

    if (error == ENOENT && colon && colon > word)
        return status_set_in(
            err, LEAT_E_UNSUPPORTED, word,
            "%s is a URL, and leat reads only those that begin with s3://, gs://, az://, hf://, https:// or http://; "
            "download it first, or pipe it to standard input",
            word);
    if (error == ENOENT && strpbrk(word, "*?["))
        return find_pattern(s, word, err);
    return status_set_os(err, error, word, "cannot find the input %s", word);
}

/* A word may name a list, whose lines are words. */
static enum leat_status find_word(struct search *s, const char *word, struct leat_error *err);
static enum leat_status find_list(struct search *s, const char *list, struct leat_error *err);

/* Looks up a line of a list. Relative names start from the list's folder, even names of other lists. */
static enum leat_status find_listed(struct search *s, const char *list, const char *line, struct leat_error *err)
{
    const char *slash = strrchr(list, '/');
    bool is_list = line[0] == '@';
    enum leat_status status;
    char *path;

    if (line[is_list] == '/' || strcmp(line, "-") == 0 || !slash || strstr(line, "://")) {
        size_t before = s->before;

        s->before = 0; /* no folder was put before the name */
        status = find_word(s, line, err);
        s->before = before;
        return status;
    }
    path = search_join(list, (size_t)(slash - list) + 1, line + is_list);
    if (!path)
        return status_no_memory(err, strlen(list));
    status = is_list ? find_list(s, path, err) : find_word(s, path, err);
    free(path);
    return status;
}

static enum leat_status find_lines(struct search *s, struct list_file *file, struct leat_error *err)
{
    enum leat_status status;
    char *line;

    for (uint64_t number = 1;; number++) {
        status = list_file_next(file, &line, err);
        if (status != LEAT_OK || !line)
            return status;
        if (++s->lines > SEARCH_IN_LIST)
            return status_in_file(
                err,
                status_argument(err, "inputs",
                                "%s: lists have more than %u lines, each counted as often as it is read; does a list "
                                "end, and not name others again and again?",
                                file->name, SEARCH_IN_LIST),
                file->name);
        status = search_check_stop(s, err);
        if (status == LEAT_OK && line[strspn(line, " \t")] != '\0' && line[0] != '#')
            status = find_listed(s, file->name, line, err);
        if ((status == LEAT_E_NO_FILE || status == LEAT_E_NOT_FOUND) && !s->line_said) {
            s->line_said = true; /* the error names the line of the innermost list */
            return status_before(err, status, "%.480s, line %" PRIu64, file->name, number);
        }
        if (status != LEAT_OK)
            return status;
    }
}

static enum leat_status read_list(struct search *s, const char *list, struct leat_error *err)
{
    size_t before = s->list->count;
    struct list_file *file;
    enum leat_status status = list_file_open(&file, list, &s->stop, s->tries, err);

    if (status != LEAT_OK)
        return status;
    status = find_lines(s, file, err);
    list_file_close(file);
    if (status == LEAT_OK && s->list->count == before)
        return status_set_in(err, LEAT_E_NOT_FOUND, list, "the list %s names no input", list);
    return status;
}

static enum leat_status find_list(struct search *s, const char *list, struct leat_error *err)
{
    enum leat_status status;

    if (fetch_is_url(list))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "a list is a file of this machine, and may name URLs: download the one that @ stands before");
    if (++s->visits > SEARCH_VISITS)
        return status_in_file(
            err,
            status_argument(err, "inputs", "%s: more than %u lists are read; do they name each other again and again?",
                            list, SEARCH_VISITS),
            list);
    if (s->depth == SEARCH_DEPTH)
        return status_in_file(err,
                              status_argument(err, "inputs",
                                              "%s: lists are nested more than %d deep; do they form a cycle?", list,
                                              SEARCH_DEPTH),
                              list);
    s->depth++;
    s->lists++;
    status = read_list(s, list, err);
    s->lists--;
    s->depth--;
    return status;
}

/* Looks up a word that was given, which may be relative to a folder that is not the current one. */
static enum leat_status find_given(struct search *s, const char *word, struct leat_error *err)
{
    const char *from = s->rules->from;
    bool is_list = word[0] == '@', whole = word[is_list] == '/' || strcmp(word, "-") == 0 || fetch_is_url(word);
    enum leat_status status;
    char *path;

    if (!from || whole)
        return find_word(s, word, err);
    path = search_join(from, strlen(from), word + is_list);
    if (!path)
        return status_no_memory(err, strlen(from));
    s->before = strlen(path) - strlen(word + is_list);
    status = is_list ? find_list(s, path, err) : find_word(s, path, err);
    s->before = 0;
    free(path);
    return status;
}

static enum leat_status find_word(struct search *s, const char *word, struct leat_error *err)
{
    struct stat st;

    if (strcmp(word, "-") == 0)
        return add_standard_input(s, err);
    if (word[0] == '@')
        return find_list(s, word + 1, err);
    if (fetch_is_url(word))
        return search_url(s, word, err);
    if (stat(word, &st) != 0)
        return find_nothing(s, word, err);
    return find_path(s, word, &st, err);
}

static int by_skipped_path(const void *a, const void *b)
{
    return strcmp(((const struct input_skipped *)a)->path, ((const struct input_skipped *)b)->path);
}

static enum leat_status find_words(struct input_list *list, const char *const *words, size_t count,
                                   const struct input_rules *rules, struct search_tries *tries, struct leat_error *err)
{
    struct search s = { .list = list, .rules = rules, .tries = tries };
    enum leat_status status = LEAT_OK;

    s.stop = seldom_stop(&s.seldom, &rules->stop);
    *list = (struct input_list) { 0 };
    if (rules->options->format != LEAT_PACK_AUTO && !record_format_number((int)rules->options->format))
        return status_argument(err, "format", "unknown input format %d", (int)rules->options->format);
    status = search_check_patterns(&s, err);
    for (size_t i = 0; status == LEAT_OK && rules->pins && i < rules->pins->count; i++)
        status = hub_pins_add(&list->pins, rules->pins->items[i].from, rules->pins->items[i].to, err);
    for (size_t i = 0; status == LEAT_OK && i < count; i++)
        status = find_given(&s, words[i], err);
    if (status == LEAT_OK)
        status = search_end_urls(&s, err);
    free(s.looks);
    if (status == LEAT_OK && s.root_count == 0 && rules->options->include_count + rules->options->exclude_count > 0)
        status = status_argument(err, rules->options->include_count > 0 ? "include" : "exclude",
                                 "patterns choose files of folders, and no input is a folder");
    if (status == LEAT_OK)
        status = search_splits(&s, err);
    for (size_t i = 0; i < s.root_count; i++)
        free(s.roots[i].path);
    free(s.roots);
    if (status == LEAT_OK && list->count == 0 && list->skipped_count > 0)
        status = status_in_file(err,
                                status_argument(err, "output",
                                                "%s is a file of this run's own output; choose another output",
                                                list->skipped[0].path),
                                list->skipped[0].path);
    if (status != LEAT_OK)
        inputs_free(list);
    else if (list->skipped_count > 0)
        qsort(list->skipped, list->skipped_count, sizeof *list->skipped, by_skipped_path);
    return status;
}

static uint32_t is_ended(void *search_tries, const char *why)
{
    struct search_tries *t = search_tries;

    if (t->stop->waits && !t->told)
        t->stop->waits(t->stop->context, why);
    t->told = true;
    t->ended = t->ended || (t->stop->asked && t->stop->asked(t->stop->context));
    return t->ended;
}

enum leat_status inputs_find(struct input_list *list, const char *const *words, size_t count,
                             const struct input_rules *rules, struct leat_error *err)
{
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;
    struct search_tries t = { .stop = &rules->stop };
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;

    how.waiting = is_ended;
    how.waiting_context = &t;
    mounts_open(&t.mounts, &how);
    do {
        t.pipes_read = 0;
        s = find_words(list, words, count, rules, &t, &why);
    } while (s == LEAT_E_IO && !fetch_is_url(why.file) &&
             mounts_again(&t.mounts, &tries, file_path_is_remote(why.file), &s, &why));
    mounts_close(&t.mounts);
    list_pipes_free(&t);
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

void inputs_free(struct input_list *list)
{
    fetcher_close(list->fetcher); /* closed before the objects that it may still read */
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].place);
        fetch_object_free(list->items[i].object);
    }
    for (size_t i = 0; i < list->skipped_count; i++)
        free(list->skipped[i].path);
    for (size_t i = 0; i < list->split_count; i++)
        free(list->splits[i].name);
    hub_pins_free(&list->pins);
    free(list->splits);
    free(list->items);
    free(list->skipped);
    *list = (struct input_list) { 0 };
}

struct input_file inputs_file(const struct input *in, int fd)
{
    return (struct input_file) { .fd = fd,
                                 .name = in->path,
                                 .place = in->place,
                                 .size = in->size,
                                 .inode = in->inode,
                                 .modified_s = in->modified_s,
                                 .modified_ns = in->modified_ns };
}

enum leat_status inputs_check_end(const struct input *in, uint64_t at, struct leat_error *err)
{
    return at < in->size
               ? status_set_at(err, LEAT_E_TRUNCATED, in->path, at, "%s shrank while it was being packed", in->path)
               : LEAT_OK;
}

enum leat_status inputs_check_read(const struct input *in, uint64_t at, const struct leat_error *damage,
                                   struct leat_error *err)
{
    if (damage && damage->status != LEAT_E_TRUNCATED)
        return LEAT_OK;
    return inputs_check_end(in, damage ? damage->offset : at,
                            err); /* a frame that was cut off begins before the end, so the place of the damage
                                     counts, not `at` */
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

/* Implements inputs_share(): a share is cut by bytes over all inputs as if they were one file. */

/* Returns total * part / parts, which cannot overflow, since parts fit in 32 bits. */
static uint64_t border(uint64_t total, unsigned part, unsigned parts)
{
    return total / parts * part + total % parts * part / parts;
}

enum leat_status inputs_read_head(struct byte_stream *stream, struct buffer *head, enum json_layout *layout,
                                  struct leat_error *err)
{
    size_t room = JSON_HEAD;
    enum leat_status s = LEAT_OK;
    bool more = true;

    *layout = JSON_LINES;
    while (s == LEAT_OK && more) {
        size_t got = 0;

        s = buffer_reserve(head, room, err);
        if (s != LEAT_OK)
            return s;
        s = byte_stream_read(stream, head->bytes + head->size, room, &got, err);
        head->size += got;
        *layout = json_layout((const char *)head->bytes, head->size, &more);
        more = more && got == room;
        room = JSON_LONG_HEAD - JSON_HEAD;
    }
    return s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT ? LEAT_OK : s;
}

enum leat_status inputs_look_inside(const struct input *in, const struct input_stop *stop, bool *compressed,
                                    enum json_layout *layout, struct leat_error *err)
{
    struct buffer head = { 0 };
    struct byte_stream *stream;
    enum leat_status s = byte_stream_open_stoppable(&stream, in->place, in->path, in->object, NULL, stop, err);

    *layout = JSON_LINES;
    if (s != LEAT_OK)
        return s;
    *compressed = byte_stream_form(stream) != BYTE_FORM_PLAIN;
    if (in->format->is_json)
        s = inputs_read_head(stream, &head, layout, err);
    byte_stream_close(stream);
    buffer_free(&head);
    return s;
}

static enum leat_status read_header(struct byte_stream *stream, const struct input *in,
                                    const struct record_fields *fields, struct csv_header **header, struct buffer *head,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t got = 1;

    while (s == LEAT_OK && !*header && got > 0) {
        if (head->size > CSV_MAX_BYTES)
            return status_set_in(err, LEAT_E_UNSUPPORTED, in->path, "%.300s: no header in its first " CSV_MAX_NAME,
                                 in->path);
        s = buffer_reserve(head, FIELD_HEAD, err);
        if (s == LEAT_OK)
            s = byte_stream_read(stream, head->bytes + head->size, FIELD_HEAD, &got, err);
        if (s != LEAT_OK)
            break;
        head->size += got;
        s = csv_header_read(header, fields, in->path, in->format->delimiter, (char *)head->bytes, head->size, got == 0,
                            err);
        if (s != LEAT_OK)
            return s;
    }
    return s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT ? LEAT_OK : s;
}

enum leat_status inputs_look_for_header(const struct input *in, struct byte_stream *stream,
                                        const struct record_fields *fields, const struct input_stop *stop,
                                        struct csv_header **header, struct buffer *head, struct leat_error *err)
{
    struct byte_stream *own = NULL;
    enum leat_status s = LEAT_OK;

    *header = NULL;
    if (!stream)
        s = byte_stream_open_stoppable(&own, in->place, in->path, in->object, NULL, stop, err);
    if (s == LEAT_OK)
        s = read_header(stream ? stream : own, in, fields, header, head, err);
    byte_stream_close(own);
    return s;
}

/* Looks inside a plain file that could be cut. */
static enum leat_status look_for_lines(const struct input *in, const struct input_stop *stop, bool *compressed,
                                       bool *undivided, struct leat_error *err)
{
    enum json_layout layout;
    enum leat_status s = inputs_look_inside(in, stop, compressed, &layout, err);

    *undivided = layout != JSON_LINES;
    return s;
}

/* Cuts input `in`, which begins at `at` of all bytes, down to [from, to). Returns false if none of it belongs to the
 * share. */
static bool cut(struct input *in, bool divides, uint64_t at, uint64_t from, uint64_t to, bool last)
{
    if (in->compressed || in->undivided || !divides || in->size == 0)
        return at >= from && (at < to || last);
    if (at >= to || at + in->size <= from)
        return false;
    in->begin = from > at ? from - at : 0;
    in->end = to - at < in->size ? to - at : in->size;
    return true;
}

enum leat_status inputs_share(struct input_list *list, unsigned part, unsigned parts,
                              bool (*divides)(const struct input *in), const struct input_stop *stop,
                              struct leat_error *err)
{
    struct seldom_stop seldom;
    struct input_stop seldom_asked = seldom_stop(&seldom, stop);
    uint64_t from = border(list->bytes, part - 1, parts), to = border(list->bytes, part, parts), at = 0;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct input *in = &list->items[i];
        enum leat_status status = LEAT_OK;

        if (strcmp(in->path, "-") == 0)
            return status_argument(err, "parts", "standard input cannot be divided into shares");
        if (!in->compressed && !in->object && divides(in) && at < to && at + in->size > from)
            status = look_for_lines(in, &seldom_asked, &in->compressed, &in->undivided, err);
        if (status != LEAT_OK)
            return status;
        at += in->size;
        if (!cut(in, divides(in), at - in->size, from, to, part == parts)) {
            free(in->place);
            fetch_object_free(in->object);
            in->place = NULL;
            in->object = NULL;
            continue;
        }
        list->items[kept] = *in;
        if (kept != i) {
            in->place = NULL;
            in->object = NULL;
        }
        kept++;
    }
    list->count = kept;
    list->bytes = 0;
    for (size_t i = 0; i < kept; i++)
        list->bytes += list->items[i].end - list->items[i].begin;
    return LEAT_OK;
}

/* Marks the shares that get something of an input that begins at `at` of all bytes. *share, from 1, is the first
 * share that ends after `at`, and moves on with `at`. */
static void mark(bool *used, const struct input *in, bool whole, uint64_t at, uint64_t total, unsigned parts,
                 unsigned *share)
{
    while (*share < parts && border(total, *share, parts) <= at)
        ++*share;
    used[*share - 1] = true;
    for (unsigned next = *share + 1; !whole && next <= parts && border(total, next - 1, parts) < at + in->size; next++)
        used[next - 1] = used[next - 1] || border(total, next - 1, parts) < border(total, next, parts);
}

enum leat_status inputs_count_empty(const struct input_list *list, unsigned parts,
                                    bool (*divides)(const struct input *in), const struct input_stop *stop,
                                    uint64_t *whole, uint64_t *empty, struct leat_error *err)
{
    struct seldom_stop seldom;
    struct input_stop seldom_asked = seldom_stop(&seldom, stop);
    bool *used = calloc(parts, sizeof *used);
    enum leat_status s = used ? LEAT_OK : status_no_memory(err, parts * sizeof *used);
    uint64_t at = 0;
    unsigned share = 1;

    *whole = *empty = 0;
    for (size_t i = 0; s == LEAT_OK && i < list->count; i++) {
        const struct input *in = &list->items[i];
        bool compressed = in->compressed, undivided = in->undivided, one;

        if (!compressed && !in->object && divides(in)) /* inputs_share() cuts it */
            s = look_for_lines(in, &seldom_asked, &compressed, &undivided, err);
        one = compressed || undivided || !divides(in);
        *whole += one;
        if (s == LEAT_OK)
            mark(used, in, one || in->size == 0, at, list->bytes, parts, &share);
        at += in->size;
    }
    for (unsigned i = 0; s == LEAT_OK && i < parts; i++)
        *empty += !used[i];
    free(used);
    return s;
}

/* ---- Repeated inputs --------------------------------------------------------------------------------------------- */

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders files before objects, then by file or object; returns 0 for an input that is repeated. */
static int compare(const struct input *a, const struct input *b)
{
    if (a->object || b->object)
        return a->object && b->object ? strcmp(a->path, b->path) : by_number(a->object != NULL, b->object != NULL);
    return a->device != b->device ? by_number(a->device, b->device) : by_number(a->inode, b->inode);
}

/* Orders like compare(), then by the place in the list, which is an array. */
static int by_input(const void *x, const void *y)
{
    const struct input *a = *(const struct input *const *)x, *b = *(const struct input *const *)y;
    int order = compare(a, b);

    return order != 0 ? order : (a > b) - (a < b);
}

enum leat_status inputs_count_repeated(const struct input_list *list, size_t *count, const struct input **first,
                                       struct leat_error *err)
{
    const struct input **sorted = calloc(list->count, sizeof *sorted);

    *count = 0;
    *first = NULL;
    if (!sorted)
        return list->count == 0 ? LEAT_OK : status_no_memory(err, list->count * sizeof *sorted);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    qsort(sorted, list->count, sizeof *sorted, by_input);
    for (size_t i = 1; i < list->count; i++) {
        if (compare(sorted[i - 1], sorted[i]) != 0)
            continue;
        ++*count;
        if (!*first || sorted[i] < *first)
            *first = sorted[i];
    }
    free(sorted);
    return LEAT_OK;
}
