/** Compiles an English text without plurals, which catalogs omit because the text is also its id. */
export const compiled = (text: string): (string | [name: string])[] =>
  text.split(/[{}]/).flatMap((part, index): (string | [string])[] => {
    if (index % 2 === 1) return [[part]];
    return part === '' ? [] : [part];
  });
