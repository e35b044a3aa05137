#include "cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

bool cuda_device_named(const char *device)
{
    return strncmp(device, "cuda", 4) == 0 && (device[4] == '\0' || device[4] == ':');
}

enum leat_status cuda_device_parse(const char *device, const char **which, struct leat_error *err)
{
    *which = device[4] == ':' ? device + 5 : "";
    if (device[4] == ':' && (**which == '\0' || strlen(*which) >= CUDA_DEVICE_NAME))
        return status_argument(
            err, "device",
            "unknown device \"%.100s\"; write \"cuda\", \"cuda:0\" (a number) or \"cuda:GPU-...\" (a UUID)", device);
    return LEAT_OK;
}

/* ---- UUIDs ---- */

/* Extracts the hexadecimal digits of a UUID as nvidia-smi writes it, without prefix and hyphens; its first digits
 * are enough. Returns false if it is no UUID. */
static bool digits_of(const char *text, char digits[33])
{
    size_t n = 0;

    if (strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0)
        text += 4;
    for (; *text; text++) {
        char c = *text >= 'A' && *text <= 'F' ? (char)(*text - 'A' + 'a') : *text;

        if (c == '-')
            continue;
        if (n == 32 || !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        digits[n++] = c;
    }
    digits[n] = '\0';
    return n > 0;
}

static void write_uuid(const cuda_uuid *uuid, char digits[33])
{
    for (unsigned i = 0; i < 16; i++)
        snprintf(digits + 2 * i, 3, "%02x", (unsigned)(unsigned char)uuid->bytes[i]);
}

/* ---- Finding ---- */

static enum leat_status none_such(const struct cuda_driver *d, int count, const char *which, struct leat_error *err)
{
    char known[400] = "";
    size_t used = 0;

    for (int i = 0; i < count && used + 100 < sizeof known; i++) {
        char name[CUDA_DEVICE_NAME] = "", digits[33] = "";
        cuda_device device;
        cuda_uuid uuid;

        if (d->device_get(&device, i) != CUDA_OK || d->device_name(name, (int)sizeof name, device) != CUDA_OK ||
            d->device_uuid(&uuid, device) != CUDA_OK)
            continue;
        write_uuid(&uuid, digits);
        snprintf(known + used, sizeof known - used, "%s%d is %s (%s)", used ? ", " : "", i, name, digits);
        used = strlen(known);
    }
    status_set(err, LEAT_E_UNSUPPORTED, "no GPU \"%s\": this process may use %d: %s", which, count, known);
    return status_field(err, LEAT_E_UNSUPPORTED, "device");
}

static enum leat_status find_uuid(const struct cuda_driver *d, int count, const char *which, cuda_device *found,
                                  int *ordinal, struct leat_error *err)
{
    char wanted[33], digits[33];
    int matches = 0;

    if (!digits_of(which, wanted))
        return status_argument(err, "device", "\"%s\" is neither the number of a GPU nor the UUID of one", which);
    for (int i = 0; i < count; i++) {
        cuda_device device;
        cuda_uuid uuid;
        cuda_result r = d->device_get(&device, i);

        if (r == CUDA_OK)
            r = d->device_uuid(&uuid, device);
        if (r != CUDA_OK)
            return cuda_driver_failed(d, r, "querying a GPU's UUID", err);
        write_uuid(&uuid, digits);
        if (strncmp(digits, wanted, strlen(wanted)) != 0)
            continue;
        *found = device;
        *ordinal = i;
        matches++;
    }
    return matches == 1 ? LEAT_OK : none_such(d, count, which, err);
}

/* Finds the device of the calling thread's context, which a program with one process per GPU has chosen. */
static bool find_current(const struct cuda_driver *d, int count, cuda_device *found, int *ordinal)
{
    cuda_context context = NULL;
    cuda_device device;

    if (d->context_current(&context) != CUDA_OK || !context || d->context_device(found) != CUDA_OK)
        return false;
    for (int i = 0; i < count; i++)
        if (d->device_get(&device, i) == CUDA_OK && device == *found) {
            *ordinal = i;
            return true;
        }
    return false;
}

enum leat_status cuda_device_find(const struct cuda_driver *d, const char *which, cuda_device *device, int *ordinal,
                                  struct leat_error *err)
{
    unsigned long number = 0;
    cuda_result r;
    char *end;
    int count;

    r = d->device_count(&count);
    if (r != CUDA_OK)
        return cuda_driver_failed(d, r, "counting GPUs", err);
    if (count == 0)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "this process may not use any GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES, or open the "
                          "loader for the device \"host\"");
    if (!which[0] && find_current(d, count, device, ordinal))
        return LEAT_OK;
    if (which[0]) {
        number = strtoul(which, &end, 10);
        /* no machine has a million GPUs, and a UUID is longer even if it has only decimal digits */
        if (*end || which[0] == '-' || which[0] == '+' || strlen(which) > 6)
            return find_uuid(d, count, which, device, ordinal, err);
    }
    if (number >= (unsigned long)count)
        return none_such(d, count, which, err);
    r = d->device_get(device, (int)number);
    if (r != CUDA_OK)
        return cuda_driver_failed(d, r, "opening a GPU", err);
    *ordinal = (int)number;
    return LEAT_OK;
}
