# find_package(cairn): the rooms as cairn::<room>.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(Threads)
find_dependency(PkgConfig)
if(NOT TARGET PkgConfig::yaml)
  pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/cairnTargets.cmake)
