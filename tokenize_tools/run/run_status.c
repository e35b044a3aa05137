/* run_status.c: leat_run_status(). Ages are by the clock of the file server, which may not be this machine's: a new
 * file there shows the time of that clock. */
#include "run_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "base/status.h"
#include "run_advice.h"
#include "run_beat.h"
#include "run_folder.h"

/* Returns the time of the folder's clock; this machine's if nothing can be written to the folder. */
static int64_t folder_now(const struct leat_run *run)
{
    char suffix[48];
    struct stat st;
    char *path;
    int fd = -1;

    snprintf(suffix, sizeof suffix, ".now.%ld", (long)getpid());
    path = run_file(run->folder, suffix);
    st.st_mtime = time(NULL);
    if (path && file_create_unnamed(&fd, path, NULL) == LEAT_OK) {
        if (write(fd, "\n", 1) == 1)
            (void)fsync(fd);
        (void)fstat(fd, &st);
        file_close(&fd);
    }
    free(path);
    return st.st_mtime;
}

/* ---- A part ------------------------------------------------------------------------------------------------------ */

/* Reads the facts of a part's dataset. One that does not open is a failure, which its writer or its reader reports. */
static void take_dataset(struct leat_run_part *part, const struct beat_read *beat, const char *name)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    struct leat_error err;

    if (leat_dataset_open(&d, name, NULL, &err) != LEAT_OK) {
        part->state = LEAT_RUN_FAILED;
        part->advice = RUN_PART_DAMAGED;
        snprintf(part->reason, sizeof part->reason, "%.500s", err.message);
        return;
    }
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    part->state = beat->damage[0] ? LEAT_RUN_FAILED : LEAT_RUN_DONE;
    part->advice = beat->damage[0] ? RUN_PART_CUT : 0;
    snprintf(part->reason, sizeof part->reason, "%s", beat->damage);
    part->tokens = info.tokens;
    part->documents = info.documents;
}

static void take_beat(struct leat_run_part *part, const struct beat_read *beat, int64_t now)
{
    static const enum leat_run_state ended[] = { LEAT_RUN_RUNNING, LEAT_RUN_STOPPED, LEAT_RUN_FAILED };

    part->age = now > beat->changed ? (double)(now - beat->changed) : 0;
    part->state = ended[beat->state];
    if (part->state == LEAT_RUN_RUNNING && part->age > BEAT_DEAD)
        part->state = LEAT_RUN_DEAD;
    part->advice = part->state == LEAT_RUN_FAILED ? (uint32_t)beat->advice : 0;
    snprintf(part->reason, sizeof part->reason, "%s", beat->reason);
}

/* Copies the facts of the sign of life, whatever else there is. */
static void take_facts(struct leat_run_part *part, const struct beat_read *beat)
{
    const struct beat_facts *f = &beat->facts;

    part->tokens = f->tokens;
    part->documents = f->documents;
    part->bytes = f->bytes;
    part->total_bytes = f->total_bytes;
    part->tokens_per_s = f->tokens_per_s;
    part->pid = beat->pid;
    snprintf(part->host, sizeof part->host, "%s", beat->host);
}

/* Finds the state of a part, and sets *bytes_per_s if it runs. */
static enum leat_status find_part(struct leat_run_part *part, const struct leat_run *run, unsigned number, int64_t now,
                                  double *bytes_per_s, struct leat_error *err)
{
    char *index = run_part_file(run, number, ".leat"), *path = run_part_file(run, number, ".beat");
    struct beat_read beat;
    bool beats;

    part->state = LEAT_RUN_MISSING;
    if (index && path) {
        beats = run_beat_read(path, &beat);
        if (access(index, F_OK) == 0) {
            take_facts(part, &beat);
            take_dataset(part, &beat, index);
        } else if (beats) {
            take_beat(part, &beat, now);
            if (part->state == LEAT_RUN_DEAD)
                beat_facts_keep(&beat.facts);
            take_facts(part, &beat);
            *bytes_per_s += part->state == LEAT_RUN_RUNNING ? beat.facts.bytes_per_s : 0;
        }
    }
    free(index);
    free(path);
    return index && path ? LEAT_OK : status_no_memory(err, strlen(run->folder));
}

/* ---- All parts --------------------------------------------------------------------------------------------------- */

/* Adds up the parts. They have the same share of the inputs' bytes, but for compressed files, which are not cut. */
static void sum_up(struct leat_run_status *st, const struct leat_run *run, double bytes_per_s)
{
    const struct run_plan *p = &run->plan;
    double each = (double)p->bytes / p->parts, done = 0;

    for (unsigned i = 0; i < p->parts; i++) {
        const struct leat_run_part *part = &run->items[i];

        st->count[part->state]++;
        st->tokens += part->tokens;
        st->documents += part->documents;
        if (part->state == LEAT_RUN_DONE)
            done += each;
        else if (part->total_bytes > 0)
            done += each * (double)part->bytes / (double)part->total_bytes;
        if (part->state == LEAT_RUN_RUNNING)
            st->tokens_per_s += part->tokens_per_s;
    }
    st->complete = st->count[LEAT_RUN_DONE] == p->parts;
    st->share = p->bytes > 0 ? done / (double)p->bytes : (double)st->count[LEAT_RUN_DONE] / p->parts;
    if (st->count[LEAT_RUN_DONE] < p->parts)
        st->share = st->share < 0.999 ? st->share : 0.999;
    st->seconds_left = bytes_per_s > 0 ? ((double)p->bytes - done) / bytes_per_s : -1;
}

/* Returns the numbers of the parts that are left, such as "3,7-9"; with `running` also those that run. NULL if there
 * is no memory. */
static char *list_left(const struct leat_run *run, bool running)
{
    unsigned parts = run->plan.parts;
    size_t room = 16 * (size_t)parts + 1, used = 0;
    char *text = malloc(room);

    if (text)
        text[0] = '\0';
    for (unsigned first = 0, next; text && first < parts; first = next + 1) {
        for (next = first; next < parts; next++)
            if (run->items[next].state == LEAT_RUN_DONE || (!running && run->items[next].state == LEAT_RUN_RUNNING))
                break;
        if (next > first)
            used += (size_t)snprintf(text + used, room - used, "%s%u", used > 0 ? "," : "", first + 1);
        if (next > first + 1)
            used += (size_t)snprintf(text + used, room - used, "-%u", next);
    }
    return text;
}

void run_free_status(struct leat_run *run)
{
    free(run->items);
    free(run->left);
    free(run->unfinished);
    run->items = NULL;
    run->left = run->unfinished = NULL;
}

enum leat_status leat_run_status(struct leat_run *run, struct leat_run_status *status, struct leat_error *err)
{
    struct leat_run_status all = LEAT_RUN_STATUS_INIT;
    uint32_t parts = run->plan.parts;
    int64_t now = folder_now(run);
    double bytes_per_s = 0;
    enum leat_status s = LEAT_OK;

    run_free_status(run);
    if (s == LEAT_OK && parts == 0)
        s = status_set(err, LEAT_E_ARGUMENT, "the parts of the run in %s are pushed: its commit says which there are",
                       run->name);
    if (s != LEAT_OK)
        return s;
    run->items = calloc(parts > 0 ? parts : 1, sizeof *run->items);
    if (!run->items)
        return status_no_memory(err, parts * sizeof *run->items);
    for (unsigned i = 0; s == LEAT_OK && i < parts; i++)
        s = find_part(&run->items[i], run, i + 1, now, &bytes_per_s, err);
    if (s == LEAT_OK)
        sum_up(&all, run, bytes_per_s);
    run->left = list_left(run, false);
    run->unfinished = list_left(run, true);
    if (s == LEAT_OK && (!run->left || !run->unfinished))
        s = status_no_memory(err, parts);
    all.parts = parts;
    all.items = run->items;
    all.left = run->left;
    all.unfinished = run->unfinished;
    if (s == LEAT_OK)
        options_fill(status, &all, sizeof all);
    return s;
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

enum leat_status run_say_busy(const struct leat_run *run, uint32_t part, struct leat_error *err)
{
    char *path = run_part_file(run, part, ".beat"), who[160] = "";
    struct beat_read beat;

    if (path && run_beat_read(path, &beat) && beat.host[0]) { /* without a readable sign of life, the other process
                                                                 has just begun */
        int64_t now = folder_now(run), silent = now > beat.changed ? now - beat.changed : 0;

        snprintf(who, sizeof who, ": process %" PRIu64 " on %s, silent for %" PRIi64 " s%s", beat.pid, beat.host,
                 silent, silent > BEAT_DEAD ? ": end it there, then its lock is free" : "");
    }
    status_set_in(err, LEAT_E_BUSY, run->name, "another process is writing part %u of the run in %s%s", part,
                  run->folder, who);
    free(path);
    return run_advise(err, LEAT_E_BUSY, RUN_BUSY);
}
