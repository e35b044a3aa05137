/*
 * fuzz_list.c: opening @FILE, a list of datasets, where FILE holds hostile bytes.
 *
 * The input is a byte that chooses the kind of access, then the file. Its folder holds datasets a and b, which go
 * together, c, d, e, f and g, which differ from them in one thing each, and x and y, which do not open. Whatever the
 * file is, the call returns; a list that opens has just the parts that its lines name, in their order, and reads as
 * they do one after another; one of lines that all name a or b does open; one with a zero byte never.
 */
#include <stdbool.h>

#include "files.h"
#include "one_document.h"

/* Where the list may be long, what the system allows to have open decides. */
#define SURE_LINES 64

static const struct {
    const char *name;
    uint64_t vocabulary, end, begin;
    const char *tokenizer;
    uint32_t tokens;
} kinds[] = {
    { "a", 300, LEAT_NONE, LEAT_NONE, NULL, 3 },   { "b", 300, LEAT_NONE, LEAT_NONE, NULL, 0 },
    { "c", 301, LEAT_NONE, LEAT_NONE, NULL, 1 },   { "d", 300, 299, LEAT_NONE, NULL, 1 },
    { "e", 300, 298, LEAT_NONE, NULL, 1 },         { "f", 300, LEAT_NONE, 0, NULL, 1 },
    { "g", 300, LEAT_NONE, LEAT_NONE, "gpt2", 1 },
};

static void make_datasets(void)
{
    static const uint32_t ids[3] = { 1, 2, 3 };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
        struct leat_stored_tokenizer tokenizer = { .name = kinds[i].tokenizer, .pattern = "" };
        struct leat_writer *w;

        options.vocabulary = kinds[i].vocabulary;
        options.end_token = kinds[i].end;
        options.begin_token = kinds[i].begin;
        options.tokenizer = kinds[i].tokenizer ? &tokenizer : NULL;
        FUZZ_CHECK(leat_writer_open(&w, files_path(kinds[i].name), &options, NULL) == LEAT_OK);
        FUZZ_CHECK(add_one_document(w, ids, 4, NULL, kinds[i].tokens, NULL, NULL) == LEAT_OK);
        FUZZ_CHECK(leat_writer_finish(w, NULL, NULL) == LEAT_OK);
    }
    files_write("x.leat", "leat, but not an index", 22);
    files_write("x.tokens", "", 0);
    files_write("y.leat", "", 0);
}

/* The lines that name datasets, as leat.h says. */
struct lines {
    const uint8_t *at[8192];
    size_t length[8192];
    size_t count;
    bool zero; /* a byte of one of them is */
};

static void split(struct lines *l, const uint8_t *text, size_t size)
{
    l->count = 0;
    l->zero = false;
    for (size_t at = 0, end; at < size; at = end + 1) {
        size_t length;

        for (end = at; end < size && text[end] != '\n'; end++)
            ;
        for (; at < end && (text[at] == ' ' || text[at] == '\t'); at++)
            ;
        for (length = end - at; length > 0 && strchr("\r \t", text[at + length - 1]) && text[at + length - 1]; length--)
            ;
        if (length == 0 || text[at] == '#')
            continue;
        l->zero = l->zero || memchr(text + at, '\0', length);
        FUZZ_CHECK(l->count < sizeof l->at / sizeof l->at[0]);
        l->at[l->count] = text + at;
        l->length[l->count++] = length;
    }
}

/* Line `i` without its suffix, as long as something is left. */
static size_t stem(const struct lines *l, size_t i)
{
    static const char *const suffixes[] = { ".leat", ".tokens" };

    for (unsigned n = 0; n < 2; n++) {
        size_t suffix = strlen(suffixes[n]);

        if (l->length[i] > suffix && memcmp(l->at[i] + l->length[i] - suffix, suffixes[n], suffix) == 0)
            return l->length[i] - suffix;
    }
    return l->length[i];
}

/* Whether a line names another list, or what may be an unfinished dataset or a wrong URL: mistakes of the caller's. */
static bool mistaken(const struct lines *l)
{
    static const char suffix[] = ".partial";

    for (size_t i = 0; i < l->count; i++) {
        size_t length = stem(l, i), bytes = sizeof suffix - 1;

        if (l->at[i][0] == '@' || memmem(l->at[i], length, "://", 3) ||
            (length >= bytes && memcmp(l->at[i] + length - bytes, suffix, bytes) == 0))
            return true;
    }
    return false;
}

/* The dataset of `kinds` that line i names in the plainest way; -1: none, or in another way. */
static int known(const struct lines *l, size_t i)
{
    for (int n = 0; n < (int)(sizeof kinds / sizeof kinds[0]); n++)
        if (stem(l, i) == 1 && l->at[i][0] == (uint8_t)kinds[n].name[0])
            return n;
    return -1;
}

static void check_parts(const struct leat_dataset *d, const struct lines *l)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t tokens = 0;
    uint32_t id;

    leat_dataset_info(d, &info);
    FUZZ_CHECK(info.parts == l->count && !l->zero);
    for (size_t i = 0; i < l->count; i++) {
        struct leat_part part = LEAT_PART_INIT;
        size_t folder = l->at[i][0] == '/' ? 0 : strlen(files_folder_path) + 1, length = stem(l, i);

        FUZZ_CHECK(leat_dataset_part(d, i, &part, NULL) == LEAT_OK);
        FUZZ_CHECK(strlen(part.name) == folder + length && memcmp(part.name + folder, l->at[i], length) == 0);
        FUZZ_CHECK(part.first_token == tokens);
        for (uint32_t n = 0; n < part.tokens; n++)
            FUZZ_CHECK(leat_dataset_read_u32(d, tokens + n, 1, &id, NULL) == LEAT_OK);
        tokens += part.tokens;
    }
    FUZZ_CHECK(info.tokens == tokens);
    FUZZ_CHECK(leat_dataset_read_u32(d, tokens, 1, &id, NULL) == LEAT_E_RANGE);
}

/* What the call must say, where the lines tell. */
static void check_status(enum leat_status s, const struct lines *l)
{
    bool all_same = l->count > 0, all_known = true;

    for (size_t i = 0; i < l->count; i++) {
        int n = known(l, i);

        all_known = all_known && n >= 0;
        all_same = all_same && (n == known(l, 0) || (n >= 0 && n < 2 && known(l, 0) >= 0 && known(l, 0) < 2));
    }
    if (l->zero)
        FUZZ_CHECK(s == LEAT_E_ARGUMENT);
    else if (l->count == 0)
        FUZZ_CHECK(s == LEAT_E_NO_FILE);
    else if (all_known && l->count <= SURE_LINES)
        FUZZ_CHECK(s == (all_same ? LEAT_OK : LEAT_E_INCOMPATIBLE));
    else
        FUZZ_CHECK((s != LEAT_E_ARGUMENT || mistaken(l)) && s != LEAT_E_NO_MEMORY && s != LEAT_E_RANGE);
}

FUZZ_TARGET(list)
{
    struct leat_open_options options = LEAT_OPEN_OPTIONS_INIT;
    static struct lines lines;
    struct leat_error err = { 0 };
    struct leat_dataset *d;
    enum leat_status s;
    char name[600];

    if (size == 0 || size > 8192)
        return -1;
    if (files_begin())
        make_datasets();
    options.access = (enum leat_access)(data[0] % 3);
    files_write("list", data + 1, size - 1);
    split(&lines, data + 1, size - 1);
    snprintf(name, sizeof name, "@%s/list", files_folder_path);
    s = leat_dataset_open(&d, name, &options, &err);
    FUZZ_CHECK((s == LEAT_OK) == (d != NULL) && (s == LEAT_OK || (err.status == s && err.message[0])));
    check_status(s, &lines);
    if (d)
        check_parts(d, &lines);
    leat_dataset_close(d);
    return 0;
}
