#include "runtime/challenge/engines/grouped/group_weights.h"

namespace winnow::challenge {

GroupWeights::GroupWeights(const GroupedLayer& layer)
    : step_begin_(upload(layer.step_begin)),
      input_(upload(layer.input)),
      weight_(upload(layer.weight)),
      bias_(upload(layer.bias)),
      panel_begin_(upload(layer.panel_begin)),
      panel_row_(upload(layer.panel_row)),
      local_(upload(layer.local)),
      panel_reads_(upload(layer.panel_reads)),
      panel_group_(upload(layer.panel_group)) {
  scalars_.groups = layer.groups();
  scalars_.weight_terms = layer.weight_terms;
  scalars_.steps = layer.steps();
  scalars_.most_panel_rows = layer.most_panel_rows();
  scalars_.reads_whole_groups = layer.reads_whole_groups();
  scalars_.has_positive_bias = layer.has_positive_bias();
}

GroupView GroupWeights::view() const {
  GroupView view = scalars_;
  view.step_begin = step_begin_.get();
  view.input = input_.get();
  view.weight = weight_.get();
  view.bias = bias_.get();
  view.panel_begin = panel_begin_.get();
  view.panel_row = panel_row_.get();
  view.local = local_.get();
  view.panel_reads = panel_reads_.get();
  view.panel_group = panel_group_.get();
  return view;
}

}  // namespace winnow::challenge
