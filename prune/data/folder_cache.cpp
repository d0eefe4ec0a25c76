#include "prune/data/folder_cache.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/images/picture.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// header, then pixels [count, channels, height, width]. Labels and classes come from the listing.
struct CacheHeader {
  std::array<char, 8> magic = {'W', 'N', 'W', 'P', 'I', 'X', '0', '2'};
  std::uint64_t key = 0;
  std::int64_t count = 0;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::uint64_t checksum = 0;  // CRC-32C of the header with 0 here, then of the pixels
};
static_assert(sizeof(CacheHeader) == 56, "the file has no padding");

// FNV-1a, 64 bits (draft-eastlake-fnv). No protection against forgery, nor needed for one.
class Hash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (std::byte byte : bytes) {
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
    }
  }
  void add(std::int64_t number) { add(std::as_bytes(std::span(&number, 1))); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::uint64_t key_of(const FolderListing& listing, const FolderOptions& options) {
  Hash hash;
  hash.add(options.size);
  hash.add(options.channels);
  for (const Sides& sides : {options.form.resize, options.form.crop}) {
    hash.add(sides.height);
    hash.add(sides.width);
  }
  hash.add(static_cast<std::int64_t>(options.form.interpolation));
  for (const std::string& path : listing.paths) {
    hash.add(std::as_bytes(std::span(path.c_str(), path.size() + 1)));  // its end included
    std::error_code ignored;
    hash.add(static_cast<std::int64_t>(fs::file_size(path, ignored)));
    hash.add(fs::last_write_time(path, ignored).time_since_epoch().count());
  }
  return hash.value();
}

std::uint64_t checksum_of(CacheHeader header, std::span<const std::byte> pixels) {
  header.checksum = 0;
  return crc32c(pixels, crc32c(std::as_bytes(std::span(&header, 1))));
}

// Products cannot overflow: the count is that of the listing, the sides are bounded.
bool fits(const CacheHeader& header, const FolderListing& listing, const FolderOptions& options,
          std::size_t pixel_bytes) {
  constexpr auto kLargest = static_cast<std::int64_t>(kMaxPicturePixels);
  if (header.count != static_cast<std::int64_t>(listing.paths.size())) return false;
  if (header.channels != options.channels || header.height < 1 || header.width < 1) return false;
  if (header.height > kLargest || header.width > kLargest / header.height) return false;
  const auto size = static_cast<std::size_t>(header.channels * header.height * header.width);
  return pixel_bytes % size == 0 && pixel_bytes / size == listing.paths.size();
}

// Nothing if `bytes` are not what write_cache wrote.
std::optional<ImageSet> parse(std::span<const std::byte> bytes, const FolderListing& listing,
                              const FolderOptions& options, std::uint64_t key) {
  CacheHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> pixels = bytes.subspan(sizeof(header));
  if (header.magic != CacheHeader{}.magic || header.key != key) return std::nullopt;
  if (!fits(header, listing, options, pixels.size())) return std::nullopt;
  if (header.checksum != checksum_of(header, pixels)) return std::nullopt;
  ImageSet set{.count = header.count,
               .channels = header.channels,
               .height = header.height,
               .width = header.width,
               .pixels = {},
               .labels = listing.labels,
               .classes = listing.classes};
  const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.data());
  set.pixels.assign(first, first + pixels.size());
  return set;
}

void write_cache(const std::string& path, const ImageSet& set, std::uint64_t key) {
  CacheHeader header;
  header.key = key;
  header.count = set.count;
  header.channels = set.channels;
  header.height = set.height;
  header.width = set.width;
  const auto pixels = std::as_bytes(std::span(set.pixels));
  header.checksum = checksum_of(header, pixels);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(pixels);
  file.commit();
}

std::string path_of(const std::string& cache_directory, std::uint64_t key) {
  std::ostringstream name;
  name << "pictures-" << std::hex << key << ".cache";
  return (fs::path(cache_directory) / name.str()).string();
}

}  // namespace

std::string folder_cache_path(const std::string& cache_directory, const FolderListing& listing,
                              const FolderOptions& options) {
  return path_of(cache_directory, key_of(listing, options));
}

FolderCache::FolderCache(FolderListing listing, const FolderOptions& options,
                         const std::string& cache_directory)
    : listing_(std::move(listing)),
      options_(options),
      key_(key_of(listing_, options)),
      path_(path_of(cache_directory, key_)) {}

ImageSet FolderCache::read(std::vector<std::string>& notes) {
  std::error_code ignored;
  try {
    if (fs::exists(path_, ignored)) {
      std::optional<ImageSet> cached = parse(MappedFile(path_).bytes(), listing_, options_, key_);
      is_kept_ = cached.has_value();
      if (cached) return *std::move(cached);
      notes.push_back(path_ + ": damaged; the pictures are decoded again");
    }
  } catch (const Error& error) {
    notes.push_back(std::string(error.what()) + "; the pictures are decoded again");
  }
  return read_folder(listing_, options_);
}

void FolderCache::keep(const ImageSet& set, std::vector<std::string>& notes) const {
  if (is_kept_ || !set.is_in_memory()) return;
  std::error_code ignored;
  try {
    fs::create_directories(fs::path(path_).parent_path(), ignored);
    write_cache(path_, set, key_);
  } catch (const Error& error) {
    notes.push_back(std::string(error.what()) + "; the decoded pictures are not kept");
  }
}

}  // namespace winnow
