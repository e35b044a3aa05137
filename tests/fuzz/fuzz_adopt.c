/*
 * fuzz_adopt.c: leat_adopt() that finds a hostile NAME.partial.adopt.
 *
 * The state is that of a run that was stopped after half of the file. The first byte says how it is repaired after each
 * further pair of two bytes and one has changed a byte of it, or after it was cut. The call returns. Without repairs
 * it makes the index that an undisturbed run makes, or refuses the state; with repairs, the state may say anything, and
 * whatever index is made of it can be opened and verified, or is refused.
 */
#include "base/bytes.h"
#include "checksum/checksum.h"
#include "files.h"

/* The first byte. */
enum { CUT = 1, REPAIR_FIRST = 2, REPAIR_SECOND = 4 };

#define TOKENS 30000u /* 58.6 pages */
#define SLOT   80u
#define HASHES 4096u
#define ROOM   16384u

static uint8_t state[ROOM], whole[ROOM];
static size_t state_size, whole_size;

static size_t read_file(const char *name, uint8_t *to)
{
    FILE *f = fopen(files_path(name), "rb");
    size_t got = f ? fread(to, 1, ROOM, f) : 0;

    FUZZ_CHECK(f && got > 0 && got < ROOM);
    fclose(f);
    return got;
}

static uint32_t stop_at_half(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    return done >= total / 2;
}

static enum leat_status adopt(uint32_t (*progress)(void *, uint64_t, uint64_t), struct leat_error *err)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;
    char name[600];

    o.progress = progress;
    o.end_token = 7;
    o.force = 1;
    snprintf(name, sizeof name, "raw:%s?dtype=u16", files_path("t.bin"));
    return leat_adopt(name, &o, NULL, err);
}

static void begin(void)
{
    static uint8_t tokens[2 * TOKENS]; /* the high bytes stay 0 */

    for (unsigned i = 0; i < TOKENS; i++)
        tokens[2 * i] = (uint8_t)(i % 97);
    files_write("t.bin", tokens, sizeof tokens);
    FUZZ_CHECK(adopt(NULL, NULL) == LEAT_OK);
    whole_size = read_file("t.bin.leat", whole);
    FUZZ_CHECK(adopt(stop_at_half, NULL) == LEAT_E_STOPPED);
    state_size = read_file("t.bin.partial.adopt", state);
    FUZZ_CHECK(state_size > HASHES);
}

static void repair(uint8_t *slot)
{
    bytes_store64(slot + SLOT - 8, checksum_kernels()->hash(slot, SLOT - 8).low);
}

/* Returns its size. */
static size_t change_state(struct fuzz_bytes *in, uint8_t repairs, uint8_t *changed)
{
    size_t size = repairs & CUT ? fuzz_u16(in) % (state_size + 1) : state_size;

    memcpy(changed, state, state_size);
    while (in->left >= 3) {
        uint16_t at = fuzz_u16(in);

        /* most of what lies before the hashes is padding */
        at = at & 1 ? (uint16_t)(at / 2 % (2 * SLOT)) : (uint16_t)(HASHES + at / 2 % (state_size - HASHES));
        changed[at] ^= fuzz_u8(in);
    }
    if (repairs & REPAIR_FIRST)
        repair(changed);
    if (repairs & REPAIR_SECOND)
        repair(changed + SLOT);
    return size;
}

static void look(void)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_error err;

    options.threads = 1;
    if (leat_dataset_open(&d, files_path("t.bin"), NULL, &err) == LEAT_OK) {
        leat_dataset_verify(d, &options, NULL, &err);
        leat_dataset_close(d);
    }
}

FUZZ_TARGET(adopt)
{
    struct fuzz_bytes in = { data, size };
    uint8_t changed[ROOM], index[ROOM], repairs = fuzz_u8(&in);
    struct leat_error err = { 0 };
    enum leat_status s;
    size_t count;

    if (files_begin())
        begin();
    count = change_state(&in, repairs, changed);
    files_write("t.bin.partial.adopt", changed, count);
    s = adopt(NULL, &err);
    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_CHECKPOINT && err.status == s && err.message[0]));
    if (s == LEAT_OK && !(repairs & (REPAIR_FIRST | REPAIR_SECOND))) {
        count = read_file("t.bin.leat", index);
        FUZZ_CHECK(count == whole_size && memcmp(index, whole, count) == 0);
    }
    look();
    return 0;
}
