// Which values of a program the gathered convolution reads and writes, and how. Pure host code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/gpu/gathered/gathered_groups.h"
#include "runtime/gpu/gathered/ring_arguments.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/plan/channel_orders.h"
#include "runtime/plan/fusions.h"
#include "runtime/plan/session.h"
#include "runtime/plan/step_weights.h"

namespace winnow {

struct GatheredValues {
  std::vector<bool> may_lie;    // by value: whether it may be nchw32c8n
  std::vector<bool> may_defer;  // by value: whether a later step may compute it
  ChannelOrders orders;
};

// What convolutions read and write, with what is joined to it channel by channel, and features of
// sparse linear layers. Orders balance the columns of all convolutions with sparse weights that
// read a value. What is flattened may be read by the linear layer itself where it lies so. Nothing
// in a program without sparse weights.
GatheredValues gathered_values(const Program& program, const DeployedModel& model,
                               const std::vector<StepFusions>& fusions);

// How a value lies where gathered convolutions read or write it.
inline ActivationFormat gathered_format(const GatheredValues& values, std::size_t value) {
  return {.layout = Layout::nchw32c8n,
          .precision = Precision::f16,
          .order = values.orders.of_value[value]};
}

// The weight of a convolution by groups.
GatheredGroups groups_of(const DeployedModel& model, const Step& step, const Conv& conv);

// Whether a convolution with sparse weights writes what the step reads, or reads what it writes,
// with no weights between them. Where the step then runs in another layout than nchw32c8n, that
// value is converted.
bool lies_beside_sparse(const Program& program, const DeployedModel& model, const Step& step);

// The pooling as the kernels' epilogue; nothing if it is another.
std::optional<RingPool> as_epilogue(const Op& op);

}  // namespace winnow
