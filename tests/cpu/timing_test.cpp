// What is timed on the CPU, what is taken from a cache, and what is never chosen.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/cpu_session.h"
#include "runtime/cpu/layer_timer.h"
#include "runtime/cpu/nchw_conv.h"
#include "runtime/cpu/peak_rate.h"
#include "tests/cpu/random_network.h"
#include "tests/cpu/random_work.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

// A kernel whose results are a factor off.
class OffLayer final : public CpuLayer {
 public:
  OffLayer(std::unique_ptr<CpuLayer> layer, const Extents& out, float factor)
      : layer_(std::move(layer)), out_(out), factor_(factor) {
    family = layer_->family;
    kernel = layer_->kernel + " times " + std::to_string(factor);
    input_layout = layer_->input_layout;
    output_layout = layer_->output_layout;
  }
  void run(const LayerCall& call, ThreadPool& pool) override {
    ++runs;
    layer_->run(call, pool);
    const std::int64_t count = planes_of(output_layout, out_).count();
    for (std::int64_t i = 0; i < count; ++i) call.output[i] *= factor_;
  }
  std::int64_t scratch_floats() const override { return layer_->scratch_floats(); }

  int runs = 0;

 private:
  std::unique_ptr<CpuLayer> layer_;
  Extents out_;
  float factor_;
};

struct OneLayer {
  DeployedModel model;
  Program program;
  ConvWork work;
};

// A convolution as a step and as a work.
OneLayer one_layer() {
  Random random(3);
  RandomWork work = random_conv(random);
  OneLayer one;
  one.work = conv_work(work);
  Shape output = work.input;
  const Extents& out = one.work.shape.out;
  output = work.input.size() == 3 ? Shape{out.n, out.c, out.w} : Shape{out.n, out.c, out.h, out.w};
  one.program.values = {{"input", work.input}, {"layer", output}};
  one.program.steps = {{"layer", work.op, {0}, 1, work.has_relu, "w", "b"}};
  one.model.weights["w"] = csr_of(work.weight, out.c, work.vector);
  one.model.weights["b"] = DenseWeight{{out.c}, encode_f32(one.work.bias)};
  return one;
}

TEST_CASE("a kernel with a wrong result is rejected before it is timed") {
  const OneLayer one = one_layer();
  ThreadPool pool(2);
  TimingTable table;
  LayerTimer timer(pool, table);
  const auto check = [&]() -> const LayerCheck& {
    static const LayerCheck made(one.model, one.program, one.program.steps[0], Precision::f32,
                                 false);
    return made;
  };
  const auto layer = [&](float factor) {
    return OffLayer(make_nchw_conv(one.work, micro_kernels(Isa::baseline), 2), one.work.shape.out,
                    factor);
  };
  OffLayer right = layer(1), off = layer(1.02f), silent = layer(0);
  const Timing good = timer.time({right, one.work.shape, "step", check}, 1e9);
  CHECK(good.rejected == "");
  CHECK(good.runs > 0);
  CHECK(good.median_ms > 0);
  CHECK(good.min_ms <= good.median_ms);
  CHECK(right.runs > 2);
  CHECK(right.runs == good.runs + 1);  // the first one is not counted
  for (OffLayer* wrong : {&off, &silent}) {
    const Timing bad = timer.time({*wrong, one.work.shape, "step", check}, 1e9);
    CAPTURE(bad.rejected);
    CHECK(bad.rejected.starts_with("is off by "));
    CHECK(bad.runs == 0);
    CHECK(wrong->runs == 1);
  }
}

TEST_CASE("a kernel that is clearly slower than another is run a few times only") {
  const OneLayer one = one_layer();
  ThreadPool pool(1);
  TimingTable table;
  LayerTimer timer(pool, table);
  const auto runs_beside = [&](const std::string& step, double best_ms) {
    OffLayer layer(make_nchw_conv(one.work, micro_kernels(Isa::baseline), 1), one.work.shape.out,
                   1);
    const Timing timing = timer.time({layer, one.work.shape, step, {}}, best_ms);
    CHECK(timing.runs == layer.runs - 1);  // the first one is not counted
    return timing.runs;
  };
  CHECK(runs_beside("as fast", 1e9) > 2);
  CHECK(runs_beside("slower", 1e-9) == 2);
}

SessionOptions options_of(const std::string& folder, std::int64_t batch, bool lists) {
  SessionOptions options;
  options.batch = batch;
  options.threads = 2;
  options.timings.cache = std::make_shared<TimingCache>(folder);
  options.timings.lists_candidates = lists;
  return options;
}

// Of the layers with weights, a line each. Others may run in one layout or another of equal cost.
std::string kernels_of(const Session& session) {
  std::string kernels;
  for (const LayerPlan& layer : session.layers()) {
    if (layer.macs > 0) kernels += layer.kernel + "\n";
  }
  return kernels;
}

TEST_CASE("a start with a warm cache measures nothing and runs the same kernels") {
  for (const int vector : {1, 16}) {
    Random random(static_cast<std::uint64_t>(vector));
    const DeployedModel model = vector == 1 ? text_network(random) : image_network(random, vector);
    for (const std::int64_t batch : {1, 9}) {
      for (const KernelChoice choice : {KernelChoice::measured, KernelChoice::dense}) {
        const TemporaryDirectory directory;
        SessionOptions options = options_of(directory.path(), batch, false);
        options.choice = choice;
        const auto cold = make_cpu_session(model, options);
        CHECK(cold->timing_counts().measured > 0);
        for (const bool lists : {false, true}) {
          SessionOptions again = options_of(directory.path(), batch, lists);
          again.choice = choice;
          const auto warm = make_cpu_session(model, again);
          CHECK(warm->timing_counts().measured == 0);
          CHECK(warm->timing_counts().cached > 0);
          CHECK(kernels_of(*warm) == kernels_of(*cold));
          CHECK(again.timings.cache->notice() == "");
          const auto candidates_of = [](const LayerPlan& layer) { return layer.candidates.size(); };
          std::size_t listed = 0, before = 0;
          for (const LayerPlan& layer : warm->layers()) listed += candidates_of(layer);
          for (const LayerPlan& layer : cold->layers()) before += candidates_of(layer);
          CHECK(listed == (lists ? before : 0));
        }
      }
    }
  }
}

TEST_CASE("other weights, batches, threads and families are other times") {
  Random random(5);
  const DeployedModel model = image_network(random, 1), other = image_network(random, 1);
  const TemporaryDirectory directory;
  make_cpu_session(model, options_of(directory.path(), 2, false));
  const auto measured = [&](const DeployedModel& of, const auto& change) {
    SessionOptions options = options_of(directory.path(), 2, false);
    change(options);
    return make_cpu_session(of, options)->timing_counts().measured;
  };
  CHECK(measured(model, [](SessionOptions&) {}) == 0);
  CHECK(measured(other, [](SessionOptions&) {}) > 0);
  CHECK(measured(model, [](SessionOptions& options) { options.batch = 3; }) > 0);
  CHECK(measured(model, [](SessionOptions& options) { options.threads = 1; }) > 0);
  CHECK(measured(model, [](SessionOptions& options) { options.timings.is_renewed = true; }) > 0);
}

// The lines of the cache's file, changed by `edit`.
void edit_lines(const std::string& folder, const std::function<std::string(std::string)>& edit) {
  const std::string path = folder + "/" + TimingCache::kFileName;
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    const std::string edited = edit(line);
    if (!edited.empty()) text += edited + "\n";
  }
  std::ofstream(path) << text;
}

TEST_CASE("what the cache says was rejected is told and never chosen") {
  Random random(6);
  const DeployedModel model = image_network(random, 16);
  const TemporaryDirectory directory;
  const auto cold = make_cpu_session(model, options_of(directory.path(), 1, true));
  const LayerPlan before = cold->layers()[3];  // "third"
  REQUIRE(before.candidates.size() > 1);
  CHECK(before.candidates[0].ms <= before.candidates[1].ms);
  const std::string winner = before.candidates[0].kernel;
  const auto reject = [&](const std::string& kernel) {
    edit_lines(directory.path(), [&](const std::string& line) {
      auto entry = *entry_of(line);
      if (!entry.timing.kernels.empty() || entry.key.starts_with("network")) return std::string();
      if (entry.key.find(kernel) != std::string::npos) entry.timing = rejected_for("is off by 1");
      return line_of(entry);
    });
  };
  reject("| " + winner + " |");
  const auto warm = make_cpu_session(model, options_of(directory.path(), 1, true));
  const LayerPlan after = warm->layers()[3];
  CHECK(after.kernel != winner);
  CHECK(after.candidates.back().kernel == winner);
  CHECK(after.candidates.back().rejected == "is off by 1");
  CHECK(after.candidates.back().ms == 0);
  // Where nothing is left that computes the layer rightly, nothing runs.
  reject(" | ");
  const auto plan = [&] { make_cpu_session(model, options_of(directory.path(), 1, true)); };
  CHECK(error_of(plan) == ErrorCode::device);
  const std::string message = message_of(plan);
  CAPTURE(message);
  CHECK(message.find("no kernel computes it rightly (") != std::string::npos);
  CHECK(message.find(" is off by 1; ") != std::string::npos);
}

TEST_CASE("dense kernels whose multiply-adds alone take longer than a sparse kernel are left out") {
  if (!knows_peak_rate()) return;
  Random random(11);
  const DeployedModel model = image_network(random, 1);
  const TemporaryDirectory directory;
  make_cpu_session(model, options_of(directory.path(), 1, true));
  for (const bool is_slow : {false, true}) {
    edit_lines(directory.path(), [&](const std::string& line) {
      auto entry = *entry_of(line);
      if (!entry.timing.kernels.empty() || entry.key.starts_with("network")) return std::string();
      // Of a processor that is infinitely fast, and of one that is slower than what was timed on
      // it.
      if (entry.key == "multiply-adds") entry.timing = timing_of({is_slow ? 1e9 : 0});
      return line_of(entry);
    });
    const auto session = make_cpu_session(model, options_of(directory.path(), 1, true));
    for (const LayerPlan& layer : session->layers()) {
      if (layer.macs == 0) continue;
      CAPTURE(layer.name);
      const auto is_dense = [](const CandidateTiming& one) { return one.family == "dense"; };
      const bool is_masked = layer.name != "first";
      CHECK(layer.candidates.size() >= (is_masked ? 1 : 2));
      CHECK(std::ranges::any_of(layer.candidates, is_dense) == !(is_masked && is_slow));
      CHECK((layer.family == "dense" && is_masked && is_slow) == false);
    }
    CHECK(session->timing_counts().cached > 0);
  }
}

TEST_CASE("a choice that means other kernels than there are is made anew") {
  Random random(7);
  const DeployedModel model = image_network(random, 16);
  const TemporaryDirectory directory;
  const auto cold = make_cpu_session(model, options_of(directory.path(), 1, false));
  for (const bool is_renamed : {true, false}) {
    edit_lines(directory.path(), [&](const std::string& line) {
      auto entry = *entry_of(line);
      for (ChosenKernel& one : entry.timing.kernels) {
        if (is_renamed && !one.kernel.empty()) one.kernel += " of yesterday";
        if (!is_renamed) one.slot = 1000;
      }
      return line_of(entry);
    });
    const auto warm = make_cpu_session(model, options_of(directory.path(), 1, false));
    CHECK(kernels_of(*warm) == kernels_of(*cold));
    CHECK(warm->timing_counts().measured == 0);
    const auto next = make_cpu_session(model, options_of(directory.path(), 1, false));
    CHECK(next->timing_counts().cached < warm->timing_counts().cached);  // the choice is there
  }
}

TEST_CASE(
    "a survey times every candidate of a layer, even a single one, and compares no networks") {
  Random random(8);
  const DeployedModel model = image_network(random, 1);
  SessionOptions options;
  options.threads = 2;
  options.is_survey = true;
  for (const LayerPlan& layer : make_cpu_session(model, options)->layers()) {
    CAPTURE(layer.name);
    const bool is_weighted = layer.op == "conv2d" || layer.op == "linear";
    CHECK(layer.candidates.empty() == !is_weighted);
    for (const CandidateTiming& candidate : layer.candidates) {
      CHECK((candidate.family == "dense") == (layer.name == "first"));
    }
  }
}

TEST_CASE("times with cold caches are taken where they are wanted") {
  Random random(9);
  const DeployedModel model = image_network(random, 1);
  const TemporaryDirectory directory;
  SessionOptions options = options_of(directory.path(), 1, true);
  options.timings.wants_cold = true;
  const auto session = make_cpu_session(model, options);
  for (const LayerPlan& layer : session->layers()) {
    for (const CandidateTiming& candidate : layer.candidates) {
      const bool is_deferred = candidate.kernel.starts_with("jit, in the run of");
      CHECK((candidate.cold_ms > 0) == !is_deferred);
    }
  }
  SessionOptions again = options_of(directory.path(), 1, true);
  again.timings.wants_cold = true;
  CHECK(make_cpu_session(model, again)->timing_counts().measured == 0);
}

}  // namespace
}  // namespace winnow
