// Exceptions become statuses here and nowhere else.
#include "runtime/winnow.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/engine.h"

struct winnow_engine {
  winnow::Engine engine;
  std::string device;
  std::string notice;
};

namespace {

thread_local std::string last_error;

template <typename Action>
winnow_status guarded(Action action) {
  try {
    last_error.clear();
    action();
    return WINNOW_OK;
  } catch (const winnow::Error& error) {
    last_error = winnow::one_line(error.what());
    const int code = static_cast<int>(error.code());
    return code <= WINNOW_DEVICE ? static_cast<winnow_status>(code) : WINNOW_INTERNAL;
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";
    return WINNOW_DEVICE;
  } catch (const std::exception& error) {
    last_error = winnow::one_line(error.what());
  } catch (...) {
    last_error = "unknown exception";
  }
  return WINNOW_INTERNAL;
}

void require(bool condition, const char* message) {
  if (!condition) winnow::fail(winnow::ErrorCode::usage, message);
}

// Each version of the struct ends with another field.
constexpr std::size_t kOptionsSizes[] = {
    offsetof(winnow_options, threads) + sizeof(int32_t),
    offsetof(winnow_options, max_model_bytes) + sizeof(uint64_t),
    offsetof(winnow_options, cache_folder) + sizeof(const char*), sizeof(winnow_options)};
constexpr std::size_t kFirstOptionsSize = kOptionsSizes[0];

// The caller's options as this library knows them, whichever header the caller was compiled with.
winnow_options known_options(const winnow_options* given) {
  winnow_options known = {};
  known.struct_size = sizeof known;
  if (!given) return known;
  const std::size_t size = given->struct_size;
  if (size < kFirstOptionsSize) {
    winnow::fail(winnow::ErrorCode::usage, "winnow_load: struct_size is ", size,
                 ", expected sizeof(winnow_options), at least ", kFirstOptionsSize);
  }
  const bool is_known_size = std::ranges::find(kOptionsSizes, size) != std::end(kOptionsSizes);
  if (size < sizeof known && !is_known_size) {
    winnow::fail(winnow::ErrorCode::usage, "winnow_load: struct_size is ", size,
                 ", which ends within a field");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof known; i < size; ++i) {
    if (bytes[i] == 0) continue;
    winnow::fail(winnow::ErrorCode::usage, "winnow_load: struct_size is ", size,
                 ", this library knows ", sizeof known, " bytes of options, and byte ", i,
                 " is not 0");
  }
  std::memcpy(&known, given, std::min(size, sizeof known));
  known.struct_size = sizeof known;
  return known;
}

// Rows of floats that an engine reads and writes, as sizes in memory.
void require_samples(const winnow::Engine& engine, int64_t samples, const char* who) {
  const int64_t largest = std::max(engine.input_size(), engine.output_size());
  const auto most = std::numeric_limits<int64_t>::max() / static_cast<int64_t>(sizeof(float));
  if (samples >= 0 && samples <= most / std::max<int64_t>(largest, 1)) return;
  winnow::fail(winnow::ErrorCode::usage, who, ": found ", samples, " samples, expected 0 to ",
               most / std::max<int64_t>(largest, 1));
}

winnow::SessionOptions session_options(const winnow_options& options) {
  winnow::SessionOptions result;
  require(options.batch >= 0 && options.threads >= 0, "winnow_load: batch or threads is negative");
  if (options.batch > 0) result.batch = options.batch;
  result.threads = options.threads;
  result.any_batch = options.fixed_batch == 0;
  require(options.precision == WINNOW_F32 || options.precision == WINNOW_F16,
          "winnow_load: precision is neither WINNOW_F32 nor WINNOW_F16");
  if (options.precision == WINNOW_F16) result.precision = winnow::Precision::f16;
  const bool has_cache = options.cache_folder && *options.cache_folder != '\0';
  if (has_cache) {
    result.timings.cache = std::make_shared<winnow::TimingCache>(options.cache_folder);
  }
  return result;
}

}  // namespace

int32_t winnow_abi_version(void) {
  return WINNOW_ABI_VERSION;
}

winnow_status winnow_load(const char* path, const winnow_options* options, winnow_engine** engine) {
  return guarded([&] {
    if (engine) *engine = nullptr;
    require(path && engine, "winnow_load: path or engine is NULL");
    const winnow_options chosen = known_options(options);
    const winnow::Device device = winnow::device_from(chosen.device ? chosen.device : "auto");
    const winnow::SessionOptions how = session_options(chosen);
    winnow::Engine loaded(path, device, how, {chosen.max_model_bytes, nullptr});
    std::string name = loaded.session().device();
    std::string notice = how.timings.cache ? how.timings.cache->notice() : "";
    *engine = new winnow_engine{std::move(loaded), std::move(name), winnow::one_line(notice)};
  });
}

winnow_status winnow_share(const winnow_engine* engine, winnow_engine** shared) {
  return guarded([&] {
    if (shared) *shared = nullptr;
    require(engine && shared, "winnow_share: engine or shared is NULL");
    *shared = new winnow_engine{engine->engine.share(), engine->device, engine->notice};
  });
}

void winnow_free(winnow_engine* engine) {
  delete engine;
}

int64_t winnow_input_size(const winnow_engine* engine) {
  return engine ? engine->engine.input_size() : 0;
}

int64_t winnow_output_size(const winnow_engine* engine) {
  return engine ? engine->engine.output_size() : 0;
}

const char* winnow_device(const winnow_engine* engine) {
  return engine ? engine->device.c_str() : "";
}

const char* winnow_notice(const winnow_engine* engine) {
  return engine ? engine->notice.c_str() : "";
}

winnow_status winnow_run(winnow_engine* engine, const float* input, int64_t samples,
                         float* output) {
  return guarded([&] {
    require(engine && input && output, "winnow_run: engine, input or output is NULL");
    winnow::Engine& target = engine->engine;
    require_samples(target, samples, "winnow_run");
    target.run({input, static_cast<std::size_t>(samples * target.input_size())},
               {output, static_cast<std::size_t>(samples * target.output_size())});
  });
}

winnow_status winnow_run_device(winnow_engine* engine, const float* input, int64_t samples,
                                float* output, void* stream) {
  return guarded([&] {
    require(engine && input && output, "winnow_run_device: engine, input or output is NULL");
    engine->engine.run_device(input, samples, output, stream);
  });
}

winnow_status winnow_run_bytes(winnow_engine* engine, const uint8_t* bytes, int64_t samples,
                               float* output) {
  return guarded([&] {
    require(engine && bytes && output, "winnow_run_bytes: engine, bytes or output is NULL");
    winnow::Engine& target = engine->engine;
    require_samples(target, samples, "winnow_run_bytes");
    const auto read = [&](std::int64_t first, std::span<std::uint8_t> batch) {
      std::copy_n(bytes + first * target.input_size(), batch.size(), batch.begin());
    };
    const auto write = [&](std::int64_t first, std::span<const float> outputs) {
      std::ranges::copy(outputs, output + first * target.output_size());
    };
    target.run_bytes(samples, read, write);
  });
}

const char* winnow_last_error(void) {
  return last_error.c_str();
}
