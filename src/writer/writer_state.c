/* writer_state.c: what every call of a writer asks first: whether it has failed, and which spills it has. */
#include "base/status.h"
#include "writer.h"

bool writer_has_spill(const struct leat_writer *w, enum writer_spill spill)
{
    if (spill == SPILL_LINES)
        return w->store_lines;
    if (spill == SPILL_ID_ENDS || spill == SPILL_IDS)
        return w->store_ids;
    if (spill == SPILL_HASHES)
        return w->store_hashes;
    if (spill == SPILL_MASK || spill == SPILL_MASK_PAGES)
        return w->store_mask;
    if (spill == SPILL_VALUES)
        return w->store_values;
    return true;
}

enum leat_status writer_ready(struct leat_writer *w, struct leat_error *err)
{
    enum leat_status s;

    pthread_mutex_lock(&w->mutex);
    s = w->failed;
    if (s != LEAT_OK && err)
        *err = w->failure;
    pthread_mutex_unlock(&w->mutex);
    if (s == LEAT_OK && w->prepared)
        return status_set_in(err, LEAT_E_STATE, w->names.index,
                             "%s is complete: after leat_writer_prepare() it can only be finished", w->names.index);
    return s;
}

enum leat_status writer_fail(struct leat_writer *w, enum leat_status status, const struct leat_error *why,
                             struct leat_error *err)
{
    if (status == LEAT_OK)
        return status;
    pthread_mutex_lock(&w->mutex);
    w->failed = status;
    w->failure = *why;
    pthread_mutex_unlock(&w->mutex);
    if (err)
        *err = *why;
    return status;
}
