/** Keys as the screens speak of them: names for those that have one, else the character that was typed. */

/** What `readline` makes of the bytes of a terminal. */
export interface Keypress {
  readonly sequence?: string;
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
}

const named: Readonly<Record<string, string>> = {
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  pageup: "pageup",
  pagedown: "pagedown",
  home: "home",
  end: "end",
  return: "enter",
  enter: "enter",
  escape: "escape",
  backspace: "backspace",
  tab: "tab",
};

/** null: a key that means nothing here. */
export function keyName(typed: string | undefined, { name, ctrl, meta, shift }: Keypress): string | null {
  if (ctrl) return name ? `ctrl-${name}` : null;
  if (name === "tab" && shift) return "shift-tab";
  if (name !== undefined && Object.hasOwn(named, name)) return named[name]!;
  if (meta || typed === undefined) return null;
  // What is pasted comes as one: controls in it are no keys.
  const text = typed.replace(/\p{Cc}/gu, "");
  return text === "" ? null : text;
}
