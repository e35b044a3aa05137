/* pack_sample.c: see pack_sample.h. */
#include "pack_sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "cli/cli.h"

#define SAMPLE_SECONDS 3.0
#define SAMPLE_BYTES   ((uint64_t)32 << 20) /* of text */

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    struct pack_sample *sample = context;

    sample->total_bytes = p->total_bytes;
    return cli_interrupted() || p->text_bytes >= SAMPLE_BYTES || cli_now() - sample->began >= SAMPLE_SECONDS;
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct pack_sample *sample = context;

    if (notice->kind == LEAT_NOTICE_DAMAGED)
        pack_notices_add(&sample->notices, notice);
}

/* The sizes of the dataset's files: the two of a finished one, or a stopped one's, which has a file per section. */
static uint64_t sum_files(const struct pack_sample *sample)
{
    static const char *const others[] = { ".checkpoint", ".run", ".rejects", ".rejects.jsonl" };
    DIR *folder = opendir(sample->folder);
    struct dirent *entry;
    uint64_t bytes = 0;

    while (folder && (entry = readdir(folder)) != NULL) {
        bool counts = entry->d_name[0] != '.';
        struct stat st;

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            counts = counts && !file_ends_with(entry->d_name, strlen(entry->d_name), others[i]);
        if (counts && fstatat(dirfd(folder), entry->d_name, &st, 0) == 0)
            bytes += (uint64_t)st.st_size;
    }
    if (folder)
        closedir(folder);
    return bytes;
}

enum leat_status pack_sample_run(struct pack_sample *sample, const struct leat_pack_options *options,
                                 const char *const *words, size_t count, struct leat_error *err)
{
    const char *temporary = getenv("TMPDIR");
    struct leat_pack_options o = *options;
    enum leat_status s;

    snprintf(sample->folder, sizeof sample->folder, "%.400s/leat-dry-run-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(sample->folder)) {
        s = status_set_os(err, errno, "cannot create the temporary folder %s", sample->folder);
        sample->folder[0] = '\0';
        return s;
    }
    snprintf(sample->name, sizeof sample->name, "%s/sample", sample->folder);
    o.shuffle = o.dedup = o.resume = o.force = 0;
    o.allow_empty = 1; /* the rest may have documents */
    o.split_count = 0;
    if (o.by && o.parts == 0) /* a part carries its values, and is not divided */
        o.part = o.parts = 1;
    o.max_rejects = o.max_rejects_ppm = LEAT_NONE;
    o.progress = on_progress;
    o.notice = on_notice;
    o.context = sample;
    sample->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    sample->began = cli_now();
    s = leat_pack(sample->name, words, count, &o, &sample->report, err);
    sample->seconds = cli_now() - sample->began;
    sample->whole = s == LEAT_OK;
    sample->dataset_bytes = sum_files(sample);
    return s == LEAT_E_STOPPED && !cli_interrupted() ? LEAT_OK : s;
}

void pack_sample_reject(const struct pack_sample *sample, char *line, size_t room)
{
    const char *const suffixes[] = { "rejects.jsonl", "partial.rejects" }; /* of one that ended, or was stopped */
    char path[700];

    line[0] = '\0';
    for (size_t i = 0; i < 2 && !line[0]; i++) {
        FILE *f;

        snprintf(path, sizeof path, "%s.%s", sample->name, suffixes[i]);
        f = fopen(path, "r");
        if (f && fgets(line, (int)room, f))
            line[strcspn(line, "\n")] = '\0';
        if (f)
            fclose(f);
    }
}

void pack_sample_remove(struct pack_sample *sample)
{
    DIR *folder = sample->folder[0] ? opendir(sample->folder) : NULL;
    struct dirent *entry;

    pack_notices_free(&sample->notices);
    if (!folder)
        return;
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(sample->folder);
}
