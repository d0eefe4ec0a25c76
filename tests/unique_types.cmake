# Refuses two definitions of one type in different files of the tree: a program that links both would
# break the one-definition rule, which no compiler notices.
#   cmake -D ROOT=<source tree> -P tests/unique_types.cmake
# Knows types by their lines, as clang-format writes them: definitions at namespace scope begin in the
# first column, and a namespace ends with a comment. Leaves out anonymous namespaces, types within types
# and specialisations of templates.
cmake_minimum_required(VERSION 3.25)

set(definition "^(enum class|enum|struct|class|union) (alignas\\([^)]*\\) )?([A-Za-z_][A-Za-z0-9_]*)( |$)")

# Notes in the global properties first_of_NAME where each type of `file` was found first.
function(check_types file)
  file(STRINGS ${ROOT}/${file} lines REGEX "^(struct |class |union |enum |namespace |}  // namespace)")
  set(scope "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace {")
      list(APPEND scope anonymous)
    elseif(line MATCHES "^namespace ([A-Za-z0-9_:]+) {")
      list(APPEND scope ${CMAKE_MATCH_1})
    elseif(line MATCHES "^}  // namespace")
      list(POP_BACK scope)
    elseif(line MATCHES "${definition}" AND NOT anonymous IN_LIST scope)
      set(name ${CMAKE_MATCH_3})
      if(line MATCHES "^[^{]*;" OR line MATCHES "^[^{:]*<")  # a declaration, a specialisation
        continue()
      endif()
      list(JOIN scope "::" qualified)
      set(qualified "${qualified}::${name}")
      get_property(first GLOBAL PROPERTY "first_of_${qualified}")
      if(first AND NOT first STREQUAL file)
        message(SEND_ERROR "${file}: defines ${qualified}, as ${first} does")
      endif()
      set_property(GLOBAL PROPERTY "first_of_${qualified}" ${file})
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  if(scope)
    message(SEND_ERROR "${file}: namespace ${scope} ends without its comment")
  endif()
  set(count ${count} PARENT_SCOPE)
endfunction()

set(count 0)
foreach(top runtime prune quantize export import tests)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${top}/*.h ${ROOT}/${top}/*.cpp ${ROOT}/${top}/*.cu
    ${ROOT}/${top}/*.cuh)
  foreach(file IN LISTS files)
    check_types(${file})
  endforeach()
endforeach()
if(count LESS 100)
  message(FATAL_ERROR "${ROOT}: only ${count} types; the check does not work here")
endif()
message(STATUS "unique types: ${count}")
