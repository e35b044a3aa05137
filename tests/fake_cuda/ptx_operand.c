/* ptx_operand.c: see ptx_reader.h. Types, and operands of instructions. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_reader.h"

bool ptx_read_type(const char *text, struct ptx_type *type)
{
    static const unsigned widths[] = { 8, 16, 32, 64 };

    if (strcmp(text, "pred") == 0) {
        *type = (struct ptx_type) { 1, 'p', false };
        return true;
    }
    if (strcmp(text, "f32") == 0) {
        *type = (struct ptx_type) { 32, 'f', false };
        return true;
    }
    for (unsigned i = 0; i < 4; i++)
        if (strchr("bus", text[0]) && text[0] && strtoul(text + 1, NULL, 10) == widths[i]) {
            *type = (struct ptx_type) { widths[i], text[0], text[0] == 's' };
            return true;
        }
    return false;
}

bool ptx_read_register(struct reader *r, const char *text, uint32_t *number, unsigned *bits)
{
    size_t letters = 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz");

    for (unsigned i = 0; i < r->kernel->register_kinds; i++)
        if (strlen(r->kernel->registers[i].prefix) == letters &&
            strncmp(r->kernel->registers[i].prefix, text, letters) == 0 && isdigit((unsigned char)text[letters])) {
            unsigned long k = strtoul(text + letters, NULL, 10);

            if (k >= r->kernel->registers[i].count)
                return wrong(r, "%s is not declared", text);
            *number = r->kernel->registers[i].first + (uint32_t)k;
            *bits = r->kernel->registers[i].bits;
            return true;
        }
    return wrong(r, "%s is no register", text);
}

/* Parameters lie at addresses of their own, far from each other. */
static uint64_t parameter_address(unsigned number)
{
    return (uint64_t)(0x7a00 + number) << 48;
}

static bool read_constant(struct reader *r, const char *text, uint64_t *constant)
{
    char *end;

    for (unsigned i = 0; i < r->kernel->parameter_count; i++)
        if (strcmp(text, r->parameter_names[i]) == 0) {
            *constant = parameter_address(i);
            return true;
        }
    if (text[0] == '0' && text[1] == 'f' && strlen(text) == 10) { /* the bits of a float */
        *constant = strtoull(text + 2, &end, 16);
        return *end == '\0' || wrong(r, "%s is no float", text);
    }
    errno = 0;
    *constant = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return (end > text && *end == '\0' && errno == 0) || wrong(r, "%s is no number", text);
}

bool ptx_read_operand(struct reader *r, const char *text, struct ptx_operand *o, unsigned *bits)
{
    static const char *const specials[PTX_SPECIALS] = { "%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x" };

    *o = (struct ptx_operand) { .kind = PTX_CONSTANT };
    *bits = 0;
    if (text[0] != '%')
        return read_constant(r, text, &o->constant);
    for (unsigned i = 0; i < PTX_SPECIALS; i++)
        if (strcmp(text, specials[i]) == 0) {
            *o = (struct ptx_operand) { .kind = PTX_SPECIAL, .number = i };
            *bits = 32;
            return true;
        }
    o->kind = PTX_REGISTER;
    return ptx_read_register(r, text, &o->number, bits);
}

bool ptx_read_address(struct reader *r, char *text, struct ptx_instruction *x, struct ptx_operand *o)
{
    char *end = strchr(text, ']'), *plus = strchr(text, '+');
    unsigned bits;

    if (text[0] != '[' || !end || end[1])
        return wrong(r, "%s is no address", text);
    *end = '\0';
    if (plus) {
        *plus = '\0';
        x->offset = strtoll(plus + 1, &end, 10);
        if (*end)
            return wrong(r, "%s is no offset", plus + 1);
    }
    return ptx_read_operand(r, text + 1, o, &bits) && (bits == 0 || bits == 64 || wrong(r, "an address has 64 bits"));
}

bool ptx_fits(const struct ptx_instruction *x, enum width width, unsigned bits)
{
    switch (width) {
    case TYPE:
        return bits == x->type.bits;
    case WORD:
        return bits == 32;
    case PREDICATE:
        return bits == 1;
    case DOUBLE:
        return bits == 2 * x->type.bits;
    case AT_LEAST:
        return bits >= x->type.bits;
    case FROM_AT_LEAST:
        return bits >= x->from.bits;
    default:
        return false;
    }
}
