/* part_auto.c: finds the part by a table of systems, a row each. The number of parts is never taken from a system:
 * it counts what was submitted, and an array of two elements that are submitted again has the count 2. */
#include "part_auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"

struct system_row {
    const char *variable;
    unsigned first;   /* value of the variable for part 1 */
    const char *none; /* value of the variable outside of an array; NULL: it is not set there */
    /* The variable with the number of processes; NULL: not needed. A single process is no part of anything: `srun`
     * in an element of an array, and the batch script itself, which has no such count. */
    const char *count;
};

static const struct system_row systems[] = {
    { "SLURM_ARRAY_TASK_ID", 1, NULL, NULL },
    { "SLURM_PROCID", 0, NULL, "SLURM_STEP_NUM_TASKS" },
    { "JOB_COMPLETION_INDEX", 0, NULL, NULL }, /* Kubernetes */
    { "AWS_BATCH_JOB_ARRAY_INDEX", 0, NULL, NULL },
    { "BATCH_TASK_INDEX", 0, NULL, "BATCH_TASK_COUNT" }, /* Google Batch */
    { "CLOUD_RUN_TASK_INDEX", 0, NULL, "CLOUD_RUN_TASK_COUNT" },
    { "PBS_ARRAY_INDEX", 1, NULL, NULL },
    { "PBS_ARRAYID", 1, NULL, NULL }, /* Torque */
    { "SGE_TASK_ID", 1, "undefined", NULL },
    { "LSB_JOBINDEX", 1, "0", NULL }, /* LSF */
    { "OMPI_COMM_WORLD_RANK", 0, NULL, "OMPI_COMM_WORLD_SIZE" },
    { "PMI_RANK", 0, NULL, "PMI_SIZE" },
};

#define SYSTEMS (sizeof systems / sizeof systems[0])

/* Returns the value of the row's variable; NULL if it says nothing. */
static const char *value_of(const struct system_row *row, uint64_t parts)
{
    const char *value = getenv(row->variable);
    const char *count = row->count ? getenv(row->count) : NULL;

    if (!value || !*value || (row->none && strcmp(value, row->none) == 0))
        return NULL;
    if (row->count && (!count || (parts > 1 && strcmp(count, "1") == 0)))
        return NULL;
    return value;
}

/* Writes why the row's variable, which is set, does not count. */
static size_t say_unused(const struct system_row *row, const char *value, char *out, size_t room)
{
    const char *count = row->count ? getenv(row->count) : NULL;

    if (!row->count)
        return (size_t)snprintf(out, room, "; %s=%.40s means that this job is no part of an array", row->variable,
                                value);
    if (!count)
        return (size_t)snprintf(out, room, "; %s=%.40s does not count without %s", row->variable, value, row->count);
    return (size_t)snprintf(out, room, "; %s=%.40s does not count, since %s=%.40s: a single process is no part",
                            row->variable, value, row->count, count);
}

static void say_none(uint64_t parts, char *why, size_t room)
{
    size_t used = (size_t)snprintf(
        why, room, "no system says which of %" PRIu64 " parts this is, as one of these variables:", parts);

    for (size_t i = 0; i < SYSTEMS && used < room; i++)
        used += (size_t)snprintf(why + used, room - used, "%s %s", i > 0 ? "," : "", systems[i].variable);
    for (size_t i = 0; i < SYSTEMS && used < room; i++) {
        const char *value = getenv(systems[i].variable);

        if (value && *value)
            used += say_unused(&systems[i], value, why + used, room - used);
    }
}

/* Returns the part that the row's variable names; 0, and `why`, if there is no such part. */
static uint64_t part_of(const struct system_row *row, const char *value, uint64_t parts, uint64_t plus, char *why,
                        size_t room)
{
    const char *unused;
    uint64_t number;

    if (strspn(value, "0123456789") != strlen(value) || !units_parse(value, false, &number, &unused) ||
        number > UINT32_MAX) {
        snprintf(why, room, "%s=%.40s is not the number of one of %" PRIu64 " parts", row->variable, value, parts);
        return 0;
    }
    number = number + 1 - row->first + plus;
    if (number >= 1 && number <= parts)
        return number;
    snprintf(why, room, "%s=%.40s is part %" PRIu64 ", and there are 1 to %" PRIu64 "%s", row->variable, value, number,
             parts, number < 1 ? " (auto+1 for an array that counts from 0)" : "");
    return 0;
}

bool part_auto_find(uint64_t parts, uint64_t plus, uint64_t *part, char *why, size_t room)
{
    const struct system_row *said = NULL;

    for (const struct system_row *row = systems; row < systems + SYSTEMS; row++) {
        const char *value = value_of(row, parts);
        uint64_t number = value ? part_of(row, value, parts, plus, why, room) : 0;

        if (value && number == 0)
            return false;
        if (value && said && number != *part) {
            snprintf(why, room, "%s=%.40s is part %" PRIu64 ", but %s=%.40s is part %" PRIu64, said->variable,
                     getenv(said->variable), *part, row->variable, value, number);
            return false;
        }
        if (value) {
            said = row;
            *part = number;
        }
    }
    if (!said)
        say_none(parts, why, room);
    return said != NULL;
}
