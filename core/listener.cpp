#include "core/listener.h"

namespace lamina {

namespace {
thread_local TapeListener* listening = nullptr;
thread_local std::string_view scope;
}  // namespace

TapeListener* TapeListener::current() { return listening; }

Listening::Listening(TapeListener* listener) : enclosing_(listening) { listening = listener; }
Listening::~Listening() { listening = enclosing_; }

Scope::Scope(std::string_view name) : enclosing_(scope) { scope = name; }
Scope::~Scope() { scope = enclosing_; }
std::string_view Scope::current() { return scope; }

}  // namespace lamina
