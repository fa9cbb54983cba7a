/** The words of the notation, read one after the other; every fault says line and column. */
import { InferOptError } from "../../base/errors.js";

const TOKEN =
  /\s+|#[^\n]*|->|"(?:[^"\\]|\\.)*"|\$?[A-Za-z_](?:[\w./:-]*[\w.])?|-?(?:inf|nan)\b|-?\d[\w.+-]*|[(){}[\]<>,:=?*$]/gy;

export interface Token {
  readonly text: string;
  /** Offset in the source. */
  readonly at: number;
}

/** Whether a name can stand in the text as it is; others stand in quotes. */
export const isBareName = (name: string): boolean => name !== "_" && /^[A-Za-z_](?:[\w./:-]*[\w.])?$/.test(name);

export class Tokens {
  readonly #tokens: Token[] = [];
  /** Index of the next token. */
  position = 0;

  constructor(readonly source: string) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.length) {
      const at = TOKEN.lastIndex;
      const match = TOKEN.exec(source);
      if (!match) throw this.error(at, `cannot read ${JSON.stringify(source.slice(at, at + 12))}`);
      if (!/^[\s#]/.test(match[0])) this.#tokens.push({ text: match[0], at });
    }
  }

  get isAtEnd(): boolean {
    return this.position >= this.#tokens.length;
  }

  /** The text of the next token; empty at the end. */
  peek(ahead = 0): string {
    return this.#tokens[this.position + ahead]?.text ?? "";
  }

  get at(): number {
    return this.#tokens[this.position]?.at ?? this.source.length;
  }

  take(): Token {
    const token = this.#tokens[this.position];
    if (!token) throw this.unexpected("more");
    this.position++;
    return token;
  }

  accept(text: string): boolean {
    if (this.peek() !== text) return false;
    this.position++;
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.unexpected(`"${text}"`);
  }

  /** A name, bare or in quotes. */
  name(): string {
    if (this.peek().startsWith('"')) return this.quoted(this.take());
    if (!/^[A-Za-z_]/.test(this.peek())) throw this.unexpected("a name");
    return this.take().text;
  }

  quoted(token: Token): string {
    if (token.text.startsWith('"')) {
      try {
        return JSON.parse(token.text) as string;
      } catch (cause) {
        throw this.error(token.at, `${token.text} is no JSON string`, cause);
      }
    }
    throw this.error(token.at, `expected a text in quotes, found ${token.text}`);
  }

  integer(token: Token): bigint {
    if (/^-?\d+$/.test(token.text)) return BigInt(token.text);
    throw this.error(token.at, `expected an integer, found ${token.text}`);
  }

  float(token: Token): number {
    const sign = token.text.startsWith("-") ? -1 : 1;
    const digits = token.text.slice(sign < 0 ? 1 : 0);
    if (digits === "inf") return sign * Number.POSITIVE_INFINITY;
    if (digits === "nan") return Number.NaN;
    if (/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits)) return Number(token.text);
    throw this.error(token.at, `expected a number, found ${token.text}`);
  }

  list(open: string, close: string, item: () => void): void {
    this.expect(open);
    if (this.accept(close)) return;
    do item();
    while (this.accept(","));
    this.expect(close);
  }

  unexpected(wanted: string): InferOptError {
    return this.error(this.at, `expected ${wanted}, found ${JSON.stringify(this.peek() || "the end")}`);
  }

  error(at: number, what: string, cause?: unknown): InferOptError {
    const before = this.source.slice(0, at).split("\n");
    const line = before.length;
    const column = before.at(-1)!.length + 1;
    return new InferOptError("GRAPH_TEXT", "input", `line ${line}, column ${column}: ${what}`, {
      fields: { line, column },
      cause,
    });
  }
}
