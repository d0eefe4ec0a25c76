#include "runtime/gpu/gathered/resident_conv.h"

#include <limits>

#include "runtime/base/error.h"
#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/gathered/gathered_format.h"
#include "runtime/gpu/gathered/resident_kernels.h"

namespace winnow {
namespace {

void require(bool is_true, const char* what) {
  if (!is_true) fail(ErrorCode::usage, "resident_conv: ", what);
}

bool is_same_map(const Extents& a, const Extents& b) {
  return a.c == b.c && a.h == b.h && a.w == b.w;
}

void check(const ResidentLayer& layer, const ActivationView& in, const ActivationView* addend,
           const ActivationView& out) {
  require(is_gathered(in.format) && is_gathered(out.format),
          "input or output is not nchw32c8n f16");
  Extents stored = layer.out;
  if (layer.epilogue.pool != RingPool::none) {
    stored.h /= 2;
    stored.w /= 2;
  }
  require(
      is_same_map(in.size, layer.in) && is_same_map(out.size, stored) && in.size.n == out.size.n,
      "images, channels or maps do not fit");
  if (addend == nullptr) return;
  require(addend->format == out.format && is_same_map(addend->size, layer.out) &&
              addend->size.n == in.size.n,
          "the addend is not as the output");
}

ResidentConvKernel kernel_for(const ResidentTile& tile) {
  const ResidentConvKernel kernel = tile.form.is_point() ? resident_point_kernel(tile.form)
                                    : tile.form.is_map   ? resident_map_kernel(tile.form)
                                                         : resident_strip_kernel(tile.form);
  if (kernel == nullptr) fail(ErrorCode::internal, "no kernel for ", to_string(tile));
  return kernel;
}

Extents of_images(Extents size, std::int64_t images) {
  size.n = images;
  return size;
}

}  // namespace

ResidentLayer upload_resident_layer(const ResidentConvWeights& weights, std::span<const float> bias,
                                    const Conv& conv, const ResidentTile& tile, const Extents& in,
                                    const Extents& out, const ResidentEpilogue& epilogue) {
  ResidentLayer layer;
  layer.conv = conv;
  layer.tile = tile;
  layer.epilogue = epilogue;
  layer.in = in;
  layer.out = out;
  layer.capacity = weights.capacity;
  layer.records = upload(weights.records);
  layer.heads = upload(weights.heads);
  layer.place = upload(weights.place);
  layer.bias = upload(row_biases(weights.channel, bias));
  return layer;
}

ResidentLimits resident_limits() {
  return {.shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .sms = device_attribute(cudaDevAttrMultiProcessorCount),
          .has_clusters = has_clusters()};
}

void resident_conv(const ResidentLayer& layer, const ActivationView& in,
                   const ActivationView* addend, const ActivationView& out, GatheredLoads loads,
                   cudaStream_t stream) {
  check(layer, in, addend, out);
  if (out.size.count() == 0) return;
  ResidentArguments a;
  a.g = resident_geometry(layer.tile, layer.conv, in.size, of_images(layer.out, in.size.n));
  a.records = layer.records.get();
  a.heads = reinterpret_cast<const int4*>(layer.heads.get());
  a.place = layer.place.get();
  a.bias = layer.bias.get();
  a.in = static_cast<const __half*>(in.data);
  a.addend = addend == nullptr ? nullptr : static_cast<const __half*>(addend->data);
  a.out = static_cast<__half*>(out.data);
  a.capacity = static_cast<int>(layer.capacity);
  a.least = layer.epilogue.has_relu ? 0.0f : -std::numeric_limits<float>::infinity();
  a.pool = layer.epilogue.pool;
  a.uses_bulk = loads == GatheredLoads::in_bulk;
  const ResidentConvKernel kernel = kernel_for(layer.tile);
  const auto along = [](int blocks) { return static_cast<unsigned>(blocks); };
  const LaunchSize size{.blocks = dim3(along(a.g.cluster * a.g.group_blocks), along(a.g.strips),
                                       along(a.g.image_tiles)),
                        .threads = static_cast<unsigned>(a.g.warps() * 32),
                        .shared_bytes = static_cast<std::size_t>(a.g.shared_bytes()),
                        .cluster = layer.tile.cluster};
  allow_shared_memory(kernel, size.shared_bytes);
  launch_overlapping(kernel, size, true, stream, a);
}

}  // namespace winnow
