/*
 * model_names.h: names of models that users give instead of the name of a vocabulary, and the vocabulary that each
 * uses. For sentences only: no name in this table opens anything.
 */
#ifndef LEAT_TOKENIZER_MODEL_NAMES_H
#define LEAT_TOKENIZER_MODEL_NAMES_H

struct model_name {
    const char *name;       /* small letters and digits */
    const char *builtin;    /* its built-in vocabulary, or NULL: */
    const char *repository; /* whose tokenizer.json has its vocabulary, on the Hugging Face hub */
};

/* The row of a model's name, however it is written and whatever follows: gpt4o for "GPT-4o-mini". NULL if no row is
 * meant; a name with a '/' is a path or an id, and never is. */
const struct model_name *model_name_find(const char *name);

#endif
