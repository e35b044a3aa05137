/*
 * remote_probe.c: asks src/remote/ for objects, for test_remote.py, which tells its server how to misbehave:
 * remote_probe stat|read|list|sweep URL [STALL_SECONDS [TRIES]]. Bytes go to standard output, counts to standard error,
 * and what is left in memory at the end of the secrets in $REMOTE_PROBE_SECRETS, a line each.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/upload.h"
#include "t.h"

static enum leat_status print_key(void *context, const char *key, uint64_t size, const char *etag,
                                  struct leat_error *err)
{
    (void)context, (void)err;
    printf("%s %llu %s\n", key, (unsigned long long)size, etag);
    return LEAT_OK;
}

static bool print_dead(void *context, const char *key)
{
    (void)context;
    printf("%s\n", key);
    return true;
}

static enum leat_status print_bytes(struct remote *r, const struct url *url, const struct remote_object *object,
                                    struct leat_error *err)
{
    uint8_t *bytes = malloc(object->size + 1);
    enum leat_status s = LEAT_E_NO_MEMORY;

    if (bytes)
        s = remote_read(r, url, object, 0, bytes, object->size, err);
    if (s == LEAT_OK && fwrite(bytes, 1, object->size, stdout) != object->size)
        s = LEAT_E_IO;
    free(bytes);
    return s;
}

static enum leat_status run(struct remote *r, const char *what, const struct url *url, struct leat_error *err)
{
    struct remote_object object;
    struct remote_counts counts;
    enum leat_status s;

    if (strcmp(what, "list") == 0)
        return remote_list(r, url, print_key, NULL, err);
    if (strcmp(what, "sweep") == 0)
        return upload_sweep(r, url, print_dead, NULL, err);
    s = remote_stat(r, url, &object, err);
    if (s == LEAT_OK && strcmp(what, "stat") == 0)
        printf("%llu %s\n", (unsigned long long)object.size, object.etag);
    else if (s == LEAT_OK)
        s = print_bytes(r, url, &object, err);
    remote_count(r, &counts);
    fprintf(stderr, "%llu requests, %llu retries\n", (unsigned long long)counts.requests,
            (unsigned long long)counts.retries);
    return s;
}

/* Prints where a secret is left in memory, beside the stack, with some of what stands around it. */
static bool look_for(const char *secret, size_t length, const char *first, const char *last)
{
    const char *at = memmem(first, (size_t)(last - first), secret, length);

    if (!at)
        return false;
    fprintf(stderr, "left in memory: ");
    for (const char *c = at - first < 40 ? first : at - 40; c < at + length; c++)
        fputc(*c >= 32 && *c < 127 ? *c : '.', stderr);
    fputc('\n', stderr);
    return true;
}

/* The lines of $REMOTE_PROBE_SECRETS, when nothing needs them any more. Under a sanitizer nothing is looked for: there
 * are terabytes that belong to it, and that nobody may read. */
static bool look_for_secrets(void)
{
    const char *secrets = T_SANITIZED ? NULL : getenv("REMOTE_PROBE_SECRETS");
    FILE *maps = secrets ? fopen("/proc/self/maps", "re") : NULL;
    char line[512], how[8];
    uintptr_t first, end;
    bool found = false;

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &first, &end, how) == 3 && strncmp(how, "rw", 2) == 0 &&
            !strstr(line, "[stack]"))
            for (const char *at = secrets; *at; at += strspn(at, "\n")) {
                size_t length = strcspn(at, "\n");

                found |= look_for(at, length, (const char *)first, (const char *)end);
                at += length;
            }
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    struct remote_options options = { .stall_seconds = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0,
                                      .max_tries = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0 };
    struct remote *r = NULL;
    struct leat_error err = { 0 };
    struct url url;
    enum leat_status s;

    if (argc < 3)
        return 2;
    s = url_parse(&url, argv[2], &err);
    if (s == LEAT_OK)
        s = remote_open(&r, &options, &err);
    if (s == LEAT_OK)
        s = run(r, argv[1], &url, &err);
    if (s != LEAT_OK)
        fprintf(stderr, "%s: %s\n", leat_status_name(s), err.message);
    remote_close(r);
    url_free(&url);
    return look_for_secrets() || s != LEAT_OK;
}
