/*
 * test_folder_list.c: a folder with a list (leat-run.list) opens as the parts that it names, in their order, whatever
 * else lies there; not if one is missing, or is another dataset than the one that the list means; a list with any
 * changed, missing or added byte is refused, and so is one that says what no list says, with the right sum. The folder
 * of a run whose parts are pushed does not open without a list. The folder of a split opens as the parts that the list
 * above names for it, which are no parts of the folder itself.
 */
#include <stdarg.h>

#include "checksum/checksum.h"
#include "one_document.h"
#include "t.h"

static const char *folder;

static void make_dataset(const char *name, uint32_t first, unsigned count)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    options.vocabulary = 5000;
    options.force = 1;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    for (unsigned i = 0; i < count; i++) {
        const uint32_t ids[2] = { first + i, 7 };

        T_OK(add_one_document(w, ids, 4, NULL, 2, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* The list that is being made. */
static char text[4000];
static size_t size;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    size += (size_t)vsnprintf(text + size, sizeof text - size, format, args);
    va_end(args);
}

static void say_hex(const uint8_t bytes[16])
{
    for (unsigned i = 0; i < 16; i++)
        say("%02x", bytes[i]);
}

static void begin_list(const char *start)
{
    size = 0;
    say("%s", start);
}

/* "part NAME CHECKSUM INDEX_BYTES TOKEN_BYTES DOCUMENTS TOKENS" of a dataset that is there, listed as `as`. */
static void add_part(const char *name, const char *as)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint8_t checksum[16];
    FILE *f;

    T_OK(leat_dataset_open(&d, t_path(folder, name), NULL, &t_err));
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    f = fopen(t_path(folder, t_text("%s.leat", name)), "r");
    T_CHECK(f && fseek(f, 4080, SEEK_SET) == 0 && fread(checksum, 1, 16, f) == 16 && fclose(f) == 0);
    say("part %s ", as);
    say_hex(checksum);
    say(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", info.index_bytes, info.token_bytes, info.documents,
        info.tokens);
}

/* The line of the sum. */
static void end_list(void)
{
    uint8_t sum[16];

    checksum_store(sum, checksum_kernels()->hash(text, size));
    say("sum ");
    say_hex(sum);
    say("\n");
}

static void write_list(const char *bytes, size_t count)
{
    t_write(t_path(folder, "leat-run.list"), bytes, count);
}

#define HEAD "leat list 1\nrun 00112233445566778899aabbccddeeff\n"

static void make_list(void)
{
    begin_list(HEAD "parts 2\n");
    add_part("b.0123", "b.0123");
    add_part("a.4567", "a.4567");
    end_list();
    write_list(text, size);
}

static enum leat_status open_folder(struct leat_dataset **d)
{
    return leat_dataset_open(d, folder, NULL, &t_err);
}

static void check_opens(void)
{
    static const uint32_t expected[] = { 200, 7, 100, 7, 101, 7 };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint32_t ids[6];

    T_OK(open_folder(&d));
    leat_dataset_info(d, &info);
    T_EQ(info.parts, 2);
    T_EQ(info.tokens, 6);
    T_OK(leat_dataset_read_u32(d, 0, 6, ids, &t_err));
    T_CHECK(memcmp(ids, expected, sizeof ids) == 0);
    leat_dataset_close(d);
}

static void check_damage(void)
{
    struct leat_dataset *d;
    char changed[2000];

    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(changed, text, size);
            changed[i] ^= (char)(1u << bit);
            write_list(changed, size);
            T_CHECK(open_folder(&d) != LEAT_OK &&
                    (t_err.status == LEAT_E_CHECKSUM || (t_err.status == LEAT_E_VERSION && i == 10)));
        }
    for (size_t i = 0; i < size; i++) {
        write_list(text, i);
        T_STATUS(open_folder(&d), LEAT_E_CHECKSUM);
    }
    memcpy(changed, text, size);
    changed[size] = '\n';
    write_list(changed, size + 1);
    T_STATUS(open_folder(&d), LEAT_E_CHECKSUM);
}

/* Each with the right sum. */
static void check_hostile(void)
{
    static const char *const bodies[] = {
        "",
        HEAD,
        HEAD "parts 0\n",
        HEAD "parts 1\n",
        HEAD "parts 18446744073709551615\n",
        HEAD "parts 9223372036854775807\npart a 0 1 2 3 4\n",
        HEAD "parts 1\npart a.4567 00112233445566778899aabbccddeeff 1 2 3\n",
        HEAD "parts 1\npart a.4567 00112233445566778899aabbccddeeff 1 2 3 4 5\n",
        HEAD "parts 1\npart a.4567 00112233445566778899aabbccddee 1 2 3 4\n",
        HEAD "parts 1\npart ../a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD "parts 1\npart .a 00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD "parts 1\npart  00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD "parts 2\npart a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD
        "parts 1\npart a 00112233445566778899aabbccddeeff 1 2 3 4\npart b 00112233445566778899aabbccddeeff 1 2 3 4\n",
        "leat list 0\nrun 00112233445566778899aabbccddeeff\nparts 1\n",
        HEAD "parts 1\npart valid/a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n", /* none is the folder's */
        HEAD "parts 1\npart /a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD "parts 2\npart a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n"
             "part valid/../a 00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD "parts 2\npart a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n"
             "part valid/ 00112233445566778899aabbccddeeff 1 2 3 4\n",
        HEAD "parts 2\npart a.4567 00112233445566778899aabbccddeeff 1 2 3 4\n"
             "part valid/a/b 00112233445566778899aabbccddeeff 1 2 3 4\n",
        "leat list 1\nsplit \n",
        "leat list 1\nsplit valid",
        "leat list 1\nsplit ../valid\n",
        "leat list 1\nsplit .\n",
        "leat list 1\nsplit valid\nsplit test\n",
    };
    struct leat_dataset *d;

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        begin_list(bodies[i]);
        end_list();
        write_list(text, size);
        T_STATUS(open_folder(&d), LEAT_E_CHECKSUM);
    }
    begin_list("leat list 2\n");
    write_list(text, size);
    T_REFUSED(open_folder(&d), LEAT_E_VERSION, "is of version 2, and this leat knows 1");
}

/* A list opens by its own name, too, in its folder or from another one; a file whose name is no run's is none. */
static void check_by_name(void)
{
    static const char *const lists[] = { "leat-run.list", "leat-run.list.00112233445566778899aabbccddeeff" };
    char *before = getcwd(NULL, 0);
    struct leat_dataset *d;

    begin_list(HEAD "parts 1\n");
    add_part("b.0123", "b.0123");
    end_list();
    t_write(t_path(folder, lists[1]), text, size);
    T_EQ(chdir(folder), 0);
    for (unsigned i = 0; i < 4; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        T_OK(leat_dataset_open(&d, i < 2 ? lists[i] : t_path(folder, lists[i - 2]), NULL, &t_err));
        leat_dataset_info(d, &info);
        T_EQ(info.parts, i % 2 == 0 ? 2 : 1);
        leat_dataset_close(d);
    }
    T_EQ(chdir(before), 0);
    free(before);
    t_write_text(t_path(folder, "leat-run.list.old"), "leat list 1\n");
    T_REFUSED(leat_dataset_open(&d, t_path(folder, "leat-run.list.old"), NULL, &t_err), LEAT_E_NO_FILE,
              "leat-run.list.old");
    T_STATUS(leat_dataset_open(&d, t_path(folder, "leat-run.list.ffffffffffffffffffffffffffffffff"), NULL, &t_err),
             LEAT_E_NO_FILE);
    t_write(t_path(folder, lists[1]), text, size - 1);
    T_STATUS(leat_dataset_open(&d, t_path(folder, lists[1]), NULL, &t_err), LEAT_E_CHECKSUM);
    unlink(t_path(folder, lists[1]));
}

static void write_split(const char *name, const char *split)
{
    begin_list("leat list 1\nsplit ");
    say("%s\n", split);
    end_list();
    t_write(t_path(folder, name), text, size);
}

static enum leat_status open_split(uint64_t *tokens)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, t_path(folder, "valid"), NULL, &t_err);

    if (s == LEAT_OK)
        leat_dataset_info(d, &info);
    leat_dataset_close(d);
    *tokens = info.tokens;
    return s;
}

static void check_splits(void)
{
    struct leat_dataset *d;
    uint64_t tokens;

    T_EQ(mkdir(t_path(folder, "valid"), 0777), 0);
    make_dataset("valid/a.4567", 400, 5);
    make_dataset("valid/b.0123", 500, 1);
    write_split("valid/leat-run.list", "valid");
    make_list();
    T_REFUSED(open_split(&tokens), LEAT_E_NO_FILE, "is not committed"); /* no part of the list is its own */
    for (unsigned wrong = 0; wrong < 2; wrong++) {
        begin_list(HEAD "parts 4\n");
        add_part("b.0123", "b.0123");
        add_part("valid/a.4567", "valid/a.4567");
        add_part("a.4567", "a.4567");
        add_part(wrong ? "valid/a.4567" : "valid/b.0123", "valid/b.0123");
        end_list();
        write_list(text, size);
        check_opens();
        T_STATUS(open_split(&tokens), wrong ? LEAT_E_MISMATCH : LEAT_OK);
        T_EQ(tokens, wrong ? 0 : 12);
    }
    write_split("valid/leat-run.list", "val");
    T_REFUSED(open_split(&tokens), LEAT_E_NO_FILE, "is not committed");
    write_split("valid/leat-run.list", "valid");
    write_split("leat-run.list", "valid");
    T_STATUS(open_split(&tokens), LEAT_E_NO_FILE);
    T_STATUS(open_folder(&d), LEAT_E_NO_FILE);
    unlink(t_path(folder, "leat-run.list"));
    T_REFUSED(open_split(&tokens), LEAT_E_NO_FILE, "is not committed");
}

int main(void)
{
    struct leat_dataset *d;

    folder = t_folder();
    make_dataset("a.4567", 100, 2);
    make_dataset("b.0123", 200, 1);
    make_dataset("a.89ab", 300, 3); /* an attempt that lost */
    t_write_text(t_path(folder, "leat-run"), "leat run 2\nparts 0\n");
    T_REFUSED(open_folder(&d), LEAT_E_NO_FILE, "is not committed");
    make_list();
    check_opens();
    unlink(t_path(folder, "leat-run"));
    check_opens();
    check_by_name();
    make_list();
    check_damage();
    check_hostile();
    check_splits();

    begin_list(HEAD "parts 1\n");
    add_part("a.89ab", "a.4567"); /* the wrong attempt */
    end_list();
    write_list(text, size);
    T_REFUSED(open_folder(&d), LEAT_E_MISMATCH, "a.4567.leat is not the part that leat-run.list");
    make_list();
    make_dataset("a.4567", 101, 2);
    T_STATUS(open_folder(&d), LEAT_E_MISMATCH);
    make_dataset("a.4567", 100, 2);
    check_opens();
    unlink(t_path(folder, "b.0123.leat"));
    T_REFUSED(open_folder(&d), LEAT_E_NO_FILE, "b.0123");
    return t_end();
}
