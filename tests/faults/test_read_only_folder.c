/*
 * test_read_only_folder.c: writing into a folder, or onto a file system, that does not allow it gives
 * LEAT_E_PERMISSION with a sentence and leaves it as it is, also when it becomes so under a running writer, whose
 * checkpoint can be resumed when it is writable again. Reading needs no right to write. Also: a folder that is not
 * there, and files that may not be read.
 */
#include <sys/wait.h>

#include "own_mounts.h"
#include "small.h"

#define NOBODY 65534

static struct small there, fresh, reference; /* d, which exists; new, which is to be; elsewhere */

static void check_refused(enum leat_status s, const char *path)
{
    T_EQ(s, LEAT_E_PERMISSION);
    T_EQ(t_err.status, s);
    T_CHECK(t_err.os_error != 0);
    T_CONTAINS(t_err.message, path);
}

static void cannot_write(const char *folder, const char *before)
{
    struct leat_writer_options o = small_options(&fresh);
    struct leat_writer *w;
    enum leat_status s;

    s = small_open(&fresh, &w, &t_err);
    check_refused(s, fresh.name);
    T_CHECK(!w);
    there.replace = true;
    s = small_open(&there, &w, &t_err);
    check_refused(s, there.name);
    s = leat_writer_resume(&w, fresh.name, &o, NULL, NULL, &t_err);
    check_refused(s, fresh.name);
    T_STR(listing(folder), before);
}

static void can_read(const char *folder, const char *before)
{
    for (enum leat_access access = LEAT_ACCESS_LEASED; access <= LEAT_ACCESS_READ; access++) {
        struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
        struct leat_dataset *d;

        o.access = access;
        T_OK(leat_dataset_open(&d, there.name, &o, &t_err));
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
    }
    T_CHECK(same_dataset(there.name, reference.name));
    T_STR(listing(folder), before);
}

/* A writer begins while it may; `allow` takes the right away and gives it back. */
static void loses_the_right(const char *folder, void (*allow)(const char *folder, bool write))
{
    uint64_t done = 10;
    struct leat_writer *w;
    enum leat_status s;

    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    T_OK(small_documents(w, fresh.seed, 0, done, &t_err));
    T_OK(leat_writer_checkpoint(w, &done, sizeof done, &t_err));
    allow(folder, false);
    s = small_documents(w, fresh.seed, done, SMALL_DOCUMENTS, &t_err);
    if (s == LEAT_OK)
        s = leat_writer_finish(w, NULL, &t_err);
    check_refused(s, fresh.name);
    leat_writer_suspend(w);
    T_CHECK(access(with(fresh.name, ".leat"), F_OK) != 0);
    allow(folder, true);
    T_EQ(small_resume(&fresh), LEAT_OK);
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(folder), "d.leat d.tokens new.leat new.tokens");
    unlink(with(fresh.name, ".leat"));
    unlink(with(fresh.name, ".tokens"));
}

static void put_dataset(const char *folder)
{
    snprintf(there.name, sizeof there.name, "%.500s/d", folder);
    snprintf(fresh.name, sizeof fresh.name, "%.500s/new", folder);
    copy_dataset(reference.name, there.name);
}

/* ---- By the folder's mode ---- */

static void allow_by_mode(const char *folder, bool write)
{
    T_CHECK(chmod(folder, write ? 0755 : 0555) == 0);
}

/* Runs as a user whom the system's rules bind. */
static void as_user(void)
{
    const char *folder = "closed"; /* relative: the folders above may be closed to this user */
    struct leat_dataset *d;
    struct leat_writer *w;

    loses_the_right(folder, allow_by_mode);
    allow_by_mode(folder, false);
    cannot_write(folder, "d.leat d.tokens");
    can_read(folder, "d.leat d.tokens");
    T_CHECK(chmod(with(there.name, ".tokens"), 0) == 0);
    check_refused(leat_dataset_open(&d, there.name, NULL, &t_err), with(there.name, ".tokens"));
    T_CHECK(!d);
    T_CHECK(chmod(with(there.name, ".tokens"), 0644) == 0);
    T_CHECK(chmod(folder, 0) == 0);
    check_refused(leat_dataset_open(&d, there.name, NULL, &t_err), with(there.name, ".leat"));
    check_refused(leat_dataset_open(&d, folder, NULL, &t_err), folder);
    allow_by_mode(folder, true);
    snprintf(fresh.name, sizeof fresh.name, "not-there/new");
    T_REFUSED(small_open(&fresh, &w, &t_err), LEAT_E_NO_FILE, "not-there/new");
}

static void by_mode(const char *folder)
{
    pid_t child;
    int status = 0;

    T_CHECK(chdir(folder) == 0);
    make_folder("closed");
    put_dataset("closed");
    snprintf(reference.name, sizeof reference.name, "reference");
    if (geteuid() == 0) { /* root may write anywhere: somebody else tries */
        T_CHECK(chown("closed", NOBODY, NOBODY) == 0);
        T_CHECK(chown("closed/d.leat", NOBODY, NOBODY) == 0 && chown("closed/d.tokens", NOBODY, NOBODY) == 0);
    }
    child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(77);
        as_user();
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        fprintf(stderr, "cannot become another user: modes were not tried\n");
    else
        T_EQ(WEXITSTATUS(status), 0);
}

/* ---- By the mount ---- */

static void by_mount(const char *folder)
{
    char disk[560];

    snprintf(disk, sizeof disk, "%.500s/disk", folder);
    make_folder(disk);
    if (!own_mounts() || !mount_memory(disk, 16ul << 20)) {
        fprintf(stderr, "no disk of its own could be had: a read-only mount was not tried\n");
        return;
    }
    put_dataset(disk);
    T_CHECK(mount_again(disk, true));
    cannot_write(disk, "d.leat d.tokens");
    can_read(disk, "d.leat d.tokens");
}

int main(void)
{
    const char *folder = t_folder();

    fresh.seed = reference.seed = there.seed = t_seed();
    T_CHECK(chmod(folder, 0755) == 0);
    snprintf(reference.name, sizeof reference.name, "%.500s/reference", folder);
    small_write(&reference);
    T_CHECK(chmod(with(reference.name, ".leat"), 0644) == 0 && chmod(with(reference.name, ".tokens"), 0644) == 0);
    by_mount(folder);
    by_mode(folder);
    return t_end();
}
