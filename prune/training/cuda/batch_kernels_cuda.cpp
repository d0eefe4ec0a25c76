// BatchKernels of the module: tensors in, a launch out.
#include "prune/training/steps/batch_kernels.h"

#include <ATen/Functions.h>

#include "prune/training/cuda/input_kernels.h"
#include "prune/training/cuda/launch_checks.h"

namespace winnow {
namespace {

InputType type_of(at::ScalarType type) {
  if (type == at::kBFloat16) return InputType::bf16;
  if (type == at::kHalf) return InputType::f16;
  TORCH_CHECK(type == at::kFloat, "inputs: found ", type);
  return InputType::f32;
}

// LibTorch leaves the strides of images that are channels-last already, with one channel or of one
// pixel, and so does this: libraries choose kernels by strides.
at::MemoryFormat layout_of(const at::Tensor& bytes, bool is_channels_last) {
  const bool is_both = bytes.size(1) == 1 || bytes.size(2) * bytes.size(3) == 1;
  return is_channels_last && !is_both ? at::MemoryFormat::ChannelsLast
                                      : at::MemoryFormat::Contiguous;
}

class CudaBatchKernels : public BatchKernels {
 public:
  at::Tensor input(const InputParts& parts, const InputFormat& format) const override {
    const at::Tensor bytes = parts.bytes.contiguous();
    const at::Tensor changes = parts.changes.defined() ? parts.changes.contiguous() : at::Tensor();
    const at::MemoryFormat layout = layout_of(bytes, format.is_channels_last);
    at::Tensor output = at::empty(bytes.sizes(), bytes.options().dtype(format.dtype), layout);
    if (output.numel() == 0) return output;
    require(launch_input(
        {.device = bytes.device().index(),
         .stream = stream_of(bytes),
         .type = type_of(format.dtype),
         .is_channels_last = layout == at::MemoryFormat::ChannelsLast,
         .images = bytes.size(0),
         .channels = static_cast<int>(bytes.size(1)),
         .height = static_cast<int>(bytes.size(2)),
         .width = static_cast<int>(bytes.size(3)),
         .cutout = parts.cutout,
         .bytes = bytes.const_data_ptr<std::uint8_t>(),
         .changes = changes.defined() ? changes.const_data_ptr<std::int64_t>() : nullptr,
         .values = parts.values.const_data_ptr<float>(),
         .output = output.mutable_data_ptr()}));
    return output;
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::BatchKernels*
winnow_batch_kernels() {
  static const winnow::CudaBatchKernels kernels;
  return &kernels;
}
