#include "runtime/bench/conv_survey.h"

#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/session/gpu_session.h"

namespace winnow {

ConvRun ConvGroup::run_of(const ConvMask& mask) const {
  return {layer.name, session.batch, math_name(session.precision, session.use_tf32), mask};
}

ConvSurvey::ConvSurvey(const ConvSurveyOptions& options)
    : options_(options),
      gpu_(options.gpu),
      clock_(options.gpu),
      place_{gpu_, clock_, options.bench},
      lines_(options.out),
      deadline_(options.seconds) {
  nlohmann::ordered_json header;
  header["gpu"] = gpu_description(options.gpu);
  header["set"] = options.set;
  header["graphs"] = options.bench.repeats;
  lines_.write({std::move(header)});
}

void ConvSurvey::run(const ConvGroup& group, const Measure& measure) {
  std::vector<ConvMask> masks = group.masks;
  std::erase_if(masks, [&](const ConvMask& mask) { return lines_.has(group.run_of(mask)); });
  if (masks.empty()) return;
  if (deadline_.is_over()) {
    left_ += masks.size();
    return;
  }
  const DeployedModel first = conv_model(group.layer, masks.front());
  const LayerSetup setup(first, group.session);
  DenseBench dense(setup, place_);
  for (const ConvMask& mask : masks) {
    if (deadline_.is_over()) {
      ++left_;
    } else {
      lines_.write(measure(group, mask, dense));
    }
  }
}

void ConvSurvey::finish(const std::string& program) const {
  report_left(program, left_, options_.seconds);
}

}  // namespace winnow
