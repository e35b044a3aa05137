/* pretokenizer_internal.h: what pretokenizer_make.c makes of a spec's list, and pretokenizer.c runs: steps. */
#ifndef LEAT_TOKENIZER_PRETOKENIZER_INTERNAL_H
#define LEAT_TOKENIZER_PRETOKENIZER_INTERNAL_H

#include "pretokenizer.h"
#include "tokenizer/unicode/byte_alphabet.h"

/* A change of the text comes before the splitter of its step. */
enum change {
    CHANGE_NOTHING,
    CHANGE_PREFIX,    /* a space, unless the text begins with one */
    CHANGE_METASPACE, /* spaces become the mark, and a mark may be put before */
    CHANGE_BYTES      /* bytes become characters of the byte alphabet, since steps follow that see them */
};

struct step {
    enum change change;
    bool splits;
    struct splitter splitter;
    struct pattern *pattern;               /* owned */
    const struct spec_pre_tokenizer *spec; /* of CHANGE_METASPACE */
};

struct pretokenizer {
    struct step *steps;
    uint32_t count;
    bool unmaps; /* pretokens come out as characters of the byte alphabet, and the model wants bytes */
    struct byte_alphabet alphabet;
};

#endif
