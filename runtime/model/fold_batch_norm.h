// Batch norm as part of the layers around it.
#pragma once

#include "runtime/model/model.h"

namespace winnow {

// The same network at inference without batch norms and dropouts. With s = weight /
// sqrt(running_var + epsilon), a batch norm y = s (x - running_mean) + bias per channel becomes
// - part of the conv or linear node that it reads, if nothing else reads that node: the weights of
//   channel k are multiplied by s[k] and its bias takes the rest. Of a codebook's weights only the
//   channel scales change, rounded to fp16 (the bias belongs to the rounded ones): codes and
//   codebook stay as they are;
// - else part of the linear nodes that read it, if only such do;
// - else a depthwise 1 x 1 convolution of the batch norm's name (a diagonal linear node for
//   [N, F]).
//
// Masks do not change: a masked weight stays 0. The node that takes a batch norm in keeps its own
// name, and takes the batch norm's activation format. New weights are computed in double and
// rounded to float.
//
// Throws Error{bad_file} if the model does not pass check_model, if the result is not finite or a
// diagonal would exceed 4096 features; Error{usage} if a layer to fold into has fixed-point codes,
// or a linear reader codes of any kind.
Model fold_batch_norm(Model model);

}  // namespace winnow
