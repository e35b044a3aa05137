/*
 * client.c: transfers under way. A transfer is carried, or waits for its next try; remote_wait() sends what is due and
 * lets the carrier work until one is done. No thread of its own: what is under way moves on only while somebody waits.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "address.h"
#include "answer.h"
#include "base/clock.h"
#include "base/status.h"
#include "text.h"

#define STANDARD_TRIES  10u
#define STANDARD_STALL  20u
#define STANDARD_REGION "us-east-1"
#define TURN_MS         100 /* how long a caller that wants to stop may have to wait */
#define MILLISECOND     ((uint64_t)1000000)

static enum leat_status read_settings(struct remote *r, struct leat_error *err)
{
    const struct environment *e = &r->environment;
    const char *tries = e->values[SETTING_ATTEMPTS], *region = e->values[SETTING_REGION];
    uint64_t number = 0;

    if (!r->options.stall_seconds)
        r->options.stall_seconds = STANDARD_STALL;
    if (!r->options.max_tries && tries &&
        (!answer_number(tries, strlen(tries), &number) || number == 0 || number > 1000))
        return status_set(err, LEAT_E_ARGUMENT, "AWS_MAX_ATTEMPTS has to be a number from 1 to 1000");
    if (!r->options.max_tries)
        r->options.max_tries = number ? (uint32_t)number : STANDARD_TRIES;
    if (e->values[SETTING_ID] && !e->values[SETTING_SECRET])
        return status_set(err, LEAT_E_ARGUMENT,
                          "there is an AWS access key id without its secret key; set "
                          "AWS_SECRET_ACCESS_KEY");
    if (e->foreign && !e->by_variables)
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "the AWS profile gets its keys by %s, which leat does not do; set AWS_ACCESS_KEY_ID and the others "
            "to what `aws configure export-credentials` prints",
            e->foreign);
    if (!region)
        region = STANDARD_REGION;
    if (strlen(region) >= sizeof r->region || !address_is_region(region))
        return status_set(err, LEAT_E_ARGUMENT, "AWS_REGION is not the name of a region, such as us-east-1");
    memcpy(r->region, region, strlen(region) + 1);
    return LEAT_OK;
}

enum leat_status remote_open(struct remote **out, const struct remote_options *options, struct leat_error *err)
{
    struct remote *r = calloc(1, sizeof *r);
    enum leat_status s;

    *out = NULL;
    if (!r)
        return status_no_memory(err, sizeof *r);
    if (options)
        r->options = *options;
    s = environment_read(&r->environment, err);
    if (s == LEAT_OK)
        s = read_settings(r, err);
    if (s == LEAT_OK)
        s = carrier_library.open(&r->carrying, err);
    if (s == LEAT_OK)
        *out = r;
    else
        remote_close(r);
    return s;
}

void remote_close(struct remote *r)
{
    if (!r)
        return;
    carrier_library.close(r->carrying);
    environment_free(&r->environment);
    for (unsigned i = 0; i < KEYS_OWNERS; i++)
        keys_free(&r->keys[i]);
    free(r);
}

void remote_count(const struct remote *r, struct remote_counts *counts)
{
    *counts = r->counts;
}

void transfer_free(struct transfer *t)
{
    buffer_free(&t->text);
    text_forget(t->redirected);
    t->redirected = NULL;
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

static void leave(struct transfer **list, const struct transfer *t)
{
    while (*list != t)
        list = &(*list)->next;
    *list = t->next;
}

enum leat_status remote_begin(struct remote *r, struct transfer *t, struct leat_error *err)
{
    t->status = LEAT_OK;
    t->received = t->not_before = 0;
    t->tries = t->redirects = t->asked = 0;
    t->began = clock_ns();
    t->skew_tried = t->region_tried = t->keys_tried = false;
    return client_send(r, t, err);
}

/* Sends one that is due. False: none is; *until is how many milliseconds to wait at most. */
static bool send_due(struct remote *r, struct transfer **failed, int *until)
{
    uint64_t now = clock_ns();

    *until = TURN_MS;
    *failed = NULL;
    for (struct transfer **t = &r->waiting; *t; t = &(*t)->next) {
        struct transfer *due = *t;

        if (due->not_before <= now) {
            *t = due->next;
            due->status = client_send(r, due, &due->error);
            if (due->status != LEAT_OK)
                *failed = due;
            return true;
        }
        if (due->not_before - now < TURN_MS * MILLISECOND && (int)((due->not_before - now) / MILLISECOND) + 1 < *until)
            *until = (int)((due->not_before - now) / MILLISECOND) + 1;
    }
    return false;
}

static struct transfer *take_ended(struct remote *r)
{
    enum carried how;
    const char *why;
    struct transfer *t;

    while ((t = carrier_library.ended(r->carrying, &how, &why))) {
        leave(&r->under_way, t);
        if (client_is_done(r, t, how, why))
            return t;
        t->next = r->waiting;
        r->waiting = t;
    }
    return NULL;
}

/* libcurl waits by itself only for connections. */
static void pass_time(struct remote *r, int milliseconds)
{
    struct timespec time = { 0, (long)milliseconds * (long)MILLISECOND };

    if (r->under_way)
        carrier_library.run(r->carrying, milliseconds);
    else
        (void)nanosleep(&time, NULL);
}

void remote_wake(struct remote *r)
{
    atomic_store(&r->woken, true);
    carrier_library.wake(r->carrying);
}

void remote_give_up(struct remote *r)
{
    atomic_store(&r->given_up, true);
    remote_wake(r);
}

enum leat_status remote_wait(struct remote *r, struct transfer **done, struct leat_error *err)
{
    bool woken = false;
    int until;

    for (;;) {
        *done = take_ended(r);
        while (!*done && send_due(r, done, &until)) /* also what has just ended, to be tried again at once */
            ;
        if (*done || (!r->under_way && !r->waiting))
            return LEAT_OK;
        if (r->options.stop && r->options.stop(r->options.context))
            return status_set(err, LEAT_E_STOPPED, "the transfer was stopped");
        if (woken)
            return LEAT_E_AGAIN;
        woken = atomic_exchange(&r->woken, false);
        pass_time(r, woken ? 0 : until); /* those under way are moved on in any case */
    }
}

void remote_abandon(struct remote *r)
{
    for (struct transfer *t = r->under_way; t; t = t->next)
        carrier_library.cancel(r->carrying, t);
    r->under_way = r->waiting = NULL;
}

static bool is_in(const struct transfer *list, const struct transfer *t)
{
    while (list && list != t)
        list = list->next;
    return list;
}

void remote_cancel(struct remote *r, struct transfer *t)
{
    if (is_in(r->under_way, t)) {
        carrier_library.cancel(r->carrying, t);
        leave(&r->under_way, t);
    } else if (is_in(r->waiting, t)) {
        leave(&r->waiting, t);
    }
}

enum leat_status remote_run(struct remote *r, struct transfer *t, struct leat_error *err)
{
    struct transfer *done;
    enum leat_status s = remote_begin(r, t, err);

    if (s == LEAT_OK)
        s = remote_wait(r, &done, err);
    if (s != LEAT_OK) {
        remote_abandon(r);
        return s;
    }
    if (t->status != LEAT_OK && err)
        *err = t->error;
    return t->status;
}
