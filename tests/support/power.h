/*
 * power.h: plays what a folder looks like after the power has failed: a file keeps for certain only the bytes, and a
 * folder only the names, that it had when it was last synced; of what came after, each change stays or is lost at
 * random, as POSIX allows. fault.c calls the hooks; a test calls power_watch() in the process that writes and is to
 * end.
 */
#ifndef LEAT_TESTS_POWER_H
#define LEAT_TESTS_POWER_H

#include <stdbool.h>
#include <stdint.h>

/* What is in the folder now is taken as durable. */
void power_watch(const char *folder, uint64_t seed);
bool power_watching(void);

/* A name was made (opened with O_CREAT, linked), given up, changed; a file or the folder was synced. Paths that are not
 * in the folder are ignored. */
void power_named(const char *path);
void power_unnamed(const char *path);
void power_renamed(const char *from, const char *to);
void power_synced(int fd);

/* Makes the folder what it is after the cut. */
void power_cut(void);

#endif
