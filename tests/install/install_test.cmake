# Installs a build into a folder of its own and uses it from there:
#   cmake -D BUILD=... -D SOURCE=... -D LIBDIR=lib -D VERSION=0.1.0 -D C_COMPILER=cc -P install_test.cmake
cmake_minimum_required(VERSION 3.25)
set(prefix ${BUILD}/install-test/prefix)
file(REMOVE_RECURSE ${BUILD}/install-test)

# run(COMMAND...): must succeed; its output is in `output`.
function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}: exit status ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

foreach(component programs development)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component})
endforeach()

# Nothing may lead the loader into the source or the build tree.
file(GLOB binaries ${prefix}/libexec/winnow/* ${prefix}/${LIBDIR}/libwinnow.so.${VERSION})
list(LENGTH binaries count)
if(count LESS 3)
  message(FATAL_ERROR "${prefix}: found only ${binaries}")
endif()
foreach(binary IN LISTS binaries)
  set(path "")
  set(old_path "")
  file(READ_ELF ${binary} RUNPATH path RPATH old_path CAPTURE_ERROR error)
  if(error)
    message(FATAL_ERROR "${binary}: ${error}")
  endif()
  foreach(tree ${SOURCE} ${BUILD})
    if("${path};${old_path}" MATCHES "(^|;)${tree}(/|;|$)")
      message(SEND_ERROR "${binary}: RUNPATH '${path}' leads into ${tree}")
    endif()
  endforeach()
endforeach()

# The programs run under all their names.
run(${prefix}/bin/winnow --version)
if(NOT output MATCHES "^winnow ${VERSION}( \\([0-9a-f]+\\+?\\))?\n$")
  message(SEND_ERROR "winnow --version: '${output}'")
endif()
run(${prefix}/bin/winnow challenge --help)
run(${prefix}/bin/winnow-runtime doctor)
run(${prefix}/bin/winnow-export --version)

# What bash completes: commands, commands of commands, options.
function(expect_completion words expected)
  separate_arguments(words UNIX_COMMAND "${words}")
  run(bash ${SOURCE}/tests/install/complete.sh ${prefix} ${words})
  if(NOT output STREQUAL "${expected}\n")
    message(SEND_ERROR "completion of '${words}': '${output}', expected '${expected}'")
  endif()
endfunction()
expect_completion("winnow be" "bench")
expect_completion("winnow e" "export")
expect_completion("winnow bench --format m.wnw --form" "--format")
expect_completion("winnow-runtime challenge ge" "generate")
expect_completion("winnow-export --vers" "--version")

# A program in C finds the package, links with it and runs.
if(NOT EXISTS ${prefix}/${LIBDIR}/libwinnow.so.0.1)
  message(SEND_ERROR "${prefix}/${LIBDIR}: no libwinnow.so.0.1")
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install/consumer -B ${BUILD}/install-test/consumer
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${C_COMPILER} -D CONSUMER=${SOURCE}/tests/capi/consumer.c)
run(${CMAKE_COMMAND} --build ${BUILD}/install-test/consumer)
run(${BUILD}/install-test/consumer/consumer --errors)

# A component that does not exist is missed by name.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/install/consumer -B ${BUILD}/install-test/missing
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_COMPILER=${C_COMPILER} -D CONSUMER=x.c -D COMPONENT=python
  ERROR_VARIABLE output OUTPUT_QUIET RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT output MATCHES "python")
  message(SEND_ERROR "find_package(winnow COMPONENTS python): '${output}'")
endif()

# The same program by pkg-config, from a folder that is not the one of the installation.
find_program(pkg_config pkg-config)
if(pkg_config)
  file(RENAME ${prefix} ${BUILD}/install-test/moved)
  set(prefix ${BUILD}/install-test/moved)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  run(${pkg_config} --modversion winnow)
  if(NOT output STREQUAL "${VERSION}\n")
    message(SEND_ERROR "pkg-config --modversion winnow: '${output}'")
  endif()
  run(${pkg_config} --cflags --libs winnow)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${C_COMPILER} ${SOURCE}/tests/capi/consumer.c -o ${BUILD}/install-test/by-pkg-config ${flags}
      -Wl,-rpath,${prefix}/${LIBDIR})
  run(${BUILD}/install-test/by-pkg-config --errors)

  # The program of docs/embedding.md, as it stands there.
  file(READ ${SOURCE}/docs/embedding.md page)
  string(REGEX MATCH "\n```c\n(.*)\n```\n\nBy `pkg-config`" unused "${page}")
  file(WRITE ${BUILD}/install-test/classify.c "${CMAKE_MATCH_1}\n")
  run(${C_COMPILER} -Wall -Werror ${BUILD}/install-test/classify.c -o ${BUILD}/install-test/classify ${flags}
      -Wl,-rpath,${prefix}/${LIBDIR})
  run(${BUILD}/install-test/classify ${SOURCE}/tests/model/data/golden-1.0.wnw)
  if(NOT output MATCHES ": class 1 \\(yes\\)\n$")
    message(SEND_ERROR "the program of docs/embedding.md: '${output}'")
  endif()
else()
  message("skipped: pkg-config is not installed")
endif()

# Other minor versions are other interfaces below 1.0.
foreach(case 0.1:TRUE 0.2:FALSE 0.0:FALSE)
  string(REGEX MATCH "^(.*)\\.(.*):(.*)$" unused ${case})
  set(PACKAGE_FIND_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
  set(PACKAGE_FIND_VERSION_MAJOR ${CMAKE_MATCH_1})
  set(PACKAGE_FIND_VERSION_MINOR ${CMAKE_MATCH_2})
  set(expected ${CMAKE_MATCH_3})
  unset(PACKAGE_VERSION_COMPATIBLE)
  set(CMAKE_SIZEOF_VOID_P "")
  include(${prefix}/${LIBDIR}/cmake/winnow/winnow-config-version.cmake)
  if(NOT "${PACKAGE_VERSION_COMPATIBLE}" STREQUAL "${expected}")
    message(SEND_ERROR "version ${PACKAGE_FIND_VERSION}: compatible '${PACKAGE_VERSION_COMPATIBLE}', expected ${expected}")
  endif()
endforeach()
