/*
 * test_first_text.c: what is looked at before a run: how the first text begins, of lines, of arrays whole and broken,
 * of plain texts and of tables; it is empty where the first record has none, or a page of a table takes much memory.
 * And looking through folders ends when a stop is asked for.
 */
#include "corpus/first_text.h"
#include "corpus/own_outputs.h"
#include "parquet/made_parquet.h"

#define FOLDERS 13u /* of more, no search goes all ways */

static const char *folder;

static bool asked(void *context)
{
    (void)context;
    return true;
}

static enum leat_status find(struct input_list *list, const char *word, bool stop)
{
    const struct own_outputs own = { 0 };
    const struct leat_pack_options options = { .size = sizeof options, .follow_links = stop };
    const struct input_rules rules = { .options = &options, .own = &own, .stop = { .asked = stop ? asked : NULL } };

    return inputs_find(list, &word, 1, &rules, &t_err);
}

static void check(const char *name, const void *bytes, size_t count, const char *text)
{
    struct input_list list;
    char got[20];

    t_write(t_path(folder, name), bytes, count);
    T_OK(find(&list, t_path(folder, name), false));
    T_OK(first_text(&list.items[0], "text", NULL, got, sizeof got, &t_err));
    if (strcmp(got, text) != 0)
        T_FAIL("%s: %.*s: \"%s\"", name, (int)count, (const char *)bytes, got);
    inputs_free(&list);
}

static void check_streams(void)
{
    static const struct {
        const char *name, *file, *text;
    } cases[] = {
        { "a.jsonl", "\xef\xbb\xbf\n \n{\"text\":\"a\"}\n{\"text\":\"b\"}\n", "a" },
        { "a.jsonl", "{\"text\":\"no newline at the end\"}", "no newline at the e" },
        { "a.jsonl", "{\"text\":\"a character \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"}",
          "a character \xc3\xa9\xc3\xa9\xc3\xa9" },
        { "a.jsonl", "\n \n", "" },
        { "a.jsonl", "{\"body\":\"a\"}\n{\"text\":\"b\"}\n", "" },
        { "a.json", "[\n {\"text\": \"a\"}, {\"text\": \"b\"}]", "a" },
        { "a.json", "[{\"text\": \"a\"", "" },
        { "a.json", "[]", "" },
        { "a.txt", "{\"text\":\"as it is \"}", "{\"text\":\"as it is \"" },
        { "a.txt", "", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].name, cases[i].file, strlen(cases[i].file), cases[i].text);
}

static void check_tables(void)
{
    static const struct made_node nodes[] = { { "root", MADE_GROUP, MADE_REQUIRED, 1, 0, 0 },
                                              { "text", MADE_BYTES, MADE_OPTIONAL, 0, 0, 0 } };
    /* a null, and then a text */
    static const char values[] = "\4\0\0\0\2\0\2\1\1\0\0\0a";
    struct made_page page = { .values = 2, .bytes = values, .size = sizeof values - 1 };
    struct made_file f = {
        .nodes = nodes, .pages = &page, .node_count = 2, .page_count = 1, .columns = 1, .rows = 2, .groups = 2
    };
    struct buffer bytes = made_parquet(&f);

    check("a.parquet", bytes.bytes, bytes.size, "a");
    buffer_free(&bytes);
    page.unpacked = (64 << 20) + 1; /* says its header: nothing is decompressed */
    f.codec = 6;
    bytes = made_parquet(&f);
    check("a.parquet", bytes.bytes, bytes.size, "");
    buffer_free(&bytes);
    f.page_count = 0;
    f.rows = 0;
    f.codec = 0;
    bytes = made_parquet(&f);
    check("a.parquet", bytes.bytes, bytes.size, "");
    buffer_free(&bytes);
}

/* Folders, each with two links to the next one: all ways through them are searched, which takes more than the tenth of
 * a second after which a stop is asked for. */
static void check_stop(void)
{
    struct input_list list;
    char next[100];

    for (unsigned i = 0; i <= FOLDERS; i++) {
        T_CHECK(mkdir(t_path(folder, t_text("in%u", i)), 0700) == 0);
        snprintf(next, sizeof next, "../in%u", i + 1);
        for (unsigned link = 0; i < FOLDERS && link < 2; link++) {
            T_CHECK(symlink(next, t_path(folder, t_text("in%u/%u", i, link))) == 0);
        }
        for (unsigned n = 0; i == FOLDERS && n < 50; n++) {
            t_write(t_path(folder, t_text("in%u/%u.jsonl", i, n)), "", 0);
        }
    }
    T_REFUSED(find(&list, t_path(folder, "in0"), true), LEAT_E_STOPPED, "stopped");
    T_EQ(list.count, 0);
}

int main(void)
{
    folder = t_folder();
    check_streams();
    check_tables();
    check_stop();
    return t_end();
}
