// takt's driver as a module of SoapySDR. All that is decided is decided behind the functions of C below (src/c); this file gives each
// function of SoapySDR its call, and makes an exception of a refusal. packaging/soapy/build compiles it.

#include <SoapySDR/Device.hpp>
#include <SoapySDR/Logger.hpp>
#include <SoapySDR/Registry.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
struct TaktDevice;
struct TaktStream;
struct Said { char words[1024]; };
struct Pairs { const char *const *keys; const char *const *values; size_t count; };
struct TaktRange { double low, high, step; };
struct TaktSide {
    size_t channels, is_tuned, has_gain;
    TaktRange frequency_hz, gain_db;
    double bandwidth_hz;
};
struct TaktChannels { const size_t *numbers; size_t count; };

int takt_find(Pairs search, char **found, Said *);
int takt_open(Pairs args, TaktDevice **, Said *);
void takt_close(TaktDevice *);
void takt_text_free(char *);
int takt_about(const TaktDevice *, char **about, Said *);
int takt_side(const TaktDevice *, int direction, TaktSide *, Said *);
int takt_antennas(const TaktDevice *, int direction, char **antennas, Said *);
int takt_rates(const TaktDevice *, double *rates, size_t room, Said *);
int takt_rate(const TaktDevice *, int direction, size_t channel, double *rate_sps, Said *);
int takt_set_rate(const TaktDevice *, int direction, size_t channel, double rate_sps, Said *);
int takt_frequency(const TaktDevice *, int direction, size_t channel, double *hz, Said *);
int takt_tune(const TaktDevice *, int direction, size_t channel, double hz, double offset_hz, Said *);
int takt_gain(const TaktDevice *, int direction, double *gain_db, Said *);
int takt_set_gain(const TaktDevice *, int direction, double gain_db, Said *);
int takt_antenna(const TaktDevice *, int direction, char **name, Said *);
int takt_set_antenna(const TaktDevice *, int direction, const char *name, Said *);
int takt_clock(const TaktDevice *, double *clock_hz, Said *);
int takt_time(const TaktDevice *, int64_t *ns, Said *);
int takt_set_time(const TaktDevice *, int64_t ns, int at_pps, Said *);
int takt_set_time_source(const TaktDevice *, const char *name, Said *);
int takt_reference_locked(const TaktDevice *, Said *);
int takt_lo_locked(const TaktDevice *, int direction, Said *);
int takt_stream_open(const TaktDevice *, int direction, TaktChannels, int integers, Pairs args, TaktStream **, Said *);
void takt_stream_close(TaktStream *);
size_t takt_stream_mtu(void);
int takt_stream_activate(const TaktStream *, int flags, int64_t time_ns, size_t samples, Said *);
int takt_stream_deactivate(const TaktStream *, int flags, Said *);
int takt_stream_read(const TaktStream *, void *const *buffers, size_t samples, int *flags, int64_t *time_ns, long timeout_us, Said *);
int takt_stream_write(const TaktStream *, const void *const *buffers, size_t samples, int flags, int64_t time_ns, long timeout_us, Said *);
int takt_stream_status(const TaktStream *, size_t *mask, int *flags, int64_t *time_ns, long timeout_us, Said *);
}

// src/c asserts the same numbers.
static_assert(sizeof(Said) == 1024 && sizeof(TaktRange) == 24, "as in src/c");
static_assert(sizeof(size_t) != 8 || (sizeof(TaktSide) == 80 && sizeof(Pairs) == 24), "as in src/c");

namespace {

// A result, or the words of its refusal as an exception.
int checked(const int result, const Said &said)
{
    if (result < 0) throw std::runtime_error(std::string("takt: ") + said.words);
    return result;
}

// For functions that return SoapySDR's numbers: the words are in its log.
int logged(const int result, const Said &said)
{
    if (said.words[0] != '\0') SoapySDR::logf(SOAPY_SDR_ERROR, "takt: %s", said.words);
    return result;
}

class PairsOf
{
public:
    explicit PairsOf(const SoapySDR::Kwargs &args)
    {
        for (const auto &pair : args)
        {
            keys.push_back(pair.first.c_str());
            values.push_back(pair.second.c_str());
        }
    }
    Pairs pairs() const { return {keys.data(), values.data(), keys.size()}; }

private:
    std::vector<const char *> keys, values;
};

std::string taken(char *text)
{
    const std::unique_ptr<char, void (*)(char *)> owned(text, takt_text_free);
    return owned ? std::string(owned.get()) : std::string();
}

std::vector<std::string> linesOf(const std::string &text)
{
    std::vector<std::string> lines;
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) lines.push_back(text.substr(begin, end - begin));
    return lines;
}

void addPair(SoapySDR::Kwargs &args, const std::string &line)
{
    const auto at = line.find('=');
    if (at != std::string::npos) args[line.substr(0, at)] = line.substr(at + 1);
}

SoapySDR::Range rangeOf(const TaktRange &range)
{
    return SoapySDR::Range(range.low, range.high, range.step);
}

class Takt : public SoapySDR::Device
{
public:
    explicit Takt(const SoapySDR::Kwargs &args)
        : reference(args.count("reference") ? args.at("reference") : "internal")
    {
        Said said{};
        TaktDevice *opened = nullptr;
        checked(takt_open(PairsOf(args).pairs(), &opened, &said), said);
        device.reset(opened);
    }

    // A program may have forgotten to close its streams.
    ~Takt() override
    {
        for (auto *stream : streams) takt_stream_close(stream);
    }

    std::string getDriverKey() const override { return "takt"; }
    std::string getHardwareKey() const override { return about().at("radio"); }
    SoapySDR::Kwargs getHardwareInfo() const override { return about(); }
    size_t getNumChannels(const int direction) const override { return side(direction).channels; }
    bool getFullDuplex(const int, const size_t) const override { return true; }

    // Streams

    std::vector<std::string> getStreamFormats(const int, const size_t) const override { return {"CF32", "CS16"}; }

    std::string getNativeStreamFormat(const int, const size_t, double &fullScale) const override
    {
        fullScale = 1.0;
        return "CF32";
    }

    SoapySDR::ArgInfoList getStreamArgsInfo(const int, const size_t) const override
    {
        SoapySDR::ArgInfo wire;
        wire.key = "WIRE";
        wire.value = "sc16";
        wire.name = "Format between host and radio";
        wire.type = SoapySDR::ArgInfo::STRING;
        wire.options = {"sc16", "sc8"};
        SoapySDR::ArgInfo packet;
        packet.key = "packet_samples";
        packet.name = "Samples in a datagram";
        packet.description = "As many as it holds, unless you give a number";
        packet.type = SoapySDR::ArgInfo::INT;
        return {wire, packet};
    }

    SoapySDR::Stream *setupStream(const int direction, const std::string &format, const std::vector<size_t> &channels, const SoapySDR::Kwargs &args) override
    {
        if (format != "CF32" && format != "CS16") throw std::runtime_error("takt: no format " + format + ": there are CF32 and CS16");
        Said said{};
        TaktStream *stream = nullptr;
        const TaktChannels wanted{channels.data(), channels.size()};
        checked(takt_stream_open(device.get(), direction, wanted, format == "CS16", PairsOf(args).pairs(), &stream, &said), said);
        const std::lock_guard<std::mutex> lock(mutex);
        streams.insert(stream);
        return reinterpret_cast<SoapySDR::Stream *>(stream);
    }

    void closeStream(SoapySDR::Stream *stream) override
    {
        auto *closing = reinterpret_cast<TaktStream *>(stream);
        {
            const std::lock_guard<std::mutex> lock(mutex);
            if (streams.erase(closing) == 0) return;
        }
        takt_stream_close(closing);
    }

    size_t getStreamMTU(SoapySDR::Stream *) const override { return takt_stream_mtu(); }

    int activateStream(SoapySDR::Stream *stream, const int flags, const long long timeNs, const size_t numElems) override
    {
        Said said{};
        return logged(takt_stream_activate(native(stream), flags, timeNs, numElems, &said), said);
    }

    int deactivateStream(SoapySDR::Stream *stream, const int flags, const long long) override
    {
        Said said{};
        return logged(takt_stream_deactivate(native(stream), flags, &said), said);
    }

    int readStream(SoapySDR::Stream *stream, void *const *buffs, const size_t numElems, int &flags, long long &timeNs, const long timeoutUs) override
    {
        Said said{};
        int64_t time = 0;
        flags = 0;
        const int count = takt_stream_read(native(stream), buffs, numElems, &flags, &time, timeoutUs, &said);
        if (flags & SOAPY_SDR_HAS_TIME) timeNs = time;
        return logged(count, said);
    }

    int writeStream(SoapySDR::Stream *stream, const void *const *buffs, const size_t numElems, int &flags, const long long timeNs, const long timeoutUs) override
    {
        Said said{};
        return logged(takt_stream_write(native(stream), buffs, numElems, flags, timeNs, timeoutUs, &said), said);
    }

    int readStreamStatus(SoapySDR::Stream *stream, size_t &chanMask, int &flags, long long &timeNs, const long timeoutUs) override
    {
        Said said{};
        int64_t time = 0;
        flags = 0;
        chanMask = 0;
        const int result = takt_stream_status(native(stream), &chanMask, &flags, &time, timeoutUs, &said);
        if (flags & SOAPY_SDR_HAS_TIME) timeNs = time;
        // A receive stream has its reports in readStream. A program that asks again and again is not to fill the log.
        return result == SOAPY_SDR_NOT_SUPPORTED ? result : logged(result, said);
    }

    // Antennas

    std::vector<std::string> listAntennas(const int direction, const size_t) const override
    {
        Said said{};
        char *names = nullptr;
        checked(takt_antennas(device.get(), direction, &names, &said), said);
        return linesOf(taken(names));
    }

    void setAntenna(const int direction, const size_t, const std::string &name) override
    {
        Said said{};
        checked(takt_set_antenna(device.get(), direction, name.c_str(), &said), said);
    }

    std::string getAntenna(const int direction, const size_t) const override
    {
        Said said{};
        char *name = nullptr;
        checked(takt_antenna(device.get(), direction, &name, &said), said);
        return taken(name);
    }

    // Gain: one for all stages, by the name that SoapySDR's module for UHD has for it too

    std::vector<std::string> listGains(const int direction, const size_t) const override
    {
        if (side(direction).has_gain == 0) return {};
        return {"PGA0"};
    }

    void setGain(const int direction, const size_t, const double value) override
    {
        Said said{};
        checked(takt_set_gain(device.get(), direction, value, &said), said);
    }

    void setGain(const int direction, const size_t channel, const std::string &name, const double value) override
    {
        expectName(name, "PGA0", "gain");
        setGain(direction, channel, value);
    }

    double getGain(const int direction, const size_t) const override
    {
        Said said{};
        double gain = 0;
        checked(takt_gain(device.get(), direction, &gain, &said), said);
        return gain;
    }

    double getGain(const int direction, const size_t channel, const std::string &name) const override
    {
        expectName(name, "PGA0", "gain");
        return getGain(direction, channel);
    }

    SoapySDR::Range getGainRange(const int direction, const size_t) const override { return rangeOf(side(direction).gain_db); }

    SoapySDR::Range getGainRange(const int direction, const size_t channel, const std::string &) const override
    {
        return getGainRange(direction, channel);
    }

    // Frequency: takt sets oscillator and DSP as one

    void setFrequency(const int direction, const size_t channel, const double frequency, const SoapySDR::Kwargs &args) override
    {
        double offset = std::nan("");
        for (const auto &arg : args)
        {
            if (arg.first != "OFFSET") throw std::runtime_error("takt: no argument " + arg.first + " of a frequency: there is OFFSET");
            offset = SoapySDR::StringToSetting<double>(arg.second);
        }
        Said said{};
        checked(takt_tune(device.get(), direction, channel, frequency, offset, &said), said);
    }

    void setFrequency(const int direction, const size_t channel, const std::string &name, const double frequency, const SoapySDR::Kwargs &args) override
    {
        expectName(name, "RF", "frequency");
        setFrequency(direction, channel, frequency, args);
    }

    double getFrequency(const int direction, const size_t channel) const override
    {
        Said said{};
        double hz = 0;
        checked(takt_frequency(device.get(), direction, channel, &hz, &said), said);
        return hz;
    }

    double getFrequency(const int direction, const size_t channel, const std::string &name) const override
    {
        expectName(name, "RF", "frequency");
        return getFrequency(direction, channel);
    }

    std::vector<std::string> listFrequencies(const int direction, const size_t) const override
    {
        if (side(direction).is_tuned == 0) return {};
        return {"RF"};
    }

    SoapySDR::RangeList getFrequencyRange(const int direction, const size_t) const override
    {
        const auto known = side(direction);
        if (known.is_tuned == 0) return {};
        return {rangeOf(known.frequency_hz)};
    }

    SoapySDR::RangeList getFrequencyRange(const int direction, const size_t channel, const std::string &) const override
    {
        return getFrequencyRange(direction, channel);
    }

    SoapySDR::ArgInfoList getFrequencyArgsInfo(const int, const size_t) const override
    {
        SoapySDR::ArgInfo offset;
        offset.key = "OFFSET";
        offset.name = "How far above the frequency the oscillator goes";
        offset.units = "Hz";
        offset.type = SoapySDR::ArgInfo::FLOAT;
        return {offset};
    }

    // Rate

    void setSampleRate(const int direction, const size_t channel, const double rate) override
    {
        Said said{};
        checked(takt_set_rate(device.get(), direction, channel, rate, &said), said);
    }

    double getSampleRate(const int direction, const size_t channel) const override
    {
        Said said{};
        double rate = 0;
        checked(takt_rate(device.get(), direction, channel, &rate, &said), said);
        return rate;
    }

    // SoapySDR makes ranges of these.
    std::vector<double> listSampleRates(const int, const size_t) const override
    {
        Said said{};
        std::vector<double> rates(checked(takt_rates(device.get(), nullptr, 0, &said), said));
        checked(takt_rates(device.get(), rates.data(), rates.size(), &said), said);
        return rates;
    }

    // Band: as the daughterboard has it. A program that wishes for another is warned that nothing was set.

    void setBandwidth(const int direction, const size_t, const double bandwidth) override
    {
        const auto has = side(direction).bandwidth_hz;
        if (bandwidth != 0 && bandwidth != has)
            SoapySDR::logf(SOAPY_SDR_WARNING, "takt: the analogue band stays %g Hz wide: it can't be set to %g Hz", has, bandwidth);
    }

    double getBandwidth(const int direction, const size_t) const override { return side(direction).bandwidth_hz; }

    SoapySDR::RangeList getBandwidthRange(const int direction, const size_t) const override
    {
        const auto has = side(direction).bandwidth_hz;
        if (has == 0) return {};
        return {SoapySDR::Range(has, has)};
    }

    // Clock and time

    void setMasterClockRate(const double rate) override
    {
        if (rate != getMasterClockRate()) throw std::runtime_error("takt: the master clock is set when a radio is opened: add master_clock=HERTZ to its arguments");
    }

    double getMasterClockRate() const override
    {
        Said said{};
        double hz = 0;
        checked(takt_clock(device.get(), &hz, &said), said);
        return hz;
    }

    SoapySDR::RangeList getMasterClockRates() const override { return {SoapySDR::Range(getMasterClockRate(), getMasterClockRate())}; }

    std::vector<std::string> listClockSources() const override { return {reference}; }

    void setClockSource(const std::string &source) override
    {
        if (source != reference) throw std::runtime_error("takt: the reference is chosen when a radio is opened: add reference=" + source + " to its arguments");
    }

    std::string getClockSource() const override { return reference; }

    std::vector<std::string> listTimeSources() const override
    {
        if (getHardwareKey() != "N200") return {};
        return {"internal", "external", "mimo"};
    }

    void setTimeSource(const std::string &source) override
    {
        Said said{};
        checked(takt_set_time_source(device.get(), source.c_str(), &said), said);
        timeSource = source;
    }

    std::string getTimeSource() const override { return timeSource; }

    bool hasHardwareTime(const std::string &what) const override { return what.empty() || what == "PPS"; }

    long long getHardwareTime(const std::string &what) const override
    {
        if (!what.empty()) throw std::runtime_error("takt: no time " + what + " can be read: leave its name out");
        Said said{};
        int64_t ns = 0;
        checked(takt_time(device.get(), &ns, &said), said);
        return ns;
    }

    void setHardwareTime(const long long timeNs, const std::string &what) override
    {
        if (!hasHardwareTime(what)) throw std::runtime_error("takt: no time " + what + ": set it at once, or at PPS");
        Said said{};
        checked(takt_set_time(device.get(), timeNs, what == "PPS", &said), said);
    }

    void setCommandTime(const long long timeNs, const std::string &) override
    {
        if (timeNs != 0) throw std::runtime_error("takt: settings can't be given a time: give streams a time");
    }

    // Sensors

    std::vector<std::string> listSensors() const override { return {"ref_locked"}; }

    SoapySDR::ArgInfo getSensorInfo(const std::string &key) const override { return locked(key); }

    std::string readSensor(const std::string &key) const override
    {
        expectName(key, "ref_locked", "sensor");
        Said said{};
        return checked(takt_reference_locked(device.get(), &said), said) == 1 ? "true" : "false";
    }

    std::vector<std::string> listSensors(const int direction, const size_t) const override
    {
        if (oscillatorLocked(direction) == 2) return {};
        return {"lo_locked"};
    }

    SoapySDR::ArgInfo getSensorInfo(const int, const size_t, const std::string &key) const override { return locked(key); }

    std::string readSensor(const int direction, const size_t, const std::string &key) const override
    {
        expectName(key, "lo_locked", "sensor");
        return oscillatorLocked(direction) == 1 ? "true" : "false";
    }

private:
    struct Close
    {
        void operator()(TaktDevice *open) const { takt_close(open); }
    };

    static const TaktStream *native(SoapySDR::Stream *stream) { return reinterpret_cast<const TaktStream *>(stream); }

    static void expectName(const std::string &got, const char *known, const char *what)
    {
        if (got != known) throw std::runtime_error(std::string("takt: no ") + what + " " + got + ": there is " + known);
    }

    static SoapySDR::ArgInfo locked(const std::string &key)
    {
        SoapySDR::ArgInfo info;
        info.key = key;
        info.value = "false";
        info.type = SoapySDR::ArgInfo::BOOL;
        return info;
    }

    TaktSide side(const int direction) const
    {
        Said said{};
        TaktSide known{};
        checked(takt_side(device.get(), direction, &known, &said), said);
        return known;
    }

    int oscillatorLocked(const int direction) const
    {
        Said said{};
        return checked(takt_lo_locked(device.get(), direction, &said), said);
    }

    SoapySDR::Kwargs about() const
    {
        Said said{};
        char *text = nullptr;
        checked(takt_about(device.get(), &text, &said), said);
        SoapySDR::Kwargs known;
        for (const auto &line : linesOf(taken(text))) addPair(known, line);
        return known;
    }

    std::unique_ptr<TaktDevice, Close> device;
    const std::string reference;
    std::string timeSource = "internal";
    std::mutex mutex;
    std::set<TaktStream *> streams;
};

SoapySDR::KwargsList findTakt(const SoapySDR::Kwargs &args)
{
    Said said{};
    char *text = nullptr;
    checked(takt_find(PairsOf(args).pairs(), &text, &said), said);
    SoapySDR::KwargsList found;
    SoapySDR::Kwargs radio;
    for (const auto &line : linesOf(taken(text)))
    {
        addPair(radio, line);
        if (!line.empty()) continue;
        found.push_back(radio);
        radio.clear();
    }
    return found;
}

SoapySDR::Device *makeTakt(const SoapySDR::Kwargs &args)
{
    return new Takt(args);
}

const SoapySDR::Registry registration("takt", &findTakt, &makeTakt, SOAPY_SDR_ABI_VERSION);

} // namespace
