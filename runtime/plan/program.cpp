#include "runtime/plan/program.h"

#include <map>
#include <utility>
#include <variant>

namespace winnow {
namespace {

bool takes_relu(const Op& op) {
  return std::holds_alternative<Conv>(op) || std::holds_alternative<Linear>(op) ||
         std::holds_alternative<Add>(op);
}

// Turns nodes into steps, in order.
class Builder {
 public:
  Builder(const Graph& graph, std::int64_t batch)
      : graph_(graph), shapes_(infer_shapes(graph, batch)), value_of_(graph.nodes.size()) {
    program_.batch = batch;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) index_of_[graph.nodes[i].name] = i;
    count_readers();
  }

  Program build() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(i);
    program_.output = value_of_.back();
    return std::move(program_);
  }

 private:
  // How many values read each node's; a dropout passes its readers on to what it reads.
  void count_readers() {
    readers_.resize(graph_.nodes.size());
    readers_.back() = 1;  // the caller reads the output
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const bool is_alias = std::holds_alternative<Dropout>(graph_.nodes[i].op);
      for (const std::string& input : graph_.nodes[i].inputs) {
        readers_[index_of_.at(input)] += is_alias ? readers_[i] : 1;
      }
    }
  }

  void add(std::size_t index) {
    const Node& node = graph_.nodes[index];
    if (std::holds_alternative<Dropout>(node.op) ||
        (std::holds_alternative<Relu>(node.op) && fuse_relu(index))) {
      value_of_[index] = input_value(node, 0);
    } else {
      add_step(index);
    }
  }

  // Gives the relu to the step that makes its input if nothing else reads that. Kernels apply no
  // upper bound, so that a relu with one is a step of its own.
  bool fuse_relu(std::size_t index) {
    const Node& relu = graph_.nodes[index];
    if (std::get<Relu>(relu.op).max_value) return false;
    const std::size_t value = input_value(relu, 0);
    const auto writer = writer_of_.find(value);
    if (writer == writer_of_.end()) return false;
    Step& step = program_.steps[writer->second];
    if (!takes_relu(step.op) || value_readers_[value] != 1) return false;
    step.has_relu = true;
    program_.values[value].name = relu.name;
    value_readers_[value] = readers_[index];
    return true;
  }

  void add_step(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const std::size_t value = program_.values.size();
    value_of_[index] = value;
    program_.values.push_back({node.name, shapes_[index]});
    value_readers_.push_back(readers_[index]);
    if (std::holds_alternative<Input>(node.op)) {
      program_.input = value;
      return;
    }
    Step step{node.name, node.op, {}, value, false, "", ""};
    for (const Parameter& parameter : parameters_of(node)) {
      if (step.weight.empty()) step.weight = parameter.name;  // the first one
      if (parameter.name.ends_with(".bias")) step.bias = parameter.name;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      step.inputs.push_back(input_value(node, i));
    writer_of_[value] = program_.steps.size();
    program_.steps.push_back(std::move(step));
  }

  std::size_t input_value(const Node& node, std::size_t i) const {
    return value_of_[index_of_.at(node.inputs[i])];
  }

  const Graph& graph_;
  std::vector<Shape> shapes_;
  Program program_;
  std::map<std::string, std::size_t> index_of_;
  std::vector<std::size_t> readers_;              // by node
  std::vector<std::size_t> value_of_;             // by node
  std::vector<std::size_t> value_readers_;        // by value
  std::map<std::size_t, std::size_t> writer_of_;  // value -> step
};

}  // namespace

Program build_program(const DeployedModel& model, std::int64_t batch) {
  check_deployed_model(model, model.graph.name);
  return build_program(model.graph, batch);
}

Program build_program(const Graph& graph, std::int64_t batch) {
  return Builder(graph, batch).build();
}

std::optional<Conv> as_conv(const Program& program, const Step& step) {
  if (const auto* conv = std::get_if<Conv>(&step.op)) return *conv;
  const auto* linear = std::get_if<Linear>(&step.op);
  if (linear == nullptr || program.values[step.inputs[0]].shape.size() != 2) return std::nullopt;
  return Conv{.in_channels = linear->in_features, .out_channels = linear->out_features};
}

std::vector<std::size_t> reader_counts(const Program& program) {
  std::vector<std::size_t> readers(program.values.size(), 0);
  for (const Step& step : program.steps) {
    for (const std::size_t input : step.inputs) ++readers[input];
  }
  ++readers[program.output];
  return readers;
}

}  // namespace winnow
