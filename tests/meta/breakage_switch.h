#pragma once

#include "noam/base/breakage.h"

namespace noam {

// Makes a mistake as long as it lives.
class BreakageSwitch {
 public:
  explicit BreakageSwitch(Breakage one) { MadeBreakage::made = one; }
  ~BreakageSwitch() { MadeBreakage::made = Breakage::None; }
  BreakageSwitch(const BreakageSwitch&) = delete;
  BreakageSwitch& operator=(const BreakageSwitch&) = delete;
};

}  // namespace noam
