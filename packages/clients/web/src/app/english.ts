/** Compiles an English text. English catalogs omit texts without plurals, because the text is its id. */
export const compiled = (text: string): (string | [name: string])[] =>
  text.split(/[{}]/).flatMap((part, index): (string | [string])[] => {
    if (index % 2 === 1) return [[part]];
    return part === '' ? [] : [part];
  });
