#include "prune/teacher_model.h"

#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/class_order.h"
#include "runtime/model/safetensors.h"

namespace winnow {
namespace {

constexpr char kKey[] = "prune.teacher";

}  // namespace

std::optional<Model> read_teacher(const RunConfig& config) {
  if (config.stage.teacher.empty()) return std::nullopt;
  return load_model(config.stage.teacher);
}

void require_fit_of_teacher(const RunConfig& config, const std::optional<Model>& teacher,
                            const DataSet& data) {
  if (!teacher) return;
  const std::string& file = config.stage.teacher;
  const auto refuse = [&](const auto&... parts) {
    fail(ErrorCode::usage, config.place(kKey), kKey, ": ", parts...);
  };
  try {
    require_fit(teacher->graph, data);
  } catch (const Error& error) {
    refuse(in_quotes(file), ": ", error.what());
  }
  if (teacher->preprocessing.vocabulary != data.preprocessing.vocabulary) {
    refuse(in_quotes(file), " has another vocabulary than this run, expected the same");
  }
  const std::string mismatch = order_mismatch(teacher->classes, file, data.train.classes);
  if (!mismatch.empty()) refuse(mismatch);
}

}  // namespace winnow
