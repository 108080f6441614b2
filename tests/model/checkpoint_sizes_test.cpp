// Sizes of published checkpoints: total_size of safetensors indices and what engines
// printed, against configuration and format.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "published_models.h"

namespace cairn {
namespace {

using test::facts;
using test::value_of;

// checkpoint_sizes.csv. Kinds: total_size is exact; rounded is to half a `step`; repository
// counts what lies beside the weights too, and may be rounded; open is explained but for what
// its note says, and must be near; card is a figure that is no size of the weights or of a
// recipe that is not stated, and is passed over.
struct SizeRow {
  std::string repository;  // what was published
  std::string model;       // whose shape it has
  std::string format;      // "published": as its configuration says
  std::string towers;      // format of encoders of images and sound; empty: left out
  std::string kind;
  double bytes = 0;
  std::string step;
  double difference = 0;  // bytes of the files that are no weights of the language model ...
  std::string why;        // ... tensor by tensor
};

std::vector<SizeRow> rows() {
  const Document document = test::table("checkpoint_sizes.csv");
  const Table table = value_of(Table::from(document.root()));
  std::vector<SizeRow> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    SizeRow r;
    r.repository = row.text(0);
    r.model = row.text(1);
    r.format = row.text(2);
    r.towers = row.text(3);
    r.kind = row.text(4);
    r.bytes = value_of(row.number(5)).value();
    r.step = row.text(6);
    r.difference = value_of(row.number(7)).value_or(0);
    r.why = row.text(8);
    out.push_back(std::move(r));
  }
  return out;
}

// Bytes of one step of a rounded figure: "1GB", "0.01GiB" ...
double step_bytes(const std::string& step) {
  const std::size_t digits = step.find_first_not_of("0123456789.");
  return parse_number(step.substr(0, digits)).value() * test::unit_bytes(step.substr(digits));
}

// Tokenizers and headers: no repository of the table has more of them (Kimi's 200,000
// tensors are named in the headers and in the index).
constexpr double kBesideTheWeights = 60e6;
constexpr double kOpen = 0.15;

void check(const SizeRow& row, double ours) {
  const double expected = ours + row.difference;
  const std::string what =
      fmt::format("{} {}: {:.0f} of {:.0f}", row.repository, row.format, expected, row.bytes);
  EXPECT_TRUE(row.difference == 0 || !row.why.empty()) << what;
  if (row.kind == "total_size") {
    EXPECT_EQ(row.bytes, expected) << what;
  } else if (row.kind == "rounded") {
    EXPECT_LE(std::abs(row.bytes - expected), 0.5 * step_bytes(row.step)) << what;
  } else if (row.kind == "repository") {
    const double half = row.step == "1B" ? 0 : 0.5 * step_bytes(row.step);
    EXPECT_GE(row.bytes + half, expected) << what;
    EXPECT_LE(row.bytes - half, expected + kBesideTheWeights) << what;
  } else if (row.kind == "open") {
    EXPECT_FALSE(row.why.empty()) << what;
    std::cout << "[ open     ] " << what << fmt::format(" ({:+.0f})\n", row.bytes - expected);
    EXPECT_LT(std::abs(row.bytes / expected - 1), kOpen) << what;
  } else {
    ADD_FAILURE() << row.kind << " " << what;
  }
}

Result<double> total(const SizeRow& row, const ModelSpec& spec) {
  const Graph graph = build_graph(spec);
  const std::string format = row.format == "published" ? spec.published_format : row.format;
  CAIRN_TRY(const BoundWeights bound, facts().formats.bind(graph, format));
  double sum = bound.total(graph).value();
  for (const Graph& part : graph.parts) {
    if (row.towers.empty() || part.spec.part == ModelPart::mtp) continue;
    CAIRN_TRY(const BoundWeights tower, facts().formats.bind(part, row.towers));
    sum += tower.total(part).value();
  }
  return sum;
}

TEST(CheckpointSizes, AreThoseOfTheFiles) {
  const test::PublishedModels models;
  std::map<std::string, int> count;
  for (const SizeRow& row : rows()) {
    if (row.kind == "card") {
      EXPECT_FALSE(row.why.empty()) << row.repository;
      ++count["passed over"];
      continue;
    }
    const auto spec = models.find(row.model);
    if (!spec) {
      ++count["not read yet"];
      std::cout << "[ not read ] " << row.repository << "\n";
      continue;
    }
    const auto ours = total(row, *spec);
    if (!ours) {
      ADD_FAILURE() << row.repository << ": " << ours.error().to_string();
      continue;
    }
    check(row, *ours);
    ++count[row.kind];
  }
  for (const auto& [kind, n] : count) std::cout << "[ sizes    ] " << n << " " << kind << "\n";
  EXPECT_GE(count["total_size"], 65);
  EXPECT_GE(count["rounded"], 20);
  EXPECT_GE(count["repository"], 20);
  EXPECT_LE(count["open"], 3);
}

}  // namespace
}  // namespace cairn
