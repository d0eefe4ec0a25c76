#include "runtime/challenge/files/binary/network_file.h"

#include <atomic>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/challenge/files/binary/layer_coding.h"
#include "runtime/challenge/files/binary/part_file.h"
#include "runtime/challenge/files/file_limits.h"

namespace winnow::challenge {
namespace {

PartFileSummary summary_of(const std::string& path, std::uint32_t neurons, std::uint32_t layers) {
  if (neurons == 0 || neurons > kMostNeurons || layers == 0 || layers > kMostLayers) {
    fail(ErrorCode::usage, path, ": ", layers, " layers of ", neurons, " neurons, expected 1 to ",
         kMostLayers, " of 1 to ", kMostNeurons);
  }
  return {.neurons = neurons, .count = layers, .parts = layers};
}

// Layers are unpacked when asked for, and checked when that happens first.
class NetworkFile : public Network {
 public:
  NetworkFile(PartFile file, std::uint32_t layers);

  std::string name() const override;
  std::uint32_t neurons() const override { return file_.summary().neurons; }
  std::uint32_t layers() const override { return static_cast<std::uint32_t>(facts_.size()); }
  std::uint64_t connections() const override { return connections_; }
  SparseLayer layer(std::uint32_t l) const override;
  void read(std::uint32_t l, SparseLayer& into) const override;
  LayerShape shape(std::uint32_t l) const override;

 private:
  void read_facts();
  void require_layer(std::uint32_t l) const;

  PartFile file_;
  std::vector<LayerFacts> facts_;
  std::uint64_t connections_ = 0;
  mutable std::vector<std::atomic<bool>> is_checked_;
};

NetworkFile::NetworkFile(PartFile file, std::uint32_t layers) : file_(std::move(file)) {
  read_facts();
  if (layers > facts_.size()) {
    fail(ErrorCode::usage, file_.name(), ": found ", facts_.size(), " layers, expected ", layers);
  }
  if (layers > 0) facts_.resize(layers);
  connections_ = 0;
  for (const LayerFacts& facts : facts_) connections_ += facts.connections;
  is_checked_ = std::vector<std::atomic<bool>>(facts_.size());
}

void NetworkFile::read_facts() {
  const PartFileSummary& summary = file_.summary();
  if (summary.count != summary.parts || summary.count > kMostLayers) {
    fail(ErrorCode::bad_file, file_.name(), ": header: found ", summary.count, " layers in ",
         summary.parts, " parts, expected equally many, at most ", kMostLayers);
  }
  std::uint32_t neurons = summary.neurons;
  std::uint64_t connections = 0;
  for (std::uint32_t l = 0; l < summary.parts; ++l) {
    const LayerFacts facts = unpack(file_.facts(l));
    const std::string defect = find_defect(facts, file_.bytes(l).size());
    if (!defect.empty()) fail(ErrorCode::bad_file, file_.place(l), ": ", defect);
    if (facts.inputs != neurons) {
      fail(ErrorCode::bad_file, file_.place(l), ": found ", facts.inputs, " inputs, expected ",
           neurons);
    }
    neurons = facts.outputs;
    connections += facts.connections;
    facts_.push_back(facts);
  }
  if (connections != summary.total) {
    fail(ErrorCode::bad_file, file_.name(), ": header: found ", summary.total,
         " connections, expected ", connections);
  }
}

std::string NetworkFile::name() const {
  return std::to_string(neurons()) + " neurons, " + std::to_string(layers()) + " layers in " +
         file_.name();
}

void NetworkFile::require_layer(std::uint32_t l) const {
  if (l >= layers()) fail(ErrorCode::usage, name(), ": there is no layer ", l);
}

LayerShape NetworkFile::shape(std::uint32_t l) const {
  require_layer(l);
  return {facts_[l].inputs, facts_[l].outputs, facts_[l].connections};
}

SparseLayer NetworkFile::layer(std::uint32_t l) const {
  SparseLayer layer;
  read(l, layer);
  return layer;
}

void NetworkFile::read(std::uint32_t l, SparseLayer& into) const {
  require_layer(l);
  if (!is_checked_[l]) file_.check(l);
  decode_layer(facts_[l], file_.bytes(l), file_.place(l), into);
  if (is_checked_[l]) return;
  try {
    check_layer(into, file_.place(l));
  } catch (const Error& error) {  // it is the file's fault, not the caller's
    throw Error(ErrorCode::bad_file, error.what());
  }
  is_checked_[l] = true;
}

}  // namespace

NetworkFileWriter::NetworkFileWriter(const std::string& path, std::uint32_t neurons,
                                     std::uint32_t layers)
    : path_(path),
      file_(std::make_unique<PartFileWriter>(path, PartFileKind::network,
                                             summary_of(path, neurons, layers))),
      layers_(layers),
      outputs_(neurons) {}

NetworkFileWriter::~NetworkFileWriter() = default;

void NetworkFileWriter::append(const SparseLayer& layer) {
  const std::string place = path_ + ": layer " + std::to_string(file_->appended());
  check_layer(layer, place);
  if (file_->appended() == layers_)
    fail(ErrorCode::usage, place, ": expected ", layers_, " layers");
  if (layer.inputs != outputs_ || layer.outputs() == 0 || layer.outputs() > kMostNeurons) {
    fail(ErrorCode::usage, place, ": found ", layer.inputs, " inputs and ", layer.outputs(),
         " outputs, expected ", outputs_, " and 1 to ", kMostNeurons);
  }
  const EncodedLayer encoded(layer);
  file_->append(encoded.facts(), encoded.arrays());
  outputs_ = layer.outputs();
  connections_ += layer.connections();
}

void NetworkFileWriter::commit() {
  if (file_->appended() != layers_) {
    fail(ErrorCode::usage, path_, ": ", file_->appended(), " layers were written, expected ",
         layers_);
  }
  file_->commit(connections_);
}

std::unique_ptr<Network> open_network_file(const std::string& path, std::uint32_t layers) {
  MappedFile file(path);
  const Bytes bytes = file.bytes();
  return std::make_unique<NetworkFile>(
      PartFile(bytes, path, PartFileKind::network, std::move(file)), layers);
}

std::unique_ptr<Network> open_network_bytes(Bytes bytes, const std::string& name,
                                            std::uint32_t layers) {
  return std::make_unique<NetworkFile>(PartFile(bytes, name, PartFileKind::network), layers);
}

}  // namespace winnow::challenge
