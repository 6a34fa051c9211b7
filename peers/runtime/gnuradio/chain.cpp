// gnuradio-chain KERNEL STAGES PACKET CORES MODE SECONDS: items a second through a chain in GNU Radio, as JSON.
//
// null_source, STAGES times KERNEL (`copy`: blocks::copy, `saxpy`: the block below), null_sink; a thread a block, as
// GNU Radio has it. MODE: `placed` binds each block's thread to a core, equal parts of the kernels in order; `free`
// leaves them to the kernel on the cores this process may use: start it with `taskset -c CORES`. PACKET bounds the items
// of a call (max_noutput_items); 0 leaves that to GNU Radio. SECONDS 0 prints an item that came out instead.

#include <gnuradio/blocks/copy.h>
#include <gnuradio/blocks/head.h>
#include <gnuradio/blocks/null_sink.h>
#include <gnuradio/blocks/null_source.h>
#include <gnuradio/blocks/vector_sink.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

// The one loop that all compared programs have.
class saxpy : public gr::sync_block
{
    float d_a, d_b;

public:
    saxpy(float a, float b)
        : gr::sync_block("saxpy", gr::io_signature::make(1, 1, sizeof(float)), gr::io_signature::make(1, 1, sizeof(float))),
          d_a(a), d_b(b)
    {
    }

    int work(int items, gr_vector_const_void_star& inputs, gr_vector_void_star& outputs) override
    {
        const float* __restrict__ x = static_cast<const float*>(inputs[0]);
        float* __restrict__ y = static_cast<float*>(outputs[0]);
        const float a = d_a, b = d_b;
        for (int i = 0; i < items; i++)
            y[i] = a * x[i] + b;
        return items;
    }
};

int main(int argc, char** argv)
{
    if (argc != 7) {
        std::fprintf(stderr, "gnuradio-chain KERNEL STAGES PACKET CORES MODE SECONDS\n");
        return 2;
    }
    const std::string kernel = argv[1], mode = argv[5];
    const int stages = std::atoi(argv[2]), packet = std::atoi(argv[3]);
    const double seconds = std::atof(argv[6]);
    std::vector<int> cores;
    std::stringstream list(argv[4]);
    for (std::string core; std::getline(list, core, ',');)
        cores.push_back(std::stoi(core));

    auto top = gr::make_top_block("chain");
    auto source = gr::blocks::null_source::make(sizeof(float));
    auto sink = gr::blocks::null_sink::make(sizeof(float));
    std::vector<gr::block_sptr> blocks{ source };
    for (int stage = 0; stage < stages; stage++) {
        if (kernel == "copy")
            blocks.push_back(gr::blocks::copy::make(sizeof(float)));
        else
            blocks.push_back(gnuradio::make_block_sptr<saxpy>(1.5f, 0.5f));
    }
    const int workers = std::min<int>(cores.size(), stages);
    for (size_t i = 0; i < blocks.size(); i++) {
        if (mode == "placed") {
            const int stage = std::clamp<int>(int(i) - 1, 0, stages - 1);
            blocks[i]->set_processor_affinity({ cores[stage * workers / stages] });
        }
        // Said to each block: top_block.start(PACKET) bounds sources alone.
        if (packet > 0)
            blocks[i]->set_max_noutput_items(packet);
        if (2 * packet > 8192)
            blocks[i]->set_min_output_buffer(2 * packet);
        if (i > 0)
            top->connect(blocks[i - 1], 0, blocks[i], 0);
    }
    if (mode == "placed")
        sink->set_processor_affinity({ cores[workers - 1] });

    if (seconds == 0) {
        auto head = gr::blocks::head::make(sizeof(float), 1000000);
        auto keep = gr::blocks::vector_sink_f::make();
        top->connect(blocks.back(), 0, head, 0);
        top->connect(head, 0, keep, 0);
        top->run();
        std::printf("{\"item\": %.9g}\n", keep->data().back());
        return 0;
    }
    top->connect(blocks.back(), 0, sink, 0);
    if (packet > 0)
        sink->set_max_noutput_items(packet);
    top->start();
    const auto wait = [](double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); };
    wait(0.3 * seconds);
    const auto cpu_seconds = [] {
        timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
    };
    const auto from = sink->nitems_read(0);
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    wait(seconds);
    const auto to = sink->nitems_read(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("{\"items\": %llu, \"seconds\": %.9g, \"cpu_seconds\": %.9g}\n", static_cast<unsigned long long>(to - from),
                took.count(), cpu_seconds() - cpu);
    std::fflush(stdout);
    std::_Exit(0);
}
