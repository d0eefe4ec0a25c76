// The entries of the table in families.cpp.
#pragma once

#include "runtime/gpu/layer/family.h"

namespace winnow {

const Family& dense_family();
const Family& direct_family();
const Family& direct_ell_family();
const Family& gathered_family();
const Family& stem_family();
const Family& linear_family();
const Family& linear_gather_family();
const Family& linear_stack_family();
const Family& narrow_linear_family();
const Family& pool_family();
const Family& add_family();
const Family& concat_family();
const Family& flatten_family();
const Family& embedding_family();
const Family& softmax_family();

}  // namespace winnow
