"""Files written by the packages gguf and safetensors, as Cairn reads them.

usage: model_files.py DESCRIBE_MODEL IMAGE
Exit status 77 (skipped) where a package is missing.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import gguf
    import numpy as np
    import safetensors
    import safetensors.numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DESCRIBE, IMAGE = sys.argv[1:3]
compared = 0


def describe(path):
    """Facts by kind and name: {("tensor", "a"): ["q8_0", "2", ...]}."""
    run = subprocess.run([DESCRIBE, IMAGE, str(path)], capture_output=True, text=True, check=True)
    facts = {}
    for line in run.stdout.splitlines():
        kind, *rest = line.split(" ")
        name = rest[0] if kind in ("tensor", "key") else ""
        facts[kind, name] = rest[1:] if name else rest
    return facts


def expect(what, got, want):
    global compared
    compared += 1
    if got != want:
        sys.exit(f"{what}: Cairn reads {got}, the peer has {want}")


def write_gguf(path, **options):
    writer = gguf.GGUFWriter(str(path), "llama", **options)
    writer.add_uint32("llama.block_count", 3)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    writer.add_bool("flag", True)
    writer.add_int64("large", -(1 << 40))
    writer.add_string("general.name", "peer")
    writer.add_array("tokens", ["a", "bc", ""] * 100)
    writer.add_array("numbers", list(range(10)))
    random = np.random.default_rng(1)
    tensors = {"plain": random.random((3, 5), dtype=np.float32),
               "half": random.random((4, 2, 8)).astype(np.float16)}
    for name, data in tensors.items():
        writer.add_tensor(name, data)
    for kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "BF16", "TQ1_0", "TQ2_0"):
        data = random.random((6, 512), dtype=np.float32)
        packed = gguf.quants.quantize(data, gguf.GGMLQuantizationType[kind])
        writer.add_tensor(kind, packed, raw_dtype=gguf.GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare_gguf(facts, readers):
    count = 0
    for reader in readers:
        for tensor in reader.tensors:
            count += 1
            want = [tensor.tensor_type.name.lower(), str(len(tensor.shape)),
                    str(tensor.n_elements), str(tensor.n_bytes)]
            expect(tensor.name, facts["tensor", tensor.name], want)
    expect("number of tensors", sum(kind == "tensor" for kind, _ in facts), count)
    for key, want in {"general.architecture": "llama", "llama.block_count": "3",
                      "llama.rope.freq_base": "10000", "flag": "true",
                      "large": str(-(1 << 40)), "tokens": "[300]", "numbers": "[10]"}.items():
        expect(key, facts["key", key], [want])


def check_block_sizes():
    """Weights and bytes per block of every type of weights both know."""
    root = pathlib.Path(__file__).resolve().parents[2]
    rows = (root / "data/models/tensor_types.csv").read_text().splitlines()[1:]
    known = {}
    for row in rows:
        name, number, weights, size, _, _, status = row.split(",")[:7]
        if number and status == "current":
            known[int(number)] = (name, int(weights), int(size))
    for kind, size in gguf.GGML_QUANT_SIZES.items():
        if kind.value in known:
            expect(kind.name, known[kind.value], (kind.name.lower(), *size))


def check_gguf(folder):
    whole = folder / "whole.gguf"
    write_gguf(whole)
    facts = describe(whole)
    expect("size", facts["bytes", ""], [str(whole.stat().st_size)])
    compare_gguf(facts, [gguf.GGUFReader(whole)])

    write_gguf(folder / "split.gguf", split_max_tensors=4)
    parts = sorted(folder.glob("split-*.gguf"))
    facts = describe(parts[1])
    expect("parts", facts["parts", ""], [str(len(parts))])
    expect("size", facts["bytes", ""], [str(sum(p.stat().st_size for p in parts))])
    compare_gguf(facts, [gguf.GGUFReader(p) for p in parts])


def check_safetensors(folder):
    path = folder / "a.safetensors"
    names = {np.float32: "F32", np.float16: "F16", np.float64: "F64", np.int8: "I8",
             np.int32: "I32", np.int64: "I64", np.uint8: "U8", np.bool_: "BOOL"}
    tensors = {name: np.zeros((3, i + 1), dtype) for i, (dtype, name) in enumerate(names.items())}
    tensors["scalar"] = np.array(1, np.float32)
    tensors["none"] = np.zeros((0, 4), np.float32)
    safetensors.numpy.save_file(tensors, path, metadata={"format": "np"})
    facts = describe(path)
    expect("size", facts["bytes", ""], [str(path.stat().st_size)])
    with safetensors.safe_open(path, "np") as peer:
        expect("names", {name for kind, name in facts if kind == "tensor"}, set(peer.keys()))
        for name in peer.keys():
            part = peer.get_slice(name)
            shape = part.get_shape()
            expect(name, facts["tensor", name],
                   [part.get_dtype(), str(len(shape)), str(int(np.prod(shape))),
                    str(tensors[name].nbytes)])


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    check_block_sizes()
    check_gguf(folder)
    check_safetensors(folder)
print(f"{compared} facts agree")
