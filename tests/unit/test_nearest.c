/*
 * test_nearest.c: a mistyped word finds the one that was meant; a word that is no typo finds none: "remove" once found
 * "decode", "list" found "fit", and "3" found "2".
 */
#include "t.h"
#include "base/nearest.h"

static const char *const words[] = { "adopt",
                                     "cat",
                                     "decode",
                                     "encode",
                                     "export",
                                     "fit",
                                     "import",
                                     "info",
                                     "merge",
                                     "order",
                                     "pack",
                                     "pull",
                                     "push",
                                     "show",
                                     "status",
                                     "trace",
                                     "verify",
                                     "document",
                                     "documents-sequential",
                                     "json",
                                     "max-rejects",
                                     "parts",
                                     "threads",
                                     "tokenizer",
                                     "2" };
#define WORDS (sizeof words / sizeof words[0])

/* What is offered for the word; "": nothing. */
static const char *offered(const char *word)
{
    const char *best = words[0];

    for (size_t i = 1; i < WORDS; i++)
        if (nearest_distance(word, words[i]) < nearest_distance(word, best))
            best = words[i];
    return nearest_is_near(word, best, nearest_distance(word, best)) ? best : "";
}

static const struct {
    const char *written, *meant; /* "": none of the words */
} rows[] = {
    /* a letter that is missing, wrong or too many, or two that are swapped */
    { "inf", "info" },
    { "infos", "info" },
    { "ino", "info" },
    { "sho", "show" },
    { "cta", "cat" },
    { "fi", "fit" },
    { "ft", "fit" },
    { "stats", "status" },
    { "mrege", "merge" },
    { "vreify", "verify" },
    { "ncode", "encode" },
    { "jsn", "json" },
    { "thread", "threads" },
    { "max-reject", "max-rejects" },
    /* two of them in a longer word, three in a long one */
    { "docment", "document" },
    { "dokuments", "document" },
    { "tokeniser", "tokenizer" },
    { "tokinezer", "tokenizer" },
    { "max-rejcets", "max-rejects" },
    { "documents-seqential", "documents-sequential" },
    /* a word's beginning */
    { "or", "order" },
    { "tok", "tokenizer" },
    { "verif", "verify" },
    { "documents-s", "documents-sequential" },
    /* other words */
    { "remove", "" },
    { "list", "" },
    { "ls", "" },
    { "dump", "" },
    { "pages", "" },
    { "report", "" },
    { "upload", "" },
    { "create", "" },
    { "delete", "" },
    { "foo", "" },
    { "frobnicate", "" },
    { "verbose", "" },
    { "x", "" },
    { "3", "" },
    { "", "" },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        T_STR(offered(rows[i].written), rows[i].meant);
    return t_end();
}
