const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  amp: '&',
  nbsp: ' ',
  '#39': "'",
  '#x27': "'",
};

const BLOCK = /<(?:\/?(?:p|li|div|pre|h\d|tr|td|th|blockquote)\b|br)[^>]*>/g;

/** Returns the text of a message's HTML in one line. */
export const textOfHtml = (html: string): string =>
  html
    .replaceAll(BLOCK, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&([#\w]+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replaceAll(/\s+/g, ' ');
