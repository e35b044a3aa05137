/*
 * run_beat.c: writes and reads signs of life. The file is written in place and synced: another machine that opens it
 * sees the new bytes and the new time, also on network file systems, which may show the old file of a name for a
 * minute.
 */
#include "run_beat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/thread.h"

#define BEAT_BYTES 2048 /* constant, so that nothing of an older text stays behind a shorter one */
#define BEAT_STACK ((size_t)128 << 10)

static const char *const states[] = { "running", "stopped", "failed" };

/* ---- Reading ---- */

/* Returns the value of a line NAME VALUE; NULL if it has another name. */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);

    return strncmp(line, name, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static void take_number(const char *line, const char *name, uint64_t *number)
{
    const char *value = value_of(line, name);

    if (value)
        *number = strtoull(value, NULL, 10);
}

static void take_text(const char *line, const char *name, char *text, size_t room)
{
    const char *value = value_of(line, name);

    if (value)
        snprintf(text, room, "%s", value);
}

static void take_line(struct beat_read *r, const char *line)
{
    uint64_t tokens_per_s = UINT64_MAX, bytes_per_s = UINT64_MAX;
    const char *state = value_of(line, "state");

    for (unsigned i = 0; state && i < sizeof states / sizeof *states; i++)
        if (strcmp(state, states[i]) == 0)
            r->state = (enum beat_state)i;
    take_text(line, "host", r->host, sizeof r->host);
    take_text(line, "reason", r->reason, sizeof r->reason);
    take_text(line, "damage", r->damage, sizeof r->damage);
    take_number(line, "pid", &r->pid);
    take_number(line, "advice", &r->advice);
    take_number(line, "bytes", &r->facts.bytes);
    take_number(line, "total_bytes", &r->facts.total_bytes);
    take_number(line, "tokens", &r->facts.tokens);
    take_number(line, "documents", &r->facts.documents);
    take_number(line, "rejects", &r->facts.rejects);
    take_number(line, "kept_bytes", &r->facts.kept_bytes);
    take_number(line, "kept_tokens", &r->facts.kept_tokens);
    take_number(line, "kept_documents", &r->facts.kept_documents);
    take_number(line, "tokens_per_s", &tokens_per_s);
    take_number(line, "bytes_per_s", &bytes_per_s);
    if (tokens_per_s != UINT64_MAX)
        r->facts.tokens_per_s = (double)tokens_per_s;
    if (bytes_per_s != UINT64_MAX)
        r->facts.bytes_per_s = (double)bytes_per_s;
}

static bool read_beat(int fd, struct beat_read *r)
{
    char text[BEAT_BYTES + 1], *rest = text, *line;
    struct stat st;
    ssize_t count;

    memset(r, 0, sizeof *r);
    count = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, text, BEAT_BYTES, 0) : -1;
    if (count < 0)
        return false;
    text[count] = '\0';
    r->changed = st.st_mtime;
    while ((line = strsep(&rest, "\n")))
        take_line(r, line);
    return true;
}

bool run_beat_read(const char *path, struct beat_read *r)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* opening does not wait for a pipe */
    bool good = fd >= 0 && read_beat(fd, r);

    if (!good)
        memset(r, 0, sizeof *r);
    if (fd >= 0)
        close(fd);
    return good;
}

/* ---- Writing ---- */

void beat_facts_keep(struct beat_facts *f)
{
    f->bytes = f->kept_bytes;
    f->tokens = f->kept_tokens;
    f->documents = f->kept_documents;
}

static bool write_beat(struct run_beat *b, enum beat_state state, const char *reason)
{
    char text[BEAT_BYTES], host[65] = "", damage[BEAT_REASON];
    struct beat_facts f;
    bool written;
    int length;

    pthread_mutex_lock(&b->writing);
    pthread_mutex_lock(&b->lock);
    f = b->facts;
    memcpy(damage, b->damage, sizeof damage);
    pthread_mutex_unlock(&b->lock);
    gethostname(host, sizeof host - 1);
    memset(text, '\n', sizeof text);
    length = snprintf(
        text, sizeof text,
        "leat part 1\nstate %s\nhost %s\npid %ld\nbytes %" PRIu64 "\ntotal_bytes %" PRIu64 "\ntokens %" PRIu64 "\n"
        "documents %" PRIu64 "\nrejects %" PRIu64 "\ntokens_per_s %.0f\nbytes_per_s %.0f\nkept_bytes %" PRIu64
        "\nkept_tokens "
        "%" PRIu64 "\nkept_documents %" PRIu64 "\nadvice %u\ndamage %s\nreason %.500s\n",
        states[state], host, (long)getpid(), f.bytes, f.total_bytes, f.tokens, f.documents, f.rejects, f.tokens_per_s,
        f.bytes_per_s, f.kept_bytes, f.kept_tokens, f.kept_documents, b->advice, damage, reason);
    if (length > 0 && length < (int)sizeof text)
        text[length] = '\n';
    errno = 0;
    written = pwrite(b->fd, text, sizeof text, 0) == (ssize_t)sizeof text && fsync(b->fd) == 0;
    pthread_mutex_unlock(&b->writing);
    return written;
}

static void *beat(void *context)
{
    struct run_beat *b = context;
    struct timespec until;
    bool ended = false;

    while (!ended) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += BEAT_SECONDS;
        pthread_mutex_lock(&b->lock);
        while (!b->ended && pthread_cond_timedwait(&b->wake, &b->lock, &until) != ETIMEDOUT)
            ;
        ended = b->ended;
        pthread_mutex_unlock(&b->lock);
        if (!ended)
            (void)write_beat(b, BEAT_RUNNING, "");
    }
    return NULL;
}

enum leat_status run_beat_begin(struct run_beat *b, char *path, struct leat_error *err)
{
    struct beat_read before;
    enum leat_status s = LEAT_OK;

    memset(b, 0, sizeof *b);
    b->path = path;
    b->fd = -1;
    if (path)
        s = own_file_take(&b->fd, path, err);
    if (s != LEAT_OK)
        free(path);
    if (b->fd < 0)
        return s;
    if (read_beat(b->fd, &before)) {
        memcpy(b->damage, before.damage, sizeof b->damage);
        b->facts = before.facts; /* until the process has done something itself */
        beat_facts_keep(&b->facts);
        b->facts.tokens_per_s = b->facts.bytes_per_s = 0;
    }
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->writing, NULL);
    pthread_cond_init(&b->wake, NULL);
    (void)write_beat(b, BEAT_RUNNING, "");
    b->started = thread_start(&b->thread, BEAT_STACK, beat, b) == 0;
    return LEAT_OK;
}

void run_beat_update(struct run_beat *b, const struct beat_facts *facts)
{
    if (!b->started)
        return;
    pthread_mutex_lock(&b->lock);
    b->facts = *facts;
    pthread_mutex_unlock(&b->lock);
}

static void end_thread(struct run_beat *b)
{
    if (!b->started)
        return;
    pthread_mutex_lock(&b->lock);
    b->ended = true;
    pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
}

static void end_file(struct run_beat *b)
{
    if (b->fd >= 0) {
        close(b->fd);
        pthread_cond_destroy(&b->wake);
        pthread_mutex_destroy(&b->lock);
        pthread_mutex_destroy(&b->writing);
    }
    free(b->path);
}

enum leat_status run_beat_mark(struct run_beat *b, const struct leat_error *why, struct leat_error *err)
{
    if (b->fd < 0)
        return LEAT_OK;
    pthread_mutex_lock(&b->lock);
    snprintf(b->damage, sizeof b->damage, "%.500s", why->message);
    pthread_mutex_unlock(&b->lock);
    if (!write_beat(b, BEAT_RUNNING, ""))
        return status_set_os(err, errno, b->path, "cannot write %s", b->path);
    return file_sync_folder(b->path, err);
}

void run_beat_done(struct run_beat *b)
{
    end_thread(b);
    if (b->path)
        (void)unlink(b->path);
    end_file(b);
}

void run_beat_damaged(struct run_beat *b, const struct leat_error *why)
{
    end_thread(b);
    b->advice = why->hint;
    if (b->fd >= 0)
        (void)write_beat(b, BEAT_FAILED, "");
    end_file(b);
}

void run_beat_keep(struct run_beat *b, uint64_t bytes, uint64_t tokens, uint64_t documents)
{
    if (b->fd < 0 || tokens == LEAT_NONE)
        return;
    pthread_mutex_lock(&b->lock);
    b->facts.kept_bytes = bytes;
    b->facts.kept_tokens = tokens;
    b->facts.kept_documents = documents;
    pthread_mutex_unlock(&b->lock);
}

/* Returns true if the part has its dataset, PATH/part-7.leat beside PATH/part-7.beat. */
static bool has_dataset(const struct run_beat *b)
{
    char *index = NULL;
    size_t stem = b->path ? strlen(b->path) - strlen(".beat") : 0;
    bool has = b->path && asprintf(&index, "%.*s.leat", (int)stem, b->path) > 0 && access(index, F_OK) == 0;

    free(index);
    return has;
}

void run_beat_failed(struct run_beat *b, const struct leat_error *why)
{
    if (!b->damage[0] && has_dataset(b)) { /* leat_run_status() looks for the dataset */
        run_beat_done(b);
        return;
    }
    end_thread(b);
    beat_facts_keep(&b->facts);
    b->advice = why->hint;
    if (b->fd >= 0)
        (void)write_beat(b, why->status == LEAT_E_STOPPED ? BEAT_STOPPED : BEAT_FAILED, why->message);
    end_file(b);
}
