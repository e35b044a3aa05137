/*
 * test_own_files.c: what stands under the names of a writer's files and is not its own: links, second names, files of
 * other users, folders, pipes. None of it is written to or followed, none makes a call wait or go round for ever; what
 * cannot be replaced is refused at once, with a sentence that names it.
 */
#include "small.h"

static const char *folder;
static char work[560], victim[600];
static struct small fresh, reference;

static const char *const partial_names[] = {
    ".partial.tokens", ".partial.documents", ".partial.directory", ".partial.pages",  ".partial.origins",
    ".partial.lines",  ".partial.id-ends",   ".partial.ids",       ".partial.hashes", ".partial.checkpoint",
};
#define PARTIAL_NAMES (sizeof partial_names / sizeof *partial_names)

/* ---- What may stand there ---- */

static void put_link(const char *path)
{
    T_EQ(symlink(victim, path), 0);
}

static void put_dangling_link(const char *path)
{
    T_EQ(symlink("nowhere", path), 0);
}

static void put_folder(const char *path)
{
    T_EQ(mkdir(path, 0777), 0);
}

static void put_pipe(const char *path)
{
    T_EQ(mkfifo(path, 0666), 0);
}

/* Made without bind(), whose address has no room for a long path. */
static void put_socket(const char *path)
{
    T_EQ(mknod(path, S_IFSOCK | 0666, 0), 0);
}

static const struct thing {
    void (*put)(const char *path);
    const char *what;
} things[] = {
    { put_link, "a symbolic link" },    { put_dangling_link, "a symbolic link" }, { put_folder, "a folder" },
    { put_pipe, "not a regular file" }, { put_socket, "not a regular file" },
};
#define THINGS (sizeof things / sizeof *things)

static void take_away(const char *path)
{
    T_CHECK(unlink(path) == 0 || rmdir(path) == 0);
}

/* ---- Checks ---- */

static void check_refusal(enum leat_status status, const char *path, const char *what)
{
    T_CHECK(status == LEAT_E_EXISTS || status == LEAT_E_PERMISSION);
    T_CONTAINS(t_err.message, t_text("%s %s", path, what));
}

/* A writer that refuses at once, and leaves all as it was. */
static void refuse(bool resumes, const char *suffix, const char *what)
{
    struct leat_writer_options o = small_options(&fresh);
    struct leat_writer *w = NULL;
    enum leat_status status;
    const char *before = t_text("%s", listing(work));

    o.force = 1;
    status = resumes ? leat_writer_resume(&w, fresh.name, &o, NULL, NULL, &t_err)
                     : leat_writer_open(&w, fresh.name, &o, &t_err);
    T_CHECK(!w);
    check_refusal(status, with(fresh.name, suffix), what);
    T_STR(listing(work), before);
}

static void check_victim(void)
{
    T_CHECK(same_file(victim, with(reference.name, ".leat")));
}

static void stop_at_checkpoint(void)
{
    uint64_t done = 10;
    struct leat_writer *w;

    clear_folder(work);
    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    T_OK(small_documents(w, fresh.seed, 0, done, &t_err));
    T_OK(leat_writer_checkpoint(w, &done, sizeof done, &t_err));
    leat_writer_suspend(w);
}

static void check_resumes(void)
{
    T_OK(small_resume(&fresh));
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(work), "d.leat d.tokens");
}

/* ---- The lock ---- */

static void at_the_lock(void)
{
    for (size_t i = 0; i < THINGS; i++) {
        const char *is = t_text("is %s", things[i].what);

        stop_at_checkpoint();
        things[i].put(with(fresh.name, ".partial.lock"));
        refuse(false, ".partial.lock", is);
        refuse(true, ".partial.lock", is);
        take_away(with(fresh.name, ".partial.lock"));
        check_resumes();
    }
    T_CHECK(access(t_path(work, "nowhere"), F_OK) != 0);
    check_victim();
}

/* ---- Where a run begins: leftovers are removed, and links are not what they lead to ---- */

static void at_the_begin(void)
{
    clear_folder(work);
    for (size_t i = 0; i < PARTIAL_NAMES; i++)
        put_link(with(fresh.name, partial_names[i]));
    put_link(with(fresh.name, ".partial.leat"));
    put_link(with(fresh.name, ".partial.checkpoint.new"));
    fresh.replace = true;
    small_write(&fresh);
    fresh.replace = false;
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(work), "d.leat d.tokens");
    check_victim();
}

/* ---- Where a run goes on ---- */

static void replaced_by(const char *name, const struct thing *thing)
{
    const char *aside = with(fresh.name, ".aside");

    stop_at_checkpoint();
    T_EQ(rename(with(fresh.name, name), aside), 0);
    thing->put(with(fresh.name, name));
    refuse(true, name, t_text("is %s", thing->what));
    take_away(with(fresh.name, name));
    T_EQ(rename(aside, with(fresh.name, name)), 0);
    check_resumes();
    check_victim();
}

/* The link leads to the very file: writing would be right, and to a place that others chose. */
static void moved_behind_a_link(const char *name)
{
    const char *aside = with(fresh.name, ".aside");
    uint8_t *bytes, *then;
    size_t size, then_size;

    stop_at_checkpoint();
    T_EQ(rename(with(fresh.name, name), aside), 0);
    bytes = file_bytes(aside, &size);
    T_EQ(symlink(aside, with(fresh.name, name)), 0);
    refuse(true, name, "is a symbolic link");
    then = file_bytes(aside, &then_size);
    T_CHECK(then_size == size && memcmp(then, bytes, size) == 0);
    free(bytes);
    free(then);
}

static void with_a_second_name(const char *name)
{
    const char *second = with(fresh.name, ".second");

    stop_at_checkpoint();
    T_EQ(link(with(fresh.name, name), second), 0);
    if (strcmp(name, ".partial.checkpoint") != 0) /* which is replaced, not written to */
        refuse(true, name, "has a second name (a hard link)");
    unlink(second);
    check_resumes();
}

/* Whoever owns the folder can replace any file in it: its owner's files are as good as one's own. */
static void of_another_user(const char *name)
{
    if (geteuid() != 0)
        return;
    stop_at_checkpoint();
    T_EQ(chown(with(fresh.name, name), 12345, 12345), 0);
    refuse(true, name, "belongs to user 12345");
    T_EQ(chown(work, 12345, 12345), 0);
    check_resumes();
    T_EQ(chown(work, 0, 0), 0);
}

static void where_it_goes_on(void)
{
    for (size_t i = 0; i < PARTIAL_NAMES; i++) {
        for (size_t k = 0; k < THINGS; k++)
            replaced_by(partial_names[i], &things[k]);
        moved_behind_a_link(partial_names[i]);
        with_a_second_name(partial_names[i]);
        of_another_user(partial_names[i]);
    }
    clear_folder(work);
    t_write(with(fresh.name, ".partial.lock"), "", 0);
    if (geteuid() == 0) {
        T_EQ(chown(with(fresh.name, ".partial.lock"), 12345, 12345), 0);
        refuse(false, ".partial.lock", "belongs to user 12345");
    }
}

/* ---- Where it ends ---- */

static void at_the_end(void)
{
    static const char *const names[] = { ".tokens", ".leat" };

    for (size_t i = 0; i < 2 * THINGS; i++) {
        const struct thing *thing = &things[i / 2];
        const char *name = names[i % 2], *is = t_text("is %s", thing->what);

        stop_at_checkpoint();
        thing->put(with(fresh.name, name));
        if (strcmp(thing->what, "a symbolic link") == 0) { /* a name, which the file takes */
            fresh.replace = true;
            check_resumes();
            fresh.replace = false;
            check_victim();
            continue;
        }
        refuse(false, name, is);
        refuse(true, name, is);
        take_away(with(fresh.name, name));
        check_resumes();
    }
}

int main(void)
{
    folder = t_folder();
    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    snprintf(fresh.name, sizeof fresh.name, "%s/d", work);
    snprintf(reference.name, sizeof reference.name, "%s/reference", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    fresh.seed = reference.seed = t_seed();
    small_write(&reference);
    copy_file(with(reference.name, ".leat"), victim);
    if (chdir(work) != 0) /* names of sockets are short */
        return 1;
    at_the_lock();
    at_the_begin();
    where_it_goes_on();
    at_the_end();
    return t_end();
}
