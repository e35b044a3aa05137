/*
 * test_export_faults.c: whichever allocation or system call fails while a dataset is exported: an error that says so,
 * nothing left allocated or open, and no file under its name; or what the undisturbed run makes.
 */
#include "leat_pack.h"
#include "one_document.h"
#include "small.h"
#include "support/fault.h"

static const char *folder;
static const char *which; /* the format */

static enum leat_status export_to(const char *name, struct leat_error *err)
{
    struct leat_export_options to = LEAT_EXPORT_OPTIONS_INIT;
    const char *source = t_path(folder, strcmp(which, "datatrove") == 0 ? "masked" : "plain");
    const char *output = t_text("%s/%s", folder, name);

    to.to = which;
    return leat_export(output, &source, 1, &to, NULL, err);
}

/* Removes all that is called NAME or NAME.* there; returns how many of them were not only partial. */
static unsigned remove_made(const char *name)
{
    DIR *dir = opendir(folder);
    size_t length = strlen(name);
    unsigned found = 0;

    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (strncmp(e->d_name, name, length) != 0 || (e->d_name[length] != 0 && e->d_name[length] != '.'))
            continue;
        found += strstr(e->d_name, ".partial") == NULL;
        T_CHECK(unlink(t_path(folder, e->d_name)) == 0);
    }
    if (dir)
        closedir(dir);
    return found;
}

static void check_same(void)
{
    static const char *const suffixes[] = { "",    ".leat",     ".tokens",      ".bin",    ".idx",
                                            ".ds", ".ds.index", ".ds.metadata", ".ds.loss" };
    char a[700], b[700];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(a, sizeof a, "%s/made%s", folder, suffixes[i]);
        snprintf(b, sizeof b, "%s/whole%s", folder, suffixes[i]);
        T_EQ(access(a, F_OK), access(b, F_OK));
        T_CHECK(access(b, F_OK) != 0 || same_file(a, b));
    }
}

/* Returns whether a call failed. */
static bool test_fault(enum fault_kind kind, uint64_t n, int os_error)
{
    long allocations = fault_allocations();
    unsigned files = fault_open_files();
    struct leat_error err = { .message = "" };
    enum leat_status s;

    fault_arm(kind, FAULT_ONCE, n, os_error);
    s = export_to("made", &err);
    fault_disarm();
    if (s == LEAT_OK)
        check_same();
    else
        T_CHECK(err.status == s && err.message[0] && (kind != FAULT_MEMORY || s == LEAT_E_NO_MEMORY));
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    T_CHECK(remove_made("made") == 0 || s == LEAT_OK || kind == FAULT_SYSTEM);
    if (t_failures)
        T_FAIL("%s, call %" PRIu64 ", %s: %s: %s", which, n, fault_failed(), leat_status_name(s), err.message);
    return fault_failed() != NULL;
}

static void test_all(void)
{
    enum leat_status s = export_to("whole", &t_err);

    T_OK(s);
    for (uint64_t n = 1; !t_failures && test_fault(FAULT_MEMORY, n, ENOMEM); n++)
        ;
    for (uint64_t n = 1; !t_failures && test_fault(FAULT_SYSTEM, n, EIO); n++)
        ;
    T_CHECK(remove_made("whole") > 0);
}

static void write_dataset(const char *name, uint32_t mask)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    static uint8_t learned[1000];
    static uint16_t ids[1000];
    struct leat_writer *w;

    o.vocabulary = 1000;
    o.store_mask = mask;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    for (uint64_t i = 0; i < 1000; i++) {
        ids[i] = (uint16_t)i;
        learned[i] = i % 3 ? UINT8_MAX : 0;
    }
    for (uint64_t i = 0; i < 10; i++)
        T_OK(add_one_document(w, ids, 2, mask ? learned : NULL, 100 * i, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

int main(void)
{
    static const char *const formats[] = { "megatron", "llmc", "datatrove" };

    folder = t_folder();
    write_dataset("plain", 0);
    write_dataset("masked", 1);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        which = formats[i];
        test_all();
    }
    return t_end();
}
