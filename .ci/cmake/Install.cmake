# cmake --install BUILD --prefix DIR: the programs as winnow-NAME, the front `winnow`, the C library.
include(GNUInstallDirs)
foreach(program prune quantize export runtime)
  if(TARGET winnow-${program})
    install(PROGRAMS $<TARGET_FILE:winnow-${program}> DESTINATION ${CMAKE_INSTALL_BINDIR}
            RENAME winnow-${program})
  endif()
endforeach()
install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/winnow DESTINATION ${CMAKE_INSTALL_BINDIR})

install(TARGETS winnow EXPORT winnow-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT winnow-targets NAMESPACE winnow:: FILE winnow-config.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/winnow)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/winnow-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/winnow-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/winnow)
