/* cuda_device.h: which GPU is meant by the words of leat_loader_options.device. */
#ifndef LEAT_CUDA_DEVICE_H
#define LEAT_CUDA_DEVICE_H

#include <stdbool.h>

#include "cuda_driver.h"

#define CUDA_DEVICE_NAME 64

/* "cuda", "cuda:1", "cuda:GPU-1f2e...", "cuda:MIG-...", "cuda:1f2e...", each with "@FILE" behind it for another driver. */
struct cuda_device_words {
    char which[CUDA_DEVICE_NAME]; /* empty: the calling thread's, or the first */
    const char *driver;           /* NULL: the usual one */
};

/* Whether `device` begins as one of these does. */
bool cuda_device_named(const char *device);

enum leat_status cuda_device_parse(const char *device, struct cuda_device_words *words, struct leat_error *err);

/* Finds it; its number among the devices that this process may use goes to *ordinal. LEAT_E_UNSUPPORTED names those
 * that there are. */
enum leat_status cuda_device_find(const struct cuda_driver *d, const char *which, cuda_device *device, int *ordinal,
                                  struct leat_error *err);

#endif
