#!/usr/bin/env python3
"""Says which files use a name whose header they do not include, by themselves or through headers of this project.

  tools/includes.py [FILE...]    by default all that git knows

Sources that are compiled together (tools/together.sh) or with precompiled headers lend each other their includes, and a
compiler then does not see a missing one. This looks at words, not at types: names of the standard library that begin with
std::, and of this project what headers declare at the beginning of a line. A name that is declared where it is used, or in
any header that is included there, is taken for that one.
"""
import functools
import pathlib
import re
import subprocess
import sys

# Names of the standard library by header. A name in several rows may come from any of them.
STANDARD = {
    "algorithm": "min max clamp minmax fill fill_n copy copy_n find find_if count count_if sort equal all_of any_of none_of unique"
    " transform max_element min_element minmax_element upper_bound lower_bound is_sorted mismatch move swap ranges::*",
    "functional": "function identity invoke mem_fn reference_wrapper less greater equal_to minus plus hash ref cref ranges::greater ranges::less",
    "ranges": "ranges::size ranges::begin ranges::end ranges::iota_view views::*",
    "iterator": "back_inserter distance istream_iterator iter_value_t size ssize begin end ranges::size ranges::begin ranges::end next prev",
    "array": "array to_array",
    "atomic": "atomic atomic_flag memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel",
    "barrier": "barrier",
    "bit": "bit_cast bit_width has_single_bit rotr rotl endian countr_zero countl_zero popcount",
    "cctype": "isdigit isalnum toupper tolower isspace isalpha",
    "charconv": "from_chars to_chars chars_format",
    "chrono": "chrono::* chrono_literals",
    "clocale": "setlocale localeconv",
    "cmath": "sqrt fabs exp log pow abs sin cos tan tanh sinh cosh acos asin atan atan2 atanh log1p expm1 log2 log10 exp2 erf erfc"
    " fma fmax fmin floor ceil round lround nearbyint hypot isnan isinf isfinite signbit copysign nan ldexp frexp nextafter cbrt lgamma",
    "concepts": "integral floating_point same_as convertible_to",
    "condition_variable": "condition_variable",
    "csignal": "signal raise sig_atomic_t",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intptr_t uintmax_t",
    "cstdio": "printf snprintf fprintf sscanf fflush putchar rewind tmpfile rename fwrite fread fclose fopen remove size_t FILE",
    "cstdlib": "getenv free system _Exit strtod strtof strtoul strtoull strtol atoi atof exit abort aligned_alloc atexit abs malloc size_t",
    "cstring": "memcpy memset memcmp strerror strcmp strncpy strlen size_t",
    "ctime": "clock clock_t tm time_t time strftime size_t localtime gmtime",
    "deque": "deque erase_if",
    "exception": "exception exception_ptr rethrow_exception current_exception",
    "filesystem": "filesystem::*",
    "fstream": "ofstream ifstream fstream",
    "initializer_list": "initializer_list",
    "iomanip": "setprecision setw",
    "ios": "ios ios_base streamsize fixed scientific defaultfloat hex",
    "iosfwd": "istream ostream",
    "iostream": "cout cerr cin",
    "istream": "istream",
    "limits": "numeric_limits",
    "list": "list",
    "locale": "locale numpunct",
    "map": "map multimap erase_if",
    "memory": "shared_ptr unique_ptr weak_ptr make_shared make_unique allocate_shared construct_at destroy_at",
    "mutex": "mutex lock_guard unique_lock try_to_lock scoped_lock",
    "new": "bad_alloc align_val_t",
    "numbers": "numbers::*",
    "numeric": "iota accumulate inner_product",
    "optional": "optional nullopt",
    "ostream": "ostream endl flush",
    "random": "mt19937 normal_distribution",
    "regex": "regex smatch regex_match regex_search sregex_iterator",
    "set": "set multiset erase_if",
    "span": "span as_bytes as_writable_bytes",
    "sstream": "ostringstream istringstream stringstream locale",
    "stdexcept": "invalid_argument runtime_error length_error",
    "streambuf": "streambuf",
    "string": "string to_string basic_string char_traits u32string getline stoul stoull stoi stol stod stof erase_if",
    "string_view": "string_view string_view_literals",
    "system_error": "error_code errc system_error",
    "thread": "thread jthread this_thread::*",
    "tuple": "tuple tuple_size_v tie get",
    "type_traits": "is_same_v conditional_t integral_constant type_identity_t remove_cvref_t make_signed_t is_integral_v is_constructible_v"
    " is_floating_point_v",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "move exchange pair as_const forward swap get make_index_sequence index_sequence in_range make_pair declval",
    "variant": "variant visit get_if holds_alternative monostate get",
    "vector": "vector erase_if",
}
# What a header must declare besides, by the standard or in every library there is.
IMPLIED = {
    "iostream": "ios istream ostream streambuf",
    "istream": "ios ostream streambuf",
    "ostream": "ios streambuf",
    "fstream": "ios istream ostream streambuf string",
    "sstream": "ios istream ostream streambuf string",
    "filesystem": "string string_view system_error ios istream ostream",
    "iomanip": "ios",
    "string": "string_view initializer_list cstddef iterator",
    "string_view": "cstddef iterator",
    "vector": "initializer_list cstddef iterator", "array": "initializer_list cstddef iterator",
    "span": "array cstddef iterator", "deque": "initializer_list iterator", "list": "initializer_list iterator",
    "map": "initializer_list utility iterator", "set": "initializer_list iterator", "unordered_map": "utility iterator",
    "algorithm": "initializer_list", "variant": "type_traits", "optional": "type_traits",
    "system_error": "string stdexcept", "stdexcept": "string exception", "new": "exception",
    "mutex": "chrono system_error", "thread": "chrono", "atomic": "cstddef cstdint", "regex": "string",
    "memory": "cstddef", "chrono": "ctime", "charconv": "system_error", "concepts": "type_traits",
}
# Every header that takes a size has these. Namespaces are asked for by what is in them.
ANYWHERE = {"size_t", "nullptr_t", "ptrdiff_t", "ranges", "filesystem", "chrono", "numbers", "literals", "this_thread"}
LAYERS = ["lamina", "core", "layers", "optim", "models", "tools", "tests"]  # folders; each may use those before it
OTHERS = ("lamina.h", "models/course/", "tests/install/")  # compiled one by one, against the installed headers
NOT_OURS = {"read", "write", "void"}  # functions of the system, and a word that looks like one

HEADERS_OF = {}
for _header, _names in STANDARD.items():
    for _name in _names.split():
        HEADERS_OF.setdefault(_name, set()).add(_header)

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
STANDARD_NAME = re.compile(r"\bstd::((?:ranges::|filesystem::|chrono::|numbers::|this_thread::|views::)?\w+)")
DECLARED = re.compile(
    r"^(?:(?:extern|inline|constexpr|const|static|\[\[\w+\]\]|template *<[^\n]*>)\s+)*(?:"
    r"(?:struct|class|union|enum class|enum)\s+(?:alignas\([^)]*\)\s*)?(?P<type>\w+)\s*(?:final\s*)?(?:[:{]|$)"
    r"|using\s+(?P<alias>\w+)\s*="
    r"|#define\s+(?P<macro>\w+)"
    r"|[A-Za-z_][\w:<>,*& \[\]]*[ &*>](?:(?P<function>[a-z]\w*)\s*\(|(?P<constant>[a-z]\w*)\s*[{=]))", re.MULTILINE)


class File:
    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        self.includes = [path_ for _, path_ in INCLUDE.findall(text)]
        code = COMMENT_OR_TEXT.sub(lambda match: " " if match[0][0] == "/" else '""', INCLUDE.sub("", text))
        self.code = re.sub(r"\b(?:return|else|case|throw)\b", ";", code)  # a name after these is used, not declared
        self.declared = {name for match in DECLARED.finditer(code) for name in match.groups() if name}
        self.constants = {match["constant"] for match in DECLARED.finditer(code)}


@functools.cache
def file(path):
    return File(path)


@functools.cache
def included(path):
    """The headers of this project and of others that a file includes, directly or through this project's."""
    ours, others, waiting = set(), set(), [path]
    while waiting:
        current = waiting.pop()
        for name in file(current).includes:
            beside = pathlib.Path(current).parent / name
            found = next((str(p) for p in (pathlib.Path(name), beside) if p.is_file()), None)
            if found is None:
                others.add(name)
            elif found not in ours:
                ours.add(found)
                waiting.append(found)
    more = list(others)
    while more:
        for name in IMPLIED.get(more.pop(), "").split():
            if name not in others:
                others.add(name)
                more.append(name)
    return ours, others


def line_of(path, name):
    lines = pathlib.Path(path).read_text().split("\n")
    return next((number for number, text in enumerate(lines, 1) if re.search(rf"\b{re.escape(name)}\b", text)), 1)


def missing_standard(path):
    others = included(path)[1]
    for name in sorted(set(STANDARD_NAME.findall(file(path).code)) - ANYWHERE):
        headers = HEADERS_OF.get(name) or HEADERS_OF.get(name.split("::")[0] + "::*")
        if headers is None:
            yield name, f"std::{name} is not in the table of tools/includes.py: add it there"
        elif not headers & others:
            yield name, f"std::{name} needs #include " + " or ".join(f"<{header}>" for header in sorted(headers))


def declares(code, name, constant):
    """Whether the code declares the name in any way that a line's beginning does not show: inside a class, as a variable."""
    if re.search(rf"\b(?:struct|class|enum|union|using|typename|class\.\.\.)\s+{name}\b|#define {name}\b", code):
        return True
    if name[0].isupper():
        return False
    # What is used without being called is a variable; of a function that is rare.
    return bool(re.search(rf"[\w>\]][&*]*\s+{name}\b", code) or
                not constant and re.search(rf"(?<![\w.:>]){name}\s*[^\w\s(]", code))


def missing_ours(path, headers_of, constants):
    code, ours = file(path).code, included(path)[0]
    used = set(re.findall(r"(?<![\w.:>])([A-Z]\w*)", code))
    used |= set(re.findall(r"(?<![\w.:>])(?:(?!std::|fs::)[a-z_]+::)*([a-z]\w*)\(", code)) - constants
    used |= set(re.findall(r"(?<![\w.:>])(?:(?!std::|fs::)[a-z_]+::)*([a-z]+(?:_[a-z]+)+)\b", code)) & constants
    seen = ours | {path}
    allowed = LAYERS[: LAYERS.index(path.split("/")[0]) + 1]
    for name in sorted(used & headers_of.keys() - NOT_OURS):
        headers = {header for header in headers_of[name] if header.split("/")[0] in allowed}
        if headers and not headers & seen and not any(declares(file(each).code, name, name in constants) for each in seen):
            yield name, f"{name} needs #include " + " or ".join(f'"{header}"' for header in sorted(headers))


def main():
    every = subprocess.run(["git", "ls-files", "*.cpp", "*.h"], capture_output=True, text=True, check=True).stdout.split()
    every = [path for path in every if not path.startswith(OTHERS)]
    headers_of, constants = {}, set()
    for path in every:
        if path.endswith(".h"):
            constants |= file(path).constants
            for name in file(path).declared:
                headers_of.setdefault(name, set()).add(path)
    found = 0
    for path in sys.argv[1:] or every:
        for name, words in [*missing_standard(path), *missing_ours(path, headers_of, constants)]:
            print(f"{path}:{line_of(path, name)}: {words}")
            found += 1
    return 1 if found else 0


sys.exit(main())
