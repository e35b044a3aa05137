/*
 * test_run_pushed.c: runs whose parts are pushed. Attempts at the same parts live side by side; the folder is no
 * dataset until a commit names those that count, then it is the documents of these in this order, each part with the
 * bytes that a packer alone gives, and nothing else is left. Pieces, keys and commits that make no sense are refused,
 * and so is what comes too late: after a commit or another run. Parts that are appended make a new dataset, and leave
 * the one before. Forks. test_run_pushed_splits.c has aborts, and what killed processes leave.
 */
#include <sys/wait.h>

#include "pushing.h"

static struct leat_run *create_with(const char *name, uint32_t force, uint64_t end_token)
{
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;

    pack.end_token = end_token;
    pack.force = force;
    return create_as(name, pack);
}

static struct leat_run *create(const char *name)
{
    struct leat_run *run = create_with(name, 0, 256);

    T_CHECK(run || !fprintf(stderr, "%s\n", t_err.message));
    return run;
}

static struct leat_run_piece finish(struct leat_packer *p)
{
    struct leat_run_piece piece;

    T_OK(leat_run_finish(p, &piece, 1, NULL, &t_err));
    return piece;
}

static struct leat_run_piece make(struct leat_run *run, const char *key)
{
    struct leat_packer *p = push(run, key);

    add(p, key, 0, 5);
    return finish(p);
}

static enum leat_status open_run(const char *name)
{
    return open_it(name, "");
}

/* The folder is the dataset of these parts, and has their files alone: `.`, `..`, plan, list, two of each. */
static void check_committed(const char *name, const struct leat_run_piece *pieces, unsigned count)
{
    check_dataset(name, pieces, 1, count);
    T_EQ(t_files(in_folder(name)), 4 + 2 * count);
}
/* A packer alone gives the same bytes. */
static void check_bytes(const char *name, const struct leat_run_piece *piece)
{
    pack_alone(piece->key, 5);
    T_CHECK(same_file(in_folder("alone.leat"), path_of(name, piece, ".leat")));
    T_CHECK(same_file(in_folder("alone.tokens"), path_of(name, piece, ".tokens")));
}
/* ---- Attempts and the commit ------------------------------------------------------------------------------------- */

static void check_attempts(void)
{
    struct leat_run *run = create("run"), *task;
    struct leat_run_piece a[2], b, pieces[2], swapped[2];
    struct leat_packer *first, *second, *late;

    T_OK(leat_run_open(&task, in_folder("run"), &t_err));
    first = push(task, "a");
    second = push(run, "a");
    add(first, "a", 0, 3);
    add(second, "a", 0, 5);
    add(first, "a", 3, 5);
    a[1] = finish(second);
    T_REFUSED(open_run("run"), LEAT_E_NO_FILE, "is not committed");
    a[0] = finish(first);
    b = make(run, "b");
    T_CHECK(memcmp(a[0].checksum, a[1].checksum, 16) == 0 && a[0].attempt != a[1].attempt);
    check_bytes("run", &a[0]);
    check_bytes("run", &b);
    late = push(run, "b");
    add(late, "b", 0, 3);

    pieces[0] = b;
    pieces[1] = a[1];
    T_OK(leat_run_commit(run, pieces, 2, &t_err));
    check_committed("run", pieces, 2);
    (void)add_one_text(late, "more", 4, NULL, 0, NULL, NULL);
    T_REFUSED(leat_run_finish(late, &b, 1, NULL, &t_err), LEAT_E_STATE,
              "is committed without this attempt at the part b");
    leat_packer_abandon(late);
    check_committed("run", pieces, 2);

    T_OK(leat_run_commit(task, pieces, 2, &t_err)); /* again */
    swapped[0] = pieces[1];
    swapped[1] = pieces[0];
    T_REFUSED(leat_run_commit(run, swapped, 2, &t_err), LEAT_E_EXISTS, "is committed already, with other parts");
    T_STATUS(leat_run_commit(run, pieces, 1, &t_err), LEAT_E_EXISTS);
    T_REFUSED(leat_run_abort(run, &t_err), LEAT_E_STATE, "is committed: to undo that, remove the folder");
    T_STATUS(leat_run_push(&late, run, "c", NULL, &t_err), LEAT_E_STATE);
    check_committed("run", pieces, 2);
    leat_run_close(run);
    leat_run_close(task);
}

static void check_refused(void)
{
    static const char *const keys[] = { "", ".a", "a/b", "a b", "\xc3\xa9", "a\n" };
    static const char *const texts[] = { "", "leat piece 1 ", "leat piece 2 a",
                                         "leat piece 1 a 0 0 0 0 0 0 0 0 0 0 0 0" };
    struct leat_run *run = create("refused"), *other = create("other");
    struct leat_run_piece pieces[2], piece, changed;
    struct leat_run_status where = LEAT_RUN_STATUS_INIT;
    char text[LEAT_RUN_PIECE_BYTES], key[LEAT_RUN_MAX_KEY + 2] = "";
    struct leat_packer *p;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        T_REFUSED(leat_run_push(&p, run, keys[i], NULL, &t_err), LEAT_E_ARGUMENT, "cannot name a part");
    memset(key, 'k', LEAT_RUN_MAX_KEY + 1);
    T_STATUS(leat_run_push(&p, run, key, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_run_push(&p, run, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    key[LEAT_RUN_MAX_KEY] = '\0';
    pieces[0] = make(run, key);
    pieces[1] = make(run, "a.0123456789abcdef.leat-_=");

    leat_run_piece_text(&pieces[0], text);
    T_OK(leat_run_piece_read(&piece, text, &t_err));
    T_CHECK(memcmp(&piece, &pieces[0], sizeof piece) == 0);
    for (size_t i = 1; i < strlen(text); i++) {
        char cut[LEAT_RUN_PIECE_BYTES];

        memcpy(cut, text, i);
        cut[i] = '\0';
        if (leat_run_piece_read(&piece, cut, NULL) == LEAT_OK)
            T_CHECK(i > strlen(text) - 2); /* a digit of the last number */
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        T_REFUSED(leat_run_piece_read(&piece, texts[i], &t_err), LEAT_E_ARGUMENT, "is not the piece of a run");

    T_REFUSED(leat_run_commit(run, pieces, 0, &t_err), LEAT_E_ARGUMENT, "at least one part");
    T_REFUSED(leat_run_commit(other, pieces, 2, &t_err), LEAT_E_INCOMPATIBLE, "is of another run");
    changed = pieces[1];
    pieces[1] = pieces[0];
    T_REFUSED(leat_run_commit(run, pieces, 2, &t_err), LEAT_E_ARGUMENT, "comes twice");
    pieces[1] = changed;
    pieces[1].fingerprint[3] ^= 1;
    T_REFUSED(leat_run_commit(run, pieces, 2, &t_err), LEAT_E_INCOMPATIBLE, "different tokenizers");
    pieces[1] = changed;
    pieces[1].checksum[3] ^= 1;
    T_REFUSED(leat_run_commit(run, pieces, 2, &t_err), LEAT_E_MISMATCH, "are not there as its attempt left them");
    pieces[1] = changed;
    pieces[1].attempt ^= 1;
    T_STATUS(leat_run_commit(run, pieces, 2, &t_err), LEAT_E_MISMATCH);
    pieces[1] = changed;
    T_REFUSED(open_run("refused"), LEAT_E_NO_FILE, "is not committed");
    T_OK(leat_run_commit(run, pieces, 2, &t_err));
    check_committed("refused", pieces, 2);

    T_REFUSED(leat_run_status(other, &where, &t_err), LEAT_E_ARGUMENT, "are pushed: its commit says");
    T_STATUS(leat_run_step(other, 1, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    p = push(other, "a");
    T_REFUSED(leat_packer_finish(p, NULL, &t_err), LEAT_E_ARGUMENT, "finish it as such");
    T_STATUS(leat_packer_checkpoint(p, "", 0, &t_err), LEAT_E_ARGUMENT);
    leat_packer_suspend(p);
    T_EQ(t_files(in_folder("other")), 3);
    leat_run_close(run);
    leat_run_close(other);
}

/* Keys that look like names of files: what is finished under them is not swept as unfinished. */
static void check_odd_keys(void)
{
    static const char *const keys[] = { "a.0123456789abcdef.partial", "a.0123456789abcdef.rejects", "b.partial",
                                        "a.0123456789abcdef.partial.0123456789abcdef.tokens", "c.lock" };
    struct leat_run_piece pieces[5];
    struct leat_run *run = create("odd");

    for (unsigned i = 0; i < 5; i++)
        pieces[i] = make(run, keys[i]);
    leat_run_close(create("odd")); /* sweeps what has died */
    T_OK(leat_run_commit(run, pieces, 5, &t_err));
    check_committed("odd", pieces, 5);
    leat_run_close(run);
}

/* ---- Rejects ----------------------------------------------------------------------------------------------------- */

static struct leat_run *create_limited(uint64_t max_rejects, uint64_t ppm)
{
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;
    struct leat_run *run;

    pack.reject_invalid = 1;
    pack.max_rejects = max_rejects;
    pack.max_rejects_ppm = ppm;
    run = create_as("rejects", pack);
    T_CHECK(run || !fprintf(stderr, "%s\n", t_err.message));
    return run;
}

/* A part with so many documents, and rejects. */
static enum leat_status make_with_rejects(struct leat_run *run, const char *key, unsigned documents, unsigned rejects,
                                          struct leat_run_piece *piece)
{
    struct leat_packer *p = push(run, key);
    enum leat_status s = LEAT_OK;

    add(p, key, 0, documents);
    for (unsigned i = 0; s == LEAT_OK && i < rejects; i++)
        s = add_one_text(p, "\xff", 1, NULL, 0, NULL, &t_err);
    if (s == LEAT_OK)
        s = leat_run_finish(p, piece, 1, NULL, &t_err);
    if (s != LEAT_OK)
        leat_packer_abandon(p);
    return s;
}

static void check_advice(enum leat_run_waits waits)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;

    leat_run_advice(&t_err, &advice);
    T_EQ(advice.file, LEAT_RUN_FILE_REJECTS);
    T_EQ(advice.mend, LEAT_RUN_MEND_LIMIT);
    T_EQ(advice.waits, waits);
}

/* They are the whole run's: a share is judged by the commit, a number by each part, too. */
static void check_rejects(void)
{
    struct leat_run *run = create_limited(LEAT_NONE, 20000), *task, *larger; /* 2 % */
    struct leat_run_piece pieces[3], late;
    uint64_t files;

    T_OK(leat_run_open(&task, in_folder("rejects"), &t_err));
    T_OK(make_with_rejects(task, "a", 9, 1, &pieces[0])); /* 10 % of this part */
    T_OK(make_with_rejects(task, "b", 88, 1, &pieces[1]));
    T_OK(make_with_rejects(task, "c", 0, 1, &pieces[2])); /* all of this one, which has no document */
    T_EQ(pieces[0].rejects, 1);
    files = t_files(in_folder("rejects"));
    T_REFUSED(leat_run_commit(run, pieces, 3, &t_err), LEAT_E_REJECTS,
              "3 of 100 records of the run were rejected, more than allowed");
    T_CHECK(strstr(t_err.message, path_of("rejects", &pieces[0], ".rejects.jsonl lists those of the part a")));
    T_STR(t_err.file, path_of("rejects", &pieces[0], ".rejects.jsonl"));
    check_advice(LEAT_RUN_WAITS_ALL);
    T_REFUSED(open_run("rejects"), LEAT_E_NO_FILE, "is not committed");
    T_EQ(t_files(in_folder("rejects")), files);

    larger = create_limited(1, LEAT_NONE); /* the same run, in which tasks now have this limit */
    T_EQ(t_files(in_folder("rejects")), files);
    T_REFUSED(leat_run_commit(larger, pieces, 3, &t_err), LEAT_E_REJECTS, "3 of 100 records");
    leat_run_close(task);
    T_OK(leat_run_open(&task, in_folder("rejects"), &t_err));
    T_STATUS(make_with_rejects(task, "d", 1000, 2, &late), LEAT_E_REJECTS);
    check_advice(LEAT_RUN_WAITS_ALL);
    leat_run_close(larger);

    larger = create_limited(LEAT_NONE, 30000);
    T_OK(leat_run_commit(larger, pieces, 3, &t_err));
    T_OK(open_run("rejects"));
    T_OK(leat_run_commit(run, pieces, 3, &t_err)); /* of which its own limit says nothing now */
    leat_run_close(larger);
    leat_run_close(task);
    leat_run_close(run);
}

/* ---- Beginning again --------------------------------------------------------------------------------------------- */

static void check_again(void)
{
    struct leat_run *run = create("again"), *same, *next;
    struct leat_run_piece pieces[2] = { make(run, "a"), make(run, "b") }, new;
    struct leat_packer *late;

    T_CHECK(!create_with("again", 0, LEAT_NONE)); /* other options */
    T_CHECK(t_err.status == LEAT_E_EXISTS && t_err.hint == LEAT_HINT_REPLACE);
    same = create("again"); /* another process that begins the same run takes part in it */
    pieces[1] = make(same, "b");
    T_OK(leat_run_commit(run, pieces, 2, &t_err));
    check_committed("again", pieces, 2);
    T_CHECK(!create_with("again", 0, 256));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "is a finished dataset");

    /* a finished dataset stays until another takes its place, or none does */
    next = create_with("again", 1, 256);
    T_CHECK(next);
    new = make(next, "a");
    T_REFUSED(leat_run_push(&late, same, "c", NULL, &t_err), LEAT_E_STATE, "is committed without this attempt");
    T_OK(leat_run_commit(run, pieces, 2, &t_err)); /* as before, also while another has begun */
    T_STATUS(leat_run_abort(run, &t_err), LEAT_E_STATE);
    T_OK(open_run("again"));
    T_OK(leat_run_abort(next, &t_err));
    T_OK(open_run("again"));
    T_EQ(t_files(in_folder("again")), 7); /* without the plan */
    leat_run_close(next);
    leat_run_close(same);
    leat_run_close(run);

    next = create_with("again", 1, 256);
    T_CHECK(next);
    new = make(next, "a");
    T_OK(leat_run_commit(next, &new, 1, &t_err));
    check_committed("again", &new, 1);
    leat_run_close(next);
}

/* ---- Appending --------------------------------------------------------------------------------------------------- */

static struct leat_run *begin_append(const char *name)
{
    struct leat_run *run;

    append = 1;
    run = create(name);
    append = 0;
    return run;
}

/* What the dataset of this name is now. */
static struct leat_info info_of(const char *name)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    if (d)
        leat_dataset_info(d, &info);
    leat_dataset_close(d);
    return info;
}

static bool is_still(const char *name, const struct leat_info *before)
{
    struct leat_info now = info_of(name);

    return now.parts == before->parts && memcmp(now.identity, before->identity, 16) == 0;
}

/* The list that a run has made, once parts were appended to it. */
static const char *earlier_list(const char *name, const struct leat_run_piece *of_run)
{
    char text[LEAT_RUN_PIECE_BYTES];

    leat_run_piece_text(of_run, text); /* "leat piece 1 KEY ATTEMPT RUN ..." */
    return t_text("%s/%s/leat-run.list.%.32s", folder, name, text + strlen("leat piece 1 ") + strlen(of_run->key) + 18);
}

static void check_append(void)
{
    struct leat_run *run = begin_append("grows"), *same, *next; /* of which nothing is there */
    struct leat_run_piece all[5], again[2], one;
    struct leat_info before, middle;
    struct leat_packer *late, *none;

    all[0] = make(run, "a");
    all[1] = make(run, "b");
    T_OK(leat_run_commit(run, all, 2, &t_err));
    check_committed("grows", all, 2);
    before = info_of(in_folder("grows"));
    T_CHECK(!create_with("grows", 0, 256));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "choose another folder, append to it or replace it");
    T_EQ(t_err.hint, LEAT_HINT_APPEND_OR_REPLACE);

    /* it stays as it was while parts are made, and after an abort */
    next = begin_append("grows");
    one = make(next, "a");
    late = push(next, "b");
    T_CHECK(is_still(in_folder("grows"), &before));
    T_STATUS(leat_run_push(&none, run, "c", NULL, &t_err), LEAT_E_STATE);
    T_OK(leat_run_abort(next, &t_err));
    leat_packer_abandon(late);
    T_EQ(t_files(in_folder("grows")), 7); /* without a plan */
    T_CHECK(is_still(in_folder("grows"), &before));
    T_REFUSED(leat_run_commit(next, &one, 1, &t_err), LEAT_E_STATE, "is no more");
    leat_run_close(next);
    leat_run_close(run);

    /* the same run begins again, as a driver that was killed does; a run that would not append is another one */
    next = begin_append("grows");
    late = push(next, "b");
    all[2] = make(next, "a");
    same = begin_append("grows");
    all[3] = make(same, "c");
    T_CHECK(!create_with("grows", 0, 256));
    T_STATUS(t_err.status, LEAT_E_EXISTS);
    T_OK(leat_run_commit(same, all + 2, 2, &t_err));
    T_REFUSED(leat_run_finish(late, &one, 1, NULL, &t_err), LEAT_E_STATE, "without this attempt at the part b");
    leat_packer_abandon(late);
    T_OK(leat_run_commit(next, all + 2, 2, &t_err));
    again[0] = all[3];
    again[1] = all[2];
    T_REFUSED(leat_run_commit(next, again, 2, &t_err), LEAT_E_EXISTS, "is committed already");
    T_STATUS(leat_run_commit(next, all + 3, 1, &t_err), LEAT_E_EXISTS);
    T_REFUSED(leat_run_abort(next, &t_err), LEAT_E_STATE, "is committed");
    leat_run_close(same);
    leat_run_close(next);
    middle = info_of(in_folder("grows"));
    T_EQ(middle.parts, 4);
    T_CHECK(memcmp(middle.identity, before.identity, 16) != 0);
    T_CHECK(is_still(earlier_list("grows", &all[0]), &before));
    T_EQ(t_files(in_folder("grows")), 5 + 2 * 4);

    /* once more: each list before is there */
    next = begin_append("grows");
    all[4] = make(next, "a");
    T_OK(leat_run_commit(next, all + 4, 1, &t_err));
    leat_run_close(next);
    T_CHECK(is_still(earlier_list("grows", &all[0]), &before));
    T_CHECK(is_still(earlier_list("grows", &all[2]), &middle));
    T_EQ(t_files(in_folder("grows")), 6 + 2 * 5);
    unlink(earlier_list("grows", &all[0]));
    unlink(earlier_list("grows", &all[2]));
    check_committed("grows", all, 5);
}

/* What replaces a dataset to which parts were appended leaves none of its lists, and an abort of that all. */
static void check_replace_appended(void)
{
    struct leat_run *run = create("replaced");
    struct leat_run_piece pieces[2] = { make(run, "a") }, new;
    struct leat_info before, after;

    T_OK(leat_run_commit(run, pieces, 1, &t_err));
    leat_run_close(run);
    before = info_of(in_folder("replaced"));
    run = begin_append("replaced");
    pieces[1] = make(run, "b");
    T_OK(leat_run_commit(run, pieces + 1, 1, &t_err));
    leat_run_close(run);
    after = info_of(in_folder("replaced"));
    for (unsigned i = 0; i < 2; i++) {
        run = create_with("replaced", 1, 256);
        T_CHECK(run);
        new = make(run, "a");
        T_CHECK(is_still(in_folder("replaced"), &after) && is_still(earlier_list("replaced", &pieces[0]), &before));
        if (i == 0)
            T_OK(leat_run_abort(run, &t_err));
        else
            T_OK(leat_run_commit(run, &new, 1, &t_err));
        leat_run_close(run);
    }
    check_committed("replaced", &new, 1);
}

static void check_append_refused(void)
{
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;
    struct leat_run *run = create("fits"), *other;
    struct leat_run_piece pieces[2] = { make(run, "a") }, none;
    struct leat_info before;

    T_OK(leat_run_commit(run, pieces, 1, &t_err));
    leat_run_close(run);
    before = info_of(in_folder("fits"));
    append = 1;
    T_CHECK(!create_with("fits", 1, 256));
    T_REFUSED(t_err.status, LEAT_E_ARGUMENT, "cannot both append to a dataset and replace it");
    T_CHECK(!create_with("fits", 0, LEAT_NONE));
    T_REFUSED(t_err.status, LEAT_E_INCOMPATIBLE, "has another end-of-document token than this run");
    pack.end_token = pack.begin_token = 256;
    T_CHECK(!create_as("fits", pack));
    T_REFUSED(t_err.status, LEAT_E_INCOMPATIBLE, "has another begin token");
    append = 0;
    pack.begin_token = LEAT_NONE;
    o.tokenizer = "gpt2";
    o.append = 1;
    o.pack = &pack;
    T_REFUSED(leat_run_create(&other, in_folder("fits"), &o, &t_err), LEAT_E_INCOMPATIBLE, "has another tokenizer");
    o.parts = 2;
    T_REFUSED(leat_run_create(&other, in_folder("fits"), &o, &t_err), LEAT_E_ARGUMENT, "parts are pushed");
    T_EQ(t_files(in_folder("fits")), 6);

    /* the list is another one now, or its parts are: nothing is committed, and what there is stays */
    run = begin_append("fits");
    pieces[1] = make(run, "b");
    rename(in_folder("fits/leat-run.list"), in_folder("list"));
    other = create("grows-not");
    none = make(other, "a");
    T_OK(leat_run_commit(other, &none, 1, &t_err));
    leat_run_close(other);
    T_CHECK(copy_file(in_folder("grows-not/leat-run.list"), in_folder("fits/leat-run.list")));
    T_REFUSED(leat_run_commit(run, pieces + 1, 1, &t_err), LEAT_E_STATE, "is not the one any more");
    unlink(in_folder("fits/leat-run.list"));
    T_STATUS(leat_run_commit(run, pieces + 1, 1, &t_err), LEAT_E_STATE);
    rename(in_folder("list"), in_folder("fits/leat-run.list"));

    other = create_with("no-end", 0, LEAT_NONE);
    none = make(other, "a");
    leat_run_close(other);
    T_CHECK(copy_file(path_of("fits", &pieces[0], ".leat"), in_folder("kept.leat")));
    T_CHECK(copy_file(path_of("fits", &pieces[0], ".tokens"), in_folder("kept.tokens")));
    T_CHECK(copy_file(path_of("no-end", &none, ".leat"), path_of("fits", &pieces[0], ".leat")));
    T_CHECK(copy_file(path_of("no-end", &none, ".tokens"), path_of("fits", &pieces[0], ".tokens")));
    T_REFUSED(leat_run_commit(run, pieces + 1, 1, &t_err), LEAT_E_INCOMPATIBLE, "cannot be joined");
    T_CHECK(copy_file(in_folder("kept.leat"), path_of("fits", &pieces[0], ".leat")));
    T_CHECK(copy_file(in_folder("kept.tokens"), path_of("fits", &pieces[0], ".tokens")));
    T_CHECK(is_still(in_folder("fits"), &before));
    T_OK(leat_run_commit(run, pieces + 1, 1, &t_err));
    leat_run_close(run);
    T_CHECK(is_still(earlier_list("fits", &pieces[0]), &before));
    unlink(earlier_list("fits", &pieces[0]));
    check_committed("fits", pieces, 2);
}

/* Where there are datasets, or a run of the other kind, no run begins, not even one that replaces. */
static void check_occupied(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 300;
    mkdir(in_folder("taken"), 0777);
    T_OK(leat_writer_open(&w, in_folder("taken/mine"), &o, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_CHECK(!create_with("taken", 1, 256));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "has the dataset mine.leat");
    T_EQ(t_files(in_folder("taken")), 4);
    T_OK(open_run("taken"));
}

/* ---- Several processes ------------------------------------------------------------------------------------------- */

/* Two commits at once, of other orders: one counts, and only it. */
static void check_two_commits(void)
{
    for (unsigned round = 0; round < t_times(20); round++) {
        struct leat_run *run;
        struct leat_run_piece pieces[3];
        pid_t children[2];
        int status[2] = { 0 };
        const char *name = t_text("both-%u", round);

        run = create(name);
        pieces[0] = pieces[2] = make(run, "a");
        pieces[1] = make(run, "b");
        for (unsigned i = 0; i < 2; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                enum leat_status s = leat_run_commit(run, pieces + i, 2, &t_err);

                _exit(s == LEAT_OK ? 0 : s == LEAT_E_EXISTS ? 5 : 1);
            }
        }
        for (unsigned i = 0; i < 2; i++)
            T_EQ(waitpid(children[i], &status[i], 0), children[i]);
        T_CHECK(WIFEXITED(status[0]) && WIFEXITED(status[1]));
        T_EQ(WEXITSTATUS(status[0]) + WEXITSTATUS(status[1]), 5);
        check_committed(name, pieces + (WEXITSTATUS(status[0]) == 0 ? 0 : 1), 2);
        leat_run_close(run);
    }
}

/* A run that begins while another one is aborted in its folder waits for that, and stays whole. */
static void check_abort_and_begin(void)
{
    struct leat_run *run = create("begun"), *next;
    struct leat_run_piece piece;
    struct stat plan, now;
    pid_t child;
    int status = 0;

    for (unsigned i = 0; i < 3000; i++) /* takes the sweep a while */
        t_write_text(in_folder(t_text("begun/x.%016x.tokens", i)), "");
    T_EQ(stat(in_folder("begun/leat-run"), &plan), 0);
    child = fork();
    if (child == 0)
        _exit(leat_run_abort(run, NULL) != LEAT_OK);
    while (stat(in_folder("begun/leat-run"), &now) == 0 && now.st_ino == plan.st_ino)
        ;
    next = create("begun");
    piece = make(next, "a");
    T_EQ(waitpid(child, &status, 0), child);
    T_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    T_OK(leat_run_commit(next, &piece, 1, &t_err));
    check_committed("begun", &piece, 1);
    leat_run_close(next);
    leat_run_close(run);
}

int main(void)
{
    folder = t_folder();
    check_attempts();
    check_refused();
    check_odd_keys();
    check_rejects();
    check_again();
    check_append();
    check_replace_appended();
    check_append_refused();
    check_occupied();
    check_two_commits();
    check_abort_and_begin();
    return t_end();
}
