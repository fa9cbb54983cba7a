/**
 * Activations in integers with scales found at run time, each once for all its readers:
 *
 *   x_u8, scale, zero_point = DynamicQuantizeLinear(x)
 *
 * or per row, where r brings every row to the same size before they share one scale:
 *
 *   r = Max(ReduceMax(Abs(x), axis -1), tiny);  x_u8, ... = DynamicQuantizeLinear(x / r)
 *
 * Either way channels may be divided first by factors that the weights take over (SmoothQuant,
 * arXiv:2211.10438): large channels then no longer decide about the scale of all.
 */
import { attr, type Graph, type Node, Tensor, type Value } from "../ir/index.js";

export interface DynamicActivation {
  readonly integers: Value;
  readonly scale: Value;
  readonly zeroPoint: Value;
  /** What each row of a product is to be multiplied by, [..., 1]; null where there is one scale for all. */
  readonly rows: Value | null;
  /** What its channels were divided by, for the weights to take over. */
  readonly factors: Float32Array | null;
}

/** Stands in for the size of a row of zeros, so that nothing is divided by zero. */
const TINY = 1e-30;

export class DynamicActivations {
  readonly #known = new Map<Value, Map<Graph, Map<boolean, DynamicActivation>>>();

  constructor(
    readonly opset: number,
    readonly smoothing: ReadonlyMap<string, Float32Array>,
  ) {}

  /** In the graph of a reader; new nodes stand before it. */
  of(input: Value, reader: Node, perRow: boolean): DynamicActivation {
    const byGraph = this.#known.get(input) ?? new Map<Graph, Map<boolean, DynamicActivation>>();
    this.#known.set(input, byGraph);
    const forms = byGraph.get(reader.graph) ?? new Map<boolean, DynamicActivation>();
    byGraph.set(reader.graph, forms);
    const made = forms.get(perRow) ?? this.#make(input, reader, perRow);
    forms.set(perRow, made);
    return made;
  }

  #make(input: Value, reader: Node, perRow: boolean): DynamicActivation {
    const { graph } = reader;
    const { label, shape } = input;
    const factors = this.smoothing.get(label) ?? null;
    const smooth = factors ? this.#divided(input, factors, reader) : input;
    const rows = perRow ? this.#sizeOfRows(smooth, reader) : null;
    const provenance = input.producer?.provenance ?? [];
    const before = rows ? this.#add("Div", [smooth, rows], reader, `${label}/even`, shape) : smooth;
    const node = graph.addNode(
      {
        op: "DynamicQuantizeLinear",
        name: `${reader.name}/DynamicQuantizeLinear`,
        inputs: [before],
        outputs: [
          { label: `${label}/quantized`, type: { dtype: "u8", shape } },
          { label: `${label}/scale`, type: { dtype: "f32", shape: [] } },
          { label: `${label}/zero_point`, type: { dtype: "u8", shape: [] } },
        ],
        provenance,
      },
      reader,
    );
    const [integers, scale, zeroPoint] = node.outputs as [Value, Value, Value];
    return { integers, scale, zeroPoint, rows, factors };
  }

  /** A product, which is faster than a division. */
  #divided(input: Value, factors: Float32Array, reader: Node): Value {
    const inverse = Tensor.f32(
      [factors.length],
      factors.map((factor) => 1 / factor),
    );
    const by = reader.graph.addConstant(`${input.label}/smoothing`, inverse);
    return this.#add("Mul", [input, by], reader, `${input.label}/smooth`, input.shape);
  }

  #sizeOfRows(input: Value, reader: Node): Value {
    const { label, shape } = input;
    const { graph } = reader;
    const reduced = shape && shape.length > 0 ? [...shape.slice(0, -1), 1] : null;
    const magnitudes = this.#add("Abs", [input], reader, `${label}/magnitudes`, shape);
    const isInput = this.opset >= 18;
    const axes = isInput ? [graph.addConstant(`${label}/row_axis`, Tensor.i64([1], [-1]))] : [];
    const attributes = { keepdims: attr.int(1), ...(!isInput && { axes: attr.ints([-1]) }) };
    const largest = this.#add("ReduceMax", [magnitudes, ...axes], reader, `${label}/largest`, reduced, attributes);
    const tiny = graph.addConstant(`${label}/tiny`, Tensor.scalar("f32", TINY));
    return this.#add("Max", [largest, tiny], reader, `${label}/size_of_rows`, reduced);
  }

  #add(op: string, inputs: Value[], reader: Node, label: string, shape: Value["shape"], attributes = {}): Value {
    const provenance = inputs[0]!.producer?.provenance ?? [];
    const outputs = [{ label, type: { dtype: "f32" as const, shape } }];
    const name = `${reader.name}/${label.slice(label.lastIndexOf("/") + 1)}`;
    return reader.graph.addNode({ op, name, inputs, attributes, outputs, provenance }, reader).output;
  }
}
