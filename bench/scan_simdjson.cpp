/*
 * scan_simdjson.cpp: what `leat-bench scan` measures of JSON records, done by simdjson's on-demand reader: for each line
 * the text and the id, unescaped. Only for comparison, built only by `make bench-simdjson`.
 *
 *   build/scan_simdjson [--runs N] FILE...     plain JSON lines
 *
 * simdjson checks UTF-8 besides, which leat does later, in the encoder; it wants 64 readable bytes behind a line, which
 * it has here, and of the members that are not asked for it checks only the nesting.
 */
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

static constexpr std::size_t block_bytes = std::size_t(1) << 20;

static double cpu_now()
{
    timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

struct counts {
    unsigned long long records = 0, refused = 0, text_bytes = 0;
};

static void scan_block(simdjson::ondemand::parser &parser, const char *block, std::size_t bytes, counts &c)
{
    const char *end = block + bytes;

    for (const char *at = block, *next; at < end; at = next) {
        const char *newline = static_cast<const char *>(std::memchr(at, '\n', std::size_t(end - at)));
        std::size_t length = std::size_t((newline ? newline : end) - at);
        simdjson::ondemand::document document;
        std::string_view text, id;

        next = newline ? newline + 1 : end;
        if (length == 0)
            continue;
        c.records++;
        if (parser.iterate(at, length, length + simdjson::SIMDJSON_PADDING).get(document) ||
            document.find_field_unordered("text").get_string().get(text)) {
            c.refused++;
            continue;
        }
        c.text_bytes += text.size();
        if (document.find_field_unordered("id").get_string().get(id))
            id = std::string_view();
        c.text_bytes += id.size() > block_bytes; /* is used */
    }
}

int main(int argc, char **argv)
{
    int runs = 5, first = 1;
    std::string text;
    double best = 0;
    counts last;

    if (argc > 2 && std::strcmp(argv[1], "--runs") == 0) {
        runs = int(std::strtol(argv[2], nullptr, 10));
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        std::ifstream file(argv[i], std::ios::binary);

        if (!file) {
            std::fprintf(stderr, "scan_simdjson: cannot open %s\n", argv[i]);
            return 1;
        }
        text.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        text.push_back('\n');
    }
    simdjson::ondemand::parser parser;
    std::string block;
    for (int run = 0; run < runs; run++) {
        double seconds = 0;

        last = counts();
        for (std::size_t at = 0, bytes; at < text.size(); at += bytes) {
            bytes = std::min(block_bytes, text.size() - at);
            std::size_t whole = text.rfind('\n', at + bytes - 1);
            bytes = (whole == std::string::npos || whole < at ? text.find('\n', at) : whole) + 1 - at;
            block.assign(text, at, bytes);
            block.append(simdjson::SIMDJSON_PADDING, ' ');
            double began = cpu_now();
            scan_block(parser, block.data(), bytes, last);
            seconds += cpu_now() - began;
        }
        best = run == 0 ? seconds : std::min(best, seconds);
    }
    std::printf("simdjson %s\nrecords     %llu, %llu refused\ntext        %llu bytes\nscanning    %.2f GB/s\n",
                simdjson::get_active_implementation()->name().c_str(), last.records, last.refused, last.text_bytes,
                best > 0 ? double(text.size()) / best / 1e9 : 0);
    return 0;
}
