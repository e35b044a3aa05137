/* adopt_state.c: see adopt_state.h. A save syncs the hashes before the slot, so a valid slot's hashes are there. */
#include "adopt_state.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"

#define SLOT_BYTES 80u
#define HASHES_AT  4096u

static const uint8_t magic[8] = { 'l', 'e', 'a', 't', 'a', 'd', 'p', '2' };

/* A slot: magic; number; pages; facts; sum; hash sum; the low half of the XXH3-128 of these 72 bytes. */
static void store_slot(const struct adopt_state *a, uint8_t slot[SLOT_BYTES])
{
    memcpy(slot, magic, sizeof magic);
    bytes_store64(slot + 8, a->number);
    bytes_store64(slot + 16, a->pages);
    checksum_store(slot + 24, a->facts);
    checksum_store(slot + 40, a->sum);
    checksum_store(slot + 56, a->hash_sum);
    bytes_store64(slot + 72, checksum_kernels()->hash(slot, 72).low);
}

/* Takes a slot if it is valid, of the same facts, and newer. */
static void take_slot(struct adopt_state *a, const uint8_t slot[SLOT_BYTES], uint64_t size)
{
    uint64_t number = bytes_load64(slot + 8), pages = bytes_load64(slot + 16), bytes, end;

    if (memcmp(slot, magic, sizeof magic) != 0 || bytes_load64(slot + 72) != checksum_kernels()->hash(slot, 72).low ||
        !checksum_equal(checksum_load(slot + 24), a->facts) || number <= a->number ||
        !bytes_multiply(pages, 4, &bytes) || !bytes_add(bytes, HASHES_AT, &end) || end > size)
        return;
    a->number = number;
    a->pages = pages;
    a->sum = checksum_load(slot + 40);
    a->hash_sum = checksum_load(slot + 56);
}

enum leat_status adopt_state_open(struct adopt_state *a, const char *path, struct hash128 facts, struct leat_error *err)
{
    uint8_t slots[2][SLOT_BYTES];
    enum leat_status s;
    uint64_t size = 0;

    *a = (struct adopt_state) { .path = path, .fd = -1, .facts = facts };
    s = own_file_open(&a->fd, &size, path, OWN_FILE_WRITE, err);
    if (s == LEAT_E_NO_FILE)
        return file_create(&a->fd, path, err);
    if (s != LEAT_OK || size < HASHES_AT)
        return s;
    s = file_read_at(a->fd, 0, slots, sizeof slots, path, err);
    for (unsigned i = 0; s == LEAT_OK && i < 2; i++)
        take_slot(a, slots[i], size);
    /* slots of other facts must not count again: what they speak of is overwritten from now on */
    if (s == LEAT_OK && a->number == 0)
        s = file_truncate(a->fd, 0, path, err);
    return s;
}

enum leat_status adopt_state_add(struct adopt_state *a, const uint32_t *hashes, uint64_t pages, struct leat_error *err)
{
    enum leat_status s = file_write_at(a->fd, HASHES_AT + 4 * a->pages, hashes, 4 * pages, a->path, err);

    checksum_kernels()->pages(&a->hash_sum, hashes, (size_t)(4 * pages), a->pages, NULL);
    a->pages += pages;
    return s;
}

enum leat_status adopt_state_save(struct adopt_state *a, struct leat_error *err)
{
    enum leat_status s = file_sync(a->fd, a->path, err);
    uint8_t slot[SLOT_BYTES];

    if (s != LEAT_OK)
        return s;
    a->number++;
    store_slot(a, slot);
    s = file_write_at(a->fd, (a->number % 2) * SLOT_BYTES, slot, sizeof slot, a->path, err);
    return s == LEAT_OK ? file_sync(a->fd, a->path, err) : s;
}

enum leat_status adopt_state_read(const struct adopt_state *a, uint64_t page, uint8_t *hashes, uint64_t pages,
                                  struct hash128 *hash_sum, struct leat_error *err)
{
    enum leat_status s = file_read_at(a->fd, HASHES_AT + 4 * page, hashes, 4 * pages, a->path, err);

    if (s == LEAT_OK)
        checksum_kernels()->pages(hash_sum, hashes, (size_t)(4 * pages), page, NULL);
    return s;
}
