/* with.h: what is in this build, of what a build can have: scripts/libraries.mk. */
#ifndef LEAT_CLI_WITH_H
#define LEAT_CLI_WITH_H

/* Prints the version of a program and a line per library; or all of it as one JSON object. */
void with_print(const char *program);
void with_print_json(const char *program);

#endif
