/*
 * ptx_read.c: see ptx.h. A line of the text is a directive, a label or an instruction, as nvcc writes them. What an
 * instruction's name says of its operands is checked here, once: how many there are, and how wide their registers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_reader.h"

#define MAX_LINE 256

static const struct {
    const char *name;  /* without types */
    const char *types; /* the letters of those that it has; p: .pred */
    enum ptx_code code;
    enum width widths[PTX_OPERANDS];
} table[] = {
    { "add", "us", PTX_ADD, { TYPE, TYPE, TYPE, NONE } },
    { "and", "bp", PTX_AND, { TYPE, TYPE, TYPE, NONE } },
    { "bfi", "b", PTX_BFI, { TYPE, TYPE, TYPE, WORD, WORD } },
    { "bra", "", PTX_BRA, { NONE } },
    { "bra.uni", "", PTX_BRA, { NONE } },
    { "clz", "b", PTX_CLZ, { WORD, TYPE, NONE } },
    { "cvt", "us", PTX_CVT, { AT_LEAST, FROM_AT_LEAST, NONE } },
    { "cvta.to.global", "u", PTX_CVTA, { TYPE, TYPE, NONE } },
    { "div", "us", PTX_DIV, { TYPE, TYPE, TYPE, NONE } },
    { "ld.global", "busf", PTX_LD_GLOBAL, { AT_LEAST, ADDRESS, NONE } },
    { "ld.param", "bus", PTX_LD_PARAM, { AT_LEAST, ADDRESS, NONE } },
    { "mad.lo", "us", PTX_MAD, { TYPE, TYPE, TYPE, TYPE, NONE } },
    { "min", "us", PTX_MIN, { TYPE, TYPE, TYPE, NONE } },
    { "mov", "buspf", PTX_MOV, { TYPE, TYPE, NONE } },
    { "mul.lo", "us", PTX_MUL, { TYPE, TYPE, TYPE, NONE } },
    { "mul.rn", "f", PTX_MUL_FLOAT, { TYPE, TYPE, TYPE, NONE } }, /* plain mul.f32 may be fused with a sum */
    { "mul.wide", "us", PTX_MUL_WIDE, { DOUBLE, TYPE, TYPE, NONE } },
    { "not", "bp", PTX_NOT, { TYPE, TYPE, NONE } },
    { "or", "bp", PTX_OR, { TYPE, TYPE, TYPE, NONE } },
    { "popc", "b", PTX_POPC, { WORD, TYPE, NONE } },
    { "ret", "", PTX_RET, { NONE } },
    { "selp", "bus", PTX_SELP, { TYPE, TYPE, TYPE, PREDICATE, NONE } },
    { "setp", "bus", PTX_SETP, { PREDICATE, TYPE, TYPE, NONE } },
    { "shl", "b", PTX_SHL, { TYPE, TYPE, WORD, NONE } },
    { "shr", "bus", PTX_SHR, { TYPE, TYPE, WORD, NONE } },
    { "st.global", "busf", PTX_ST_GLOBAL, { ADDRESS, AT_LEAST, NONE } },
    { "st.global.cs", "bus", PTX_ST_GLOBAL, { ADDRESS, AT_LEAST, NONE } },
    { "sub", "us", PTX_SUB, { TYPE, TYPE, TYPE, NONE } },
    { "xor", "bp", PTX_XOR, { TYPE, TYPE, TYPE, NONE } },
};

/* ---- Instructions ---- */

/* Operands between commas; braces only join those of a vector. */
static unsigned split(char *text, char *parts[2 * PTX_OPERANDS])
{
    unsigned count = 0;

    while (*(text += strspn(text, ", \t{};")) && count < 2 * PTX_OPERANDS) {
        parts[count++] = text;
        text += strcspn(text, ", \t{};");
        if (*text)
            *text++ = '\0';
    }
    return count;
}

static bool read_operands(struct reader *r, struct ptx_instruction *x, const enum width *widths, char *const *parts,
                          unsigned count)
{
    unsigned used = 0;
    bool store = x->code == PTX_ST_GLOBAL;

    for (unsigned i = 0; i < PTX_OPERANDS && widths[i] != NONE; i++) {
        unsigned repeat = widths[i] == AT_LEAST && x->code != PTX_CVT ? x->vector : 1;

        for (unsigned k = 0; k < repeat; k++, used++) {
            unsigned bits = 0;

            if (used == count)
                return wrong(r, "an operand is missing");
            if (widths[i] == ADDRESS) {
                if (!ptx_read_address(r, parts[used], x, &x->operands[used]))
                    return false;
                continue;
            }
            if (!ptx_read_operand(r, parts[used], &x->operands[used], &bits))
                return false;
            if (used == 0 && !store && x->operands[0].kind != PTX_REGISTER)
                return wrong(r, "%s cannot be written", parts[0]);
            if (bits ? !ptx_fits(x, widths[i], bits) : widths[i] == PREDICATE)
                return wrong(r, "%s has %u bits, which its instruction does not take", parts[used], bits);
        }
    }
    return used == count || wrong(r, "there are too many operands");
}

static bool read_comparison(const char *text, enum ptx_compare *compare)
{
    static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *compare = (enum ptx_compare)i;
            return true;
        }
    return false;
}

/* Takes the last part of a dotted name away; "" if there is none. */
static char *take_last(char *name)
{
    char *dot = strrchr(name, '.');

    if (!dot)
        return name + strlen(name);
    *dot = '\0';
    return dot + 1;
}

/* "ld.param.v2.u32" is ld.param, two numbers, u32; *row is the row of the table. */
static bool read_name(struct reader *r, char *name, struct ptx_instruction *x, unsigned *row)
{
    char whole[MAX_LINE], *part;
    bool typed = strncmp(name, "bra", 3) != 0 && strcmp(name, "ret") != 0;

    snprintf(whole, sizeof whole, "%s", name);
    x->vector = 1;
    if (typed && !ptx_read_type(take_last(name), &x->type))
        return lacks(r, whole);
    if (strncmp(name, "cvt.", 4) == 0) { /* cvt.TO.FROM */
        x->from = x->type;
        if (!ptx_read_type(take_last(name), &x->type) || !strchr("us", x->type.letter))
            return lacks(r, whole);
    }
    part = strrchr(name, '.');
    if (part && (strcmp(part, ".v2") == 0 || strcmp(part, ".v4") == 0))
        x->vector = (unsigned)(*(take_last(name) + 1) - '0');
    if (strncmp(name, "setp.", 5) == 0 &&
        (!read_comparison(take_last(name), &x->compare) || (x->compare >= PTX_LT && x->type.letter == 'b')))
        return lacks(r, whole);
    for (*row = 0; *row < sizeof table / sizeof table[0]; (*row)++)
        if (strcmp(table[*row].name, name) == 0 && (!typed || strchr(table[*row].types, x->type.letter))) {
            x->code = table[*row].code;
            return true;
        }
    return lacks(r, whole);
}

static bool add_jump(struct reader *r, char *const *parts, unsigned count, size_t at)
{
    if (count != 1)
        return wrong(r, "a jump has one label");
    if (r->jump_count == MAX_LABELS)
        return wrong(r, "there are too many jumps");
    snprintf(r->jumps[r->jump_count].label, sizeof r->jumps[0].label, "%.39s", parts[0]);
    r->jumps[r->jump_count++].at = at;
    return true;
}

/* "@%p12 " or "@!%p12 ", which is taken off. */
static bool read_guard(struct reader *r, char **text, struct ptx_instruction *x)
{
    char *end = *text + strcspn(*text, " \t");
    uint32_t number;
    unsigned bits;

    x->guard = -1;
    if (**text != '@')
        return true;
    x->guard_not = (*text)[1] == '!';
    *end = '\0';
    if (!ptx_read_register(r, *text + 1 + x->guard_not, &number, &bits) || bits != 1)
        return wrong(r, "%s is no predicate", *text);
    x->guard = (int)number;
    *text = end + 1 + strspn(end + 1, " \t");
    return true;
}

static bool read_instruction(struct reader *r, char *text)
{
    struct ptx_kernel *k = r->kernel;
    struct ptx_instruction x = { .line = r->line };
    char *parts[2 * PTX_OPERANDS], *rest;
    unsigned row, count;

    if (!strchr(text, ';'))
        return wrong(r, "an instruction has no end");
    if (!read_guard(r, &text, &x))
        return false;
    rest = text + strcspn(text, " \t;");
    if (*rest)
        *rest++ = '\0';
    count = split(rest, parts);
    if (!read_name(r, text, &x, &row))
        return false;
    if (x.code == PTX_BRA ? !add_jump(r, parts, count, k->count)
                          : !read_operands(r, &x, table[row].widths, parts, count))
        return false;
    if (k->count == r->room) {
        r->room = r->room ? 2 * r->room : 256;
        k->code = realloc(k->code, r->room * sizeof *k->code);
        if (!k->code)
            abort();
    }
    k->code[k->count++] = x;
    return true;
}

/* ---- Kernels ---- */

/* ".param .align 8 .b8 NAME[176]," */
static bool read_parameter(struct reader *r, const char *text)
{
    struct ptx_kernel *k = r->kernel;
    unsigned align;
    size_t bytes;
    char name[80];

    if (k->parameter_count == PTX_PARAMETERS)
        return wrong(r, "there are too many parameters");
    if (sscanf(text, ".param .align %u .b8 %79[^[][%zu]", &align, name, &bytes) != 3)
        return lacks(r, text);
    snprintf(r->parameter_names[k->parameter_count], sizeof name, "%s", name);
    k->parameters[k->parameter_count++] = bytes;
    return true;
}

/* ".reg .pred %p<171>;" */
static bool read_registers(struct reader *r, const char *text)
{
    struct ptx_kernel *k = r->kernel;
    struct ptx_type type;
    char name[8], prefix[8];
    unsigned count;

    if (k->register_kinds == PTX_REGISTERS || sscanf(text, ".reg .%7s %7[^<]<%u>", name, prefix, &count) != 3 ||
        !ptx_read_type(name, &type))
        return lacks(r, text);
    snprintf(k->registers[k->register_kinds].prefix, sizeof prefix, "%s", prefix);
    k->registers[k->register_kinds].bits = type.bits;
    k->registers[k->register_kinds].count = count;
    k->registers[k->register_kinds++].first = k->register_count;
    k->register_count += count;
    return true;
}

static bool find_targets(struct reader *r)
{
    for (unsigned i = 0; i < r->jump_count; i++) {
        unsigned l = 0;

        while (l < r->label_count && strcmp(r->labels[l].name, r->jumps[i].label) != 0)
            l++;
        if (l == r->label_count || r->labels[l].at == r->kernel->count)
            return wrong(r, "there is no label %s", r->jumps[i].label);
        r->kernel->code[r->jumps[i].at].target = r->labels[l].at;
    }
    return true;
}

static bool read_label(struct reader *r, char *text)
{
    if (r->label_count == MAX_LABELS)
        return wrong(r, "there are too many labels");
    *strchr(text, ':') = '\0';
    snprintf(r->labels[r->label_count].name, sizeof r->labels[0].name, "%.39s", text);
    r->labels[r->label_count++].at = (uint32_t)r->kernel->count;
    return true;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool begin_kernel(struct reader *r, struct ptx_kernel **first, const char *text)
{
    struct ptx_kernel *k = calloc(1, sizeof *k);

    if (!k)
        abort();
    if (sscanf(text, ".visible .entry %63[^(](", k->name) != 1) {
        free(k);
        return lacks(r, text);
    }
    k->next = *first;
    *first = r->kernel = k;
    r->label_count = r->jump_count = 0;
    r->room = 0;
    return true;
}

static bool read_line(struct reader *r, struct ptx_kernel **first, char *text)
{
    if (!*text || begins(text, "//"))
        return true;
    if (!r->kernel)
        return begins(text, ".version ") || begins(text, ".target ") || strcmp(text, ".address_size 64") == 0 ||
               begin_kernel(r, first, text);
    if (!r->inside) {
        r->inside = *text == '{';
        if (begins(text, ".param "))
            return read_parameter(r, text);
        return r->inside || *text == ')' || sscanf(text, ".maxntid %u, 1, 1", &r->kernel->most_threads) == 1 ||
               lacks(r, text);
    }
    if (*text == '}') {
        bool ok = find_targets(r);

        r->kernel = NULL;
        r->inside = false;
        return ok;
    }
    if (begins(text, ".reg "))
        return read_registers(r, text);
    if (begins(text, ".pragma \"nounroll\""))
        return true;
    return text[strlen(text) - 1] == ':' ? read_label(r, text) : read_instruction(r, text);
}

struct ptx_kernel *ptx_read(const char *text, char *why, size_t room)
{
    struct reader *r = calloc(1, sizeof *r);
    struct ptx_kernel *first = NULL;
    bool ok = true;

    if (!r)
        abort();
    r->why = why;
    r->why_room = room;
    while (ok && *text) {
        size_t length = strcspn(text, "\n"), blanks = strspn(text, " \t");
        char line[MAX_LINE];

        r->line++;
        blanks = blanks < length ? blanks : length;
        if (length - blanks >= sizeof line)
            ok = begins(text + blanks, "//") || wrong(r, "the line is too long");
        else {
            snprintf(line, sizeof line, "%.*s", (int)(length - blanks), text + blanks);
            ok = read_line(r, &first, line);
        }
        text += length + (text[length] == '\n');
    }
    if (ok && (r->kernel || !first))
        ok = wrong(r, "the text ends early");
    free(r);
    if (ok)
        return first;
    ptx_free(first);
    return NULL;
}

void ptx_free(struct ptx_kernel *kernels)
{
    while (kernels) {
        struct ptx_kernel *next = kernels->next;

        free(kernels->code);
        free(kernels);
        kernels = next;
    }
}

const struct ptx_kernel *ptx_find(const struct ptx_kernel *kernels, const char *name)
{
    while (kernels && strcmp(kernels->name, name) != 0)
        kernels = kernels->next;
    return kernels;
}
