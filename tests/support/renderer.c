/* renderer.c: see renderer.h. */
#include "renderer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"

#define RENDERERS 64
#define ROOM      ((size_t)1 << 18)

struct running {
    bool used;
    int ours, its;
    enum stand_in_says says;
    pthread_t thread;
    uint8_t frame[ROOM], answer[2 * ROOM];
};

static struct running all[RENDERERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool take(int fd, void *to, size_t size)
{
    return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

/* The fields of the next frame; 0: the other side has gone. */
static uint32_t take_frame(struct running *r)
{
    uint8_t head[4];
    uint32_t size;

    if (!take(r->its, head, sizeof head))
        return 0;
    size = bytes_load32(head);
    return size <= ROOM && take(r->its, r->frame, size) ? bytes_load32(r->frame) : 0;
}

static size_t put(uint8_t *to, const void *bytes, size_t size)
{
    bytes_store32(to, (uint32_t)size);
    memcpy(to + 4, bytes, size);
    return 4 + size;
}

static bool give(const struct running *r, size_t size, size_t fields)
{
    uint8_t head[8];

    bytes_store32(head, (uint32_t)size + 4);
    bytes_store32(head + 4, (uint32_t)fields);
    return send(r->its, head, sizeof head, MSG_NOSIGNAL) == (ssize_t)sizeof head &&
           send(r->its, r->answer, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool give_strings(struct running *r, const char *const *strings, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += put(r->answer + size, strings[i], strlen(strings[i]));
    return give(r, size, count);
}

static bool give_text(struct running *r, const void *text, size_t size, uint8_t mark, size_t marks, size_t stretch)
{
    static const uint8_t stretches[32] = { 255, 255, 255, 255 };
    static uint8_t same[ROOM];
    size_t used = put(r->answer, "0", 1);

    pthread_mutex_lock(&lock);
    memset(same, mark, marks);
    used += put(r->answer + used, text, size);
    used += put(r->answer + used, same, marks);
    pthread_mutex_unlock(&lock);
    used += put(r->answer + used, stretches, stretch);
    return give(r, used, 4);
}

static bool answer_turns(struct running *r, const char *turns, size_t bytes)
{
    static const char text[] = "one turn..two turns.3 turns...", *const none[] = { "1", "" };
    static unsigned lasts;
    unsigned first = 0, count = 3;
    char asked[32] = "";
    bool ends = false;

    memcpy(asked, turns, bytes < sizeof asked ? bytes : 0);
    if (bytes > 0 && sscanf(asked, "%u %u", &first, &count) != 2)
        return false;
    pthread_mutex_lock(&lock);
    if (bytes > 0 && first == 2 && count == 1)
        ends = ++lasts == 2;
    pthread_mutex_unlock(&lock);
    if (ends)
        return false;
    return first + count > 3 ? give_strings(r, none, 2)
                             : give_text(r, text + (size_t)10 * first, (size_t)10 * count, 1, (size_t)10 * count, 0);
}

static bool answer(struct running *r, const char *messages, size_t bytes, uint32_t number)
{
    static const char *const no[] = { "1", "no", "and more" }, *const unknown[] = { "7", "no" };
    static const uint8_t sizes[] = { 8, 0, 0, 0, 1, 0, 0, 0, 255, 255, 0, 0 };
    static const uint8_t longest[] = { 255, 255, 255, 255, 2, 0, 0, 0 };

    switch (r->says) {
    case STAND_IN_REJECTS:
        return give_strings(r, no, 2);
    case STAND_IN_NOTHING:
        return true;
    case STAND_IN_ENDS:
        return number < 3 && give_text(r, messages, bytes, 1, bytes, 0);
    case STAND_IN_COUNT:
        return give_strings(r, no, 3);
    case STAND_IN_SIZES:
        return send(r->its, sizes, sizeof sizes, MSG_NOSIGNAL) > 0;
    case STAND_IN_LONG:
        return send(r->its, longest, sizeof longest, MSG_NOSIGNAL) > 0;
    case STAND_IN_KIND:
        return give_strings(r, unknown, 2);
    case STAND_IN_MARKS:
        return give_text(r, messages, bytes, 1, bytes - 1, 0);
    case STAND_IN_MARK:
        return give_text(r, messages, bytes, 4, bytes, 0);
    case STAND_IN_STRETCH:
        return give_text(r, messages, bytes, 1, bytes, 32);
    case STAND_IN_UTF8:
        return give_text(r, "a\xff", 2, 1, 2, 0);
    default:
        return give_text(r, messages, bytes, 1, bytes, 0);
    }
}

static bool answer_all(struct running *r, uint32_t fields)
{
    size_t at = 4;

    for (uint32_t i = 0; i + 2 < fields; i += 3) {
        size_t size = bytes_load32(r->frame + at), tools = bytes_load32(r->frame + at + 4 + size), bytes = size;
        const char *messages = (const char *)r->frame + at + 4;

        while (bytes > 0 && messages[bytes - 1] != ']')
            bytes--;
        at += 8 + size + tools;
        if (r->says == STAND_IN_SPLITS ? !answer_turns(r, (const char *)r->frame + at + 4, bytes_load32(r->frame + at))
                                       : !answer(r, messages, bytes, i / 3))
            return false;
        at += 4 + bytes_load32(r->frame + at); /* which turns */
    }
    return true;
}

static void *render(void *context)
{
    static const char *const ready[] = { "3", "0", "", "9.9.9" }, *const other[] = { "4", "0", "", "9.9.9" },
                             *const none[] = { "3", "3", "jinja2", "No module named 'jinja2'" };
    struct running *r = context;
    uint32_t fields = take_frame(r);
    const char *const *first = r->says == STAND_IN_OTHER ? other : r->says == STAND_IN_NO_JINJA2 ? none : ready;

    if (fields > 0 && give_strings(r, first, 4))
        while ((fields = take_frame(r)) > 0 && answer_all(r, fields))
            ;
    shutdown(r->its, SHUT_RDWR);
    return NULL;
}

enum leat_status stand_in_open(void *context, int *fd, struct leat_error *err)
{
    const struct stand_in *s = context;
    struct running *r = NULL;
    int ends[2], failed = EAGAIN;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < RENDERERS && !r; i++)
        r = all[i].used ? NULL : &all[i];
    if (r)
        r->used = true;
    pthread_mutex_unlock(&lock);
    if (r && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        r->ours = ends[0];
        r->its = ends[1];
        r->says = s ? s->says : STAND_IN_TEXT;
        failed = pthread_create(&r->thread, NULL, render, r);
        if (failed) {
            close(ends[0]);
            close(ends[1]);
        }
    }
    if (failed) {
        if (r)
            r->used = false;
        if (err)
            *err = (struct leat_error) { .status = LEAT_E_IO, .os_error = failed, .message = "no renderer" };
        return LEAT_E_IO;
    }
    *fd = r->ours;
    return LEAT_OK;
}

void stand_in_close(void *context, int fd)
{
    (void)context;
    for (unsigned i = 0; i < RENDERERS; i++) {
        struct running *r = &all[i];
        bool found;

        pthread_mutex_lock(&lock);
        found = r->used && r->ours == fd;
        pthread_mutex_unlock(&lock);
        if (!found)
            continue;
        shutdown(fd, SHUT_RDWR);
        pthread_join(r->thread, NULL);
        close(r->its);
        pthread_mutex_lock(&lock);
        r->used = false;
        pthread_mutex_unlock(&lock);
        close(fd);
        return;
    }
}

const struct leat_renderers stand_in_renderers = { stand_in_open, stand_in_close, NULL };
