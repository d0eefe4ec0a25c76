#include "runtime/challenge/layer_stages.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/base/error.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

// What was done in which order.
struct Log {
  struct Entry {
    std::uint32_t stage, layer;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::mutex mutex;
  std::vector<Entry> entries;

  void add(std::uint32_t stage, std::uint32_t layer) {
    const std::lock_guard lock(mutex);
    entries.push_back({stage, layer});
  }
  // Where it stands in the log.
  std::size_t at(std::uint32_t stage, std::uint32_t layer) const {
    return static_cast<std::size_t>(std::ranges::find(entries, Entry{stage, layer}) -
                                    entries.begin());
  }
};

}  // namespace

TEST_CASE("every stage of every layer runs once, after those of its neighbours before it") {
  for (const int threads : {1, 2, 5}) {
    for (const std::uint32_t layers : {1u, 2u, 3u, 40u}) {
      for (const std::uint32_t stages : {1u, 2u, 4u}) {
        CAPTURE(threads);
        CAPTURE(layers);
        CAPTURE(stages);
        Log began, ended;
        const LayerStages plan{.layers = layers, .stages = stages, .threads = threads};
        plan.run([&](std::uint32_t stage, std::uint32_t l, std::uint32_t slot) {
          CHECK(slot == l % plan.slots());
          if (stage > 0) {
            for (std::uint32_t n = l == 0 ? 0 : l - 1; n < std::min(l + 2, layers); ++n) {
              const std::lock_guard lock(ended.mutex);
              CHECK(ended.at(stage - 1, n) < ended.entries.size());
            }
          }
          began.add(stage, l);
          ended.add(stage, l);
        });
        REQUIRE(ended.entries.size() == std::size_t{layers} * stages);
        for (std::uint32_t l = 0; l < layers; ++l) {
          for (std::uint32_t s = 0; s < stages; ++s) CHECK(ended.at(s, l) < ended.entries.size());
        }
      }
    }
  }
}

TEST_CASE("the last stage runs in the calling thread, layer after layer") {
  const LayerStages plan{.layers = 30, .stages = 2, .threads = 4};
  std::uint32_t next = 0;
  plan.run([&, caller = std::this_thread::get_id()](std::uint32_t stage, std::uint32_t l,
                                                    std::uint32_t) {
    if (stage == 0) return;
    CHECK(std::this_thread::get_id() == caller);
    CHECK(l == next++);
  });
  CHECK(next == 30);
}

TEST_CASE("few layers are on their way at the same time") {
  const LayerStages plan{.layers = 100, .stages = 3, .threads = 2};
  std::atomic<std::uint32_t> begun = 0, through = 0;
  plan.run([&](std::uint32_t stage, std::uint32_t, std::uint32_t) {
    if (stage == 0) CHECK(++begun - through < plan.slots());
    if (stage == 2) ++through;
  });
  CHECK(through == 100);
}

TEST_CASE("an exception ends the work and is passed on") {
  for (const int threads : {1, 3}) {
    std::atomic<int> tasks = 0;
    const LayerStages plan{.layers = 1000, .stages = 2, .threads = threads};
    CHECK(message_of([&] {
            plan.run([&](std::uint32_t stage, std::uint32_t l, std::uint32_t) {
              ++tasks;
              if (stage == 0 && l == 7) fail(ErrorCode::bad_file, "layer 7 is bad");
            });
          }) == "layer 7 is bad");
    CHECK(tasks < 100);
  }
}

TEST_CASE("no layers are no work") {
  LayerStages{.layers = 0, .stages = 2, .threads = 2}.run(
      [](std::uint32_t, std::uint32_t, std::uint32_t) { CHECK(false); });
}

}  // namespace winnow::challenge
