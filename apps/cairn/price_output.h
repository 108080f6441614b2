// Prices to buy as JSON and as text, with what they rest on: shared by the commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cairn/hardware/purchase.h"
#include "cairn/report/json_writer.h"
#include "context.h"

namespace cairn::cli {

/// A quote of the data as an object, or null.
void write_quote(JsonWriter& json, std::string_view key, const std::optional<Price>& quote);
/// What buying one card, or machine, takes, as an object, or null.
void write_purchase(JsonWriter& json, std::string_view key, const std::optional<Purchase>& price);

/// The price of one card, "~" before an estimate, "?" after one that no source vouches
/// for, or a dash.
std::string price_text(const std::optional<Purchase>& price);
/// A line that says what the price of a card or machine rests on, or that none is known.
std::string price_note(std::string_view id, const std::optional<Purchase>& price,
                       const Translator& t);

}  // namespace cairn::cli
