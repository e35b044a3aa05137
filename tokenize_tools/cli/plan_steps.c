/* plan_steps.c: see plan_steps.h. */
#include "plan_steps.h"

#include <string.h>

#include "units.h"

/* One field of a schedule, text[0..length): B, or B@STEP. */
static bool parse_change(const char *text, size_t length, uint64_t *batch, uint64_t *step, const char **why)
{
    char copy[64], *at;

    *why = "is not B or B@STEP";
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    at = strchr(copy, '@');
    *step = 0;
    if (at) {
        *at = '\0';
        if (!units_parse(at + 1, false, step, why))
            return false;
    }
    return units_parse(copy, false, batch, why);
}

bool plan_steps_find(const struct command *self, const char *schedule, uint64_t number, uint64_t *first, uint64_t *end)
{
    uint64_t batch = 0, from = 0, next, step;
    const char *text = schedule, *why;

    *first = 0;
    for (bool begun = false;; begun = true) {
        size_t length = strcspn(text, ",");

        if (!parse_change(text, length, &next, &step, &why) || next == 0 || (begun ? step <= from : step != 0)) {
            command_wrong(self, "--batch: \"%.100s\" is not a schedule B,B@STEP,... with increasing steps", schedule);
            return false;
        }
        if (step > number)
            break;
        *first += (step - from) * batch;
        batch = next;
        from = step;
        if (batch > LEAT_MAX_SAMPLES || number - from >= LEAT_MAX_SAMPLES / batch || *first > LEAT_MAX_SAMPLES) {
            command_wrong(self, "--step: samples are numbered below 2^60");
            return false;
        }
        text += length;
        if (!*text++)
            break;
    }
    *first += (number - from) * batch;
    *end = *first + batch;
    return true;
}
