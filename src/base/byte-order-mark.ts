/** Some editors put a mark of the byte order before a text. */
export const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);
