/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets, and its manual. It builds on libleat
 * (leat.h), whose rules (leat/error.h) hold here too. It includes a header for each subject, which can be included
 * alone, too:
 *
 *   leat/tokenizer.h   tokenizers: texts to ids, and back
 *   leat/pack.h        packing files: leat_pack()
 *   leat/packer.h      packing texts of a program: leat_packer_*()
 *   leat/merge.h       joining, deduplicating, splitting and shuffling datasets: leat_merge()
 *   leat/run.h         runs in parts, of many processes: leat_run_*()
 *   leat/export.h      writing datasets for other tools: leat_export()
 */
#ifndef LEAT_PACK_H
#define LEAT_PACK_H

#include "leat.h"
#include "leat/export.h"
#include "leat/merge.h"
#include "leat/pack.h"
#include "leat/packer.h"
#include "leat/run.h"
#include "leat/tokenizer.h"

#endif
