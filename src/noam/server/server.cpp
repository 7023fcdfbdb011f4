#include "noam/server/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace noam::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// The header `Date`, made once in a second by each thread.
const std::string& date() {
  thread_local std::time_t of = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != of) {
    text = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(now));
    of = now;
  }
  return text;
}

struct RequestLine {
  std::string_view method = "-";
  std::string_view target = "-";
};

// Status line and headers; the body follows.
std::string head_of(const Response& response, bool keep, std::optional<std::size_t> length) {
  std::string out;
  constexpr std::size_t usual = 256;
  out.reserve(usual);
  out += fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason_phrase(response.status), date());
  if (!response.content_type.empty())
    out += fmt::format("Content-Type: {}\r\nX-Content-Type-Options: nosniff\r\n", response.content_type);
  if (length)
    out += fmt::format("Content-Length: {}\r\n", *length);
  else
    out += "Transfer-Encoding: chunked\r\n";
  // Answers are of a moment.
  out += "Cache-Control: no-store\r\n";
  for (const auto& [name, value] : response.headers) out += fmt::format("{}: {}\r\n", name, value);
  if (!keep) out += "Connection: close\r\n";
  out += "\r\n";
  return out;
}

// Of what a client sent that is no request.
std::optional<Response> malformed(const error_code& error) {
  if (error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream &&
      error != http::error::partial_message)
    return problem(400, "request", "malformed HTTP: " + error.message());
  return std::nullopt;
}

}  // namespace

struct Server::Network {
  Service& service;
  RequestLog& log;
  const ServerOptions options;
  asio::io_context io;
  asio::thread_pool workers;
  tcp::acceptor acceptor{io};
  std::atomic<bool> stopping{false};
  asio::strand<asio::io_context::executor_type> control{io.get_executor()};
  asio::steady_timer grace{control};  // only used in `control`

  class Connection;
  std::mutex lock;
  std::list<Connection*> connections;

  Network(Service& to, RequestLog& told, const ServerOptions& chosen)
      : service(to), log(told), options(chosen), io(static_cast<int>(thread_count(chosen))), workers(chosen.workers) {}

  static std::size_t thread_count(const ServerOptions& options) {
    return options.threads != 0 ? options.threads : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  }

  asio::awaitable<void> accept();
  void stop();
  // Those without a request, or all.
  void end_connections(bool all);
};

// One client. All that happens to it happens in its strand.
class Server::Network::Connection {
 public:
  Connection(Network& network, tcp::socket socket) : network_(network), stream_(std::move(socket)) {
    error_code failed;
    const auto from = stream_.socket().remote_endpoint(failed);
    if (!failed) client_ = from.address().to_string();
    stream_.socket().set_option(tcp::no_delay(true), failed);
    const std::lock_guard lock(network_.lock);
    place_ = network_.connections.insert(network_.connections.end(), this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    const std::lock_guard lock(network_.lock);
    network_.connections.erase(place_);
    if (network_.stopping && network_.connections.empty())
      asio::post(network_.control, [&network = network_] { network.grace.cancel(); });
  }

  asio::awaitable<void> serve() {
    while (!network_.stopping) {
      if (!co_await next_request()) break;
    }
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  }

  // A connection without a request ends at once. In the strand.
  void end(bool anyway) {
    if (idle_ || anyway) stream_.close();
  }
  [[nodiscard]] beast::tcp_stream& stream() { return stream_; }

 private:
  using Head = http::request_parser<http::empty_body>;

  template <typename Message>
  static RequestLine request_line(const Message& message) {
    return {view(message.method_string()), view(message.target())};
  }

  // Ends what is being read after this time, so that an answer can still be sent.
  void watch(std::chrono::seconds longest) {
    late_ = false;
    stream_.expires_never();
    watch_.expires_after(longest);
    watch_.async_wait([this, alive = std::weak_ptr<int>(alive_), of = ++*alive_](error_code ended) {
      const auto still = alive.lock();
      if (ended || !still || *still != of) return;
      late_ = true;
      stream_.cancel();
    });
  }
  void unwatch() {
    ++*alive_;
    watch_.cancel();
  }

  // Of what a client sent that is no request, or not all of one.
  std::optional<Response> refusal_of(const error_code& error) {
    unwatch();
    if (error == http::error::header_limit)
      return problem(431, "request",
                     fmt::format("the header has more than {} bytes", network_.options.max_header_bytes));
    if (error == http::error::body_limit)
      return problem(413, "request", fmt::format("the body has more than {} bytes", network_.options.max_body_bytes));
    if (late_) return problem(408, "request", "the request did not arrive in time");
    return malformed(error);
  }

  // False: the connection is over.
  asio::awaitable<bool> next_request() {
    Head head;
    head.header_limit(static_cast<std::uint32_t>(network_.options.max_header_bytes));
    head.body_limit(boost::none);
    // Waiting for a request is another thing than waiting for the rest of one.
    if (buffer_.size() == 0) {
      constexpr std::size_t first_read = 4'096;
      idle_ = true;
      stream_.expires_after(network_.options.idle_timeout);
      const auto [failed, bytes] = co_await stream_.async_read_some(buffer_.prepare(first_read), awaited);
      idle_ = false;
      if (failed) co_return false;
      buffer_.commit(bytes);
    }
    began_ = Clock::now();
    watch(network_.options.header_timeout);
    const auto [error, read] = co_await http::async_read_header(stream_, buffer_, head, awaited);
    if (error) {
      if (const auto refused = refusal_of(error)) co_await send_last(*refused);
      co_return false;
    }
    unwatch();
    const auto& fields = head.get();
    if (fields.version() != 11 && fields.version() != 10) {
      co_await send_last(problem(400, "request", "only HTTP/1.1 is served"), request_line(fields));
      co_return false;
    }
    Request request;
    request.method = view(fields.method_string());
    request.target = view(fields.target());
    request.content_type = view(fields[http::field::content_type]);
    request.authorization = view(fields[http::field::authorization]);
    request.host = view(fields[http::field::host]);
    if (Service::is_batch(request)) {
      auto begun = network_.service.begin_batch(request);
      if (const auto* const refused = std::get_if<Response>(&begun)) {
        co_await send_last(*refused, request_line(fields));
        co_return false;
      }
      co_return co_await batch(head, std::get<Service::Batch>(begun));
    }
    co_return co_await single(head);
  }

  asio::awaitable<bool> single(Head& head) {
    const auto length = head.content_length();
    if (length && *length > network_.options.max_body_bytes) {
      co_await send_last(*refusal_of(make_error_code(http::error::body_limit)), request_line(head.get()));
      co_return false;
    }
    http::request_parser<http::string_body> parser(std::move(head));
    parser.body_limit(network_.options.max_body_bytes);
    if (!parser.is_done()) {
      watch(network_.options.body_timeout);
      if (!co_await invite_body(parser.get())) co_return false;
      const auto [error, read] = co_await http::async_read(stream_, buffer_, parser, awaited);
      if (error) {
        if (const auto refused = refusal_of(error)) co_await send_last(*refused, request_line(parser.get()));
        co_return false;
      }
    }
    unwatch();
    const auto& message = parser.get();
    Request request;
    request.method = view(message.method_string());
    request.target = view(message.target());
    request.content_type = view(message[http::field::content_type]);
    request.idempotency_key = view(message["Idempotency-Key"]);
    request.authorization = view(message[http::field::authorization]);
    request.host = view(message[http::field::host]);
    request.body = message.body();
    Response response;
    if (network_.service.is_quick(request))
      response = network_.service.answer(request);
    else
      response = co_await asio::co_spawn(
          network_.workers, [&]() -> asio::awaitable<Response> { co_return network_.service.answer(request); },
          asio::use_awaitable);
    const bool keep = message.keep_alive() && !network_.stopping;
    const bool sent = co_await send(response, request.method == "HEAD", keep);
    note(response, request.method, request.target);
    co_return sent&& keep;
  }

  // Of who asks before sending a body.
  template <typename Message>
  asio::awaitable<bool> invite_body(const Message& message) {
    if (!beast::iequals(message[http::field::expect], "100-continue")) co_return true;
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto [error, sent] = co_await asio::async_write(stream_, asio::buffer(go_on), awaited);
    co_return !error;
  }

  asio::awaitable<bool> send(const Response& response, bool without_body, bool keep) {
    const std::string head = head_of(response, keep, response.body.size());
    stream_.expires_after(network_.options.write_timeout);
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head), without_body ? asio::const_buffer()
                                                                                        : asio::buffer(response.body)};
    const auto [error, bytes] = co_await asio::async_write(stream_, buffers, awaited);
    co_return !error;
  }

  // What was sent beyond is not read. It is drained for a moment, so that the client sees the response, and no reset.
  asio::awaitable<void> send_last(const Response& response, RequestLine line = {}) {
    const bool sent = co_await send(response, false, false);
    note(response, line.method, line.target);
    if (!sent) co_return;
    error_code failed;
    stream_.socket().shutdown(tcp::socket::shutdown_send, failed);
    constexpr std::chrono::seconds longest{1};
    constexpr std::size_t most = std::size_t{256} << 10U;
    stream_.expires_after(longest);
    std::array<char, 4'096> rest{};
    for (std::size_t read = 0; read < most;) {
      const auto [error, bytes] = co_await stream_.async_read_some(asio::buffer(rest), awaited);
      if (error) break;
      read += bytes;
    }
  }

  void note(const Response& response, std::string_view method, std::string_view target) {
    network_.log.write({.method = method,
                        .path = target.substr(0, target.find('?')),
                        .statement = response.statement,
                        .client = client_,
                        .status = response.status,
                        .bytes = response.body.size(),
                        .took = Clock::now() - began_});
  }

  // --- Lines -------------------------------------------------------------------------------------------------------

  struct Lines {
    std::string pending;  // answers that were not sent yet
    bool over = false;    // there are no more
    bool broken = false;  // the client is gone
    std::size_t bytes = 0;
    asio::steady_timer changed;
    explicit Lines(const asio::any_io_executor& executor) : changed(executor, Clock::time_point::max()) {}
  };

  asio::awaitable<bool> batch(Head& head, const Service::Batch& from) {
    using namespace asio::experimental::awaitable_operators;
    http::request_parser<http::buffer_body> parser(std::move(head));
    parser.body_limit(boost::none);
    if (parser.get().version() == 10) {
      co_await send_last(problem(400, "request", "lines are answered by HTTP/1.1 only"), request_line(parser.get()));
      co_return false;
    }
    if (!co_await invite_body(parser.get())) co_return false;
    Response begin;
    begin.content_type = "application/x-ndjson";
    const bool keep = parser.get().keep_alive();
    const std::string text = head_of(begin, keep, std::nullopt);
    stream_.expires_after(network_.options.write_timeout);
    const auto [error, sent] = co_await asio::async_write(stream_, asio::buffer(text), awaited);
    if (error) co_return false;
    Lines lines(co_await asio::this_coro::executor);
    const bool whole = co_await (read_lines(parser, from, lines) && write_answers(lines));
    network_.log.write({.method = "POST",
                        .path = "/batch",
                        .statement = {},
                        .client = client_,
                        .status = begin.status,
                        .bytes = lines.bytes,
                        .took = Clock::now() - began_});
    co_return whole && !lines.broken && keep && !network_.stopping;
  }

  // Whether the request was read to its end.
  asio::awaitable<bool> read_lines(http::request_parser<http::buffer_body>& parser, const Service::Batch& from,
                                   Lines& lines) {
    constexpr std::size_t piece_bytes = std::size_t{16} << 10U;
    std::string piece(piece_bytes, '\0');
    std::string text;  // what has no answer yet
    bool whole = false;
    while (!lines.broken && !network_.stopping) {
      whole = parser.is_done();
      if (whole) break;
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      stream_.expires_after(network_.options.idle_timeout);
      auto [error, read] = co_await http::async_read_some(stream_, buffer_, parser, awaited);
      if (error == http::error::need_buffer) error = {};
      if (error) {
        lines.broken = true;
        break;
      }
      text.append(piece.data(), piece.size() - parser.get().body().size);
      std::size_t done = 0;
      for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', done)) {
        co_await answer_line(from, std::string_view(text).substr(done, end - done), lines);
        done = end + 1;
        if (lines.broken || network_.stopping) break;
      }
      text.erase(0, done);
      if (text.size() > network_.options.max_body_bytes) {
        give(lines, R"({"error":{"code":"request","reason":"the line is too long"}})");
        lines.broken = true;
      }
    }
    if (whole && !text.empty()) co_await answer_line(from, text, lines);
    lines.over = true;
    lines.changed.cancel();
    co_return whole;
  }

  asio::awaitable<void> answer_line(const Service::Batch& from, std::string_view line, Lines& lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Who does not read is not read from either.
    while (lines.pending.size() > network_.options.max_pending_bytes && !lines.broken)
      co_await lines.changed.async_wait(awaited);
    if (lines.broken) co_return;
    std::string answer = co_await asio::co_spawn(
        network_.workers, [&]() -> asio::awaitable<std::string> { co_return network_.service.answer_line(from, line); },
        asio::use_awaitable);
    give(lines, answer);
  }

  static void give(Lines& lines, std::string_view answer) {
    lines.pending += answer;
    lines.pending += '\n';
    lines.changed.cancel();
  }

  asio::awaitable<void> write_answers(Lines& lines) {
    while (true) {
      while (lines.pending.empty() && !lines.over) co_await lines.changed.async_wait(awaited);
      const std::string text = std::exchange(lines.pending, {});
      lines.changed.cancel();
      lines.bytes += text.size();
      std::string frame;
      if (!text.empty()) frame = fmt::format("{:x}\r\n{}\r\n", text.size(), text);
      const bool last = lines.over && lines.pending.empty();
      if (last) frame += "0\r\n\r\n";
      stream_.expires_after(network_.options.write_timeout);
      const auto [error, bytes] = co_await asio::async_write(stream_, asio::buffer(frame), awaited);
      if (error) {
        lines.broken = true;
        lines.changed.cancel();
        stream_.close();
        co_return;
      }
      if (last) co_return;
    }
  }

  Network& network_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::string client_;
  std::list<Connection*>::iterator place_;
  bool idle_ = false;
  Clock::time_point began_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // counts what is watched
  asio::steady_timer watch_{stream_.get_executor()};
  bool late_ = false;
};

asio::awaitable<void> Server::Network::accept() {
  while (!stopping) {
    auto [error, socket] = co_await acceptor.async_accept(asio::make_strand(io), awaited);
    if (stopping) break;
    if (error) {
      // Out of file descriptors, most likely: others have to end first.
      constexpr std::chrono::milliseconds pause{50};
      asio::steady_timer timer(io, pause);
      co_await timer.async_wait(awaited);
      continue;
    }
    {
      const std::lock_guard guard(lock);
      if (connections.size() >= options.max_connections) continue;
    }
    auto executor = socket.get_executor();
    asio::co_spawn(
        executor,
        [this, accepted = std::move(socket)]() mutable -> asio::awaitable<void> {
          Connection connection(*this, std::move(accepted));
          co_await connection.serve();
        },
        asio::detached);
  }
}

void Server::Network::stop() {
  if (stopping.exchange(true)) return;
  asio::post(io, [this] {
    error_code ignored;
    acceptor.close(ignored);
    end_connections(false);
  });
  asio::post(control, [this] {
    {
      const std::lock_guard guard(lock);
      if (connections.empty()) return;
    }
    grace.expires_after(options.grace);
    grace.async_wait([this](error_code cancelled) {
      if (!cancelled) end_connections(true);
    });
  });
}

void Server::Network::end_connections(bool all) {
  const std::lock_guard guard(lock);
  for (Connection* connection : connections)
    asio::post(connection->stream().get_executor(), [this, connection, all] {
      // It may have ended meanwhile.
      const std::lock_guard again(lock);
      if (std::find(connections.begin(), connections.end(), connection) != connections.end()) connection->end(all);
    });
}

Server::Server(std::unique_ptr<Network> network) : network_(std::move(network)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(Service& service, RequestLog& log, const ServerOptions& options) {
  auto network = std::make_unique<Network>(service, log, options);
  error_code failed;
  const auto address = asio::ip::make_address(options.address, failed);
  if (failed) return Error{fmt::format("`{}` is not an address", options.address)};
  const tcp::endpoint endpoint(address, options.port);
  const auto cannot = [&] {
    return Error{fmt::format("cannot listen on {}:{}: {}", options.address, options.port, failed.message())};
  };
  network->acceptor.open(endpoint.protocol(), failed);
  if (failed) return cannot();
  network->acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  network->acceptor.bind(endpoint, failed);
  if (failed) return cannot();
  network->acceptor.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) return cannot();
  return std::unique_ptr<Server>(new Server(std::move(network)));
}

std::uint16_t Server::port() const {
  error_code ignored;
  return network_->acceptor.local_endpoint(ignored).port();
}

void Server::run() {
  asio::co_spawn(network_->io, network_->accept(), asio::detached);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < Network::thread_count(network_->options); ++i)
    threads.emplace_back([this] { network_->io.run(); });
  network_->io.run();
  for (std::thread& thread : threads) thread.join();
  network_->workers.join();
}

void Server::stop() { network_->stop(); }

}  // namespace noam::server
