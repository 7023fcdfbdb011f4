#include "noam/cli/serve_command.h"

#include <cctype>
#include <charconv>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>

#include "noam/cli/report.h"
#include "noam/server/server.h"
#include "noam/server/service.h"

namespace noam::cli {

Command add_serve_command(CommandLine& line, ServeOptions& options) {
  Command command = line.add_command("serve", "Serve the queries and commands of a model over HTTP");
  add_opening_options(command, options.opening);
  command.add_option("--listen", options.listen, "Address and port; port 0 takes one that is free")
      .type_name("ADDRESS:PORT")
      .show_default();
  command.add_option("--tokens", options.tokens,
                     "File with the digests of tokens and what each may do; see docs/http.md");
  command.add_option("--host", options.hosts, "Name by which clients call this server; may be repeated")
      .one_value_each();
  command
      .add_option("--log", options.log,
                  "File for a line of JSON per request; `-` is standard error, `none` writes no lines")
      .show_default();
  command.add_option("--timeout", options.timeout, "Time that a statement may take, for example 30s or 500ms")
      .show_default();
  command.add_option("--workers", options.workers, "Statements that wait for the store at the same time")
      .show_default();
  command.add_option("--max-body", options.max_body, "Bytes that a request may have").show_default();
  command.add_flag("--no-schedule", options.no_schedule, "Do not refresh queries and delete expired instances");
  command.footer(
      "Every query is GET /q/NAME?parameter=value or POST /q/NAME, every command POST /c/NAME, with parameters as a\n"
      "JSON object. POST /batch takes lines of JSON. The header Idempotency-Key is the id of a command.\n"
      "Without --tokens, it listens on this machine only, and everybody may do everything.\n"
      "It ends on SIGTERM or Ctrl-C, after what runs has ended; on SIGHUP it reads --tokens and opens --log again.\n"
      "Example: noam serve shop.noam --store rocksdb:data --listen 127.0.0.1:8080\n"
      "         curl 'http://127.0.0.1:8080/q/orders_of?customer=ann'\n"
      "More:    docs/http.md");
  return command;
}

namespace {

// `127.0.0.1:8080`, `[::1]:8080`.
Result<std::pair<std::string, std::uint16_t>> read_address(const std::string& text) {
  const auto invalid = [&] {
    return Error{fmt::format("invalid --listen `{}`: write an address and a port, such as 127.0.0.1:8080", text)};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return invalid();
  std::uint16_t port = 0;
  const std::string_view digits = std::string_view(text).substr(colon + 1);
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (problem != std::errc() || end != digits.data() + digits.size()) return invalid();
  std::string address = text.substr(0, colon);
  if (address == "localhost") address = "127.0.0.1";
  if (address.size() > 2 && address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  return std::pair(std::move(address), port);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

Result<std::chrono::milliseconds> read_duration(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = std::string_view(text).substr(static_cast<std::size_t>(end - text.data()));
  if (problem != std::errc() || number == 0 || (unit != "s" && unit != "ms"))
    return Error{fmt::format("invalid --timeout `{}`: write a time, for example 30s or 500ms", text)};
  return std::chrono::milliseconds(unit == "s" ? std::int64_t{number} * 1'000 : number);
}

// SIGTERM, SIGINT and SIGHUP, taken by a thread of their own; no other thread hears of them.
class Signals {
 public:
  Signals() {
    sigemptyset(&wanted_);
    sigaddset(&wanted_, SIGTERM);
    sigaddset(&wanted_, SIGINT);
    sigaddset(&wanted_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &wanted_, &before_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    if (waiting_.joinable()) {
      pthread_kill(waiting_.native_handle(), SIGINT);
      waiting_.join();
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  void call(std::function<void()> stop, std::function<void()> reload) {
    waiting_ = std::thread([this, stop = std::move(stop), reload = std::move(reload)] {
      int which = 0;
      for (sigwait(&wanted_, &which); which == SIGHUP; sigwait(&wanted_, &which)) reload();
      stop();
    });
  }

 private:
  sigset_t wanted_{};
  sigset_t before_{};
  std::thread waiting_;
};

}  // namespace

int serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto address = read_address(options.listen);
  if (!address) return complain(address.error().message);
  if (!is_loopback(address->first) && options.tokens.empty())
    return complain(
        fmt::format("--listen {}: beyond this machine, noam serve needs --tokens; without it, it listens on "
                    "127.0.0.1 or [::1]",
                    options.listen));
  runtime::SessionOptions session_options;
  const auto timeout = read_duration(options.timeout);
  if (!timeout) return complain(timeout.error().message);
  if (options.workers == 0) return complain("--workers must be at least 1");
  session_options.timeout = *timeout;
  session_options.on_failed_task = [](const std::string& task, const Error& error) {
    complain(fmt::format("{}: {}; it is tried again later", task, error.message));
  };
  // Before there are threads that could hear of them.
  Signals signals;
  const Opened opened = open_model(options.opening, std::move(session_options));
  if (!opened.session) return opened.code;
  auto log = server::RequestLog::open(options.log == "none" ? std::string() : options.log);
  if (!log) return complain(log.error().message);
  server::Service service(*opened.session);
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "[::1]"};
  for (const std::string& host : options.hosts) hosts.push_back(lower_case(host));
  const bool six = address->first.find(':') != std::string::npos;
  const std::string shown = six ? "[" + address->first + "]" : address->first;
  hosts.push_back(shown);
  service.set_hosts(std::move(hosts));
  if (!options.tokens.empty()) {
    auto access = server::Access::read(options.tokens, opened.session->model());
    if (!access) return complain(access.error().message);
    service.set_access(std::move(*access));
  }
  server::ServerOptions server_options;
  server_options.address = address->first;
  server_options.port = address->second;
  server_options.workers = options.workers;
  server_options.max_body_bytes = options.max_body;
  auto server = server::Server::listen(service, **log, server_options);
  if (!server) return complain(server.error().message);
  if (!options.no_schedule) opened.session->start_sweeping();
  const std::string url = fmt::format("http://{}:{}", shown, (*server)->port());
  const int told =
      deliver(fmt::format("{} on {} under `{}`: {}\n", opened.session->model().name, opened.url, opened.strategy, url),
              exit_fine);
  if (told != exit_fine) return told;
  signals.call([&] { (*server)->stop(); },
               [&] {
                 if (const auto again = (*log)->open_again(); !again) complain(again.error().message);
                 if (options.tokens.empty()) return;
                 auto access = server::Access::read(options.tokens, opened.session->model());
                 if (access)
                   service.set_access(std::move(*access));
                 else
                   complain(access.error().message + "; the tokens from before stay valid");
               });
  (*server)->run();
  return exit_fine;
}

}  // namespace noam::cli
