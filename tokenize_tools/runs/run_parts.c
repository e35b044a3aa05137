/*
 * run_parts.c: see run_parts.h. Ages are by the clock of whoever keeps the files, which may not be this machine's: a
 * file that is made now has the same clock's time of now.
 */
#include "run_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/cli.h"
#include "cli/units.h"

const char *const part_states[] = { "done", "running", "dead", "stopped", "failed", "missing" };

/* In a folder that cannot be written to, this machine's clock has to do. */
static int64_t folder_now(const struct run_folder *r)
{
    char suffix[48];
    struct stat st;
    char *path;
    int fd;

    snprintf(suffix, sizeof suffix, ".now.%ld", (long)getpid());
    path = run_folder_file(r->path, suffix);
    fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    st.st_mtime = time(NULL);
    if (fd >= 0) {
        if (write(fd, "\n", 1) == 1)
            (void)fsync(fd);
        (void)fstat(fd, &st);
        close(fd);
        unlink(path);
    }
    free(path);
    return st.st_mtime;
}

/* A dataset that does not open is a failure: what made it says so, or its reader. */
static void take_dataset(struct run_part *part, const char *name)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    struct leat_error err;

    if (leat_dataset_open(&d, name, NULL, &err) != LEAT_OK) {
        part->state = PART_FAILED;
        snprintf(part->beat.reason, sizeof part->beat.reason, "%.500s", err.message);
        return;
    }
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    part->state = part->beat.damage[0] ? PART_FAILED : PART_DONE;
    memcpy(part->beat.reason, part->beat.damage, sizeof part->beat.reason);
    part->beat.facts.tokens = info.tokens;
    part->beat.facts.documents = info.documents;
}

static void take_beat(struct run_part *part, int64_t now)
{
    static const enum part_state ended[] = { PART_RUNNING, PART_STOPPED, PART_FAILED };

    part->age = now > part->beat.changed ? (double)(now - part->beat.changed) : 0;
    part->state = ended[part->beat.state];
    if (part->state == PART_RUNNING && part->age > BEAT_DEAD)
        part->state = PART_DEAD;
    if (part->state == PART_DEAD)
        beat_facts_keep(&part->beat.facts);
}

static enum leat_status find_part(struct run_part *part, const struct run_folder *r, unsigned number, int64_t now,
                                  struct leat_error *err)
{
    char *index = run_folder_part(r, number, ".leat"), *beat = run_folder_part(r, number, ".beat");

    bool beats;

    if (!index || !beat) {
        free(index);
        free(beat);
        return status_no_memory(err, strlen(r->path));
    }
    part->state = r->joining ? PART_DONE : PART_MISSING;
    if (r->joining) {
        free(index);
        free(beat);
        return LEAT_OK;
    }
    beats = run_beat_read(beat, &part->beat);
    if (access(index, F_OK) == 0)
        take_dataset(part, index);
    else if (beats)
        take_beat(part, now);
    free(index);
    free(beat);
    return LEAT_OK;
}

/* Parts have the same share of the inputs' bytes, but for compressed files, which go whole. */
static void sum_up(struct run_parts *p, const struct run_folder *r)
{
    double each = (double)r->bytes / r->parts, done = 0, bytes_per_s = 0;

    for (unsigned i = 0; i < r->parts; i++) {
        const struct run_part *part = &p->items[i];
        const struct beat_facts *f = &part->beat.facts;

        p->count[part->state]++;
        p->tokens += f->tokens;
        p->documents += f->documents;
        if (part->state == PART_DONE)
            done += each;
        else if (f->total_bytes > 0)
            done += each * (double)f->bytes / (double)f->total_bytes;
        if (part->state == PART_RUNNING) {
            p->tokens_per_s += f->tokens_per_s;
            bytes_per_s += f->bytes_per_s;
        }
    }
    p->share = r->bytes > 0 ? done / (double)r->bytes : p->count[PART_DONE] / (double)r->parts;
    if (p->count[PART_DONE] < r->parts)
        p->share = run_parts_unfinished(p->share);
    p->seconds_left = bytes_per_s > 0 ? ((double)r->bytes - done) / bytes_per_s : -1;
}

enum leat_status run_parts_find(struct run_parts *p, const struct run_folder *r, struct leat_error *err)
{
    int64_t now = folder_now(r);
    enum leat_status s = LEAT_OK;

    memset(p, 0, sizeof *p);
    p->items = calloc(r->parts, sizeof *p->items);
    if (!p->items)
        return status_no_memory(err, r->parts * sizeof *p->items);
    for (unsigned i = 0; s == LEAT_OK && i < r->parts; i++)
        s = find_part(&p->items[i], r, i + 1, now, err);
    if (s == LEAT_OK)
        sum_up(p, r);
    else
        run_parts_free(p);
    return s;
}

void run_parts_free(struct run_parts *p)
{
    free(p->items);
    p->items = NULL;
}

char *run_parts_left(const struct run_parts *p, unsigned parts, bool running)
{
    size_t room = 16 * (size_t)parts + 1, used = 0;
    char *text = malloc(room);

    if (text)
        text[0] = '\0';
    for (unsigned first = 0, next; text && first < parts; first = next + 1) {
        for (next = first; next < parts; next++)
            if (p->items[next].state == PART_DONE || (!running && p->items[next].state == PART_RUNNING))
                break;
        if (next > first)
            used += (size_t)snprintf(text + used, room - used, "%s%u", used > 0 ? "," : "", first + 1);
        if (next > first + 1)
            used += (size_t)snprintf(text + used, room - used, "-%u", next);
    }
    return text;
}

void run_parts_say_joining(const struct run_folder *r)
{
    char word[CLI_SHELL_WORD], out[CLI_SHELL_WORD];

    cli_error("the parts of the run in %s are being joined in place: leat merge --in-place -o %s %s goes on with that",
              r->path, cli_shell_word(r->joining, out, sizeof out), cli_shell_word(r->path, word, sizeof word));
}

void run_parts_say_busy(const struct run_folder *r, unsigned part)
{
    char *path = run_folder_part(r, part, ".beat"), who[240] = "";
    struct beat_read beat;

    if (path && run_beat_read(path, &beat) && beat.host[0]) { /* else it has just begun */
        int64_t now = folder_now(r);
        const char *silent = units_duration(now > beat.changed ? (double)(now - beat.changed) : 0).text;
        bool dead = now - beat.changed > BEAT_DEAD;

        snprintf(who, sizeof who, ": process %" PRIu64 " on %s, silent for %s%s", beat.pid, beat.host, silent,
                 dead ? ": end it there, then its lock is free" : "");
    }
    cli_error("another process is writing part %u of the run in %s%s", part, r->path, who);
    free(path);
}

int run_parts_check(const char *path)
{
    struct run_folder r = { 0 };
    struct run_parts p = { 0 };
    struct leat_error err;
    char *left = NULL, word[CLI_SHELL_WORD];
    int code = CLI_DONE;
    enum leat_status s = run_folder_is(path) ? run_folder_read(&r, path, &err) : LEAT_OK;

    if (s == LEAT_OK && r.parts > 0)
        s = run_parts_find(&p, &r, &err);
    if (s == LEAT_OK && p.items && !(left = run_parts_left(&p, r.parts, true)))
        s = status_no_memory(&err, r.parts);
    if (s != LEAT_OK) {
        code = cli_failed(&err);
    } else if (r.joining) {
        run_parts_say_joining(&r);
        code = CLI_FAILED;
    } else if (left && left[0]) {
        cli_error("the run in %s is not finished: of its %u parts, %.200s%s %s not done (leat status %s)", path,
                  r.parts, left, strlen(left) > 200 ? "..." : "", strpbrk(left, ",-") ? "are" : "is",
                  cli_shell_word(path, word, sizeof word));
        code = CLI_FAILED;
    }
    free(left);
    run_parts_free(&p);
    run_folder_free(&r);
    return code;
}
