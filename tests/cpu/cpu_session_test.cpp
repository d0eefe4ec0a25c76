#include "runtime/cpu/cpu_session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/cpu_session_for_isa.h"
#include "runtime/reference/reference_session.h"
#include "tests/cpu/network_difference.h"
#include "tests/cpu/random_network.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Floats = std::vector<float>;

Floats random_images(Random& random, std::int64_t count) {
  Floats input(static_cast<std::size_t>(count));
  for (float& x : input) x = static_cast<float>(random.normal());
  return input;
}

SessionOptions options_of(std::int64_t batch, KernelChoice choice, int threads = 2) {
  SessionOptions options;
  options.batch = batch;
  options.choice = choice;
  options.threads = threads;
  return options;
}

TEST_CASE("every step of a network agrees with the reference, whatever the choice and batch") {
  Random random(1);
  for (const int vector : {1, 16}) {
    const DeployedModel model = image_network(random, vector);
    for (const std::int64_t batch : {1, 3, 17}) {
      const Floats input = random_images(random, batch * 3 * 13 * 11);
      Floats expected(static_cast<std::size_t>(batch * 5)), found(expected.size());
      const auto oracle = make_reference_session(model, options_of(batch, KernelChoice::dense));
      oracle->run(input, expected);
      const std::vector<Floats> steps = oracle->step_outputs();
      for (const KernelChoice choice :
           {KernelChoice::sparse, KernelChoice::dense, KernelChoice::measured}) {
        const auto session = make_cpu_session(model, options_of(batch, choice));
        session->run(input, found);
        CHECK(difference(found, expected) < kTolerance);
        const std::vector<Floats> own_steps = session->step_outputs();
        REQUIRE(own_steps.size() == steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
          CAPTURE(session->layers()[i].name);
          CAPTURE(session->layers()[i].kernel);
          const bool is_deferred = own_steps[i].empty();
          CHECK(is_deferred == (session->layers()[i].kernel.starts_with("jit, in the run of ")));
          if (!is_deferred) CHECK(difference(own_steps[i], steps[i]) < kTolerance);
        }
      }
    }
  }
}

TEST_CASE("a pooling runs with the convolution before it") {
  Random random(21);
  for (const std::int64_t batch : {1, 5, 16}) {
    const DeployedModel model = pooled_network(random, batch == 5 ? 16 : 1);
    const Floats input = random_images(random, batch * 3 * 23 * 18);
    Floats expected(static_cast<std::size_t>(batch * 5)), found(expected.size());
    make_reference_session(model, options_of(batch, KernelChoice::dense))->run(input, expected);
    for (const KernelChoice choice : {KernelChoice::sparse, KernelChoice::measured}) {
      const auto session = make_cpu_session(model, options_of(batch, choice));
      session->run(input, found);
      CHECK(difference(found, expected) < kTolerance);
      if (choice == KernelChoice::measured || available_isas().back() != Isa::avx512) continue;
      for (const LayerPlan& layer : session->layers()) {
        if (layer.name == "second") CHECK(layer.kernel == "jit, in the run of pool1");
        if (layer.name == "third") CHECK(layer.kernel == "jit, in the run of pool2");
      }
    }
  }
}

TEST_CASE("a pooling that rounds up does not run with the convolution before it") {
  Random random(23);
  DeployedModel model = pooled_network(random, 1);
  std::get<Pool>(model.graph.nodes[5].op).rounds_up = true;  // 23 x 18 becomes 12 x 9
  std::get<Pool>(model.graph.nodes[7].op).rounds_up = true;  // 12 x 9 becomes 6 x 5
  std::get<Linear>(model.graph.nodes[9].op).in_features = 24 * 6 * 5;
  const std::vector<float> weight(24 * 6 * 5 * 5, 0.125f);
  model.weights["last.weight"] = DenseWeight{{5, 24 * 6 * 5}, encode_f32(weight)};
  const Floats input = random_images(random, 3 * 3 * 23 * 18);
  Floats expected(15), found(15);
  make_reference_session(model, options_of(3, KernelChoice::dense))->run(input, expected);
  const auto session = make_cpu_session(model, options_of(3, KernelChoice::sparse));
  session->run(input, found);
  CHECK(difference(found, expected) < kTolerance);
  for (const LayerPlan& layer : session->layers()) {
    CHECK(layer.kernel.find("in the run of pool") == std::string::npos);
  }
}

TEST_CASE("sessions run any number of samples, batch by batch and in order") {
  Random random(12);
  constexpr std::int64_t kSize = 3 * 13 * 11, kClasses = 5, kMost = 10;
  const DeployedModel model = image_network(random, 1);
  const Floats input = random_images(random, kMost * kSize);
  Floats expected(kMost * kClasses);
  make_reference_session(model, options_of(kMost, KernelChoice::dense))->run(input, expected);
  // The CPU's session reads into the network, the reference one has the way of all others.
  const auto own = make_cpu_session(model, options_of(4, KernelChoice::sparse));
  const auto other = make_reference_session(model, options_of(4, KernelChoice::dense));
  for (Session* session : {own.get(), other.get()}) {
    for (std::int64_t samples = 0; samples <= kMost; ++samples) {
      CAPTURE(samples);
      Floats found;
      std::int64_t next = 0;
      session->run_all({samples, 4, kSize, kClasses,
                        [&](std::int64_t first, std::span<float> inputs) {
                          CHECK(first == next);
                          CHECK(inputs.size() ==
                                std::min<std::int64_t>(4, samples - first) * kSize);
                          std::copy_n(input.begin() + first * kSize, inputs.size(), inputs.begin());
                          next += static_cast<std::int64_t>(inputs.size()) / kSize;
                        },
                        [&](std::int64_t first, std::span<const float> outputs) {
                          CHECK(first * kClasses == static_cast<std::int64_t>(found.size()));
                          found.insert(found.end(), outputs.begin(), outputs.end());
                        }});
      const auto end = expected.begin() + samples * kClasses;
      REQUIRE(found.size() == static_cast<std::size_t>(samples * kClasses));
      if (samples > 0) CHECK(difference(found, Floats(expected.begin(), end)) < kTolerance);
    }
  }
}

TEST_CASE("sessions without a GPU are not shared, and run on no device memory") {
  Random random(13);
  const DeployedModel model = image_network(random, 1);
  const auto session = make_cpu_session(model, options_of(1, KernelChoice::sparse));
  float number = 0;
  CHECK(error_of([&] { session->share(); }) == ErrorCode::usage);
  CHECK(error_of([&] { session->run_device(&number, 1, &number, nullptr); }) == ErrorCode::usage);
  CHECK(session->network_timings().empty());
}

TEST_CASE("a text network agrees with the reference") {
  Random random(2);
  const DeployedModel model = text_network(random);
  for (const std::int64_t batch : {1, 2, 20}) {
    Floats input;
    for (std::int64_t i = 0; i < batch * 17; ++i)
      input.push_back(static_cast<float>(random.below(50)));
    Floats expected(static_cast<std::size_t>(batch * 3)), found(expected.size());
    make_reference_session(model, options_of(batch, KernelChoice::dense))->run(input, expected);
    for (const KernelChoice choice : {KernelChoice::sparse, KernelChoice::measured}) {
      make_cpu_session(model, options_of(batch, choice))->run(input, found);
      CHECK(difference(found, expected) < kTolerance);
    }
  }
}

TEST_CASE("every instruction set gives the same network") {
  Random random(3);
  const DeployedModel model = image_network(random, 8);
  const Floats input = random_images(random, 9 * 3 * 13 * 11);
  Floats expected(9 * 5), found(9 * 5);
  make_reference_session(model, options_of(9, KernelChoice::dense))->run(input, expected);
  for (const Isa isa : available_isas()) {
    const auto session = make_cpu_session_for_isa(model, options_of(9, KernelChoice::sparse), isa);
    session->run(input, found);
    CAPTURE(session->device());
    CHECK(difference(found, expected) < kTolerance);
    CHECK(session->device().find(to_string(isa)) != std::string::npos);
  }
}

TEST_CASE("a sparse network gives equal bits for any number of threads and run after run") {
  Random random(4);
  const DeployedModel model = image_network(random, 1);
  for (const std::int64_t batch : {1, 8, 33}) {
    SessionOptions options = options_of(batch, KernelChoice::sparse, 1);
    options.family = "direct";
    const Floats input = random_images(random, batch * 3 * 13 * 11);
    Floats first(static_cast<std::size_t>(batch * 5)), again(first.size());
    make_cpu_session(model, options)->run(input, first);
    for (const int threads : {1, 2, 3}) {
      options.threads = threads;
      const auto session = make_cpu_session(model, options);
      session->run(input, again);
      CHECK(again == first);
      session->run(input, again);
      CHECK(again == first);
    }
  }
}

TEST_CASE("layers tell what runs them and what they were chosen from") {
  Random random(5);
  const DeployedModel model = image_network(random, 16);
  const auto measured = make_cpu_session(model, options_of(8, KernelChoice::measured))->layers();
  const auto sparse = make_cpu_session(model, options_of(8, KernelChoice::sparse))->layers();
  const auto dense = make_cpu_session(model, options_of(8, KernelChoice::dense))->layers();
  REQUIRE(measured.size() == sparse.size());
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    CAPTURE(sparse[i].name);
    CHECK(sparse[i].candidates.empty());
    CHECK(!sparse[i].kernel.empty());
    if (sparse[i].op != "conv2d" && sparse[i].op != "linear") {
      CHECK(sparse[i].macs == 0);
      continue;
    }
    CHECK(sparse[i].macs > 0);
    const bool is_sparse = sparse[i].family == "direct" || sparse[i].family == "jit";
    CHECK(is_sparse == (sparse[i].name != "first"));
    CHECK(dense[i].family == "dense");
    bool has_dense = false, has_chosen = false, has_direct = false;
    for (const CandidateTiming& candidate : measured[i].candidates) {
      CHECK((candidate.ms > 0) == !candidate.kernel.starts_with("jit, in the run of"));
      has_dense |= candidate.family == "dense";
      has_direct |= candidate.family == "direct";
      has_chosen |= measured[i].kernel.starts_with(candidate.kernel);
    }
    CHECK(has_direct == (sparse[i].name != "first"));
    if (!measured[i].candidates.empty()) {
      CHECK((has_dense || has_direct));  // beside a mask dense kernels may be left out
      CHECK(has_chosen);
    }
  }
}

TEST_CASE("sessions are timed on what set_input gave") {
  Random random(6);
  const DeployedModel model = image_network(random, 1);
  const auto session = make_cpu_session(model, options_of(2, KernelChoice::sparse));
  const Floats input = random_images(random, 2 * 3 * 13 * 11);
  Floats before(10), after(10);
  session->run(input, before);
  session->set_input(input);
  const std::vector<double> network = session->time_network(1, 4);
  CHECK(network.size() == 4);
  for (const double ms : network) CHECK(ms > 0);
  const auto layers = session->time_layers(1, 3);
  CHECK(layers.size() == session->layers().size());
  for (const auto& times : layers) CHECK(times.size() == 3);
  session->run(input, after);
  CHECK(after == before);
}

TEST_CASE("the CPU session refuses what it does not have") {
  Random random(7);
  const DeployedModel model = image_network(random, 1);
  SessionOptions half = options_of(1, KernelChoice::sparse);
  half.precision = Precision::f16;
  CHECK(error_of([&] { make_cpu_session(model, half); }) == ErrorCode::usage);
  SessionOptions rounded = options_of(1, KernelChoice::dense);
  rounded.use_tf32 = true;
  CHECK(error_of([&] { make_cpu_session(model, rounded); }) == ErrorCode::usage);
  SessionOptions grouped = options_of(1, KernelChoice::sparse);
  grouped.sub_batch = 4;
  CHECK(error_of([&] { make_cpu_session(model, grouped); }) == ErrorCode::usage);
  SessionOptions patient = options_of(1, KernelChoice::dense);
  patient.all_plans = true;
  CHECK(error_of([&] { make_cpu_session(model, patient); }) == ErrorCode::usage);
  SessionOptions typo = options_of(1, KernelChoice::sparse);
  typo.family = "drect";
  CHECK(error_of([&] { make_cpu_session(model, typo); }) == ErrorCode::usage);
  CHECK(message_of([&] { make_cpu_session(model, typo); }).find("did you mean 'direct'") !=
        std::string::npos);
  SessionOptions generated = options_of(1, KernelChoice::measured);
  generated.family = "jit";  // for planes, not for linear layers
  CHECK(error_of([&] { make_cpu_session(model, generated); }) == ErrorCode::usage);
  CHECK(message_of([&] { make_cpu_session(model, generated); }).find("'jit' cannot run it") !=
        std::string::npos);
  const auto session = make_cpu_session(model, options_of(1, KernelChoice::sparse));
  Floats input(3 * 13 * 11), output(5), wrong(4);
  CHECK(error_of([&] { session->run(wrong, output); }) == ErrorCode::usage);
  CHECK(error_of([&] { session->run(input, wrong); }) == ErrorCode::usage);
  CHECK(error_of([&] { session->set_input(wrong); }) == ErrorCode::usage);
  SessionOptions crowd = options_of(1, KernelChoice::sparse, -2);
  CHECK(error_of([&] { make_cpu_session(model, crowd); }) == ErrorCode::usage);
}

TEST_CASE("a token outside the table is the caller's mistake") {
  Random random(8);
  const auto session = make_cpu_session(text_network(random), options_of(1, KernelChoice::sparse));
  Floats input(17, 3), output(3);
  session->run(input, output);
  input[16] = 50;
  CHECK(error_of([&] { session->run(input, output); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
