/** Deeper than anybody means, and no danger to whoever walks through it. */
const MAX_DEPTH = 500;

/** JSON of strangers. @throws SyntaxError for what is none, or is nested too deeply */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError('Nested too deeply');
  return JSON.parse(text);
}

function isTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text[index]) {
      case '"':
        index = endOfString(text, index);
        break;
      case '[':
      case '{':
        if (++depth > MAX_DEPTH) return true;
        break;
      case ']':
      case '}':
        depth--;
    }
  }
  return false;
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Valid JSON with other words in the place of numbers; what is inside strings stays. Linear, whatever strangers wrote. */
export function replaceNumbers(json: string, replace: (number: string) => string): string {
  let result = '';
  let copied = 0;
  for (let index = 0; index < json.length; index++) {
    const character = json[index]!;
    if (character === '"') {
      index = endOfString(json, index);
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = index;
      const number = NUMBER.exec(json)![0];
      result += json.slice(copied, index) + replace(number);
      copied = index + number.length;
      index = copied - 1;
    }
  }
  return result + json.slice(copied);
}

/** Where the string ends that begins there. */
function endOfString(text: string, start: number): number {
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
