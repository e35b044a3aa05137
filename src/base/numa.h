/*
 * numa.h: NUMA nodes: which node a device is at, where memory lies, and how to keep threads and memory on a node.
 * All of this only improves speed: where the system says nothing, or allows nothing, the node is -1 and nothing
 * happens. It uses system calls and sysfs, so that no library is needed.
 */
#ifndef LEAT_BASE_NUMA_H
#define LEAT_BASE_NUMA_H

#include <pthread.h>
#include <stddef.h>

/* Returns the node of a PCI device, read from sysfs, which is mounted at `sys` ("/sys"); -1 if it is not known. */
int numa_of_pci(const char *sys, unsigned domain, unsigned bus, unsigned device);

/* Keeps a thread on the CPUs of a node that it may use; if it may use none of them, changes nothing. Node -1 means
 * any. */
void numa_place_thread(const char *sys, pthread_t thread, int node);

/* Asks the system to place pages of a map that were not touched yet on a node. Node -1 means any. */
void numa_place_memory(void *memory, size_t bytes, int node);

/* Return the node that a touched page lies on, and the node of the CPU that runs the calling thread; -1: not known. */
int numa_of_memory(const void *memory);
int numa_of_thread(void);

#endif
