// Every way to run a convolution or linear layer here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cpu/layer.h"
#include "runtime/plan/session.h"

namespace winnow {

enum class CandidateKind { any, sparse, dense };

// Which of them are wanted. Within a family the order is that of preference where nothing is
// measured.
struct CandidateOptions {
  KernelChoice choice = KernelChoice::measured;
  std::string family;          // as SessionOptions; one of cpu_families() or empty
  bool has_mask = false;       // the weights are stored sparse
  bool can_interleave = true;  // the value's first dimension is the work's images
  bool is_first = false;       // the work reads the network's input, which lies in nchw
  bool is_shared = false;      // reentrant layers only (CpuLayer::is_reentrant)
  Isa isa = Isa::baseline;
  int threads = 1;

  // Where the choice is known: the slot of the one layer to make. All others are left out, which
  // saves putting the weights into their orders.
  std::optional<int> only_slot = std::nullopt;

  // Those of a kind, in the slots that they have among all.
  CandidateKind kind = CandidateKind::any;

  // Asked before a dense layer is made, with the fewest multiply-adds that it can do; empty: each
  // is made.
  std::function<bool(double multiply_adds)> is_worth_making = {};
};

// The preferred first; none only if the family cannot run the work, or if options.only_slot is that
// of no layer.
//
// Requires options.family to be empty or one of cpu_families().
std::vector<std::shared_ptr<CpuLayer>> make_candidates(const ConvWork& work,
                                                       const CandidateOptions& options);

// Whether code may be generated for the work: a layer of family "jit".
bool may_generate(const ConvWork& work, const CandidateOptions& options);

// "jit", "direct", "dense".
std::vector<std::string> cpu_families();

}  // namespace winnow
