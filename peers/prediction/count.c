/* A plugin for QEMU's user-mode emulators: how often each instruction was executed, block by block.
 *
 *   cc -O2 -shared -fPIC -o count.so count.c
 *   qemu-x86_64 -cpu Nehalem -plugin ./count.so -d plugin -D counts.txt PROGRAM
 *
 * Debian ships no header for plugins; what is used of it is declared here, version 1 of the interface.
 * Each time the program asks for its own number (getpid), a line `# blocks` is written, then for each translated block that
 * was executed since the last time a line `= TIMES` and its instructions. So a program that asks before and after a piece of
 * work has the work in the last section.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int op, void *counter, uint64_t add);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, void (*)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t,
    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *);
void qemu_plugin_outs(const char *);

EXPORT int qemu_plugin_version = 1;

struct block {
    uint64_t times;
    size_t instructions;
    char **text;
    struct block *next;
};
static struct block *blocks;

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    struct block *block = calloc(1, sizeof *block);
    block->instructions = qemu_plugin_tb_n_insns(tb);
    block->text = calloc(block->instructions, sizeof *block->text);
    for (size_t i = 0; i < block->instructions; i++)
        block->text[i] = qemu_plugin_insn_disas(qemu_plugin_tb_get_insn(tb, i));
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &block->times, 1);
}

/* Of x86-64, or of AArch64. */
static int64_t getpid_number = 39;

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
    uint64_t f, uint64_t g, uint64_t h)
{
    (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number != getpid_number)
        return;
    char line[64];
    qemu_plugin_outs("# blocks\n");
    for (struct block *block = blocks; block; block = block->next) {
        if (block->times == 0)
            continue;
        snprintf(line, sizeof line, "= %" PRIu64 "\n", block->times);
        qemu_plugin_outs(line);
        for (size_t i = 0; i < block->instructions; i++) {
            qemu_plugin_outs(block->text[i]);
            qemu_plugin_outs("\n");
        }
        block->times = 0;
    }
}

EXPORT int qemu_plugin_install(plugin_id id, const char *const *info, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    /* The first field of what it is told is the name of the target. */
    if (strcmp(info[0], "aarch64") == 0)
        getpid_number = 172;
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
