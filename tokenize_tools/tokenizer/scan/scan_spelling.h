/*
 * scan_spelling.h: what the lists of spellings (struct scan_spelling) are written with: the libraries, the end of a
 * list, and the parts that most expressions share.
 */
#ifndef LEAT_TOKENIZER_SCAN_SPELLING_H
#define LEAT_TOKENIZER_SCAN_SPELLING_H

#include "scan.h"

#define SCAN_FOR_RUST (1u << SCAN_RUST)
#define SCAN_FOR_BOTH (1u << SCAN_RUST | 1u << SCAN_ONIGURUMA)

#define SCAN_SPELLINGS_END                                                                                             \
    {                                                                                                                  \
        { NULL }, 0                                                                                                    \
    }

#define SCAN_RE_CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SCAN_RE_PREFIX      "[^\\r\\n\\p{L}\\p{N}]?"
#define SCAN_RE_SYMBOLS     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define SCAN_RE_SLASHED     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
#define SCAN_RE_SPACE       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SCAN_RE_UPPER       "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define SCAN_RE_LOWER       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SCAN_RE_UPPER_KIMI  "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define SCAN_RE_LOWER_KIMI  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"

#endif
