// Options that say how money and energy are counted.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr OptionSpec kCurrency{.name = "currency",
                                      .type = OptionType::text,
                                      .metavar = "CODE",
                                      .default_text = "USD",
                                      .description = msg("currency of the answer, as in ISO 4217")};
inline constexpr OptionSpec kElectricityPrice{
    .name = "electricity-price",
    .type = OptionType::number,
    .metavar = "PRICE",
    .min = 0,
    .max = 1e6,
    .description = msg("price of a kilowatt-hour in the currency of the answer; without it, the "
                       "world's average for businesses")};
inline constexpr OptionSpec kPue{
    .name = "pue",
    .type = OptionType::number,
    .metavar = "X",
    .min = 1,
    .max = 10,
    .default_text = "1",
    .description = msg("power usage effectiveness: power of the room over that of the machines")};
inline constexpr OptionSpec kCo2{
    .name = "co2",
    .type = OptionType::number,
    .metavar = "G",
    .min = 0,
    .max = 5000,
    .description = msg("grams of CO2 per kilowatt-hour; without it none is counted")};
inline constexpr std::string_view kAmortisationAliases[] = {"amortization-years"};
inline constexpr OptionSpec kAmortisation{
    .name = "amortisation-years",
    .aliases = kAmortisationAliases,
    .type = OptionType::number,
    .metavar = "YEARS",
    .min = 0.1,
    .max = 50,
    .default_text = "3",
    .description = msg("years over which the price of a card is spread")};
inline constexpr std::string_view kUtilisationAliases[] = {"utilization"};
inline constexpr OptionSpec kUtilisation{
    .name = "utilisation",
    .aliases = kUtilisationAliases,
    .type = OptionType::number,
    .metavar = "SHARE",
    .min = 0.001,
    .max = 1,
    .default_text = "0.5",
    .description = msg("share of the time in which the cards work at this load")};
inline constexpr OptionSpec kBudget{.name = "budget",
                                    .type = OptionType::money,
                                    .metavar = "AMOUNT",
                                    .description = msg("most to spend on cards: 6000CNY, 600USD")};
inline constexpr OptionSpec kOwned{
    .name = "owned",
    .type = OptionType::counted,
    .metavar = "ID:N",
    .description = msg("cards at hand, which cost nothing to buy: rx-7900-xtx:2")};

inline constexpr OptionSpec kPrice{
    .name = "price",
    .type = OptionType::list,
    .metavar = "ID:AMOUNT",
    .description = msg("price of one card, before any quote of the data: rx-9070-xt:640EUR")};
inline constexpr OptionSpec kPriceDate{
    .name = "price-date",
    .type = OptionType::text,
    .metavar = "DATE",
    .description = msg("day of the prices: quotes after it do not count; without it, that of the "
                       "newest quote")};

inline constexpr const OptionSpec* kMoneyOptions[] = {
    &kPrice, &kPriceDate,    &kCurrency,    &kElectricityPrice,
    &kPue,   &kAmortisation, &kUtilisation, &kCo2};
inline constexpr OptionGroup kMoney{msg("Money"), kMoneyOptions};

}  // namespace cairn::cli
