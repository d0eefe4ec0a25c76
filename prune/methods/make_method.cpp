#include "prune/methods/make_method.h"

#include <utility>

#include "prune/evolution/evolution.h"
#include "prune/methods/fssl.h"
#include "prune/methods/lottery.h"
#include "prune/methods/magnitude.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

class Evolutionary : public PruningMethod {
 public:
  Evolutionary(const EvolutionConfig& config, Trainee& trainee, EvolutionState state, Peers& peers)
      : evolution_(state.pool.empty() ? Evolution(config, trainee, peers)
                                      : Evolution(config, trainee, std::move(state), peers)) {}

  bool finished() const override { return evolution_.finished(); }
  std::vector<IterationRecord> step() override { return evolution_.step(); }
  const EvolutionState& state() const override { return evolution_.state(); }
  EvolutionResult result() const override { return evolution_.result(); }

 private:
  Evolution evolution_;
};

}  // namespace

std::unique_ptr<PruningMethod> make_method(const MethodConfig& method,
                                           const EvolutionConfig& config, Trainee& trainee,
                                           EvolutionState state, Peers& peers) {
  check_config(method, config);
  if (method.method != Method::evolutionary && peers.size() > 1) {
    fail(ErrorCode::usage, "prune.method: ", to_string(method.method), " trains one network; ",
         peers.size(),
         " processes can only share the population of evolutionary, or its batches by "
         "train.data_parallel");
  }
  switch (method.method) {
    case Method::evolutionary:
      return std::make_unique<Evolutionary>(config, trainee, std::move(state), peers);
    case Method::magnitude:
      return std::make_unique<Magnitude>(method, config, trainee, std::move(state));
    case Method::lottery:
      return std::make_unique<Lottery>(method, config, trainee, std::move(state));
    case Method::fssl:
      return std::make_unique<Fssl>(method, config, trainee, std::move(state));
  }
  fail(ErrorCode::internal, "make_method: unknown method");
}

}  // namespace winnow
