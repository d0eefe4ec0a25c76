#include <algorithm>
#include <map>

#include "runtime/base/error.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/gather_linear.h"
#include "runtime/cpu/onednn_primitives.h"
#include "runtime/cpu/openmp_threads.h"

namespace winnow {
namespace {

using dnnl::memory;

// OpenMP's threads spin for milliseconds after their work and would take the cores from ours. So
// where the images divide well, each of our threads runs oneDNN on its share, single-threaded; else
// oneDNN runs with its own threads. `kUnevenness` is the most that the larger share may exceed.
constexpr double kUnevenness = 1.15;

bool divides_well(std::int64_t images, int threads) {
  const std::int64_t largest = (images + threads - 1) / threads;
  return static_cast<double>(largest * threads) <= kUnevenness * static_cast<double>(images);
}

// One share of the images, with memory objects of its own.
struct Slice {
  std::int64_t first_image = 0;
  DensePrimitive primitive;
  memory source, target, scratch;
  dnnl::stream stream;
};

class OneDnnLayer final : public CpuLayer {
 public:
  OneDnnLayer(const ConvWork& work, DenseAlgorithm algorithm, int threads)
      : engine_(dnnl::engine::kind::cpu, 0), threads_(threads) {
    const std::int64_t images = work.shape.in.n;
    is_split_ = divides_well(images, threads);
    const int slices = is_split_ ? threads : 1;
    const OpenMpThreads guard(is_split_ ? 1 : threads);
    for (int i = 0; i < slices; ++i) {
      add_slice(work, algorithm, images * i / slices, images * (i + 1) / slices);
    }
    set_weights(work, algorithm);
    const DensePrimitive& first = slices_[0].primitive;
    family = "dense";
    uses_own_threads = !is_split_ && threads > 1;
    is_reentrant = false;  // its memory objects are set before each run
    input_layout = first.input_layout;
    output_layout = first.output_layout;
    in_image_ = planes_of(input_layout, work.shape.in).count() / images;
    out_image_ = planes_of(output_layout, work.shape.out).count() / images;
    kernel = "onednn " + first.implementation + " " + to_string(input_layout) +
             (uses_own_threads ? " own threads" : "");
  }

  std::int64_t scratch_floats() const override {
    return slice_scratch() * static_cast<std::int64_t>(slices_.size());
  }

  void run(const LayerCall& call, ThreadPool& pool) override {
    if (is_split_) {
      pool.run([&](int share) {
        const OpenMpThreads guard(1);
        run_slice(call, share);
      });
    } else {
      const OpenMpThreads guard(threads_);
      run_slice(call, 0);
    }
  }

 private:
  void add_slice(const ConvWork& work, DenseAlgorithm algorithm, std::int64_t begin,
                 std::int64_t end) {
    Slice slice;
    slice.first_image = begin;
    slice.primitive = make_primitive(work, end - begin, algorithm, engine_);
    if (!slices_.empty() && (slice.primitive.weights != slices_[0].primitive.weights ||
                             slice.primitive.input_layout != slices_[0].primitive.input_layout ||
                             slice.primitive.output_layout != slices_[0].primitive.output_layout)) {
      throw dnnl::error(dnnl_unimplemented, "slices differ in their layouts");
    }
    slice.source = memory(slice.primitive.source, engine_, nullptr);
    slice.target = memory(slice.primitive.target, engine_, nullptr);
    const memory::desc scratch({slice.primitive.scratch_floats}, memory::data_type::f32,
                               memory::format_tag::x);
    if (slice.primitive.scratch_floats > 0) slice.scratch = memory(scratch, engine_, nullptr);
    slice.stream = dnnl::stream(engine_);
    slices_.push_back(std::move(slice));
  }

  void set_weights(const ConvWork& work, DenseAlgorithm algorithm) {
    std::vector<float> dense = dense_weight(work.blocks);
    memory row_major(dense_weights(work, algorithm), engine_, dense.data());
    weights_ = memory(slices_[0].primitive.weights, engine_);
    dnnl::stream stream(engine_);
    dnnl::reorder(row_major, weights_).execute(stream, row_major, weights_);
    stream.wait();
    const memory::desc bias({work.shape.out.c}, memory::data_type::f32, memory::format_tag::x);
    bias_ = memory(bias, engine_);
    std::copy(work.bias.begin(), work.bias.end(), static_cast<float*>(bias_.get_data_handle()));
  }

  std::int64_t slice_scratch() const {
    std::int64_t most = 0;
    for (const Slice& slice : slices_) most = std::max(most, slice.primitive.scratch_floats);
    return most;
  }

  void run_slice(const LayerCall& call, int share) {
    Slice& slice = slices_[share];
    // oneDNN takes no pointers to const; it does not write its source.
    slice.source.set_data_handle(const_cast<float*>(call.inputs[0]) +
                                 slice.first_image * in_image_);
    slice.target.set_data_handle(call.output + slice.first_image * out_image_);
    std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, slice.source},
                                                 {DNNL_ARG_WEIGHTS, weights_},
                                                 {DNNL_ARG_BIAS, bias_},
                                                 {DNNL_ARG_DST, slice.target}};
    if (slice.primitive.scratch_floats > 0) {
      slice.scratch.set_data_handle(call.scratch + share * slice_scratch());
      arguments.emplace(DNNL_ARG_SCRATCHPAD, slice.scratch);
    }
    try {
      slice.primitive.primitive.execute(slice.stream, arguments);
      slice.stream.wait();
    } catch (const dnnl::error& error) {
      fail(ErrorCode::device, "oneDNN: ", error.what());
    }
  }

  dnnl::engine engine_;
  int threads_;
  bool is_split_ = false;
  std::vector<Slice> slices_;
  memory weights_, bias_;
  std::int64_t in_image_ = 0;  // floats
  std::int64_t out_image_ = 0;
};

std::vector<DenseAlgorithm> algorithms_of(const ConvWork& work) {
  if (gather_linear_fits(work)) return {DenseAlgorithm::inner_product};
  return {DenseAlgorithm::direct, DenseAlgorithm::winograd};
}

}  // namespace

std::unique_ptr<CpuLayer> make_onednn_layer(const ConvWork& work, int algorithm, int threads) {
  try {
    return std::make_unique<OneDnnLayer>(work, algorithms_of(work)[algorithm], threads);
  } catch (const dnnl::error&) {
    return nullptr;  // this algorithm does not fit the work; the next one may
  }
}

int onednn_algorithms(const ConvWork& work) {
  return static_cast<int>(algorithms_of(work).size());
}

int onednn_saving(const ConvWork& work, int algorithm) {
  return algorithms_of(work)[algorithm] == DenseAlgorithm::winograd ? 4 : 1;
}

LibraryFacts onednn_facts() {
  const dnnl_version_t* version = dnnl_version();
  return {"oneDNN",
          std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
              std::to_string(version->patch),
          library_file_of(reinterpret_cast<const void*>(&dnnl_version)), ""};
}

}  // namespace winnow
