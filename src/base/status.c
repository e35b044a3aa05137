#include "status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "show.h"
#include "utf8.h"

STATUS_PRINTF(5, 0)
static void fill_error(struct leat_error *err, enum leat_status status, int os_error, uint64_t offset,
                       const char *format, va_list args)
{
    err->status = status;
    err->os_error = os_error;
    err->offset = offset;
    err->hint = LEAT_HINT_NONE;
    err->file[0] = '\0';
    err->field[0] = '\0';
    memset(err->reserved, 0, sizeof err->reserved);
    vsnprintf(err->message, sizeof err->message, format, args);
    show_in_place(err->message, sizeof err->message); /* the sentence quotes names and texts of files */
}

enum leat_status status_set(struct leat_error *err, enum leat_status status, const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill_error(err, status, 0, LEAT_NONE, format, args);
        va_end(args);
    }
    return status;
}

/* Copies a name; one that is too long is cut and ends in "...". */
static void copy_name(char *out, size_t room, const char *name)
{
    size_t length = strlen(name), kept = room - 4;

    if (length < room) {
        memcpy(out, name, length + 1);
        return;
    }
    kept -= utf8_open_end((const uint8_t *)name, kept);
    memcpy(out, name, kept);
    memcpy(out + kept, "...", 4);
}

enum leat_status status_in_file(struct leat_error *err, enum leat_status s, const char *file)
{
    if (s != LEAT_OK && err && file && !err->file[0]) {
        copy_name(err->file, sizeof err->file, file);
        show_hide(err->file, false);
    }
    return s;
}

enum leat_status status_field(struct leat_error *err, enum leat_status s, const char *field)
{
    if (s != LEAT_OK && err && field && !err->field[0])
        copy_name(err->field, sizeof err->field, field);
    return s;
}

enum leat_status status_set_in(struct leat_error *err, enum leat_status status, const char *file, const char *format,
                               ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill_error(err, status, 0, LEAT_NONE, format, args);
        va_end(args);
    }
    return status_in_file(err, status, file);
}

enum leat_status status_set_at(struct leat_error *err, enum leat_status status, const char *file, uint64_t offset,
                               const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill_error(err, status, 0, offset, format, args);
        va_end(args);
    }
    return status_in_file(err, status, file);
}

enum leat_status status_argument(struct leat_error *err, const char *field, const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill_error(err, LEAT_E_ARGUMENT, 0, LEAT_NONE, format, args);
        va_end(args);
    }
    return status_field(err, LEAT_E_ARGUMENT, field);
}

enum leat_status status_set_hint(struct leat_error *err, enum leat_status status, enum leat_hint hint, const char *file,
                                 const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill_error(err, status, 0, LEAT_NONE, format, args);
        va_end(args);
        err->hint = hint;
    }
    return status_in_file(err, status, file);
}

/* Room that is kept for the system's text and the remedy. */
#define REASON_BYTES 200

static enum leat_status from_errno(int os_error)
{
    switch (os_error) {
    case ENOENT:
    case ENOTDIR:
        return LEAT_E_NO_FILE;
    case EEXIST:
        return LEAT_E_EXISTS;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return LEAT_E_NO_SPACE;
    case EACCES:
    case EPERM:
    case EROFS:
        return LEAT_E_PERMISSION;
    case ENOMEM:
        return LEAT_E_NO_MEMORY;
    default:
        return LEAT_E_IO;
    }
}

/* Returns what a person can do about an errno, if the system's text does not say it. */
static const char *remedy(int os_error)
{
    switch (os_error) {
    case EMFILE:
        return "; raise the limit of open files (ulimit -n)";
    case ENOSPC:
        return "; free some space or inodes (df, df -i), or write to another disk";
    case EDQUOT:
        return "; free some of the user's quota, of bytes or of inodes (quota), or write to another disk";
    case EFBIG:
        return "; raise the file size limit (ulimit -f), or write to another file system";
    default:
        return "";
    }
}

enum leat_status status_set_os(struct leat_error *err, int os_error, const char *file, const char *format, ...)
{
    va_list args;
    size_t used;
    char reason[128];

    if (err) {
        va_start(args, format);
        fill_error(err, from_errno(os_error), os_error, LEAT_NONE, format, args);
        va_end(args);
        used = strlen(err->message);
        if (used > sizeof err->message - REASON_BYTES) { /* a long path must not push the reason out */
            used = sizeof err->message - REASON_BYTES - 3;
            used -= utf8_open_end((const uint8_t *)err->message, used);
            memcpy(err->message + used, "...", 3);
            used += 3;
        }
        /* strerror_r() is thread-safe, unlike strerror(); the C library decides which of its two forms this is */
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
        const char *text = strerror_r(os_error, reason, sizeof reason);
#else
        const char *text = strerror_r(os_error, reason, sizeof reason) == 0 ? reason : "unknown error";
#endif
        snprintf(err->message + used, sizeof err->message - used, ": %s%s", text, remedy(os_error));
    }
    return status_in_file(err, from_errno(os_error), file);
}

enum leat_status status_before(struct leat_error *err, enum leat_status status, const char *format, ...)
{
    char words[STATUS_BEFORE];
    size_t length, room;
    va_list args;

    if (!err)
        return status;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    show_in_place(words, sizeof words);
    length = strlen(words);
    room = sizeof err->message - length - 2; /* if the words do not fit, the end of the sentence is cut off */
    memmove(err->message + length + 2, err->message, room);
    err->message[sizeof err->message - 1] = '\0';
    memcpy(err->message, words, length);
    memcpy(err->message + length, ": ", 2);
    return status;
}

void status_after(struct leat_error *err, const char *format, ...)
{
    size_t used = strlen(err->message);
    va_list args;

    va_start(args, format);
    vsnprintf(err->message + used, sizeof err->message - used, format, args);
    va_end(args);
    show_in_place(err->message + used, sizeof err->message - used);
}

enum leat_status status_no_memory(struct leat_error *err, uint64_t bytes)
{
    return status_set(err, LEAT_E_NO_MEMORY, "no memory for %" PRIu64 " bytes", bytes);
}

enum leat_status status_too_large(struct leat_error *err, const char *file, uint64_t max)
{
    return status_set_in(err, LEAT_E_UNSUPPORTED, file,
                         "%s is too large: a list or plan has at most %" PRIu64 " MiB; restore it from its source",
                         file, max >> 20);
}
