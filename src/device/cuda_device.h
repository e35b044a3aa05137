/* cuda_device.h: which GPU leat_loader_options.device.name means. */
#ifndef LEAT_CUDA_DEVICE_H
#define LEAT_CUDA_DEVICE_H

#include <stdbool.h>

#include "cuda_driver.h"

#define CUDA_DEVICE_NAME 64

/* Returns true if `device` is "cuda", or begins with "cuda:". */
bool cuda_device_named(const char *device);

/* Sets *which to what follows the colon: "1", "GPU-1f2e...", "MIG-..." or "1f2e..."; to "" for "cuda". It points into
 * `device`. */
enum leat_status cuda_device_parse(const char *device, const char **which, struct leat_error *err);

/* Finds that GPU ("": the calling thread's, or the first); *ordinal is its number among the devices that this process
 * may use. LEAT_E_UNSUPPORTED lists these. */
enum leat_status cuda_device_find(const struct cuda_driver *d, const char *which, cuda_device *device, int *ordinal,
                                  struct leat_error *err);

#endif
