/* pack_fit.h: whether a tokenizer fits the texts of a sample: a wrong one shows before a night has gone into it. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_FIT_H
#define LEAT_TOKENIZE_TOOLS_PACK_FIT_H

#include "pack_sample.h"

struct pack_fit {
    double bytes_per_token; /* of text, without begin and end tokens; 0: there are too few to say */
    double unknown;         /* share of the tokens that stand for what the vocabulary does not have */
};

void pack_fit_measure(struct pack_fit *fit, const struct pack_sample *sample, const struct leat_pack_options *options);

/* Says on stderr what looks wrong. */
void pack_fit_say(const struct pack_fit *fit, const char *tokenizer);

#endif
