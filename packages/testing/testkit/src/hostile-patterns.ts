import { SeededRandomness } from './seeded-randomness.js';

/** Text of variable length. Comparing two lengths shows how its cost grows. */
export interface HostilePattern {
  readonly name: string;
  /** @param length in code points */
  fill(length: number): string;
}

/** Syntax tokens for constructs that can be opened, nested or left unclosed. */
const TOKENS: readonly string[] = [
  ...['[', ']', '(', ')', '](', '[](', '[a](', '![', '<', '>', '"', "'"],
  ...['*', '**', '***', '_', '~', '~~', '~~~', '`', '``', '```', '````'],
  ...['\n', '\n\n', ' ', '  ', '    ', '\t', '\r\n', '\r', '\v', '\u0085', '\u00a0', '\u2028', '\u0000', '\u0002'],
  ...['> ', '>\n', '* ', '- ', '+ ', '1. ', '10. ', '  * ', '    * '],
  ...['# ', '#', '######', '---', '- - ', '***\n', '___'],
  ...['|', '|-', '|a', '|-|\n', '\n|', '`|', '\\|'],
  ...['\\', '\\\\', '\\`', '\\$', '&', '&amp;', '&#', '&#x', '&a'],
  ...['$', '$$', '$$x', '$$x$$', '\\frac{', '{', '}', '_1', '^'],
  ...['<time:', '<time:2024-01-01 10:00', '@', '@**', '@_**', '@*', '@**a|1', '#**', '#**a>', '#**a>b@1', '@1'],
  ...[':', ':a', ':a:', ':)', '+', '-', ',', '!', '?', '=', ';', '%20', '/', '.', '..'],
  ...['http://', 'http://a', 'http://a/', 'http://a.b/(', 'https://a.com', 'a.com', 'a.', 'a@', 'a@b.c'],
  ...['file:///a', 'bitcoin:1', 'javascript:', 'user_uploads/', '/user_uploads/1/a.png', '/me ', '<b>', '</div>'],
  ...['x', 'x'.repeat(50), '1', 'a b', 'a\n', '日', 'é', '😀', '👩\u200d', '1️⃣', '🇫', '\u{e0061}', '\ud83d'],
  ...['```\n', '````\n', '~~~\n', '```quote\n', '```spoiler\n', '```js\n', '```math\n'],
];

/** Combines three tokens, possibly empty, into a text of a given length. */
const SHAPES: Readonly<Record<string, (a: string, b: string, c: string, length: number) => string>> = {
  cycle: (a, b, c, length) => repeat(a + b + c, length),
  nested: (a, b, c, length) => {
    const times = Math.floor(length / sizeOf(a + b + c)) || 1;
    return a.repeat(times) + b.repeat(times) + c.repeat(times);
  },
  framed: (a, b, c, length) => a + repeat(b, length - sizeOf(a + c)) + c,
  closed: (a, b, c, length) => repeat(a + b, length - sizeOf(c)) + c,
  /** Maximum nesting depth of quotes and lists, followed by a long rest. */
  deep: (a, b, c, length) => a.repeat(190) + repeat(b + c, length - 190 * sizeOf(a)),
};

/** Yields each token alone, and every pair of tokens in every shape. */
export function* allHostilePatterns(): Generator<HostilePattern> {
  for (const token of TOKENS) yield pattern('cycle', [token, '', '']);
  for (const first of TOKENS) {
    for (const second of TOKENS) {
      for (const shape of ['cycle', 'nested', 'framed', 'deep']) yield pattern(shape, [first, second, '']);
      yield pattern('closed', [first, '', second]);
    }
  }
}

/** Yields combinations of three tokens, determined by the seed. */
export function* someHostilePatterns(count: number, seed: number): Generator<HostilePattern> {
  const chance = new SeededRandomness(seed);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(chance.fraction() * values.length)]!;
  for (let i = 0; i < count; i++) {
    yield pattern(oneOf(Object.keys(SHAPES)), [oneOf(TOKENS), oneOf(TOKENS), oneOf(TOKENS)]);
  }
}

function pattern(shape: string, pieces: readonly [string, string, string]): HostilePattern {
  return {
    name: `${shape} ${pieces
      .filter((piece) => piece !== '')
      .map((piece) => JSON.stringify(piece))
      .join(' ')}`,
    fill: (length) => SHAPES[shape]!(...pieces, length),
  };
}

const sizeOf = (text: string): number => [...text].length;

function repeat(piece: string, length: number): string {
  if (piece === '' || length <= 0) return '';
  const characters = [...piece];
  const times = Math.floor(length / characters.length);
  return piece.repeat(times) + characters.slice(0, length - times * characters.length).join('');
}
