# A room is a folder src/cairn/<name> built as the target cairn_<name>. Its
# sources may include its own headers and those of the rooms it names: each
# room has an include root of its own (a link in the build tree), so an
# include that the layering forbids is a file that is not found.

add_library(cairn_language INTERFACE)
set_target_properties(cairn_language PROPERTIES EXPORT_NAME language)
target_compile_features(cairn_language INTERFACE cxx_std_23)
add_library(cairn_warnings INTERFACE)
target_compile_options(cairn_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                       -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Warns of std::string's own code: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  target_compile_options(cairn_warnings INTERFACE -Wno-restrict)
endif()
if(CAIRN_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With sanitizers the compiler loses track of std::function inside std::regex:
  # https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105562
  target_compile_options(cairn_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 calls its own deprecated get_temporary_buffer in stable_sort.
  target_compile_options(cairn_warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(CAIRN_WERROR)
  target_compile_options(cairn_warnings INTERFACE -Werror)
endif()
if(CAIRN_SANITIZE)
  string(REPLACE ";" "," _san "${CAIRN_SANITIZE}")
  add_compile_options(-fsanitize=${_san} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_san})
endif()
if(CAIRN_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CAIRN_TIDY)
  find_program(CLANG_TIDY NAMES clang-tidy-19 REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${CLANG_TIDY} --quiet)
endif()

set(CAIRN_ROOMS "" CACHE INTERNAL "")

function(cairn_room name)
  cmake_parse_arguments(ROOM "" "" "ROOMS;LINK;LINK_PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cairn/${name}/*.cpp
       ${PROJECT_SOURCE_DIR}/src/cairn/${name}/*/*.cpp)
  set(root ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${root}/cairn)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/cairn/${name} ${root}/cairn/${name} SYMBOLIC)
  set(target cairn_${name})
  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cairn_warnings> ${ROOM_LINK_PRIVATE})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(cairn::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ROOM_ROOMS PREPEND cairn_)
  target_link_libraries(${target} ${scope} cairn_language ${ROOM_ROOMS} ${ROOM_LINK})
  set(CAIRN_ROOMS ${CAIRN_ROOMS} ${name} CACHE INTERNAL "")
endfunction()
