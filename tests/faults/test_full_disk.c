/*
 * test_full_disk.c: a disk that fills up at any point of writing gives LEAT_E_NO_SPACE with a sentence; afterwards
 * nothing is left behind, or the checkpoint, which can be resumed once there is room. The disk is a file system in
 * memory of the test's own; where none can be mounted, a limit on the size of files is all that is tried.
 */
#include "leat_pack.h"
#include "one_document.h"
#include "small_disk.h"

#define DISK_BYTES ((unsigned long)24 << 20)
#define DOCUMENTS  300
#define DOCUMENT   10000u /* tokens: 6 MB in all, more than any buffer */
#define CHECKPOINT 100
#define STEPS      (t_every() ? 40u : 15u)
#define LIMITS     (t_every() ? 20u : 8u)

static uint16_t ids[DOCUMENT];

static enum leat_status add_documents(struct leat_writer *w, uint64_t from, uint64_t to)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t k = from; s == LEAT_OK && k < to; k++) {
        struct leat_origin o = { .input = LEAT_NONE, .offset = k };

        ids[0] = (uint16_t)k;
        s = add_one_document(w, ids, 2, NULL, DOCUMENT, &o, &t_err);
    }
    return s;
}

static struct leat_writer_options options(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = 65536;
    return o;
}

static void check_sentence(enum leat_status s, const char *remedy)
{
    T_EQ(s, LEAT_E_NO_SPACE);
    T_EQ(t_err.status, s);
    T_CHECK(t_err.os_error != 0);
    T_CONTAINS(t_err.message, disk);
    T_CONTAINS(t_err.message, remedy);
}

/* Whether all went well with what room there is. */
static bool write_straight(const char *remedy)
{
    struct leat_writer_options o = options();
    struct leat_writer *w = NULL;
    enum leat_status s;

    if ((s = leat_writer_open(&w, name, &o, &t_err)) == LEAT_OK && (s = add_documents(w, 0, DOCUMENTS)) == LEAT_OK &&
        (s = leat_writer_finish(w, NULL, &t_err)) == LEAT_OK) {
        T_CHECK(same_dataset(name, reference));
        return true;
    }
    check_sentence(s, remedy);
    leat_writer_abandon(w);
    T_STR(listing(disk), access(filler, F_OK) == 0 ? "filler" : "");
    return false;
}

static enum leat_status resume(struct leat_writer **w)
{
    struct leat_writer_options o = options();
    size_t note_bytes;
    void *note;
    enum leat_status s = leat_writer_resume(w, name, &o, &note, &note_bytes, &t_err);

    if (s == LEAT_OK) {
        T_CHECK(note_bytes == 4 && memcmp(note, "note", 4) == 0);
        leat_writer_free_note(note);
    }
    return s;
}

/* With a checkpoint on the way; `more_room` is called when the disk was full. */
static bool write_and_resume(const char *remedy, void (*more_room)(void))
{
    struct leat_writer_options o = options();
    struct leat_writer *w = NULL;
    enum leat_status s;

    if ((s = leat_writer_open(&w, name, &o, &t_err)) == LEAT_OK && (s = add_documents(w, 0, CHECKPOINT)) == LEAT_OK &&
        (s = leat_writer_checkpoint(w, "note", 4, &t_err)) == LEAT_OK &&
        (s = add_documents(w, CHECKPOINT, DOCUMENTS)) == LEAT_OK &&
        (s = leat_writer_finish(w, NULL, &t_err)) == LEAT_OK)
        return true;
    check_sentence(s, remedy);
    leat_writer_suspend(w);
    more_room();
    s = resume(&w);
    if (s == LEAT_E_CHECKPOINT) { /* it came too late for one */
        T_STR(listing(disk), "");
        T_CHECK(write_straight(remedy));
        return false;
    }
    T_EQ(s, LEAT_OK);
    T_EQ(leat_writer_documents(w), CHECKPOINT);
    T_OK(add_documents(w, CHECKPOINT, DOCUMENTS));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_CHECK(same_dataset(name, reference));
    T_STR(listing(disk), "d.leat d.tokens");
    return false;
}

static void small_disk(void)
{
    const char *parts[2] = { reference, reference };
    uint64_t needed = 2 * (uint64_t)DOCUMENTS * DOCUMENT;
    unsigned fulls = 0, merge_fulls = 0, shuffle_fulls = 0, resumed = 0;
    struct leat_merge_options shuffled = LEAT_MERGE_OPTIONS_INIT;

    shuffled.shuffle = 1;
    shuffled.memory = 1 << 20; /* so that the documents lie on the disk twice for a while */
    for (unsigned step = 0; step <= STEPS; step++) {
        uint64_t room = needed * step / STEPS * 5 / 4;
        enum leat_status s;

        clear_folder(disk);
        fill_disk(DISK_BYTES, room);
        fulls += !write_straight("free some space");
        clear_folder(disk);
        fill_disk(DISK_BYTES, room);
        resumed += !write_and_resume("free some space", remove_filler);
        clear_folder(disk);
        fill_disk(DISK_BYTES, 2 * room);
        s = leat_merge(name, parts, 2, NULL, NULL, &t_err);
        merge_fulls += s != LEAT_OK;
        if (s != LEAT_OK) {
            check_sentence(s, "free some space");
            T_STR(listing(disk), "filler");
        }
        clear_folder(disk);
        fill_disk(DISK_BYTES, 2 * room);
        s = leat_merge(name, parts, 1, &shuffled, NULL, &t_err);
        shuffle_fulls += s != LEAT_OK;
        if (s != LEAT_OK) {
            check_sentence(s, "free some space");
            T_STR(listing(disk), "filler");
        }
    }
    T_CHECK(shuffle_fulls > STEPS / 3 && shuffle_fulls <= STEPS);
    T_CHECK(fulls > STEPS / 2 && fulls <= STEPS);
    T_CHECK(merge_fulls > STEPS / 2 && merge_fulls <= STEPS);
    T_CHECK(resumed > STEPS / 2 && resumed <= STEPS);
}

static void limited_files(void)
{
    for (unsigned step = 0; step < LIMITS; step++) {
        rlim_t limit = 2 * (rlim_t)DOCUMENTS * DOCUMENT * step / LIMITS;

        clear_folder(disk);
        set_limit(limit);
        T_CHECK(!write_straight("file size limit"));
        T_CHECK(!write_and_resume("file size limit", no_limit));
        no_limit();
    }
}

int main(void)
{
    struct leat_writer_options o = options();
    uint64_t random = t_seed();
    struct leat_writer *w;

    name_disk();
    for (unsigned i = 0; i < DOCUMENT; i++)
        ids[i] = (uint16_t)t_random(&random);
    T_OK(leat_writer_open(&w, reference, &o, &t_err));
    T_OK(add_documents(w, 0, DOCUMENTS));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    if (mount_disk(DISK_BYTES))
        small_disk();
    limited_files();
    return t_end();
}
