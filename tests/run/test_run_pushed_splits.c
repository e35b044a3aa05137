/*
 * test_run_pushed_splits.c: runs whose parts are pushed, with splits. An attempt becomes a dataset for the folder and
 * one for that of each split, with the bytes that merging a packer's dataset with these splits gives; none opens before
 * the commit, then all do. Attempts that do not count, runs that are aborted or replaced, and processes that died leave
 * nothing there. A split's folder that is a symbolic link, or leads out of the run's, is refused. Forks.
 */
#include <signal.h>
#include <sys/wait.h>

#include "pushing.h"
#include "run/run_plan.h"

static const struct leat_split splits[] = { { "valid", "0.2" }, { "test", "0.3" } };

#define EACH 3u /* pieces of a part */

/* What create_with() begins with besides. */
static const char *const keep[] = { "lang = en" };
static uint64_t keep_count; /* with it, some texts may be rejected */

static struct leat_run *create_with(const char *name, uint32_t force, const struct leat_split *of, uint64_t count)
{
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;

    pack.end_token = 256;
    pack.force = force;
    pack.splits = of;
    pack.split_count = count;
    pack.keep = keep;
    pack.keep_count = keep_count;
    if (keep_count > 0) {
        pack.reject_invalid = 1;
        pack.max_rejects_ppm = 500000;
    }
    return create_as(name, pack);
}

static struct leat_run *create(const char *name)
{
    struct leat_run *run = create_with(name, 0, splits, 2);

    T_CHECK(run || !fprintf(stderr, "%s\n", t_err.message));
    return run;
}

static void make(struct leat_run *run, const char *key, unsigned documents, struct leat_run_piece pieces[EACH])
{
    struct leat_packer *p = push(run, key);

    add(p, key, 0, documents);
    T_OK(leat_run_finish(p, pieces, EACH, NULL, &t_err));
}

/* All three are the datasets of these parts, and nothing else lies there; `more`: earlier lists, and -1 for
 * a plan that is gone. */
static void check_grown(const char *name, const struct leat_run_piece *pieces, unsigned parts, int more)
{
    for (unsigned i = 0; i < EACH; i++) {
        check_dataset(name, &pieces[i], EACH, parts);
        T_EQ(t_files(place_of(name, pieces[i].split)), 2 + (i == 0 ? (uint64_t)(4 + more) : 1) + 2 * parts);
    }
}
static void check_committed(const char *name, const struct leat_run_piece *pieces, unsigned parts)
{
    check_grown(name, pieces, parts, 0);
}

/* A packer's dataset, merged with these splits, gives the same bytes. */
static void check_bytes(const char *name, const struct leat_run_piece *pieces, unsigned documents)
{
    struct leat_merge_options m = LEAT_MERGE_OPTIONS_INIT;
    const char *alone = in_folder("alone");

    m.force = 1;
    m.splits = splits;
    m.split_count = 2;
    pack_alone(pieces->key, documents);
    T_OK(leat_merge(in_folder("divided"), &alone, 1, &m, NULL, &t_err));
    for (unsigned i = 0; i < 2 * EACH; i++) {
        const char *suffix = i % 2 ? ".tokens" : ".leat";

        T_CHECK(
            same_file(in_folder(t_text("divided%s%s%s", i < 2 ? "" : ".", i < 2 ? "" : splits[i / 2 - 1].name, suffix)),
                      path_of(name, &pieces[i / 2], suffix)));
    }
}

/* ---- Attempts and the commit ------------------------------------------------------------------------------------- */

static void check_attempts(void)
{
    struct leat_run *run = create("run");
    struct leat_run_piece pieces[3 * EACH], other[EACH], swapped[3 * EACH];
    struct leat_packer *late = push(run, "b");
    const uint32_t id = 65;

    add(late, "b", 0, 20);
    T_STATUS(add_one_of_ids(late, &id, NULL, 1, NULL, &t_err), LEAT_E_ARGUMENT); /* which has no hash */
    make(run, "b", 40, pieces);
    make(run, "a", 40, &pieces[EACH]);
    make(run, "a", 40, other);
    make(run, "one", 1, &pieces[2 * EACH]); /* two of these datasets are empty */
    T_EQ(pieces[0].documents + pieces[1].documents + pieces[2].documents, 40);
    T_EQ(pieces[6].documents + pieces[7].documents + pieces[8].documents, 1);
    T_CHECK(pieces[1].documents > 0 && pieces[2].documents > 0 && strcmp(pieces[2].split, "test") == 0);
    T_EQ(pieces[0].text_bytes, 40 * strlen("document 10 of b") - 10);
    T_EQ(pieces[1].text_bytes, 0);
    for (unsigned i = 0; i < EACH; i++)
        T_CHECK(memcmp(pieces[EACH + i].checksum, other[i].checksum, 16) == 0);
    check_bytes("run", pieces, 40);
    check_bytes("run", &pieces[2 * EACH], 1);
    for (unsigned i = 0; i < EACH; i++)
        T_REFUSED(open_it("run", i == 0 ? "" : splits[i - 1].name), LEAT_E_NO_FILE, "is not committed");

    T_OK(leat_run_commit(run, pieces, 9, &t_err));
    check_committed("run", pieces, 3);
    T_REFUSED(leat_run_finish(late, other, EACH, NULL, &t_err), LEAT_E_STATE, "is committed without this attempt");
    leat_packer_abandon(late);
    check_committed("run", pieces, 3);
    T_OK(leat_run_commit(run, pieces, 9, &t_err)); /* again */
    memcpy(swapped, pieces, sizeof pieces);
    memcpy(swapped, &pieces[EACH], sizeof other);
    memcpy(&swapped[EACH], pieces, sizeof other);
    T_REFUSED(leat_run_commit(run, swapped, 9, &t_err), LEAT_E_EXISTS, "is committed already");
    T_REFUSED(leat_run_abort(run, &t_err), LEAT_E_STATE, "is committed");
    check_committed("run", pieces, 3);
    leat_run_close(run);

    T_EQ(rename(in_folder("run/leat-run.list"), in_folder("list")), 0); /* a split needs the folder above it */
    T_REFUSED(open_it("run", "valid"), LEAT_E_NO_FILE, "is not committed");
    t_write_text(in_folder("run/leat-run.list"), "leat list 1\n");
    T_STATUS(open_it("run", "valid"), LEAT_E_CHECKSUM);
    T_EQ(rename(in_folder("list"), in_folder("run/leat-run.list")), 0);
    T_OK(open_it("run", "valid"));
    T_EQ(rename(in_folder("run/valid"), in_folder("run/other")), 0); /* its list knows its name */
    T_OK(open_it("run", "other"));
    T_EQ(rename(in_folder("run/other"), in_folder("run/valid")), 0);
}

static void refuse_commit(struct leat_run *run, const struct leat_run_piece *pieces, uint64_t count,
                          enum leat_status status, const char *sentence)
{
    T_REFUSED(leat_run_commit(run, pieces, count, &t_err), status, sentence);
    for (unsigned i = 0; i < EACH; i++)
        T_STATUS(open_it("refused", i == 0 ? "" : splits[i - 1].name), LEAT_E_NO_FILE);
}

static void check_refused(void)
{
    static const struct leat_split odd[] = { { "0123456789abcdef", "0.5" }, { "leat-run", "0.5" }, { "x", "1.5" } };
    struct leat_run *run = create("refused");
    struct leat_run_piece pieces[2 * EACH], other[EACH], wrong[2 * EACH], read;
    char text[LEAT_RUN_PIECE_BYTES];
    struct leat_packer *p = push(run, "a");

    T_REFUSED(leat_run_finish(p, pieces, 1, NULL, &t_err), LEAT_E_ARGUMENT, "an attempt makes 3 pieces");
    add(p, "a", 0, 9);
    T_OK(leat_run_finish(p, pieces, EACH, NULL, &t_err));
    make(run, "b", 9, &pieces[EACH]);
    make(run, "a", 9, other);
    refuse_commit(run, pieces, 5, LEAT_E_ARGUMENT, "are not all that one attempt has made");
    for (unsigned i = 0; i < 4; i++) {
        memcpy(wrong, pieces, sizeof wrong);
        if (i == 0) { /* of other splits, parts and attempts */
            wrong[1] = pieces[2];
            wrong[2] = pieces[1];
        } else
            wrong[2] = i == 1 ? pieces[5] : i == 2 ? other[2] : pieces[0];
        refuse_commit(run, wrong, 6, LEAT_E_ARGUMENT, "are not all that one attempt has made");
    }
    memcpy(wrong, pieces, sizeof wrong);
    memcpy(&wrong[EACH], other, sizeof other);
    refuse_commit(run, wrong, 6, LEAT_E_ARGUMENT, "comes twice");
    memcpy(wrong, pieces, sizeof wrong);
    wrong[4].checksum[3] ^= 1;
    refuse_commit(run, wrong, 6, LEAT_E_MISMATCH, "are not there as its attempt left them");
    T_EQ(rename(path_of("refused", &pieces[4], ".leat"), in_folder("moved")), 0);
    refuse_commit(run, pieces, 6, LEAT_E_MISMATCH, "the files of the part b are not there");
    T_EQ(rename(in_folder("moved"), path_of("refused", &pieces[4], ".leat")), 0);

    leat_run_piece_text(&pieces[1], text);
    T_CHECK(strstr(text, " valid/a "));
    T_OK(leat_run_piece_read(&read, text, &t_err));
    T_CHECK(memcmp(&read, &pieces[1], sizeof read) == 0);
    T_STATUS(leat_run_piece_read(&read, t_text("leat piece 1 ../a%s", strstr(text, "/a ") + 2), &t_err),
             LEAT_E_ARGUMENT);
    T_OK(leat_run_commit(run, pieces, 6, &t_err));
    check_committed("refused", pieces, 2);
    leat_run_close(run);
    for (unsigned i = 0; i < 3; i++) {
        T_CHECK(!create_with("odd", 0, &odd[i], 1) && t_err.status == LEAT_E_ARGUMENT);
        T_CHECK(access(in_folder("odd"), F_OK) != 0);
    }
}

/* An attempt that cannot be divided leaves nothing when it is abandoned, and is whole when it is tried again. */
static void check_undivided(void)
{
    struct leat_run *run = create("undivided");
    struct leat_packer *p[2] = { push(run, "a"), push(run, "b") };
    struct leat_run_piece pieces[EACH];

    add(p[0], "a", 0, 9);
    add(p[1], "b", 0, 9);
    T_EQ(rename(in_folder("undivided/test"), in_folder("undivided/other")), 0);
    for (unsigned i = 0; i < 2; i++)
        T_STATUS(leat_run_finish(p[i], pieces, EACH, NULL, &t_err), LEAT_E_NO_FILE);
    leat_packer_abandon(p[1]);
    T_EQ(rename(in_folder("undivided/other"), in_folder("undivided/test")), 0);
    T_OK(leat_run_finish(p[0], pieces, EACH, NULL, &t_err));
    T_EQ(t_files(in_folder("undivided")), 7);
    T_EQ(t_files(in_folder("undivided/test")), 5);
    check_bytes("undivided", pieces, 9);
    T_OK(leat_run_commit(run, pieces, EACH, &t_err));
    check_committed("undivided", pieces, 1);
    leat_run_close(run);
}

/* ---- Aborting, and beginning again ------------------------------------------------------------------------------- */

static void check_abort(void)
{
    struct leat_run *run = create("aborted");
    struct leat_run_piece pieces[EACH];
    struct leat_packer *p = push(run, "b");

    make(run, "a", 9, pieces);
    add(p, "b", 0, 9);
    T_OK(leat_run_abort(run, &t_err));
    T_CHECK(access(in_folder("aborted"), F_OK) != 0);
    T_REFUSED(leat_run_finish(p, pieces, EACH, NULL, &t_err), LEAT_E_STATE, "is no more");
    leat_packer_abandon(p);
    T_CHECK(access(in_folder("aborted"), F_OK) != 0);
    T_OK(leat_run_abort(run, &t_err));
    leat_run_close(run);

    run = create("aborted"); /* what is another's stays */
    make(run, "a", 9, pieces);
    t_write_text(in_folder("aborted/valid/notes"), "mine");
    p = push(run, "b");
    T_OK(leat_run_abort(run, &t_err));
    T_EQ(t_files(in_folder("aborted")), 3);
    T_EQ(t_files(in_folder("aborted/valid")), 3);
    T_REFUSED(leat_run_finish(p, pieces, EACH, NULL, &t_err), LEAT_E_STATE, "is no more: it was aborted");
    leat_packer_abandon(p);
    T_REFUSED(leat_run_commit(run, pieces, EACH, &t_err), LEAT_E_STATE, "is no more");
    T_EQ(t_files(in_folder("aborted")), 3);
    leat_run_close(run);
}

static void check_again(void)
{
    struct leat_run *run = create("again"), *next;
    struct leat_run_piece pieces[2 * EACH], new[2];

    make(run, "a", 9, pieces);
    next = create("again"); /* the same run */
    make(next, "b", 9, &pieces[EACH]);
    leat_run_close(next);
    T_CHECK(!create_with("again", 0, splits, 1)); /* another one, whose splits take the place of these */
    T_CHECK(t_err.status == LEAT_E_EXISTS && t_err.hint == LEAT_HINT_REPLACE);
    T_OK(leat_run_commit(run, pieces, 6, &t_err));
    check_committed("again", pieces, 2);

    /* the splits of a finished dataset stay until another takes its place, or none does */
    for (unsigned round = 0; round < 2; round++) {
        struct leat_packer *p;

        next = create_with("again", 1, &splits[1], 1);
        T_CHECK(next);
        p = push(next, "c");
        add(p, "c", 0, 9);
        T_OK(leat_run_finish(p, new, 2, NULL, &t_err));
        T_OK(open_it("again", "valid"));
        T_OK(open_it("again", "test"));
        T_OK(round == 0 ? leat_run_abort(next, &t_err) : leat_run_commit(next, new, 2, &t_err));
        leat_run_close(next);
        if (round == 0) {
            T_EQ(t_files(in_folder("again")), 9); /* without the plan */
            T_EQ(t_files(in_folder("again/test")), 7);
            T_OK(open_it("again", "valid"));
        }
    }
    T_OK(open_it("again", "test"));
    T_CHECK(access(in_folder("again/valid"), F_OK) != 0);
    T_EQ(t_files(in_folder("again")), 7);
    T_EQ(t_files(in_folder("again/test")), 5);
    leat_run_close(run);

    /* splits of a run that was not committed go when another replaces it */
    run = create("replaced");
    make(run, "a", 9, pieces);
    next = create_with("replaced", 1, NULL, 0);
    T_CHECK(next);
    T_EQ(t_files(in_folder("replaced")), 3);
    T_STATUS(leat_run_commit(run, pieces, 3, &t_err), LEAT_E_STATE);
    leat_run_close(next);
    leat_run_close(run);
}

/* No split takes a folder that is something else, and no run takes that of a split. */
static void check_occupied(void)
{
    struct leat_run *run = create("inner"), *other;
    struct leat_run_piece pieces[EACH];

    make(run, "a", 9, pieces);
    T_CHECK(!create_with("inner/valid", 1, splits, 2));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "is the folder of a split");
    other = create("inner/own");
    T_CHECK(other);
    make(other, "a", 9, pieces);
    leat_run_close(other);
    T_CHECK(!create_with("inner", 1, &(struct leat_split) { "own", "0.5" }, 1));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "which is not of that");
    t_write_text(in_folder("inner/file"), "");
    T_CHECK(!create_with("inner", 1, &(struct leat_split) { "file", "0.5" }, 1));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "inner/file is a file");
    T_EQ(unlink(in_folder("inner/file")), 0);
    make(run, "b", 9, pieces);         /* all this has not touched it */
    T_OK(leat_run_abort(run, &t_err)); /* and the other one stays */
    T_EQ(t_files(in_folder("inner")), 3);
    T_EQ(t_files(in_folder("inner/own")), 7);
    leat_run_close(run);
}

/* ---- Links, and a plan of somebody else ---- */

static void turn_into_link(const char *name, const char *to)
{
    T_CHECK(rename(in_folder(name), in_folder("aside")) == 0 || errno == ENOENT);
    T_EQ(symlink(to, in_folder(name)), 0);
}

static void check_links(void)
{
    struct leat_run *run = create("real"), *linked;
    struct leat_run_piece real[EACH], pieces[EACH], more[EACH];
    struct leat_packer *late;

    make(run, "a", 9, real);
    T_OK(leat_run_commit(run, real, EACH, &t_err));
    leat_run_close(run);

    linked = create("linked");
    make(linked, "a", 9, pieces);
    late = push(linked, "b");
    add(late, "b", 0, 9);
    turn_into_link("linked/valid", "../real/valid");
    T_REFUSED(leat_run_finish(late, more, EACH, NULL, &t_err), LEAT_E_EXISTS, "valid is a symbolic link");
    leat_packer_abandon(late);
    T_REFUSED(leat_run_commit(linked, pieces, EACH, &t_err), LEAT_E_EXISTS, "valid is a symbolic link");
    T_REFUSED(open_it("linked", "valid"), LEAT_E_EXISTS, "linked/valid is a symbolic link");
    T_CHECK(!create_with("linked", 1, splits, 2));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "valid is a symbolic link");
    check_committed("real", real, 1);
    T_OK(leat_run_abort(linked, &t_err)); /* what the link leads to is not of this run */
    check_committed("real", real, 1);
    leat_run_close(linked);

    T_OK(mkdir(in_folder("before"), 0777));
    turn_into_link("before/valid", "../real/valid");
    T_CHECK(!create_with("before", 0, splits, 2));
    T_REFUSED(t_err.status, LEAT_E_EXISTS, "valid is a symbolic link");
    check_committed("real", real, 1);
}

/* Opens a run whose plan has another line, with a sum that fits: an error names the plan. */
static void check_planted(const char *line, const char *planted)
{
    struct leat_run *run = create("planted");
    struct buffer text = { 0 };
    char *bytes, *at;
    size_t size;

    bytes = (char *)file_bytes(in_folder("planted/leat-run"), &size);
    at = strstr(bytes, line);
    T_CHECK(at && size > 37);
    T_OK(buffer_append(&text, bytes, (size_t)(at - bytes), NULL));
    T_OK(buffer_append(&text, planted, strlen(planted), NULL));
    at += strlen(line);
    T_OK(buffer_append(&text, at, (size_t)(bytes + size - 37 - at), NULL));
    T_OK(run_sum_add(&text, NULL));
    t_write(in_folder("planted/leat-run"), text.bytes, text.size);
    leat_run_close(run);
    T_REFUSED(leat_run_open(&run, in_folder("planted"), &t_err), LEAT_E_UNSUPPORTED,
              "planted/leat-run is not the plan of a run");
    T_CONTAINS(t_err.file, "planted/leat-run");
    t_write(in_folder("planted/leat-run"), bytes, size);
    buffer_free(&text);
    free(bytes);
}

/* ---- Appending --------------------------------------------------------------------------------------------------- */

static void refuse_append(const struct leat_split *of, uint64_t count)
{
    T_CHECK(!create_with("grows", 0, of, count));
    T_REFUSED(t_err.status, LEAT_E_INCOMPATIBLE, "has other splits than this run: append to it with the same");
}

/* The dataset as a piece's run has made it; of a split, there is only the newest. */
static void check_earlier(const struct leat_run_piece *of_run, unsigned parts)
{
    char name[64] = "leat-run.list.", inner[100];
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    for (unsigned i = 0; i < 16; i++)
        snprintf(name + strlen(name), 3, "%02x", of_run->run[i]);
    T_OK(leat_dataset_open(&d, place_of("grows", name), NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.parts, parts);
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    leat_dataset_close(d);
    snprintf(inner, sizeof inner, "valid/%s", name);
    T_STATUS(open_it("grows", inner), LEAT_E_NO_FILE);
    T_OK(open_it("grows", "valid/leat-run.list"));
}

/* One list names the parts of all folders, old and new. */
static void check_append(void)
{
    static const struct leat_split others[] = { { "valid", "0.2" }, { "test", "0.3" }, { "more", "0.1" } };
    static const struct leat_split turned[] = { { "test", "0.1" }, { "valid", "0.4" } };
    struct leat_run *run = create("grows");
    struct leat_run_piece all[5 * EACH], one[EACH];
    struct leat_packer *late;

    make(run, "one", 1, all); /* two of these datasets are empty */
    make(run, "a", 20, &all[EACH]);
    T_OK(leat_run_commit(run, all, 6, &t_err));
    leat_run_close(run);
    append = 1;
    refuse_append(NULL, 0);
    refuse_append(splits, 1);
    refuse_append(others, 3);
    refuse_append(others + 1, 2);
    check_committed("grows", all, 2);

    run = create("grows");
    make(run, "a", 20, one);
    late = push(run, "b");
    T_OK(open_it("grows", ""));
    T_OK(leat_run_abort(run, &t_err));
    leat_packer_abandon(late);
    check_grown("grows", all, 2, -1);
    leat_run_close(run);

    run = create("grows");
    late = push(run, "b");
    make(run, "a", 20, one); /* does not count */
    make(run, "a", 20, &all[6]);
    make(run, "c", 30, &all[9]);
    T_OK(leat_run_commit(run, &all[6], 6, &t_err));
    T_STATUS(leat_run_finish(late, one, EACH, NULL, &t_err), LEAT_E_STATE);
    leat_packer_abandon(late);
    check_grown("grows", all, 4, 1);
    check_earlier(all, 2);
    T_OK(leat_run_commit(run, &all[6], 6, &t_err));
    leat_run_close(run);

    run = create_with("grows", 0, turned, 2); /* fractions are the plan's, and so is the order */
    T_CHECK(run);
    make(run, "d", 20, one);
    T_STR(one[1].split, "test");
    memcpy(&all[12], one, sizeof one);
    all[13] = one[2];
    all[14] = one[1];
    T_OK(leat_run_commit(run, one, 3, &t_err));
    check_grown("grows", all, 5, 2);
    check_earlier(all, 2);
    check_earlier(&all[6], 4);
    leat_run_close(run);
    append = 0;

    run = create_with("grows", 1, splits, 1); /* removes all of that, the folder of the other split too */
    T_CHECK(run);
    late = push(run, "e");
    add(late, "e", 0, 9);
    T_OK(leat_run_finish(late, all, 2, NULL, &t_err));
    T_OK(leat_run_commit(run, all, 2, &t_err));
    T_EQ(t_files(in_folder("grows")), 7);
    T_EQ(t_files(in_folder("grows/valid")), 5);
    leat_run_close(run);
}

/* ---- Conditions and rejects -------------------------------------------------------------------------------------- */

static void make_judged(struct leat_run *run, const char *key, unsigned documents, unsigned rejects, uint64_t kept_out,
                        struct leat_run_piece pieces[EACH])
{
    struct leat_value v = { .kind = LEAT_VALUE_STRING, .bytes = 2, .as.text = "en" };
    struct leat_packer *p = push(run, key);
    uint32_t keeps;

    for (unsigned i = 0; i < documents + rejects; i++) {
        T_OK(leat_packer_judge(p, &v, &keeps, &t_err));
        if (i < documents)
            add(p, key, i, i + 1);
        else
            T_OK(add_one_text(p, "ÿ", 1, NULL, 0, NULL, &t_err));
    }
    T_OK(leat_packer_keep_out(p, kept_out, &t_err));
    T_OK(leat_run_finish(p, pieces, EACH, NULL, &t_err));
    for (unsigned i = 0; i < EACH; i++) { /* counted once */
        T_EQ(pieces[i].kept_out, i == 0 ? kept_out : 0);
        T_EQ(pieces[i].rejects, i == 0 ? rejects : 0);
    }
}

/* The whole run is judged, with all its datasets. */
static void check_judged(void)
{
    struct leat_run_piece pieces[2 * EACH];
    struct leat_run *run;

    keep_count = 1;
    run = create("judged");
    make_judged(run, "a", 0, 0, 7, pieces);
    T_REFUSED(leat_run_commit(run, pieces, 3, &t_err), LEAT_E_EMPTY, "left out 7 rows of all parts");
    make_judged(run, "b", 9, 10, 2, &pieces[EACH]);
    T_REFUSED(leat_run_commit(run, pieces, 6, &t_err), LEAT_E_REJECTS, "10 of 19 records of the run were rejected");
    for (unsigned n = 0;; n++) { /* whose only document is a split's */

        make_judged(run, t_text("c%u", n), 1, 1, 1, pieces);
        if (pieces[1].documents == 1)
            break;
    }
    T_OK(leat_run_commit(run, pieces, 3, &t_err));
    check_grown("judged", pieces, 1, 1); /* its list of rejects */
    leat_run_close(run);
    keep_count = 0;
}

/* ---- Several processes ------------------------------------------------------------------------------------------- */

static void die_in_attempt(void)
{
    struct leat_run *run;
    struct leat_run_piece pieces[EACH];
    struct leat_packer *p;

    T_OK(leat_run_open(&run, in_folder("died"), &t_err));
    make(run, "a", 9, pieces); /* of which nobody hears */
    p = push(run, "b");
    add(p, "b", 0, 9);
    kill(getpid(), SIGKILL);
}

static void check_dead(void)
{
    struct leat_run *run = create("died"), *again;
    struct leat_packer *live = push(run, "c");
    struct leat_run_piece pieces[2 * EACH];
    uint64_t files = t_files(in_folder("died"));
    pid_t child;
    int status = 0;

    add(live, "c", 0, 9);
    child = fork();
    if (child == 0) {
        die_in_attempt();
        _exit(1);
    }
    T_EQ(waitpid(child, &status, 0), child);
    T_CHECK(WIFSIGNALED(status) && t_files(in_folder("died")) > files + 2);
    again = create("died"); /* what died is swept, what lives and what is finished stays */
    T_EQ(t_files(in_folder("died")), files + 2);
    T_EQ(t_files(in_folder("died/valid")), 5);
    T_OK(leat_run_finish(live, pieces, EACH, NULL, &t_err));
    make(again, "a", 9, &pieces[EACH]);
    T_OK(leat_run_commit(again, pieces, 6, &t_err));
    check_committed("died", pieces, 2);
    leat_run_close(again);
    leat_run_close(run);
}

int main(void)
{
    folder = t_folder();
    check_attempts();
    check_refused();
    check_undivided();
    check_abort();
    check_again();
    check_occupied();
    check_links();
    T_OK(mkdir(in_folder("stays"), 0777));
    check_planted("split valid", "split ../stays"); /* it leads to a folder beside the run's */
    check_planted("\nrun ", "\nrun x");             /* the sentence named no file, and came from the first push */
    check_append();
    check_judged();
    check_dead();
    return t_end();
}
