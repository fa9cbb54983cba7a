/** How many weights of a layer become zeros: a share of all, or some of every few that follow one another. */
export type Sparsity =
  | { readonly kind: "share"; readonly share: number }
  /** Of every `of` weights that meet neighbouring channels at one place, at most `kept` are left. */
  | { readonly kind: "pattern"; readonly kept: number; readonly of: number };

/** As `--sparsity` takes it. */
export const sparsityText = (sparsity: Sparsity): string =>
  sparsity.kind === "share" ? `${Number((100 * sparsity.share).toPrecision(6))}%` : `${sparsity.kept}:${sparsity.of}`;
