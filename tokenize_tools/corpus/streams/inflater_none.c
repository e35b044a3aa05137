/* inflater_none.c: see inflater.h; for a build with neither library: it has no inflater, which its name (NULL) says. */
#if !defined(LEAT_HAVE_ZLIB) && !defined(LEAT_HAVE_ISAL)
#include "inflater.h"

const char *inflater_name(void)
{
    return NULL;
}

struct inflater *inflater_open(void)
{
    return NULL;
}

void inflater_close(struct inflater *inflater)
{
    (void)inflater;
}

void inflater_reset(struct inflater *inflater)
{
    (void)inflater;
}

enum inflater_result inflater_run(struct inflater *inflater, const uint8_t **in, size_t *in_bytes, uint8_t **out,
                                  size_t *room, bool last)
{
    (void)inflater, (void)in, (void)in_bytes, (void)out, (void)room, (void)last;
    return INFLATER_BROKEN;
}

uint32_t inflater_crc(uint32_t crc, const uint8_t *bytes, size_t count)
{
    (void)bytes, (void)count;
    return crc;
}

#else
typedef int inflater_none_is_not_built; /* a file has to hold something */
#endif
