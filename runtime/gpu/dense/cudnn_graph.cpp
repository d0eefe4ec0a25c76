// cuDNN's graph interface: convolution, addition, bias and relu as an operation graph; its
// heuristics propose engines, each of which becomes a plan.
#include <algorithm>
#include <array>
#include <string>

#include "runtime/gpu/dense/cudnn_problem.h"

namespace winnow {
namespace {

using Descriptor = CudnnObject<cudnnBackendDescriptor_t, &Cudnn::cudnnBackendDestroyDescriptor>;

constexpr std::int64_t kInput = 'x', kWeight = 'w', kBias = 'b', kOutput = 'y';  // tensor numbers
constexpr std::int64_t kAddend = 'z', kConvolved = 'c', kSummed = 's', kBiased = 'd';
constexpr std::int64_t kAlignment = 16;  // bytes; our buffers have more

// Builds a descriptor attribute by attribute; every failure throws.
class Builder {
 public:
  Builder(const Cudnn& cudnn, cudnnBackendDescriptorType_t type) : cudnn_(cudnn) {
    cudnnBackendDescriptor_t made = nullptr;
    CUDNN_CHECK(cudnn_, cudnn_.cudnnBackendCreateDescriptor(type, &made));
    descriptor_ = Descriptor(made);
  }

  template <typename T>
  Builder& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T* values,
               std::int64_t count) {
    CUDNN_CHECK(cudnn_,
                cudnn_.cudnnBackendSetAttribute(descriptor_.get(), name, type, count, values));
    return *this;
  }
  template <typename T>
  Builder& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    return set(name, type, &value, 1);
  }
  Builder& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    const cudnnBackendDescriptor_t raw = value.get();
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &raw, 1);
  }

  Descriptor finalize() {
    CUDNN_CHECK(cudnn_, cudnn_.cudnnBackendFinalize(descriptor_.get()));
    return std::move(descriptor_);
  }
  // The unfinished descriptor, for objects that cuDNN itself fills in.
  Descriptor unfinished() { return std::move(descriptor_); }

 private:
  const Cudnn& cudnn_;
  Descriptor descriptor_;
};

struct TensorForm {
  std::int64_t number = 0;
  std::array<std::int64_t, 4> sizes{};  // N, C, H, W whatever the layout
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  bool is_virtual = false;  // exists between fused operations only
};

Descriptor tensor(const Cudnn& cudnn, const Layout& layout, const TensorForm& form) {
  const auto [n, c, h, w] = form.sizes;
  const std::array<std::int64_t, 4> strides =
      layout == Layout::nhwc ? std::array<std::int64_t, 4>{c * h * w, 1, w * c, c}
                             : std::array<std::int64_t, 4>{c * h * w, h * w, w, 1};
  Builder builder(cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  builder.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, form.type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, form.sizes.data(), 4)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.data(), 4)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, form.number)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, form.is_virtual);
  return builder.finalize();
}

Descriptor convolution(const Cudnn& cudnn, const Conv& conv) {
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  const std::int64_t dimensions = 2;
  Builder builder(cudnn, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  builder.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, dimensions)
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, conv.padding.data(), 2)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, conv.padding.data(), 2)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, conv.dilation.data(), 2)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, conv.stride.data(), 2);
  return builder.finalize();
}

Descriptor pointwise(const Cudnn& cudnn, cudnnPointwiseMode_t mode) {
  const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  Builder builder(cudnn, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  builder.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute);
  return builder.finalize();
}

// y = relu(conv(x, w) + z + b), the addend and the relu only if the layer has them.
class OperationGraph {
 public:
  OperationGraph(const Cudnn& cudnn, const CudnnProblem& problem, cudnnHandle_t handle)
      : cudnn_(cudnn), problem_(problem) {
    const Conv& conv = problem.conv;
    const cudnnDataType_t type = data_type(problem.precision);
    const auto sizes = [](const Extents& s) {
      return std::array<std::int64_t, 4>{s.n, s.c, s.h, s.w};
    };
    const std::array<std::int64_t, 4> filter = {conv.out_channels, conv.in_channels / conv.groups,
                                                conv.kernel[0], conv.kernel[1]};
    x_ = add({kInput, sizes(problem.in), type});
    w_ = add({kWeight, filter, type});
    b_ = add({kBias, {1, conv.out_channels, 1, 1}, type});
    const auto between = [&](std::int64_t number) {
      return add({number, sizes(problem.out), CUDNN_DATA_FLOAT, true});
    };
    convolved_ = between(kConvolved);
    if (problem.adds) {
      z_ = add({kAddend, sizes(problem.out), type});
      summed_ = between(kSummed);
    }
    if (problem.has_relu) biased_ = between(kBiased);
    y_ = add({kOutput, sizes(problem.out), type});
    addition_ = pointwise(cudnn_, CUDNN_POINTWISE_ADD);
    add_convolution();
    if (problem.adds) add_sum(convolved_, z_, summed_);
    add_sum(problem.adds ? summed_ : convolved_, b_, problem.has_relu ? biased_ : y_);
    if (problem.has_relu) add_relu();
    finalize(handle);
  }

  const Descriptor& get() const { return graph_; }

 private:
  Descriptor add(const TensorForm& form) { return tensor(cudnn_, problem_.layout, form); }

  void add_convolution() {
    const float one = 1, zero = 0;
    conv_ = convolution(cudnn_, problem_.conv);
    Builder builder(cudnn_, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    builder.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, convolved_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv_)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, one)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, zero);
    operations_.push_back(builder.finalize());
  }

  void add_sum(const Descriptor& one, const Descriptor& other, const Descriptor& sum) {
    Builder builder(cudnn_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    builder.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, addition_)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, one)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, other)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, sum);
    operations_.push_back(builder.finalize());
  }

  void add_relu() {
    rectifier_ = pointwise(cudnn_, CUDNN_POINTWISE_RELU_FWD);
    Builder builder(cudnn_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    builder.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, rectifier_)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, biased_)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y_);
    operations_.push_back(builder.finalize());
  }

  void finalize(cudnnHandle_t handle) {
    std::vector<cudnnBackendDescriptor_t> raw;
    for (const Descriptor& operation : operations_) raw.push_back(operation.get());
    Builder builder(cudnn_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    builder
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.data(),
             static_cast<std::int64_t>(raw.size()))
        .set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
    graph_ = builder.finalize();
  }

  const Cudnn& cudnn_;
  const CudnnProblem& problem_;
  Descriptor x_, w_, b_, z_, convolved_, summed_, biased_, y_, conv_, addition_, rectifier_;
  std::vector<Descriptor> operations_;
  Descriptor graph_;
};

// How many engine configurations the heuristics have; 0 if they refuse.
std::size_t count_proposals(const Cudnn& cudnn, const Descriptor& heuristics) {
  std::int64_t count = 0;
  const auto status =
      cudnn.cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
  return status == CUDNN_STATUS_SUCCESS ? static_cast<std::size_t>(std::max<std::int64_t>(count, 0))
                                        : 0;
}

// Engine configurations that one mode of the heuristics proposes, best first; empty if it refuses.
std::vector<Descriptor> propose(const Cudnn& cudnn, const OperationGraph& graph,
                                cudnnBackendHeurMode_t mode) {
  Descriptor heuristics;
  try {
    Builder builder(cudnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    builder.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.get())
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    heuristics = builder.finalize();
  } catch (const Error&) {
    return {};  // no engine for this graph
  }
  const std::size_t most = count_proposals(cudnn, heuristics);
  if (most == 0) return {};
  std::vector<Descriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::size_t i = 0; i < most; ++i) {
    configurations.push_back(Builder(cudnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).unfinished());
    raw.push_back(configurations.back().get());
  }
  std::int64_t returned = 0;
  const auto status = cudnn.cudnnBackendGetAttribute(
      heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      static_cast<std::int64_t>(most), &returned, raw.data());
  if (status != CUDNN_STATUS_SUCCESS) returned = 0;
  configurations.resize(
      std::min(most, static_cast<std::size_t>(std::max<std::int64_t>(returned, 0))));
  return configurations;
}

// What an engine's numbers are like.
struct Numerics {
  bool is_faithful = true;  // the same bits every time, inputs and sums in the precision asked for
  bool uses_tensor_cores = false;  // in fp32: TF32
};

Numerics numerics_of(const Cudnn& cudnn, const Descriptor& configuration) {
  const Descriptor engine = Builder(cudnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR).unfinished();
  cudnnBackendDescriptor_t raw = engine.get();
  std::int64_t count = 0;
  CUDNN_CHECK(cudnn,
              cudnn.cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw));
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  CUDNN_CHECK(cudnn, cudnn.cudnnBackendGetAttribute(
                         raw, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.data()));
  Numerics numerics;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto note = notes[static_cast<std::size_t>(i)];
    if (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE) numerics.uses_tensor_cores = true;
    if (note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC ||
        note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
        note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) {
      numerics.is_faithful = false;
    }
  }
  return numerics;
}

class PlanLayer : public PreparedLayer {
 public:
  // Throws Error{device} if cuDNN cannot make a plan of the configuration.
  PlanLayer(const Cudnn& cudnn, cudnnHandle_t handle, const CudnnProblem& problem,
            const Descriptor& configuration, std::shared_ptr<const CudnnParameters> parameters)
      : cudnn_(cudnn),
        handle_(handle),
        adds_(problem.adds),
        conv_input_(problem.conv_input),
        parameters_(std::move(parameters)) {
    Builder builder(cudnn_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    builder.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle_)
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    plan_ = builder.finalize();
    std::int64_t count = 0;
    CUDNN_CHECK(cudnn_, cudnn_.cudnnBackendGetAttribute(plan_.get(),
                                                        CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                        CUDNN_TYPE_INT64, 1, &count, &bytes_));
  }

  std::size_t workspace_bytes() const override { return static_cast<std::size_t>(bytes_); }

  void launch(std::span<const ActivationView> in, const ActivationView& out,
              const Workspace& workspace, cudaStream_t stream) const override {
    const std::int64_t count = adds_ ? 5 : 4;
    const std::array<std::int64_t, 5> numbers = {kInput, kWeight, kBias, kOutput, kAddend};
    const std::array<void*, 5> data = {in[conv_input_].data, parameters_->weight.get(),
                                       parameters_->bias.get(), out.data,
                                       adds_ ? in[1 - conv_input_].data : nullptr};
    Builder builder(cudnn_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    builder.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, numbers.data(), count)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data.data(), count)
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace.data);
    const Descriptor pack = builder.finalize();
    CUDNN_CHECK(cudnn_, cudnn_.cudnnSetStream(handle_, stream));
    CUDNN_CHECK(cudnn_, cudnn_.cudnnBackendExecute(handle_, plan_.get(), pack.get()));
  }

 private:
  const Cudnn& cudnn_;
  cudnnHandle_t handle_;
  bool adds_;
  std::size_t conv_input_;
  std::shared_ptr<const CudnnParameters> parameters_;
  Descriptor plan_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::vector<NamedLayer> cudnn_graph_layers(const CudnnProblem& problem,
                                           std::shared_ptr<const CudnnParameters> parameters,
                                           GpuContext& gpu, std::size_t most) {
  const Cudnn& cudnn = Cudnn::get();
  const cudnnHandle_t handle = cudnn_handle(gpu);
  std::vector<NamedLayer> layers;
  try {
    const OperationGraph graph(cudnn, problem, handle);
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      for (const Descriptor& configuration : propose(cudnn, graph, mode)) {
        if (layers.size() >= most) return layers;
        try {
          const Numerics numerics = numerics_of(cudnn, configuration);
          const bool is_tf32 = numerics.uses_tensor_cores && problem.precision == Precision::f32;
          if (!numerics.is_faithful || (is_tf32 && !problem.use_tf32)) continue;
          auto layer =
              std::make_shared<PlanLayer>(cudnn, handle, problem, configuration, parameters);
          if (layer->workspace_bytes() > kMaxCudnnWorkspace) continue;
          layers.push_back({"cudnn graph " + to_string(problem.layout) + " " +
                                math_name(problem.precision, is_tf32) + " plan " +
                                std::to_string(layers.size()),
                            std::move(layer)});
        } catch (const Error&) {
          continue;  // an engine that the heuristics propose may still refuse
        }
      }
    }
  } catch (const Error&) {
    return layers;  // cuDNN has no such graph, for instance fused bias of an old GPU
  }
  return layers;
}

}  // namespace winnow
