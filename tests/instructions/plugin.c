/*
 * plugin.c: a plugin for qemu's user mode that counts the instructions of a program. When the program writes to file
 * -1, the number so far goes to its file COUNT_FILE. Debian has no header of this interface (version 1, of qemu 6 to
 * 8), so what is used of it is declared here.
 */
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "count.h"

typedef uint64_t plugin_id;
struct translation;

extern int qemu_plugin_version;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id id, struct translation *t));
size_t qemu_plugin_tb_n_insns(const struct translation *t);
void qemu_plugin_register_vcpu_tb_exec_inline(struct translation *t, int op, void *number, uint64_t add);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id,
                                          void (*called)(plugin_id id, unsigned cpu, int64_t number, uint64_t a1,
                                                         uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
                                                         uint64_t a6, uint64_t a7, uint64_t a8));

int qemu_plugin_version = 1;

#define ADD_64 0

static uint64_t instructions;

static void translated(plugin_id id, struct translation *t)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(t, ADD_64, &instructions, qemu_plugin_tb_n_insns(t));
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)cpu, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == COUNT_CALL && (int)a1 == -1 && pwrite(COUNT_FILE, &instructions, sizeof instructions, 0) < 0)
        _exit(1);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
