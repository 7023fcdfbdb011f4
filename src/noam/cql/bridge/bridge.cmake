# The Rust library in this folder, as the imported library noam_cql_bridge. Sets NOAM_CQL to whether it can be built
# here, which needs cargo, OpenSSL, and the crates of Cargo.lock. Nothing is downloaded: `tools/setup cassandra` gets all.

set(bridge_folder ${CMAKE_CURRENT_LIST_DIR})
set(bridge_least_cargo 1.88)

# Sets `problem` to why it cannot be built; empty: it can.
function(noam_find_bridge_problem problem)
  find_program(CARGO cargo)
  find_program(PKG_CONFIG pkg-config)  # by which the crate openssl-sys finds OpenSSL
  find_package(OpenSSL QUIET)
  if(NOT CARGO)
    set(${problem} "there is no cargo" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CARGO} --version OUTPUT_VARIABLE version ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT version MATCHES "^cargo ([0-9]+\\.[0-9]+)" OR CMAKE_MATCH_1 VERSION_LESS bridge_least_cargo)
    set(${problem} "cargo ${bridge_least_cargo} or later is needed, and there is `${version}`" PARENT_SCOPE)
    return()
  endif()
  if(NOT OpenSSL_FOUND OR NOT PKG_CONFIG)
    set(${problem} "OpenSSL's headers or pkg-config are missing" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${bridge_folder}/fetch --offline WORKING_DIRECTORY ${bridge_folder}
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${problem} "not all crates of its Cargo.lock are there" PARENT_SCOPE)
    return()
  endif()
  set(${problem} "" PARENT_SCOPE)
endfunction()

noam_find_bridge_problem(bridge_problem)
if(bridge_problem)
  set(NOAM_CQL OFF)
  if("$ENV{CI}" STREQUAL "true")
    message(FATAL_ERROR "the driver for Cassandra cannot be built: ${bridge_problem} (`tools/setup cassandra`)")
  endif()
  message(STATUS "Without the driver for Cassandra: ${bridge_problem} (`tools/setup cassandra`)")
  return()
endif()
set(NOAM_CQL ON)

find_package(OpenSSL REQUIRED)
# One for all presets of a clone.
set(bridge_target ${PROJECT_SOURCE_DIR}/build/cql)
set(bridge_library ${bridge_target}/release/libnoam_cql.a)
set(bridge_stamp ${CMAKE_CURRENT_BINARY_DIR}/bridge.stamp)
file(GLOB bridge_sources CONFIGURE_DEPENDS ${bridge_folder}/src/*.rs)
# Cargo leaves the library alone if nothing has changed, so what links it does not do it again; the stamp says that
# cargo was asked.
add_custom_command(
  OUTPUT ${bridge_stamp}
  BYPRODUCTS ${bridge_library}
  # Cargo cannot use the job server of make from here, and would say so.
  COMMAND ${CMAKE_COMMAND} -E env --unset=MAKEFLAGS --unset=MFLAGS
    ${CARGO} build --quiet --release --locked --offline --target-dir ${bridge_target}
  COMMAND ${CMAKE_COMMAND} -E touch ${bridge_stamp}
  DEPENDS ${bridge_sources} ${bridge_folder}/Cargo.toml ${bridge_folder}/Cargo.lock
  WORKING_DIRECTORY ${bridge_folder}
  COMMENT "Building the driver for Cassandra with cargo"
  VERBATIM)
add_custom_target(noam_cql_bridge_build DEPENDS ${bridge_stamp})
add_library(noam_cql_bridge STATIC IMPORTED GLOBAL)
add_dependencies(noam_cql_bridge noam_cql_bridge_build)
set_target_properties(noam_cql_bridge PROPERTIES
  IMPORTED_LOCATION ${bridge_library}
  INTERFACE_LINK_LIBRARIES "OpenSSL::SSL;OpenSSL::Crypto;Threads::Threads;${CMAKE_DL_LIBS}"
  # The archive has a section for each function, and nobody calls most of them.
  INTERFACE_LINK_OPTIONS LINKER:--gc-sections)
