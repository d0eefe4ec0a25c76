#include "prune/evolution/migration.h"

#include <algorithm>

namespace winnow {

Migration total(std::span<const Migration> migrations) {
  Migration sum;
  for (const Migration& migration : migrations) {
    sum.entered += migration.entered;
    sum.left += migration.left;
    sum.kept += migration.kept;
    sum.kept_weights += migration.kept_weights;
  }
  return sum;
}

double migration_rate(std::span<const Migration> migrations, std::size_t layers) {
  double moved = 0.0, kept = 0.0;
  for (const Migration& migration : migrations) {
    moved += static_cast<double>(std::min(migration.entered, migration.left));
    kept += static_cast<double>(migration.kept);
  }
  const double recomputations = static_cast<double>(migrations.size() / layers);
  return kept > 0.0 ? recomputations * moved / kept : 0.0;
}

double next_alpha(double alpha, double rate, const EvolutionConfig& config) {
  const double larger = std::max(config.migration_goal, rate);
  const double lack = larger > 0.0 ? (config.migration_goal - rate) / larger : 0.0;
  return std::clamp(alpha * (1.0 + config.alpha_step * lack), config.alpha_min, config.alpha_max);
}

}  // namespace winnow
