/* page.c: see page.h. */
#include "page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/show.h"
#include "base/status.h"

/* The style of all pages. Colours are named once for light, once for dark; paper gets the light ones. */
static const char common_style[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--box:#f6f8fa;"
    "--shade1:#d6e8fb;--shade2:#fbe7c3;--idle1:#e4e7eb;--idle2:#f1f3f5;--special:#5b2a86;--on-special:#fff;"
    "--learned:#7ee787;--byte:#a40e26;--accent:#0b5cad;--accent2:#b35900;--accent3:#1a7f37;--accent4:#8250df}"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;"
    "--box:#161b22;--shade1:#123a63;--shade2:#553b0c;--idle1:#262c34;--idle2:#1b2027;--special:#d2b3f5;"
    "--on-special:#221036;--learned:#1a5e2e;--byte:#ff8f9a;--accent:#58a6ff;--accent2:#f0a35a;--accent3:#56d364;--"
    "accent4:#c297ff}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:1.2rem;max-width:76rem;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}"
    "h1{font-size:1.5rem;margin:.2rem 0 .6rem}h2{font-size:1.15rem;margin:1.8rem 0 .5rem}p{margin:.4rem 0}"
    "code,pre,.mono{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace}"
    ".soft{color:var(--soft)}.wide{overflow-x:auto}figure{margin:.8rem 0}figcaption{color:var(--soft)}"
    "table{border-collapse:collapse;font-size:.9rem}th,td{border-bottom:1px solid var(--line);padding:.2rem .7rem;"
    "text-align:left;vertical-align:top}th{overflow-wrap:normal}td{overflow-wrap:break-word;max-width:26rem}"
    "th+td{overflow-wrap:anywhere;max-width:none}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    "td.n{white-space:nowrap}"
    "@media(max-width:30rem){body{padding:.7rem}th,td{padding:.2rem .3rem}td:not(.n){min-width:6rem}}"
    "summary{cursor:pointer}svg{max-width:100%;height:auto}svg text{fill:var(--ink);font:13px system-ui,sans-serif}"
    "@media print{body{max-width:none;padding:0;font-size:11px}*{print-color-adjust:exact}figure,tr"
    "{break-inside:avoid}h2,h3,h4{break-after:avoid}.wide{overflow:visible}}";

const char *page_common_style(void)
{
    return common_style;
}

#define FIRST_LINE "<!DOCTYPE html>\n"

/* Returns true if a file exists that is no page, such as a dataset's. */
static bool is_other_file(const char *path)
{
    char line[sizeof FIRST_LINE] = "";
    FILE *in = fopen(path, "re");
    bool page;

    if (!in)
        return errno != ENOENT;
    page = !fgets(line, sizeof line, in) || strcmp(line, FIRST_LINE) == 0; /* or empty */
    (void)fclose(in);
    return !page;
}

/* Opens the output. A file gets its name when it is complete; a device is written directly. */
static enum leat_status open_file(struct page *p, struct leat_error *err)
{
    struct stat about;
    bool special = stat(p->path, &about) == 0 && !S_ISREG(about.st_mode);
    enum leat_status s = own_file_check_local(p->path, err);
    int fd = -1;

    if (s == LEAT_OK && !special && is_other_file(p->path))
        s = status_set_in(err, LEAT_E_EXISTS, p->path, "%s already exists, and is not a page: choose another name",
                          p->path);
    if (s == LEAT_OK && !special && !(p->partial = path_append(p->path, strlen(p->path), ".partial", NULL)))
        s = status_no_memory(err, strlen(p->path));
    if (s == LEAT_OK) {
        s = special ? own_file_output(&fd, p->path, false, err) : own_file_begin(&fd, p->partial, err);
        p->out = s == LEAT_OK ? fdopen(fd, "w") : NULL;
        if (s == LEAT_OK && !p->out)
            s = status_set_os(err, errno, p->path, "no stream");
        if (s != LEAT_OK)
            status_before(err, s, "cannot write %s", p->path);
    }
    if (s != LEAT_OK) {
        file_close(&fd);
        free(p->partial);
    }
    return s;
}

enum leat_status page_open(struct page *p, const char *path, const char *title, const char *style,
                           struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *p = (struct page) { .out = stdout, .path = path };
    if (strcmp(path, "-") != 0)
        s = open_file(p, err);
    if (s != LEAT_OK)
        return s;
    fputs(FIRST_LINE
          "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
          "<title>",
          p->out);
    page_string(p->out, title);
    fprintf(p->out, "</title>\n<style>%s%s</style>\n</head>\n<body>\n<h1>", common_style, style);
    page_string(p->out, title);
    fputs("</h1>\n", p->out);
    return LEAT_OK;
}

enum leat_status page_close(struct page *p, int failed, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    long bytes;
    int bad;

    fputs("</body>\n</html>\n", p->out);
    if (p->out == stdout) /* the command checks at its end whether everything was written */
        return LEAT_OK;
    bad = fflush(p->out) != 0 || ferror(p->out);
    if (bad && !failed)
        s = status_set_os(err, errno, p->path, "cannot write %s", p->path);
    bytes = ftell(p->out);
    if (fclose(p->out) != 0 && !bad && !failed)
        s = status_set_os(err, errno, p->path, "cannot write %s", p->path);
    if (!p->partial)
        return s;
    if (!failed && s == LEAT_OK && rename(p->partial, p->path) != 0)
        s = status_set_os(err, errno, p->path, "cannot write %s", p->path);
    if (failed || s != LEAT_OK)
        (void)unlink(p->partial);
    else
        p->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    free(p->partial);
    return s;
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void page_text(FILE *out, const char *text, uint64_t bytes)
{
    char step[SHOW_MOST];
    size_t length;

    for (uint64_t at = 0; at < bytes;) {
        const char *instead;

        at += show_step(text + at, (size_t)(bytes - at), step, &length);
        instead = entity(step[0]);
        if (instead)
            fputs(instead, out);
        else
            fwrite(step, 1, length, out);
    }
}

void page_string(FILE *out, const char *text)
{
    page_text(out, text, strlen(text));
}

int page_shows(const char *character, size_t bytes)
{
    char step[SHOW_MOST];
    size_t length;

    return show_step(character, bytes, step, &length) == bytes && length == bytes;
}
