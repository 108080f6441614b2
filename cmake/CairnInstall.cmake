# What `cmake --install` puts where: the program with its data, messages,
# manual and completions, and the rooms as a library for find_package(cairn).
# The program finds its data at ../share from its own folder.
include(CMakePackageConfigHelpers)

# Manual pages and completions, made by the program itself.
set(manual ${PROJECT_BINARY_DIR}/share/man/man1/cairn.1)
set(manual_zh ${PROJECT_BINARY_DIR}/share/man/zh_CN/man1/cairn.1)
set(bash_completion ${PROJECT_BINARY_DIR}/share/bash-completion/completions/cairn)
set(zsh_completion ${PROJECT_BINARY_DIR}/share/zsh/site-functions/_cairn)
set(fish_completion ${PROJECT_BINARY_DIR}/share/fish/vendor_completions.d/cairn.fish)
set(generated)
function(cairn_generate output)
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output} COMMAND cairn ${ARGN} > ${output}
                     DEPENDS cairn cairn_catalogues VERBATIM)
  set(generated ${generated} ${output} PARENT_SCOPE)
endfunction()
cairn_generate(${manual} help --man --lang en)
cairn_generate(${manual_zh} help --man --lang zh)
cairn_generate(${bash_completion} completions bash --lang en)
cairn_generate(${zsh_completion} completions zsh --lang en)
cairn_generate(${fish_completion} completions fish --lang en)
add_custom_target(cairn_generated ALL DEPENDS ${generated})

install(TARGETS cairn RUNTIME DESTINATION bin)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION share)
install(FILES LICENSE DESTINATION share/doc/cairn)

set(targets cairn_language)
foreach(room IN LISTS CAIRN_ROOMS)
  list(APPEND targets cairn_${room})
  install(DIRECTORY src/cairn/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS ${targets} EXPORT cairnTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
install(EXPORT cairnTargets NAMESPACE cairn:: DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/cairnConfig.cmake ${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
        DESTINATION ${config_folder})
