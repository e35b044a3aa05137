/* craft.c: see craft.h. The numbers below are the tables of FORMAT.md, written out once more on purpose. */
#include "craft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PAGE  4096u
#define CHUNK 65536u
#define TABLE 512u

/* ---- Bytes ---- */

static void append(struct craft_text *t, const void *bytes, uint64_t count)
{
    if (count > t->room - t->count) {
        t->room = 2 * t->room + count + 64;
        t->bytes = realloc(t->bytes, t->room);
        if (!t->bytes) {
            perror("craft");
            exit(1);
        }
    }
    if (count > 0)
        memcpy(t->bytes + t->count, bytes, count);
    t->count += count;
}

static void append64(struct craft_text *t, uint64_t v)
{
    uint8_t bytes[8];

    craft_store64(bytes, v);
    append(t, bytes, 8);
}

static void append_zeros(struct craft_text *t, uint64_t end)
{
    static const uint8_t zeros[PAGE];

    append(t, zeros, end - t->count);
}

uint32_t craft_load32(const void *p)
{
    const uint8_t *b = p;

    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t craft_load64(const void *p)
{
    return craft_load32(p) | (uint64_t)craft_load32((const uint8_t *)p + 4) << 32;
}

void craft_store32(void *p, uint32_t v)
{
    uint8_t *b = p;

    for (unsigned i = 0; i < 4; i++)
        b[i] = (uint8_t)(v >> 8 * i);
}

void craft_store64(void *p, uint64_t v)
{
    craft_store32(p, (uint32_t)v);
    craft_store32((uint8_t *)p + 4, (uint32_t)(v >> 32));
}

/* ---- Hashes ---- */

void craft_hash(uint8_t out[16], const void *bytes, uint64_t count)
{
    XXH128_hash_t h = XXH3_128bits(bytes, (size_t)count);

    craft_store64(out, h.low64);
    craft_store64(out + 8, h.high64);
}

void craft_page_sum(uint8_t out[16], const void *bytes, uint64_t count)
{
    unsigned __int128 sum = 0;

    for (uint64_t page = 0; page * PAGE < count; page++) {
        uint64_t left = count - page * PAGE;
        uint8_t tagged[24], hash[16];

        craft_hash(tagged, (const uint8_t *)bytes + page * PAGE, left < PAGE ? left : PAGE);
        craft_store64(tagged + 16, page);
        craft_hash(hash, tagged, sizeof tagged);
        sum += craft_load64(hash) + ((unsigned __int128)craft_load64(hash + 8) << 64);
    }
    craft_store64(out, (uint64_t)sum);
    craft_store64(out + 8, (uint64_t)(sum >> 64));
}

/* ---- Content ---- */

void craft_begin(struct craft *c, uint64_t vocabulary, uint64_t end_token, uint64_t begin_token)
{
    memset(c, 0, sizeof *c);
    c->vocabulary = vocabulary;
    c->end_token = end_token;
    c->begin_token = begin_token;
    c->width = vocabulary <= 65536 ? 2 : 4;
}

void craft_free(struct craft *c)
{
    for (unsigned i = 0; i < CRAFT_KINDS; i++)
        free(c->parts[i].bytes);
    for (unsigned i = 0; i < c->other_count; i++)
        free(c->others[i].text.bytes);
    free(c->tokens.bytes);
    free(c->before.bytes);
    free(c->index.bytes);
    memset(c, 0, sizeof *c);
}

void craft_input(struct craft *c, const char *path, uint64_t bytes, uint64_t rejects, uint8_t hash)
{
    struct craft_text *t = &c->parts[CRAFT_INPUTS];
    uint8_t hashes[16];

    append64(t, c->parts[CRAFT_INPUT_PATHS].count);
    append64(t, strlen(path));
    append64(t, bytes);
    append64(t, 0); /* documents and tokens: craft_document() counts */
    append64(t, 0);
    append64(t, rejects);
    memset(hashes, hash, sizeof hashes);
    append(t, hashes, sizeof hashes);
    append(&c->parts[CRAFT_INPUT_PATHS], path, strlen(path));
    c->inputs++;
}

static void put_token(struct craft *c, uint64_t id)
{
    uint8_t bytes[4];

    craft_store32(bytes, (uint32_t)id);
    append(&c->tokens, bytes, c->width);
}

static void put_origin(struct craft *c, const struct leat_origin *o, uint64_t tokens)
{
    static const uint8_t no_hash[16];
    uint64_t input = o ? o->input : LEAT_NONE, offset = o ? o->offset : 0;

    append64(&c->parts[CRAFT_ORIGINS], offset);
    append64(&c->parts[CRAFT_ORIGINS], input);
    if (input < c->last_input || (input == c->last_input && offset < c->last_offset))
        c->unordered = 1;
    c->last_input = input;
    c->last_offset = offset;
    if (input < c->inputs) {
        uint8_t *record = c->parts[CRAFT_INPUTS].bytes + 64 * input;

        craft_store64(record + 24, craft_load64(record + 24) + 1);
        craft_store64(record + 32, craft_load64(record + 32) + tokens);
    }
    append64(&c->parts[CRAFT_LINES], o && o->line > 0 ? o->line : LEAT_NONE);
    if (o && o->id)
        append(&c->parts[CRAFT_IDS], o->id, o->id_bytes);
    append64(&c->parts[CRAFT_ID_ENDS], c->parts[CRAFT_IDS].count);
    append(&c->parts[CRAFT_TEXT_HASHES], o && o->text_hash ? o->text_hash : no_hash, 16);
}

/* A byte per token; begin and end token have that of the id next to them. */
static void put_mask(struct craft *c, uint64_t count)
{
    struct craft_text *t = &c->parts[CRAFT_MASK];
    uint8_t first = c->mask && count > 0 ? c->mask[0] : 255, last = c->mask && count > 0 ? c->mask[count - 1] : 255;

    if (c->begin_token != LEAT_NONE)
        append(t, &first, 1);
    for (uint64_t i = 0; i < count; i++)
        append(t, c->mask ? &c->mask[i] : &first, 1);
    if (c->end_token != LEAT_NONE)
        append(t, &last, 1);
    c->mask = NULL;
}

void craft_document(struct craft *c, const uint32_t *ids, uint64_t count, const struct leat_origin *origin)
{
    uint64_t start = c->tokens.count / c->width;

    append64(&c->parts[CRAFT_DOCUMENTS], start);
    if (c->begin_token != LEAT_NONE)
        put_token(c, c->begin_token);
    put_mask(c, count);
    for (uint64_t i = 0; i < count; i++)
        put_token(c, ids[i]);
    if (c->end_token != LEAT_NONE)
        put_token(c, c->end_token);
    put_origin(c, origin, c->tokens.count / c->width - start);
    c->documents++;
}

void craft_text_document(struct craft *c, const char *text, const struct leat_origin *origin)
{
    uint64_t count = strlen(text);
    uint32_t *ids = calloc(count + 1, sizeof *ids);

    for (uint64_t i = 0; i < count; i++)
        ids[i] = (uint8_t)text[i];
    craft_document(c, ids, count, origin);
    free(ids);
}

void craft_pair(struct craft *c, const char *key, const char *value)
{
    struct craft_text *t = &c->parts[CRAFT_METADATA];

    append64(t, strlen(key));
    append64(t, strlen(value));
    append(t, key, strlen(key));
    append(t, value, strlen(value));
    c->pairs++;
}

void craft_tokenizer(struct craft *c, const char *name, const char *pattern, const char *file)
{
    struct craft_text *t = &c->parts[CRAFT_TOKENIZER];

    append64(t, strlen(name));
    append64(t, strlen(pattern));
    append64(t, file ? strlen(file) : 0);
    append64(t, file ? 2 : 1);
    append(t, name, strlen(name));
    append(t, pattern, strlen(pattern));
    if (file)
        append(t, file, strlen(file));
    craft_hash(c->fingerprint, t->bytes, t->count);
}

void craft_elsewhere(struct craft *c, const void *before, uint64_t count)
{
    c->must_understand = 1;
    append(&c->before, before, count);
    append64(&c->parts[CRAFT_TOKEN_FILE], count);
}

void craft_token_file(struct craft *c, const char *path)
{
    append(&c->parts[CRAFT_TOKEN_FILE], path, strlen(path));
}

void craft_other(struct craft *c, uint32_t kind, uint32_t flags, const void *bytes, uint64_t count)
{
    struct craft_other *o = &c->others[c->other_count++];

    o->kind = kind;
    o->flags = flags;
    append(&o->text, bytes, count);
}

/* ---- The index ---- */

/* By looking at all documents for each chunk: slow, and plainly right. */
static void make_directory(struct craft *c)
{
    for (uint64_t chunk = 0; chunk * CHUNK < c->tokens.count; chunk++) {
        uint64_t document = 0;

        while (document < c->documents &&
               craft_load64(c->parts[CRAFT_DOCUMENTS].bytes + 8 * document) * c->width < chunk * CHUNK)
            document++;
        append64(&c->parts[CRAFT_DIRECTORY], document);
    }
}

static void make_mask_pages(struct craft *c)
{
    const struct craft_text *mask = &c->parts[CRAFT_MASK];

    for (uint64_t at = 0; at < mask->count; at += PAGE) {
        uint64_t left = mask->count - at;
        uint8_t hash[16];

        craft_hash(hash, mask->bytes + at, left < PAGE ? left : PAGE);
        append(&c->parts[CRAFT_MASK_PAGES], hash, 4);
    }
}

/* Section number `slot` of the table, whose bytes go to the end of the index. */
static void put_section(struct craft *c, unsigned *slot, uint32_t kind, uint32_t flags, const struct craft_text *text,
                        uint64_t entry_bytes)
{
    uint8_t *entry;

    append_zeros(&c->index, (c->index.count + 63) / 64 * 64);
    entry = c->index.bytes + TABLE + 64 * (*slot)++;
    craft_store32(entry, kind);
    craft_store32(entry + 4, flags);
    craft_store64(entry + 8, c->index.count);
    craft_store64(entry + 16, text->count);
    craft_store64(entry + 24, entry_bytes ? text->count / entry_bytes : 1);
    append(&c->index, text->bytes, text->count);
}

static void put_sections(struct craft *c)
{
    static const uint64_t entry_bytes[CRAFT_KINDS] = { 0, 8, 8, 4, 64, 1, 16, 8, 8, 1, 0, 0, 1, 16, 0, 1, 4 };
    unsigned slot = 0, i = 0;

    for (uint32_t kind = 1; kind < CRAFT_COLUMN; kind++) {
        struct craft_text *t = &c->parts[kind];

        if (c->without >> kind & 1 || (kind == CRAFT_LINES && !c->store_lines) ||
            (kind == CRAFT_TOKENIZER && t->count == 0) ||
            ((kind == CRAFT_ID_ENDS || kind == CRAFT_IDS) && !c->store_ids) || (kind == CRAFT_METADATA && !c->pairs))
            continue;
        put_section(c, &slot, kind, kind == CRAFT_ORIGINS && !c->unordered ? 2 : 0, t, entry_bytes[kind]);
        if (kind == CRAFT_METADATA)
            craft_store64(c->index.bytes + TABLE + 64 * (slot - 1) + 24, c->pairs);
    }
    for (; i < c->other_count && c->others[i].kind < CRAFT_TEXT_HASHES; i++)
        put_section(c, &slot, c->others[i].kind, c->others[i].flags, &c->others[i].text, 1);
    if (c->store_hashes)
        put_section(c, &slot, CRAFT_TEXT_HASHES, 0, &c->parts[CRAFT_TEXT_HASHES], entry_bytes[CRAFT_TEXT_HASHES]);
    if (c->parts[CRAFT_TOKEN_FILE].count > 0 && !(c->without >> CRAFT_TOKEN_FILE & 1))
        put_section(c, &slot, CRAFT_TOKEN_FILE, 0, &c->parts[CRAFT_TOKEN_FILE], entry_bytes[CRAFT_TOKEN_FILE]);
    for (; i < c->other_count && c->others[i].kind < CRAFT_MASK; i++)
        put_section(c, &slot, c->others[i].kind, c->others[i].flags, &c->others[i].text, 1);
    if (c->store_mask && !(c->without >> CRAFT_MASK & 1))
        put_section(c, &slot, CRAFT_MASK, 1, &c->parts[CRAFT_MASK], entry_bytes[CRAFT_MASK]);
    if (c->store_mask)
        put_section(c, &slot, CRAFT_MASK_PAGES, 0, &c->parts[CRAFT_MASK_PAGES], entry_bytes[CRAFT_MASK_PAGES]);
    for (; i < c->other_count; i++)
        put_section(c, &slot, c->others[i].kind, c->others[i].flags, &c->others[i].text, 1);
    craft_store32(c->index.bytes + 108, slot);
}

void craft_index(struct craft *c)
{
    uint8_t *page;

    make_directory(c);
    append64(&c->parts[CRAFT_DOCUMENTS], c->tokens.count / c->width);
    for (uint64_t at = 0; at < c->tokens.count; at += PAGE)
        append(&c->parts[CRAFT_PAGES], "\0\0\0", 4);
    make_mask_pages(c);
    append_zeros(&c->index, PAGE);
    put_sections(c);
    page = c->index.bytes;
    memcpy(page, "leat\r\n\x1a\n", 8);
    craft_store32(page + 8, 1);
    craft_store32(page + 12, PAGE);
    craft_store64(page + 16, c->must_understand);
    craft_store64(page + 24, c->ignorable);
    craft_store64(page + 48, c->index.count);
    craft_store64(page + 56, c->tokens.count);
    craft_store64(page + 64, c->tokens.count / c->width);
    craft_store64(page + 72, c->documents);
    craft_store64(page + 80, c->vocabulary);
    craft_store64(page + 88, c->end_token);
    craft_store64(page + 96, c->begin_token);
    craft_store32(page + 104, (uint32_t)c->width);
    memcpy(page + 112, c->fingerprint, 16);
    craft_store64(page + 144, c->created);
    craft_repair(c, CRAFT_REPAIR_ALL);
}

uint64_t craft_entry(const struct craft *c, uint32_t kind)
{
    for (uint64_t at = TABLE; at < TABLE + 64 * 55; at += 64)
        if (craft_load32(c->index.bytes + at) == kind)
            return at;
    fprintf(stderr, "craft: no section %u\n", kind);
    exit(1);
}

uint64_t craft_place(const struct craft *c, uint32_t kind)
{
    return craft_load64(c->index.bytes + craft_entry(c, kind) + 8);
}

static void repair_tokens(struct craft *c)
{
    uint8_t *pages = c->index.bytes + craft_place(c, CRAFT_PAGES);

    for (uint64_t at = 0; at < c->tokens.count; at += PAGE) {
        uint64_t left = c->tokens.count - at;
        uint8_t hash[16];

        craft_hash(hash, c->tokens.bytes + at, left < PAGE ? left : PAGE);
        memcpy(pages + at / PAGE * 4, hash, 4);
    }
    craft_page_sum(c->index.bytes + 128, c->tokens.bytes, c->tokens.count);
}

static void repair_sums(struct craft *c)
{
    uint32_t count = craft_load32(c->index.bytes + 108);

    for (uint64_t at = TABLE; at < TABLE + 64 * (uint64_t)count && at < TABLE + 64 * 55; at += 64) {
        uint64_t offset = craft_load64(c->index.bytes + at + 8), bytes = craft_load64(c->index.bytes + at + 16);

        if (offset <= c->index.count && bytes <= c->index.count - offset)
            craft_page_sum(c->index.bytes + at + 32, c->index.bytes + offset, bytes);
    }
}

/* Bytes 64 to 108 of the header, cut to what the identity names, then the two sums, or three with a mask's. */
static void repair_identity(struct craft *c)
{
    uint8_t text[112], *page = c->index.bytes;
    int masked = c->store_mask && !(c->without >> CRAFT_MASK & 1);

    memcpy(text, page + 64, 40);
    craft_store64(text + 40, craft_load32(page + 104));
    memcpy(text + 48, page + 112, 16);
    memcpy(text + 64, page + 128, 16);
    memcpy(text + 80, page + craft_entry(c, CRAFT_DOCUMENTS) + 32, 16);
    if (masked)
        memcpy(text + 96, page + craft_entry(c, CRAFT_MASK) + 32, 16);
    craft_hash(page + 32, text, masked ? 112 : 96);
}

void craft_repair(struct craft *c, unsigned what)
{
    if (what & CRAFT_REPAIR_TOKENS)
        repair_tokens(c);
    if (what & CRAFT_REPAIR_SUMS)
        repair_sums(c);
    if (what & CRAFT_REPAIR_IDENTITY)
        repair_identity(c);
    if (what & CRAFT_REPAIR_HEADER)
        craft_hash(c->index.bytes + 4080, c->index.bytes, 4080);
}
