# cmake --install BUILD --prefix DIR: the programs as winnow-NAME, the front `winnow`, the C library.
# Components: programs; development (the C library); torch (LibTorch, where the build took it from
# the source tree); runtime, only where it is asked for: the program runtime and the C library with the
# libraries that they need beside those of the compiler and of C, for an image (Dockerfile).
# What is installed refers to nothing in the source or build tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The programs lie where the C library's do not see them; links in bin/ give them their names.
set(folder ${CMAKE_INSTALL_LIBEXECDIR}/winnow)
set(installed winnow)
cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_BINDIR} OUTPUT_VARIABLE from_bin)

# winnow_install_link(PROGRAM COMPONENT...): bin/winnow-PROGRAM
function(winnow_install_link program)
  install(CODE "
    set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    file(MAKE_DIRECTORY \${bin})
    file(CREATE_LINK ${from_bin}/${program} \${bin}/winnow-${program} SYMBOLIC)
    message(STATUS \"Installing: \${bin}/winnow-${program}\")" COMPONENT ${ARGN})
endfunction()

foreach(program import prune quantize export runtime)
  if(NOT TARGET winnow-${program})
    continue()
  endif()
  list(APPEND installed winnow-${program})
  install(TARGETS winnow-${program} RUNTIME DESTINATION ${folder} COMPONENT programs)
  winnow_install_link(${program} programs)
endforeach()
install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/winnow DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
set(completions ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)  # bash loads FILE when it completes FILE's command
foreach(name ${installed})
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/winnow.bash DESTINATION ${completions} RENAME ${name} COMPONENT programs)
endforeach()

foreach(module winnow_cuda_steps winnow_cuda_ranks)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION ${folder} COMPONENT programs)
  endif()
endforeach()

# Libraries that lie elsewhere on the machine stay there.
set_target_properties(${installed} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)

# LibTorch from the source tree (.venv) comes along, with NVIDIA's packages beside it as it looks
# for them: ../../nvidia.
if(WINNOW_TORCH)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${torch_root} NORMALIZE is_in_source)
endif()
if(WINNOW_TORCH AND is_in_source)
  set(libraries ${CMAKE_INSTALL_LIBDIR}/winnow)
  cmake_path(RELATIVE_PATH libraries BASE_DIRECTORY ${folder} OUTPUT_VARIABLE from_folder)
  string(REGEX REPLACE "/$" "" torch ${torch_root})
  cmake_path(GET torch PARENT_PATH packages)
  install(DIRECTORY ${torch}/lib/ DESTINATION ${libraries}/torch/lib COMPONENT torch
          FILES_MATCHING PATTERN "*.so*")
  set_target_properties(winnow-prune PROPERTIES
    INSTALL_RPATH "$ORIGIN/${from_folder}/torch/lib")
  file(GLOB nvidia RELATIVE ${packages} ${packages}/nvidia/*/lib)
  if(nvidia)
    install(DIRECTORY ${packages}/nvidia DESTINATION ${libraries} COMPONENT torch
            FILES_MATCHING PATTERN "*.so*")
    list(TRANSFORM nvidia PREPEND "$ORIGIN/${from_folder}/" OUTPUT_VARIABLE runtime_path)
    set_target_properties(winnow-runtime PROPERTIES INSTALL_RPATH "${runtime_path}")  # for dlopen
  endif()
endif()

install(TARGETS winnow EXPORT winnow-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development NAMELINK_COMPONENT development
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/winnow)
install(EXPORT winnow-targets NAMESPACE winnow:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/winnow-config.cmake.in
  ${PROJECT_BINARY_DIR}/winnow-config.cmake INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/winnow-config-version.cmake
  COMPATIBILITY SameMinorVersion)  # below 1.0 a minor version may change anything
install(FILES ${PROJECT_BINARY_DIR}/winnow-config.cmake ${PROJECT_BINARY_DIR}/winnow-config-version.cmake
  DESTINATION ${package} COMPONENT development)

# An image's system has its own libraries of C and of the compiler; the others lie in a folder that its loader is told of.
install(TARGETS winnow-runtime winnow RUNTIME_DEPENDENCY_SET runtime_libraries
  RUNTIME DESTINATION ${folder} COMPONENT runtime EXCLUDE_FROM_ALL
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_SKIP EXCLUDE_FROM_ALL
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(RUNTIME_DEPENDENCY_SET runtime_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so"
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/winnow/needed COMPONENT runtime EXCLUDE_FROM_ALL)
winnow_install_link(runtime runtime EXCLUDE_FROM_ALL)

# For builds without CMake. It names its prefix by where it lies, so that what is installed can be moved.
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig} OUTPUT_VARIABLE from_pkgconfig)
configure_file(${CMAKE_CURRENT_LIST_DIR}/winnow.pc.in ${PROJECT_BINARY_DIR}/winnow.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/winnow.pc DESTINATION ${pkgconfig} COMPONENT development)
