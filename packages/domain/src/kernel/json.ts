/** Deeper than anybody means, and no danger to whoever walks through it. */
const MAX_DEPTH = 500;
/** Lists, dictionaries and keys of dictionaries: what costs far more to read than its letters. */
const MAX_STRUCTURES = 30_000;

/** Half of a pair of UTF-16 units, perhaps without its other half. */
const HALF_PAIR = /\\u[dD][89a-fA-F]/;
/** An escape: a whole pair, half of one, or any other. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/**
 * Untrusted JSON, at a cost that grows with its length alone. Text in it is well-formed, whatever its escapes say.
 * @throws SyntaxError for what is none, is nested too deeply, or holds too many lists, dictionaries and keys
 */
export function parseJson(text: string): unknown {
  refuseExcess(text);
  return JSON.parse(HALF_PAIR.test(text) ? replaceLoneSurrogates(text) : text);
}

const replaceLoneSurrogates = (json: string): string =>
  json.replace(ESCAPE, (escaped, lone: string | undefined) => (lone === undefined ? escaped : '\\ufffd'));

function refuseExcess(text: string): void {
  if (text.length <= MAX_DEPTH) return;
  let depth = 0;
  let structures = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        structures++;
        break;
      case 0x3a: // :
        structures++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
    if (depth > MAX_DEPTH) throw new SyntaxError('Nested too deeply');
    if (structures > MAX_STRUCTURES) throw new SyntaxError('Too many lists, dictionaries and keys');
  }
}

/** Where a string begins, or a whole number with a fraction or an exponent. Linear: no digit is looked at twice. */
const STRING_OR_FRACTIONAL = /"|(?<!\d)-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)/g;

/** Valid JSON with other words in the place of numbers that are written with a fraction or an exponent. */
export function replaceFractionals(json: string, replace: (number: string) => string): string {
  let result = '';
  let copied = 0;
  STRING_OR_FRACTIONAL.lastIndex = 0;
  for (let match = STRING_OR_FRACTIONAL.exec(json); match; match = STRING_OR_FRACTIONAL.exec(json)) {
    const [found] = match;
    if (found === '"') {
      STRING_OR_FRACTIONAL.lastIndex = endOfString(json, match.index) + 1;
    } else {
      result += json.slice(copied, match.index) + replace(found);
      copied = match.index + found.length;
    }
  }
  return result + json.slice(copied);
}

/** Where the string of JSON ends that begins there; the end of the text where it does not. */
export function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
  } while (isEscaped(text, end));
  return end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text[index - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}
