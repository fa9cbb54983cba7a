/** Rows of numbers, one for each sample: [samples, width]. */

/**
 * [width]
 * @param members the samples that count; absent: all
 */
export function meanRow(rows: Float64Array, samples: number, members?: readonly number[]): Float64Array {
  const width = rows.length / samples;
  const count = members?.length ?? samples;
  const mean = new Float64Array(width);
  for (let n = 0; n < count; n++) {
    const from = (members?.[n] ?? n) * width;
    for (let k = 0; k < width; k++) mean[k]! += rows[from + k]! / count;
  }
  return mean;
}

/** Each less `row`, [width]. */
export const aboutRow = (rows: Float64Array, row: Float64Array): Float64Array =>
  rows.map((value, i) => value - row[i % row.length]!);

export const aboutMean = (rows: Float64Array, samples: number): Float64Array => aboutRow(rows, meanRow(rows, samples));

/** Products of all rows of one kind with all of another, [samples, samples]. */
export function gramOf(a: Float64Array, b: Float64Array, samples: number): Float64Array {
  const width = a.length / samples;
  const gram = new Float64Array(samples * samples);
  for (let i = 0; i < samples; i++) {
    for (let j = a === b ? i : 0; j < samples; j++) {
      let sum = 0;
      for (let k = 0; k < width; k++) sum += a[i * width + k]! * b[j * width + k]!;
      gram[i * samples + j] = sum;
      if (a === b) gram[j * samples + i] = sum;
    }
  }
  return gram;
}

/** What `gramOf` makes of rows less the mean of the members of each kind, [samples, samples]. */
export function gramAboutMeans(gram: Float64Array, samples: number, members: readonly number[]): Float64Array {
  const [rows, columns] = [new Float64Array(samples), new Float64Array(samples)];
  for (let i = 0; i < samples; i++) {
    for (const j of members) {
      rows[i]! += gram[i * samples + j]! / members.length;
      columns[i]! += gram[j * samples + i]! / members.length;
    }
  }
  const all = members.reduce((sum, i) => sum + rows[i]!, 0) / members.length;
  return gram.map((value, at) => value - rows[Math.floor(at / samples)]! - columns[at % samples]! + all);
}
