/* tokenizer_path.h: for the packer, which reads what lies beside a vocabulary: chat templates. */
#ifndef LEAT_TOKENIZER_PATH_H
#define LEAT_TOKENIZER_PATH_H

#include "leat_pack.h"

/* The path of the file that the tokenizer was read from; NULL: a built-in, or the tokenizer of a dataset. */
const char *tokenizer_path(const struct leat_tokenizer *t);

#endif
