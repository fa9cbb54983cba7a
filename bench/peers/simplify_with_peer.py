"""Simplifies one model with one tool and its defaults, in the process that this is.

    python simplify_with_peer.py TOOL MODEL.onnx OUT.onnx

Tools: onnxsim onnxslim onnxoptimizer onnxscript ort-basic ort-extended.
"""

import sys

import onnx


def onnxsim(model, out):
    from onnxsim import simplify

    simplified, ok = simplify(onnx.load(model))
    if not ok:
        raise RuntimeError("its own check failed")
    onnx.save(simplified, out)


def onnxslim(model, out):
    import onnxslim as tool

    onnx.save(tool.slim(onnx.load(model)), out)


def onnxoptimizer(model, out):
    import onnxoptimizer as tool

    onnx.save(tool.optimize(onnx.load(model), tool.get_fuse_and_elimination_passes(), fixed_point=True), out)


def onnxscript(model, out):
    import onnx_ir as ir
    from onnxscript import optimizer, rewriter

    loaded = ir.load(model)
    optimizer.optimize(loaded)
    ir.save(rewriter.rewrite(loaded), out)


def ort(level):
    def run(model, out):
        import onnxruntime as rt

        options = rt.SessionOptions()
        options.graph_optimization_level = getattr(rt.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
        options.optimized_model_filepath = out
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        rt.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    return run


TOOLS = {
    "onnxsim": onnxsim,
    "onnxslim": onnxslim,
    "onnxoptimizer": onnxoptimizer,
    "onnxscript": onnxscript,
    "ort-basic": ort("BASIC"),
    "ort-extended": ort("EXTENDED"),
}

if __name__ == "__main__":
    tool, model, out = sys.argv[1:]
    TOOLS[tool](model, out)
