# find_package(Lamina): the targets Lamina::lamina and Lamina::train, which compute in float, and Lamina::lamina-double and
# Lamina::train-double where `make install REAL=double` was called.
include(CMakeFindDependencyMacro)
find_dependency(ZLIB)
get_filename_component(_lamina_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(_suffix "" "-double")
  set(_shared "${_lamina_prefix}/lib/liblamina${_suffix}.so")
  if(EXISTS "${_shared}" AND NOT TARGET Lamina::lamina${_suffix})
    add_library(Lamina::lamina${_suffix} SHARED IMPORTED)
    set_target_properties(Lamina::lamina${_suffix} PROPERTIES
      IMPORTED_LOCATION "${_shared}"
      INTERFACE_INCLUDE_DIRECTORIES "${_lamina_prefix}/include/lamina;${_lamina_prefix}/include"
      INTERFACE_COMPILE_FEATURES cxx_std_20
      INTERFACE_COMPILE_OPTIONS -fopenmp)
    if(_suffix)
      set_target_properties(Lamina::lamina${_suffix} PROPERTIES INTERFACE_COMPILE_DEFINITIONS LAMINA_DOUBLE)
    endif()
    add_library(Lamina::train${_suffix} STATIC IMPORTED)
    set_target_properties(Lamina::train${_suffix} PROPERTIES
      IMPORTED_LOCATION "${_lamina_prefix}/lib/liblamina-train${_suffix}.a"
      INTERFACE_LINK_LIBRARIES "Lamina::lamina${_suffix};ZLIB::ZLIB")
  endif()
endforeach()

if(NOT TARGET Lamina::lamina AND NOT TARGET Lamina::lamina-double)
  set(Lamina_FOUND FALSE)
  set(Lamina_NOT_FOUND_MESSAGE "there is no liblamina.so in ${_lamina_prefix}/lib; run make install again")
endif()
