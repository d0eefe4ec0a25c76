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

std::vector<double> migration_rates(std::span<const Migration> migrations, std::size_t layers) {
  std::vector<double> rates;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::vector<Migration> own;
    for (std::size_t i = layer; i < migrations.size(); i += layers) own.push_back(migrations[i]);
    rates.push_back(migration_rate(own, 1));
  }
  return rates;
}

double next_alpha(double alpha, double rate, std::int64_t masks, const EvolutionConfig& config) {
  const double goal = config.migration_goal;
  const double lack = goal > 0.0 ? (goal - rate) / goal : 0.0;
  const double rise = config.alpha_step / static_cast<double>(masks) * lack;
  return std::clamp(alpha * (rate > goal ? goal / rate : 1.0 + rise), config.alpha_min,
                    config.alpha_max);
}

std::vector<double> next_alphas(std::vector<double> alphas, std::span<const Migration> migrations,
                                std::int64_t masks, const EvolutionConfig& config) {
  for (std::size_t i = 0; i < migrations.size(); ++i) {
    double& alpha = alphas[i % alphas.size()];
    const double rate = migration_rate(migrations.subspan(i, 1), 1) * static_cast<double>(masks);
    alpha = next_alpha(alpha, rate, masks, config);
  }
  return alphas;
}

}  // namespace winnow
