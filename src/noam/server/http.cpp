#include "noam/server/http.h"

#include <algorithm>
#include <array>

#include "noam/base/json.h"

namespace noam::server {

namespace {

struct Phrase {
  int status;
  std::string_view text;
};

constexpr std::array phrases = {
    Phrase{200, "OK"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{410, "Gone"},
    Phrase{413, "Content Too Large"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{421, "Misdirected Request"},
    Phrase{422, "Unprocessable Content"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
};

struct CodeStatus {
  std::string_view code;
  int status;
};

constexpr std::array statuses = {
    CodeStatus{"exists", 409},  CodeStatus{"absent", 409},   CodeStatus{"owner", 409},    CodeStatus{"require", 409},
    CodeStatus{"value", 422},   CodeStatus{"required", 422}, CodeStatus{"overflow", 422}, CodeStatus{"position", 422},
    CodeStatus{"key", 422},     CodeStatus{"limit", 422},    CodeStatus{"expired", 410},  CodeStatus{"request", 400},
    CodeStatus{"timeout", 504}, CodeStatus{"broken", 503},   CodeStatus{"store", 503},    CodeStatus{"unknown", 503},
};

}  // namespace

std::string_view reason_phrase(int status) {
  const auto* const found =
      std::find_if(phrases.begin(), phrases.end(), [&](const Phrase& one) { return one.status == status; });
  return found == phrases.end() ? "Error" : found->text;
}

int status_of(std::string_view code) {
  const auto* const found =
      std::find_if(statuses.begin(), statuses.end(), [&](const CodeStatus& one) { return one.code == code; });
  return found == statuses.end() ? 500 : found->status;
}

Response problem(int status, std::string_view code, const std::string& detail) {
  Response out;
  out.status = status;
  out.code = std::string(code);
  out.content_type = "application/problem+json";
  const std::string_view title = reason_phrase(status);
  out.body = Json{{"type", "about:blank"},
                  {"title", std::string(title)},
                  {"status", status},
                  {"detail", detail},
                  {"code", std::string(code)}}
                 .dump();
  return out;
}

}  // namespace noam::server
