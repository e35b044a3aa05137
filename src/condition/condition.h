/*
 * condition.h: conditions on fields, "lang = en and (score >= 3 or not meta.url exists)".
 *
 *   FIELD = VALUE   also == (equal), != < <= > >=. A VALUE that is a JSON number is compared with numbers, exactly as
 *                   decimal numbers; any other, in quotes or bare, with strings, by their bytes
 *   SUM = SUM       of fields and numbers, with + - * and brackets; fields stand left of the sign only
 *   FIELD exists    it is there, and not null
 *   not, and, or    join these; `not` binds closest, `or` least, and brackets change that
 *
 * Blanks and brackets end a bare word, and signs a bare FIELD; with them, or as a word of the language, it stands in
 * quotes, double ones as in JSON or single ones. If a field is missing or of another type, or calculating takes more
 * than DECIMAL_DIGITS digits, a comparison does not hold (also with !=), and `not` of it does.
 *
 * A calculation, "1 + 3 * (score > 0.95)", is a sum in which a condition, in brackets or alone, counts as 1 if it
 * holds and as 0 if not.
 *
 * The room src/condition/ has this language and its numbers. What may enter: what reads and evaluates conditions. Where
 * the values of fields come from is not known here.
 */
#ifndef LEAT_CONDITION_CONDITION_H
#define LEAT_CONDITION_CONDITION_H

#include "decimal.h"
#include "leat.h"

#define CONDITION_BYTES ((size_t)4000) /* longest condition */
#define CONDITION_DEPTH 16u            /* limit of brackets and `not` within each other */

/* The operations of steps. CONDITION_NUMBER gives the number of a field, or a constant, and CONDITION_TRUTH 1 or 0 for
 * the condition before it. */
enum condition_operation {
    /* clang-format off */
    CONDITION_OR, CONDITION_AND, CONDITION_NOT, CONDITION_EXISTS, CONDITION_COMPARE, CONDITION_CALCULATE,
    CONDITION_NUMBER, CONDITION_TRUTH
    /* clang-format on */
};

/* A step of evaluating a condition. The steps of its operands come before it. */
struct condition_step {
    enum condition_operation operation;
    char sign;         /* CALCULATE: + - or *; COMPARE: the sum of 1 if it holds for less, 2 for equal, 4 for more */
    uint32_t end;      /* OR and AND: number of the step after the right operand */
    uint32_t number;   /* number of the field, which the caller sets */
    const char *field; /* field of NUMBER, EXISTS, and COMPARE with one value; NULL: none */
    const char *text;  /* constant of NUMBER, or value that COMPARE compares a field with; NULL: none */
    size_t bytes;      /* length of the text */
    bool is_number;    /* true for COMPARE of a field with a number */
};

struct condition {
    uint32_t count;
    struct condition_step steps[];
};

/* Reads a condition, which free() frees. Returns LEAT_E_ARGUMENT about `option`, with the place and the reason, if
 * it is wrong. */
enum leat_status condition_read(struct condition **out, const char *text, const char *option, struct leat_error *err);

/* Reads a calculation, as condition_read() reads a condition. */
enum leat_status condition_read_number(struct condition **out, const char *text, const char *option,
                                       struct leat_error *err);

/* Gets what a step with a field needs of a record or row `of`: whether the field exists, its *number, or its *order
 * (less than 0, 0 or more) compared with the step's text. Returns false if the field is missing or of another type. */
typedef bool condition_value(const void *of, const struct condition_step *step, struct decimal *number, int *order);

/* Returns true if the condition holds. */
bool condition_holds(const struct condition *c, condition_value *value, const void *of);

/* Computes a calculation. Returns false if a field that it needs has no number. */
bool condition_number(const struct condition *c, condition_value *value, const void *of, struct decimal *number);

#endif
