// One weight of a checkpoint in the form in which it is deployed.
#pragma once

#include <string>
#include <string_view>

#include "runtime/model/model.h"

namespace winnow {

// How values are written.
enum class ValueForm {
  automatic,  // as the checkpoint has them: codes stay codes, f32 stays f32
  f32,
  f16,
};

// "auto", "f32", "f16". Throws Error{usage} with a did-you-mean.
ValueForm value_form_from(std::string_view text);

// The weight of conv or linear node `node`: CSR rows of equal length where its mask allows, in the
// mask's granularity (paper 003, section 7), or dense where that takes fewer bytes in the file.
// Blocks whose values are all 0 count as masked. Codes are carried over bit by bit, but a code that
// stands for 0 becomes code 0; f32 and f16 of a quantized weight hold the decoded values.
// Throws Error{bad_file} if the weight is damaged or, for f16, beyond what half floats hold;
// `place` begins the message.
Weight deployed_weight(const Model& model, const Node& node, ValueForm form,
                       const std::string& place);

}  // namespace winnow
