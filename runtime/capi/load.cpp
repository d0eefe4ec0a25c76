// Engines are made and released here.
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/capi/guard.h"
#include "runtime/capi/options.h"
#include "runtime/plan/plan_json.h"

namespace winnow::capi {
namespace {

using Clock = std::chrono::steady_clock;

// What a caller is told while an engine is made. Silent without a callback.
class Log {
 public:
  explicit Log(const winnow_options& options) : log_(options.log), user_(options.log_user) {}

  void operator()(winnow_log_level level, const std::string& line) const {
    if (log_ && !line.empty()) log_(user_, level, one_line(line).c_str());
  }

  // A line a second at most.
  void planned(std::size_t done, std::size_t all) {
    const Clock::time_point now = Clock::now();
    if (now - told_ < std::chrono::seconds(1)) return;
    told_ = now;
    (*this)(WINNOW_LOG_INFO,
            "planning: " + std::to_string(done) + " of " + std::to_string(all) + " steps");
  }

 private:
  winnow_log_function log_;
  void* user_;
  Clock::time_point told_ = Clock::now();
};

std::string summary_of(const Session& session, double seconds) {
  const TimingCounts counts = session.timing_counts();
  return session.device() + ": " + std::to_string(session.layers().size()) + " steps planned in " +
         fixed(seconds, 2) + " s, " + std::to_string(counts.measured) + " kernels timed, " +
         std::to_string(counts.cached) + " times from the cache";
}

template <typename Open>
winnow_engine* made(const winnow_options* options, const Open& open) {
  const winnow_options chosen = known_options(options);
  const Device device = device_from(chosen.device ? chosen.device : "auto");
  SessionOptions how = session_options(chosen);
  DeployedModel model = open(how.batch, OpenOptions{chosen.max_model_bytes, nullptr});
  Log log(chosen);
  how.progress = [&log](std::size_t done, std::size_t all) { log.planned(done, all); };
  const Clock::time_point begin = Clock::now();
  Engine engine(std::move(model), device, how);
  const std::chrono::duration<double> taken = Clock::now() - begin;
  how.progress = nullptr;  // it knows the log, which ends here
  const std::string notice = how.timings.cache ? one_line(how.timings.cache->notice()) : "";
  log(WINNOW_LOG_WARNING, notice);
  log(WINNOW_LOG_INFO, summary_of(engine.session(), taken.count()));
  std::string name = engine.session().device(), plan = plan_json(engine.session(), how);
  return new winnow_engine{std::move(engine), std::move(how), std::move(name), notice,
                           std::move(plan)};
}

}  // namespace
}  // namespace winnow::capi

using namespace winnow::capi;

winnow_status winnow_load(const char* path, const winnow_options* options, winnow_engine** engine) {
  return guarded([&] {
    if (engine) *engine = nullptr;
    require(path && engine, "winnow_load: path or engine is NULL");
    *engine = made(options, [&](std::int64_t batch, const winnow::OpenOptions& open) {
      return winnow::open_model(path, batch, open);
    });
  });
}

winnow_status winnow_load_memory(const void* bytes, size_t size, const winnow_options* options,
                                 winnow_engine** engine) {
  return guarded([&] {
    if (engine) *engine = nullptr;
    require(bytes && engine, "winnow_load_memory: bytes or engine is NULL");
    const std::span all(static_cast<const std::byte*>(bytes), size);
    *engine = made(options, [&](std::int64_t batch, const winnow::OpenOptions& open) {
      return winnow::open_model(all, "model in memory", batch, open);
    });
  });
}

winnow_status winnow_share(const winnow_engine* engine, winnow_engine** shared) {
  return guarded([&] {
    if (shared) *shared = nullptr;
    require(engine && shared, "winnow_share: engine or shared is NULL");
    *shared = new winnow_engine{engine->engine.share(), engine->how, engine->device, engine->notice,
                                engine->plan};
  });
}

void winnow_free(winnow_engine* engine) {
  delete engine;
}
