#include "runtime/engine.h"

#include <algorithm>
#include <new>

#include "runtime/base/error.h"
#include "runtime/cpu/cpu_session.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/model/model_file.h"
#include "runtime/plan/memory.h"

namespace winnow {
namespace {

std::int64_t sample_size(const DeployedModel& model, bool is_output) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  return element_count(is_output ? shapes.back() : shapes.front());
}

std::uint64_t bytes_needed(const std::string& path, const DeployedModel& model,
                           std::int64_t batch) {
  try {
    return session_bytes(model, batch);
  } catch (const Error& error) {  // a batch whose sizes are no numbers of 64 bits
    fail(error.code(), path, ": batches of ", batch, ": ", error.what());
  }
}

// What `read` returns under the limits, if it runs within them.
template <typename Read>
DeployedModel granted(const std::string& name, std::int64_t batch, const OpenOptions& options,
                      const Read& read) {
  const std::uint64_t most = options.max_bytes > 0 ? options.max_bytes : kDefaultModelBytes;
  try {
    DeployedModel model = read(ModelFileLimits{most});
    const std::uint64_t needed = bytes_needed(name, model, batch);
    if (needed <= most) return model;
    fail(ErrorCode::bad_file, name, ": weights and activations of batches of ", batch,
         " take about ", needed, " bytes, at most ", most, " are allowed (--max-model-bytes)");
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::device, name, ": out of memory while the file is read");
  }
}

}  // namespace

Device resolve(Device device) {
  if (device.kind == Device::Kind::cpu) return device;
  if (gpu_is_available()) return {Device::Kind::cuda, device.index};
  if (device.kind == Device::Kind::automatic) return {Device::Kind::cpu, 0};
  fail(ErrorCode::device, "device cuda:", device.index, " was asked for, but ",
       gpu_unavailable_reason());
}

DeployedModel open_model(const std::string& path, std::int64_t batch, const OpenOptions& options) {
  return granted(path, batch, options, [&](const ModelFileLimits& limits) {
    return read_model_file(path, limits, options.progress);
  });
}

DeployedModel open_model(std::span<const std::byte> bytes, const std::string& name,
                         std::int64_t batch, const OpenOptions& options) {
  return granted(name, batch, options, [&](const ModelFileLimits& limits) {
    return parse_model_file(bytes, name, limits, options.progress);
  });
}

std::unique_ptr<Session> make_session(const DeployedModel& model, Device device,
                                      const SessionOptions& options) {
  const Device chosen = resolve(device);
  try {
    if (chosen.kind == Device::Kind::cpu) return make_cpu_session(model, options);
    SessionOptions on_gpu = options;
    on_gpu.gpu = chosen.index;
    return make_gpu_session(model, on_gpu);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::device, "out of memory: weights and activations of ", model.graph.name,
         " in batches of ", options.batch, " take about ", session_bytes(model, options.batch),
         " bytes");
  }
}

void preprocess(const DeployedModel& model, std::span<const std::uint8_t> bytes,
                std::span<float> out) {
  const auto& input = std::get<Input>(model.graph.nodes.front().op);
  const std::int64_t channels = input.shape.front();
  const std::int64_t plane = element_count(input.shape) / channels;
  if (bytes.size() != out.size() || bytes.size() % static_cast<std::size_t>(plane) != 0) {
    fail(ErrorCode::usage, "preprocess: ", bytes.size(), " bytes for ", out.size(),
         " inputs of samples of ", channels * plane);
  }
  const std::vector<float> values = input_values(model.preprocessing, channels);
  for (std::size_t first = 0, c = 0; first < bytes.size(); first += plane, c = (c + 1) % channels) {
    for (std::int64_t i = 0; i < plane; ++i) {
      out[first + i] = values[256 * c + bytes[first + i]];
    }
  }
}

namespace {

std::shared_ptr<const Vocabulary> vocabulary_of(const DeployedModel& model) {
  if (model.preprocessing.vocabulary.empty()) return nullptr;
  return std::make_shared<const Vocabulary>(model.preprocessing.vocabulary);
}

}  // namespace

Engine::Engine(const std::string& path, Device device, const SessionOptions& options,
               const OpenOptions& open)
    : Engine(open_model(path, options.batch, open), device, options) {}

Engine::Engine(DeployedModel model, Device device, const SessionOptions& options)
    : model_(std::make_shared<const DeployedModel>(std::move(model))),
      vocabulary_(vocabulary_of(*model_)),
      batch_(options.batch),
      input_size_(sample_size(*model_, false)),
      output_size_(sample_size(*model_, true)),
      session_(make_session(*model_, device, options)) {}

Engine::Engine(const Engine& other, std::unique_ptr<Session> session)
    : model_(other.model_),
      vocabulary_(other.vocabulary_),
      batch_(other.batch_),
      input_size_(other.input_size_),
      output_size_(other.output_size_),
      session_(std::move(session)) {}

TokenSentence Engine::tokenize(std::string_view sentence, std::span<float> input) const {
  if (!vocabulary_) {
    fail(ErrorCode::usage, model_->graph.name, ": has no vocabulary, so it takes no sentences");
  }
  if (static_cast<std::int64_t>(input.size()) != input_size_) {
    fail(ErrorCode::usage, "tokenize: input of ", input.size(), " floats, a sample has ",
         input_size_);
  }
  TokenSentence result = vocabulary_->tokens(sentence, input_size_);
  std::copy(result.tokens.begin(), result.tokens.end(), input.begin());
  return result;
}

Engine Engine::share() const {
  return Engine(*this, session_->share());
}

void Engine::run(std::int64_t samples, decltype(SampleStream::read) read,
                 decltype(SampleStream::write) write) {
  session_->run_all(
      {samples, batch_, input_size_, output_size_, std::move(read), std::move(write)});
}

void Engine::run(std::span<const float> input, std::span<float> output) {
  const auto samples = static_cast<std::int64_t>(input.size()) / input_size_;
  if (static_cast<std::int64_t>(input.size()) != samples * input_size_ ||
      static_cast<std::int64_t>(output.size()) != samples * output_size_) {
    fail(ErrorCode::usage, "run: input of ", input.size(), " and output of ", output.size(),
         " floats; a sample has ", input_size_, " and ", output_size_);
  }
  const auto read = [&](std::int64_t first, std::span<float> inputs) {
    std::copy_n(input.begin() + first * input_size_, inputs.size(), inputs.begin());
  };
  const auto write = [&](std::int64_t first, std::span<const float> outputs) {
    std::ranges::copy(outputs, output.begin() + first * output_size_);
  };
  run(samples, read, write);
}

void Engine::run_bytes(
    std::int64_t samples,
    const std::function<void(std::int64_t first, std::span<std::uint8_t> bytes)>& read,
    const decltype(SampleStream::write)& write) {
  std::vector<std::uint8_t> bytes;
  if (!session_->takes_bytes()) {
    const auto normalise = [&](std::int64_t first, std::span<float> inputs) {
      bytes.resize(inputs.size());
      read(first, bytes);
      preprocess(*model_, bytes, inputs);
    };
    run(samples, normalise, write);
    return;
  }
  bytes.resize(static_cast<std::size_t>(batch_ * input_size_));
  std::vector<float> outputs(static_cast<std::size_t>(batch_ * output_size_));
  for (std::int64_t first = 0; first < samples; first += batch_) {
    const std::int64_t count = std::min(batch_, samples - first);
    read(first, std::span(bytes).first(static_cast<std::size_t>(count * input_size_)));
    session_->run_bytes(bytes, outputs);  // samples do not touch each other
    write(first, std::span(outputs).first(static_cast<std::size_t>(count * output_size_)));
  }
}

}  // namespace winnow
