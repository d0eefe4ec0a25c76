#include "runtime/verify/layer_errors.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/reference/reference_session.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

DeployedModel linear_model() {
  DeployedModel model;
  model.graph = graph_of({3}, {{"fc1", Linear{3, 2, false}, {}},
                               {"fc2", Linear{2, 2, false}, {}},
                               {"fc3", Linear{2, 1, false}, {}}});
  model.weights["fc1.weight"] =
      DenseWeight{{2, 3}, encode_f32(std::vector<float>{1, 2, 3, 4, 5, 6})};
  model.weights["fc2.weight"] = DenseWeight{{2, 2}, encode_f32(std::vector<float>{1, 0, 0, 2})};
  model.weights["fc3.weight"] = DenseWeight{{1, 2}, encode_f32(std::vector<float>{1, 1})};
  return model;
}

// The reference, but that it keeps the values of some steps to itself and errs by a factor.
class Secretive : public Session {
 public:
  Secretive(const DeployedModel& model, std::vector<bool> hides, float factor)
      : session_(make_reference_session(model, {})), hides_(std::move(hides)), factor_(factor) {}

  std::string device() const override { return session_->device(); }
  std::vector<LayerPlan> layers() const override { return session_->layers(); }
  void run(std::span<const float> input, std::span<float> output) override {
    session_->run(input, output);
  }
  void set_input(std::span<const float> input) override { session_->set_input(input); }
  std::vector<double> time_network(int, int) override { return {}; }
  std::vector<std::vector<double>> time_layers(int, int) override { return {}; }
  std::vector<std::vector<float>> step_outputs() override {
    std::vector<std::vector<float>> outputs = session_->step_outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (float& value : outputs[i]) value *= factor_;
      if (hides_[i]) outputs[i].clear();
    }
    return outputs;
  }

 private:
  std::unique_ptr<Session> session_;
  std::vector<bool> hides_;
  float factor_;
};

std::vector<LayerError> errors_of(const std::vector<bool>& hides, float factor,
                                  const DeployedModel& model = linear_model()) {
  Secretive session(model, hides, factor);
  const std::vector<float> input = {1, -1, 2};
  std::size_t done = 0;
  auto errors = layer_errors(model, session, 1, input, [&](std::size_t n) { CHECK(n == ++done); });
  CHECK(done == 3);
  return errors;
}

}  // namespace

TEST_CASE("each layer is compared on the session's own inputs") {
  const std::vector<LayerError> errors = errors_of({false, false, false}, 1.5f);
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].relative == doctest::Approx(0.5));
  CHECK(errors[0].plan.name == "fc1");
  for (const LayerError& error : errors) CHECK(error.layers == 1);
  // fc2 gets inputs that are 1.5 times too large, and so is what the reference makes of them.
  CHECK(errors[1].relative < 1e-6);
}

TEST_CASE("layers whose values are nowhere are compared with the one that computes them") {
  const std::vector<LayerError> errors = errors_of({true, true, false}, 1.01f);
  CHECK_FALSE(errors[0].is_compared());
  CHECK_FALSE(errors[1].is_compared());
  CHECK(errors[2].layers == 3);
  CHECK(errors[2].relative == doctest::Approx(0.01).epsilon(1e-4));
  CHECK(errors[0].is_within(0));
  CHECK(errors[2].is_within(0.011 / std::sqrt(3.0)));
  CHECK_FALSE(errors[2].is_within(0.009 / std::sqrt(3.0)));
}

TEST_CASE("a sum counts the layer of its second input if that value is nowhere") {
  DeployedModel model = linear_model();
  model.graph = graph_of({3}, {{"fc1", Linear{3, 2, false}, {}},
                               {"fc2", Linear{2, 2, false}, {}},
                               {"sum", Add{}, {"fc1", "fc2"}}});
  model.weights.erase("fc3.weight");
  const std::vector<LayerError> errors = errors_of({false, true, false}, 1.0f, model);
  CHECK_FALSE(errors[1].is_compared());
  CHECK(errors[2].layers == 2);
  CHECK(errors[2].relative == 0);
}

TEST_CASE("a value that is not finite is not within any tolerance") {
  const std::vector<LayerError> errors =
      errors_of({false, false, false}, std::numeric_limits<float>::infinity());
  CHECK_FALSE(errors[0].is_within(1e30));
}

}  // namespace winnow
