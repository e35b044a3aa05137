/*
 * blocks.c: uploads to Azure (upload.h). A blob is made of blocks, whose names the client chooses, by a list of them.
 * Blocks that no list has named stay for a week, so an upload needs no beginning and no end; the service says only
 * their names. So a block's name here is its number and MD5, by which it counts if the upload goes on later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/status.h"
#include "text.h"
#include "upload.h"
#include "xml.h"

/* Length of a block's name, "00001-" and the MD5 in hexadecimal: all names of a blob's blocks are equally long. */
#define NAME 39u
#define FORM "%06u-"

static void make_name(uint64_t part, const uint8_t md5[MD5_BYTES], char out[BASE64_TEXT(NAME)])
{
    char name[NAME + 1], *to = name + snprintf(name, sizeof name, FORM, (unsigned)part);

    for (unsigned i = 0; i < MD5_BYTES; i++)
        to += snprintf(to, 3, "%02x", md5[i]);
    base64_encode(out, (const uint8_t *)name, NAME);
}

/* Notes a block on the server, if its name is one of ours. */
static void take_name(struct upload *u, const struct xml_text *text)
{
    uint8_t name[BASE64_ROOM(BASE64_TEXT(NAME)) + 1], md5[MD5_BYTES];
    size_t bytes = 0;
    unsigned part;

    if (text->bytes != BASE64_TEXT(NAME) - 1 || !base64_decode(name, &bytes, (const uint8_t *)text->at, text->bytes) ||
        bytes != NAME)
        return;
    name[NAME] = '\0';
    if (sscanf((const char *)name, "%6u-", &part) != 1 || part >= u->part_count)
        return;
    for (unsigned i = 0; i < MD5_BYTES; i++) {
        int high = bytes_hex_digit(name[7 + 2 * i]), low = bytes_hex_digit(name[8 + 2 * i]);

        if (high < 0 || low < 0)
            return;
        md5[i] = (uint8_t)(high << 4 | low);
    }
    u->parts[part].there = true;
    memcpy(u->parts[part].md5, md5, MD5_BYTES);
}

enum leat_status blocks_find(struct upload *u, struct leat_error *err)
{
    struct transfer t = { .url = u->url, .query = "blocklisttype=uncommitted&comp=blocklist" };
    struct leat_error why;
    enum leat_status s = remote_run(u->remote, &t, &why);
    struct xml_text text;
    struct xml x;

    xml_begin(&x, t.text.bytes, t.text.size);
    while (s == LEAT_OK && xml_next(&x, &text))
        if (xml_is(&x, "BlockList/UncommittedBlocks/Block/Name"))
            take_name(u, &text);
    if (s == LEAT_OK && x.broken)
        s = upload_strange(u->url, &why);
    transfer_free(&t);
    if (s == LEAT_E_NO_FILE) /* there is no blob, and no block */
        return LEAT_OK;
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

enum leat_status blocks_query(const struct upload *u, uint64_t part, char **query, struct leat_error *err)
{
    char name[BASE64_TEXT(NAME)], *encoded;
    enum leat_status s;

    make_name(part, u->parts[part].md5, name);
    s = text_encode(&encoded, name, false, err);
    if (s == LEAT_OK)
        s = text_join(query, err, "blockid=", encoded, "&comp=block", NULL);
    free(encoded);
    return s;
}

static enum leat_status make_list(const struct upload *u, struct buffer *b, struct leat_error *err)
{
    enum leat_status s = buffer_append(b, "<BlockList>", 11, err);

    for (uint64_t i = 0; i < u->part_count && s == LEAT_OK; i++) {
        char name[BASE64_TEXT(NAME)], line[BASE64_TEXT(NAME) + 20];

        make_name(i, u->parts[i].md5, name);
        s = buffer_append(b, line, (size_t)snprintf(line, sizeof line, "<Latest>%s</Latest>", name), err);
    }
    return s == LEAT_OK ? buffer_append(b, "</BlockList>", 12, err) : s;
}

/* Computes the etag that S3 would give the object, from the MD5s of its parts. */
static enum leat_status describe(const struct upload *u, char made_of[MD5_ETAG], struct leat_error *err)
{
    uint8_t *all = malloc((size_t)u->part_count * MD5_BYTES), md5[MD5_BYTES];

    if (!all)
        return status_no_memory(err, u->part_count * MD5_BYTES);
    for (uint64_t i = 0; i < u->part_count; i++)
        memcpy(all + i * MD5_BYTES, u->parts[i].md5, MD5_BYTES);
    md5_of(all, (size_t)u->part_count * MD5_BYTES, md5);
    md5_etag(md5, u->part_count, made_of);
    free(all);
    return LEAT_OK;
}

enum leat_status blocks_complete(struct upload *u, bool only_new, struct leat_error *err)
{
    char made_of[MD5_ETAG];
    struct transfer t = {
        .method = TRANSFER_PUT, .url = u->url, .query = "comp=blocklist", .only_new = only_new, .made_of = made_of
    };
    struct buffer list = { 0 };
    enum leat_status s = make_list(u, &list, err);

    if (s == LEAT_OK)
        s = describe(u, made_of, err);
    if (s == LEAT_OK) {
        t.body = list.bytes;
        t.body_bytes = list.size;
        s = remote_run(u->remote, &t, err);
    }
    transfer_free(&t);
    buffer_free(&list);
    return s;
}
