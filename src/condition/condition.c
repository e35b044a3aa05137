/*
 * condition.c: reads a condition by the precedence of its operators into steps, as a calculator with a stack takes
 * them: the operands come before their operator. Evaluating goes once through the steps. Numbers lie on the stack;
 * there is only one truth value, since `and` and `or` skip their right operand if the left one decides.
 */
#include "condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_string.h"
#include "base/status.h"
#include "base/utf8.h"

#define BLANKS    " \t\r\n"
#define VALUE_END BLANKS "()"
#define FIELD_END VALUE_END "=!<>"

/* How strongly operators bind. The right operand of an operator is all that binds more strongly. */
enum level { LEVEL_OR, LEVEL_AND, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT };

/* Longer signs come before shorter ones. */
static const struct infix {
    char text[4];
    enum level level;
    char sign; /* of the step */
} infixes[] = { { "or", LEVEL_OR, 0 },         { "and", LEVEL_AND, 0 },       { "!=", LEVEL_COMPARISON, 5 },
                { "<=", LEVEL_COMPARISON, 3 }, { ">=", LEVEL_COMPARISON, 6 }, { "==", LEVEL_COMPARISON, 2 },
                { "=", LEVEL_COMPARISON, 2 },  { "<", LEVEL_COMPARISON, 1 },  { ">", LEVEL_COMPARISON, 4 },
                { "+", LEVEL_SUM, '+' },       { "-", LEVEL_SUM, '-' },       { "*", LEVEL_PRODUCT, '*' } };

/* The type of what was read. From TYPE_FIELD on, it is a number; a constant has no field. */
enum type { TYPE_CONDITION, TYPE_TEXT, TYPE_FIELD, TYPE_NUMBER, TYPE_CONSTANT };

struct expression {
    enum type type;
    const char *at; /* place in the text where it begins */
};

struct reader {
    const char *text, *at, *end, *option;
    struct condition *c;
    char *words; /* place of the next word */
    unsigned depth;
    bool in_value; /* true on the right of a sign */
    bool counts;   /* a condition may count as a number */
    enum leat_status status;
    struct leat_error *err;
};

#define AFTER                                                                                                          \
    "after a field comes = != < <= > >= or exists, after a condition and, or, or its end; a value with blanks or "     \
    "brackets stands in quotes"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Notes the first error, and ends reading. */
static enum type fail(struct reader *r, const char *at, const char *why)
{
    size_t place = utf8_characters((const uint8_t *)r->text, (size_t)(at - r->text)) + 1;

    why = *at == '&'   ? "write and instead of &&; a value with it stands in quotes"
          : *at == '|' ? "write or instead of ||; a value with it stands in quotes"
          : *at == '!' ? "write not instead of !"
                       : why;
    if (r->status == LEAT_OK)
        r->status = status_argument(r->err, r->option, "the condition \"%.200s\" is wrong at character %zu (%.40s): %s",
                                    r->text, place, *at ? at : "its end", why);
    r->at = r->end;
    return TYPE_CONDITION;
}

static enum type need_condition(struct reader *r, struct expression e)
{
    return e.type == TYPE_CONDITION
               ? e.type
               : fail(r, e.at, "compare this, or ask if it exists; a value of several words stands in quotes");
}

static struct condition_step *add_step(struct reader *r, enum condition_operation operation, char sign)
{
    struct condition_step *step = &r->c->steps[r->c->count++];

    *step = (struct condition_step) { .operation = operation, .sign = sign };
    return step;
}

/* Lets a condition, whose steps are the last ones, count as a number in a calculation. */
static void count_condition(struct reader *r, struct expression *e)
{
    if (!r->counts || e->type != TYPE_CONDITION || r->status != LEAT_OK)
        return;
    add_step(r, CONDITION_TRUTH, 0);
    e->type = TYPE_NUMBER;
}

static bool is_word(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0 && strcspn(at, FIELD_END) == strlen(word);
}

/* Skips blanks, and finds the operator that comes next; NULL if there is none. */
static const struct infix *find_infix(struct reader *r)
{
    r->at += strspn(r->at, BLANKS);
    for (const struct infix *x = infixes; x < infixes + sizeof infixes / sizeof *infixes; x++)
        if (x->level == LEVEL_COMPARISON ? strncmp(r->at, x->text, strlen(x->text)) == 0 : is_word(r->at, x->text))
            return x;
    return NULL;
}

static struct expression read_expression(struct reader *r, enum level level);

/* Reads a bracket, or `not` and what follows it. */
static enum type read_inner(struct reader *r, bool is_not)
{
    const char *at = r->at;
    struct expression e;

    if (++r->depth > CONDITION_DEPTH)
        return fail(r, at, "too many brackets or not within each other");
    r->at += is_not ? strlen("not") : 1;
    e = read_expression(r, is_not ? LEVEL_COMPARISON : LEVEL_OR);
    r->depth--;
    if (is_not) {
        add_step(r, CONDITION_NOT, 0);
        return need_condition(r, e);
    }
    if (*r->at != ')')
        return fail(r, *r->at ? r->at : at, *r->at ? AFTER : "this bracket is not closed");
    r->at++;
    return e.type == TYPE_TEXT ? fail(r, at, "a value with brackets stands in quotes") : e.type;
}

/* Adds a step for the word that lies at r->words, up to `end`, and was read at `at`. */
static enum type add_word(struct reader *r, const char *at, char *end, bool is_number)
{
    struct condition_step *step = add_step(r, CONDITION_NUMBER, 0);
    const char *word = r->words;

    *end = '\0';
    r->words = end + 1;
    step->bytes = (size_t)(end - word);
    if (is_number || r->in_value) {
        step->text = word;
        return is_number ? TYPE_CONSTANT : TYPE_TEXT;
    }
    step->field = word;
    if (strlen(word) < step->bytes)
        return fail(r, at, "the name of a field has no zero byte");
    find_infix(r);
    if (!is_word(r->at, "exists"))
        return TYPE_FIELD;
    r->at += strlen("exists");
    step->operation = CONDITION_EXISTS;
    return TYPE_CONDITION;
}

/* Reads a word in quotes, with the escapes of JSON. */
static enum type read_quoted(struct reader *r)
{
    const char *begin = r->at, *at = begin + 1;
    char *to = r->words;

    while (*at && *at != *begin) {
        bool is_code = at[1] == 'u' && strspn(at + 2, "0123456789abcdefABCDEF") >= 4;

        at += *at == '\\' && at[1] == '\''; /* a quote that JSON need not escape */
        if (*at == '\\' && !is_code && !json_escape_meaning(at[1]))
            return fail(r, at, "JSON has no such escape; in quotes, \\\\ is a backslash");
        to += json_take_bytes(&at, r->end, to);
    }
    if (!*at)
        return fail(r, begin, "this quote is not closed");
    r->at = at + 1;
    return add_word(r, begin, to, false);
}

static enum type read_bare(struct reader *r)
{
    static const char *const words[] = { "not", "exists", "true", "false", "null" };
    const char *at = r->at;
    size_t bytes = strcspn(at, r->in_value ? VALUE_END : FIELD_END);
    bool known = find_infix(r) != NULL;
    struct decimal unused;

    for (size_t i = 1; i < bytes; i++)
        if (at[i] == at[i - 1] && strchr("&|", at[i]))
            return fail(r, at + i - 1, NULL);
    if (bytes == 0)
        return fail(r, at, r->in_value ? "a value is missing; an empty one is \"\"" : "a field is missing");
    if (r->in_value && strchr("=<>", *at))
        return fail(r, at, "signs are = != < <= > >=, and a value that begins so stands in quotes");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        known = known || is_word(at, words[i]);
    if (known)
        return fail(r, at,
                    "and, or, not, exists, true, false, null, + - * stand in quotes, and are fields or strings then");
    memcpy(r->words, at, bytes);
    r->at += bytes;
    return add_word(r, at, r->words + bytes, decimal_read(&unused, at, bytes));
}

/* Joins two expressions, whose steps were added. */
static enum type join(struct reader *r, struct expression left, const struct infix *x, struct expression right)
{
    struct condition_step *step;

    if (x->level < LEVEL_COMPARISON) {
        need_condition(r, left);
        return need_condition(r, right);
    }
    if (x->level > LEVEL_COMPARISON) {
        if (left.type < TYPE_FIELD || right.type < TYPE_FIELD)
            return fail(r, left.type < TYPE_FIELD ? left.at : right.at,
                        "+ - * join numbers, and fields left of the sign; a value with blanks stands in quotes");
        add_step(r, CONDITION_CALCULATE, x->sign);
        return left.type == TYPE_CONSTANT && right.type == TYPE_CONSTANT ? TYPE_CONSTANT : TYPE_NUMBER;
    }
    if (left.type != TYPE_FIELD && left.type != TYPE_NUMBER)
        return fail(
            r, left.at,
            "left of a sign stands a field, in quotes if it is a number, or a sum of fields; and joins comparisons");
    if (right.type != TYPE_CONSTANT && (left.type != TYPE_FIELD || right.type != TYPE_TEXT))
        return fail(r, right.at, "a sum is compared with numbers; fields stand left of the sign");
    step = add_step(r, CONDITION_COMPARE, x->sign);
    if (left.type != TYPE_FIELD || step[-1].operation != CONDITION_NUMBER)
        return TYPE_CONDITION;
    step[-2] = (struct condition_step) { .operation = CONDITION_COMPARE,
                                         .sign = x->sign,
                                         .field = step[-2].field,
                                         .text = step[-1].text,
                                         .bytes = step[-1].bytes,
                                         .is_number = right.type == TYPE_CONSTANT };
    r->c->count -= 2; /* one step takes the place of three */
    return TYPE_CONDITION;
}

/* Reads an expression whose operators belong to this level, or bind more strongly. */
static struct expression read_expression(struct reader *r, enum level level)
{
    const struct infix *x = find_infix(r); /* the search for an operator skips blanks */
    struct expression e = { .at = r->at };

    if (*r->at == '(' || (!r->in_value && is_word(r->at, "not")))
        e.type = read_inner(r, *r->at != '(');
    else
        e.type = *r->at == '"' || *r->at == '\'' ? read_quoted(r) : read_bare(r);
    while ((x = find_infix(r)) && x->level >= level) {
        bool in_value = r->in_value;
        struct condition_step *decides = NULL;
        struct expression right;

        if (x->level >= LEVEL_COMPARISON)
            count_condition(r, &e);
        else
            decides = add_step(r, x->level == LEVEL_OR ? CONDITION_OR : CONDITION_AND, 0);
        r->at += strlen(x->text);
        r->in_value = in_value || x->level == LEVEL_COMPARISON;
        right = read_expression(r, x->level + 1);
        r->in_value = in_value;
        if (x->level > LEVEL_COMPARISON)
            count_condition(r, &right);
        if (decides)
            decides->end = r->c->count;
        if (r->status == LEAT_OK)
            e.type = join(r, e, x, right);
    }
    return e;
}

static enum leat_status read_all(struct condition **out, const char *text, bool counts, const char *option,
                                 struct leat_error *err)
{
    size_t bytes = strlen(text), steps = 2 * bytes + 2, words = 2 * bytes + 2; /* at most */
    struct reader r = { .text = text, .at = text, .end = text + bytes, .option = option, .counts = counts, .err = err };
    struct expression e;

    *out = NULL;
    if (bytes > CONDITION_BYTES)
        return status_argument(err, option, "a condition is longer than %zu bytes", CONDITION_BYTES);
    r.c = calloc(1, sizeof *r.c + steps * sizeof *r.c->steps + words);
    if (!r.c)
        return status_no_memory(err, steps * sizeof *r.c->steps);
    r.words = (char *)(r.c->steps + steps);
    e = read_expression(&r, LEVEL_OR);
    if (*r.at)
        fail(&r, r.at, AFTER);
    count_condition(&r, &e);
    if (!counts)
        need_condition(&r, e);
    else if (e.type < TYPE_FIELD)
        fail(&r, e.at, "a calculation is a number, a field, a condition, or a sum of these");
    if (r.status == LEAT_OK)
        *out = r.c;
    else
        free(r.c);
    return r.status;
}

enum leat_status condition_read(struct condition **out, const char *text, const char *option, struct leat_error *err)
{
    return read_all(out, text, false, option, err);
}

enum leat_status condition_read_number(struct condition **out, const char *text, const char *option,
                                       struct leat_error *err)
{
    return read_all(out, text, true, option, err);
}

/* ---- Evaluating -------------------------------------------------------------------------------------------------- */

/* The size of the stack. In each bracket, a sum and a product may wait for their right operands. */
#define STACK (2 * CONDITION_DEPTH + 4)

/* Evaluates a condition, or a calculation whose result goes to *number, unless that is NULL. */
static bool evaluate(const struct condition *c, condition_value *value, const void *of, struct decimal *number)
{
    struct decimal stack[STACK];
    bool known[STACK], holds = false; /* known[i] is true if stack[i] has a number */
    uint32_t top = 0;
    int order = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct condition_step *s = &c->steps[i];

        switch (s->operation) {
        case CONDITION_OR:
        case CONDITION_AND:
            i = holds == (s->operation == CONDITION_OR) ? s->end - 1 : i;
            break;
        case CONDITION_NOT:
            holds = !holds;
            break;
        case CONDITION_EXISTS:
            holds = value(of, s, NULL, NULL);
            break;
        case CONDITION_NUMBER:
            known[top] = s->field ? value(of, s, &stack[top], NULL) : decimal_read(&stack[top], s->text, s->bytes);
            top++;
            break;
        case CONDITION_CALCULATE:
            top--;
            known[top - 1] = known[top - 1] && known[top] && decimal_calculate(&stack[top - 1], s->sign, &stack[top]);
            break;
        case CONDITION_COMPARE:
            top -= s->field ? 0 : 2;
            holds = s->field ? value(of, s, NULL, &order) : known[top] && known[top + 1];
            if (holds && !s->field)
                order = decimal_compare(&stack[top], &stack[top + 1]);
            holds = holds && (s->sign & (order < 0 ? 1 : order == 0 ? 2 : 4));
            break;
        case CONDITION_TRUTH:
            known[top] = decimal_read(&stack[top], holds ? "1" : "0", 1);
            top++;
        }
    }
    if (!number)
        return holds;
    *number = stack[0];
    return known[0];
}

bool condition_holds(const struct condition *c, condition_value *value, const void *of)
{
    return evaluate(c, value, of, NULL);
}

bool condition_number(const struct condition *c, condition_value *value, const void *of, struct decimal *number)
{
    return evaluate(c, value, of, number);
}
