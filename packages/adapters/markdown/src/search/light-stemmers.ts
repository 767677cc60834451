/** Matches a word of at least three letters before one of these endings. */
const withEnding = (endings: readonly string[]): RegExp => new RegExp(`^(.{3,}?)(?:${endings.join('|')})$`, 'u');

/** Case endings of Polish nouns and adjectives. */
const POLISH_ENDING = withEnding([
  'i?(?:ami|ach|owi|owie|om|em|ego|emu|ej|ymi|imi|ych|ich|ym|im|[aąeęou])',
  'ów',
  '[iy]',
]);

/** Returns the form that most cases of a Polish noun or adjective share. */
export const stemPolish = (word: string): string =>
  word.replace(POLISH_ENDING, '$1').replaceAll('ę', 'ą').replace(/nic$/, 'nik');

/** Case endings of Ukrainian nouns and adjectives. */
const UKRAINIAN_ENDING = withEnding([
  '[ая]ми|[оеє]ві|[ая]х|[ії]в|[ая]м|[оеє]м|[оеєі]ю|ією|[иі]ми',
  'ого|ому|ої|[иі]й|[иі]х|[иі]м|і[яїю]|[аяоеєиіїуюйь]',
]);

/** Returns the form that most cases of a Ukrainian noun or adjective share. */
export const stemUkrainian = (word: string): string => word.replace(UKRAINIAN_ENDING, '$1');
