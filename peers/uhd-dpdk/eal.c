/* What UHD's DPDK transport lacks to run over a tap. `run` preloads this into benchmark_rate, so that three calls of DPDK's are
 * answered here first:
 *
 * rte_eal_init          UHD's configuration has no key for a virtual device. The words of TAKT_EAL join its arguments.
 * rte_eth_dev_info_get  net_tap of DPDK 22.11 says that its longest frame has 1522 bytes, though it carries what the interface
 *                       does. UHD opens no port whose frames are shorter than the 8058 bytes of its control messages.
 * rte_eal_cleanup       UHD calls it as the process ends, when it has freed the buffers that net_tap still holds: net_tap gives
 *                       them back to a pool that is gone, and the program dies with its result printed. Nothing is left to do
 *                       then that the end of the process does not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

/* An MTU of 9000 with the Ethernet header, a VLAN tag and the checksum. */
#define LONGEST_FRAME (9000 + 14 + 4 + 4)

int rte_eal_init(int count, char **arguments)
{
    int (*original)(int, char **) = (int (*)(int, char **))dlsym(RTLD_NEXT, "rte_eal_init");
    const char *given = getenv("TAKT_EAL");
    /* Both outlive this call: DPDK keeps pointers into its arguments. A word takes a character and a space at least. */
    char *words = strdup(given != NULL ? given : "");
    char **all = words != NULL ? calloc((size_t)count + strlen(words) / 2 + 2, sizeof(*all)) : NULL;
    char *rest = NULL;

    if (original == NULL || all == NULL)
        return -1;
    memcpy(all, arguments, (size_t)count * sizeof(*all));
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        all[count++] = word;
    return original(count, all);
}

int rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info)
{
    int (*original)(uint16_t, struct rte_eth_dev_info *) =
        (int (*)(uint16_t, struct rte_eth_dev_info *))dlsym(RTLD_NEXT, "rte_eth_dev_info_get");
    int answer = original != NULL ? original(port, info) : -ENOTSUP;

    if (answer == 0 && info->max_rx_pktlen < LONGEST_FRAME && strcmp(info->driver_name, "net_tap") == 0)
        info->max_rx_pktlen = LONGEST_FRAME;
    return answer;
}

int rte_eal_cleanup(void)
{
    return 0;
}
