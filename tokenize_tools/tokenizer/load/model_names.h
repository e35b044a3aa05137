/*
 * model_names.h: names of models that people give where the name of a vocabulary is wanted, and whose vocabulary they
 * use. For sentences only: a name of this table opens nothing.
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
