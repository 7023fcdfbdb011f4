#pragma once

#include <cstddef>
#include <string>

#include "noam/runtime/session.h"

namespace noam::cli {

// One line on standard error that is written over, where that is a terminal; nothing elsewhere. It goes with this.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void show(const std::string& text);
  void clear();
  // `verifying: timelines (3 of 12)`
  [[nodiscard]] runtime::Progress steps(std::string doing);

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace noam::cli
