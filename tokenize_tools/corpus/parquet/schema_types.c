/* schema_types.c: see schema_types.h. The numbers are those of parquet.thrift. */
#include "schema_types.h"

enum converted {
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_ENUM = 4,
    CONVERTED_UINT_8 = 11,
    CONVERTED_UINT_64 = 14,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19
};

enum logical {
    LOGICAL_STRING = 1,
    LOGICAL_MAP = 2,
    LOGICAL_LIST = 3,
    LOGICAL_ENUM = 4,
    LOGICAL_INTEGER = 10,
    LOGICAL_NOTHING = 11,
    LOGICAL_JSON = 12,
    LOGICAL_UUID = 14
};

#define MAX_FIXED (1u << 20) /* bytes of a value that has the same length in all rows */

void schema_read_logical(struct thrift *t, struct thrift_field f, struct schema_node *n)
{
    struct thrift_field kind = { 0 }, part = { 0 };

    if (!thrift_struct(t, f))
        return;
    while (thrift_next(t, &kind)) {
        n->logical = kind.id;
        if (kind.id != LOGICAL_INTEGER || !thrift_struct(t, kind)) {
            thrift_skip(t, kind);
            continue;
        }
        while (thrift_next(t, &part))
            if (part.id == 2)
                n->logical_signed = thrift_bool(t, part);
            else
                thrift_skip(t, part);
    }
}

static bool is_bytes(const struct schema_node *n)
{
    return (n->logical == 0 || n->logical == LOGICAL_STRING || n->logical == LOGICAL_ENUM ||
            n->logical == LOGICAL_JSON) &&
           (n->converted == -1 || n->converted == CONVERTED_UTF8 || n->converted == CONVERTED_ENUM ||
            n->converted == CONVERTED_JSON);
}

static bool is_integer(const struct schema_node *n)
{
    return (n->logical == 0 || n->logical == LOGICAL_INTEGER) &&
           (n->converted == -1 || (n->converted >= CONVERTED_UINT_8 && n->converted <= CONVERTED_INT_64));
}

static bool is_unsigned(const struct schema_node *n)
{
    return n->logical == LOGICAL_INTEGER ? !n->logical_signed
                                         : n->converted >= CONVERTED_UINT_8 && n->converted <= CONVERTED_UINT_64;
}

bool schema_is_nothing(const struct schema_node *n)
{
    return n->logical == LOGICAL_NOTHING;
}

bool schema_is_list(const struct schema_node *n)
{
    return n->logical == LOGICAL_LIST || n->converted == CONVERTED_LIST;
}

bool schema_is_map(const struct schema_node *n)
{
    return !n->has_type &&
           (n->logical == LOGICAL_MAP || n->converted == CONVERTED_MAP || n->converted == CONVERTED_MAP_KEY_VALUE);
}

const char *schema_take(struct parquet_column *c, const struct schema_node *n, enum parquet_use use)
{
    c->type = (enum parquet_type)n->type;
    c->form = PARQUET_AS_IT_IS;
    c->type_bytes = c->type == PARQUET_INT32 || c->type == PARQUET_FLOAT    ? 4
                    : c->type == PARQUET_INT64 || c->type == PARQUET_DOUBLE ? 8
                                                                            : 0;
    if (use == PARQUET_EXISTS) {
        c->form = PARQUET_UNREAD;
        return NULL;
    }
    if (c->type == PARQUET_FIXED) {
        if (n->type_bytes > MAX_FIXED)
            return "has values of more than 1 MiB, all of the same length, which leat does not read";
        c->type_bytes = (uint32_t)n->type_bytes;
    }
    if ((c->type == PARQUET_BYTE_ARRAY || c->type == PARQUET_FIXED) && is_bytes(n))
        return NULL;
    if (use == PARQUET_TEXT)
        return "does not hold texts: its type is not BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY, or means something else";
    if (c->type == PARQUET_FIXED && n->logical == LOGICAL_UUID && c->type_bytes == 16) {
        c->form = PARQUET_UUID;
        return NULL;
    }
    if ((c->type == PARQUET_FLOAT || c->type == PARQUET_DOUBLE) && (use == PARQUET_VALUE || use == PARQUET_JSON)) {
        c->form = PARQUET_DECIMAL;
        return NULL;
    }
    if ((c->type == PARQUET_INT32 || c->type == PARQUET_INT64) && is_integer(n)) {
        c->form = is_unsigned(n) ? PARQUET_UNSIGNED : PARQUET_SIGNED;
        return NULL;
    }
    if (c->type == PARQUET_BOOLEAN && use == PARQUET_JSON) {
        c->form = PARQUET_TRUTH;
        return NULL;
    }
    if (use == PARQUET_JSON)
        return "holds values that are no JSON: dates, times, decimals or numbers of 96 bits";
    if (use == PARQUET_VALUE)
        return "holds neither strings nor numbers, so that its values cannot be compared; only \"exists\" can be asked";
    return "does not hold ids: its type is neither text nor an integer of 32 or 64 bits";
}
