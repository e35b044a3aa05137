/*
 * folder.h: what a relative name stood for, after the process has gone to another folder (chdir). Who opens files by
 * such a name later than in the call that it was given in notes the folder then.
 */
#ifndef LEAT_BASE_FOLDER_H
#define LEAT_BASE_FOLDER_H

#include "file.h"

struct folder {
    char *path; /* absolute; NULL: not known, and names stay as they are */
    struct file_identity identity;
};

/* Notes the current folder. */
void folder_note(struct folder *f);
void folder_free(struct folder *f);

/* Whether the folder is known, and the process is in another one now. */
bool folder_left(const struct folder *f);

/* The name in this folder, absolute, or a copy where that is not known, or too long for a system call. The caller frees
 * it. NULL: no memory. */
char *folder_name(const struct folder *f, const char *name);

#endif
