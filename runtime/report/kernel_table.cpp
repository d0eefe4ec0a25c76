#include "runtime/report/kernel_table.h"

#include "runtime/report/fact_text.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

std::string ms_text(std::optional<double> ms) {
  return ms ? decimal(*ms, 4) : "-";
}

// "direct 0.1200, dense 0.2000, gathered -, jit rejected"
std::string families_text(const LayerTime& layer) {
  std::string all;
  for (const FamilyTime& one : layer.eligible) {
    all += (all.empty() ? "" : ", ") + one.family + " " +
           (one.rejected.empty() ? ms_text(one.ms) : std::string("rejected"));
  }
  return all.empty() ? "-" : all;
}

std::string speed_up(std::optional<double> dense_ms, double chosen_ms) {
  return dense_ms && chosen_ms > 0 ? decimal(*dense_ms / chosen_ms, 2) + "x" : "-";
}

// Multiply-adds of one image; nothing for layers that have none.
std::optional<double> dense_macs(const LayerTime& layer, std::int64_t batch) {
  if (!layer.dense_macs || *layer.dense_macs <= 0) return std::nullopt;
  return *layer.dense_macs / static_cast<double>(batch);
}

std::vector<std::string> row_of(const LayerTime& layer, std::optional<double> dense,
                                std::optional<double> kept) {
  const std::string kept_text = kept ? large_number(*kept) : "-";
  const std::string sparsity = dense ? percent(layer.weight_sparsity) : "-";
  return {layer.name,
          layer.op.empty() ? "-" : layer.op,
          dense ? large_number(*dense) : "-",
          kept_text,
          sparsity,
          families_text(layer),
          layer.kernel.empty() ? "-" : layer.kernel,
          ms_text(layer.dense_ms),
          ms_text(layer.sparse_ms),
          ms_text(layer.chosen_ms),
          speed_up(layer.dense_ms, layer.chosen_ms)};
}

std::string table_of(const BatchFacts& batch) {
  HtmlTable table{"Kernels, batch " + std::to_string(batch.batch) + ", " + batch.precision + ", " +
                      batch.device,
                  {{"layer"},
                   {"operation"},
                   {"MACs, dense", true},
                   {"MACs, kept", true},
                   {"sparsity", true},
                   {"eligible (ms)"},
                   {"picked"},
                   {"dense ms", true},
                   {"sparse ms", true},
                   {"chosen ms", true},
                   {"dense / chosen", true}},
                  {},
                  {}};
  double all_dense = 0, all_kept = 0;
  for (const LayerTime& layer : batch.layers) {
    const std::optional<double> dense = dense_macs(layer, batch.batch);
    const std::optional<double> kept = dense && layer.weight_sparsity
                                           ? std::optional(*dense * (1 - *layer.weight_sparsity))
                                           : std::nullopt;
    all_dense += dense.value_or(0);
    all_kept += kept.value_or(0);
    table.rows.push_back(row_of(layer, dense, kept));
  }
  table.rows.push_back({"network", "", large_number(all_dense), large_number(all_kept), "", "", "",
                        ms_text(batch.dense_ms), ms_text(batch.sparse_ms), ms_text(batch.chosen_ms),
                        speed_up(batch.dense_ms, batch.chosen_ms)});
  return scroll_box(table.caption, html_table(table));
}

}  // namespace

std::string kernel_tables(const RunFacts& facts) {
  std::string html;
  for (const BatchFacts& batch : facts.batches) html += table_of(batch);
  if (html.empty()) return "";
  return "<p>Multiply-adds (MACs) are those of one image, times those of the batch. Eligible are "
         "the kernel families that were timed for a layer, each with its fastest kernel. Layers "
         "that one launch computes together are timed with the last of them.</p>\n" +
         html;
}

}  // namespace winnow
