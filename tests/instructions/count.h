/* count.h: how a program that plugin.c counts asks for the number of instructions. */
#ifndef LEAT_TESTS_COUNT_H
#define LEAT_TESTS_COUNT_H

#define COUNT_FILE 100
#define COUNT_CALL 64 /* write() on aarch64 */

#endif
