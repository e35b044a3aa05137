/*
 * fuzz_hub_tree.c: any bytes as what the Hugging Face Hub says of a repository, or as the name of a file there. A page
 * of a tree is read to the same entries as a copy of it, and these lie below the folder that was asked for; a revision
 * has a commit; a name that is taken is put together again from its parts, and has an address. Or as the pins of a
 * dataset, which are read back as they are written.
 *
 * The input is a byte that says which, then the bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "corpus/fetch/hub_tree.h"
#include "fuzz.h"

static enum leat_status take(void *context, const char *key, uint64_t size, const char *etag, struct leat_error *err)
{
    uint64_t *sum = context;

    (void)err;
    FUZZ_CHECK(strncmp(key, "p/", 2) == 0 && strlen(key) <= REMOTE_KEY && size < (uint64_t)1 << 60);
    for (; *key; key++)
        *sum = *sum * 31 + (uint8_t)*key;
    for (; *etag; etag++)
        *sum = *sum * 31 + (uint8_t)*etag;
    *sum = *sum * 31 + size;
    return LEAT_OK;
}

static void check_id(const char *id, const char *commit)
{
    FUZZ_CHECK(id && strlen(commit) == HUB_COMMIT && strspn(commit, "0123456789abcdef") == HUB_COMMIT);
}

static enum leat_status read_copy(uint8_t how, const uint8_t *data, size_t size, uint64_t *sum)
{
    struct url url = { .scheme = URL_HF, .name = (char[]) { "hf://o/n/p/" }, .key = (char[]) { "p/" } };
    uint8_t *copy = malloc(size ? size : 1); /* exactly as long, so that a byte too many is seen */
    char commit[HUB_COMMIT + 1], *id = NULL;
    struct leat_error err;
    enum leat_status s;

    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    *sum = 0;
    if (how == 0)
        s = hub_list_read(copy, size, &url, take, sum, &err);
    else
        s = hub_revision_read(copy, size, &url, commit, &id, &err);
    if (how != 0 && s == LEAT_OK)
        check_id(id, commit);
    FUZZ_CHECK(s == LEAT_OK || (!id && err.message[0]));
    free(id);
    free(copy);
    return s;
}

static void read_name(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + sizeof "hf://");
    struct leat_error err;
    struct address a;
    struct url u;

    FUZZ_CHECK(text);
    memcpy(text, "hf://", 5);
    if (size)
        memcpy(text + 5, data, size);
    if (url_parse(&u, text, &err) == LEAT_OK) {
        FUZZ_CHECK(u.stem <= strlen(text) && u.bucket && u.key && (!u.revision || *u.revision));
        FUZZ_CHECK(strcmp(text + u.stem + (text[u.stem] == '/'), u.key) == 0);
        FUZZ_CHECK(address_make(&a, &u, NULL, "", &err) == LEAT_OK);
        for (const char *c = a.url; *c; c++)
            FUZZ_CHECK((uint8_t)*c > ' ' && (uint8_t)*c < 0x7f);
        address_free(&a);
        url_free(&u);
    }
    free(text);
}

static void read_pins(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1);
    struct hub_pins pins = { 0 }, again = { 0 };
    struct buffer written = { 0 };
    struct leat_error err;

    FUZZ_CHECK(text);
    if (size)
        memcpy(text, data, size);
    FUZZ_CHECK(hub_pins_read(&pins, "", text, &err) == LEAT_OK);
    FUZZ_CHECK(hub_pins_write(&pins, "", &written, &err) == LEAT_OK && buffer_append(&written, "", 1, &err) == LEAT_OK);
    FUZZ_CHECK(hub_pins_read(&again, "", (const char *)written.bytes, &err) == LEAT_OK && again.count == pins.count);
    for (size_t i = 0; i < pins.count; i++) {
        const char *to = pins.items[i].to, *at = strchr(to, '@');

        FUZZ_CHECK(strcmp(pins.items[i].from, again.items[i].from) == 0 && strcmp(to, again.items[i].to) == 0);
        FUZZ_CHECK(strncmp(to, "hf://", 5) == 0 && at);
        check_id(to, at + 1);
    }
    hub_pins_free(&pins);
    hub_pins_free(&again);
    buffer_free(&written);
    free(text);
}

FUZZ_TARGET(hub_tree)
{
    uint8_t how = size ? data[0] == 3 ? 3 : data[0] % 3 : 0;
    const uint8_t *rest = size ? data + 1 : data;
    size_t bytes = size ? size - 1 : 0;
    uint64_t sum, other;
    enum leat_status s;

    if (how == 2) {
        read_name(rest, bytes);
        return 0;
    }
    if (how == 3) {
        read_pins(rest, bytes);
        return 0;
    }
    s = read_copy(how, rest, bytes, &sum);
    FUZZ_CHECK(s == read_copy(how, rest, bytes, &other) && sum == other);
    return 0;
}
