/*
 * page.h: writes one self-contained HTML page: no script, no network, light and dark, for phones and paper. All text
 * goes through page_text(), so that no name, id or document can become markup.
 *
 * The room tokenize_tools/pages/ has what pages for people are made of. It knows nothing of what a page shows; programs
 * fill it.
 */
#ifndef LEAT_PAGES_PAGE_H
#define LEAT_PAGES_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "leat.h"

struct page {
    FILE *out;
    const char *path; /* "-": standard output */
    char *partial;    /* of a file, until it is whole; NULL: standard output, or a device */
    uint64_t bytes;   /* of a file that page_close() has ended; else 0 */
};

/*
 * Begins a page in the file `path`, or on standard output ("-"). A page that is there is replaced, by page_close();
 * LEAT_E_EXISTS if another file is. `title` is escaped; `style` is CSS of this page in addition to what all have, or
 * "". `path` is kept.
 */
enum leat_status page_open(struct page *p, const char *path, const char *title, const char *style,
                           struct leat_error *err);

/* Ends the page. On failure, and where `failed` says that what it shows could not be had, nothing has changed. */
enum leat_status page_close(struct page *p, int failed, struct leat_error *err);

/* Returns the CSS that all pages have. */
const char *page_common_style(void);

/* Text of any bytes: markup is escaped; control characters, marks of direction and malformed bytes are shown as
 * base/show.h has it. page_string() takes a string. */
void page_text(FILE *out, const char *text, uint64_t bytes);
void page_string(FILE *out, const char *text);

/* Returns 1 if page_text() gives a character, or a malformed byte, as it is; else it gives an escape. */
int page_shows(const char *character, size_t bytes);

#endif
