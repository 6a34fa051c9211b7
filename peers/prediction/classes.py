"""Kinds of x86-64 instructions as crates/mapper/src/cost/operations.rs has them, by their text in AT&T's notation."""
import functools
import re

KINDS = ["integer", "multiply", "load", "store", "branch", "call", "vector_integer", "vector_multiply", "vector_shuffle",
         "vector_load", "vector_store", "float", "float_convert", "vector_float", "vector_convert"]
PREFIXES = {"rep", "repe", "repz", "repne", "lock", "bnd", "notrack"}
SHUFFLES = ("punpck", "unpck", "pshuf", "shuf", "pack", "palign", "pinsr", "pextr", "pmov", "insert", "movddup", "movsh",
            "movsl", "movlh", "movhl", "pblend", "blend")
MOVES = ("movap", "movup", "movdq", "movs", "movq", "movd", "lddqu", "movhp", "movlp", "movnt")
SINGLE = ("ss", "sd", "si", "sil", "siq", "ssl", "sdl", "ssq", "sdq")


@functools.cache
def kinds(text):
    """What executing an instruction counts as: one that adds from memory is a load and an addition."""
    name, _, operands = text.partition(" ")
    while name in PREFIXES and operands:
        name, _, operands = operands.strip().partition(" ")
    operands = operands.strip()
    if name.startswith("call"):
        return ["call", "store"]
    if name.startswith("ret"):
        return ["call", "load"]
    if name.startswith("j"):
        return ["call" if "*" in operands else "branch"]
    if name.startswith("push"):
        return ["store"]
    if name.startswith("pop") and not name.startswith("popcnt"):
        return ["load"]
    if name.startswith("nop"):
        return []
    vector = "xmm" in operands
    found = access(name, operands, vector) if "(" in operands and not name.startswith(("lea", "prefetch")) else []
    if vector:
        return found + of_vector(name, bool(found))
    if name.startswith(("imul", "mul", "div", "idiv")):
        return found + ["multiply"]
    return found if found and name.startswith("mov") else found + ["integer"]


def access(name, operands, vector):
    """Loads and stores of an instruction with an operand in memory; the last operand is written."""
    load, store = ("vector_load", "vector_store") if vector else ("load", "store")
    if not operands.endswith(")") or name.startswith(("cmp", "test", "ucomis", "comis", "bt", "mul", "div", "imul", "idiv")):
        return [load]
    if name.startswith(("mov", "set", "pextr", "stmxcsr")):
        return [store]
    return [load] if vector else [load, store]


def of_vector(name, in_memory):
    """What an instruction on vector registers does besides."""
    single = name.endswith(SINGLE)
    if name.startswith(SHUFFLES):
        return ["vector_shuffle"]
    if name.startswith(MOVES):
        return [] if in_memory else ["vector_integer"]
    if name.startswith(("cvt", "round")):
        return ["float_convert" if single or "si" in name else "vector_convert"]
    if name.startswith(("div", "sqrt", "min", "max", "cmp", "ucomis", "comis")):
        return ["float_convert" if single else "vector_convert"]
    if name.startswith(("add", "sub", "mul", "hadd")):
        return ["float" if single else "vector_float"]
    return ["vector_multiply" if name.startswith(("pmul", "pmadd")) else "vector_integer"]


def profile(lines, calls):
    """Counts a call by kind, of what the counter wrote: the last section is the work."""
    counts, times = dict.fromkeys(KINDS, 0.0), 0.0
    for line in lines:
        if line.startswith("#"):
            counts = dict.fromkeys(KINDS, 0.0)
        elif line.startswith("= "):
            times = int(line[2:]) / calls
        else:
            for kind in kinds(re.sub(r"0x[0-9a-f]+", "#", line.strip())):
                counts[kind] += times
    return counts
