#include "quantize/scheme.h"

#include <array>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

struct FormName {
  WeightForm form;
  const char* name;
  int bits;
};
constexpr std::array<FormName, 5> kForms = {{{WeightForm::f32, "32b", 32},
                                             {WeightForm::fixed16, "16b", 16},
                                             {WeightForm::fixed8, "8b", 8},
                                             {WeightForm::codebook8, "8b-codebook", 8},
                                             {WeightForm::codebook4, "4b", 4}}};

struct ActivationName {
  int bits;
  const char* name;
};
constexpr std::array<ActivationName, 3> kActivations = {{{0, "32b"}, {16, "16b"}, {8, "8b"}}};

const FormName& entry_of(WeightForm form) {
  for (const FormName& entry : kForms) {
    if (entry.form == form) return entry;
  }
  fail(ErrorCode::internal, "unknown weight form");
}

// The entry called `name`, a part of the scheme `text`.
template <typename Table>
const auto& find(const Table& table, std::string_view name, std::string_view text,
                 const char* what) {
  std::vector<std::string> known;
  for (const auto& entry : table) {
    if (name == entry.name) return entry;
    known.emplace_back(entry.name);
  }
  fail(ErrorCode::usage, "scheme ", in_quotes(text), ": ", what, " ", in_quotes(name),
       " are not known", suggestion(name, known));
}

}  // namespace

Scheme scheme_from(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    fail(ErrorCode::usage, "scheme ", in_quotes(text),
         ": expected WEIGHTS/ACTIVATIONS, for example 4b/16b");
  }
  return {find(kForms, text.substr(0, slash), text, "weights").form,
          find(kActivations, text.substr(slash + 1), text, "activations").bits};
}

std::string to_string(const Scheme& scheme) {
  const std::string activations =
      scheme.activation_bits == 0 ? "32b" : std::to_string(scheme.activation_bits) + "b";
  return std::string(to_string(scheme.weights)) + "/" + activations;
}

std::string_view to_string(WeightForm form) {
  return entry_of(form).name;
}

WeightForm weight_form_from(std::string_view name) {
  return find(kForms, name, name, "weights").form;
}

ChannelScale channel_scale_from(std::string_view name) {
  if (name == "auto") return ChannelScale::automatic;
  if (name == "off") return ChannelScale::off;
  const std::vector<std::string> known = {"auto", "off"};
  fail(ErrorCode::usage, "channel scale ", in_quotes(name), " is not known",
       suggestion(name, known));
}

int bits_of(WeightForm form) {
  return entry_of(form).bits;
}

}  // namespace winnow
