#include "cairn/hardware/host.h"

#include <gtest/gtest.h>

#include <array>

#include "../must.h"
#include "cairn/data/yaml.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/hardware/host_need.h"

namespace cairn {
namespace {

using test::must;

const Image& image() {
  static const Image kImage = must(Image::open(CAIRN_IMAGE_FILE));
  return kImage;
}

const Accelerator& card(std::string_view name) {
  static const AcceleratorCatalogue kCatalogue = must(AcceleratorCatalogue::load(image()));
  return *must(kCatalogue.find(name));
}

const HostCatalogue& hosts() {
  static const HostCatalogue kHosts = must(HostCatalogue::load(image()));
  return kHosts;
}

const Host& host(std::string_view name) { return *must(hosts().find(name)); }

const HostRules& rules() {
  static const HostRules kRules = must(HostRules::load(image()));
  return kRules;
}

HostRequest request(std::string_view name, std::int64_t cards) {
  HostRequest out;
  out.accelerator = &card(name);
  out.devices = cards * out.accelerator->devices_per_card;
  return out;
}

HostNeed need(std::string_view name, std::int64_t cards) {
  return must(host_need(request(name, cards), rules()));
}

// PCIe 5.0 x8 is 32 GT/s x 8 x 128/130 / 8 = 31.5 GB/s.
TEST(Hosts, SlotsDependOnHowManyCardsArePlugged) {
  const Host& board = host("am5-two-x8");
  EXPECT_EQ((*board.slots(1))[0].lanes, 16);
  EXPECT_EQ((*board.slots(2))[0].lanes, 8);
  EXPECT_EQ((*board.slots(2))[1].lanes, 8);
  EXPECT_FALSE(board.slots(3).has_value());
  EXPECT_FALSE(board.slots(0).has_value());
  // An RX 7900 XTX is PCIe 4.0 x16: in a slot of PCIe 5.0 x8 it gets half its lanes.
  EXPECT_NEAR((*board.slots(2))[0].bandwidth(card("rx-7900-xtx"))->value() / 1e9, 15.75, 0.02);
  EXPECT_NEAR((*board.slots(1))[0].bandwidth(card("rtx-5090"))->value() / 1e9, 63.0, 0.1);
}

TEST(Hosts, TheChipsetsSlotHasFourLanesAndNoAtomics) {
  const auto slots = *host("am5-one-x16").slots(2);
  EXPECT_EQ(slots[1].lanes, 4);
  EXPECT_EQ(slots[1].path, SlotPath::chipset);
  EXPECT_EQ(slots[1].atomics, std::optional<bool>(false));
}

// https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html: 14.3 kW,
// six supplies of 3.3 kW of which one is spare, 2 TB, 10 units.
TEST(Hosts, HaveTheirPublishedFigures) {
  const Host& b200 = host("dgx-b200");
  EXPECT_EQ(b200.kind, HostKind::node);
  EXPECT_EQ(b200.max_power, Watts(14300));
  EXPECT_EQ(b200.supply, Watts(5 * 3300));
  EXPECT_EQ(b200.memory, gib(2048));
  EXPECT_EQ(b200.rack_units, 10);
  EXPECT_EQ(b200.nics.at(0).count, 8);
  EXPECT_EQ(host("helios").status, Status::announced);
  EXPECT_EQ(host("helios").max_cards, 72);
}

TEST(Hosts, TakeTheirAccelerators) {
  EXPECT_TRUE(host("mi300x-8x").takes(card("mi300x")));
  EXPECT_FALSE(host("mi300x-8x").takes(card("mi325x")));
  EXPECT_FALSE(host("mi300x-8x").takes(card("rx-7900-xtx")));
  EXPECT_TRUE(host("romed8-2t").takes(card("rx-7900-xtx")));
  EXPECT_TRUE(host("romed8-2t").takes(card("rtx-4090")));
  EXPECT_FALSE(host("romed8-2t").takes(card("h100-sxm")));
  const auto takers = hosts().for_cards(card("rx-7900-xtx"), 7);
  ASSERT_EQ(takers.size(), 2U);  // the server of eight and the board of seven
  EXPECT_EQ(hosts().for_cards(card("mi355x"), 8).size(), 1U);
  EXPECT_TRUE(hosts().for_cards(card("mi355x"), 9).empty());
}

TEST(Hosts, EveryShippingModuleHasAMachine) {
  for (const char* name :
       {"mi250", "mi250x", "mi300x", "mi325x", "mi350x", "mi355x", "h100-sxm", "h200-sxm",
        "b200-sxm", "gb200-nvl72", "gb300-nvl72", "gb10", "ryzen-ai-max-395", "helios-mi455x-72"}) {
    EXPECT_FALSE(hosts().for_cards(card(name), 1).empty()) << name;
  }
}

struct BadHost {
  const char* text;
  const char* where;
  const char* field;
};

TEST(ReadHost, SaysFileLineAndFieldOfWhatIsWrong) {
  const std::array<BadHost, 5> cases{{
      {"name: x\nkind: server\nform: pcie\nfigures: {}\n", "box.yaml:1", "id"},
      {"id: x\nname: x\nkind: laptop\nform: pcie\nfigures: {}\n", "box.yaml:3", ""},
      {"id: x\nname: x\nkind: server\nform: pcie\nfigures:\n  sockets: {value: 1}\n", "box.yaml:6",
       "max_cards"},
      {"id: x\nname: x\nkind: server\nform: pcie\nfigures:\n  max_cards: {value: 2}\n"
       "slots:\n  by_cards:\n    - []\n",
       "box.yaml:9", "slots"},
      {"id: x\nname: x\nkind: server\nform: pcie\nfigures:\n  max_cards: {value: 2}\n"
       "slots:\n  by_cards:\n    - [{lanes: 99, generation: 5, path: cpu}]\n",
       "box.yaml:9", "lanes"},
  }};
  for (const BadHost& c : cases) {
    const Document document = must(parse_yaml(c.text, "box.yaml"));
    const auto read = read_host(document.root());
    ASSERT_FALSE(read.has_value()) << c.text;
    EXPECT_EQ(read.error().where, c.where) << c.text;
    EXPECT_EQ(read.error().field, c.field) << c.text;
  }
}

TEST(Hosts, NamesTheNearestOfAMisspeltName) {
  const auto found = hosts().find("dgx-b2000");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().expected.find("dgx-b200"), std::string::npos);
}

// Makers' recommendations for a machine with one card: the computed rating is that or at
// most two steps of 100 W above it, never below. AMD for the RX 7900 XTX
// (https://eatsip365.com/amd-7900-xtx-power-supply-requirements), NVIDIA for the others
// (https://uat.www.digitaltrends.com/?p=3190701).
TEST(HostNeed, SuppliesAgreeWithTheMakers) {
  for (const auto& [name, recommended] :
       {std::pair{"rx-7900-xtx", 800.0}, std::pair{"rtx-4090", 850.0}, std::pair{"rtx-4080", 750.0},
        std::pair{"rtx-4070-ti", 700.0}}) {
    Accelerator a = card(name);
    a.recommended_supply = std::nullopt;  // by the rule alone
    HostRequest r;
    r.accelerator = &a;
    const double supply = must(host_need(r, rules())).supply->value();
    EXPECT_GE(supply, recommended) << name;
    EXPECT_LE(supply, recommended + 200) << name;
  }
}

// Two RX 7900 XTX: 2 x 355 + 200 + 75 = 985 W under load, / 0.8 = 1231 W; by AMD's
// recommendation 800 + 355 / 0.8 = 1244 W; the next size is 1250 W. One spike:
// (710 + 2 x 355 + 275) / 2 = 848 W.
TEST(HostNeed, AddsUpTwoCards) {
  const HostNeed n = need("rx-7900-xtx", 2);
  EXPECT_EQ(n.kind, HostKind::desktop);
  EXPECT_EQ(*n.cards_power, Watts(710));
  EXPECT_EQ(*n.sustained, Watts(985));
  EXPECT_EQ(*n.supply, Watts(1250));
  EXPECT_EQ(n.slot_width, card("rx-7900-xtx").slot_width);
  EXPECT_EQ(n.lanes, 16);
  EXPECT_EQ(n.generation, 4);
  EXPECT_EQ(n.cooling, Cooling::open);
  EXPECT_TRUE(n.atomics);
  EXPECT_EQ(n.hosts, 1);
  // 4 GiB and two workers of 4 GiB.
  EXPECT_EQ(n.ram_least, gib(12));
  EXPECT_EQ(n.ram, gib(16));
}

// A power limit of 250 W: (2 x 250 + 275) / 0.8 = 969 W, 1000 W; the maker's figure is for
// the card as it is sold.
TEST(HostNeed, HeedsAPowerLimit) {
  HostRequest r = request("rx-7900-xtx", 2);
  r.card_power = Watts(250);
  EXPECT_EQ(*must(host_need(r, rules())).supply, Watts(1000));
}

// Eight cards of 300 W in a server: (2400 + 1000 + 400) x 1.15 = 4370 W.
TEST(HostNeed, AServerBlowsItsAirToo) {
  const HostNeed n = need("ai-pro-r9700", 8);
  EXPECT_EQ(n.kind, HostKind::server);
  EXPECT_NEAR(n.sustained->value(), 4370, 1e-6);
  // The sentence shows the same arithmetic.
  EXPECT_EQ(fill(n.reasons.front().id, n.reasons.front().values),
            "(8 x 300 W for the cards and 1400 W for the rest) x 1.15: 4370 W under load, each "
            "machine");
  EXPECT_EQ(n.cooling, Cooling::blower);
}

TEST(HostNeed, WeightsAndOffloadWantMemory) {
  HostRequest r = request("rx-7900-xtx", 1);
  r.weights = gib(40);
  r.host_resident = gib(20);
  const HostNeed n = must(host_need(r, rules()));
  EXPECT_EQ(n.ram_least, gib(4 + 4 + 20));
  EXPECT_EQ(n.ram, gib(96));  // 68 GiB, the next set that is sold
}

TEST(HostNeed, ModulesComeWithTheirMachine) {
  const HostNeed n = need("mi300x", 20);
  EXPECT_EQ(n.kind, HostKind::node);
  EXPECT_EQ(n.hosts, 3);
  EXPECT_EQ(n.cards_per_host, 7);
  EXPECT_FALSE(n.supply.has_value());
  EXPECT_FALSE(n.atomics);
  // DGX B200 is specified for 14.3 kW
  // (https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html).
  const HostNeed b200 = need("b200-sxm", 8);
  EXPECT_NEAR(b200.sustained->value(), 14300, 0.25 * 14300);
  // DGX H100: 10.2 kW.
  EXPECT_NEAR(need("h100-sxm", 8).sustained->value(), 10200, 0.25 * 10200);
}

TEST(HostNeed, CountsCardsNotDevices) {
  const HostNeed n = need("mi250", 4);
  EXPECT_EQ(n.cards, 4);
  EXPECT_EQ(*n.cards_power, Watts(4 * 560));
  EXPECT_EQ(need("ryzen-ai-max-395", 1).kind, HostKind::integrated);
  EXPECT_FALSE(need("ryzen-ai-max-395", 1).supply.has_value());
  EXPECT_EQ(need("ryzen-ai-max-395", 1).ram, Bytes{});
}

TEST(HostNeed, RefusesNonsense) {
  HostRequest r;
  EXPECT_FALSE(host_need(r, rules()).has_value());
  r = request("rx-7900-xtx", 1);
  r.devices = 0;
  EXPECT_FALSE(host_need(r, rules()).has_value());
  r.devices = std::int64_t{1} << 60;
  EXPECT_FALSE(host_need(r, rules()).has_value());
  r.devices = 1;
  r.weights = Bytes(-1);
  EXPECT_FALSE(host_need(r, rules()).has_value());
}

HostVerdict verdict(const HostCheck& check, HostPart part) {
  for (const HostFinding& f : check.findings) {
    if (f.part == part) return f.verdict;
  }
  throw std::runtime_error("no such finding");
}

TEST(CheckHost, SaysWhatIsMissing) {
  const HostNeed n = need("rx-7900-xtx", 2);
  OwnedHost own;
  own.supply = Watts(1250);
  own.ram = gib(64);
  own.slots = 2;
  own.lanes = 16;
  own.generation = 4;
  own.case_slots = 7;
  own.atomics = true;
  own.cooling = {Cooling::open};
  HostCheck check = check_host(n, own);
  EXPECT_TRUE(check.fits);
  for (const HostFinding& f : check.findings) EXPECT_EQ(f.verdict, HostVerdict::enough);

  own.supply = Watts(1000);  // carries 985 W, without margin
  own.lanes = 8;
  check = check_host(n, own);
  EXPECT_TRUE(check.fits);
  EXPECT_EQ(verdict(check, HostPart::supply), HostVerdict::reduced);
  EXPECT_EQ(verdict(check, HostPart::lanes), HostVerdict::reduced);

  own.supply = Watts(850);
  own.slots = 1;
  own.atomics = false;
  own.ram = gib(8);
  own.case_slots = 3;
  check = check_host(n, own);
  EXPECT_FALSE(check.fits);
  for (const HostPart part :
       {HostPart::supply, HostPart::slots, HostPart::atomics, HostPart::ram, HostPart::width}) {
    EXPECT_EQ(verdict(check, part), HostVerdict::lacking) << name_of(part);
  }

  check = check_host(n, OwnedHost{});
  EXPECT_TRUE(check.fits);
  for (const HostFinding& f : check.findings) EXPECT_EQ(f.verdict, HostVerdict::unknown);
}

TEST(CheckHost, OfTheCatalogue) {
  const HostNeed two = need("rx-7900-xtx", 2);
  const HostCheck chipset = check_host(two, card("rx-7900-xtx"), host("am5-one-x16"), gib(64));
  EXPECT_FALSE(chipset.fits);
  EXPECT_EQ(verdict(chipset, HostPart::atomics), HostVerdict::lacking);
  const HostCheck split = check_host(two, card("rx-7900-xtx"), host("am5-two-x8"), gib(64));
  EXPECT_TRUE(split.fits);
  EXPECT_EQ(verdict(split, HostPart::lanes), HostVerdict::reduced);
  // A card without a fan in a tower.
  const HostNeed passive = need("a40", 1);
  EXPECT_EQ(passive.kind, HostKind::server);
  const HostCheck tower = check_host(passive, card("a40"), host("am5-two-x8"), gib(64));
  EXPECT_EQ(verdict(tower, HostPart::cooling), HostVerdict::lacking);
  const HostCheck wrong = check_host(two, card("rx-7900-xtx"), host("dgx-b200"), std::nullopt);
  EXPECT_FALSE(wrong.fits);
  EXPECT_EQ(wrong.findings.size(), 1U);
  const HostNeed nine = must(
      host_need({.accelerator = &card("rx-7900-xtx"), .devices = 9, .cards_per_host = 9}, rules()));
  EXPECT_FALSE(check_host(nine, card("rx-7900-xtx"), host("asrock-4u8g-turin2"), gib(256)).fits);
}

}  // namespace
}  // namespace cairn
