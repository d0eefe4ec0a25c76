#include "runtime/challenge/files/binary/images_file.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/challenge/files/binary/image_coding.h"
#include "runtime/challenge/files/binary/part_file.h"
#include "runtime/challenge/files/file_limits.h"
#include "runtime/challenge/parallel.h"

namespace winnow::challenge {
namespace {

std::uint32_t blocks_for(std::uint32_t images) {
  return (images + kImagesPerBlock - 1) / kImagesPerBlock;
}

PartFileSummary summary_of(const std::string& path, std::uint32_t neurons, std::uint32_t images) {
  if (neurons == 0 || neurons > kMostNeurons || images == 0 || images > kMostImages) {
    fail(ErrorCode::usage, path, ": ", images, " images of ", neurons, " neurons, expected 1 to ",
         kMostImages, " of 1 to ", kMostNeurons);
  }
  return {.neurons = neurons, .count = images, .parts = blocks_for(images)};
}

void require_sizes(const PartFile& file) {
  const PartFileSummary& summary = file.summary();
  if (summary.neurons == 0 || summary.neurons > kMostNeurons || summary.count == 0 ||
      summary.count > kMostImages || summary.parts != blocks_for(summary.count)) {
    fail(ErrorCode::bad_file, file.name(), ": header: found ", summary.count, " images of ",
         summary.neurons, " neurons in ", summary.parts, " blocks, expected 1 to ", kMostImages,
         " images of 1 to ", kMostNeurons, " neurons, ", kImagesPerBlock, " a block");
  }
}

// What the table says of all blocks.
std::vector<BlockFacts> read_facts(const PartFile& file) {
  require_sizes(file);
  std::vector<BlockFacts> blocks;
  std::uint64_t ones = 0;
  for (std::uint32_t b = 0; b < file.summary().parts; ++b) {
    const std::uint32_t left = file.summary().count - b * kImagesPerBlock;
    const BlockFacts facts =
        unpack(file.facts(b), file.summary().neurons, std::min(left, kImagesPerBlock));
    const std::string defect = find_defect(facts, file.bytes(b).size());
    if (!defect.empty()) fail(ErrorCode::bad_file, file.place(b), ": ", defect);
    ones += facts.ones;
    blocks.push_back(facts);
  }
  if (ones != file.summary().total) {
    fail(ErrorCode::bad_file, file.name(), ": header: found ", file.summary().total,
         " ones, expected ", ones);
  }
  return blocks;
}

SparseImages read(const PartFile& file) {
  const std::vector<BlockFacts> blocks = read_facts(file);
  std::vector<std::uint64_t> begin = {0};  // of each block's ones
  for (const BlockFacts& block : blocks) begin.push_back(begin.back() + block.ones);
  SparseImages images{.neurons = file.summary().neurons, .row_begin = {}, .neuron = {}};
  images.row_begin.resize(std::size_t{file.summary().count} + 1);
  images.neuron.resize(begin.back());
  for_each_in_parallel(blocks.size(), [&](std::size_t b) {
    const auto part = static_cast<std::uint32_t>(b);
    file.check(part);
    // Bound i of a block is the begin of its image i; the next block begins where it ends.
    decode_block(blocks[b], file.bytes(part), file.place(part), begin[b],
                 std::span(images.row_begin).subspan(b * kImagesPerBlock + 1, blocks[b].images),
                 std::span(images.neuron).subspan(begin[b], blocks[b].ones));
  });
  return images;
}

}  // namespace

ImagesFileWriter::ImagesFileWriter(const std::string& path, std::uint32_t neurons,
                                   std::uint32_t images)
    : path_(path),
      file_(std::make_unique<PartFileWriter>(path, PartFileKind::images,
                                             summary_of(path, neurons, images))),
      neurons_(neurons),
      images_(images) {}

ImagesFileWriter::~ImagesFileWriter() = default;

void ImagesFileWriter::append(const SparseImages& more) {
  check_images(more, path_);
  if (more.neurons != neurons_ || more.images() > images_ - appended_ ||
      appended_ % kImagesPerBlock != 0) {
    fail(ErrorCode::usage, path_, ": found ", more.images(), " images of ", more.neurons,
         " neurons behind ", appended_, " images, expected ", images_, " in all of ", neurons_,
         " neurons, appended in multiples of ", kImagesPerBlock);
  }
  for (std::uint32_t first = 0; first < more.images(); first += kImagesPerBlock) {
    const std::uint32_t last = std::min(first + kImagesPerBlock, more.images());
    const EncodedBlock block(more, first, last);
    file_->append(block.facts(), block.arrays());
  }
  appended_ += more.images();
  ones_ += more.ones();
}

void ImagesFileWriter::commit() {
  if (appended_ != images_) {
    fail(ErrorCode::usage, path_, ": ", appended_, " images were written, expected ", images_);
  }
  file_->commit(ones_);
}

void write_images_file(const std::string& path, const SparseImages& images) {
  ImagesFileWriter file(path, images.neurons, images.images());
  file.append(images);
  file.commit();
}

SparseImages read_images_file(const std::string& path) {
  const MappedFile file(path);
  return read(PartFile(file.bytes(), path, PartFileKind::images));
}

SparseImages read_images_bytes(Bytes bytes, const std::string& name) {
  return read(PartFile(bytes, name, PartFileKind::images));
}

}  // namespace winnow::challenge
