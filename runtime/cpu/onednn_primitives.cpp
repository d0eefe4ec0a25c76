#include "runtime/cpu/onednn_primitives.h"

#include <array>
#include <optional>

namespace winnow {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Desc = memory::desc;

constexpr auto kFloat = memory::data_type::f32;

struct Descs {
  Desc source, weights, bias, target;
};

dnnl::primitive_attr attributes(bool has_relu) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!has_relu) return attributes;
  dnnl::post_ops operations;
#if DNNL_VERSION_MAJOR >= 3
  operations.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
#else
  operations.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
#endif
  attributes.set_post_ops(operations);
  return attributes;
}

dnnl::convolution_forward::primitive_desc conv_desc(const ConvWork& work, const Descs& d,
                                                    dnnl::algorithm algorithm,
                                                    const dnnl::engine& engine) {
  const ConvShape& s = work.shape;
  const memory::dims strides = {s.stride[0], s.stride[1]};
  const memory::dims dilations = {s.dilation[0] - 1, s.dilation[1] - 1};
  const memory::dims padding = {s.padding[0], s.padding[1]};
  const auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return {engine,   kind,    algorithm, d.source, d.weights, d.bias,
          d.target, strides, dilations, padding,  padding,   attributes(work.has_relu)};
#else
  const dnnl::convolution_forward::desc desc(kind, algorithm, d.source, d.weights, d.bias, d.target,
                                             strides, dilations, padding, padding);
  return {desc, attributes(work.has_relu), engine};
#endif
}

dnnl::inner_product_forward::primitive_desc linear_desc(const ConvWork& work, const Descs& d,
                                                        const dnnl::engine& engine) {
  const auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kind, d.source, d.weights, d.bias, d.target, attributes(work.has_relu)};
#else
  const dnnl::inner_product_forward::desc desc(kind, d.source, d.weights, d.bias, d.target);
  return {desc, attributes(work.has_relu), engine};
#endif
}

memory::dims image_dims(const Extents& x, std::int64_t images) {
  return {images, x.c, x.h, x.w};
}

// Which of our layouts `desc` is, if any.
std::optional<Layout> layout_of(const Desc& desc, const Extents& x, std::int64_t images) {
  const memory::dims dims = image_dims(x, images);
  if (desc == Desc(dims, kFloat, Tag::nchw)) return Layout{};
  if (desc == Desc(dims, kFloat, Tag::nhwc)) return simplest(Layout::nhwc, x);
  if (desc == Desc(dims, kFloat, Tag::nChw16c)) return simplest({Order::nchwc, 16}, x);
  if (desc == Desc(dims, kFloat, Tag::nChw8c)) return simplest({Order::nchwc, 8}, x);
  return std::nullopt;
}

memory::dims weight_dims(const ConvWork& work) {
  const ConvShape& s = work.shape;
  if (s.groups == 1) return {s.out.c, s.in.c, s.kernel[0], s.kernel[1]};
  return {s.groups, s.group_outputs(), s.group_channels(), s.kernel[0], s.kernel[1]};
}

template <typename PrimitiveDesc, typename Primitive>
DensePrimitive finished(const PrimitiveDesc& desc) {
  DensePrimitive result;
  result.primitive = Primitive(desc);
  result.source = desc.src_desc();
  result.weights = desc.weights_desc();
  result.target = desc.dst_desc();
  result.scratch_floats =
      static_cast<std::int64_t>((desc.scratchpad_desc().get_size() + 63) / 64 * 16);
  result.implementation = desc.impl_info_str();
  return result;
}

DensePrimitive make_conv(const ConvWork& work, std::int64_t images, dnnl::algorithm algorithm,
                         const dnnl::engine& engine) {
  const memory::dims in = image_dims(work.shape.in, images);
  const memory::dims out = image_dims(work.shape.out, images);
  const Desc weights(weight_dims(work), kFloat, Tag::any);
  const Desc bias({work.shape.out.c}, kFloat, Tag::x);
  // Its own choice first; if that is a layout that we do not know, one that both know.
  for (const Tag tag : {Tag::any, Tag::nhwc, Tag::nchw}) {
    const Descs descs{Desc(in, kFloat, tag), weights, bias, Desc(out, kFloat, tag)};
    const auto desc = conv_desc(work, descs, algorithm, engine);
    const auto source = layout_of(desc.src_desc(), work.shape.in, images);
    const auto target = layout_of(desc.dst_desc(), work.shape.out, images);
    if (!source || !target) continue;
    auto result =
        finished<dnnl::convolution_forward::primitive_desc, dnnl::convolution_forward>(desc);
    result.input_layout = *source;
    result.output_layout = *target;
    return result;
  }
  throw dnnl::error(dnnl_unimplemented, "no common layout");
}

DensePrimitive make_linear(const ConvWork& work, std::int64_t images, const dnnl::engine& engine) {
  const Descs descs{Desc({images, work.shape.in.c}, kFloat, Tag::ab),
                    Desc({work.shape.out.c, work.shape.in.c}, kFloat, Tag::any),
                    Desc({work.shape.out.c}, kFloat, Tag::x),
                    Desc({images, work.shape.out.c}, kFloat, Tag::ab)};
  return finished<dnnl::inner_product_forward::primitive_desc, dnnl::inner_product_forward>(
      linear_desc(work, descs, engine));
}

}  // namespace

DensePrimitive make_primitive(const ConvWork& work, std::int64_t images, DenseAlgorithm algorithm,
                              const dnnl::engine& engine) {
  switch (algorithm) {
    case DenseAlgorithm::direct:
      return make_conv(work, images, dnnl::algorithm::convolution_direct, engine);
    case DenseAlgorithm::winograd:
      return make_conv(work, images, dnnl::algorithm::convolution_winograd, engine);
    case DenseAlgorithm::inner_product:
      return make_linear(work, images, engine);
  }
  throw dnnl::error(dnnl_invalid_arguments, "unknown algorithm");
}

Desc dense_weights(const ConvWork& work, DenseAlgorithm algorithm) {
  if (algorithm == DenseAlgorithm::inner_product) {
    return Desc({work.shape.out.c, work.shape.in.c}, kFloat, Tag::ab);
  }
  return Desc(weight_dims(work), kFloat, work.shape.groups == 1 ? Tag::oihw : Tag::goihw);
}

}  // namespace winnow
