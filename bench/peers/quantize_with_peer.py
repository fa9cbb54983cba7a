"""Quantizes one model with one recipe of another tool, in the process that this is.

    python quantize_with_peer.py RECIPE MODEL.onnx OUT.onnx CALIBRATION

CALIBRATION is what samples.py reads. Each recipe is what the tool's documentation tells to do.
"""

import sys
from pathlib import Path

import samples as stored


def samples(path):
    return stored.load(path)[0]


def ort_prepared(model, out):
    """The preparation that onnxruntime.ai/docs asks for before any quantization; the path of the prepared model."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = out + ".prepared.onnx"
    try:
        quant_pre_process(model, prepared)
    except Exception as error:  # The documentation's own way out when symbolic shapes are not found.
        print(f"quant_pre_process: {error!r}; again with skip_symbolic_shape", file=sys.stderr)
        quant_pre_process(model, prepared, skip_symbolic_shape=True)
    return prepared


def ort_static(method, per_channel, activation="QUInt8", only=None):
    """quantize_static in QDQ form, weights int8."""

    def run(model, out, calibration):
        from onnxruntime import quantization as q

        class Reader(q.CalibrationDataReader):
            def __init__(self):
                self.rest = iter(samples(calibration))

            def get_next(self):
                return next(self.rest, None)

        prepared = ort_prepared(model, out)
        q.quantize_static(
            prepared,
            out,
            Reader(),
            quant_format=q.QuantFormat.QDQ,
            per_channel=per_channel,
            activation_type=q.QuantType[activation],
            weight_type=q.QuantType.QInt8,
            calibrate_method=q.CalibrationMethod[method],
            op_types_to_quantize=only,
        )
        Path(prepared).unlink()

    return run


def ort_dynamic(model, out, calibration):
    from onnxruntime.quantization import quantize_dynamic

    prepared = ort_prepared(model, out)
    quantize_dynamic(prepared, out, per_channel=True)
    Path(prepared).unlink()


def ort_transformer_dynamic(model, out, calibration):
    """Attention, LayerNormalization and Gelu fused by the runtime's own tool first: its documented way for encoders."""
    import onnx
    from onnxruntime.quantization import quantize_dynamic
    from onnxruntime.transformers.optimizer import optimize_model

    fused = out + ".fused.onnx"
    optimize_model(model, model_type="bert", num_heads=0, hidden_size=0).save_model_to_file(fused)
    # The shapes of the tool's own operators cannot be inferred: what its error message then says to pass.
    quantize_dynamic(fused, out, per_channel=True, extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
    Path(fused).unlink()


def ort_nbits(bits, block):
    def run(model, out, calibration):
        import onnx
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

        quantizer = MatMulNBitsQuantizer(onnx.load(model), bits=bits, block_size=block, is_symmetric=True, accuracy_level=4)
        quantizer.process()
        quantizer.model.save_model_to_file(out)

    return run


def ort_hqq4(model, out, calibration):
    """Half-quadratic quantization of the weights: the most accurate of the tool's ways to 4 bits that take no samples."""
    import onnx
    from onnxruntime.quantization import matmul_nbits_quantizer as q

    config = q.HQQWeightOnlyQuantConfig(block_size=32, bits=4)
    quantizer = q.MatMulNBitsQuantizer(onnx.load(model), bits=4, block_size=32, accuracy_level=4, algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file(out)


def nncf_int4(model, out, calibration):
    """Weights with scales estimated, and evened out, from samples (AWQ)."""
    import nncf
    import onnx

    data = samples(calibration)
    compressed = nncf.compress_weights(
        onnx.load(model),
        mode=nncf.CompressWeightsMode.INT4_SYM,
        group_size=32,
        dataset=nncf.Dataset(data),
        subset_size=len(data),
        scale_estimation=True,
        awq=True,
    )
    onnx.save(compressed, out)


def nncf(transformer):
    def run(model, out, calibration):
        import nncf
        import onnx

        data = samples(calibration)
        kind = {"model_type": nncf.ModelType.TRANSFORMER} if transformer else {}
        quantized = nncf.quantize(onnx.load(model), nncf.Dataset(data), subset_size=len(data), **kind)
        onnx.save(quantized, out)

    return run


def onnxsim(method, full_graph):
    def run(model, out, calibration):
        import onnx
        import onnxsim

        quantized = onnxsim.quantize_static(
            onnx.load(model), samples(calibration), method=method, full_graph=full_graph
        )
        onnx.save(quantized, out)

    return run


def raise_opset(model, out, calibration):
    """No quantizer: what `onnx` itself offers for models of an old opset."""
    import onnx
    from onnx import version_converter

    onnx.save(version_converter.convert_version(onnx.load(model), 17), out)


CONV_AND_MATMUL = ["Conv", "MatMul"]
RECIPES = {
    "ort-minmax-per-tensor": ort_static("MinMax", False),
    "ort-minmax": ort_static("MinMax", True),
    "ort-minmax-s8": ort_static("MinMax", True, activation="QInt8"),
    "ort-percentile": ort_static("Percentile", True),
    "ort-entropy": ort_static("Entropy", True),
    "ort-minmax-conv-matmul": ort_static("MinMax", True, only=CONV_AND_MATMUL),
    "ort-percentile-conv-matmul": ort_static("Percentile", True, only=CONV_AND_MATMUL),
    "ort-dynamic": ort_dynamic,
    "ort-transformer-dynamic": ort_transformer_dynamic,
    "ort-nbits4": ort_nbits(4, 32),
    "ort-nbits8": ort_nbits(8, 128),
    "ort-hqq4": ort_hqq4,
    "nncf-int4": nncf_int4,
    "nncf": nncf(False),
    "nncf-transformer": nncf(True),
    "onnxsim-mse": onnxsim("mse", False),
    "onnxsim-mse-full": onnxsim("mse", True),
    "onnxsim-auto-full": onnxsim("auto", True),
    "onnx-version-converter": raise_opset,
}

if __name__ == "__main__":
    recipe, model, out, calibration = sys.argv[1:]
    RECIPES[recipe](model, out, calibration)
