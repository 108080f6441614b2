// JSON as benchmarks print it: one object, a list, or one object a line; with NaN and
// Infinity as Python writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/document.h"
#include "cairn/evidence/readers/read_row.h"

namespace cairn {

/// The records of a text, and the document that they stand in.
class BenchRecords {
 public:
  /// Lines before the first "{" or "[" that a JSON value may begin with are passed over:
  /// what a program logs before its result. Errors: bad_input with file and line.
  static Result<BenchRecords> parse(std::string_view text, const std::string& name);
  [[nodiscard]] const std::vector<Node>& records() const { return records_; }

 private:
  explicit BenchRecords(Document document);
  Document document_;
  std::vector<Node> records_;
};

/// A member that is a number; nothing where it is absent, null, not finite, or the text
/// "inf". Any other kind is an error.
Result<std::optional<double>> number_in(Node record, std::string_view key);
/// As number_in, an error where it is negative.
Result<std::optional<double>> amount_in(Node record, std::string_view key);
/// The first 200 characters of a member that is a text; empty where it is absent or of
/// another kind.
std::string text_in(Node record, std::string_view key);
/// The node at a path of keys, or nothing.
std::optional<Node> node_in(Node record, std::initializer_list<std::string_view> path);

/// Adds a row like `base` for a member of `record`: value x factor. Nothing is added where
/// the member is absent, null or 0 (what was not measured is printed as 0).
Result<void> add_figure(std::vector<ReadRow>& rows, const ReadRow& base, std::string metric,
                        std::string unit, Node record, std::string_view key, double factor = 1);

/// What of the mean lengths follows from totals over `completed` requests.
void set_mean_lengths(RequestLengths& lengths, std::optional<double> total_input,
                      std::optional<double> total_output, std::optional<double> completed);

}  // namespace cairn
