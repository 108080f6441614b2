// Sizes of GGUF files as loader logs, benchmark tables and catalogues print them, against
// configuration and recipe. gguf_sizes.csv has those that must agree to the last digit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>

#include "published_models.h"

namespace cairn {
namespace {

using test::facts;
using test::value_of;

// gguf_files.csv. Without a format the row is passed over, and `why` says why; with a
// difference `why` says what the file holds beside the model's own tensors.
struct FileRow {
  std::string file, model, format, size, unit;
  double difference = 0;
  std::string why;

  [[nodiscard]] double bytes() const { return parse_number(size).value() * test::unit_bytes(unit); }
  // Half a unit in the last place of the number as it was printed.
  [[nodiscard]] double rounding() const {
    const std::size_t point = size.find('.');
    const auto digits = point == std::string::npos ? 0 : size.size() - point - 1;
    return 0.5 * std::pow(10, -static_cast<double>(digits)) * test::unit_bytes(unit);
  }
};

std::vector<FileRow> rows() {
  const Document document = test::table("gguf_files.csv");
  const Table table = value_of(Table::from(document.root()));
  std::vector<FileRow> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    out.push_back({std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                   std::string(row.text(3)), std::string(row.text(4)),
                   value_of(row.number(5)).value_or(0), std::string(row.text(6))});
  }
  return out;
}

// Vocabulary, merges and names of the tensors: of no file here more, and of all some.
constexpr double kHeader = 12e6;
// How far the stand-ins for Unsloth's mixes are off at most; farthest where layers differ
// from each other (Qwen 3.6, Nemotron 3, Gemma 4).
constexpr double kStandIn = 0.13;

class Tally {
 public:
  void add(const std::string& what) { ++count_[what]; }
  [[nodiscard]] int of(const std::string& what) { return count_[what]; }
  void print() const {
    for (const auto& [what, n] : count_) std::cout << "[ files    ] " << n << " " << what << "\n";
  }

 private:
  std::map<std::string, int> count_;
};

void check(const FileRow& row, const Graph& graph, Tally& tally) {
  const BoundWeights bound = value_of(facts().formats.bind(graph, row.format));
  const double ours = bound.total(graph).value() + row.difference;
  const std::string what =
      fmt::format("{} {} {}: {:.0f} of {:.0f}", row.file, row.model, row.format, ours, row.bytes());
  EXPECT_TRUE(row.difference == 0 || !row.why.empty()) << what;
  if (bound.approximate) {
    tally.add("of a recipe that is not public");
    EXPECT_LT(std::abs(ours / row.bytes() - 1), kStandIn) << what;
    return;
  }
  if (row.unit == "bytes") {  // of the whole file
    tally.add("whole files");
    EXPECT_GT(row.bytes() - ours, 0) << what;
    EXPECT_LT(row.bytes() - ours, kHeader) << what;
    return;
  }
  const double difference = std::abs(ours - row.bytes());
  const bool exact = difference <= row.rounding() * 1.000001;
  tally.add(exact ? "exact to the printed digits" : "within 0.5 %");
  if (!exact) std::cout << "[ within   ] " << what << "\n";
  EXPECT_LE(difference, std::max(0.005 * row.bytes(), row.rounding() * 1.000001)) << what;
}

TEST(GgufFiles, HaveTheSizesOfTheirRecipes) {
  const test::PublishedModels models;
  Tally tally;
  for (const FileRow& row : rows()) {
    if (row.format.empty()) {
      EXPECT_FALSE(row.why.empty()) << row.file;
      tally.add("passed over: " + row.why);
      continue;
    }
    const auto spec = models.find(row.model);
    if (!spec) {
      tally.add("of models that are not read yet");
      continue;
    }
    check(row, build_graph(*spec), tally);
  }
  tally.print();
  EXPECT_GE(tally.of("exact to the printed digits"), 165);
  EXPECT_GE(tally.of("whole files"), 50);
}

}  // namespace
}  // namespace cairn
