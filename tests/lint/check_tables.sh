#!/bin/sh
# check_tables.sh: what stands in a table of the library stands under the same name and number in the public header and
# in Python: engines, formats of inputs, orders, outputs of a batch, with their fields and files.
. tests/lint/common.sh

# "name=number" of an enum of a header, one a line: PREFIX FILE
header() {
    sed -nE "s/^ *LEAT_$1_([A-Z_]+) = ([0-9]+).*/\1=\2/p" "$2" | tr '[:upper:]' '[:lower:]'
}
# The constants that rows name: PREFIX FILE; they stand there as each(LEAT_PREFIX_NAME, name) or
# [LEAT_PREFIX_NAME] = "name"
rows() {
    grep -oE "each\(LEAT_$1_[A-Z_]+, [a-z_0-9]+\)|\[LEAT_$1_[A-Z_]+\] = \"[a-z_0-9]+\"" "$2" |
        sed -E "s/.*LEAT_$1_([A-Z_]+)[^a-z]*([a-z_0-9]+).*/\1 \2/"
}

# Two lists that must be the same, in any order: FILE WHAT LIST LIST
same() {
    ours=$(printf '%s\n' "$3" | sort | tr '\n' ' ') theirs=$(printf '%s\n' "$4" | sort | tr '\n' ' ')
    [ "$ours" = "$theirs" ] || echo "$1:1: $2: ${ours}instead of $theirs"
}

# table FILE PREFIX HEADER: each row is a number of the header, under its name; and all numbers but auto have one
table() {
    rows "$2" "$1" | while read -r number name; do
        lower=$(printf '%s' "$number" | tr '[:upper:]' '[:lower:]')
        [ "$lower" = "$name" ] || echo "$1:1: LEAT_$2_$number is called $name"
    done
    same "$1" "the rows" "$(rows "$2" "$1" | sed 's/.* //')" "$(header "$2" "$3" | grep -v '^auto=' | sed 's/=.*//')"
}

table src/loader/loader_fields.h ENGINE include/leat/loader.h
same python/leat/options.py "the engines" \
    "$(grep -oE 'engine: Literal\[[^]]*' python/leat/options.py | grep -oE '"[a-z]+"' | tr -d '"')" \
    "$(header ENGINE include/leat/loader.h | sed 's/=.*//')"

formats=tokenize_tools/corpus/record_format.h
table $formats PACK include/leat/pack.h

orders=$(header ORDER include/leat/plan.h | sed 's/=.*//' | tr '_' '-')
same tokenize_tools/cli/plan_options.c "the values of --order" \
    "$(sed -nE 's/.*\[LEAT_ORDER_[A-Z_]+\] = "([a-z-]+)".*/\1/p' tokenize_tools/cli/plan_options.c)" "$orders"
same python/leat/plan.pyi "the orders" \
    "$(grep -oE ' order: Literal\[[^]]*' python/leat/plan.pyi | head -n 1 | grep -oE '"[a-z-]+"' | tr -d '"')" "$orders"
same src/plan/plan_order.c "the rows" \
    "$(grep -oE '\[LEAT_ORDER_[A-Z_]+\] = \{ "[a-z-]+"' src/plan/plan_order.c | cut -d '"' -f 2)" "$orders"

# Fields of outputs are called as their numbers are; those that are made singly have a file each. Those that the slot
# has ready (loader_values.c) are no rows of what is made.
made=src/rows/rows_outputs.h
outputs=$(header OUTPUT include/leat/loader.h | sed 's/=.*//')
ready=$(grep -oE 'LEAT_OUTPUT_[A-Z_]+' src/loader/loader_values.c | sort -u | sed 's/LEAT_OUTPUT_//')
lower_ready=$(printf '%s' "$ready" | tr '[:upper:]' '[:lower:]')
made_rows=$(sed -nE 's/^ +(together|singly)\(([a-z_]+, [A-Z_]+), .*/\2/p' $made)
same $made "the rows" \
    "$(printf '%s\n' "$made_rows" | sed 's/.*, //' | tr '[:upper:]' '[:lower:]'; echo "$lower_ready")" "$outputs"
same $made "the fields" "$(printf '%s\n' "$made_rows" | sed 's/, .*//'; echo "$lower_ready")" "$outputs"
same include/leat/loader.h "the fields of struct leat_outputs" \
    "$(sed -n '/^struct leat_outputs {/,/^};/s/^ *[a-z0-9_]* \*\([a-z_]*\);.*/\1/p' include/leat/loader.h)" "$outputs"
same $made "the outputs that are made singly" \
    "$(sed -nE 's/^ +singly\(([a-z_]+), .*/\1/p' $made)" \
    "$(files 'src/rows/output_*.h' | sed 's|src/rows/output_||; s/\.h$//')"
same python/src/loader/batch.h "the rows" \
    "$(grep -oE 'row\([A-Z_]+' python/src/loader/batch.h | sed 's/row(//' | tr '[:upper:]' '[:lower:]')" "$outputs"
same python/leat/batch.pyi "the attributes of Batch" \
    "$(sed -n '/^class Batch/,/def/s/^    \([a-z_]*\): Any$/\1/p' python/leat/batch.pyi)" \
    "$(grep -oE 'row\([A-Z_]+, [a-z_]+, "[a-z_]+"' python/src/loader/batch.h | cut -d '"' -f 2)"
exit 0
