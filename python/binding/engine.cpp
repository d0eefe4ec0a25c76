#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "python/binding/binding.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/engine.h"
#include "runtime/plan/plan_json.h"
#include "runtime/verify/verify.h"

namespace nb = nanobind;

namespace winnow::python {
namespace {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

struct Options {
  std::string device;
  std::int64_t batch;
  std::string precision;
  int threads;
  std::uint64_t max_model_bytes;
  std::optional<std::string> cache;
  bool fixed_batch;
};

SessionOptions session_options(const Options& options) {
  if (options.batch < 1) fail(ErrorCode::usage, "batch is ", options.batch, ", expected 1 or more");
  if (options.threads < 0) {
    fail(ErrorCode::usage, "threads is ", options.threads, ", expected 0 or more");
  }
  SessionOptions result;
  result.batch = options.batch;
  result.threads = options.threads;
  result.any_batch = !options.fixed_batch;
  if (options.precision == "f16") {
    result.precision = Precision::f16;
  } else if (options.precision != "f32") {
    fail(ErrorCode::usage, "precision is ", in_quotes(options.precision),
         ", expected 'f32' or 'f16'");
  }
  if (options.cache && !options.cache->empty()) {
    result.timings.cache = std::make_shared<TimingCache>(*options.cache);
  }
  return result;
}

// An engine that threads of Python may call at the same time: their runs follow each other.
class PyEngine {
 public:
  PyEngine(Engine engine, SessionOptions how) : engine_(std::move(engine)), how_(std::move(how)) {}

  Output run(const Floats& input) {
    const auto samples = samples_of(input.size());
    return output_of(samples, [&](float* output) {
      engine_.run(std::span(input.data(), input.size()),
                  std::span(output, static_cast<std::size_t>(samples * engine_.output_size())));
    });
  }

  Output run_bytes(const Bytes& input) {
    const auto samples = samples_of(input.size());
    const std::int64_t in = engine_.input_size(), out = engine_.output_size();
    return output_of(samples, [&](float* output) {
      engine_.run_bytes(
          samples,
          [&](std::int64_t first, std::span<std::uint8_t> bytes) {
            std::copy_n(input.data() + first * in, bytes.size(), bytes.begin());
          },
          [&](std::int64_t first, std::span<const float> outputs) {
            std::ranges::copy(outputs, output + first * out);
          });
    });
  }

  // Addresses of memory of the engine's GPU, and a cudaStream_t.
  void run_device(std::uintptr_t input, std::int64_t samples, std::uintptr_t output,
                  std::uintptr_t stream) {
    const std::lock_guard lock(*mutex_);
    engine_.run_device(reinterpret_cast<const float*>(input), samples,
                       reinterpret_cast<float*>(output), reinterpret_cast<void*>(stream));
  }

  // The largest relative error of a layer.
  double verify() {
    const std::lock_guard lock(*mutex_);
    return verify_session(engine_.model(), engine_.session(), how_);
  }

  PyEngine share() const { return PyEngine(engine_.share(), how_); }

  std::vector<std::int64_t> shape(bool is_output) const {
    const auto shapes = infer_shapes(engine_.model().graph, 1);
    const Shape& shape = is_output ? shapes.back() : shapes.front();
    return {shape.begin() + 1, shape.end()};
  }

  const DeployedModel& model() const { return engine_.model(); }
  const Session& session() const { return engine_.session(); }
  const SessionOptions& how() const { return how_; }

  std::string notice() const {
    return how_.timings.cache ? one_line(how_.timings.cache->notice()) : "";
  }

 private:
  std::int64_t samples_of(std::size_t values) const {
    const auto count = static_cast<std::int64_t>(values);
    if (count % engine_.input_size() != 0) {
      fail(ErrorCode::usage, "input of ", count, " values; a sample has ", engine_.input_size());
    }
    return count / engine_.input_size();
  }

  template <typename Run>
  Output output_of(std::int64_t samples, const Run& run) {
    const std::int64_t size = engine_.output_size();
    auto memory = std::make_unique<float[]>(static_cast<std::size_t>(samples * size));
    {
      const nb::gil_scoped_release released;
      const std::lock_guard lock(*mutex_);
      run(memory.get());
    }
    float* const values = memory.release();
    const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<float*>(p); });
    return Output(values, {static_cast<std::size_t>(samples), static_cast<std::size_t>(size)},
                  owner);
  }

  Engine engine_;
  SessionOptions how_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

template <typename Open>
PyEngine load(const Options& options, const Open& open) {
  const nb::gil_scoped_release released;
  SessionOptions how = session_options(options);
  const Device device = device_from(options.device);
  return PyEngine(
      Engine(open(how.batch, OpenOptions{options.max_model_bytes, nullptr}), device, how), how);
}

PyEngine load_file(const std::string& path, const Options& options) {
  return load(options, [&](std::int64_t batch, const OpenOptions& open) {
    return open_model(path, batch, open);
  });
}

PyEngine load_bytes(const nb::bytes& bytes, const Options& options) {
  const std::span all(static_cast<const std::byte*>(bytes.data()), bytes.size());
  return load(options, [&](std::int64_t batch, const OpenOptions& open) {
    return open_model(all, "model in memory", batch, open);
  });
}

}  // namespace

void bind_engine(nb::module_& module) {
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<Options>(module, "Options")
      .def(nb::init<std::string, std::int64_t, std::string, int, std::uint64_t,
                    std::optional<std::string>, bool>(),
           nb::arg("device"), nb::arg("batch"), nb::arg("precision"), nb::arg("threads"),
           nb::arg("max_model_bytes"), nb::arg("cache").none(), nb::arg("fixed_batch"));
  nb::class_<PyEngine>(module, "Engine")
      .def("run", &PyEngine::run)
      .def("run_bytes", &PyEngine::run_bytes)
      .def("run_device", &PyEngine::run_device, released)
      .def("verify", &PyEngine::verify, released)
      .def("share", &PyEngine::share, released)
      .def_prop_ro("input_shape", [](const PyEngine& e) { return e.shape(false); })
      .def_prop_ro("output_shape", [](const PyEngine& e) { return e.shape(true); })
      .def_prop_ro("batch", [](const PyEngine& e) { return e.how().batch; })
      .def_prop_ro("classes", [](const PyEngine& e) { return e.model().classes; })
      .def_prop_ro("mean", [](const PyEngine& e) { return e.model().preprocessing.mean; })
      .def_prop_ro("deviation", [](const PyEngine& e) { return e.model().preprocessing.deviation; })
      .def_prop_ro(
          "picture_form",
          [](const PyEngine& e) { return facts_of_form(e.model().preprocessing.pictures); })
      .def_prop_ro("device", [](const PyEngine& e) { return e.session().device(); })
      .def_prop_ro("notice", &PyEngine::notice)
      .def_prop_ro("plan", [](const PyEngine& e) { return plan_json(e.session(), e.how()); });
  module.def("load_file", &load_file);
  module.def("load_bytes", &load_bytes);
}

}  // namespace winnow::python
