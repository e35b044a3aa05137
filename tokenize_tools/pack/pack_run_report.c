/* pack_run_report.c: what a run reports when it ends. See pack_run.h. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "pack_facts.h"
#include "pack_run.h"

/* getrusage() counts what the process was before exec, too: the parent, which may be large. */
uint64_t pack_run_peak_memory(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    unsigned long long kib = 0;
    struct rusage usage;
    char line[256];

    while (f && kib == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %llu kB", &kib) != 1)
            kib = 0;
    if (f)
        fclose(f);
    if (kib > 0)
        return kib * 1024;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

void pack_run_report(const struct pack_run *r, const struct leat_info *info, struct leat_pack_report *report)
{
    const struct pack_output *o = &r->output;

    report->inputs = r->setup.inputs.count;
    report->documents = info->documents;
    report->tokens = info->tokens;
    if (r->finished) {
        report->documents = r->found.documents;
        report->tokens = r->found.tokens;
    } else if (o->writer) {
        report->documents = leat_writer_documents(o->writer);
        report->tokens = leat_writer_tokens(o->writer);
    }
    report->direct_bytes = r->direct_bytes;
    report->text_bytes = o->at.text_bytes;
    report->disk_bytes = o->at.disk_bytes;
    report->rejects = o->at.rejects;
    report->special_strings = o->at.special_strings;
    report->replaced = o->at.replaced;
    report->not_json = o->at.not_json;
    report->kept_out = o->at.kept_out;
    report->values = o->values.count;
    report->row_groups = o->at.row_groups;
    report->units = r->units;
    report->lock_wait_ns = r->lock_ns;
    report->damaged_inputs = o->at.damaged_inputs;
    memcpy(report->damage, o->damage, sizeof report->damage);
    if (r->finished)
        pack_past_report(&r->past, report);
    report->peak_memory = pack_run_peak_memory();
    report->was_finished = r->finished;
    report->serial = r->serial;
    report->stream = r->stream;
    report->serial.place_ns = o->spent_ns[PACK_STEP_WRITE];
    report->times =
        (struct leat_pack_times) { o->spent_ns[PACK_STEP_READ], o->spent_ns[PACK_STEP_SCAN],
                                   o->spent_ns[PACK_STEP_ENCODE], o->spent_ns[PACK_STEP_WRITE] + o->put_ns };
}
