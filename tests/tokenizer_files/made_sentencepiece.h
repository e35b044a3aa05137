/* made_sentencepiece.h: small tokenizer.model files of sentencepiece's BPE, for tests. */
#ifndef LEAT_TESTS_MADE_SENTENCEPIECE_H
#define LEAT_TESTS_MADE_SENTENCEPIECE_H

#include "t.h"

enum piece_type { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

struct made_piece {
    const char *text;
    enum piece_type type;
    float score;
};

/* One field of a ModelProto for each piece: text, score, type. `more`: what stands behind them; bpe_model[] at
 * least. */
static inline void write_model(const char *path, const struct made_piece *pieces, size_t count, const void *more,
                               size_t more_bytes)
{
    FILE *f = fopen(path, "wb");

    T_CHECK(f != NULL);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(pieces[i].text);
        uint8_t head[] = { 0x0a, (uint8_t)(length + 9), 0x0a, (uint8_t)length }, score[5] = { 0x15 };
        uint8_t tail[] = { 0x18, (uint8_t)pieces[i].type };
        uint32_t bits;

        memcpy(&bits, &pieces[i].score, sizeof bits);
        for (unsigned b = 0; b < 4; b++)
            score[1 + b] = (uint8_t)(bits >> 8 * b);
        fwrite(head, 1, sizeof head, f);
        fwrite(pieces[i].text, 1, length, f);
        fwrite(score, 1, sizeof score, f);
        fwrite(tail, 1, sizeof tail, f);
    }
    fwrite(more, 1, more_bytes, f);
    T_CHECK(!ferror(f) && fclose(f) == 0);
}

/* trainer_spec.model_type */
static const uint8_t bpe_model[] = { 0x12, 0x02, 0x18, 0x02 };

#endif
