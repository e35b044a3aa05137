/*
 * fuzz_condition.c: any bytes as a condition: it is read, or refused with a reason; its steps jump forwards; brackets
 * around it change nothing, `not` turns it round, and `and` and `or` join it with others as truth values. And two
 * numbers: sums and products do not depend on the order, and a difference undoes a sum.
 *
 * The input is the condition, up to a zero byte, then two numbers with a zero byte between them. The values of fields
 * depend on their names and on the length of the condition.
 */
#include "condition/condition.h"
#include "fuzz.h"

static const char *const numbers[] = { "0", "-1", "3.5", "1e400", "-2e-400", "99999999999999999999", "", "1" };

static bool get(const void *of, const struct condition_step *step, struct decimal *number, int *order)
{
    uint64_t random = *(const uint64_t *)of;
    const char *text;

    FUZZ_CHECK((order != NULL) == (step->operation == CONDITION_COMPARE));
    FUZZ_CHECK((number != NULL) == (step->operation == CONDITION_NUMBER));
    for (const char *name = step->field; *name; name++)
        random = random * 31 + (uint8_t)*name;
    text = numbers[fuzz_random(&random) % (sizeof numbers / sizeof *numbers)];
    if (order)
        *order = (int)strlen(text) - (int)step->bytes;
    return number ? decimal_read(number, text, strlen(text)) : *text != '\0';
}

static bool evaluate(const struct condition *c, const uint64_t *random)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct condition_step *s = &c->steps[i];

        FUZZ_CHECK(s->operation > CONDITION_AND || (s->end > i + 1 && s->end <= c->count));
        FUZZ_CHECK(!s->text || strlen(s->text) <= s->bytes);
    }
    return condition_holds(c, get, random);
}

/* Reads a condition with texts around it, which must be one, and returns whether it holds. */
static bool holds(const char *before, const char *text, const char *after, const uint64_t *random)
{
    size_t room = strlen(before) + strlen(text) + strlen(after) + 1;
    char *all = malloc(room);
    struct condition *c;
    bool result;

    FUZZ_CHECK(all);
    snprintf(all, room, "%s%s%s", before, text, after);
    FUZZ_CHECK(condition_read(&c, all, "where", NULL) == LEAT_OK);
    result = evaluate(c, random);
    free(c);
    free(all);
    return result;
}

static void check_condition(const char *text)
{
    struct leat_error err = { .message = "" };
    uint64_t random = strlen(text);
    unsigned depth = 3; /* at most */
    struct condition *c;
    enum leat_status s = condition_read(&c, text, "where", &err);
    bool result;

    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_ARGUMENT && !c && !strcmp(err.field, "where") && err.message[0]));
    if (s != LEAT_OK)
        return;
    result = evaluate(c, &random);
    free(c);
    for (const char *at = text; *at; at++)
        depth += *at == '(' || strncmp(at, "not", 3) == 0;
    if (depth > CONDITION_DEPTH || strlen(text) > CONDITION_BYTES - 40)
        return;
    FUZZ_CHECK(holds(" ( ", text, ")\t", &random) == result);
    FUZZ_CHECK(holds("not(", text, ")", &random) == !result);
    FUZZ_CHECK(holds("", text, " and 'a b' exists", &random) == (result && holds("", "'a b' exists", "", &random)) ||
               strstr(text, "or"));
    FUZZ_CHECK(holds("\"a\" < 1 or (", text, ")", &random) == (result || holds("a<1", "", "", &random)));
    FUZZ_CHECK(holds("not not(", text, ") and b = c", &random) == (result && holds("b", "=", "'c'", &random)));
}

static bool same(const struct decimal *a, const struct decimal *b)
{
    return decimal_compare(a, b) == 0 && a->count == b->count && (a->count == 0 || a->exponent == b->exponent);
}

static void check_numbers(const struct decimal *a, const struct decimal *b)
{
    for (const char *sign = "+*"; *sign; sign++) {
        struct decimal left = *a, right = *b;
        bool known = decimal_calculate(&left, *sign, b);

        FUZZ_CHECK(decimal_calculate(&right, *sign, a) == known);
        FUZZ_CHECK(!known || same(&left, &right));
        FUZZ_CHECK(!known || left.count == 0 || (left.digits[0] != '0' && left.digits[left.count - 1] != '0'));
        FUZZ_CHECK(!known || *sign != '+' || !decimal_calculate(&left, '-', b) || same(&left, a));
    }
}

FUZZ_TARGET(condition)
{
    char *text = malloc(size + 3), *second, *third;
    struct decimal a, b;

    FUZZ_CHECK(text);
    memcpy(text, data, size);
    memset(text + size, 0, 3);
    second = text + strlen(text) + 1;
    third = second <= text + size ? second + strlen(second) + 1 : second;
    check_condition(text);
    if (third <= text + size && decimal_read(&a, second, strlen(second)) && decimal_read(&b, third, strlen(third)))
        check_numbers(&a, &b);
    free(text);
    return 0;
}
