/* fake_context.c: the stand-in's devices, their primary contexts, and each thread's stack of contexts. */
#include <stdio.h>
#include <string.h>

#include "fake.h"

#define MAX_DEPTH 32u

struct cuda_context_of_driver fake_contexts[FAKE_DEVICES] = {
    { .device = 0 }, { .device = 1 }, { .device = 2 }, { .device = 3 }
};

static _Thread_local cuda_context stack[MAX_DEPTH];
static _Thread_local unsigned depth;

extern unsigned fake_depth(void);
unsigned fake_depth(void)
{
    return depth;
}

cuda_context fake_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

/* ---- Devices ---- */

cuda_result fake_device_count(int *count)
{
    cuda_result r = fake_enter("cuDeviceGetCount", FAKE_ANY);

    *count = fake_options.devices;
    return r;
}

cuda_result fake_device_get(cuda_device *device, int ordinal)
{
    cuda_result r = fake_enter("cuDeviceGet", FAKE_ANY);

    if (r == CUDA_OK && (ordinal < 0 || ordinal >= fake_options.devices))
        r = CUDA_INVALID_DEVICE;
    if (r == CUDA_OK)
        *device = ordinal;
    return r;
}

cuda_result fake_device_name(char *name, int length, cuda_device device)
{
    cuda_result r = fake_enter("cuDeviceGetName", FAKE_ANY);

    if (r == CUDA_OK)
        snprintf(name, (size_t)length, device == 3 ? "Stand-in MIG 1g" : "Stand-in");
    return r;
}

/* 000102...0f with the device's number in each digit's high half: 0x00, 0x11 in the second, ... */
cuda_result fake_device_uuid(cuda_uuid *uuid, cuda_device device)
{
    cuda_result r = fake_enter("cuDeviceGetUuid", FAKE_ANY);

    for (int i = 0; r == CUDA_OK && i < 16; i++)
        uuid->bytes[i] = (char)(i + 16 * device);
    return r;
}

cuda_result fake_device_attribute(int *value, cuda_device_attribute what, cuda_device device)
{
    cuda_result r = fake_enter("cuDeviceGetAttribute", FAKE_ANY);

    switch (what) {
    case CUDA_DEVICE_PCI_DOMAIN: /* of no device that a machine has */
        *value = 0xfe;
        break;
    case CUDA_DEVICE_PCI_BUS:
        *value = 0x3b + device;
        break;
    case CUDA_DEVICE_PCI_DEVICE:
        *value = 2 * device;
        break;
    default:
        fake_offence("an attribute of a device is asked for that the stand-in does not know: %d", what);
    }
    return r;
}

/* ---- Contexts ---- */

cuda_result fake_context_retain(cuda_context *context, cuda_device device)
{
    cuda_result r = fake_enter("cuDevicePrimaryCtxRetain", FAKE_WAITS | FAKE_UNSAFE);

    if (r != CUDA_OK)
        return r;
    if (device < 0 || device >= fake_options.devices)
        return CUDA_INVALID_DEVICE;
    pthread_mutex_lock(&fake_lock);
    fake_contexts[device].retained++;
    *context = &fake_contexts[device];
    pthread_mutex_unlock(&fake_lock);
    return CUDA_OK;
}

/* All that belongs to it goes with it, and who retains it next has a new one. */
static void end_context(cuda_context context)
{
    unsigned left = fake_streams_drop(context); /* first: their work uses the rest */

    left += fake_memory_drop(context);
    left += fake_modules_drop(context);
    if (left > 0 && context->broken == CUDA_OK && !fake_has_failed())
        fake_offence("%u things were not given back when the context of device %d ended", left, context->device);
    context->broken = CUDA_OK;
}

cuda_result fake_context_release(cuda_device device)
{
    cuda_result r = fake_enter("cuDevicePrimaryCtxRelease", FAKE_WAITS | FAKE_UNSAFE | FAKE_ENDS);

    if (r == CUDA_DEINITIALIZED)
        return r;
    pthread_mutex_lock(&fake_lock);
    if (fake_contexts[device].retained == 0)
        fake_offence("the context of device %d is released once too often", device);
    else if (--fake_contexts[device].retained == 0)
        end_context(&fake_contexts[device]);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_context_current(cuda_context *context)
{
    cuda_result r = fake_enter("cuCtxGetCurrent", FAKE_ANY);

    if (r == CUDA_OK)
        *context = fake_current();
    return r;
}

static bool retained(cuda_context context)
{
    bool is;

    pthread_mutex_lock(&fake_lock);
    is = !context || context->retained > 0;
    pthread_mutex_unlock(&fake_lock);
    if (!is)
        fake_offence("a context that nobody retains is made current");
    return is;
}

cuda_result fake_context_set(cuda_context context)
{
    cuda_result r = fake_enter("cuCtxSetCurrent", FAKE_ANY);

    if (r != CUDA_OK)
        return r;
    if (!retained(context))
        return CUDA_INVALID_CONTEXT;
    if (!context)
        depth -= depth > 0;
    else if (depth == 0)
        stack[depth++] = context;
    else
        stack[depth - 1] = context;
    return CUDA_OK;
}

cuda_result fake_context_push(cuda_context context)
{
    cuda_result r = fake_enter("cuCtxPushCurrent", FAKE_ANY);

    if (r != CUDA_OK)
        return r;
    if (depth == MAX_DEPTH || !context || !retained(context))
        return CUDA_INVALID_CONTEXT;
    stack[depth++] = context;
    return CUDA_OK;
}

cuda_result fake_context_pop(cuda_context *context)
{
    cuda_result r = fake_enter("cuCtxPopCurrent", FAKE_ENDS);

    if (r == CUDA_DEINITIALIZED)
        return r;
    if (depth == 0)
        return CUDA_INVALID_CONTEXT;
    *context = stack[--depth];
    return r;
}

cuda_result fake_context_device(cuda_device *device)
{
    cuda_result r = fake_enter("cuCtxGetDevice", FAKE_CONTEXT);

    if (r == CUDA_OK)
        *device = fake_current()->device;
    return r;
}

cuda_result fake_context_priorities(int *least, int *greatest)
{
    cuda_result r = fake_enter("cuCtxGetStreamPriorityRange", FAKE_CONTEXT);

    *least = 0;
    *greatest = -5;
    return r;
}
