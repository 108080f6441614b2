#include "cairn/model/tensor_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "cairn/base/rounding.h"
#include "cairn/data/csv.h"

namespace cairn {
namespace {

constexpr std::int64_t kMaxBlock = 65536;

constexpr std::array<std::pair<std::string_view, NumberClass>, 9> kClasses = {{
    {"f32", NumberClass::f32},
    {"f16", NumberClass::f16},
    {"bf16", NumberClass::bf16},
    {"fp8", NumberClass::fp8},
    {"int8", NumberClass::int8},
    {"int4", NumberClass::int4},
    {"fp6", NumberClass::fp6},
    {"fp4", NumberClass::fp4},
    {"other", NumberClass::other},
}};

// Consumes a whole number from the front of `text`.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ec != std::errc() || value < 0 || value > kMaxBlock) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(r.ptr - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// "128x128:4;0x1:4" to tiles; nothing where the text is malformed.
std::optional<std::vector<ScaleTile>> parse_tiles(std::string_view text) {
  std::vector<ScaleTile> tiles;
  while (!text.empty()) {
    const auto rows = take_number(text);
    if (!rows || !take(text, 'x')) return std::nullopt;
    const auto columns = take_number(text);
    if (!columns || !take(text, ':')) return std::nullopt;
    const auto bytes = take_number(text);
    if (!bytes || (!text.empty() && !take(text, ';'))) return std::nullopt;
    tiles.push_back({.rows = *rows, .columns = *columns, .bytes = *bytes});
  }
  return tiles;
}

struct Columns {
  std::uint32_t name, id, weights, bytes, scales, numbers, sparsity, status;
};

Result<Columns> columns_of(const Table& table) {
  Columns c{};
  const std::array<std::pair<std::string_view, std::uint32_t*>, 8> wanted = {{
      {"name", &c.name},
      {"ggml_id", &c.id},
      {"weights_per_block", &c.weights},
      {"bytes_per_block", &c.bytes},
      {"scales", &c.scales},
      {"numbers", &c.numbers},
      {"sparsity", &c.sparsity},
      {"status", &c.status},
  }};
  for (const auto& [name, index] : wanted) {
    CAIRN_TRY(*index, table.column(name));
  }
  return c;
}

Result<std::int64_t> whole(const Row& row, std::uint32_t column, std::string_view name,
                           std::int64_t low) {
  CAIRN_TRY(const std::optional<double> value, row.number(column));
  if (!value || *value != std::floor(*value) || *value < static_cast<double>(low) ||
      *value > static_cast<double>(kMaxBlock)) {
    return fail(bad_input("not a whole number in range")
                    .at(row.where())
                    .in(std::string(name))
                    .got(row.text(column)));
  }
  return static_cast<std::int64_t>(*value);
}

Result<TensorType> read_type(const Row& row, const Columns& c) {
  TensorType type;
  CAIRN_TRY(const std::string_view name, row.required(c.name));
  type.name = name;
  CAIRN_TRY(type.block_weights, whole(row, c.weights, "weights_per_block", 1));
  CAIRN_TRY(type.block_bytes, whole(row, c.bytes, "bytes_per_block", 1));
  if (row.has(c.id)) {
    CAIRN_TRY(const std::int64_t id, whole(row, c.id, "ggml_id", 0));
    type.ggml_id = static_cast<int>(id);
  }
  auto tiles = parse_tiles(row.text(c.scales));
  if (!tiles) {
    return fail(bad_input("malformed scale tiles")
                    .at(row.where())
                    .in("scales")
                    .got(row.text(c.scales))
                    .want("ROWSxCOLUMNS:BYTES, joined by semicolons"));
  }
  type.scales = std::move(*tiles);
  const std::string_view numbers = row.text(c.numbers);
  const auto kind = number_class(numbers);
  if (!kind) {
    return fail(bad_input("unknown class of numbers").at(row.where()).in("numbers").got(numbers));
  }
  type.numbers = *kind;
  const std::string_view sparsity = row.text(c.sparsity);
  if (!sparsity.empty() && sparsity != "2:4") {
    return fail(bad_input("unknown structure of zeros")
                    .at(row.where())
                    .in("sparsity")
                    .got(sparsity)
                    .want("2:4, or nothing"));
  }
  type.sparse = !sparsity.empty();
  return type;
}

}  // namespace

std::optional<NumberClass> number_class(std::string_view name) {
  const auto* const it = std::ranges::find(kClasses, name, [](const auto& k) { return k.first; });
  if (it == kClasses.end()) return std::nullopt;
  return it->second;
}

double TensorType::bits_per_weight() const {
  double bits = 8.0 * static_cast<double>(block_bytes) / static_cast<double>(block_weights);
  for (const ScaleTile& tile : scales) {
    if (tile.rows == 0 || tile.columns == 0) continue;
    bits += 8.0 * static_cast<double>(tile.bytes) / static_cast<double>(tile.rows * tile.columns);
  }
  return bits;
}

Bytes TensorType::bytes(double rows, double columns) const {
  const auto pieces = [](double size, std::int64_t piece) {
    return piece == 0 ? 1.0 : rounded_up(size / static_cast<double>(piece));
  };
  double total = rows * pieces(columns, block_weights) * static_cast<double>(block_bytes);
  for (const ScaleTile& tile : scales) {
    total +=
        pieces(rows, tile.rows) * pieces(columns, tile.columns) * static_cast<double>(tile.bytes);
  }
  return Bytes(total);
}

Result<TensorTypes> TensorTypes::load(Node table_node) {
  CAIRN_TRY(const Table table, Table::from(table_node));
  CAIRN_TRY(const Columns c, columns_of(table));
  TensorTypes out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    if (row.text(c.status) == "removed") continue;
    CAIRN_TRY(TensorType type, read_type(row, c));
    if (out.find(type.name) != nullptr ||
        (type.ggml_id && out.find_ggml(*type.ggml_id) != nullptr)) {
      return fail(
          bad_input("the same tensor type twice").at(row.where()).in("name").got(type.name));
    }
    out.types_.push_back(std::move(type));
  }
  return out;
}

const TensorType* TensorTypes::find(std::string_view name) const {
  const auto it = std::ranges::find(types_, name, &TensorType::name);
  return it == types_.end() ? nullptr : &*it;
}

const TensorType* TensorTypes::find_ggml(int id) const {
  const auto it =
      std::ranges::find_if(types_, [id](const TensorType& t) { return t.ggml_id == id; });
  return it == types_.end() ? nullptr : &*it;
}

}  // namespace cairn
