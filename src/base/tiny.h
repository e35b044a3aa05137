/*
 * tiny.h: sizes of buffers and of units of work. A test build with -DLEAT_TINY=1 makes them so small that little data
 * crosses every edge between one unit and the next; results must not depend on it.
 */
#ifndef LEAT_BASE_TINY_H
#define LEAT_BASE_TINY_H

#ifndef LEAT_TINY
#define LEAT_TINY 0
#endif

#define TINY_OR(tiny, size) (LEAT_TINY ? (tiny) : (size))

#endif
