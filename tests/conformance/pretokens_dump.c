/*
 * pretokens_dump.c: what check_scanners.py compares with the references. Reads texts from the standard input, each a
 * length of four bytes (little-endian) and its UTF-8, and writes for each the number of its pretokens and their begins
 * and ends, four bytes each. How it splits stands on the command line:
 *
 *     pretokens_dump [-w SEED] scanner NAME DIALECT
 *     pretokens_dump [-w SEED] pattern TEXT DIALECT BEHAVIOR INVERT
 *     pretokens_dump [-w SEED] string TEXT BEHAVIOR INVERT
 *     pretokens_dump [-w SEED] digits INDIVIDUAL | punctuation BEHAVIOR | whitespace | words
 *
 * DIALECT is rust or oniguruma, BEHAVIOR as in a tokenizer.json, flags are 0 or 1. With -w each text comes to the
 * splitter in windows of random sizes. Exits 3 if the pattern is refused, printing why; 4 if it gave up on a text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tokenizer/split/split.h"

static uint64_t state;
static bool windows;

static uint64_t random_number(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void *need(void *memory)
{
    if (!memory)
        exit(1);
    return memory;
}

static enum scan_dialect dialect_of(const char *name)
{
    return strcmp(name, "rust") == 0 ? SCAN_RUST : SCAN_ONIGURUMA;
}

static enum split_behavior behavior_of(const char *name)
{
    static const char *const names[] = { "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return (enum split_behavior)i;
    fprintf(stderr, "no behaviour %s\n", name);
    exit(2);
}

/* *pattern is set for a splitter by pattern. */
static struct splitter splitter_of(int count, char **words, struct pattern **pattern)
{
    struct splitter s = { 0 };
    struct leat_error err;

    if (count == 3 && strcmp(words[0], "scanner") == 0 && scanner_named(&s.scanner, words[1], dialect_of(words[2]))) {
        s.matcher = SPLIT_BY_SCANNER;
    } else if (count == 5 && strcmp(words[0], "pattern") == 0) {
        s.matcher = SPLIT_BY_PATTERN;
        s.behavior = behavior_of(words[3]);
        s.invert = *words[4] == '1';
        if (pattern_compile(pattern, words[1], strlen(words[1]), dialect_of(words[2]), &err) != LEAT_OK) {
            printf("%s\n", err.message);
            exit(3);
        }
    } else if (count == 4 && strcmp(words[0], "string") == 0) {
        s.matcher = SPLIT_BY_STRING;
        s.string = (const uint8_t *)words[1];
        s.string_bytes = strlen(words[1]);
        s.behavior = behavior_of(words[2]);
        s.invert = *words[3] == '1';
    } else if (count == 2 && strcmp(words[0], "digits") == 0) {
        s = split_digits(*words[1] == '1');
    } else if (count == 2 && strcmp(words[0], "punctuation") == 0) {
        s = split_punctuation(behavior_of(words[1]));
    } else if (count == 1 && strcmp(words[0], "whitespace") == 0) {
        s = split_whitespace();
    } else if (count == 1 && strcmp(words[0], "words") == 0) {
        s = split_whitespace_words();
    } else {
        fprintf(stderr, "see the head of pretokens_dump.c\n");
        exit(2);
    }
    return s;
}

struct pretokens {
    struct split_pretoken *of;
    size_t count, room;
};

static void append(struct pretokens *to, const struct split_pretoken *from, size_t count, size_t shift)
{
    while (to->count + count > to->room)
        to->of = need(realloc(to->of, (to->room = 2 * to->room + 256) * sizeof *to->of));
    for (size_t i = 0; i < count; i++)
        to->of[to->count++] =
            (struct split_pretoken) { from[i].begin + (uint32_t)shift, from[i].end + (uint32_t)shift };
}

/* The whole text at once, or in windows that grow where nothing comes out. */
static void split_all(struct split_run *run, const struct splitter *s, const struct pattern *pattern,
                      const uint8_t *text, size_t length, struct pretokens *out)
{
    size_t from = 0, size = windows ? 1 + random_number() % 64 : length;
    struct split_pretoken pretokens[SPLIT_ROOM];
    enum pattern_result result;
    bool final;

    if (pattern && pattern_needs_all(pattern))
        size = length;
    do {
        size_t to = length - from > size ? from + size : length, count, done;

        while (to < length && (text[to] & 0xc0) == 0x80)
            to++;
        final = to == length;
        if (split_begin(run, s, &(struct scan_window) { text + from, to - from, final }) != PATTERN_DONE)
            exit(4);
        do {
            result = split_next(run, pretokens, &count);
            append(out, pretokens, count, from);
        } while (result == PATTERN_MORE);
        if (result != PATTERN_DONE)
            exit(4);
        done = split_resume(run);
        size = done > 0 ? 1 + random_number() % 64 : 2 * size;
        from += done;
    } while (!final);
}

int main(int argc, char **argv)
{
    struct pretokens pretokens = { 0 };
    struct splitter s;
    struct pattern *pattern = NULL;
    struct pattern_run *pattern_run = NULL;
    uint8_t head[4], *text = NULL;
    size_t room = 0;

    if (argc > 2 && strcmp(argv[1], "-w") == 0) {
        windows = true;
        state = strtoull(argv[2], NULL, 0);
        argc -= 2;
        argv += 2;
    }
    s = splitter_of(argc - 1, argv + 1, &pattern);
    if (pattern)
        pattern_run = need(pattern_run_new(pattern));
    while (fread(head, 1, 4, stdin) == 4) {
        struct split_run run = { .pattern_run = pattern_run };
        size_t length = bytes_load32(head);

        if (length + 1 > room)
            text = need(realloc(text, room = 2 * length + 256));
        if (fread(text, 1, length, stdin) != length)
            return 1;
        pretokens.count = 0;
        split_all(&run, &s, pattern, text, length, &pretokens);
        bytes_store32(head, (uint32_t)pretokens.count);
        fwrite(head, 1, 4, stdout);
        for (size_t i = 0; i < pretokens.count; i++) {
            uint8_t ends[8];

            bytes_store32(ends, pretokens.of[i].begin);
            bytes_store32(ends + 4, pretokens.of[i].end);
            fwrite(ends, 1, 8, stdout);
        }
    }
    return 0;
}
