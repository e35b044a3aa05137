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
    char *partial;    /* name of a file until it is whole; NULL: standard output, or a device */
    uint64_t bytes;   /* size of a file that page_close() has ended; else 0 */
};

/*
 * Begins a page in the file `path`, or on standard output ("-"). page_close() replaces an old page; LEAT_E_EXISTS is
 * returned if another file is there. `title` is escaped; `style` is CSS of this page in addition to the common
 * style, or "". `path` is kept.
 */
enum leat_status page_open(struct page *p, const char *path, const char *title, const char *style,
                           struct leat_error *err);

/* Ends the page. If this fails, or `failed` says that the content could not be had, the old file is unchanged. */
enum leat_status page_close(struct page *p, int failed, struct leat_error *err);

/* Returns the CSS that all pages have. */
const char *page_common_style(void);

/* Writes text of any bytes: markup is escaped; control characters, marks of direction and malformed bytes are shown
 * as base/show.h says. page_string() takes a string. */
void page_text(FILE *out, const char *text, uint64_t bytes);
void page_string(FILE *out, const char *text);

/* Returns 1 if page_text() writes a character, or a malformed byte, as it is; 0 if it writes an escape. */
int page_shows(const char *character, size_t bytes);

#endif
