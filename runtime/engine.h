// Load a model file, run it: for programs of this source tree. What is installed for others is the
// C ABI, winnow.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/device_name.h"
#include "runtime/model/model.h"
#include "runtime/model/model_file.h"
#include "runtime/plan/session.h"
#include "runtime/text/vocabulary.h"

namespace winnow {

// The device that is meant by `automatic`; others as they are. Throws Error{device} if a GPU was
// asked for and there is none.
Device resolve(Device device);

// What of a model file is granted and shown.
struct OpenOptions {
  std::uint64_t max_bytes = kDefaultModelBytes;  // of memory; 0: as if it were left out
  ModelFileProgress progress = nullptr;          // may be empty
};

// Reads a model that is to run in batches of up to `batch`. Throws Error{bad_file}, also if its
// weights and activations take more memory than is granted (session_bytes), and Error{device} if
// there is not as much.
DeployedModel open_model(const std::string& path, std::int64_t batch, const OpenOptions& options);

// The same of a file's bytes in memory, which messages call `name`.
DeployedModel open_model(std::span<const std::byte> bytes, const std::string& name,
                         std::int64_t batch, const OpenOptions& options);

// Plans `model` for one batch size on `device`. Throws Error{device} if memory runs out.
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
  Engine(const std::string& path, Device device, const SessionOptions& options,
         const OpenOptions& open = {});

  // As make_session().
  Engine(DeployedModel model, Device device, const SessionOptions& options);

  const DeployedModel& model() const { return *model_; }
  Session& session() { return *session_; }
  const Session& session() const { return *session_; }
  std::int64_t input_size() const { return input_size_; }    // floats per sample
  std::int64_t output_size() const { return output_size_; }  // floats per sample

  // Runs samples in batches (Session::run_all).
  //
  //   input   [n, input_size()] normalised
  //   output  [n, output_size()]
  //
  // Throws Error{usage} if the sizes disagree. One thread at a time.
  void run(std::span<const float> input, std::span<float> output);

  // The same of samples that are made and taken batch by batch: each is normalised from bytes as it
  // is copied, for example.
  //
  //   read(first, inputs)    writes the samples from `first` on, as many as `inputs` holds
  //   write(first, outputs)  takes theirs
  void run(std::int64_t samples, decltype(SampleStream::read) read,
           decltype(SampleStream::write) write);

  // The same of samples of bytes, which are normalised as preprocess() does: by the first layer's
  // kernel where session().takes_bytes(), else before.
  void run_bytes(std::int64_t samples,
                 const std::function<void(std::int64_t first, std::span<std::uint8_t> bytes)>& read,
                 const decltype(SampleStream::write)& write);

  // What run() takes for a sentence: its words' tokens as floats, cut or padded to input_size().
  // Throws Error{usage} if the model has no vocabulary or `input` another size.
  TokenSentence tokenize(std::string_view sentence, std::span<float> input) const;

  // Another engine of the same plan and weights (Session::share); both may run at the same time,
  // each in one thread at a time.
  Engine share() const;

  // Enqueues a run on device memory (Session::run_device).
  void run_device(const float* input, std::int64_t samples, float* output, void* stream) {
    session_->run_device(input, samples, output, stream);
  }

 private:
  Engine(const Engine& other, std::unique_ptr<Session> session);

  std::shared_ptr<const DeployedModel> model_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // null if the model has none
  std::int64_t batch_;
  std::int64_t input_size_;
  std::int64_t output_size_;
  std::unique_ptr<Session> session_;
};

}  // namespace winnow
