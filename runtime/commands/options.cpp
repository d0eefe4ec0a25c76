#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/commands/commands.h"

namespace winnow {
namespace {

KernelChoice choice_from(const std::string& name) {
  if (name == "measured") return KernelChoice::measured;
  if (name == "sparse") return KernelChoice::sparse;
  if (name == "dense") return KernelChoice::dense;
  const std::vector<std::string> known = {"measured", "sparse", "dense"};
  fail(ErrorCode::usage, "--choice '", name, "' is not known", suggestion(name, known));
}

Precision precision_from(const std::string& name) {
  if (name == "f32") return Precision::f32;
  if (name == "f16") return Precision::f16;
  const std::vector<std::string> known = {"f32", "f16"};
  fail(ErrorCode::usage, "--precision '", name, "' is not known", suggestion(name, known));
}

}  // namespace

void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("model", options.model, "Model file (.wnw) written by export")->required();
  app.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--precision", options.precision, "f32 or f16 (GPU)")->capture_default_str();
  app.add_option("--choice", options.choice, "measured (fastest per layer), sparse or dense")
      ->capture_default_str();
  app.add_option("--family", options.family, "Only this kernel family, for example direct");
  app.add_option("--threads", options.threads, "CPU threads, 0 for all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("--sub-batch", options.sub_batch,
                 "Images per thread block of the direct kernel: 1, 2, 4, 8; 0 measures")
      ->check(CLI::IsMember({0, 1, 2, 4, 8}))
      ->capture_default_str();
  app.add_flag("--tf32", options.use_tf32,
               "GPU, f32: cuDNN and cuBLASLt may round their inputs to TF32");
  app.add_flag("--all-plans", options.all_plans,
               "GPU: try every plan that cuDNN and cuBLASLt propose, not only the first");
  app.add_option("--json", options.json, "Write results as JSON to this file ('-': stdout)");
}

SessionOptions session_options(const ModelOptions& options, std::int64_t batch) {
  SessionOptions session;
  session.batch = batch;
  session.precision = precision_from(options.precision);
  session.choice = choice_from(options.choice);
  session.family = options.family;
  session.threads = options.threads;
  session.sub_batch = options.sub_batch;
  session.use_tf32 = options.use_tf32;
  session.all_plans = options.all_plans;
  return session;
}

}  // namespace winnow
