/* What engine dpdk needs of DPDK, as functions: much of its interface is inline code and structures whose layout only its
 * headers know. Nothing here decides anything. */
#define _GNU_SOURCE
#include <rte_config.h>

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

/* The last line of DPDK's log, which goes nowhere else. */
static char line[240];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static ssize_t note(void *cookie, const char *text, size_t bytes)
{
    size_t kept = bytes < sizeof(line) - 1 ? bytes : sizeof(line) - 1;

    (void)cookie;
    pthread_mutex_lock(&writing);
    memcpy(line, text, kept);
    line[kept] = 0;
    pthread_mutex_unlock(&writing);
    return (ssize_t)bytes;
}

/* Copies that line and forgets it. */
void takt_dpdk_log(char *into, size_t room)
{
    pthread_mutex_lock(&writing);
    snprintf(into, room, "%s", line);
    line[0] = 0;
    pthread_mutex_unlock(&writing);
}

/* Once a process. 0, or why not (errno). */
int takt_dpdk_start(int count, char **arguments)
{
    static const cookie_io_functions_t log = {.write = note};
    FILE *stream = fopencookie(NULL, "w", log);
    char folder[PATH_MAX];

    if (stream == NULL || rte_openlog_stream(stream) != 0)
        return ENOMEM;
    if (rte_eal_init(count, arguments) < 0)
        return rte_errno != 0 ? rte_errno : EIO;
    /* A folder for files that are not made here, and the one it is in, unless another program has one there. */
    snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
    if (rmdir(folder) == 0)
        (void)rmdir(dirname(folder));
    return 0;
}

int takt_dpdk_plug(const char *bus, const char *name, const char *arguments, uint16_t *port)
{
    int answer = rte_eal_hotplug_add(bus, name, arguments);

    if (answer != 0)
        return answer;
    answer = rte_eth_dev_get_port_by_name(name, port);
    if (answer != 0)
        (void)rte_eal_hotplug_remove(bus, name);
    return answer;
}

void takt_dpdk_unplug(const char *bus, const char *name)
{
    (void)rte_eal_hotplug_remove(bus, name);
}

/* Buffers that any thread may give back while another takes some: without a lock, and the one that was used last first, which the
 * cache still has. Without huge pages a buffer that has to be contiguous for a card takes whole pages. The others lie side by
 * side: net_af_xdp tells the kernel of as many bytes as they take so, and the kernel refuses what lies behind. */
struct rte_mempool *takt_dpdk_pool(const char *name, uint32_t count, uint16_t bytes, int for_card)
{
    struct rte_pktmbuf_pool_private room = {.mbuf_data_room_size = bytes};
    unsigned int flags = for_card ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
    unsigned int size = sizeof(struct rte_mbuf) + bytes;
    struct rte_mempool *pool = rte_mempool_create_empty(name, count, size, 0, sizeof(room), SOCKET_ID_ANY, flags);

    if (pool == NULL)
        return NULL;
    rte_pktmbuf_pool_init(pool, &room);
    if (rte_mempool_set_ops_byname(pool, "lf_stack", NULL) != 0 || rte_mempool_populate_default(pool) < 0) {
        rte_mempool_free(pool);
        return NULL;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
    return pool;
}

void takt_dpdk_free_pool(struct rte_mempool *pool)
{
    rte_mempool_free(pool);
}

/* Starts a port with a queue each way; 0 leaves the MTU as it is, and no more is requested than the device can. Starting sets whether all of a network's frames are taken:
 * on the kernel's interface, too, which is to stay as it is. */
int takt_dpdk_begin(uint16_t port, uint16_t receive, uint16_t send, uint16_t mtu, int promiscuous, struct rte_mempool *pool)
{
    struct rte_eth_conf conf = {.rxmode = {.mtu = mtu}};
    struct rte_eth_dev_info info;
    int socket = rte_eth_dev_socket_id(port);
    int answer = rte_eth_dev_info_get(port, &info);

    if (answer == 0 && mtu > info.max_mtu)
        conf.rxmode.mtu = info.max_mtu;
    if (answer == 0)
        answer = rte_eth_dev_configure(port, 1, 1, &conf);
    if (answer == 0)
        answer = rte_eth_dev_adjust_nb_rx_tx_desc(port, &receive, &send);
    if (answer == 0)
        answer = rte_eth_rx_queue_setup(port, 0, receive, (unsigned int)socket, NULL, pool);
    if (answer == 0)
        answer = rte_eth_tx_queue_setup(port, 0, send, (unsigned int)socket, NULL);
    if (answer == 0 && promiscuous)
        answer = rte_eth_promiscuous_enable(port);
    return answer != 0 ? answer : rte_eth_dev_start(port);
}

void takt_dpdk_end(uint16_t port)
{
    (void)rte_eth_dev_stop(port);
    (void)rte_eth_dev_close(port);
}

int takt_dpdk_describe(uint16_t port, uint8_t mac[6], uint16_t *mtu)
{
    struct rte_ether_addr address;
    int answer = rte_eth_macaddr_get(port, &address);

    memcpy(mac, address.addr_bytes, 6);
    return answer != 0 ? answer : rte_eth_dev_get_mtu(port, mtu);
}

/* Frames that came and found no room. */
int takt_dpdk_missed(uint16_t port, uint64_t *count)
{
    struct rte_eth_stats stats;
    int answer = rte_eth_stats_get(port, &stats);

    *count = answer == 0 ? stats.imissed + stats.rx_nombuf : 0;
    return answer;
}

uint16_t takt_dpdk_receive(uint16_t port, struct rte_mbuf **into, uint16_t most)
{
    return rte_eth_rx_burst(port, 0, into, most);
}

/* The frame in a buffer; NULL if the driver says that it reaches outside. */
const uint8_t *takt_dpdk_frame(const struct rte_mbuf *buffer, uint32_t *bytes)
{
    if (buffer->data_off > buffer->buf_len || buffer->data_len > buffer->buf_len - buffer->data_off)
        return NULL;
    *bytes = buffer->data_len;
    return rte_pktmbuf_mtod(buffer, const uint8_t *);
}

void takt_dpdk_free(struct rte_mbuf *buffer)
{
    rte_pktmbuf_free(buffer);
}

int takt_dpdk_take(struct rte_mempool *pool, struct rte_mbuf **into, unsigned int count)
{
    return rte_pktmbuf_alloc_bulk(pool, into, count);
}

/* Where a frame can be written. */
uint8_t *takt_dpdk_room(struct rte_mbuf *buffer, uint32_t *bytes)
{
    buffer->data_off = RTE_PKTMBUF_HEADROOM;
    *bytes = buffer->buf_len - RTE_PKTMBUF_HEADROOM;
    return rte_pktmbuf_mtod(buffer, uint8_t *);
}

void takt_dpdk_filled(struct rte_mbuf *buffer, uint16_t bytes)
{
    buffer->data_len = bytes;
    buffer->pkt_len = bytes;
}

/* Offers frames; returns how many the driver has taken. Each is referred to twice meanwhile, so that the driver never gives
 * one back to the pool, and that we see what it has taken, whatever it says. */
uint16_t takt_dpdk_send(uint16_t port, struct rte_mbuf **these, uint16_t count)
{
    uint16_t n, taken;

    for (n = 0; n < count; n++)
        rte_mbuf_refcnt_set(these[n], 2);
    taken = rte_eth_tx_burst(port, 0, these, count);
    while (taken < count && rte_mbuf_refcnt_read(these[taken]) == 1)
        taken++;
    for (n = taken; n < count; n++)
        rte_mbuf_refcnt_set(these[n], 1);
    return taken;
}

/* Whether the driver is done with a buffer that it has taken. */
int takt_dpdk_is_back(const struct rte_mbuf *buffer)
{
    return rte_mbuf_refcnt_read(buffer) == 1;
}

/* Has the driver release what has left; many can't. */
void takt_dpdk_clean(uint16_t port)
{
    (void)rte_eth_tx_done_cleanup(port, 0, 0);
}
