/*
 * numa.h: NUMA nodes: which one a device is at, where memory lies, and threads and memory on a chosen one. All of it is
 * a wish of speed: where the system says nothing, or allows nothing, the node is -1 and nothing happens. By system
 * calls and sysfs, so that no library is needed.
 */
#ifndef LEAT_BASE_NUMA_H
#define LEAT_BASE_NUMA_H

#include <pthread.h>
#include <stddef.h>

/* The node of a PCI device, as sysfs has it, which is mounted at `sys` ("/sys"); -1: not known. */
int numa_of_pci(const char *sys, unsigned domain, unsigned bus, unsigned device);

/* Keeps a thread on the CPUs of a node that it may use; if it may use none of them, it stays as it is. -1: any. */
void numa_place_thread(const char *sys, pthread_t thread, int node);

/* Asks for a node for pages of a map that were not touched yet. -1: any. */
void numa_place_memory(void *memory, size_t bytes, int node);

/* The node that a touched page lies on, and that of the CPU which runs the calling thread; -1: not known. */
int numa_of_memory(const void *memory);
int numa_of_thread(void);

#endif
