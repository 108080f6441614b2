// Names as drivers and files print them.
#include <gtest/gtest.h>

#include <string>

#include "../predict/fixture.h"
#include "cairn/evidence/readers/recognise.h"

namespace cairn {
namespace {

using test::knowledge;

std::string card(std::string_view printed) {
  const Accelerator* found = card_of_print(printed, knowledge().accelerators);
  return found == nullptr ? "" : found->id;
}

// Names that HIP, CUDA, Mesa and Windows drivers report, as published outputs have them.
TEST(Recognise, Cards) {
  EXPECT_EQ(card("AMD Radeon RX 7900 XTX"), "rx-7900-xtx");
  EXPECT_EQ(card("Radeon RX 7900 XTX"), "rx-7900-xtx");
  EXPECT_EQ(card("AMD Radeon RX 7900 XTX (RADV NAVI31)"), "rx-7900-xtx");
  EXPECT_EQ(card("AMD Radeon(TM) RX 7900 XT"), "rx-7900-xt");
  EXPECT_EQ(card("AMD Instinct MI300X"), "mi300x");
  EXPECT_EQ(card("AMD Instinct MI300X VF"), "mi300x");
  EXPECT_EQ(card("AMD Instinct MI355X"), "mi355x");
  EXPECT_EQ(card("AMD Instinct MI210"), "mi210");
  EXPECT_EQ(card("AMD Radeon PRO W7900"), "pro-w7900");
  EXPECT_EQ(card("AMD Radeon AI PRO R9700"), "ai-pro-r9700");
  EXPECT_EQ(card("Radeon 8060S Graphics"), "ryzen-ai-max-395");
  EXPECT_EQ(card("NVIDIA GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(card("NVIDIA L40S"), "l40s");
}

TEST(Recognise, OpenOrUnknownNames) {
  EXPECT_EQ(card("AMD Radeon Graphics"), "");  // what HIP calls many APUs
  EXPECT_EQ(card("AMD Instinct MI250X / MI250"), "");
  EXPECT_EQ(card("AMD Radeon RX 7900 XTX Tuned Edition"), "");
  EXPECT_EQ(card(""), "");
  EXPECT_EQ(card("Graphics"), "");
}

ModelFileName file(std::string_view path) {
  return model_file_name(path, knowledge().weight_formats);
}

TEST(Recognise, ModelFiles) {
  EXPECT_EQ(file("/models/Qwen3-8B-Q4_K_M.gguf").model, "Qwen3-8B");
  EXPECT_EQ(file("/models/Qwen3-8B-Q4_K_M.gguf").format, "q4_k_m");
  EXPECT_EQ(file(R"(C:\m\Meta-Llama-3.1-8B-Instruct.Q8_0.gguf)").model,
            "Meta-Llama-3.1-8B-Instruct");
  EXPECT_EQ(file(R"(C:\m\Meta-Llama-3.1-8B-Instruct.Q8_0.gguf)").format, "q8_0");
  const ModelFileName parts = file("Qwen3-235B-A22B-UD-Q4_K_XL-00001-of-00003.gguf");
  EXPECT_EQ(parts.model, "Qwen3-235B-A22B");
  EXPECT_EQ(parts.format, "ud-q4_k_xl");
  EXPECT_EQ(file("qwen2.5-7b-instruct-q4_k_m.gguf").model, "qwen2.5-7b-instruct");
  EXPECT_EQ(file("some-model.gguf").model, "some-model");
  EXPECT_EQ(file("some-model.gguf").format, "");
  EXPECT_EQ(file("-of-1.gguf").format, "");
  EXPECT_EQ(file("").model, "");
}

}  // namespace
}  // namespace cairn
