/*
 * on_device.h: runs tests that know nothing of devices on one. Programs are linked so that the calls of a loader that
 * name memory or a device come through on_device.c (tests/tests.mk, DEVICE_WRAPPED): every loader is opened for the
 * device, what is written or borrowed is brought to the host before the call returns, and rules are checked as well.
 * The device is $LEAT_TEST_DEVICE with the driver $LEAT_TEST_DRIVER (unset: the system's), or one of the stand-in
 * driver's (tests/fake_cuda/).
 */
#ifndef LEAT_TESTS_ON_DEVICE_H
#define LEAT_TESTS_ON_DEVICE_H

#include "bench/device/cuda_extra.h"
#include "fake_cuda/fake_control.h"

struct on_device {
    const char *name;        /* for leat_loader_options.device.name */
    const char *driver_name; /* for leat_loader_options.device.driver */
    struct cuda_driver driver;
    struct cuda_extra extra;
    const struct fake_control *fake; /* NULL: a real one */
    cuda_context context;            /* of the first device, retained */
};

/* Opens the driver once, and makes the stand-in strict; *why (may be NULL) says what is missing where it returns
 * NULL. */
struct on_device *on_device(const char **why);

/* That of this program's loaders. NULL itself in programs that are not linked so, whose loaders are on the host. */
struct on_device *on_device_of_loaders(void) __attribute__((weak));

/* Between these the calling thread's calls of the driver are the test's own. */
void on_device_begin(struct on_device *d);
void on_device_end(struct on_device *d);

#endif
