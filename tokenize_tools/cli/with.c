/* with.c: prints which libraries are in this build, of those that a build can have. */
#include "command.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "leat.h"

/* Lines with a name in capitals, 1 or 0, and the purpose. */
static const char lines[] = LEAT_WITH;

struct row {
    char name[16];
    bool in;
    int length; /* length of the text at `purpose` */
    const char *purpose;
};

/* Reads the next line; returns false at the end. */
static bool next(const char **at, struct row *r)
{
    size_t n = 0;

    *at += strspn(*at, " ");
    if (!**at)
        return false;
    for (; **at != ' ' && n < sizeof r->name - 1; (*at)++)
        r->name[n++] = (char)tolower((unsigned char)**at);
    r->name[n] = '\0';
    *at += strspn(*at, " ");
    r->in = **at == '1';
    *at += 1 + strspn(*at + 1, " ");
    r->purpose = *at;
    r->length = (int)strcspn(*at, "\n");
    *at += r->length + ((*at)[r->length] == '\n');
    return true;
}

void with_print(const char *program)
{
    const char *at = lines;
    struct row r;

    printf("%s %s\n", program, leat_version());
    while (next(&at, &r))
        printf("  %-7s %-4s %.*s\n", r.name, r.in ? "yes" : "no", r.length, r.purpose);
}

void with_print_json(const char *program)
{
    const char *at = lines;
    struct json j;
    struct row r;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "program", program);
    json_string(&j, "version", leat_version());
    json_open_object(&j, "with");
    while (next(&at, &r))
        json_bool(&j, r.name, r.in);
    json_close_object(&j);
    json_close_object(&j);
    json_end(&j);
}
