/* load_files.c: opens and writes the files of `leat-bench load`. An old file is lost, so a file that this run reads,
 * or that is a part of a dataset, is refused. A trace is what Chrome (about:tracing) and Perfetto show. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/own_file.h"
#include "base/status.h"
#include "load.h"

static bool is_standard(const char *fd)
{
    return strcmp(fd, "0") == 0 || strcmp(fd, "1") == 0 || strcmp(fd, "2") == 0;
}

/* Returns true if this process has the file open, as it has all files of its datasets. Descriptors 0 to 2 do not
 * count. */
static bool is_open(const struct stat *file)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *e;
    bool found = false;
    struct stat st;

    while (d && !found && (e = readdir(d)))
        found = !is_standard(e->d_name) && fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_dev == file->st_dev &&
                st.st_ino == file->st_ino;
    if (d)
        closedir(d);
    return found;
}

static bool is_same(const char *path, const struct stat *file)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Returns true if the file is the plan or a list of sources, which are closed once they are read. */
static bool was_read(const struct load_values *v, const struct stat *file)
{
    const struct option_list *sources = &v->plan.sources;

    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i][0] == '@' && is_same(sources->items[i] + 1, file))
            return true;
    return v->plan.plan && is_same(v->plan.plan, file);
}

enum leat_status load_output_open(FILE **out, const char *path, const struct load_values *v, struct leat_error *err)
{
    size_t length = strlen(path);
    enum leat_status s;
    struct stat st;
    int fd;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        if (file_ends_with(path, length, ".leat") || file_ends_with(path, length, ".tokens"))
            return status_set(err, LEAT_E_ARGUMENT, "%s is a file of a dataset: choose another name", path);
        if (is_open(&st) || was_read(v, &st))
            return status_set(err, LEAT_E_ARGUMENT, "%s is in use by this run: choose another name", path);
    }
    s = own_file_output(&fd, path, false, err);
    *out = s == LEAT_OK ? fdopen(fd, "w") : NULL;
    return s == LEAT_OK && !*out ? status_set_os(err, errno, path, "cannot write %s", path) : s;
}

/* ---- A trace ---- */

struct load_trace {
    FILE *out;
    struct json json;
    uint64_t began_ns;
};

struct load_trace *load_trace_begin(FILE *out)
{
    struct load_trace *t = calloc(1, sizeof *t);

    if (!t) {
        fclose(out);
        return NULL;
    }
    t->out = out;
    json_begin(&t->json, out);
    json_open_object(&t->json, NULL);
    json_open_array(&t->json, "traceEvents");
    return t;
}

static double micros(struct load_trace *t, uint64_t ns)
{
    if (t->began_ns == 0)
        t->began_ns = ns;
    return (double)(ns - t->began_ns) / 1e3;
}

/* Opens an event, whose phase is X for a span and C for counters. */
static struct json *open_event(struct load_trace *t, const char *name, const char *phase, uint64_t at_ns)
{
    json_open_object(&t->json, NULL);
    json_string(&t->json, "name", name);
    json_string(&t->json, "ph", phase);
    json_u64(&t->json, "pid", 1);
    json_double(&t->json, "ts", micros(t, at_ns));
    return &t->json;
}

void load_trace_span(struct load_trace *t, const char *name, uint64_t began_ns, uint64_t ended_ns)
{
    struct json *j = t ? open_event(t, name, "X", began_ns) : NULL;

    if (!t)
        return;
    json_u64(j, "tid", 1);
    json_double(j, "dur", (double)(ended_ns - began_ns) / 1e3);
    json_close_object(j);
}

void load_trace_stats(struct load_trace *t, uint64_t at_ns, const struct leat_loader_stats *s)
{
    struct json *j = t ? open_event(t, "loader's thread, ms so far", "C", at_ns) : NULL;

    if (!t)
        return;
    json_open_object(j, "args");
    json_double(j, "order", (double)s->time.order_ns / 1e6);
    json_double(j, "storage", (double)s->time.storage_ns / 1e6);
    json_double(j, "gather", (double)s->time.gather_ns / 1e6);
    json_double(j, "documents", (double)s->time.documents_ns / 1e6);
    json_double(j, "outputs", (double)s->time.outputs_ns / 1e6);
    json_double(j, "slot", (double)s->time.slot_ns / 1e6);
    json_close_object(j);
    json_close_object(j);
}

bool load_trace_close(struct load_trace *t)
{
    bool ok = true;

    if (t) {
        json_close_array(&t->json);
        json_close_object(&t->json);
        json_end(&t->json);
        ok = fflush(t->out) == 0 && !ferror(t->out);
        ok = fclose(t->out) == 0 && ok;
    }
    free(t);
    return ok;
}
