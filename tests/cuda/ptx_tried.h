/*
 * ptx_tried.h: random jobs for the kernels of a text of PTX, each with what the bodies in C make of it: whether the
 * text is right. Each job runs on the machine of tests/fake_cuda/ptx.h.
 */
#ifndef LEAT_TESTS_PTX_TRIED_H
#define LEAT_TESTS_PTX_TRIED_H

#include "fake_cuda/ptx.h"

/* Makes the jobs, once. */
void ptx_tried_make(uint64_t *random);

/* A parameter of a kernel as another layout of the host's struct would pass it: from byte `at` on, all is `bytes`
 * further back; or the `bytes` there and as many after them trade places. */
struct ptx_tried_layout {
    unsigned parameter;
    size_t at, bytes;
    bool trade;
};

/* Whether the kernels write what the bodies do, in all jobs; else `why`. `layout`: NULL for the host's. */
bool ptx_tried_right(const struct ptx_kernel *kernels, const struct ptx_tried_layout *layout, char *why, size_t room);

/* The same of a text; false, too, if it cannot be read: then `readable` is false. */
bool ptx_tried_text(const char *text, bool *readable, char *why, size_t room);

#endif
