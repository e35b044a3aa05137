#include "nearest.h"

#include <string.h>

#define LONGEST_WORD 128u /* length at which longer words are cut */

static size_t min_of(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LONGEST_WORD + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2], *turn;

    for (size_t j = 0; j <= nb; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = min_of(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        turn = before;
        before = last;
        last = now;
        now = turn;
    }
    return last[nb];
}

size_t nearest_distance(const char *word, const char *candidate)
{
    size_t length = strlen(word);
    size_t distance = edit_distance(word, strnlen(word, LONGEST_WORD), candidate, strnlen(candidate, LONGEST_WORD));

    /* the beginning of a word is nearer to it than the number of missing letters says */
    return length >= 2 && distance > 1 && strncmp(word, candidate, length) == 0 ? 1 : distance;
}

bool nearest_is_near(const char *word, const char *candidate, size_t distance)
{
    size_t length = strlen(word);

    if (distance < 2)
        return length >= 2;
    /* two typing errors or more: at least two thirds of the word must be right, and its first letter */
    return 3 * distance <= length && word[0] == candidate[0];
}
