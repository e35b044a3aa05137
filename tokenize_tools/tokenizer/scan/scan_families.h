/*
 * scan_families.h: the families of scanners. A new one is a file scan_NAME.h, with its line among the includes and its
 * row in SCAN_FAMILIES; nothing else names it, and all tests go through the rows. The file has for each of its families
 *
 *   SCAN_PRETOKEN_name(t, p)  the end of the pretoken that begins at p, from character to character: it defines the
 *   right answer
 *   SCAN_STARTS_name(m)    the same as algebra over the masks of a block (scan_masks.h)
 *   SCAN_KIND_name         what that asks about characters: a struct scan_kind
 *   SCAN_FAMILY_name       .name of struct scan_family; .leaves_gaps, if it does
 *   spellings_name[]       the expressions that it serves, letter for letter (scan_spelling.h)
 *
 * test_scanners.c and test_scan_rows.c compare each row with the general way, check_scanners.py with the references.
 */
#ifndef LEAT_TOKENIZER_SCAN_FAMILIES_H
#define LEAT_TOKENIZER_SCAN_FAMILIES_H

#include "scan_cl100k.h"
#include "scan_deepseek.h"
#include "scan_gpt2.h"
#include "scan_o200k.h"

#define SCAN_FAMILIES(each)                                                                                            \
    each(gpt2) each(cl100k) each(llama3) each(qwen2) each(qwen35) each(o200k) each(tekken) each(kimi) each(deepseek)

#endif
