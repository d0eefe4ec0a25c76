// The public C++ API: load a model file, run it. The C ABI is winnow.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/session.h"

namespace winnow {

// Where to run. `automatic` takes GPU 0 if there is one and the CPU otherwise; the session's
// device() says which it was.
struct Device {
  enum class Kind { automatic, cpu, cuda } kind = Kind::automatic;
  int index = 0;
};

// "auto", "cpu", "cuda", "cuda:1". Throws Error{usage} with a did-you-mean.
Device device_from(std::string_view text);

// Throws Error{device} if a GPU was asked for and there is none.
Device resolve(Device device);

// Plans `model` for one batch size on `device`.
std::unique_ptr<Session> make_session(const DeployedModel& model, Device device,
                                      const SessionOptions& options);

// Normalises bytes as the model's preprocessing says (input_values), with the bits of training.
//
//   bytes  [n, C, H, W]
//   out    the same number of floats
void preprocess(const DeployedModel& model, std::span<const std::uint8_t> bytes,
                std::span<float> out);

// A model on a device, for any number of samples.
class Engine {
 public:
  // Throws Error{bad_file} or Error{device}.
  Engine(const std::string& path, Device device, const SessionOptions& options);

  const DeployedModel& model() const { return model_; }
  Session& session() { return *session_; }
  std::int64_t input_size() const { return input_size_; }    // floats per sample
  std::int64_t output_size() const { return output_size_; }  // floats per sample

  // Runs samples in batches of the session's size; the last one is filled up with zeros.
  //
  //   input   [n, input_size()] normalised
  //   output  [n, output_size()]
  //
  // Throws Error{usage} if the sizes disagree. One thread at a time.
  void run(std::span<const float> input, std::span<float> output);

 private:
  DeployedModel model_;
  std::int64_t batch_;
  std::int64_t input_size_;
  std::int64_t output_size_;
  std::unique_ptr<Session> session_;
};

}  // namespace winnow
