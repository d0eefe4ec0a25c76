#include "runtime/engine.h"

#include <algorithm>
#include <charconv>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/cpu/cpu_session.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/model/model_file.h"

namespace winnow {
namespace {

std::int64_t sample_size(const DeployedModel& model, bool is_output) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, 1);
  return element_count(is_output ? shapes.back() : shapes.front());
}

}  // namespace

Device device_from(std::string_view text) {
  if (text == "auto") return {};
  if (text == "cpu") return {Device::Kind::cpu, 0};
  if (text == "cuda") return {Device::Kind::cuda, 0};
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    int index = -1;
    const auto [end, status] =
        std::from_chars(text.data() + kPrefix.size(), text.data() + text.size(), index);
    if (status == std::errc{} && end == text.data() + text.size() && index >= 0) {
      return {Device::Kind::cuda, index};
    }
  }
  const std::vector<std::string> known = {"auto", "cpu", "cuda", "cuda:0"};
  fail(ErrorCode::usage, "device '", text, "' is not known", suggestion(text, known));
}

Device resolve(Device device) {
  if (device.kind == Device::Kind::cpu) return device;
  if (gpu_is_available()) return {Device::Kind::cuda, device.index};
  if (device.kind == Device::Kind::automatic) return {Device::Kind::cpu, 0};
  fail(ErrorCode::device, "device cuda:", device.index, " was asked for, but ",
       gpu_unavailable_reason());
}

std::unique_ptr<Session> make_session(const DeployedModel& model, Device device,
                                      const SessionOptions& options) {
  const Device chosen = resolve(device);
  if (chosen.kind == Device::Kind::cpu) return make_cpu_session(model, options);
  SessionOptions on_gpu = options;
  on_gpu.gpu = chosen.index;
  return make_gpu_session(model, on_gpu);
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

Engine::Engine(const std::string& path, Device device, const SessionOptions& options)
    : model_(read_model_file(path)),
      batch_(options.batch),
      input_size_(sample_size(model_, false)),
      output_size_(sample_size(model_, true)),
      session_(make_session(model_, device, options)) {}

void Engine::run(std::span<const float> input, std::span<float> output) {
  const auto samples = static_cast<std::int64_t>(input.size()) / input_size_;
  if (static_cast<std::int64_t>(input.size()) != samples * input_size_ ||
      static_cast<std::int64_t>(output.size()) != samples * output_size_) {
    fail(ErrorCode::usage, "run: input of ", input.size(), " and output of ", output.size(),
         " floats; a sample has ", input_size_, " and ", output_size_);
  }
  std::vector<float> last_in, last_out;
  for (std::int64_t first = 0; first < samples; first += batch_) {
    const std::int64_t count = std::min(batch_, samples - first);
    auto in = input.subspan(first * input_size_, count * input_size_);
    auto out = output.subspan(first * output_size_, count * output_size_);
    if (count == batch_) {
      session_->run(in, out);
      continue;
    }
    last_in.assign(batch_ * input_size_, 0.0f);
    last_out.resize(batch_ * output_size_);
    std::copy(in.begin(), in.end(), last_in.begin());
    session_->run(last_in, last_out);
    std::copy_n(last_out.begin(), out.size(), out.begin());
  }
}

}  // namespace winnow
