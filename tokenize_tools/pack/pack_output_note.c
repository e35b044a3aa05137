/*
 * pack_output_note.c: the note of a checkpoint, which says where the packer stood: written and read here only.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "pack_by.h"
#include "pack_output.h"

static const char magic[8] = { 'l', 'e', 'a', 't', 'p', 'k', '0', '8' };

/* The numbers of a position, in the order of the note. */
#define POSITION_NUMBERS 22
static void numbers_of(struct pack_position *p, uint64_t *numbers[POSITION_NUMBERS])
{
    uint64_t *all[POSITION_NUMBERS] = {
        &p->input,    &p->offset,         &p->mark.raw_offset, &p->mark.text_offset, &p->declared,
        &p->lines,    &p->input_rejects,  &p->sum.low,         &p->sum.high,         &p->reject_bytes,
        &p->rejects,  &p->text_bytes,     &p->special_strings, &p->damaged_inputs,   &p->replaced,
        &p->not_json, &p->reject_sum.low, &p->reject_sum.high, &p->kept_out,         &p->damaged,
        &p->lost,     &p->row_groups,
    };

    memcpy(numbers, all, sizeof all);
}

#define POSITION_BYTES (8 + 8 * (POSITION_NUMBERS + 1) + 16)

static void store_position(uint8_t note[POSITION_BYTES], const struct pack_position *p)
{
    struct pack_position copy = *p;
    uint64_t *numbers[POSITION_NUMBERS];

    numbers_of(&copy, numbers);
    memcpy(note, magic, sizeof magic);
    for (unsigned i = 0; i < POSITION_NUMBERS; i++)
        bytes_store64(note + 8 + 8 * i, *numbers[i]);
    bytes_store64(note + 8 + 8 * POSITION_NUMBERS, p->disk_bytes);
    memcpy(note + 16 + 8 * POSITION_NUMBERS, p->mark.sum, sizeof p->mark.sum);
}

static void load_position(struct pack_position *p, const uint8_t *note)
{
    uint64_t *numbers[POSITION_NUMBERS];

    numbers_of(p, numbers);
    for (unsigned i = 0; i < POSITION_NUMBERS; i++)
        *numbers[i] = bytes_load64(note + 8 + 8 * i);
    p->disk_bytes = bytes_load64(note + 8 + 8 * POSITION_NUMBERS);
    memcpy(p->mark.sum, note + 16 + 8 * POSITION_NUMBERS, sizeof p->mark.sum);
}

/* The position; the number of inputs with malformed text, each with its count; what is wrong with the first damaged
 * input, and what the dataset will say of all, each with a zero byte after it; the number of paths, each path likewise;
 * the values that documents carry, likewise; the program's note. */
enum leat_status pack_output_make_note(const struct pack_output *o, struct buffer *note, struct leat_error *err)
{
    uint64_t count = o->paths ? o->at.declared : 0;
    size_t pairs = POSITION_BYTES + 8, damage = pairs + 16 * o->replaced_inputs;
    uint8_t number[8];
    enum leat_status s = buffer_reserve(note, damage, err);

    if (s != LEAT_OK)
        return s;
    store_position(note->bytes, &o->at);
    bytes_store64(note->bytes + POSITION_BYTES, o->replaced_inputs);
    for (size_t i = 0; i < o->replaced_inputs; i++) {
        bytes_store64(note->bytes + pairs + 16 * i, o->replaced_in[i].input);
        bytes_store64(note->bytes + pairs + 16 * i + 8, o->replaced_in[i].count);
    }
    note->size = damage;
    bytes_store64(number, count);
    s = buffer_append(note, o->damage, strlen(o->damage) + 1, err);
    if (s == LEAT_OK)
        s = damage_list_write(&o->damages, note, err);
    if (s == LEAT_OK)
        s = buffer_append(note, number, sizeof number, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = buffer_append(note, o->paths[i], strlen(o->paths[i]) + 1, err);
    for (size_t i = 0; s == LEAT_OK && i < o->values.count; i++)
        s = buffer_append(note, o->values.items[i], strlen(o->values.items[i]) + 1, err);
    return s == LEAT_OK ? buffer_append(note, o->note, o->note_bytes, err) : s;
}

/* Moves *at past the list; at least 8 bytes are left there. */
static bool load_replaced(struct pack_output *o, const uint8_t **at, const uint8_t *end)
{
    uint64_t count = bytes_load64(*at);

    *at += 8;
    if (count > (uint64_t)(end - *at - 8) / 16)
        return false;
    o->replaced_in = count > 0 ? calloc((size_t)count, sizeof *o->replaced_in) : NULL;
    if (count > 0 && !o->replaced_in)
        return false;
    for (o->replaced_inputs = 0; o->replaced_inputs < count; o->replaced_inputs++, *at += 16)
        o->replaced_in[o->replaced_inputs] = (struct pack_replaced) { bytes_load64(*at), bytes_load64(*at + 8) };
    return true;
}

/* Moves *at past both; at least 8 bytes are left there. */
static bool load_damage(struct pack_output *o, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *zero = memchr(*at, 0, (size_t)(end - *at)), *list = zero ? zero + 1 : NULL;
    const uint8_t *last = list ? memchr(list, 0, (size_t)(end - list)) : NULL;

    if (!last || (size_t)(zero - *at) >= sizeof o->damage || end - last < 9)
        return false;
    memcpy(o->damage, *at, (size_t)(zero - *at) + 1);
    *at = last + 1;
    return damage_list_read(&o->damages, (const char *)list, NULL) == LEAT_OK &&
           o->damages.count == o->at.damaged_inputs;
}

bool pack_output_load_note(struct pack_output *o, const void *note, size_t bytes, const void **own, size_t *own_bytes)
{
    const uint8_t *at = note, *end = at + bytes;
    uint64_t count;

    if (bytes < POSITION_BYTES + 16 || memcmp(at, magic, sizeof magic) != 0)
        return false;
    load_position(&o->at, at);
    at += POSITION_BYTES;
    if (!load_replaced(o, &at, end) || !load_damage(o, &at, end))
        return false;
    count = bytes_load64(at);
    at += 8;
    if ((count > 0 && count != o->at.declared) || count > bytes)
        return false;
    o->paths = count > 0 ? calloc((size_t)count, sizeof *o->paths) : NULL;
    for (uint64_t i = 0; o->paths && i < count; i++) {
        const uint8_t *zero = memchr(at, 0, (size_t)(end - at));

        o->paths[i] = zero ? strdup((const char *)at) : NULL;
        if (!o->paths[i])
            return false;
        at = zero + 1;
    }
    if (o->field && !pack_by_load(o, at, end))
        return false;
    *own = at;
    *own_bytes = (size_t)(end - at);
    return count == 0 || o->paths;
}
