/*
 * renderer.h: a stand-in for the processes that render conversations, for tests that are not about the text: a thread
 * that speaks the protocol of tokenize_tools/render/render.h.
 */
#ifndef LEAT_TESTS_RENDERER_H
#define LEAT_TESTS_RENDERER_H

#include "leat_pack.h"

/* What it answers to a batch. */
enum stand_in_says {
    STAND_IN_TEXT,      /* of each conversation, its messages up to the last ], all of them as data */
    STAND_IN_REJECTS,   /* "no" */
    STAND_IN_NOTHING,   /* it waits for ever */
    STAND_IN_ENDS,      /* it ends, from the third conversation on, which it does not answer */
    STAND_IN_SPLITS,    /* three turns of ten bytes, or those that are asked for; it ends once, when the last turn is
                         * asked for again */
    STAND_IN_COUNT,     /* frames with other numbers of fields than there are ... */
    STAND_IN_SIZES,     /* ... with a field that is longer than the frame */
    STAND_IN_LONG,      /* ... that would be 4 GiB long */
    STAND_IN_KIND,      /* ... of an unknown kind */
    STAND_IN_MARKS,     /* texts with fewer marks than bytes */
    STAND_IN_MARK,      /* ... with a mark that there is not */
    STAND_IN_STRETCH,   /* ... with a learned stretch that there is not */
    STAND_IN_UTF8,      /* ... that are not UTF-8 */
    STAND_IN_OTHER,     /* to the first frame: another protocol */
    STAND_IN_NO_JINJA2, /* to the first frame: there is no jinja2 */
    STAND_IN_SAYS
};

/* With this as their context. */
struct stand_in {
    enum stand_in_says says;
};
enum leat_status stand_in_open(void *context, int *fd, struct leat_error *err);
void stand_in_close(void *context, int fd);

/* That renders. */
extern const struct leat_renderers stand_in_renderers;

#endif
