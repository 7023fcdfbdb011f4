#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

// What lies in a folder, before and after.
namespace noam::tests::faults {

// The files below it, by their path from there, with what is in them; a folder ends in `/`.
std::map<std::string, std::string> contents(const std::filesystem::path& folder);
// The names in it, sorted; without those that a killed process left while it made something (`….new-PROCESS`).
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace noam::tests::faults
