/*
 * test_format_page.c: FORMAT.md is true. Its example is taken out of the page, made to files, opened and verified, and
 * is what leat writes for that content; its worked page sum is the one that leat computes.
 */
#include <ctype.h>

#include "checksum/checksum.h"
#include "support/arranged.h"
#include "t.h"

#define PAGE "FORMAT.md"

static char *read_page(void)
{
    FILE *f = fopen(PAGE, "rb");
    char *text = calloc(1, 200000);

    if (!f || fread(text, 1, 199999, f) == 0) {
        perror(PAGE);
        exit(1);
    }
    fclose(f);
    return text;
}

/* What stands between ```name and ``` in the page, cut off there. */
static char *block(const char *page, const char *name)
{
    const char *from;
    const char *head = t_text("\n```%s\n", name);

    from = strstr(page, head);
    if (!from || !strstr(from + strlen(head), "```")) {
        fprintf(stderr, "%s has no block %s\n", PAGE, name);
        exit(1);
    }
    from += strlen(head);
    return strndup(from, (size_t)(strstr(from, "```") - from));
}

/* A hex block to bytes, by its rules: offset, up to 16 bytes, two spaces, a note; `*`; the last line only an offset. */
static uint64_t parse_hex(const char *text, uint8_t *bytes, uint64_t room)
{
    uint64_t end = 0;
    int zeros = 0, closed = 0;

    memset(bytes, 0, room);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        char *at;
        uint64_t offset;

        T_CHECK(!closed);
        if (line[0] == '*') {
            zeros = 1;
            continue;
        }
        offset = strtoull(line, &at, 16);
        T_EQ(at - line, 8);
        if (zeros)
            T_CHECK(offset > end);
        else
            T_EQ(offset, end);
        zeros = 0;
        end = offset;
        closed = *at == '\n';
        while (at[0] == ' ' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]) && end < room) {
            bytes[end++] = (uint8_t)strtoul(at + 1, NULL, 16);
            at += 3;
        }
        T_CHECK(end - offset <= 16 && (*at == '\n' || strncmp(at, "  ", 2) == 0));
    }
    T_CHECK(closed);
    return end;
}

static void say_hash(char *out, size_t room, const char *what, const uint8_t hash[16])
{
    size_t used = strlen(out);

    used += (size_t)snprintf(out + used, room - used, "%-47s", what);
    for (unsigned i = 0; i < 16; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%02x", i ? " " : "", hash[i]);
    snprintf(out + used, room - used, "\n");
}

/* The worked number, from the library's hashes. */
static void say_page_sum(char *out, size_t room)
{
    const struct checksum_kernels *k = checksum_kernels();
    uint8_t bytes[4099] = { 0 }, tagged[24] = { 0 }, hash[16];
    struct hash128 sum = { 0, 0 };

    memcpy(bytes + 4096, "abc", 3);
    out[0] = '\0';
    checksum_store(tagged, k->hash(bytes, 4096));
    say_hash(out, room, "XXH3-128 of page 0", tagged);
    checksum_store(hash, k->hash(tagged, 24));
    say_hash(out, room, "XXH3-128 of that and 00 00 00 00 00 00 00 00", hash);
    checksum_add(&sum, checksum_load(hash));
    checksum_store(tagged, k->hash("abc", 3));
    say_hash(out, room, "XXH3-128 of page 1", tagged);
    tagged[16] = 1;
    checksum_store(hash, k->hash(tagged, 24));
    say_hash(out, room, "XXH3-128 of that and 01 00 00 00 00 00 00 00", hash);
    checksum_add(&sum, checksum_load(hash));
    checksum_store(hash, sum);
    say_hash(out, room, "page sum: the second and fourth, added", hash);
    sum = (struct hash128) { 0, 0 };
    k->pages(&sum, bytes, sizeof bytes, 0, NULL);
    T_CHECK(checksum_equal(sum, checksum_load(hash)));
}

static void compare_file(const char *path, const uint8_t *bytes, uint64_t count)
{
    uint8_t *there = malloc(count + 1);
    FILE *f = fopen(path, "rb");

    T_CHECK(f && fread(there, 1, count + 1, f) == count && memcmp(there, bytes, count) == 0);
    if (f)
        fclose(f);
    free(there);
}

static void check_example(const char *folder, const uint8_t *index, uint64_t index_bytes, const uint8_t *tokens,
                          uint64_t token_bytes)
{
    struct leat_stored_tokenizer *tokenizer;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint64_t first, count;
    uint32_t ids[5];
    char id[8];

    t_write(t_path(folder, "page.leat"), index, index_bytes);
    t_write(t_path(folder, "page.tokens"), tokens, token_bytes);
    T_OK(leat_dataset_open(&d, t_path(folder, "page"), NULL, &t_err));
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, 3);
    T_EQ(info.end_token, 256);
    T_OK(leat_dataset_document(d, 2, &first, &count, &t_err));
    T_EQ(count, 5);
    T_OK(leat_dataset_read_u32(d, first, count, ids, &t_err));
    T_CHECK(ids[0] == 'm' && ids[3] == 'l' && ids[4] == 256);
    T_OK(leat_dataset_ids(d, 2, 1, id, sizeof id, NULL, &t_err));
    T_STR(id, "b7");
    T_OK(leat_dataset_tokenizer(d, &tokenizer, &t_err));
    T_STR(tokenizer->name, "bytes");
    leat_stored_tokenizer_free(tokenizer);
    leat_dataset_close(d);

    arranged_again(t_path(folder, "written"), t_path(folder, "page"));
    compare_file(t_path(folder, "written.leat"), index, index_bytes);
    compare_file(t_path(folder, "written.tokens"), tokens, token_bytes);
}

int main(void)
{
    static uint8_t index[10000], tokens[1000];
    uint64_t index_bytes, token_bytes;
    char sums[2000], *page, *text;

    say_page_sum(sums, sizeof sums);
    page = read_page();
    text = block(page, "page-sum");
    T_STR(text, sums);
    free(text);
    text = block(page, "hex-index");
    index_bytes = parse_hex(text, index, sizeof index);
    free(text);
    text = block(page, "hex-tokens");
    token_bytes = parse_hex(text, tokens, sizeof tokens);
    free(text);
    if (t_failures == 0)
        check_example(t_folder(), index, index_bytes, tokens, token_bytes);
    free(page);
    return t_end();
}
