/* cuda_device.h: finds the GPU that leat_loader_options.device.name means. */
#ifndef LEAT_CUDA_DEVICE_H
#define LEAT_CUDA_DEVICE_H

#include <stdbool.h>

#include "cuda_driver.h"

#define CUDA_DEVICE_NAME 64

/* Returns true if `device` is "cuda", or begins with "cuda:". */
bool cuda_device_named(const char *device);

/* Sets *which to the part after the colon, which points into `device`: "1", "GPU-1f2e...", "MIG-..." or "1f2e...";
 * to "" for "cuda". */
enum leat_status cuda_device_parse(const char *device, const char **which, struct leat_error *err);

/*
 * Finds the GPU that `which` names; "" means that of the calling thread, or the first. *ordinal becomes its number
 * among the devices that this process may use. Returns LEAT_E_UNSUPPORTED, with a list of these devices, if there is
 * no such GPU.
 */
enum leat_status cuda_device_find(const struct cuda_driver *d, const char *which, cuda_device *device, int *ordinal,
                                  struct leat_error *err);

#endif
