/* text_encoders.c: see text_encoders.h. */
#include "text_encoders.h"

#include "core/module.h"

static _Thread_local const atomic_bool *stop_flag;

void text_encoders_stop_by(const atomic_bool *flag)
{
    stop_flag = flag;
}

bool text_encoders_stopped(enum leat_status status)
{
    return status == LEAT_E_STOPPED && PyErr_Occurred();
}

/* Handlers run in the main thread only: others ask in vain, which is fine. */
static uint32_t stop(void *context)
{
    PyGILState_STATE state;
    uint32_t raised;

    (void)context;
    if (stop_flag)
        return atomic_load(stop_flag);
    state = PyGILState_Ensure();
    raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return raised;
}

enum leat_status text_encoders_take(struct text_encoders *pool, const struct leat_tokenizer *t, bool special,
                                    struct leat_encoder **out, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;

    if (pool->count[special] > 0) {
        *out = pool->waiting[special][--pool->count[special]];
        return LEAT_OK;
    }
    options.special = special;
    options.stop = stop;
    return leat_encoder_open(out, t, &options, err);
}

void text_encoders_give(struct text_encoders *pool, bool special, struct leat_encoder *e)
{
    if (pool->count[special] < TEXT_POOL_MAX)
        pool->waiting[special][pool->count[special]++] = e;
    else
        leat_encoder_close(e);
}

void text_encoders_free(struct text_encoders *pool)
{
    for (unsigned special = 0; special < 2; special++)
        while (pool->count[special] > 0)
            leat_encoder_close(pool->waiting[special][--pool->count[special]]);
}
